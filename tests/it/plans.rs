//! Compares the graph of a recorded plan or state with that of its module: every number and link agrees, and only
//! values that Terraform itself did not know yet are unresolved. Each directory under `fixtures/plans/` has a root
//! module and its recordings.

use crate::inputs::{check, repository};
use serde_json::Value;
use sqslint::graph::UnitKind;
use sqslint::selection::Selection;
use sqslint::testing::{TemporaryDirectory, graph_json};
use sqslint::{Options, Outcome};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    repository("fixtures/plans")
}

fn checked(path: &Path) -> Outcome {
    let outcome = check(path);
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    outcome
}

/// Returns the nodes by address, without their locations.
fn nodes(outcome: &Outcome) -> BTreeMap<String, Value> {
    let document: Value = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
    let mut all = BTreeMap::new();
    for list in ["queues", "functions", "event_source_mappings", "alarms"] {
        for node in document[list].as_array().unwrap() {
            let mut node = node.clone();
            for place in ["unit", "file", "line", "defaulted"] {
                node.as_object_mut().unwrap().remove(place);
            }
            all.insert(node["address"].as_str().unwrap().to_owned(), node);
        }
    }
    all
}

/// Adds the differences between `recorded` and `source` to `wrong`, and the values unresolved in the recording to
/// `open`.
fn differences(at: &str, source: &Value, recorded: &Value, open: &mut Vec<String>, wrong: &mut Vec<String>) {
    if recorded.get("unresolved").is_some() {
        open.push(at.to_owned());
        return;
    }
    match (source, recorded) {
        (source, _) if source.get("unresolved").is_some() => {}
        (Value::Object(source), Value::Object(fields)) => {
            for (name, value) in fields {
                let of_source = source.get(name).unwrap_or(&Value::Null);
                differences(&format!("{at}.{name}"), of_source, value, open, wrong);
            }
        }
        _ if source == recorded => {}
        // AWS generated the name.
        (Value::Null, Value::String(_)) if at.strip_suffix(".name").is_some() => {}
        _ => wrong.push(format!("{at}: the module says {source}, the recording {recorded}")),
    }
}

fn compare(directory: &str, recording: &str) -> Vec<String> {
    let directory = fixtures().join(directory);
    let source = nodes(&checked(&directory));
    let recorded = nodes(&checked(&directory.join(recording)));
    assert!(!recorded.is_empty());
    let (mut open, mut wrong) = (Vec::new(), Vec::new());
    for address in source.keys().filter(|address| !recorded.contains_key(*address)) {
        wrong.push(format!("{address} is in the module only"));
    }
    for (address, node) in &recorded {
        match source.get(address) {
            None => wrong.push(format!("{address} is in the recording only")),
            Some(of_source) => differences(address, of_source, node, &mut open, &mut wrong),
        }
    }
    assert!(wrong.is_empty(), "{recording}\n{}", wrong.join("\n"));
    open
}

#[test]
fn receive_counts_are_unresolved_in_a_first_plan() {
    assert_eq!(
        compare("orders", "plan.json"),
        [
            "aws_sqs_queue.intake[\"mail\"].redrive.max_receive_count",
            "aws_sqs_queue.intake[\"web.fifo\"].redrive.max_receive_count",
            "aws_sqs_queue.late.redrive.max_receive_count",
            "module.queue[\"orders\"].aws_sqs_queue.this.redrive.max_receive_count",
        ]
    );
}

#[test]
fn plan_for_deployed_resources_is_fully_resolved() {
    assert_eq!(compare("orders", "existing.json"), [""; 0]);
}

#[test]
fn states_are_fully_resolved() {
    assert_eq!(compare("orders", "state.json"), [""; 0]);
    assert_eq!(compare("orders", "terraform.tfstate"), [""; 0]);
}

/// Checks with all rules; returns rule, address and headline of each finding.
fn found(path: &Path) -> Vec<(String, String, String)> {
    let outcome = sqslint::check(&Options {
        paths: vec![path.to_owned()],
        selection: Selection::new(Vec::new(), Vec::new(), true),
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let texts = outcome.findings.iter().map(|found| {
        let address = found.subject.address.clone();
        (found.rule.to_string(), address, found.headline.clone())
    });
    let mut all: Vec<_> = texts.collect();
    all.sort();
    all
}

/// The module has a function whose role may not delete messages, and an ECS task that polls a queue.
#[test]
fn findings_on_roles_and_workers_agree_with_the_module() {
    // A copy outside of this repository, whose code would be searched for the worker's.
    let files = ["main.tf", "plan.json", "existing.json", "state.json"];
    let texts = files.map(|name| std::fs::read_to_string(fixtures().join("workers").join(name)).unwrap());
    let copy = TemporaryDirectory::with_files(files.into_iter().zip(texts.iter().map(String::as_str)));
    let directory = copy.path();
    let of_module = found(directory);
    let rules: Vec<&str> = of_module.iter().map(|(rule, ..)| rule.as_str()).collect();
    assert_eq!(
        rules,
        [
            "batch-item-failures-unreported",
            "created-before-permission",
            "function-role-missing-kms-decrypt",
            "function-role-missing-queue-permission",
            "queue-age-unalarmed",
            "queue-short-polling",
            "redrive-policy-missing",
            "redrive-policy-missing",
            "worker-time-undeclared",
        ]
    );
    // A state does not show whether a visibility timeout is the default, nor in which order resources are created.
    let is_in_states = |(rule, ..): &(String, String, String)| {
        !matches!(rule.as_str(), "worker-time-undeclared" | "created-before-permission")
    };
    let in_states = |mut all: Vec<(String, String, String)>| {
        all.retain(is_in_states);
        all
    };
    let of_module = in_states(of_module);
    for recording in ["plan.json", "existing.json", "state.json"] {
        assert_eq!(in_states(found(&directory.join(recording))), of_module, "{recording}");
    }
}

#[test]
fn plans_and_states_are_distinguished() {
    let kind = |name: &str| checked(&fixtures().join("orders").join(name)).graph.units()[0].kind;
    assert_eq!(kind("plan.json"), UnitKind::Plan);
    assert_eq!(kind("state.json"), UnitKind::State);
    assert_eq!(kind("terraform.tfstate"), UnitKind::State);
}

#[test]
fn plans_and_states_are_skipped_unless_named() {
    let outcome = checked(&fixtures().join("orders"));
    assert_eq!(outcome.graph.units().len(), 1);
    let names: Vec<_> = outcome
        .skipped
        .iter()
        .map(|path| Path::new(path).file_name().unwrap())
        .collect();
    assert_eq!(names, ["existing.json", "plan.json", "state.json", "terraform.tfstate"]);
}
