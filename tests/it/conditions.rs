//! Checks that unresolved conditions are correlated: the same condition has the same value wherever it is used.

use sqslint::testing::run_files;
use sqslint::{rules, testing};

fn findings(rule: &str, text: &str) -> Vec<String> {
    let rule = rules::by_id(rule).expect("the rule exists");
    let outcome = run_files(rule, &[("main.tf", text)]);
    assert!(outcome.errors.is_empty(), "{}", testing::describe(&outcome));
    let shown = |found: &sqslint::diagnostic::Diagnostic| found.when.clone().unwrap_or_default();
    outcome.findings.iter().map(shown).collect()
}

#[test]
fn long_conditions_with_a_common_prefix_are_distinct() {
    let text = r#"
variable "envs_1" {}
variable "envs_2" {}
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = length(setintersection(["a-very-long-environment-name"], var.envs_1)) > 0 ? 30 : 600
}
resource "aws_lambda_function" "f" {
  timeout = length(setintersection(["a-very-long-environment-name"], var.envs_2)) > 0 ? 3 : 60
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
"#;
    assert_eq!(findings("visibility-timeout-below-function-timeout", text).len(), 1);
}

#[test]
fn alarm_on_a_shared_queue_name_may_watch_each_queue() {
    let text = r#"
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" { name = "dead" }
resource "aws_sqs_queue" "e" { name = "dead" }
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace   = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = { QueueName = "dead" }
}
"#;
    assert!(findings("dead-letter-queue-unalarmed", text).is_empty());
}

#[test]
fn alarm_without_a_queue_dimension_watches_no_queue() {
    let text = r#"
variable "space" {}
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace   = var.space
  metric_name = "Errors"
}
"#;
    assert_eq!(findings("dead-letter-queue-unalarmed", text).len(), 1);
}

#[test]
fn finding_under_every_condition_is_reported_without_one() {
    let queue = |visibility: &str, timeout: &str| {
        format!(
            r#"
variable "prod" {{}}
resource "aws_sqs_queue" "q" {{ visibility_timeout_seconds = {visibility} }}
resource "aws_lambda_function" "f" {{ timeout = {timeout} }}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = var.prod ? aws_lambda_function.f.arn : aws_lambda_function.f.function_name
}}
"#
        )
    };
    let rule = "visibility-timeout-below-function-timeout";
    assert_eq!(findings(rule, &queue("10", "20")), [""]);
    // A different case violates the rule under each value of `var.prod`; the finding has the condition of its primary
    // label.
    assert_eq!(findings(rule, &queue("var.prod ? 10 : 12", "20")), ["var.prod"]);
}
