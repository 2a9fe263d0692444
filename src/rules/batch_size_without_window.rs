//! Flags mappings on standard queues that collect more than ten messages and give no time to collect them.

use super::{Category, Findings, Known, Read, Rule, Set, fifo_batch_size_too_large};
use crate::diagnostic::{Diagnostic, Remedy, Safety, Severity};
use crate::graph::limits::{BATCH_SIZE, BATCH_SIZE_WITHOUT_WINDOW};
use crate::graph::{EventSourceMapping, Graph, Seconds};
use crate::rules::shared::batches::BatchSource;
use crate::rules::shared::operands::Operand;

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
        for batch in findings.known(&mapping.resource.when, &mapping.resource, &mapping.batch_size) {
            let size = *batch.value;
            if size <= BATCH_SIZE_WITHOUT_WINDOW {
                findings.holds(&batch.world, &mapping.resource, &[&batch], || {
                    format!("{size} ≤ {BATCH_SIZE_WITHOUT_WINDOW} messages, which need no window")
                });
                continue;
            }
            // Sizes that no queue may have are `batch-size-out-of-range`.
            if !BATCH_SIZE.contains(&size) {
                continue;
            }
            for window in findings.known(&batch.world, &mapping.resource, &mapping.window) {
                if window.value.0 != 0 {
                    findings.holds(&window.world, &mapping.resource, &[&batch, &window], || {
                        format!(
                            "{BATCH_SIZE_WITHOUT_WINDOW} < {size} messages, with a window: 1 s ≤ {}",
                            window.value
                        )
                    });
                    continue;
                }
                for source in findings.batch_sources(graph, mapping, &window.world) {
                    // A FIFO queue allows neither.
                    if source.fifo {
                        let (read, other) = (
                            &[&batch as &dyn Read, &window, &source],
                            &fifo_batch_size_too_large::RULE,
                        );
                        findings.yields(&source.world, &mapping.resource, read, other);
                    } else {
                        let diagnostic = without_window(findings, mapping, &batch, &window, &source);
                        findings.report(&source.world, &mapping.resource, diagnostic);
                    }
                }
            }
        }
    }
}

fn without_window(
    findings: &Findings<'_>,
    mapping: &EventSourceMapping,
    batch: &Known<'_, i64>,
    window: &Known<'_, Seconds>,
    source: &BatchSource,
) -> Diagnostic {
    let headline = format!(
        "{} asks for batches of {} messages from {} without a batching window",
        mapping.resource.shown(),
        batch.value,
        source.shown
    );
    let diagnostic = findings.diagnostic(
        Severity::Error,
        &mapping.resource,
        "batch_size",
        headline,
        batch.span(),
        format!(
            "{}{}: above {BATCH_SIZE_WITHOUT_WINDOW}, Lambda wants a window of at least 1 s",
            batch.value,
            batch.provenance()
        ),
    );
    let diagnostic = batch.show_origin(diagnostic);
    let diagnostic = if window.case.is_default() {
        let label = format!("`{}` is not set, so the window is {}", window.name, window.value);
        diagnostic.label(window.span(), label)
    } else {
        let label = format!("the window is {}{}", window.value, window.provenance());
        window.show_origin(diagnostic.label(window.span(), label))
    };
    let window = Operand::new(window, window.value.0);
    source
        .show(diagnostic)
        .help(format!(
            "set `{}` to 1 or more, or `{}` to {BATCH_SIZE_WITHOUT_WINDOW} or less",
            window.name, batch.name
        ))
        .remedy(Remedy::not_safe(window.write(&mapping.resource, 1)))
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
    fn leaves_fifo_queues_and_impossible_sizes_to_their_rules() {
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
    fn an_arn_tells_the_type() {
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
    fn what_is_not_known_is_not_judged() {
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
