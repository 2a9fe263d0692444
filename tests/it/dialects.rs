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
