//! URLs of sqslint and of its rules' pages, derived from `homepage` and `repository` in Cargo.toml.

use crate::rules::by_id;

/// URLs of sqslint; empty if it is not published.
#[derive(Debug, Clone, Copy)]
pub struct Published<'a> {
    /// URL of the book.
    pub homepage: &'a str,
    /// URL of the sources.
    pub repository: &'a str,
}

impl Published<'static> {
    /// URLs in Cargo.toml.
    pub const HERE: Published<'static> = Published {
        homepage: env!("CARGO_PKG_HOMEPAGE"),
        repository: env!("CARGO_PKG_REPOSITORY"),
    };
    /// URLs of an unpublished version.
    pub const NOWHERE: Published<'static> = Published {
        homepage: "",
        repository: "",
    };
}

impl Published<'_> {
    /// Returns the URL of sqslint itself.
    pub fn address(&self) -> Option<&str> {
        [self.homepage, self.repository].into_iter().find(|one| !one.is_empty())
    }

    /// Returns the URL of a rule's page: in the book, or in the sources of this version. Policies have no page.
    pub fn page(&self, rule: &str) -> Option<String> {
        by_id(rule)?;
        let book = self.homepage.trim_end_matches('/');
        if !book.is_empty() {
            return Some(format!("{book}/rules/{rule}.html"));
        }
        let (repository, version) = (self.repository, env!("CARGO_PKG_VERSION"));
        (!repository.is_empty()).then(|| format!("{repository}/blob/v{version}/rules/{rule}.md"))
    }
}

impl Published<'_> {
    /// Returns the URL of the JSON Schema for configurations; `None` if only a local copy can exist.
    pub fn schema(&self) -> Option<String> {
        let (repository, version) = (self.repository, env!("CARGO_PKG_VERSION"));
        (!repository.is_empty()).then(|| format!("{repository}/raw/v{version}/sqslint.schema.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::Published;

    #[test]
    fn page_is_in_the_book_or_else_in_the_sources() {
        let repository = "https://example.org/sqslint";
        let both = Published {
            homepage: "https://sqslint.example/",
            repository,
        };
        let page = both.page("fifo-queue-false").unwrap();
        assert_eq!(page, "https://sqslint.example/rules/fifo-queue-false.html");
        let sources = Published {
            homepage: "",
            repository,
        };
        let page = sources.page("fifo-queue-false").unwrap();
        assert!(page.starts_with("https://example.org/sqslint/blob/v"), "{page}");
        assert!(page.ends_with("/rules/fifo-queue-false.md"), "{page}");
        assert_eq!(both.page("a-policy-of-a-team"), None);
        assert_eq!(Published::NOWHERE.page("fifo-queue-false"), None);
    }
}
