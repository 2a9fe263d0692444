//! Suppressions of rules that do not exist. The pipeline raises it; here are its facts.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::raised(
    "unknown-rule-in-suppression",
    Severity::Warning,
    "a suppression names a rule that does not exist",
    include_str!("../../rules/unknown-rule-in-suppression.md"),
);
