//! Modules that are not here and known by a description: their graphs against those that Terraform made with the
//! modules' own code, one recording a version in `fixtures/remote-modules`. Where `VERSION` stands in a
//! configuration, the test writes the version of the recording.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use serde_json::Value;
use sqslint::graph::json::render_by_default;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Lists of nodes, as recorded and as ours, and their fields in both.
const LISTS: [(&str, &str, &[(&str, &str)]); 3] = [
    (
        "queues",
        "queues",
        &[
            ("visibility_timeout", "visibility_timeout"),
            ("retention", "retention"),
            ("fifo", "fifo"),
            ("redrive", "redrive"),
        ],
    ),
    (
        "functions",
        "functions",
        &[("timeout", "timeout"), ("reserved_concurrency", "reserved_concurrency")],
    ),
    (
        "esms",
        "event_source_mappings",
        &[
            ("queue", "queue"),
            ("function", "function"),
            ("batch_size", "batch_size"),
            ("window", "window"),
            ("report_batch_item_failures", "report_batch_item_failures"),
            ("max_concurrency", "maximum_concurrency"),
            ("enabled", "enabled"),
        ],
    ),
];

fn check(path: &Path) -> Outcome {
    sqslint::check(&Options {
        paths: vec![path.to_owned()],
        ..Options::default()
    })
}

fn entries(path: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    all.sort();
    all
}

/// Our value in the terms of the recording.
fn recorded_form(field: &str, ours: &Value) -> Value {
    match field {
        "queue" | "function" | "target" if ours.is_object() && ours.get("unresolved").is_none() => {
            ours["address"].clone()
        }
        "redrive" if ours.get("target").is_some() => serde_json::json!({
            "target": recorded_form("target", &ours["target"]),
            "maxReceiveCount": ours["max_receive_count"],
        }),
        _ => ours.clone(),
    }
}

fn address(node: &Value) -> &str {
    node["address"].as_str().unwrap()
}

/// Everything in which ours differs from what was recorded.
fn differences(recorded: &Value, ours: &Value) -> String {
    let mut text = String::new();
    for (recorded_list, our_list, fields) in LISTS {
        let (recorded, ours) = (
            recorded[recorded_list].as_array().unwrap(),
            ours[our_list].as_array().unwrap(),
        );
        for node in ours {
            if !recorded.iter().any(|known| address(known) == address(node)) {
                writeln!(text, "{} is not recorded", address(node)).unwrap();
            }
        }
        for known in recorded {
            let Some(node) = ours.iter().find(|node| address(node) == address(known)) else {
                writeln!(text, "{} is missing", address(known)).unwrap();
                continue;
            };
            for (theirs, field) in fields {
                let form = recorded_form(field, &node[field]);
                if known[theirs] != form {
                    writeln!(text, "{}.{field}: recorded {}, ours {form}", address(known), known[theirs]).unwrap();
                }
            }
        }
    }
    text
}

#[test]
fn descriptions_give_the_graph_of_the_modules_own_code() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/remote-modules");
    let mut wrong = String::new();
    let mut compared = 0;
    for fixture in entries(&fixtures) {
        let Ok(text) = std::fs::read_to_string(fixture.join("main.tf")) else {
            continue;
        };
        for file in entries(&fixture.join("expected")) {
            let version = file.file_stem().unwrap().to_str().unwrap();
            let text = text.replace("VERSION", version);
            let directory = TemporaryDirectory::with_files([("main.tf", text.as_str())]);
            let outcome = check(directory.path());
            let ours = serde_json::from_str(&render_by_default(&outcome.graph, &outcome.sources)).unwrap();
            let recorded = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let found = differences(&recorded, &ours);
            compared += 1;
            if !found.is_empty() {
                let name = fixture.file_name().unwrap().to_str().unwrap();
                writeln!(wrong, "{name} {version}:\n{found}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 5, "only {compared} recordings");
}
