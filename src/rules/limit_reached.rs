//! Metadata of the finding for files that were not read completely because a limit was reached. Frontends raise it.

use super::prelude::*;
use crate::diagnostic::LIMIT_REACHED;

pub(super) static RULE: Rule = Rule::unchecked(
    LIMIT_REACHED,
    Category::Tool,
    Severity::Error,
    "a limit that keeps sqslint fast and safe was reached, so a part was not checked",
    include_str!("../../rules/limit-reached.md"),
);
