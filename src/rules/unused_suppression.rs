//! Suppressions that silence nothing. The pipeline raises it; here are its facts.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    fix: Some(Safety::Safe),
    ..Rule::raised(
        "unused-suppression",
        Severity::Warning,
        "a suppression suppresses nothing",
        include_str!("../../rules/unused-suppression.md"),
    )
};
