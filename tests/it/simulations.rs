//! Checks the output of `sqslint simulate --format json` against its schema, for each kind of input.

use crate::inputs::repository;
use serde_json::Value;
use std::process::Command;

fn simulated(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_sqslint"))
        .args(["simulate", "--format", "json"])
        .args(arguments)
        .current_dir(repository(""))
        .output()
        .expect("it is built");
    let (said, failed) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{failed}"))
}

#[test]
fn every_document_matches_the_schema() {
    let path = repository("tests/schemas/simulation.json");
    let mut schemas = boon::Schemas::new();
    let schema = boon::Compiler::new()
        .compile(path.to_str().expect("a path in UTF-8"), &mut schemas)
        .expect("it is a schema");
    for arguments in [
        &[
            "--visibility",
            "30s",
            "--timeout",
            "300s",
            "--rate",
            "100/week",
            "--weeks",
            "1",
        ][..],
        &[
            "--visibility",
            "30s",
            "--max",
            "45s",
            "--rate",
            "100/week",
            "--weeks",
            "1",
        ],
        &[
            "--visibility",
            "30s",
            "--timeout",
            "30s",
            "--fifo",
            "--max-receives",
            "3",
            "--rate",
            "100/week",
            "--weeks",
            "1",
        ],
        &["fixtures/stacks/orders/terraform", "--rate", "100/week", "--weeks", "1"],
    ] {
        let document = simulated(arguments);
        if let Err(error) = schemas.validate(&document, schema) {
            panic!("{arguments:?}: {error:#}");
        }
    }
}

#[test]
fn document_without_a_verdict_is_invalid() {
    let path = repository("tests/schemas/simulation.json");
    let mut schemas = boon::Schemas::new();
    let schema = boon::Compiler::new()
        .compile(path.to_str().expect("a path in UTF-8"), &mut schemas)
        .expect("it is a schema");
    let mut document = simulated(&[
        "--visibility",
        "30s",
        "--timeout",
        "60s",
        "--rate",
        "100/week",
        "--weeks",
        "1",
    ]);
    assert!(schemas.validate(&document, schema).is_ok());
    document["configurations"][0]
        .as_object_mut()
        .expect("an object")
        .remove("verdict");
    assert!(schemas.validate(&document, schema).is_err());
}
