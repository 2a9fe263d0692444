//! Compares Serverless Framework services with the recorded templates that the framework compiles them to.

use crate::inputs::{check, entries, repository};
use serde_json::Value;
use sqslint::testing::graph_json;
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
