//! Modules that are understood without their code: each has a description in HCL in this directory. Its head states the
//! package and the versions that it covers:
//!
//! ```text
//! # module: terraform-aws-modules/sqs/aws
//! # versions: >= 4.0.1, < 6.0.0
//! # with: sqs.tf
//! ```
//!
//! The optional last line names files with content that the descriptions of several versions share.
//!
//! A description declares every variable of the module, the relevant resources under their real names, and every
//! output. Whatever it omits must not affect a queue, a function or a mapping. Comments are ignored.

use super::address::{Address, Revision};
use super::version::Range;
use crate::syntax::{self, Block};
use source::FileId;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, OnceLock};

/// The texts of all descriptions, in any order.
const TEXTS: &[&str] = &[
    include_str!("cloudposse/label-0.24.tf"),
    include_str!("cloudposse/lambda-function-0.3.tf"),
    include_str!("cloudposse/sns-topic-0.20.tf"),
    include_str!("cloudposse/sns-topic-1.1.tf"),
    include_str!("terraform-aws-modules/eventbridge-1.tf"),
    include_str!("terraform-aws-modules/eventbridge-3.tf"),
    include_str!("terraform-aws-modules/lambda-2.33.tf"),
    include_str!("terraform-aws-modules/lambda-4.13.tf"),
    include_str!("terraform-aws-modules/lambda-4.2.tf"),
    include_str!("terraform-aws-modules/lambda-alias-2.tf"),
    include_str!("terraform-aws-modules/lambda-alias-5.1.tf"),
    include_str!("terraform-aws-modules/sns-3.tf"),
    include_str!("terraform-aws-modules/sns-5.tf"),
    include_str!("terraform-aws-modules/sqs-1.0.tf"),
    include_str!("terraform-aws-modules/sqs-1.2.tf"),
    include_str!("terraform-aws-modules/sqs-2.tf"),
    include_str!("terraform-aws-modules/sqs-4.tf"),
];

/// Texts that several descriptions share, by name.
const SHARED: &[(&str, &str)] = &[
    ("context.tf", include_str!("cloudposse/context.tf")),
    ("eventbridge.tf", include_str!("terraform-aws-modules/eventbridge.tf")),
    ("lambda-alias.tf", include_str!("terraform-aws-modules/lambda-alias.tf")),
    (
        "lambda-before-4.13.tf",
        include_str!("terraform-aws-modules/lambda-before-4.13.tf"),
    ),
    ("lambda.tf", include_str!("terraform-aws-modules/lambda.tf")),
    ("sns-topic.tf", include_str!("cloudposse/sns-topic.tf")),
    ("sns.tf", include_str!("terraform-aws-modules/sns.tf")),
];

/// A module in a range of versions.
#[derive(Debug)]
pub(crate) struct Description {
    /// The package, in the form of [`Address::shown`].
    module: &'static str,
    versions: Range,
    /// Its own text, followed by the shared ones.
    texts: Vec<&'static str>,
    blocks: OnceLock<Vec<Arc<Block>>>,
}

static DESCRIPTIONS: LazyLock<Vec<Description>> = LazyLock::new(|| {
    let mut all: Vec<Description> = TEXTS.iter().filter_map(|text| Description::new(text)).collect();
    all.sort_by_key(|description| (description.module, description.versions.order()));
    all
});

impl Description {
    /// Parses a description; `None` if its head is malformed, which a test rules out.
    fn new(text: &'static str) -> Option<Description> {
        let mut lines = text.lines();
        let module = lines.next()?.strip_prefix("# module: ")?;
        let versions = Range::read(lines.next()?.strip_prefix("# versions: ")?)?;
        let mut texts = vec![text];
        for name in lines
            .next()
            .and_then(|line| line.strip_prefix("# with: "))
            .into_iter()
            .flat_map(|l| l.split(", "))
        {
            texts.push(SHARED.iter().find(|(known, _)| *known == name)?.1);
        }
        Some(Description {
            module,
            versions,
            texts,
            blocks: OnceLock::new(),
        })
    }

    /// Returns its blocks. Their spans are meaningless: they refer to `file`, or to the file of the first caller.
    pub(super) fn blocks(&self, file: FileId) -> &[Arc<Block>] {
        self.blocks.get_or_init(|| {
            let texts = self.texts.iter();
            texts.flat_map(|text| syntax::parse(file, text).0.blocks).collect()
        })
    }

    /// Returns the variables that it declares.
    pub(crate) fn variables(&self, file: FileId) -> BTreeSet<&str> {
        let variables = self.blocks(file).iter().filter(|block| &*block.kind == "variable");
        variables
            .filter_map(|block| block.labels.first().map(|name| &**name))
            .collect()
    }
}

/// Returns the description of the module at `address` in the version that Terraform would choose: `None` if the module
/// is not described at all, or the reason, as a clause, if that version is not described.
pub(crate) fn find(address: &Address, constraint: Option<&str>) -> Option<Result<&'static Description, Arc<str>>> {
    let shown = address.shown();
    let known: Vec<&Description> = DESCRIPTIONS.iter().filter(|known| known.module == shown).collect();
    if known.is_empty() {
        return None;
    }
    let (range, written) = match (&address.revision, constraint) {
        (Revision::Argument, Some(constraint)) => (Range::read(constraint), constraint),
        (Revision::Named(name), _) => (tagged(name), &**name),
        (Revision::Argument, None) | (Revision::Head, _) => (Some(Range::ANY), ""),
    };
    let ranges: Vec<Range> = known.iter().map(|known| known.versions).collect();
    let Some(range) = range else {
        let reason = format!("`{written}` does not state which versions of `{shown}` it allows");
        return Some(Err(reason.into()));
    };
    let found = range.newest_of(&ranges).and_then(|at| known.get(at).copied());
    Some(found.ok_or_else(|| format!("version `{written}` of `{shown}` is not one that is described").into()))
}

/// Returns the versions that a tag, branch or commit may be: a main branch is the newest.
fn tagged(name: &str) -> Option<Range> {
    match name {
        "main" | "master" => Some(Range::ANY),
        _ => Range::exactly(name),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use source::Sources;
    use std::path::Path;

    #[test]
    fn every_description_has_a_head_and_parses() {
        assert_eq!(DESCRIPTIONS.len(), TEXTS.len());
        let sources = Sources::default();
        for description in DESCRIPTIONS.iter() {
            let mut named = BTreeSet::new();
            for (at, text) in description.texts.iter().enumerate() {
                let file = sources.add(Path::new(&format!("{at}.tf")), *text);
                let (body, problems) = syntax::parse(file, text);
                assert_eq!(problems, [], "{}", description.module);
                assert!(body.attributes.is_empty(), "{}", description.module);
                for block in &body.blocks {
                    let known = ["variable", "locals", "resource", "data", "output"];
                    assert!(known.contains(&&*block.kind), "{}: {}", description.module, block.kind);
                    let is_new = named.insert((block.kind.clone(), block.labels.clone()));
                    assert!(
                        is_new || &*block.kind == "locals",
                        "{}: {:?}",
                        description.module,
                        block.labels
                    );
                }
            }
        }
    }

    #[test]
    fn ranges_of_one_module_do_not_overlap() {
        for pair in DESCRIPTIONS.windows(2) {
            if let [a, b] = pair
                && a.module == b.module
            {
                assert!(
                    a.versions.ends_before(b.versions),
                    "{}: {:?} {:?}",
                    a.module,
                    a.versions,
                    b.versions
                );
            }
        }
    }

    #[test]
    fn versions_outside_of_the_descriptions_are_reported() {
        let reported = |source: &str, constraint| match find(&Address::read(source).unwrap(), constraint) {
            None => "not described".to_owned(),
            Some(Ok(found)) => found.texts[0].lines().nth(1).unwrap().to_owned(),
            Some(Err(reason)) => reason.to_string(),
        };
        let sqs = "terraform-aws-modules/sqs/aws";
        let git = "git::https://github.com/terraform-aws-modules/terraform-aws-sqs.git?ref=";
        let newest = "# versions: >= 4.0.1, < 6.0.0";
        assert_eq!(reported(sqs, None), newest);
        assert_eq!(reported(sqs, Some("~> 5.0")), newest);
        assert_eq!(reported(sqs, Some("1.1.0")), "# versions: >= 1.0.0, < 1.2.0");
        // 1.2.1 compares a boolean with a number, and only Terraform 0.11 considers those equal.
        assert_eq!(
            reported(sqs, Some("~> 1.0")),
            "version `~> 1.0` of `terraform-aws-modules/sqs/aws` is not one that is described"
        );
        assert_eq!(
            reported(sqs, Some("6.0.0")),
            "version `6.0.0` of `terraform-aws-modules/sqs/aws` is not one that is described"
        );
        assert_eq!(
            reported(sqs, Some("newest")),
            "`newest` does not state which versions of `terraform-aws-modules/sqs/aws` it allows"
        );
        assert_eq!(reported(&format!("{git}v3.5.0"), None), "# versions: >= 2.0.0, < 4.0.0");
        assert_eq!(reported(&format!("{git}master"), None), newest);
        assert_eq!(
            reported(&format!("{git}0123abc"), None),
            "`0123abc` does not state which versions of `terraform-aws-modules/sqs/aws` it allows"
        );
        assert_eq!(reported("terraform-aws-modules/vpc/aws", None), "not described");
    }
}
