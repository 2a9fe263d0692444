//! Flags functions that report failed messages, but parse the bodies where a failure fails the whole batch.

use super::prelude::*;
use crate::graph::Defect;
use crate::rules::shared::handlers::Reported;

pub(super) static RULE: Rule = rule!(
    "body-parsed-outside-try",
    Category::Handlers,
    Severity::Warning,
    "one malformed body fails the whole batch, although the function reports the messages that fail"
);

fn check(findings: &mut Findings<'_>) {
    findings.report_defects(&Reported {
        defect: Defect::ParsedOutsideTry,
        severity: RULE.severity,
        needs_batch: true,
        needs_reports: true,
        met: "no malformed body is known to fail the whole batch",
        headline: |handled, queue| {
            format!(
                "{} reports the messages of {queue} that fail, but parses their bodies outside of the `try`: one malformed \
                 body fails its whole batch, each time it is received",
                handled.function
            )
        },
        help: "move the parsing into the `try`",
    });
}
