//! Compares the graphs of templates that are easily misinterpreted with recorded ones, made by an independent
//! implementation of CloudFormation's rules: `fixtures/templates/<name>/template.*` and `expected.json`, with default
//! parameters or those of `parameters.json`.
//!
//! "unknown" was recorded for values known only at deployment; exactly these must be unresolved.

use crate::inputs::{LISTS, entries, repository};
use serde_json::{Value, json};
use sqslint::Options;
use sqslint::inputs::{Inputs, Parameters};
use sqslint::testing::graph_json_by_default;
use std::path::{Path, PathBuf};

fn graph(directory: &Path) -> Value {
    let is_template = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "template");
    let parameters = directory.join("parameters.json");
    let outcome = sqslint::check(&Options {
        paths: entries(directory).into_iter().filter(is_template).collect(),
        inputs: Inputs {
            parameters: parameters
                .is_file()
                .then_some(Parameters::File(parameters))
                .into_iter()
                .collect(),
            region: Some("us-east-1".to_owned()),
            account: Some("123456789012".to_owned()),
            ..Inputs::default()
        },
        ..Options::default()
    });
    assert_eq!(outcome.errors, Vec::<String>::new());
    serde_json::from_str(&graph_json_by_default(&outcome.graph, &outcome.sources)).unwrap()
}

/// Converts our value to the form of the recording.
fn reworded(field: &str, ours: &Value) -> Value {
    if ours.get("unresolved").is_some() {
        let is_link = matches!(field, "queue" | "function" | "target");
        return if is_link { Value::Null } else { json!("unknown") };
    }
    match field {
        "redrive" if ours.get("target").is_some() => json!({
            "target": reworded("target", &ours["target"]),
            "maxReceiveCount": reworded("count", &ours["max_receive_count"]),
        }),
        "redrive" if ours.is_object() => ours.clone(),
        "queue" | "function" | "target" if ours.is_object() => ours["address"].clone(),
        _ => ours.clone(),
    }
}

fn differences(directory: &Path) -> Vec<String> {
    let name = directory.file_name().unwrap().to_string_lossy().into_owned();
    let recorded: Value = serde_json::from_slice(&std::fs::read(directory.join("expected.json")).unwrap()).unwrap();
    let ours = graph(directory);
    let mut all = Vec::new();
    for (theirs, mine, fields) in LISTS {
        let nodes = |list: &Value| list.as_array().cloned().unwrap_or_default();
        let address = |node: &Value| node["address"].as_str().unwrap().to_owned();
        let (recorded, ours) = (nodes(&recorded[theirs]), nodes(&ours[mine]));
        let (expected, found): (Vec<_>, Vec<_>) = (
            recorded.iter().map(address).collect(),
            ours.iter().map(address).collect(),
        );
        if expected != found {
            all.push(format!("{name}: {mine}: expected {expected:?}, found {found:?}"));
            continue;
        }
        for (recorded, ours) in recorded.iter().zip(&ours) {
            for (theirs, mine) in fields {
                let (expected, found) = (&recorded[theirs], reworded(mine, &ours[mine]));
                if *expected != found {
                    all.push(format!(
                        "{name}: {}.{mine}: expected {expected}, found {found}, as {}",
                        address(recorded),
                        ours[mine]
                    ));
                }
            }
        }
    }
    all
}

#[test]
fn graphs_equal_the_recorded_ones() {
    let directories = entries(&repository("fixtures/templates"));
    assert!(directories.len() >= 30, "{}", directories.len());
    let all: Vec<String> = directories
        .iter()
        .flat_map(|directory| differences(directory))
        .collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}
