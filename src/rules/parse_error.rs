//! Files that cannot be read. Frontends raise it; here are its facts.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::raised(
    "parse-error",
    Severity::Error,
    "a file, or a part of it, does not follow its format",
    include_str!("../../rules/parse-error.md"),
);
