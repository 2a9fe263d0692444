//! Flags functions that continue with a batch of a FIFO queue after a message has failed.

use super::prelude::*;
use crate::graph::{ContinuesAfterFailure, Response};
use crate::rules::shared::handlers::{InvokedHandler, invokes};
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = rule!(
    "fifo-batch-continues-after-failure",
    Category::Handlers,
    Severity::Warning,
    "the function continues after a failed message of a FIFO queue, and later ones overtake it"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let (Some(goes_on), Response::Failures(_)) = (&handled.handler.continues, &handled.handler.response) else {
                let stops = fact(true, || "the handler does not continue after a failure".to_owned());
                findings.satisfied(&handled.when, mapping, stops);
                continue;
            };
            for reports in findings.known(&handled.when, mapping, &mapping.report_batch_item_failures) {
                // `batch-item-failures-ignored` reports mappings without the setting.
                if !*reports.value {
                    continue;
                }
                for batch in findings.batch_sizes(&reports.when, mapping) {
                    for source in findings.sources(mapping, &batch.when) {
                        let is_single =
                            fact(batch.value == 1, || "batches of 1 message".to_owned()).depending_on(&batch);
                        let keeps =
                            fact(!source.fifo, || "a standard queue keeps no order".to_owned()).depending_on(&source);
                        if findings.satisfied(&source.when, mapping, keeps) {
                            continue;
                        }
                        findings.require(&source.when, mapping, is_single, || {
                            overtaken(mapping, &handled, goes_on, &source)
                        });
                    }
                }
            }
        }
    }
}

fn overtaken(
    mapping: &EventSourceMapping,
    handled: &InvokedHandler<'_>,
    goes_on: &ContinuesAfterFailure,
    source: &TypedQueue<'_>,
) -> Finding {
    let headline = format!(
        "{} continues with a batch of the FIFO queue {} after a message failed: later messages of its group overtake it",
        handled.function, source.shown
    );
    let help = match goes_on.instead {
        Some(instead) => format!("use `{instead}`, which stops at the first failure and returns the rest of the batch"),
        None => "stop at the first failure, and return that message and all after it in `batchItemFailures`".to_owned(),
    };
    Finding::new("order", headline, goes_on.fact.span, &*goes_on.fact.words)
        .severity_if_enabled(Severity::Warning, mapping)
        .show(source)
        .label(mapping.resource.header, invokes(mapping))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::check_files;
    use crate::testing::handlers::template;

    /// Checks a handler that a queue invokes with batches of this size.
    fn queue(is_fifo: bool, batch: u32, handler: &str) {
        let asks = format!("BatchSize: {batch}\n            FunctionResponseTypes: [ReportBatchItemFailures]");
        let fifo = if is_fifo {
            "    Properties:\n      FifoQueue: true\n"
        } else {
            ""
        };
        let template = template(&asks).replacen("AWS::SQS::Queue\n", &format!("AWS::SQS::Queue\n{fifo}"), 1);
        check_files(&RULE, &[("template.yaml", &template), ("src/app.py", handler)]);
    }

    fn library(processor: &str, end: &str) -> String {
        format!(
            "processor = {processor}(){end}
def handler(event, context):
    return process_partial_response(event=event, record_handler=work, processor=processor, context=context)
"
        )
    }

    const FLAGGED: &str = " # expect: fifo-batch-continues-after-failure";

    fn looped(then: &str, end: &str) -> String {
        format!(
            "def handler(event, context):
    failures = []
    for record in event['Records']:{end}
        try:
            work(record)
        except Exception:
            failures.append({{'itemIdentifier': record['messageId']}})
{then}    return {{'batchItemFailures': failures}}
"
        )
    }

    #[test]
    fn batch_processor_for_standard_queues_is_flagged() {
        queue(true, 10, &library("BatchProcessor", FLAGGED));
        queue(true, 10, &library("SqsFifoPartialProcessor", ""));
    }

    #[test]
    fn loop_that_collects_failures_without_break_is_flagged() {
        queue(true, 10, &looped("", FLAGGED));
        queue(true, 10, &looped("            break\n", ""));
    }

    #[test]
    fn rest_of_the_batch_that_fails_after_the_first_failure_is_accepted() {
        let failure = "failures.append({'itemIdentifier': record['messageId']})";
        let looped = looped("", "");
        for test in [
            "failures",
            "unknown or failures",
            "True if unknown else bool(failures)",
            "context.get_remaining_time_in_millis() < 5000 or bool(failures)",
        ] {
            let skip = format!("        if {test}:\n            {failure}\n            continue\n        try:");
            queue(true, 10, &looped.replace("        try:", &skip));
        }
    }

    #[test]
    fn handler_that_reads_message_groups_is_accepted() {
        let handler = looped("", "").replace("work(record)", "work(record, record['attributes']['MessageGroupId'])");
        queue(true, 10, &handler);
    }

    #[test]
    fn standard_queue_and_batch_of_one_are_accepted() {
        queue(false, 10, &looped("", ""));
        queue(true, 1, &looped("", ""));
        queue(true, 2, &looped("", FLAGGED));
    }
}
