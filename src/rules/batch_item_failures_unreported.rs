//! Flags mappings that cannot report which messages of a batch failed.

use super::prelude::*;
use crate::graph::{Outcome, Response};
use crate::rules::shared::handlers::InvokedHandler;
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = rule!(
    "batch-item-failures-unreported",
    Category::Mapping,
    Severity::Warning,
    "one failed message makes Lambda retry its whole batch, so processed messages run again"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for reports in findings.known(&mapping.resource.when, mapping, &mapping.report_batch_item_failures) {
            let is_set = fact(*reports.value, || "`ReportBatchItemFailures` is set".to_owned()).depending_on(&reports);
            if findings.satisfied(&reports.when, mapping, is_set) {
                continue;
            }
            for batch in findings.batch_sizes(&reports.when, mapping) {
                let is_single = fact(batch.value == 1, || {
                    "batches of 1 message, which can only fail as a whole".to_owned()
                });
                let is_single = is_single.depending_on(&reports).depending_on(&batch);
                // `batch-size-out-of-range` reports sizes that no queue accepts.
                if findings.satisfied(&batch.when, mapping, is_single) || !limits::BATCH_SIZE.accepts(batch.value) {
                    continue;
                }
                for source in findings.polled_queues(mapping, &batch.when) {
                    // A module that receives its queue as an input probably receives this setting, too.
                    if source.is_unresolved && reports.is_written_elsewhere() {
                        continue;
                    }
                    // The finding is complete without the source, so an unreadable one is not noted.
                    let handled = findings.without_notes(|findings| findings.handled(mapping, &source.when));
                    // It deletes what succeeded, so that only the rest returns.
                    if handled.iter().any(|one| one.handler.deletes_processed) {
                        continue;
                    }
                    let finding = unreported(mapping, &reports, &batch, &source, &handled);
                    findings.report(&source.when, mapping, finding);
                }
            }
        }
    }
}

fn unreported(
    mapping: &EventSourceMapping,
    reports: &Known<'_, bool>,
    batch: &Operand<'_>,
    source: &PolledQueue<'_>,
    handled: &[InvokedHandler<'_>],
) -> Finding {
    let (shown, size) = (mapping.resource.shown(), batch.value);
    let raises = |one: &InvokedHandler<'_>| one.handler.outcome == Outcome::Raised;
    let is_raised = !handled.is_empty() && handled.iter().all(raises);
    // If the handler catches the failure and returns, the message is deleted instead.
    let headline = if is_raised {
        format!(
            "{shown}: one failed message of {size} from {} makes Lambda retry all {size}",
            source.shown
        )
    } else {
        format!(
            "{shown}: after one failed message of {size} from {}, Lambda retries all {size} or, if the handler catches the \
             failure, deletes it",
            source.shown
        )
    };
    let label = if reports.is_default {
        format!("no `{}`: a batch succeeds or fails as a whole", reports.name)
    } else {
        "without `ReportBatchItemFailures` a batch succeeds or fails as a whole".to_owned()
    };
    let order = if source.fifo == Some(true) {
        ", and on this FIFO queue stop at the first failure and report the rest of the batch too"
    } else {
        ""
    };
    let batches = format!("up to {}", batch.counted("messages per batch"));
    let finding = Finding::new("report_batch_item_failures", headline, reports, label)
        .severity_if_enabled(Severity::Warning, mapping)
        .label(batch, batches);
    let silent = handled.iter().filter(|one| one.handler.response == Response::Nothing);
    let finding = silent.fold(finding, |finding, one| {
        finding.label(one.handler.place, one.no_response_label())
    });
    finding.help(format!(
        "set `{}` to `ReportBatchItemFailures` and return `batchItemFailures` from the function{order}",
        reports.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::handlers::template;
    use crate::testing::{check_file_cases, stack};

    #[test]
    fn mapping_without_report_setting_is_flagged() {
        stack().check(
            &RULE,
            "
            mapping.batch_size | mapping.response_types    | queue.fifo | finding
            1                  |                           |            |
            2                  |                           |            | mapping
                               |                           |            | mapping
            open               |                           |            |
                               | []                        |            | mapping.response_types
                               | [ReportBatchItemFailures] |            |
                               | [ReportBatchItemFailures] | true       |
                               | open                      |            |
            ",
        );
    }

    #[test]
    fn handler_that_deletes_messages_is_accepted() {
        let handler = "import { <name> } from './sqs';
export const handler = async (event) => {
  for (const record of event.Records) {
    await ship(record.body);
    await <name>(record);
  }
};
";
        check_file_cases(
            &RULE,
            &[("template.yaml", &template("")), ("src/app.ts", handler)],
            "
            name                | finding
            deleteMessage       |
            delete_from_queue   |
            deleteQueueMessages |
            deleteQueue         | 1
            DeleteQueueCommand  | 1
            deleteOrder         | 1
            ",
        );
    }

    #[test]
    fn mapping_settings_identify_queue() {
        stack()
            .only(&[Terraform, CloudFormation])
            .mapping("source", "open")
            .check(
                &RULE,
                "
            mapping.concurrency | mapping.starting_position | finding
                                |                           | mapping
            5                   |                           | mapping
                                | LATEST                    |
                                | open                      |
            ",
            );
        Terraform.check_cases(
            &RULE,
            r#"
variable "arn" {}
variable "types" { default = [] }
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = var.arn
  function_name    = "f"
  <setting>
}
"#,
            r#"
            setting                             | finding
            topics = ["t"]                      |
            queues = ["q"]                      |
            // The response types may be an input, like the queue.
            function_response_types = var.types |
            "#,
        );
        CloudFormation.check_cases(
            &RULE,
            "
Parameters: {Arn: {Type: String}}
Resources:
  M: <header>
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: <source>, FunctionName: f<position>}
",
            "
            header | source                                           | position                   | finding
                   | !Sub 'arn:aws:mq:${AWS::Region}:1:broker:${Arn}' |                            |
                   | !Sub 'arn:aws:sqs:${AWS::Region}:1:${Arn}'       | , StartingPosition: LATEST | header
                   | !Sub '${Arn}-orders.fifo'                        | , StartingPosition: LATEST | header
                   | !Sub '${Arn}-orders'                             | , StartingPosition: LATEST |
            ",
        );
    }

    #[test]
    fn queue_identified_conditionally_is_judged_under_that_condition() {
        CloudFormation.check_cases(
            &RULE,
            "
Parameters: {Arn: {Type: String}, Kind: {Type: String, AllowedValues: [queue, stream]}}
Conditions: {IsQueue: !Equals [!Ref Kind, queue]}
Resources:
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !Ref Arn
      FunctionName: f
      ScalingConfig: !If [IsQueue, <scaling>, !Ref AWS::NoValue]
      StartingPosition: !If [IsQueue, <queue>, <stream>]
",
            "
            scaling                 | queue             | stream            | finding | when
            !Ref AWS::NoValue       | !Ref AWS::NoValue | LATEST            | 1       | IsQueue
            !Ref AWS::NoValue       | LATEST            | !Ref AWS::NoValue | 1       | not IsQueue
            !Ref AWS::NoValue       | LATEST            | TRIM_HORIZON      |         |
            {MaximumConcurrency: 5} | !Ref AWS::NoValue | LATEST            | 1       | IsQueue
            ",
        );
    }
}
