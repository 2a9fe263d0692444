//! Flags mappings on FIFO queues that set a batching window.

use super::prelude::*;
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = Rule {
    id: "fifo-batching-window",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a mapping on a FIFO queue has a batching window, which FIFO does not support",
    page: include_str!("../../rules/fifo-batching-window.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        // Without an upper bound: `batching-window-out-of-range` leaves FIFO queues to this rule.
        for window in findings.any_numbers(&mapping.resource.when, mapping, &mapping.window, Unit::Seconds) {
            let is_none = fact(window.value <= 0, || {
                format!("{} means no batching window", window.in_words())
            });
            if findings.satisfied(&window.when, mapping, is_none.depending_on(&window)) {
                continue;
            }
            for source in findings.sources(graph, mapping, &window.when) {
                let is_standard = fact(!source.fifo, || source.words())
                    .depending_on(&window)
                    .depending_on(&source);
                findings.require(&source.when, mapping, is_standard, || {
                    unsupported(mapping, &window, &source)
                });
            }
        }
    }
}

fn unsupported(mapping: &EventSourceMapping, window: &Operand<'_>, source: &TypedQueue<'_>) -> Finding {
    let headline = format!(
        "{} sets a batching window of {} on the FIFO queue {}, which does not support one",
        mapping.resource.shown(),
        window.in_words(),
        source.shown
    );
    let label = format!("a batching window of {}, so Lambda rejects the mapping", window.shown());
    // The fix removes the attribute, or sets a number that is written elsewhere to 0.
    let fix = if window.origins.is_empty() {
        window.removal()
    } else {
        window.set_to(0)
    };
    Finding::new("window", headline, window, label)
        .show(source)
        .help(format!("remove `{}`", window.name))
        .fix(fix)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    #[test]
    fn window_above_zero_is_flagged() {
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
  maximum_batching_window_in_seconds = 0
}
"#,
        );
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
  maximum_batching_window_in_seconds = 1 # expect: fifo-batching-window
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
    Properties: {FifoQueue: true}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: f
      MaximumBatchingWindowInSeconds: 301 # expect: fifo-batching-window
",
        );
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true}
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        E:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            MaximumBatchingWindowInSeconds: 1 # expect: fifo-batching-window
",
        );
    }

    #[test]
    fn default_and_standard_queues_are_accepted() {
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
      MaximumBatchingWindowInSeconds: 1
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
  name = "q.fifo"
  fifo_queue = true
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
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
  maximum_batching_window_in_seconds = 1
}
"#,
        );
    }
}
