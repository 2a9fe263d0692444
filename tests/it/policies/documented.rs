//! The documented policies, packs and Rego module, on their own tests and on real projects.

use super::{judge, policies};
use crate::inputs::{directories, repository};
use needs::{PROJECTS, REGOPY};
use source::files::Files;
use sqslint::config::{Configs, Source, packs};
use sqslint::testing::TemporaryDirectory;
use sqslint::{Outcome, try_policy};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

/// Returns the code blocks of `docs/policies.md` with tested `[[policy]]` tables; the first one introduces the format.
fn documented() -> Vec<String> {
    let page = std::fs::read_to_string(repository("docs/policies.md")).unwrap();
    let fences = page.split("```toml\n").skip(1);
    let fences = fences.map(|fence| fence.split("\n```\n").next().unwrap_or_default().to_owned());
    fences.filter(|fence| fence.contains("[[policy.tests]]")).collect()
}

#[test]
fn documented_policies_pass_their_tests() {
    let documented = documented();
    assert_eq!(documented.len(), 10);
    for text in &documented {
        for policy in policies(text) {
            let trials = try_policy(&policy).unwrap();
            for trial in &trials {
                assert!(trial.is_as_expected(), "{}: {trial:?}", policy.rule().id);
            }
            let fires = trials.iter().any(|trial| !trial.findings.is_empty());
            let is_silent = trials.iter().any(|trial| trial.findings.is_empty());
            assert!(fires && is_silent, "{}", policy.rule().id);
        }
    }
}

#[test]
fn packs_are_the_documented_policies() {
    let packs: Vec<_> = packs::all().collect();
    let names: Vec<&str> = packs.iter().map(|pack| pack.name).collect();
    let expected = [
        "ownership",
        "naming",
        "encryption",
        "access",
        "retention",
        "consumers",
        "alarms",
        "retries",
    ];
    assert_eq!(names, expected);
    for pack in packs {
        let own = pack.policies().unwrap();
        assert!(!own.is_empty(), "{}", pack.name);
        for policy in own {
            for trial in try_policy(&policy).unwrap() {
                assert!(trial.is_as_expected(), "{}: {trial:?}", pack.name);
            }
        }
    }
    let ids = |text: &str| -> Vec<String> {
        policies(text)
            .iter()
            .map(|policy| policy.rule().id.to_owned())
            .collect()
    };
    assert_eq!(
        ids("packs = ['encryption', 'ownership']"),
        ["queue-has-its-own-key", "queue-has-an-owner"]
    );
    // A policy with the same id replaces that of the pack.
    let text = "packs = ['ownership']\npolicy = [{id = 'queue-has-an-owner', for = 'queue', require = 'queue.fifo', message = 'm'}]";
    assert_eq!(policies(text)[0].definition().message, "m");
    assert_eq!(policies(text).len(), 1);
    let refused = Configs::new(
        Source {
            lines: vec!["packs = ['encrypton']".to_owned()],
            isolated: true,
            ..Source::default()
        },
        Vec::new(),
        &Files::default(),
    );
    let message = refused.for_path(Path::new("/")).unwrap_err().message;
    assert_eq!(message, "unknown pack `encrypton`; did you mean `encryption`?");
}

/// Three built-in rules, each with an equivalent policy.
const SAME: [(&str, &str, &str); 3] = [
    (
        "max-receive-count-too-low",
        "own-max-receive-count",
        r#"
        for = "queue"
        where = 'queue.max_receive_count >= 1 && queue.max_receive_count <= 1000'
        require = 'queue.max_receive_count >= 2'
        "#,
    ),
    (
        "queue-delay-exceeds-retention",
        "own-delay",
        r#"
        for = "queue"
        where = '''
        queue.delay >= duration("0s") && queue.delay <= duration("900s")
          && queue.retention >= duration("60s") && queue.retention <= duration("14d")
        '''
        require = 'queue.delay < queue.retention'
        "#,
    ),
    (
        "reserved-concurrency-zero",
        "own-concurrency",
        r#"
        for = "function"
        where = 'function.reserved_concurrency <= 0'
        forbid = 'function.mappings.exists(mapping, mapping.enabled)'
        "#,
    ),
];

#[test]
fn rules_rewritten_as_policies_have_the_same_findings() {
    let text: String = SAME
        .iter()
        .map(|(_, id, text)| format!("[[policy]]\nid = \"{id}\"\nmessage = \"is wrong\"\n{text}\n"))
        .collect();
    let select: Vec<&str> = SAME.iter().flat_map(|(ours, own, _)| [*ours, *own]).collect();
    let found = |outcome: &Outcome, id: &str| -> BTreeSet<(String, String, Option<String>)> {
        let all = outcome.findings.iter().filter(|found| found.rule == id);
        all.map(|found| {
            (
                found.subject.unit.clone(),
                found.subject.address.clone(),
                found.when.clone(),
            )
        })
        .collect()
    };
    let compare = |path: &Path| {
        let outcome = judge(path, &text, &select);
        let each = SAME.iter().map(|(ours, own, _)| {
            let (ours, own) = (found(&outcome, ours), found(&outcome, own));
            assert_eq!(ours, own, "{}", path.display());
            ours.len()
        });
        each.sum::<usize>()
    };
    let small = TemporaryDirectory::with_files([(
        "main.tf",
        r#"
variable "open" {}
resource "aws_sqs_queue" "failed" { delay_seconds = var.open }
resource "aws_sqs_queue" "low" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 1 })
}
resource "aws_sqs_queue" "right" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 2 })
}
resource "aws_sqs_queue" "late" {
  delay_seconds             = 60
  message_retention_seconds = 60
}
resource "aws_lambda_function" "off" {
  function_name                  = "off"
  reserved_concurrent_executions = 0
}
resource "aws_lambda_event_source_mapping" "off" {
  event_source_arn = aws_sqs_queue.right.arn
  function_name    = aws_lambda_function.off.arn
}
"#,
    )]);
    assert_eq!(compare(small.path()), 3);
    let Some(shared) = PROJECTS.found() else { return };
    let all: usize = directories(&shared.join("corpus/dev"))
        .iter()
        .map(|project| compare(project))
        .sum();
    assert!(all > 0, "the projects have some");
}

/// Prints the findings of the ten policies in real projects, for review with `--nocapture`.
#[test]
fn documented_policies_run_on_real_projects() {
    let Some(shared) = PROJECTS.found() else { return };
    let text = documented().join("\n");
    let ids: Vec<String> = policies(&text)
        .iter()
        .map(|policy| policy.rule().id.to_owned())
        .collect();
    let started = Instant::now();
    let mut counts = vec![(0, 0); ids.len()];
    for project in directories(&shared.join("corpus/dev")) {
        let outcome = judge(&project, &text, &["policy"]);
        for (count, id) in counts.iter_mut().zip(&ids) {
            count.0 += outcome
                .findings
                .iter()
                .filter(|found| found.rule == id.as_str())
                .count();
            count.1 += outcome
                .not_evaluated
                .iter()
                .filter(|open| open.rule == id.as_str())
                .count();
        }
        for found in &outcome.findings {
            assert!(!found.labels().is_empty() && found.help.is_some());
            println!(
                "{} {} {:?}",
                found.rule,
                found.headline,
                found.labels().iter().map(|l| &l.message).collect::<Vec<_>>()
            );
        }
    }
    println!(
        "{:?} {:?}",
        ids.iter().zip(counts).collect::<Vec<_>>(),
        started.elapsed()
    );
}

/// Python program that reads `{"module": …, "input": …}` and prints the messages that the module denies with.
const DENIED: &str = r#"
import json, sys, regopy
asked = json.load(sys.stdin)
rego = regopy.Interpreter()
rego.add_module("policy", asked["module"])
rego.set_input(asked["input"])
print(rego.query("denied = [each | some each in data.main.deny]"))
"#;

#[test]
fn documented_rego_module_denies_the_expected_queues() {
    let Some(python) = REGOPY.found() else { return };
    let page = std::fs::read_to_string(repository("docs/policies.md")).unwrap();
    let module = page.split("```rego\n").nth(1).unwrap().split("```").next().unwrap();
    let directory = TemporaryDirectory::with_files([(
        "main.tf",
        r#"
variable "keep" {}
variable "more" {}
resource "aws_sqs_queue" "short" {
  name = "orders-short"
  tags = { owner = "shop" }
}
resource "aws_sqs_queue" "long" {
  name                      = "orders-long"
  message_retention_seconds = 1209600
}
resource "aws_sqs_queue" "open" {
  name                      = "orders-open"
  message_retention_seconds = var.keep
  tags                      = var.more
}
"#,
    )]);
    let mut graph = std::process::Command::new(env!("CARGO_BIN_EXE_sqslint"));
    graph
        .args(["graph", ".", "--format", "json"])
        .current_dir(directory.path());
    let graph: serde_json::Value = serde_json::from_slice(&graph.output().unwrap().stdout).unwrap();
    let asked = serde_json::json!({ "module": module, "input": graph }).to_string();
    let mut child = std::process::Command::new(python)
        .args(["-c", DENIED])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), asked.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let denied = answer["bindings"]["denied"].as_array().unwrap().iter();
    let denied: BTreeSet<&str> = denied.filter_map(|message| message.as_str()).collect();
    let expected = [
        "aws_sqs_queue.short keeps messages for 345600 s",
        "aws_sqs_queue.long has no owner",
    ];
    assert_eq!(denied, expected.into());
}
