//! Flags functions that send several entries in one request and never read which of them failed.

use super::prelude::*;
use crate::graph::Defect;
use crate::rules::shared::handlers::Reported;

pub(super) static RULE: Rule = rule!(
    "batch-send-failures-ignored",
    Category::Handlers,
    Severity::Warning,
    "the function never reads which entries of a batch request failed, and Lambda deletes their messages"
);

fn check(findings: &mut Findings<'_>) {
    findings.report_defects(&Reported {
        defect: Defect::IgnoredEntries,
        severity: RULE.severity,
        needs_batch: false,
        needs_reports: false,
        met: "the handler ignores no failed entries of a request",
        headline: |handled, queue| {
            format!(
                "{} never reads which entries of a request failed: Lambda deletes the messages of {queue} although their work \
                 may not have started",
                handled.function
            )
        },
        help: "read `Failed` (SendMessageBatch, PublishBatch), `FailedEntryCount` (PutEvents), `UnprocessedItems` \
               (BatchWriteItem) or `failures` (RunTask) of the result, and send these entries again or fail",
    });
}
