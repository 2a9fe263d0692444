//! Where the pages of rules are on the web. `homepage` and `repository` of Cargo.toml are the one place to say it.

use crate::rules::by_id;

/// Addresses of sqslint; empty where it is not published.
#[derive(Debug, Clone, Copy)]
pub struct Published<'a> {
    /// Of the book.
    pub homepage: &'a str,
    /// Of the sources.
    pub repository: &'a str,
}

impl Published<'static> {
    /// As Cargo.toml says.
    pub const HERE: Published<'static> = Published {
        homepage: env!("CARGO_PKG_HOMEPAGE"),
        repository: env!("CARGO_PKG_REPOSITORY"),
    };
    /// Nowhere.
    pub const NOWHERE: Published<'static> = Published {
        homepage: "",
        repository: "",
    };
}

impl Published<'_> {
    /// The address of sqslint itself.
    pub fn address(&self) -> Option<&str> {
        [self.homepage, self.repository].into_iter().find(|one| !one.is_empty())
    }

    /// The address of a rule's page: in the book, or among the sources of this version. Policies have none.
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
    /// Where editors find the schema of configurations; `None` where only a copy of one's own is there.
    pub fn schema(&self) -> Option<String> {
        let (repository, version) = (self.repository, env!("CARGO_PKG_VERSION"));
        (!repository.is_empty()).then(|| format!("{repository}/raw/v{version}/sqslint.schema.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::Published;

    #[test]
    fn pages_are_in_the_book_else_among_the_sources() {
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
