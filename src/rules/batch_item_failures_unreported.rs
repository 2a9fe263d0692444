//! Flags mappings that cannot say which messages of a batch failed.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::limits::BATCH_SIZE;
use crate::graph::{EventSourceMapping, Graph};
use crate::rules::shared::batches::BatchSource;

pub(super) static RULE: Rule = Rule {
    id: "batch-item-failures-unreported",
    category: Category::Mapping,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "one failed message returns its whole batch, and finished messages run again",
    page: include_str!("../../rules/batch-item-failures-unreported.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for mapping in graph.mappings() {
        let resource = &mapping.resource;
        for reports in findings.known(&resource.when, resource, &mapping.report_batch_item_failures) {
            if *reports.value {
                findings.holds(&reports.world, resource, &[&reports], || {
                    "`ReportBatchItemFailures` is set".to_owned()
                });
                continue;
            }
            for batch in findings.known(&reports.world, resource, &mapping.batch_size) {
                if *batch.value == 1 {
                    findings.holds(&batch.world, resource, &[&reports, &batch], || {
                        "1 message a batch, which fails as a whole by nature".to_owned()
                    });
                }
                // Sizes that no queue may have are `batch-size-out-of-range`.
                if *batch.value <= 1 || !BATCH_SIZE.contains(batch.value) {
                    continue;
                }
                for source in findings.batch_sources(graph, mapping, &batch.world) {
                    let diagnostic = unreported(findings, mapping, &reports, &batch, &source);
                    findings.report(&source.world, resource, diagnostic);
                }
            }
        }
    }
}

fn unreported(
    findings: &Findings<'_>,
    mapping: &EventSourceMapping,
    reports: &Known<'_, bool>,
    batch: &Known<'_, i64>,
    source: &BatchSource,
) -> Diagnostic {
    let headline = format!(
        "one failed message from {} sends a whole batch of up to {} back, since {} does not report which failed",
        source.shown,
        batch.value,
        mapping.resource.shown()
    );
    let label = if reports.case.is_default() {
        format!("no `{}`: a batch succeeds or fails as a whole", reports.name)
    } else {
        "without `ReportBatchItemFailures` a batch succeeds or fails as a whole".to_owned()
    };
    // A mapping that is switched off harms nobody until it is switched on.
    let severity = match mapping.enabled.known() {
        Some(false) => Severity::Info,
        _ => Severity::Warning,
    };
    let diagnostic = findings.diagnostic(
        severity,
        &mapping.resource,
        "report_batch_item_failures",
        headline,
        reports.span(),
        label,
    );
    let diagnostic = reports.show_origin(diagnostic);
    let size = format!("up to {} messages a batch{}", batch.value, batch.provenance());
    let order = if source.fifo {
        ", and on this FIFO queue stop at the first failure and report the rest of the batch too"
    } else {
        ""
    };
    batch.show_origin(diagnostic.label(batch.span(), size)).help(format!(
        "set `{}` to `ReportBatchItemFailures` and return `batchItemFailures` from the function{order}",
        reports.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    #[test]
    fn a_batch_of_one_is_fine_and_two_are_not() {
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
    fn the_default_batch_is_of_ten() {
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
    fn points_at_an_empty_list() {
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
    fn is_satisfied_by_the_setting() {
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
}
"#,
        );
    }
}
