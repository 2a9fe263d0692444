//! Metadata of the finding for expired suppressions, which the pipeline raises.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::unchecked(
    "expired-suppression",
    Category::Tool,
    Severity::Warning,
    "a suppression has expired, or its end is not a date",
    include_str!("../../rules/expired-suppression.md"),
);
