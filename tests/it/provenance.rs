//! Checks provenance in findings: the steps between where a value is written and where it is used, and the cause of a
//! null value.

use crate::inputs::check_files;
use sqslint::Outcome;

/// Returns the labels of the finding of `rule`, with their lines.
fn labels(outcome: &Outcome, rule: &str) -> Vec<String> {
    let mut found = outcome.findings.iter().filter(|found| found.rule == rule);
    let found = found.next().expect("there is a finding");
    let labels = found.labels().iter().map(|label| {
        let line = outcome.sources.start(label.span).line;
        format!("{line}: {}", label.message)
    });
    labels.collect()
}

const POLLED: &str = r#"
resource "aws_lambda_function" "f" {
  function_name = "f"
  timeout       = 90
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn        = aws_sqs_queue.q.arn
  function_name           = aws_lambda_function.f.arn
  function_response_types = ["ReportBatchItemFailures"]
}
"#;

#[test]
fn computation_is_a_step() {
    let queue =
        "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = aws_lambda_function.f.timeout * 2\n}\n";
    let outcome = check_files([("main.tf", format!("{queue}{POLLED}").as_str())]);
    let labels = labels(&outcome, "visibility-timeout-too-short");
    assert!(
        labels[0].contains("180 s (`aws_lambda_function.f.timeout * 2`)"),
        "{labels:?}"
    );
    assert!(
        labels.contains(
            &"7: `aws_lambda_function.f.timeout * 2` is computed from `timeout` of `aws_lambda_function.f`".to_owned()
        ),
        "{labels:?}"
    );
}

#[test]
fn choosing_function_is_not_a_computation() {
    let queue = "locals {\n  a = 30\n  b = 100\n}\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = max(local.a, local.b)\n}\n";
    let outcome = check_files([("main.tf", format!("{queue}{POLLED}").as_str())]);
    let labels = labels(&outcome, "visibility-timeout-too-short");
    assert!(labels[0].contains("100 s (`local.b`)"), "{labels:?}");
}

#[test]
fn cause_of_a_null_policy_is_named() {
    let queue = r#"
variable "redrives" {
  default = false
}
variable "policy" {
  default = null
}
resource "aws_sqs_queue" "q" {
  redrive_policy = VALUE
}
"#;
    let told = |value: &str| {
        let text = format!("{queue}{POLLED}").replace("VALUE", value);
        let outcome = check_files([("main.tf", text.as_str())]);
        labels(&outcome, "redrive-policy-missing")
    };
    let chosen = told("var.redrives ? jsonencode({}) : null");
    assert_eq!(
        chosen[0],
        "9: `redrive_policy` is null because of `var.redrives`, which is false: failed messages have nowhere to go"
    );
    assert!(
        chosen.contains(&"3: the value comes from the default of `var.redrives`".to_owned()),
        "{chosen:?}"
    );
    assert_eq!(
        told("var.policy")[0],
        "9: `redrive_policy` is null because of the default of `var.policy`: failed messages have nowhere to go"
    );
}

/// Checks a module that `call` calls for each entry of a local.
fn called_for_each(call: &str) -> Outcome {
    let module = r#"
variable "cfg" {
  type = object({ timeout = number, visibility = number, receives = optional(number, 5) })
}
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = var.cfg.visibility
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  timeout       = var.cfg.timeout
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
"#;
    check_files([("main.tf", call), ("worker/main.tf", module)])
}

#[test]
fn for_each_value_originates_from_its_entry() {
    let call = r#"
locals {
  services = {
    orders = {
      timeout    = 60
      visibility = 300
    }
  }
}
module "service" {
  source   = "./worker"
  for_each = local.services
  cfg      = each.value
}
"#;
    let labels = labels(&called_for_each(call), "visibility-timeout-too-short");
    for label in [
        "6: the value comes from `local.services`",
        "5: the value comes from `local.services`",
    ] {
        assert!(labels.iter().any(|one| one == label), "{label}: {labels:#?}");
    }
}

#[test]
fn for_expression_value_originates_from_its_entry() {
    let call = r#"
locals {
  times = { orders = 300 }
}
module "service" {
  source   = "./worker"
  for_each = { for name, time in local.times : name => { timeout = 60, visibility = time } }
  cfg      = each.value
}
"#;
    let labels = labels(&called_for_each(call), "visibility-timeout-too-short");
    assert!(
        labels.iter().any(|one| one == "3: the value comes from `local.times`"),
        "{labels:#?}"
    );
}
