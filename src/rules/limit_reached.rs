//! Files that are not read whole, because a bound was reached. Frontends raise it; here are its facts.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::raised(
    "limit-reached",
    Severity::Error,
    "a limit that keeps sqslint fast and safe was reached, so a part was not checked",
    include_str!("../../rules/limit-reached.md"),
);
