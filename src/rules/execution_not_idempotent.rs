//! Flags functions that start other work for a message by a request that nothing identifies, so that each delivery starts
//! it again.

use super::prelude::*;
use crate::graph::Defect;
use crate::rules::shared::handlers::Reported;

pub(super) static RULE: Rule = rule!(
    "execution-not-idempotent",
    Category::Handlers,
    Severity::Info,
    "the function starts an execution or a job without a name that identifies it: each delivery starts another one"
);

fn check(findings: &mut Findings<'_>) {
    let execution = Reported {
        defect: Defect::UnnamedExecution,
        severity: RULE.severity,
        needs_batch: false,
        needs_reports: false,
        met: "the handler starts no execution without a name",
        headline: |handled, queue| {
            format!(
                "{} starts an execution without `name` for a message of {queue}: a message that is delivered again starts \
                 another one",
                handled.function
            )
        },
        help: "set `name` from the message id or a key of the message: a standard workflow rejects a name of the last 90 \
               days. An Express workflow does not: write the key under a condition first",
    };
    findings.report_defects(&execution);
    findings.report_defects(&Reported {
        defect: Defect::RepeatedJob,
        met: "the handler submits no job",
        headline: |handled, queue| {
            format!(
                "{} submits a job for a message of {queue}: a message that is delivered again submits another one",
                handled.function
            )
        },
        help: "AWS Batch has no token for this: write a key of the message under a condition first, and skip the message if \
               it exists",
        ..execution
    });
}
