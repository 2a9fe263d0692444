//! Flags functions that never return the failed messages although their mapping sets `ReportBatchItemFailures`.

use super::prelude::*;
use crate::graph::{Outcome, Response};
use crate::rules::shared::handlers::InvokedHandler;

pub(super) static RULE: Rule = rule!(
    "batch-item-failures-never-returned",
    Category::Handlers,
    Severity::Warning,
    "Lambda asks which messages failed, and the function never says: what it caught is deleted"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled(mapping, &mapping.resource.when) {
            let handler = handled.handler;
            let is_silent = handler.deletes_processed || handler.outcome == Outcome::NoWork;
            if handler.response != Response::Nothing || handler.malformed_response.is_some() || is_silent {
                continue;
            }
            for reports in findings.known(&handled.when, mapping, &mapping.report_batch_item_failures) {
                let is_unasked = fact(!*reports.value, || {
                    "Lambda does not ask which messages failed".to_owned()
                });
                if findings.satisfied(&reports.when, mapping, is_unasked.depending_on(&reports)) {
                    continue;
                }
                for batch in findings.batch_sizes(&reports.when, mapping) {
                    let is_single = fact(batch.value == 1, || "batches of 1 message".to_owned()).depending_on(&batch);
                    findings.require(&batch.when, mapping, is_single, || {
                        never(mapping, &handled, &reports, &batch)
                    });
                }
            }
        }
    }
}

fn never(
    mapping: &EventSourceMapping,
    handled: &InvokedHandler<'_>,
    reports: &Known<'_, bool>,
    batch: &Operand<'_>,
) -> Finding {
    let (function, asks) = (handled.function.resource.shown(), mapping.resource.shown());
    let is_raised = handled.handler.outcome == Outcome::Raised;
    let consequence = if is_raised {
        "one failed message still makes Lambda retry its whole batch"
    } else {
        "a failure that it catches counts as success, and the message is deleted"
    };
    // Whether it catches failures is unknown if only its type was read.
    let severity = if is_raised || !handled.handler.has_body {
        Severity::Info
    } else {
        Severity::Warning
    };
    let headline = format!("{asks} asks which messages of a batch failed, but {function} never says: {consequence}");
    let size = format!("up to {}", batch.counted("messages per batch"));
    Finding::new(
        "report_batch_item_failures",
        headline,
        reports,
        "Lambda reads what the function returns, and takes nothing for success",
    )
    .severity_if_enabled(severity, mapping)
    .label(handled.handler.place, handled.no_response_label())
    .label(batch, size)
    .help("return `batchItemFailures` with the ids of the messages that failed")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::diagnostic::Severity;
    use crate::testing::handlers::template;
    use crate::testing::{check_files, run_files};

    const ASKS: &str = "FunctionResponseTypes: [ReportBatchItemFailures]";

    fn severities(settings: &str, handler: &str) -> Vec<Severity> {
        let template = template(&format!("BatchSize: 2\n            {settings}"));
        let found = run_files(&RULE, &[("template.yaml", &template), ("src/app.js", handler)]).findings;
        found.iter().map(|found| found.severity).collect()
    }

    const CATCHES: &str = "\
exports.handler = async (event) => {
  for (const record of event.Records) {
    try { await work(record); } catch (error) { await park(record, error); }
  }
};
";

    #[test]
    fn caught_failures_are_a_warning() {
        assert_eq!(severities(ASKS, CATCHES), [Severity::Warning]);
        let answers = CATCHES.replace("  }\n};", "  }\n  return { statusCode: 200 };\n};");
        assert_eq!(severities(ASKS, &answers), [Severity::Warning]);
    }

    #[test]
    fn uncaught_failures_are_an_info() {
        let handler = "exports.handler = async (event) => { for (const r of event.Records) await work(r); };\n";
        assert_eq!(severities(ASKS, handler), [Severity::Info]);
    }

    #[test]
    fn mapping_without_report_setting_is_ignored() {
        assert_eq!(severities("", CATCHES), []);
    }

    #[test]
    fn response_from_other_code_is_not_judged() {
        for handler in [
            "const { process } = require('./work');\nexports.handler = async (event) => process(event);\n",
            "const { process } = require('./work');\nexports.handler = async (event) => { return await process(event); };\n",
            "exports.handler = async (event) => ({ ...(await work(event)) });\n",
            "exports.handler = wrapped(async (event) => { await work(event); });\n",
            "exports.handler = (event, context, callback) => work(event, callback);\n",
            "exports.handler = async (event) => { const answer = {}; await work(event, answer); return answer; };\n",
            "class Lambda { async handler(event) { return this.work(event); } }\n",
        ] {
            assert_eq!(severities(ASKS, handler), [], "{handler}");
        }
    }

    #[test]
    fn failures_returned_indirectly_are_accepted() {
        for handler in [
            "const all = async (event) => { const failed = await work(event); return { batchItemFailures: failed }; };\nexports.handler = async (event) => await all(event);\n",
            "exports.handler = async (event) => { const answer = { batchItemFailures: [] }; answer.batchItemFailures.push(await work(event)); return answer; };\n",
            "exports.handler = (event, context, callback) => { callback(null, { batchItemFailures: work(event) }); };\n",
            "const middy = require('@middy/core');\nconst report = require('@middy/sqs-partial-batch-failure');\nexports.handler = middy(async (event) => Promise.allSettled(event.Records.map(work))).use(report());\n",
            "const { processPartialResponse } = require('@aws-lambda-powertools/batch');\nexports.handler = async (event, context) => processPartialResponse(event, work, processor, { context });\n",
        ] {
            assert_eq!(severities(ASKS, handler), [], "{handler}");
        }
    }

    #[test]
    fn batch_of_one_is_accepted() {
        for (size, mark) in [(1, ""), (2, " # expect: batch-item-failures-never-returned")] {
            let asks = format!("{ASKS}{mark}");
            let template = template(&format!("BatchSize: {size}\n            {asks}"));
            check_files(&RULE, &[("template.yaml", &template), ("src/app.js", CATCHES)]);
        }
    }
}
