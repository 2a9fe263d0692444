//! Services of the Serverless Framework against what the framework itself compiles them to, as recorded.

use serde_json::Value;
use sqslint::selection::Selection;
use sqslint::testing::graph_json;
use sqslint::{Options, Outcome, check};
use std::path::{Path, PathBuf};

fn run(path: PathBuf) -> Outcome {
    check(&Options {
        paths: vec![path],
        selection: Selection::default(),
        ..Options::default()
    })
}

/// Without places, and whatever is known by default.
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
    let outcome = run(path);
    assert_eq!(outcome.errors, Vec::<String>::new());
    let text = graph_json(&outcome.graph, &outcome.sources);
    neutral(serde_json::from_str(&text).unwrap())
}

#[test]
fn services_are_what_the_framework_compiles_them_to() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/serverless");
    let mut services: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    services.sort();
    assert!(!services.is_empty());
    for service in services {
        let ours = graph_of(service.join("serverless.yml"));
        let recorded = graph_of(service.join("compiled.json"));
        for (list, nodes) in recorded.as_object().unwrap() {
            assert_eq!(&ours[list], nodes, "{list} of {}", service.display());
        }
    }
}
