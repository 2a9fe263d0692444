//! Questions that the files leave open are correlated: asked twice, they have one answer.

use sqslint::testing::run_files;
use sqslint::{rules, testing};

fn findings(rule: &str, text: &str) -> Vec<String> {
    let rule = rules::by_id(rule).expect("the rule exists");
    let outcome = run_files(rule, &[("main.tf", text)]);
    assert!(outcome.errors.is_empty(), "{}", testing::describe(&outcome));
    let shown = |found: &sqslint::diagnostic::Diagnostic| found.when.clone().unwrap_or_default();
    outcome.findings.iter().map(shown).collect()
}

const CONSUMER: &str = r#"
variable "j" {}
variable "envs" {}
resource "aws_sqs_queue" "d" {}
resource "aws_lambda_function" "f" {}
"#;

#[test]
fn an_inequality_is_the_negation_of_an_equality() {
    let text = format!(
        r#"{CONSUMER}
resource "aws_sqs_queue" "q" {{
  redrive_policy = var.j != null ? jsonencode({{ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 }}) : null
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}}
"#
    );
    assert_eq!(findings("redrive-policy-missing", &text), ["var.j == null"]);
}

#[test]
fn a_question_is_the_same_inside_and_outside_of_an_instance() {
    for question in [
        "length(var.j) > 0",
        "var.j > 3",
        "var.j == null",
        "var.j != null",
        "var.j",
    ] {
        let text = format!(
            r#"{CONSUMER}
resource "aws_sqs_queue" "q" {{
  count          = {question} ? 1 : 0
  redrive_policy = {question} ? jsonencode({{ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 }}) : null
}}
resource "aws_lambda_event_source_mapping" "m" {{
  count            = {question} ? 1 : 0
  event_source_arn = aws_sqs_queue.q[0].arn
  function_name    = aws_lambda_function.f.arn
}}
"#
        );
        assert!(findings("redrive-policy-missing", &text).is_empty(), "{question}");
    }
}

#[test]
fn long_questions_that_begin_alike_are_two() {
    let text = r#"
variable "envs" {}
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = length(setintersection(var.envs, ["a-very-long-environment-name", "one"])) > 0 ? 30 : 600
}
resource "aws_lambda_function" "f" {
  timeout = length(setintersection(var.envs, ["a-very-long-environment-name", "two"])) > 0 ? 3 : 60
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
"#;
    assert_eq!(findings("visibility-timeout-below-function-timeout", text).len(), 1);
}

#[test]
fn an_alarm_on_a_shared_name_may_watch_each_of_its_queues() {
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
fn an_alarm_without_a_queue_watches_none() {
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
fn what_holds_in_every_world_is_said_without_a_condition() {
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
    // The finding holds with one number in each world: the further one stands at its own place.
    assert_eq!(findings(rule, &queue("var.prod ? 10 : 12", "20")), ["var.prod"]);
}
