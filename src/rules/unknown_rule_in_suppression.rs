//! Metadata of the finding for suppressions of unknown rules, which the pipeline raises.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::raised(
    "unknown-rule-in-suppression",
    Severity::Warning,
    "a suppression names a rule that does not exist",
    include_str!("../../rules/unknown-rule-in-suppression.md"),
);
