//! Flags values that differ from those of the same resource in a snapshot of the account.

use super::prelude::*;
use crate::graph::deployed::{Deployed, DeployedValue};

pub(super) static RULE: Rule = rule!(
    "deployed-value-differs",
    Category::Deployed,
    Severity::Warning,
    "a value that rules use is another one in the account than in the code"
);

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let Some(deployed) = graph.deployed() else { return };
    for value in graph.deployed_values() {
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
    use crate::testing::{check_files, run_files};

    const EXPECTED: &str = "# expect: deployed-value-differs";

    fn snapshot(queue: &str) -> String {
        format!(
            r#"{{"sqslint_snapshot": 1, "account": "111122223333", "time": "2026-11-23T10:00:00Z", "resources": [
{{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:eu-west-1:111122223333:orders",
 "Properties": {{"QueueName": "orders", {queue}}}}}]}}"#
        )
    }

    #[test]
    fn known_values_of_the_same_queue_are_compared() {
        for (main, queue) in [
            (
                format!("visibility_timeout_seconds = 360 {EXPECTED}"),
                "\"VisibilityTimeout\": 30",
            ),
            (
                "visibility_timeout_seconds = 30".to_owned(),
                "\"VisibilityTimeout\": 30",
            ),
            // Both have the default.
            ("delay_seconds = 0".to_owned(), "\"VisibilityTimeout\": 30"),
            (
                format!("message_retention_seconds = 60 {EXPECTED}"),
                "\"VisibilityTimeout\": 30",
            ),
            (
                "visibility_timeout_seconds = var.open".to_owned(),
                "\"VisibilityTimeout\": 30",
            ),
            (
                "visibility_timeout_seconds = var.open ? 30 : 60".to_owned(),
                "\"VisibilityTimeout\": 30",
            ),
        ] {
            let main = format!(
                "variable \"open\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n  name = \"orders\"\n  {main}\n}}\n"
            );
            check_files(&RULE, &[("main.tf", &main), ("snapshot.json", &snapshot(queue))]);
        }
    }

    #[test]
    fn value_that_a_deployment_may_set_or_terraform_ignores_differs_from_nothing() {
        let queue = "\"VisibilityTimeout\": 30";
        let lifecycle = |ignored: &str| {
            format!("visibility_timeout_seconds = 60\n  lifecycle {{\n    ignore_changes = {ignored}\n  }}")
        };
        for main in [
            "visibility_timeout_seconds = var.default".to_owned(),
            "visibility_timeout_seconds = var.default * 2".to_owned(),
            "visibility_timeout_seconds = local.settings.timeout".to_owned(),
            lifecycle("[visibility_timeout_seconds]"),
            lifecycle("[tags[\"a\"], visibility_timeout_seconds]"),
            lifecycle("all"),
            lifecycle("[delay_seconds]").replace("= 60", &format!("= 60 {EXPECTED}")),
        ] {
            let main = format!(
                "variable \"default\" {{\n  default = 60\n}}\nlocals {{\n  settings = {{ timeout = var.default }}\n}}\n\
                 resource \"aws_sqs_queue\" \"q\" {{\n  name = \"orders\"\n  {main}\n}}\n"
            );
            check_files(&RULE, &[("main.tf", &main), ("snapshot.json", &snapshot(queue))]);
        }
        let template = "AWSTemplateFormatVersion: \"2010-09-09\"\nParameters:\n  Timeout:\n    Type: Number\n    Default: 60\n\
                        Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      QueueName: orders\n      \
                        VisibilityTimeout: !Ref Timeout\n";
        check_files(&RULE, &[("t.yaml", template), ("snapshot.json", &snapshot(queue))]);
        let service = "service: s\nprovider:\n  name: aws\nresources:\n  Resources:\n    Q:\n      Type: AWS::SQS::Queue\n      \
                       Properties:\n        QueueName: orders\n        VisibilityTimeout: ${opt:timeout, 60}\n";
        check_files(
            &RULE,
            &[("serverless.yml", service), ("snapshot.json", &snapshot(queue))],
        );
    }

    #[test]
    fn block_that_terraform_ignores_differs_from_nothing() {
        let snapshot = r#"{"sqslint_snapshot": 1, "account": "111122223333", "time": "2026-11-23T10:00:00Z", "resources": [
{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:eu-west-1:111122223333:orders", "Properties": {"QueueName": "orders"}},
{"Type": "AWS::Lambda::Function", "Id": "arn:aws:lambda:eu-west-1:111122223333:function:work",
 "Properties": {"FunctionName": "work", "Timeout": 3}},
{"Type": "AWS::Lambda::EventSourceMapping",
 "Id": "arn:aws:lambda:eu-west-1:111122223333:event-source-mapping:11111111-2222-3333-4444-555555555555",
 "Properties": {"EventSourceArn": "arn:aws:sqs:eu-west-1:111122223333:orders", "BatchSize": 10, "Enabled": true,
  "FunctionName": "arn:aws:lambda:eu-west-1:111122223333:function:work", "ScalingConfig": {"MaximumConcurrency": 20}}}
]}"#;
        for (ignored, expected) in [
            ("[batch_size]", EXPECTED),
            ("[scaling_config]", ""),
            ("[scaling_config[0].maximum_concurrency]", ""),
        ] {
            let main = format!(
                "resource \"aws_sqs_queue\" \"q\" {{\n  name = \"orders\"\n}}\n\
                 resource \"aws_lambda_function\" \"f\" {{\n  function_name = \"work\"\n}}\n\
                 resource \"aws_lambda_event_source_mapping\" \"m\" {{\n  event_source_arn = aws_sqs_queue.q.arn\n  \
                 function_name = aws_lambda_function.f.arn\n  scaling_config {{\n    \
                 maximum_concurrency = 5 {expected}\n  }}\n  lifecycle {{\n    ignore_changes = {ignored}\n  }}\n}}\n"
            );
            check_files(&RULE, &[("main.tf", &main), ("snapshot.json", snapshot)]);
        }
    }

    #[test]
    fn default_of_a_called_module_is_compared() {
        let main = "module \"orders\" {\n  source = \"./queue\"\n}\n";
        let queue = format!(
            "variable \"timeout\" {{\n  default = 60 {EXPECTED}\n}}\nresource \"aws_sqs_queue\" \"q\" {{\n  name = \"orders\"\n  \
             visibility_timeout_seconds = var.timeout\n}}\n"
        );
        let snapshot = snapshot("\"VisibilityTimeout\": 30");
        check_files(
            &RULE,
            &[
                ("main.tf", main),
                ("queue/main.tf", &queue),
                ("snapshot.json", &snapshot),
            ],
        );
    }

    #[test]
    fn name_in_several_regions_is_compared_if_the_region_is_known() {
        let other = r#"{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:us-east-1:111122223333:orders",
 "Properties": {"QueueName": "orders", "VisibilityTimeout": 360}},
"#;
        let snapshot = snapshot("\"VisibilityTimeout\": 30");
        let snapshot = snapshot.replace("\"resources\": [\n", &format!("\"resources\": [\n{other}"));
        for (region, expected) in [
            ("", ""),
            ("region = \"eu-west-1\"", EXPECTED),
            ("region = \"us-east-1\"", ""),
        ] {
            let main = format!(
                "provider \"aws\" {{\n  {region}\n}}\nresource \"aws_sqs_queue\" \"q\" {{\n  name = \"orders\"\n  \
                 visibility_timeout_seconds = 360 {expected}\n}}\n"
            );
            check_files(&RULE, &[("main.tf", &main), ("snapshot.json", &snapshot)]);
        }
    }

    #[test]
    fn another_name_region_or_an_unknown_name_links_to_nothing() {
        let queue = "\"VisibilityTimeout\": 30";
        for (name, region) in [
            ("name = \"other\"", "eu-west-1"),
            ("name = var.open", "eu-west-1"),
            ("", "eu-west-1"),
            ("name = \"orders\"", "us-east-1"),
        ] {
            let main = format!(
                "variable \"open\" {{}}\nprovider \"aws\" {{\n  region = \"{region}\"\n}}\n\
                 resource \"aws_sqs_queue\" \"q\" {{\n  {name}\n  visibility_timeout_seconds = 360\n}}\n"
            );
            check_files(&RULE, &[("main.tf", &main), ("snapshot.json", &snapshot(queue))]);
        }
    }

    #[test]
    fn value_of_any_environment_may_be_deployed() {
        let main = "variable \"timeout\" {\n  default = 30\n}\nresource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n  \
                    visibility_timeout_seconds = var.timeout\n}\n";
        let files = |deployed: i64| {
            let snapshot = snapshot(&format!("\"VisibilityTimeout\": {deployed}"));
            run_files(
                &RULE,
                &[
                    ("main.tf", main),
                    ("env/prod.tfvars", "timeout = 300\n"),
                    ("snapshot.json", &snapshot),
                ],
            )
        };
        assert!(files(300).findings.is_empty());
        assert!(files(30).findings.is_empty());
        assert!(!files(60).findings.is_empty());
    }

    #[test]
    fn finding_states_what_another_rule_makes_of_the_deployed_value() {
        let main = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n  visibility_timeout_seconds = 360\n}\n";
        let others = r#"{"Type": "AWS::Lambda::Function", "Id": "arn:aws:lambda:eu-west-1:111122223333:function:w", "Properties": {"FunctionName": "w", "Timeout": 60}},
{"Type": "AWS::Lambda::EventSourceMapping", "Id": "arn:aws:lambda:eu-west-1:111122223333:event-source-mapping:1", "Properties": {"EventSourceArn": "arn:aws:sqs:eu-west-1:111122223333:orders", "FunctionName": "w"}},
"#;
        let snapshot =
            snapshot("\"VisibilityTimeout\": 30").replace("\"resources\": [\n", &format!("\"resources\": [\n{others}"));
        let outcome = run_files(&RULE, &[("main.tf", main), ("snapshot.json", &snapshot)]);
        let [found] = outcome.findings.as_slice() else {
            panic!("{:?}", outcome.findings)
        };
        assert!(
            found.headline.ends_with("in the account at 2026-11-23T10:00:00Z"),
            "{}",
            found.headline
        );
        let help = found.help.as_deref().unwrap_or_default();
        assert!(
            help.contains("`visibility-timeout-below-function-timeout` reports"),
            "{help}"
        );
    }
}
