//! Compares the graphs of Terraform configurations that are hard to evaluate with the values that Terraform itself
//! computed.
//!
//! `fixtures/configurations/<name>/expected.json` was recorded from Terraform 1.11 with a provider that has the real
//! schema and applies offline (the account is 123456789012, the Region is us-east-1 unless set; `tofu-files` was
//! recorded under the file names that Terraform reads). Every value of our graph must be equal. If the recording
//! contains a value that the files do not determine, `differs.json` in the same directory has our value and the reason.

use crate::inputs::{LISTS, check, directories, json, repository};
use serde_json::{Value, json};
use sqslint::testing::graph_json;
use std::collections::BTreeMap;
use std::path::Path;

/// Values by `address field`.
type Values = BTreeMap<String, Value>;

fn recorded(document: &Value) -> Values {
    let mut values = Values::new();
    for (list, _, fields) in LISTS {
        for node in document[list].as_array().unwrap() {
            let address = node["address"].as_str().unwrap();
            values.insert(address.to_owned(), Value::Null);
            for (field, _) in fields {
                values.insert(format!("{address} {field}"), node[field].clone());
            }
        }
    }
    values
}

/// Returns our graph of the root module in `directory`, with the field names of the recording.
fn ours(directory: &Path) -> Values {
    let outcome = check(directory);
    assert_eq!(outcome.errors, Vec::<String>::new());
    let broken = outcome.findings.iter().find(|found| found.rule == "parse-error");
    assert!(broken.is_none(), "{broken:?}");
    let document: Value = serde_json::from_str(&graph_json(&outcome.graph, &outcome.sources)).unwrap();
    let name = format!("fixtures/configurations/{}", directory.file_name().unwrap().display());
    let mut values = Values::new();
    for (_, list, fields) in LISTS {
        for node in document[list].as_array().unwrap() {
            if node["unit"] != name {
                continue;
            }
            let address = node["address"].as_str().unwrap();
            let exists = [&node["when"], &node["uncertain"]]
                .into_iter()
                .find(|value| !value.is_null());
            values.insert(address.to_owned(), exists.cloned().unwrap_or_default());
            for (theirs, ours) in fields {
                values.insert(format!("{address} {theirs}"), translated(&node[ours]));
            }
        }
    }
    values
}

fn translated(value: &Value) -> Value {
    match value.get("max_receive_count") {
        Some(count) => json!({ "target": value["target"], "maxReceiveCount": count }),
        None => value.clone(),
    }
}

#[test]
fn graphs_equal_those_of_terraform() {
    let mut differences = Vec::new();
    let all = directories(&repository("fixtures/configurations"));
    assert!(all.len() >= 20, "{} configurations", all.len());
    for directory in all {
        let mut expected = recorded(&json(&directory.join("expected.json")));
        let exceptions = directory.join("differs.json");
        if exceptions.exists() {
            for (place, exception) in json(&exceptions).as_object().unwrap() {
                assert!(exception["why"].is_string(), "{place} has no reason");
                assert!(expected.contains_key(place), "{place} is not recorded");
                expected.insert(place.clone(), exception["ours"].clone());
            }
        }
        let found = ours(&directory);
        let places: std::collections::BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
        for place in places {
            let (expected, found) = (expected.get(place), found.get(place));
            if expected != found {
                let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
                differences.push(format!(
                    "{}: {place}: {}, not {}",
                    directory.file_name().unwrap().display(),
                    shown(expected),
                    shown(found)
                ));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} differ (Terraform's value first)\n{}",
        differences.len(),
        differences.join("\n")
    );
}
