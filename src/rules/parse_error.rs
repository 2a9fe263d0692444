//! Files that cannot be read. Frontends raise it; here are its facts.

use super::{Category, Rule, Set};
use crate::diagnostic::Severity;

pub(super) static RULE: Rule = Rule {
    id: "parse-error",
    category: Category::Tool,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a file, or a part of it, is not what its format asks for",
    page: include_str!("../../rules/parse-error.md"),
    settings: &[],
    check: None,
};
