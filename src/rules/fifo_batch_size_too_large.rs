//! Flags mappings that ask a FIFO queue for more messages a batch than FIFO allows.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Diagnostic, Remedy, Safety, Severity};
use crate::graph::limits::BATCH_SIZE_WITHOUT_WINDOW as FIFO_BATCH_SIZE;
use crate::graph::{EventSourceMapping, Graph};
use crate::rules::shared::batches::BatchSource;
use crate::rules::shared::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "fifo-batch-size-too-large",
    category: Category::Mapping,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a mapping on a FIFO queue asks for more than 10 messages a batch",
    page: include_str!("../../rules/fifo-batch-size-too-large.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        for batch in findings.known(&mapping.resource.when, &mapping.resource, &mapping.batch_size) {
            // No upper bound: `batch-size-out-of-range` leaves FIFO queues to this rule.
            if *batch.value <= FIFO_BATCH_SIZE {
                findings.holds(&batch.world, &mapping.resource, &[&batch], || {
                    format!("{} ≤ {FIFO_BATCH_SIZE} messages, as FIFO allows", batch.value)
                });
                continue;
            }
            for source in findings.batch_sources(graph, mapping, &batch.world) {
                if source.fifo {
                    let diagnostic = too_large(findings, mapping, &batch, &source);
                    findings.report(&source.world, &mapping.resource, diagnostic);
                } else {
                    findings.holds(&source.world, &mapping.resource, &[&batch, &source], || {
                        format!("{} is a {} queue", source.shown, source.kind())
                    });
                }
            }
        }
    }
}

fn too_large(
    findings: &Findings<'_>,
    mapping: &EventSourceMapping,
    batch: &Known<'_, i64>,
    source: &BatchSource,
) -> Diagnostic {
    let headline = format!(
        "{} asks the FIFO queue {} for batches of {} messages, and FIFO allows {FIFO_BATCH_SIZE}",
        mapping.resource.shown(),
        source.shown,
        batch.value
    );
    let diagnostic = findings.diagnostic(
        Severity::Error,
        &mapping.resource,
        "batch_size",
        headline,
        batch.span(),
        format!(
            "{}{} is above {FIFO_BATCH_SIZE}, so Lambda refuses the mapping",
            batch.value,
            batch.provenance()
        ),
    );
    source
        .show(batch.show_origin(diagnostic))
        .help(format!("set `{}` to {FIFO_BATCH_SIZE} or less", batch.name))
        .remedy(Remedy::not_safe(
            Operand::new(batch, *batch.value).write(&mapping.resource, FIFO_BATCH_SIZE),
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    #[test]
    fn speaks_above_ten() {
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
    fn the_default_and_standard_queues_are_fine() {
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
    fn an_arn_tells_the_type() {
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
    fn what_is_not_known_is_not_judged() {
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
