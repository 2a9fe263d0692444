//! Checks that the same stack in four spellings has the same findings, and the same graph except for the spelling.

use crate::inputs::{check, repository};
use serde_json::Value;
use sqslint::Outcome;
use sqslint::testing::graph_json;

const SPELLINGS: [&str; 4] = ["terraform", "cloudformation-yaml", "cloudformation-json", "sam"];

fn outcome(spelling: &str) -> Outcome {
    let root = repository("fixtures/stacks/orders");
    check(&root.join(spelling))
}

/// Maps `aws_sqs_queue.orders_dlq` and `OrdersDlq` to the same role.
fn role(address: &str) -> String {
    let name = address.rsplit('.').next().unwrap_or(address);
    name.replace('_', "").to_lowercase()
}

#[test]
fn findings_agree_across_dialects() {
    let findings = |spelling| -> Vec<String> {
        let outcome = outcome(spelling);
        let describe = |found: &sqslint::diagnostic::Diagnostic| {
            let calculation = found.calculation.as_deref().unwrap_or_default();
            format!(
                "{} {} {} {} {calculation}",
                found.severity,
                found.rule,
                role(&found.subject.address),
                found.subject.attribute
            )
        };
        let mut all: Vec<String> = outcome.findings.iter().map(describe).collect();
        all.sort();
        all
    };
    let terraform = findings(SPELLINGS[0]);
    assert!(
        terraform
            .iter()
            .any(|found| found.starts_with("error visibility-timeout-below-function-timeout orders"))
    );
    for spelling in SPELLINGS {
        assert_eq!(findings(spelling), terraform, "{spelling}");
    }
}

/// Removes locations, and replaces addresses by roles.
fn neutral(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields
                .into_iter()
                .filter(|(key, _)| !matches!(key.as_str(), "unit" | "file" | "line"));
            kept.map(|(key, value)| {
                let named = matches!(key.as_str(), "address" | "target" | "queue" | "function");
                let value = match value {
                    Value::String(address) if named => Value::String(role(&address)),
                    other => neutral(other),
                };
                (key, value)
            })
            .collect()
        }
        Value::Array(items) => items.into_iter().map(neutral).collect(),
        other => other,
    }
}

#[test]
fn graphs_agree_across_dialects() {
    let graph = |spelling| -> Value {
        let outcome = outcome(spelling);
        let text = graph_json(&outcome.graph, &outcome.sources);
        neutral(serde_json::from_str(&text).expect("the graph is JSON"))
    };
    let terraform = graph(SPELLINGS[0]);
    assert_eq!(terraform["queues"][0]["visibility_timeout"], 30);
    assert_eq!(terraform["event_source_mappings"][0]["function"], "fulfil");
    for spelling in SPELLINGS {
        assert_eq!(graph(spelling), terraform, "{spelling}");
    }
}

/// Checks that arguments of the Cloud Control provider are read under their own names.
#[test]
fn cloud_control_resources_are_read() {
    let main = r#"
resource "awscc_sqs_queue" "q" {
  queue_name                        = "q"
  visibility_timeout                = 30
  message_retention_period          = 60
  receive_message_wait_time_seconds = 20
  maximum_message_size              = 1024
  redrive_policy                    = jsonencode({ deadLetterTargetArn = awscc_sqs_queue.d.arn, maxReceiveCount = 3 })
}
resource "awscc_sqs_queue" "d" {}
resource "awscc_lambda_function" "f" {
  timeout = 120
  code    = { s3_bucket = "b", s3_key = "k" }
}
resource "awscc_lambda_event_source_mapping" "m" {
  event_source_arn        = awscc_sqs_queue.q.arn
  function_name           = awscc_lambda_function.f.arn
  batch_size              = 5
  scaling_config          = { maximum_concurrency = 3 }
  function_response_types = ["ReportBatchItemFailures"]
}
"#;
    let outcome = crate::inputs::check_files([("main.tf", main)]);
    let graph = &outcome.graph;
    let queue = graph
        .queues()
        .iter()
        .find(|queue| queue.resource.address.ends_with(".q"))
        .unwrap();
    let seconds = [&queue.visibility_timeout, &queue.retention, &queue.receive_wait_time];
    assert_eq!(
        seconds.map(|one| one.known().map(|seconds| seconds.0)),
        [Some(30), Some(60), Some(20)]
    );
    assert_eq!(queue.name.known().cloned().flatten().as_deref(), Some("q"));
    assert_eq!(queue.maximum_message_size.known(), Some(&1024));
    let policy = queue.redrive.known().cloned().flatten().unwrap();
    assert_eq!(policy.max_receive_count.known(), Some(&3));
    let mapping = &graph.mappings()[0];
    assert_eq!(mapping.maximum_concurrency.known(), Some(&Some(3)));
    assert_eq!(mapping.report_batch_item_failures.known(), Some(&true));
    let consumed = graph.consumptions(queue);
    assert_eq!(consumed.len(), 1);
    let functions = graph.functions_of(consumed[0].mapping, &consumed[0].when);
    assert_eq!(functions[0].1.timeout.known().map(|seconds| seconds.0), Some(120));
    assert!(outcome.findings.iter().all(|found| &*found.rule != "property-unknown"));
}
