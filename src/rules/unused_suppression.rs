//! Metadata of the finding for suppressions that suppress nothing, which the pipeline raises.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    fix: Some(Safety::Safe),
    ..Rule::unchecked(
        "unused-suppression",
        Category::Tool,
        Severity::Warning,
        "a suppression suppresses nothing",
        include_str!("../../rules/unused-suppression.md"),
    )
};
