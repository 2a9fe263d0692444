//! Flags mappings on FIFO queues with a larger batch size than FIFO allows.

use super::prelude::*;
use crate::graph::limits::BATCH_SIZE_FIFO;
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = Rule {
    id: "fifo-batch-size-too-large",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a mapping on a FIFO queue has a batch size of more than 10",
    page: include_str!("../../rules/fifo-batch-size-too-large.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for batch in findings.batch_sizes(&mapping.resource.when, mapping) {
            // Without an upper bound: `batch-size-out-of-range` leaves FIFO queues to this rule.
            let is_small = at_most(&batch, BATCH_SIZE_FIFO).note(|| ", as FIFO allows".to_owned());
            if findings.satisfied(&batch.when, mapping, is_small) {
                continue;
            }
            for source in findings.sources(graph, mapping, &batch.when) {
                let is_standard = fact(!source.fifo, || source.words())
                    .depending_on(&batch)
                    .depending_on(&source);
                findings.require(&source.when, mapping, is_standard, || {
                    too_large(mapping, &batch, &source)
                });
            }
        }
    }
}

fn too_large(mapping: &EventSourceMapping, batch: &Operand<'_>, source: &TypedQueue<'_>) -> Finding {
    let headline = format!(
        "{} has a batch size of {} on the FIFO queue {}, but FIFO queues allow at most {BATCH_SIZE_FIFO}",
        mapping.resource.shown(),
        batch.value,
        source.shown
    );
    let label = format!(
        "{} is above {BATCH_SIZE_FIFO}, so Lambda rejects the mapping",
        batch.shown()
    );
    Finding::new("batch_size", headline, batch, label)
        .show(source)
        .help(format!("set `{}` to {BATCH_SIZE_FIFO} or less", batch.name))
        .fix(batch.set_to(BATCH_SIZE_FIFO))
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
  name = "q.fifo"
  fifo_queue = true
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
  name = "q.fifo"
  fifo_queue = true
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 11 # expect: fifo-batch-size-too-large
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
      BatchSize: 11 # expect: fifo-batch-size-too-large
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
            BatchSize: 20000 # expect: fifo-batch-size-too-large
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
      BatchSize: 11
",
        );
    }

    #[test]
    fn type_of_external_queue_follows_from_arn() {
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:q.fifo"
  function_name = "f"
  batch_size = 11 # expect: fifo-batch-size-too-large
}
"#,
        );
        check(
            &RULE,
            Terraform,
            r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:q"
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
  name = "q.fifo"
  fifo_queue = true
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
  fifo_queue = var.x
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name = "f"
  batch_size = 11
}
"#,
        );
    }
}
