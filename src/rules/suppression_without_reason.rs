//! Suppressions that do not say why. The pipeline raises it; here are its facts.

use super::{Category, Rule, Set};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "suppression-without-reason",
    category: Category::Tool,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "a suppression does not say why, where `require-reason` is set",
    page: include_str!("../../rules/suppression-without-reason.md"),
    settings: &[],
    check: None,
};
