//! Suppressions of rules that do not exist. The pipeline raises it; here are its facts.

use super::{Category, Rule, Set};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "unknown-rule-in-suppression",
    category: Category::Tool,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a suppression names a rule that does not exist",
    page: include_str!("../../rules/unknown-rule-in-suppression.md"),
    settings: &[],
    check: None,
};
