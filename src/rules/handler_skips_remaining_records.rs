//! Flags functions that leave the loop over the records for some of them, so that Lambda deletes the rest unprocessed.

use super::prelude::*;
use crate::graph::Defect;
use crate::rules::shared::handlers::Reported;

pub(super) static RULE: Rule = rule!(
    "handler-skips-remaining-records",
    Category::Handlers,
    Severity::Warning,
    "one message makes the function leave its loop, and Lambda deletes the rest of the batch unprocessed"
);

fn check(findings: &mut Findings<'_>) {
    findings.report_defects(&Reported {
        defect: Defect::SkippedRest,
        severity: RULE.severity,
        needs_batch: true,
        needs_reports: false,
        met: "no message ends the loop over the others",
        headline: |handled, queue| {
            format!(
                "{} returns for some messages of {queue} before it has gone through the batch: Lambda deletes the \
                 messages after such a one unprocessed",
                handled.function
            )
        },
        help: "use `continue` in place of `return` or `break`",
    });
}
