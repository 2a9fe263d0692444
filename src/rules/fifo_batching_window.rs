//! Flags mappings that give a batching window to a FIFO queue.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Change, Diagnostic, Remedy, Safety, Severity};
use crate::graph::{EventSourceMapping, Graph, Seconds};
use crate::rules::shared::batches::BatchSource;
use crate::rules::shared::operands::Operand;

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
        for window in findings.known(&mapping.resource.when, &mapping.resource, &mapping.window) {
            // No upper bound: `batching-window-out-of-range` leaves FIFO queues to this rule.
            if window.value.0 <= 0 {
                findings.holds(&window.world, &mapping.resource, &[&window], || {
                    format!("a window of {}, which is none", window.value)
                });
                continue;
            }
            for source in findings.batch_sources(graph, mapping, &window.world) {
                if source.fifo {
                    let diagnostic = unsupported(findings, mapping, &window, &source);
                    findings.report(&source.world, &mapping.resource, diagnostic);
                } else {
                    findings.holds(&source.world, &mapping.resource, &[&window, &source], || {
                        format!("{} is a {} queue", source.shown, source.kind())
                    });
                }
            }
        }
    }
}

fn unsupported(
    findings: &Findings<'_>,
    mapping: &EventSourceMapping,
    window: &Known<'_, Seconds>,
    source: &BatchSource,
) -> Diagnostic {
    let headline = format!(
        "{} sets a batching window of {} on the FIFO queue {}, which does not support one",
        mapping.resource.shown(),
        window.value,
        source.shown
    );
    let diagnostic = findings.diagnostic(
        Severity::Error,
        &mapping.resource,
        "window",
        headline,
        window.span(),
        format!(
            "a window of {}{}, so Lambda refuses the mapping",
            window.value,
            window.provenance()
        ),
    );
    source
        .show(window.show_origin(diagnostic))
        .help(format!("remove `{}`", window.name))
        .remedy(Remedy::not_safe(without(mapping, window)))
}

/// Nothing is written any more, or, where the number stands elsewhere, 0 there.
fn without(mapping: &EventSourceMapping, window: &Known<'_, Seconds>) -> Change {
    if window.case.origins.is_empty() {
        Change::Remove(window.place(&mapping.resource))
    } else {
        Operand::new(window, window.value.0).write(&mapping.resource, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    #[test]
    fn speaks_above_zero() {
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
      MaximumBatchingWindowInSeconds: 1
",
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
