//! Checks that an editor with every project open receives the same findings as `sqslint check --format json`.

use super::client::{Client, modern_capabilities, uri};
use crate::inputs::{directories, name, repository};
use needs::PROJECTS;
use rayon::prelude::*;
use serde_json::{Value, json};
use sqslint::rules;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Finding with the properties that both outputs contain.
struct ReportedFinding<'t> {
    file: &'t str,
    /// Start and end as lines and columns, counted from 1.
    place: [u64; 4],
    severity: &'t str,
    /// Rule, message and fingerprint.
    words: [&'t Value; 3],
    /// Other labels: line and message.
    others: Vec<String>,
    fix: &'t Value,
}

impl ReportedFinding<'_> {
    fn line(mut self) -> String {
        self.others.sort();
        let ReportedFinding {
            place,
            severity,
            others,
            ..
        } = &self;
        let [rule, message, fingerprint] = self.words.map(text);
        let fix = [&self.fix["title"], &self.fix["safety"]].map(text);
        let file = self.file.rsplit('/').next().unwrap_or_default();
        format!("{file}:{place:?} {severity} {rule} {fingerprint} {message} {others:?} {fix:?}")
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// Runs the program on a project and formats its findings.
fn checked(project: &Path) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_sqslint"))
        .args(["check", "--format", "json"])
        .arg(project)
        .current_dir(project)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{}: {error}: {said}", project.display())
    });
    let findings = report["findings"].as_array().unwrap().iter();
    let reported = findings.map(|found| {
        let labels = found["labels"].as_array().unwrap().iter();
        let others = labels.filter(|label| label["primary"] == false);
        let others = others.map(|label| format!("{} {}", label["line"], text(&label["message"])));
        let reported = ReportedFinding {
            file: text(&found["file"]),
            place: ["line", "column", "end_line", "end_column"].map(|part| number(&found[part])),
            severity: text(&found["severity"]),
            words: ["rule", "message", "fingerprint"].map(|part| &found[part]),
            others: others.collect(),
            fix: &found["fix"],
        };
        reported.line()
    });
    let mut reported: Vec<String> = reported.collect();
    reported.sort();
    reported
}

/// Opens `projects` as folders of one editor, and formats the findings of each.
fn shown(projects: &[PathBuf]) -> Vec<Vec<String>> {
    let mut able = modern_capabilities();
    able["general"]["positionEncodings"] = json!(["utf-32"]);
    let (first, others) = projects.split_first().unwrap();
    let mut client = Client::with(first, &able, &json!({"pullDiagnostics": true}));
    let added = others.iter();
    let added: Vec<Value> = added
        .map(|project| json!({"uri": uri(project), "name": name(project)}))
        .collect();
    let event = json!({"added": added, "removed": []});
    client.notify("workspace/didChangeWorkspaceFolders", json!({"event": event}));
    let report = client.request("workspace/diagnostic", json!({"previousResultIds": []}));
    let mut all = vec![Vec::new(); projects.len()];
    for item in report["items"].as_array().unwrap() {
        let address = text(&item["uri"]);
        let mut places = projects.iter();
        let of = places.position(|project| address.starts_with(&(uri(project) + "/")));
        let reported = &mut all[of.unwrap_or_else(|| panic!("{address} is in no project"))];
        reported.extend(
            item["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|found| diagnostic(address, found)),
        );
    }
    for reported in &mut all {
        reported.sort();
    }
    client.shut_down();
    all
}

fn diagnostic(address: &str, found: &Value) -> String {
    let related = found["relatedInformation"].as_array().into_iter().flatten();
    let others = related.map(|other| {
        let line = number(&other["location"]["range"]["start"]["line"]) + 1;
        format!("{line} {}", text(&other["message"]))
    });
    let range = &found["range"];
    let [line, column] = ["line", "character"].map(|part| number(&range["start"][part]) + 1);
    let [end_line, end_column] = ["line", "character"].map(|part| number(&range["end"][part]) + 1);
    // The following lines contain the calculation and the help.
    let message = text(&found["message"]).lines().next().into();
    let reported = ReportedFinding {
        file: address,
        place: [line, column, end_line, end_column],
        severity: match number(&found["severity"]) {
            1 => "error",
            2 => "warning",
            _ => "info",
        },
        words: [&found["code"], &message, &found["data"]["fingerprint"]],
        others: others.collect(),
        fix: &found["data"]["fix"],
    };
    reported.line()
}

/// Compares both over `projects`, and returns the number of findings.
fn compare(projects: &[PathBuf]) -> usize {
    let expected: Vec<Vec<String>> = projects.par_iter().map(|project| checked(project)).collect();
    let shown = shown(projects);
    for ((project, shown), expected) in projects.iter().zip(&shown).zip(&expected) {
        assert_eq!(shown, expected, "{}", project.display());
    }
    shown.iter().map(Vec::len).sum()
}

#[test]
fn server_findings_equal_check_on_every_fixture() {
    let all = directories(&repository("fixtures")).into_iter();
    let projects = all.flat_map(|fixture| match rules::by_id(name(&fixture)) {
        Some(_) => {
            let dialects = directories(&fixture);
            dialects.iter().flat_map(|dialect| directories(dialect)).collect()
        }
        None => vec![fixture],
    });
    let projects: Vec<PathBuf> = projects.collect();
    let count = compare(&projects);
    assert!(projects.len() > 150 && count > 300, "{count} in {}", projects.len());
}

#[test]
fn server_findings_equal_check_on_real_projects() {
    let Some(shared) = PROJECTS.found() else { return };
    let projects = directories(&shared.join("corpus/dev").canonicalize().unwrap());
    let count = compare(&projects);
    assert!(count > 200, "{count} in {}", projects.len());
}
