//! Suppressions that silence nothing. The pipeline raises it; here are its facts.

use super::{Category, Rule, Set};
use crate::diagnostic::{Safety, Severity};

pub(super) static RULE: Rule = Rule {
    id: "unused-suppression",
    category: Category::Tool,
    severity: Severity::Warning,
    set: Set::Default,
    fix: Some(Safety::Safe),
    summary: "a suppression silences nothing",
    page: include_str!("../../rules/unused-suppression.md"),
    settings: &[],
    check: None,
};
