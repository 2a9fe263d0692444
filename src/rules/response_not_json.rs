//! Flags functions whose response Lambda cannot convert to JSON, so that their invocations fail.

use super::prelude::*;
use crate::graph::Defect;
use crate::rules::shared::handlers::Reported;

pub(super) static RULE: Rule = rule!(
    "response-not-json",
    Category::Handlers,
    Severity::Error,
    "the function returns what Lambda cannot convert to JSON, so the invocation fails and all messages are processed again"
);

fn check(findings: &mut Findings<'_>) {
    let always = Reported {
        defect: Defect::NeverJson,
        severity: RULE.severity,
        needs_batch: false,
        needs_reports: false,
        met: "no response was found that is not JSON",
        headline: |handled, queue| {
            format!(
                "{} returns what Lambda cannot convert to JSON: every invocation for messages of {queue} fails",
                handled.function
            )
        },
        help: "return an object of lists, texts and numbers: convert a set to a list and an exception to a text; Lambda does \
               not await a handler in Python, so call `asyncio.run(…)` in a function without `async`",
    };
    findings.report_defects(&always);
    findings.report_defects(&Reported {
        defect: Defect::NotAlwaysJson,
        severity: Severity::Warning,
        headline: |handled, queue| {
            format!(
                "{} may return what Lambda cannot convert to JSON: the invocation then fails, and all its messages of {queue} \
                 are processed again",
                handled.function
            )
        },
        ..always
    });
}
