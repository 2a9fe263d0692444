//! Metadata of the finding for suppressions of unknown rules, which the pipeline raises.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::unchecked(
    "unknown-rule-in-suppression",
    Category::Tool,
    Severity::Warning,
    "a suppression names a rule that does not exist",
    include_str!("../../rules/unknown-rule-in-suppression.md"),
);
