//! Metadata of the finding for files that cannot be read, which frontends raise.

use super::prelude::*;
use crate::diagnostic::PARSE_ERROR;

pub(super) static RULE: Rule = Rule::unchecked(
    PARSE_ERROR,
    Category::Tool,
    Severity::Error,
    "a file, or a part of it, does not follow its format",
    include_str!("../../rules/parse-error.md"),
);
