//! Metadata of the finding for files that were not read completely because a limit was reached. Frontends raise it.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::raised(
    "limit-reached",
    Severity::Error,
    "a limit that keeps sqslint fast and safe was reached, so a part was not checked",
    include_str!("../../rules/limit-reached.md"),
);
