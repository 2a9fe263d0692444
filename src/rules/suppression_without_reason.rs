//! Metadata of the finding for suppressions without a reason, which the pipeline raises.

use super::prelude::*;

pub(super) static RULE: Rule = Rule::unchecked(
    "suppression-without-reason",
    Category::Tool,
    Severity::Warning,
    "a suppression gives no reason, where `require-reason` is set",
    include_str!("../../rules/suppression-without-reason.md"),
);
