//! Suppressions that do not say why. The pipeline raises it; here are its facts.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::raised(
    "suppression-without-reason",
    Severity::Warning,
    "a suppression gives no reason, where `require-reason` is set",
    include_str!("../../rules/suppression-without-reason.md"),
);
