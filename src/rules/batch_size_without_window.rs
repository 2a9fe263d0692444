//! Flags mappings on standard queues with a batch size above ten but no batching window.

use super::prelude::*;
use crate::graph::limits::{BATCH_SIZE, BATCH_SIZE_WITHOUT_WINDOW};
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = Rule {
    id: "batch-size-without-window",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a batch of more than 10 messages has no batching window, which Lambda requires",
    page: include_str!("../../rules/batch-size-without-window.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for batch in findings.batch_sizes(&mapping.resource.when, mapping) {
            let is_small =
                at_most(&batch, BATCH_SIZE_WITHOUT_WINDOW).note(|| ", which need no batching window".to_owned());
            // `batch-size-out-of-range` reports sizes that no queue accepts.
            if findings.satisfied(&batch.when, mapping, is_small) || !BATCH_SIZE.accepts(batch.value) {
                continue;
            }
            for window in findings.any_numbers(&batch.when, mapping, &mapping.window, Unit::Seconds) {
                let has_window = fact(window.value != 0, || {
                    let (size, window) = (batch.value, window.in_words());
                    format!("{BATCH_SIZE_WITHOUT_WINDOW} < {size} messages, with a batching window: 1 s ≤ {window}")
                });
                if findings.satisfied(
                    &window.when,
                    mapping,
                    has_window.depending_on(&batch).depending_on(&window),
                ) {
                    continue;
                }
                for source in findings.sources(graph, mapping, &window.when) {
                    // A FIFO queue supports neither a larger batch nor a window.
                    if source.fifo {
                        findings.leave_to_rule_of(&source.when, mapping, &[&batch, &window, &source], Cause::FifoBatch);
                    } else {
                        findings.report(&source.when, mapping, without_window(mapping, &batch, &window, &source));
                    }
                }
            }
        }
    }
}

fn without_window(
    mapping: &EventSourceMapping,
    batch: &Operand<'_>,
    window: &Operand<'_>,
    source: &TypedQueue<'_>,
) -> Finding {
    let (size, name) = (batch.value, window.name);
    let headline = format!(
        "{} has a batch size of {size} on {} but no batching window",
        mapping.resource.shown(),
        source.shown
    );
    let label = format!(
        "{}: above {BATCH_SIZE_WITHOUT_WINDOW}, Lambda requires a batching window of at least 1 s",
        batch.shown()
    );
    let finding = Finding::new("batch_size", headline, batch, label);
    let finding = if window.is_default {
        let no_window = format!("`{name}` is not set, so the batching window is {}", window.in_words());
        finding.label(window.span, no_window)
    } else {
        finding.label(window, format!("the batching window is {}", window.shown()))
    };
    finding
        .show(source)
        .help(format!(
            "set `{name}` to 1 or more, or `{}` to {BATCH_SIZE_WITHOUT_WINDOW} or less",
            batch.name
        ))
        .fix(window.set_to(1))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    #[test]
    fn batch_size_above_ten_is_flagged() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 10
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 11 # expect: batch-size-without-window
}
"#,
        );
        check(
            &RULE,
            CloudFormation,
            r#"
Resources:
  Q:
    Type: AWS::SQS::Queue
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: f
      BatchSize: "11" # expect: batch-size-without-window
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
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            BatchSize: 11 # expect: batch-size-without-window
            MaximumBatchingWindowInSeconds: 0
",
        );
    }

    #[test]
    fn a_window_of_one_second_is_enough() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 11
  maximum_batching_window_in_seconds = 1
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
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            BatchSize: 11
            MaximumBatchingWindowInSeconds: 1
",
        );
    }

    #[test]
    fn fifo_queues_and_invalid_sizes_are_left_to_their_rules() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: f
      BatchSize: 11
",
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 10001
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_sqs_queue" "q" {
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 10000 # expect: batch-size-without-window
}
"#,
        );
    }

    #[test]
    fn type_of_external_queue_follows_from_arn() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:q"
  function_name = "f"
  batch_size = 11 # expect: batch-size-without-window
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:q.fifo"
  function_name = "f"
  batch_size = 11
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:kinesis:eu-west-1:111122223333:stream/q"
  function_name = "f"
  batch_size = 11
}
"#,
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
  batch_size = var.x
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
  batch_size = 11
  maximum_batching_window_in_seconds = var.x
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
  batch_size = 11
}
"#,
        );
    }
}
