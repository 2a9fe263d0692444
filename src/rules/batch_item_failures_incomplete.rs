//! Flags functions that stop at the first failed message and name only that one, so that Lambda deletes the rest.

use super::prelude::*;
use crate::graph::Defect;
use crate::rules::shared::handlers::Reported;

pub(super) static RULE: Rule = rule!(
    "batch-item-failures-incomplete",
    Category::Handlers,
    Severity::Error,
    "the function stops at a failed message and names only that one, and Lambda deletes the rest of the batch"
);

fn check(findings: &mut Findings<'_>) {
    findings.report_defects(&Reported {
        defect: Defect::UnnamedRest,
        severity: RULE.severity,
        needs_batch: true,
        needs_reports: true,
        met: "the handler names every message that it does not process",
        headline: |handled, queue| {
            format!(
                "{} stops at the first message of {queue} that fails and names only that one: Lambda deletes the \
                 messages after it, which were never processed",
                handled.function
            )
        },
        help: "return the failed message and all later ones in `batchItemFailures`, or, on a standard queue, continue \
               with the next message",
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_file_cases;
    use crate::testing::handlers::template;

    const HANDLER: &str = "\
import json
def handler(event, context):
    for record in event['Records']:
        try:
            check(json.loads(record['body']))
        except Exception:
            return {'batchItemFailures': [<named>]}
    return {'batchItemFailures': []}
def check(order):
    if order['total'] > 3:
        raise ValueError('total')
";

    #[test]
    fn message_that_the_code_rejects_counts_as_failed() {
        let reporting = template("FunctionResponseTypes: [ReportBatchItemFailures]");
        check_file_cases(
            &RULE,
            &[("template.yaml", &reporting), ("src/app.py", HANDLER)],
            "
            named                                                                                                     | finding
            {'itemIdentifier': record['messageId']}                                                                   | error
            *[{'itemIdentifier': r['messageId']} for r in event['Records'][event['Records'].index(record):]]          |
            *[{'itemIdentifier': r['messageId']} for r in event['Records']]                                           |
                                                                                                                      |
            ",
        );
    }
}
