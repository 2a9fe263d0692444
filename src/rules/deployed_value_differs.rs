//! Flags values that differ from those of the same resource in a snapshot of the account.

use super::prelude::*;
use crate::graph::deployed::{Deployed, DeployedValue};

pub(super) static RULE: Rule = rule!(
    "deployed-value-differs",
    Category::Deployed,
    Severity::Warning,
    "a value that rules use is another one in the account than in the code"
);

fn check(findings: &mut Findings<'_>) {
    let Some(deployed) = findings.graph.deployed() else {
        return;
    };
    for value in findings.graph.deployed_values() {
        let is_equal = fact(value.is_equal, || format!("{} is deployed", value.value));
        let is_equal = is_equal.depending_on(&value.span).depending_on(&value.deployed_span);
        if !findings.satisfied(&value.when, value.declared, is_equal) {
            findings.report(&value.when, value.declared, differs(deployed, &value));
        }
    }
}

fn differs(deployed: &Deployed, found: &DeployedValue<'_>) -> Finding {
    let when = deployed
        .taken
        .as_deref()
        .map(|time| format!(" at {time}"))
        .unwrap_or_default();
    let headline = format!(
        "`{}` of {} is {} in the code, and {} in the account{when}",
        found.name,
        found.declared.shown(),
        found.value,
        found.deployed_value
    );
    let finding = Finding::new(
        found.attribute,
        headline,
        found.span,
        format!("declared: {}", found.value),
    )
    .label(found.deployed_span, format!("deployed: {}", found.deployed_value));
    match deployed.finding_at(found.deployed_span) {
        Some(other) => finding.help(format!(
            "deploy the code, or write the deployed value into it; with that value, `{}` reports: {}",
            other.rule, other.headline
        )),
        None => finding.help("deploy the code, or write the deployed value into it"),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{check_file_cases, check_files};

    const MODULE: &str = r#"
variable "open" {}
variable "default" {
  default = 60
}
locals {
  settings = { timeout = var.default }
}
provider "aws" {
  region = <region>
}
resource "aws_sqs_queue" "q" {
  name = <name>
  <value>
}
"#;

    const SNAPSHOT: &str = r#"{"sqslint_snapshot": 1, "account": "111122223333", "time": "2026-11-23T10:00:00Z", "resources": [
{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:eu-west-1:111122223333:orders",
 "Properties": {"QueueName": "orders", "VisibilityTimeout": 30}}]}"#;

    fn with_more(resources: &str) -> String {
        SNAPSHOT.replace("\"resources\": [\n", &format!("\"resources\": [\n{resources},\n"))
    }

    #[test]
    fn known_values_of_the_same_queue_are_compared() {
        check_file_cases(
            &RULE,
            &[("main.tf", MODULE), ("snapshot.json", SNAPSHOT)],
            r#"
            value                                                                                                        | name     | region      | finding
            visibility_timeout_seconds = 360                                                                             | "orders" | null        | value
            visibility_timeout_seconds = 30                                                                              | "orders" | null        |
            message_retention_seconds = 60                                                                               | "orders" | null        | value
            // Both have the default.
            delay_seconds = 0                                                                                            | "orders" | null        |
            visibility_timeout_seconds = var.open                                                                        | "orders" | null        |
            visibility_timeout_seconds = var.open ? 30 : 60                                                              | "orders" | null        |
            // A deployment may set it.
            visibility_timeout_seconds = var.default                                                                     | "orders" | null        |
            visibility_timeout_seconds = var.default * 2                                                                 | "orders" | null        |
            visibility_timeout_seconds = local.settings.timeout                                                          | "orders" | null        |
            // Terraform ignores it.
            visibility_timeout_seconds = 60\n lifecycle {\n ignore_changes = [visibility_timeout_seconds]\n }            | "orders" | null        |
            visibility_timeout_seconds = 60\n lifecycle {\n ignore_changes = [tags["a"], visibility_timeout_seconds]\n } | "orders" | null        |
            visibility_timeout_seconds = 60\n lifecycle {\n ignore_changes = all\n }                                     | "orders" | null        |
            visibility_timeout_seconds = 60\n lifecycle {\n ignore_changes = [delay_seconds]\n }                         | "orders" | null        | value
            // Another name or Region, or an unknown name.
            visibility_timeout_seconds = 360                                                                             | "other"  | "eu-west-1" |
            visibility_timeout_seconds = 360                                                                             | var.open | "eu-west-1" |
            visibility_timeout_seconds = 360                                                                             | null     | "eu-west-1" |
            visibility_timeout_seconds = 360                                                                             | "orders" | "us-east-1" |
            "#,
        );
    }

    #[test]
    fn parameter_or_option_of_a_deployment_is_not_compared() {
        let template = "AWSTemplateFormatVersion: \"2010-09-09\"
Parameters:
  Timeout: {Type: Number, Default: 60}
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {QueueName: orders, VisibilityTimeout: !Ref Timeout}
";
        check_files(&RULE, &[("t.yaml", template), ("snapshot.json", SNAPSHOT)]);
        let service = "service: s
provider: {name: aws}
resources:
  Resources:
    Q:
      Type: AWS::SQS::Queue
      Properties:
        QueueName: orders
        VisibilityTimeout: ${opt:timeout, 60}
";
        check_files(&RULE, &[("serverless.yml", service), ("snapshot.json", SNAPSHOT)]);
    }

    #[test]
    fn block_that_terraform_ignores_differs_from_nothing() {
        let main = r#"
resource "aws_sqs_queue" "q" {
  name                       = "orders"
  visibility_timeout_seconds = 30
}
resource "aws_lambda_function" "f" {
  function_name = "work"
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
  scaling_config {
    maximum_concurrency = <concurrency>
  }
  lifecycle {
    ignore_changes = <ignored>
  }
}
"#;
        let snapshot = with_more(
            r#"{"Type": "AWS::Lambda::Function", "Id": "arn:aws:lambda:eu-west-1:111122223333:function:work",
 "Properties": {"FunctionName": "work", "Timeout": 3}},
{"Type": "AWS::Lambda::EventSourceMapping",
 "Id": "arn:aws:lambda:eu-west-1:111122223333:event-source-mapping:11111111-2222-3333-4444-555555555555",
 "Properties": {"EventSourceArn": "arn:aws:sqs:eu-west-1:111122223333:orders", "BatchSize": 10, "Enabled": true,
  "FunctionName": "arn:aws:lambda:eu-west-1:111122223333:function:work", "ScalingConfig": {"MaximumConcurrency": 20}}}"#,
        );
        check_file_cases(
            &RULE,
            &[("main.tf", main), ("snapshot.json", &snapshot)],
            "
            concurrency | ignored                                 | finding
            5           | [batch_size]                            | concurrency
            5           | [scaling_config]                        |
            5           | [scaling_config[0].maximum_concurrency] |
            ",
        );
    }

    #[test]
    fn default_of_a_called_module_is_compared() {
        let queue = r#"
variable "timeout" {
  default = 60 # expect: deployed-value-differs
}
resource "aws_sqs_queue" "q" {
  name                       = "orders"
  visibility_timeout_seconds = var.timeout
}
"#;
        let main = "module \"orders\" {\n  source = \"./queue\"\n}\n";
        check_files(
            &RULE,
            &[("main.tf", main), ("queue/main.tf", queue), ("snapshot.json", SNAPSHOT)],
        );
    }

    #[test]
    fn name_in_several_regions_is_compared_if_the_region_is_known() {
        let snapshot = with_more(
            r#"{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:us-east-1:111122223333:orders",
 "Properties": {"QueueName": "orders", "VisibilityTimeout": 360}}"#,
        );
        check_file_cases(
            &RULE,
            &[("main.tf", MODULE), ("snapshot.json", &snapshot)],
            r#"
            value                            | name     | region      | finding
            visibility_timeout_seconds = 360 | "orders" | null        |
            visibility_timeout_seconds = 360 | "orders" | "eu-west-1" | value
            visibility_timeout_seconds = 360 | "orders" | "us-east-1" |
            "#,
        );
    }

    #[test]
    fn value_of_any_environment_may_be_deployed() {
        let main = r#"
variable "timeout" {
  default = 30
}
resource "aws_sqs_queue" "q" {
  name                       = "orders"
  visibility_timeout_seconds = var.timeout
}
"#;
        let snapshot = SNAPSHOT.replace("30}", "<deployed>}");
        check_file_cases(
            &RULE,
            &[
                ("main.tf", main),
                ("env/prod.tfvars", "timeout = 300\n"),
                ("snapshot.json", &snapshot),
            ],
            "
            deployed | finding
            300      |
            30       |
            60       | 1
            ",
        );
    }

    #[test]
    fn finding_states_what_another_rule_makes_of_the_deployed_value() {
        let main = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n  visibility_timeout_seconds = 360\n}\n";
        let snapshot = with_more(
            r#"{"Type": "AWS::Lambda::Function", "Id": "arn:aws:lambda:eu-west-1:111122223333:function:w", "Properties": {"FunctionName": "w", "Timeout": 60}},
{"Type": "AWS::Lambda::EventSourceMapping", "Id": "arn:aws:lambda:eu-west-1:111122223333:event-source-mapping:1", "Properties": {"EventSourceArn": "arn:aws:sqs:eu-west-1:111122223333:orders", "FunctionName": "w"}}"#,
        );
        check_file_cases(
            &RULE,
            &[("main.tf", main), ("snapshot.json", &snapshot)],
            "
            finding | headline                                | help
            1       | …in the account at 2026-11-23T10:00:00Z | …`visibility-timeout-below-function-timeout` reports…
            ",
        );
    }
}
