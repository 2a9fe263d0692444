//! Checks partial knowledge of unresolved values: bounds of numbers, pieces of strings, lists of allowed values. A rule
//! decides only if every possible value has the same result, and is silent otherwise.

use sqslint::testing::{self, run_files};
use sqslint::{Outcome, rules};

/// Returns the result of a rule: its findings with their conditions, or "not evaluated", or "holds".
fn result_of(rule: &str, file: &str, text: &str) -> String {
    let rule = rules::by_id(rule).expect("the rule exists");
    let outcome = run_files(rule, &[(file, text)]);
    assert!(outcome.errors.is_empty(), "{}", testing::describe(&outcome));
    shown(&outcome)
}

fn shown(outcome: &Outcome) -> String {
    let found: Vec<String> = (outcome.findings.iter())
        .map(|found| match &found.when {
            Some(when) => format!("found when {when}"),
            None => "found".to_owned(),
        })
        .collect();
    match (found.is_empty(), outcome.not_evaluated.is_empty()) {
        (false, _) => found.join("; "),
        (true, false) => "not evaluated".to_owned(),
        (true, true) => "holds".to_owned(),
    }
}

fn terraform(variable: &str, visibility: &str, timeout: &str, window: &str) -> String {
    format!(
        r#"
variable "t" {{
  type = number
  {variable}
}}
variable "open" {{}}
resource "aws_sqs_queue" "orders" {{ visibility_timeout_seconds = {visibility} }}
resource "aws_lambda_function" "worker" {{
  function_name = "worker"
  timeout       = {timeout}
}}
resource "aws_lambda_event_source_mapping" "orders" {{
  event_source_arn                   = aws_sqs_queue.orders.arn
  function_name                      = aws_lambda_function.worker.arn
  maximum_batching_window_in_seconds = {window}
}}
"#
    )
}

const BELOW: &str = "visibility-timeout-below-function-timeout";
const SHORT: &str = "visibility-timeout-too-short";

fn valid(condition: &str) -> String {
    format!("validation {{\n condition = {condition}\n error_message = \"no\"\n }}")
}

#[test]
fn validation_bounds_a_timeout() {
    let between = valid("var.t >= 60 && var.t <= 100");
    for (condition, visibility, expected) in [
        (&*between, "59", "found"),
        (&between, "60", "not evaluated"),
        (&between, "99", "not evaluated"),
        (&between, "100", "holds"),
        (&valid("60 <= var.t"), "59", "found"),
        (&valid("var.t > 59.5"), "59", "not evaluated"),
        (&valid("var.t >= 60 || var.t == null"), "59", "not evaluated"),
        (&valid("!(var.t < 60)"), "59", "found"),
        (&valid("var.t >= 60 || var.t == 50"), "49", "found"),
        (&valid("var.t >= 60 || var.t == 50"), "50", "not evaluated"),
        (&valid("var.open >= 60"), "59", "not evaluated"),
        ("", "1", "not evaluated"),
        // The maximum timeout of a function is 1,800 s.
        ("", "1799", "not evaluated"),
        ("", "1800", "holds"),
    ] {
        let text = terraform(condition, visibility, "var.t", "0");
        assert_eq!(result_of(BELOW, "main.tf", &text), expected, "{condition} {visibility}");
    }
}

#[test]
fn arithmetic_and_functions_keep_bounds() {
    let bound = valid("var.t >= 10");
    for (timeout, visibility, expected) in [
        ("var.t * 2 + 5", "24", "found"),
        ("var.t * 2 + 5", "25", "not evaluated"),
        ("max(var.t, 30)", "29", "found"),
        ("max(var.open, 30)", "29", "found"),
        ("min(var.t, 30)", "9", "found"),
        ("min(var.open, 30)", "30", "holds"),
        ("100 - var.t", "90", "holds"),
        ("var.t / 2", "1", "not evaluated"),
        ("local.t", "9", "found"),
    ] {
        let text = terraform(&bound, visibility, timeout, "0") + "locals { t = var.t }\n";
        assert_eq!(result_of(BELOW, "main.tf", &text), expected, "{timeout} {visibility}");
    }
}

#[test]
fn unresolved_window_gives_a_lower_bound() {
    for (visibility, expected) in [
        ("359", "found"),
        ("360", "not evaluated"),
        ("659", "not evaluated"),
        ("660", "holds"),
    ] {
        let text = terraform("", visibility, "60", "var.open");
        assert_eq!(result_of(SHORT, "main.tf", &text), expected, "{visibility}");
    }
}

#[test]
fn messages_mention_the_compared_bound() {
    let rule = rules::by_id(SHORT).expect("the rule exists");
    let text = terraform(&valid("var.t >= 60"), "100", "var.t", "var.open");
    let outcome = run_files(rule, &[("main.tf", &text)]);
    let found = &outcome.findings[0];
    assert!(
        found.headline.contains("AWS advises 360 s or more"),
        "{}",
        found.headline
    );
    assert_eq!(found.calculation.as_deref(), Some("6 × 60 s + 0 s = 360 s or more"));
    assert_eq!(
        found.help.as_deref(),
        Some(
            "set `visibility_timeout_seconds` to six times the function timeout plus the batching window: 360 s or more"
        )
    );
    assert!(found.fix.is_none());
    let says = |text: &str| found.labels().iter().any(|label| label.message.contains(text));
    assert!(says("may run for at least 60 s"), "{}", testing::describe(&outcome));
}

#[test]
fn each_allowed_value_is_judged() {
    let allowed = valid("contains([30, 300], var.t)");
    let text = terraform(&allowed, "60", "var.t", "0");
    assert_eq!(result_of(BELOW, "main.tf", &text), "found when var.t = 300");
    // A variable with a default has that value.
    let text = terraform(&format!("{allowed}\n default = 30"), "60", "var.t", "0");
    assert_eq!(result_of(BELOW, "main.tf", &text), "holds");
}

#[test]
fn unresolved_key_selects_every_entry_of_a_map() {
    for (timeout, expected) in [
        ("local.timeouts[var.open]", "found when var.open = prod"),
        ("lookup(local.timeouts, var.open)", "found when var.open = prod"),
        ("lookup(local.timeouts, var.open, 5)", "found when var.open = prod"),
        ("lookup(local.timeouts, var.open, 300)", "found when var.open != dev"),
        ("local.all[var.open].timeout", "found when var.open = prod"),
        ("lookup({ dev = 5 }, var.open, 5)", "holds"),
        ("local.many[var.open]", "not evaluated"),
    ] {
        let text = terraform("", "60", timeout, "0")
            + "locals {
                 timeouts = { dev = 5, prod = 300 }
                 all      = { dev = { timeout = 5 }, prod = { timeout = 300 } }
                 many     = { a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, i = 300 }
               }\n";
        assert_eq!(result_of(BELOW, "main.tf", &text), expected, "{timeout}");
    }
}

#[test]
fn parameters_have_bounds_and_allowed_values() {
    for (parameter, visibility, expected) in [
        ("MinValue: 60", "59", "found"),
        ("MinValue: 60", "60", "not evaluated"),
        ("MinValue: 60, MaxValue: 100", "100", "holds"),
        ("MinValue: 60, Default: 10", "59", "holds"),
        ("AllowedValues: [30, 300]", "60", "found when T = 300"),
    ] {
        let text = format!(
            "
Parameters:
  T: {{Type: Number, {parameter}}}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {{VisibilityTimeout: {visibility}}}
  Worker:
    Type: AWS::Lambda::Function
    Properties: {{Timeout: !Ref T}}
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Orders.Arn, FunctionName: !Ref Worker}}
"
        );
        assert_eq!(
            result_of(BELOW, "template.yaml", &text),
            expected,
            "{parameter} {visibility}"
        );
    }
}

#[test]
fn short_dead_letter_queue_retention_is_found_for_any_source_retention() {
    for (retention, expected) in [("300", "found"), ("345600", "not evaluated")] {
        let text = format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "orders" {{
  message_retention_seconds  = var.open
  visibility_timeout_seconds = 100
  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 3 }})
}}
resource "aws_sqs_queue" "failed" {{ message_retention_seconds = {retention} }}
"#
        );
        let said = result_of("dead-letter-queue-retention-too-short", "main.tf", &text);
        assert_eq!(said, expected, "{retention}");
    }
}

#[test]
fn name_suffix_determines_the_queue_type() {
    let name = "fifo-queue-name-suffix";
    for (written, fifo, expected) in [
        ("${var.env}-orders.fifo", "true", "holds"),
        ("${var.env}-orders", "true", "found"),
        ("${var.env}-orders.fifo", "false", "found"),
        ("${var.env}-orders", "false", "holds"),
        ("orders-${var.env}", "true", "not evaluated"),
        ("${var.env}fo", "true", "not evaluated"),
        (
            "${var.env}-a-queue-whose-name-has-more-characters-than-fit-into-the-quota-of-sqs-which-is-80",
            "false",
            "found",
        ),
    ] {
        let text = format!(
            "variable \"env\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n name = \"{written}\"\n fifo_queue = {fifo}\n}}\n"
        );
        assert_eq!(result_of(name, "main.tf", &text), expected, "{written}");
        let text = format!(
            "
Parameters:
  Env: {{Type: String}}
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {{QueueName: !Sub \"{}\", FifoQueue: {fifo}}}
",
            written.replace("var.env", "Env")
        );
        let text = if fifo == "false" {
            text.replace(", FifoQueue: false", "")
        } else {
            text
        };
        assert_eq!(result_of(name, "template.yaml", &text), expected, "{written}");
    }
}

#[test]
fn arn_suffix_determines_the_queue_type() {
    for (written, expected) in [
        ("arn:aws:sqs:eu-west-1:1:${var.env}-failed", "found"),
        ("arn:aws:sqs:eu-west-1:1:${var.env}-failed.fifo", "holds"),
        ("arn:aws:sqs:eu-west-1:1:${var.env}", "not evaluated"),
        ("${var.env}-failed", "not evaluated"),
    ] {
        let text = format!(
            r#"
variable "env" {{}}
resource "aws_sqs_queue" "q" {{
  fifo_queue     = true
  redrive_policy = jsonencode({{ deadLetterTargetArn = "{written}", maxReceiveCount = 3 }})
}}
"#
        );
        assert_eq!(
            result_of("dead-letter-queue-type-mismatch", "main.tf", &text),
            expected,
            "{written}"
        );
        let text = format!(
            r#"
variable "env" {{}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn                   = "{written}"
  function_name                      = "worker"
  maximum_batching_window_in_seconds = 5
}}
"#
        );
        let expected = match expected {
            "found" => "holds",
            "holds" => "found",
            // A mapping without a starting position has a queue as its source, and the name of a FIFO queue ends in
            // `.fifo`.
            _ if written.ends_with("-failed") => "holds",
            other => other,
        };
        assert_eq!(
            result_of("fifo-batching-window", "main.tf", &text),
            expected,
            "{written}"
        );
    }
}

#[test]
fn equally_composed_names_are_equal() {
    for (arn, expected) in [
        ("arn:aws:sqs:${var.region}:${var.account}:${var.env}-orders", "found"),
        ("arn:aws:sqs:eu-west-1:1:${local.env}-orders", "found"),
        ("arn:aws:sqs:eu-west-1:1:${var.env}-failed", "not evaluated"),
        ("arn:aws:sqs:eu-west-1:1:${var.other}-orders", "not evaluated"),
        ("arn:aws:sqs:${var.env}-orders", "not evaluated"),
        ("${var.env}-orders", "found"),
    ] {
        let text = format!(
            r#"
variable "env" {{}}
variable "other" {{}}
variable "region" {{}}
variable "account" {{}}
locals {{ env = var.env }}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = "{arn}"
  function_name    = module.worker.name
}}
module "worker" {{
  source = "./worker"
  env    = var.env
}}
resource "aws_sqs_queue" "q" {{ name = "${{var.env}}-orders" }}
"#
        );
        let worker = r#"
variable "env" {}
resource "aws_lambda_function" "worker" {
  function_name = "${var.env}-worker"
  timeout       = 60
}
output "name" { value = "${var.env}-worker" }
"#;
        let rule = rules::by_id(BELOW).expect("the rule exists");
        let outcome = run_files(rule, &[("main.tf", &text), ("worker/main.tf", worker)]);
        assert_eq!(shown(&outcome), expected, "{arn}");
    }
}
