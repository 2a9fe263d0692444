//! Runs the queries of `docs/fleet.md` with `DuckDB` over the records of two repositories.

use crate::inputs::repository;
use needs::DUCKDB;
use sqslint::testing::TemporaryDirectory;
use std::process::{Command, Stdio};

/// Python program that reads a list of statements and prints the rows of each as JSON.
const RUN: &str = r"
import duckdb, json, sys
database = duckdb.connect()
print(json.dumps([database.execute(query).fetchall() for query in json.load(sys.stdin)], default=float))
";

const SHORT: &str = "resource \"aws_sqs_queue\" \"orders\" {}\nresource \"aws_lambda_function\" \"ship\" {\n  \
    timeout = 60\n}\nresource \"aws_lambda_event_source_mapping\" \"ship\" {\n  event_source_arn = \
    aws_sqs_queue.orders.arn\n  function_name = aws_lambda_function.ship.arn\n}\n";
const OPEN: &str = "variable \"arn\" {}\nresource \"aws_lambda_event_source_mapping\" \"ship\" {\n  event_source_arn = \
    var.arn\n  function_name = \"ship\"\n  maximum_batching_window_in_seconds = 900\n}\n";

fn records(directory: &std::path::Path) -> String {
    let mut check = Command::new(env!("CARGO_BIN_EXE_sqslint"));
    let check = check
        .args(["check", ".", "--format", "json-lines"])
        .current_dir(directory);
    String::from_utf8(check.output().unwrap().stdout).unwrap()
}

/// Returns the records of a clone of `name` that contains `text`.
fn survey(name: &str, text: &str) -> String {
    let config =
        format!("[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = git@example.com:{name}.git\n");
    let clone = TemporaryDirectory::with_files([
        ("main.tf", text),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/config", &*config),
        (".git/objects/info/packs", ""),
        (".git/refs/heads/.keep", ""),
    ]);
    records(clone.path())
}

#[test]
fn documented_queries_give_the_expected_rows() {
    let Some(python) = DUCKDB.found() else { return };
    let page = std::fs::read_to_string(repository("docs/fleet.md")).unwrap();
    let queries: Vec<&str> = page
        .split("```sql\n")
        .skip(1)
        .map(|part| part.split("```").next().unwrap())
        .collect();
    assert_eq!(queries.len(), 4);
    let (orders, bills) = (survey("shop/orders", SHORT), survey("shop/bills", OPEN));
    let before = survey("shop/orders", &SHORT.replace("60", "20"));
    let reports = TemporaryDirectory::with_files([
        ("reports/orders.jsonl", &*orders),
        ("reports/bills.jsonl", &*bills),
        ("before/orders.jsonl", &*before),
    ]);
    let mut child = Command::new(python)
        .args(["-c", RUN])
        .current_dir(reports.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let asked = serde_json::to_vec(&queries).unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &asked).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{orders}{bills}");
    let rows: Vec<Vec<Vec<serde_json::Value>>> = serde_json::from_slice(&output.stdout).unwrap();
    let shown = |rows: &[Vec<serde_json::Value>]| {
        rows.iter()
            .map(|row| serde_json::json!(row).to_string())
            .collect::<Vec<_>>()
    };
    let rules = shown(&rows[1]);
    assert!(
        rules.contains(&r#"["visibility-timeout-below-function-timeout","error",1,1]"#.to_owned()),
        "{rules:?}"
    );
    assert_eq!(
        shown(&rows[2]),
        [r#"["shop/bills",1,0.0]"#, r#"["shop/orders",2,100.0]"#]
    );
    let new = shown(&rows[3]);
    assert!(
        new.iter()
            .any(|row| row.contains("visibility-timeout-below-function-timeout")),
        "{new:?}"
    );
    assert!(!new.iter().any(|row| row.contains("redrive-policy-missing")), "{new:?}");
}
