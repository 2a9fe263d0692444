//! Compares Serverless Framework services with the recorded templates that the framework compiles them to.

use crate::inputs::{check, check_files, entries, repository};
use serde_json::Value;
use sqslint::testing::{describe, graph_json};
use std::path::PathBuf;

/// Removes locations, and which values are defaults.
fn neutral(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let dropped = ["unit", "file", "line", "defaulted"];
            let kept = fields.into_iter().filter(|(key, _)| !dropped.contains(&key.as_str()));
            kept.map(|(key, value)| (key, neutral(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(neutral).collect(),
        other => other,
    }
}

fn graph_of(path: PathBuf) -> Value {
    let outcome = check(&path);
    assert_eq!(outcome.errors, Vec::<String>::new());
    let text = graph_json(&outcome.graph, &outcome.sources);
    neutral(serde_json::from_str(&text).unwrap())
}

#[test]
fn services_match_their_compiled_templates() {
    let services = entries(&repository("fixtures/serverless"));
    assert!(!services.is_empty());
    for service in services {
        let ours = graph_of(service.join("serverless.yml"));
        let recorded = graph_of(service.join("compiled.json"));
        for (list, nodes) in recorded.as_object().unwrap() {
            assert_eq!(&ours[list], nodes, "{list} of {}", service.display());
        }
    }
}

const SERVICE: &str = "service: orders
provider: {name: aws}
functions:
  fulfil:
    handler: index.handler
    timeout: 60
    events:
      - sqs: {arn: !GetAtt Orders.Arn}
resources: ${file(resources/queues.yml)}
";
const QUEUES: &str = "Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 30
";

#[test]
fn files_under_resources_are_judged_with_their_service_only() {
    for resources in ["${file(resources/queues.yml)}", "\n  - ${file(resources/queues.yml)}"] {
        let service = SERVICE.replace("${file(resources/queues.yml)}", resources);
        let outcome = check_files([("serverless.yml", &*service), ("resources/queues.yml", QUEUES)]);
        assert_eq!(outcome.graph.queues().len(), 1, "{resources}");
        let mut below = outcome.findings.iter();
        let below = below.find(|found| found.rule == "visibility-timeout-below-function-timeout");
        assert!(below.is_some_and(|found| found.fix.is_some()), "{}", describe(&outcome));
        assert!(
            outcome
                .findings
                .iter()
                .all(|found| found.subject.unit.ends_with("serverless.yml"))
        );
    }
    // A template that no service includes is a unit.
    let service = SERVICE.replace("queues.yml", "other.yml");
    let outcome = check_files([("serverless.yml", &*service), ("resources/queues.yml", QUEUES)]);
    assert_eq!(outcome.graph.queues().len(), 1);
}

#[test]
fn files_above_a_service_are_read_below_the_named_directory() {
    let service = SERVICE.replace("resources/", "../../resources/");
    let files = [
        ("services/orders/serverless.yml", &*service),
        ("resources/queues.yml", QUEUES),
    ];
    let outcome = check_files(files);
    assert!(
        outcome
            .findings
            .iter()
            .any(|found| found.rule == "visibility-timeout-below-function-timeout"),
        "{}",
        describe(&outcome)
    );
    // Without a repository, nothing outside that directory is read.
    let folder = sqslint::testing::TemporaryDirectory::with_files(files);
    let outcome = check(&folder.path().join("services"));
    assert_eq!(outcome.graph.queues().len(), 0, "{}", describe(&outcome));
}

#[test]
fn service_of_a_stage_is_read_next_to_another() {
    let service = format!(
        "{}{}",
        SERVICE.replace("${file(resources/queues.yml)}", ""),
        QUEUES.replace('\n', "\n  ")
    );
    let service = service.replace("resources: \nResources", "resources:\n  Resources");
    let units = |files: &[(&str, &str)]| check_files(files.iter().copied()).graph.units().len();
    assert_eq!(
        units(&[("serverless.yml", &service), ("serverless.prod.yml", &service)]),
        2
    );
    assert_eq!(units(&[("serverless.prod.yml", &service)]), 0);
    let part = "functions:\n  other: {handler: a.b}\n";
    assert_eq!(
        units(&[("serverless.yml", &service), ("serverless.functions.yml", part)]),
        1
    );
}
