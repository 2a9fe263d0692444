//! Files that are not read whole, because a bound was reached. Frontends raise it; here are its facts.

use super::{Category, Rule, Set};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "limit-reached",
    category: Category::Tool,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a bound that keeps sqslint fast and safe was reached, so a part was not checked",
    page: include_str!("../../rules/limit-reached.md"),
    settings: &[],
    check: None,
};
