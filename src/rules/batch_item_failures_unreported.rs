//! Flags mappings that cannot report which messages of a batch failed.

use super::prelude::*;
use crate::graph::Response;
use crate::rules::shared::handlers::InvokedHandler;
use crate::rules::shared::queue_types::PolledQueue;

pub(super) static RULE: Rule = Rule {
    id: "batch-item-failures-unreported",
    category: Category::Mapping,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "one failed message returns its whole batch, and messages already processed run again",
    page: include_str!("../../rules/batch-item-failures-unreported.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
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
                for source in findings.polled_queues(graph, mapping, &batch.when) {
                    // A module that receives its queue as an input probably receives this setting, too.
                    if source.is_unresolved && reports.is_written_elsewhere() {
                        continue;
                    }
                    // The finding is complete without the source, so an unreadable one is not noted.
                    let handled = findings.without_notes(|findings| findings.handled(graph, mapping, &source.when));
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
    let shown = mapping.resource.shown();
    let is_read = handled.iter().any(|one| one.handler.has_body);
    // If the handler catches the failure and returns, the message is deleted instead.
    let headline = if is_read {
        format!(
            "one failed message from {} returns its whole batch of up to {} messages, since {shown} does not report which \
             ones failed",
            source.shown, batch.value
        )
    } else {
        format!(
            "{shown} does not report which of up to {} messages from {} failed: if the handler raises, Lambda retries the \
             whole batch; if it catches the error, the message is deleted",
            batch.value, source.shown
        )
    };
    let label = if reports.is_default {
        format!("no `{}`: a batch succeeds or fails as a whole", reports.name)
    } else {
        "without `ReportBatchItemFailures` a batch succeeds or fails as a whole".to_owned()
    };
    // A disabled mapping does no harm.
    let severity = match mapping.enabled.known() {
        Some(false) => Severity::Info,
        _ => Severity::Warning,
    };
    let order = if source.fifo == Some(true) {
        ", and on this FIFO queue stop at the first failure and report the rest of the batch too"
    } else {
        ""
    };
    let size = format!("up to {}", batch.counted("messages per batch"));
    let finding = Finding::new("report_batch_item_failures", headline, reports, label)
        .severity(severity)
        .label(batch, size);
    let silent = handled.iter().filter(|one| one.handler.response == Response::Nothing);
    let finding = silent.fold(finding, |finding, one| {
        finding.label(one.handler.place, one.no_response_label())
    });
    let either = if is_read {
        ""
    } else {
        "report failed messages in either case: "
    };
    finding.help(format!(
        "{either}set `{}` to `ReportBatchItemFailures` and return `batchItemFailures` from the function{order}",
        reports.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    #[test]
    fn mapping_settings_identify_queue() {
        let mapping = |settings: &str, expected: &str| {
            let text = format!(
                "variable \"arn\" {{}}\nvariable \"types\" {{ default = [] }}\nresource \"aws_lambda_event_source_mapping\" \"m\" {{ \
                 {expected}\n  event_source_arn = var.arn\n  function_name = \"f\"\n  {settings}\n}}\n"
            );
            check(&RULE, Terraform, &text);
        };
        let expected = "# expect: batch-item-failures-unreported";
        mapping("", expected);
        mapping("scaling_config {\n    maximum_concurrency = 5\n  }", expected);
        mapping("starting_position = \"LATEST\"", "");
        mapping("topics = [\"t\"]", "");
        mapping("queues = [\"q\"]", "");
        // The response types may be an input, like the queue.
        mapping("function_response_types = var.types", "");
        let template = |source: &str, settings: &str, expected: &str| {
            let text = format!(
                "Parameters: {{Arn: {{Type: String}}}}\nResources:\n  M: {expected}\n    Type: \
                 AWS::Lambda::EventSourceMapping\n    Properties: {{EventSourceArn: {source}, FunctionName: f{settings}}}\n"
            );
            check(&RULE, CloudFormation, &text);
        };
        template("!Ref Arn", "", expected);
        template("!Ref Arn", ", StartingPosition: LATEST", "");
        template("!Sub 'arn:aws:mq:${AWS::Region}:1:broker:${Arn}'", "", "");
        template(
            "!Sub 'arn:aws:sqs:${AWS::Region}:1:${Arn}'",
            ", StartingPosition: LATEST",
            expected,
        );
        template("!Sub '${Arn}-orders.fifo'", ", StartingPosition: LATEST", expected);
        template("!Sub '${Arn}-orders'", ", StartingPosition: LATEST", "");
    }

    #[test]
    fn queue_identified_conditionally_is_judged_under_that_condition() {
        let finding = |properties: &str| {
            let text = format!(
                "Parameters: {{Arn: {{Type: String}}, Kind: {{Type: String, AllowedValues: [queue, stream]}}}}\nConditions: \
                 {{IsQueue: !Equals [!Ref Kind, queue]}}\nResources:\n  M:\n    Type: AWS::Lambda::EventSourceMapping\n    \
                 Properties:\n      EventSourceArn: !Ref Arn\n      FunctionName: f\n{properties}"
            );
            let found = findings(&RULE, CloudFormation, &text);
            found
                .into_iter()
                .map(|found| found.when.unwrap_or_default())
                .collect::<Vec<_>>()
        };
        let none = "!Ref AWS::NoValue";
        let position = |yes: &str, no: &str| finding(&format!("      StartingPosition: !If [IsQueue, {yes}, {no}]\n"));
        assert_eq!(position(none, "LATEST"), ["IsQueue"]);
        assert_eq!(position("LATEST", none), ["not IsQueue"]);
        assert!(position("LATEST", "TRIM_HORIZON").is_empty());
        let limit = finding(&format!(
            "      ScalingConfig: !If [IsQueue, {{MaximumConcurrency: 5}}, {none}]\n      StartingPosition: !If [IsQueue, {none}, LATEST]\n"
        ));
        assert_eq!(limit, ["IsQueue"]);
    }

    #[test]
    fn batch_of_one_is_accepted_and_two_is_flagged() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 1
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" { # expect: batch-item-failures-unreported
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 2
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  M: # expect: batch-item-failures-unreported
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: f
      BatchSize: 2
",
        );
    }

    #[test]
    fn default_batch_of_ten_is_flagged() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" { # expect: batch-item-failures-unreported
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
}
"#,
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E: # expect: batch-item-failures-unreported
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
",
        );
    }

    #[test]
    fn finding_points_at_empty_list() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  function_response_types = [] # expect: batch-item-failures-unreported
}
"#,
        );
    }

    #[test]
    fn report_setting_is_accepted() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
  name = "q.fifo"
  fifo_queue = true
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  function_response_types = ["ReportBatchItemFailures"]
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: f
      FunctionResponseTypes: [ReportBatchItemFailures]
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            FunctionResponseTypes:
              - ReportBatchItemFailures
",
        );
    }

    #[test]
    fn unresolved_values_are_not_judged() {
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  function_response_types = var.x
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = var.x
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
variable "x" {}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = var.x
  function_name = "f"
  starting_position = var.x
}
"#,
        );
    }
}
