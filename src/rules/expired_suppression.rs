//! Suppressions whose end is over. The pipeline raises it; here are its facts.

use super::{Category, Rule, Set};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "expired-suppression",
    category: Category::Tool,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a suppression has ended, or its end is no day",
    page: include_str!("../../rules/expired-suppression.md"),
    settings: &[],
    check: None,
};
