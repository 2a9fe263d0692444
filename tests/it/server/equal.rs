//! Checks that the server, after any edits, has the same findings as `sqslint check` on the same texts.

use super::client::{Client, modern_capabilities};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::json;
use sqslint::Options;
use sqslint::testing::TemporaryDirectory;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Projects of all dialects whose units depend on each other: modules that call each other, names, exports, alarms,
/// policies, nested stacks, environments.
const FIXTURES: &[&str] = &[
    "stacks/sound",
    "dead-letter-queue-unalarmed/terraform/invalid-one-of-two-modules",
    "dead-letter-queue-unalarmed/terraform/valid-alarm-in-module",
    "visibility-timeout-too-short/terraform/invalid-value-from-tfvars",
    "batch-size-without-window/terraform/invalid-size-from-module-call",
    "serverless/orders",
];

/// Units that depend on each other in more ways than by the files they load.
const TIED: &[(&str, &str)] = &[
    (
        "ties/exports.yaml",
        "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Orders:\n    Type: AWS::SQS::Queue\nOutputs:\n  Arn:\n    Value: !GetAtt Orders.Arn\n    Export:\n      Name: orders-arn\n",
    ),
    (
        "ties/imports.yaml",
        "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Work:\n    Type: AWS::Lambda::Function\n    Properties:\n      Timeout: 60\n  Reads:\n    Type: AWS::Lambda::EventSourceMapping\n    Properties:\n      EventSourceArn: !ImportValue orders-arn\n      FunctionName: !Ref Work\n",
    ),
    (
        "ties/named/main.tf",
        "resource \"aws_sqs_queue\" \"q\" {\n  name = \"mails\"\n  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dlq.arn, maxReceiveCount = 5 })\n}\n\nresource \"aws_sqs_queue\" \"dlq\" {\n  name = \"mails-dlq\"\n  message_retention_seconds = 1209600\n}\n",
    ),
    (
        "ties/reader/main.tf",
        "resource \"aws_lambda_function\" \"f\" {\n  timeout = 45\n}\n\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = \"arn:aws:sqs:eu-west-1:123456789012:mails\"\n  function_name = aws_lambda_function.f.arn\n}\n",
    ),
    (
        "ties/alarm.yaml",
        "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Alarm:\n    Type: AWS::CloudWatch::Alarm\n    Properties:\n      Namespace: AWS/SQS\n      MetricName: ApproximateNumberOfMessagesVisible\n      Dimensions: [{Name: QueueName, Value: mails-dlq}]\n      AlarmActions: [arn]\n",
    ),
    (
        "ties/sam/template.yaml",
        "AWSTemplateFormatVersion: '2010-09-09'\nTransform: AWS::Serverless-2016-10-31\nParameters:\n  Timeout:\n    Type: Number\n    Default: 5\nResources:\n  Tasks:\n    Type: AWS::SQS::Queue\n  Work:\n    Type: AWS::Serverless::Function\n    Properties:\n      Timeout: !Ref Timeout\n      Events:\n        Tasks:\n          Type: SQS\n          Properties:\n            Queue: !GetAtt Tasks.Arn\n",
    ),
    (
        "ties/sam/samconfig.toml",
        "version = 0.1\n\n[default.deploy.parameters]\nparameter_overrides = \"Timeout=45\"\n\n[prod.deploy.parameters]\nparameter_overrides = \"Timeout=20\"\n",
    ),
    (
        "ties/sam/parameters/dev.json",
        "[{\"ParameterKey\": \"Timeout\", \"ParameterValue\": \"31\"}]\n",
    ),
    (
        "ties/values/main.tf",
        "variable \"visibility\" {\n  default = 90\n}\n\nmodule \"q\" {\n  source  = \"../module\"\n  timeout = var.visibility\n}\n\nresource \"aws_sqs_queue\" \"own\" {\n  visibility_timeout_seconds = var.visibility\n}\n",
    ),
    ("ties/values/terraform.tfvars", "visibility = 70\n"),
    ("ties/values/env/prod.tfvars", "visibility = 50000\n"),
    (
        "ties/exports-of/imports.yaml",
        "AWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Second:\n    Type: AWS::Lambda::Function\n    Properties:\n      Timeout: 20\n  Reads:\n    Type: AWS::Lambda::EventSourceMapping\n    Properties:\n      EventSourceArn: !ImportValue orders-arn\n      FunctionName: !Ref Second\n",
    ),
    (
        "sqslint.toml",
        "ignore = [\"queue-short-polling\"]\n\n[rules.visibility-timeout-below-function-timeout]\nseverity = \"warning\"\n\n[rules.queue-attribute-out-of-range]\n",
    ),
    (
        "ties/callers/c/main.tf",
        "module \"first\" {\n  source  = \"../../module\"\n  timeout = 61\n}\n\nmodule \"second\" {\n  source  = \"../../module\"\n  timeout = 1\n}\n",
    ),
    (
        "ties/callers/a/main.tf",
        "module \"q\" {\n  source  = \"../../module\"\n  timeout = 90\n}\n",
    ),
    (
        "ties/callers/b/main.tf",
        "module \"q\" {\n  source  = \"../../module\"\n  timeout = 5\n}\n",
    ),
    (
        "ties/module/main.tf",
        "variable \"timeout\" {}\n\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 60\n}\n\nresource \"aws_lambda_function\" \"f\" {\n  timeout = var.timeout\n}\n\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  function_name = aws_lambda_function.f.arn\n}\n",
    ),
];

/// Files on which several units depend, or that are loaded for a unit without being one.
pub(super) const OF_MANY: &[&str] = &[
    "sqslint.toml",
    "ties/exports.yaml",
    "ties/module/main.tf",
    "ties/sam/parameters/dev.json",
    "ties/sam/samconfig.toml",
    "ties/values/env/prod.tfvars",
    "ties/values/terraform.tfvars",
];

/// Reads the files below `directory`, by their paths relative to `root`.
fn texts(root: &Path, directory: &Path, all: &mut BTreeMap<String, String>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            texts(root, &path, all);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            all.insert(name, text);
        }
    }
}

fn project() -> BTreeMap<String, String> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut all = BTreeMap::new();
    for name in FIXTURES {
        texts(&fixtures, &fixtures.join(name), &mut all);
    }
    all.extend(TIED.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    all
}

const CONFIGURATION: &str = "sqslint.toml";

/// Returns the findings of a batch run, in the format of [`Client::found`].
fn batch_run(place: &Path) -> Vec<String> {
    let outcome = sqslint::check(&Options {
        paths: vec![place.to_owned()],
        allow_empty: true,
        ..Options::default()
    });
    let broken = outcome.errors.iter().filter(|error| !error.contains(CONFIGURATION));
    assert_eq!(
        broken.collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "no other error stops the run"
    );
    let mut all: Vec<String> = Vec::new();
    for found in &outcome.findings {
        let span = found.primary().span;
        let file = outcome.sources.file(span.file);
        let at = outcome.sources.start(span);
        let name = file.path().strip_prefix(place).unwrap().display().to_string();
        // A batch run reports problems in the configuration as errors.
        assert_ne!(name, CONFIGURATION);
        all.push(format!("{name}:{}:{} {}", at.line - 1, at.column - 1, found.rule));
    }
    all.sort();
    all
}

/// Action of a user or of another program.
#[derive(Debug, Clone)]
enum Step {
    /// Types into a file: replaces some bytes.
    Type(usize, usize, usize, String),
    /// Replaces the first number after an offset.
    Number(usize, usize, u32),
    /// Deletes a line.
    Line(usize, usize),
    /// Saves a file and closes it.
    Save(usize),
    /// Closes a file without saving it.
    Drop(usize),
    /// Removes a file from the disk.
    Remove(usize),
    /// Restores the original file on the disk.
    Restore(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0..10_000_usize;
    prop_oneof![
        3 => (at.clone(), at.clone(), 0..12_usize, "[a-z0-9{}\"\\[\\]=: .\n#$-]{0,8}").prop_map(|(file, from, length, text)| Step::Type(file, from, length, text)),
        5 => (at.clone(), at.clone(), 0..2000_u32).prop_map(|(file, from, number)| Step::Number(file, from, number)),
        2 => (at.clone(), at.clone()).prop_map(|(file, line)| Step::Line(file, line)),
        1 => at.clone().prop_map(Step::Save),
        1 => at.clone().prop_map(Step::Drop),
        1 => at.clone().prop_map(Step::Remove),
        1 => at.prop_map(Step::Restore),
    ]
}

/// Editor with open files, and the directory on disk.
pub(super) struct EditorSession {
    pub(super) place: TemporaryDirectory,
    client: Client,
    /// Original texts of the files.
    pub(super) first: BTreeMap<String, String>,
    open: BTreeMap<String, String>,
}

impl EditorSession {
    pub(super) fn new() -> Self {
        let first = project();
        let place = TemporaryDirectory::with_files(first.iter().map(|(name, text)| (&**name, &**text)));
        let mut able = modern_capabilities();
        able["general"]["positionEncodings"] = json!(["utf-32"]);
        let client = Client::with(place.path(), &able, &json!({"pullDiagnostics": true}));
        EditorSession {
            place,
            client,
            first,
            open: BTreeMap::new(),
        }
    }

    /// Chooses a file; those with many dependents are as likely as all others together.
    fn name(&self, at: usize) -> String {
        let of_many = self.first.keys().filter(|name| OF_MANY.contains(&name.as_str()));
        let all: Vec<&String> = self.first.keys().collect();
        let of_many: Vec<&String> = of_many.cycle().take(all.len()).collect();
        let all = [all, of_many].concat();
        all[at % all.len()].clone()
    }

    fn edit(&mut self, at: usize, edit: impl FnOnce(&mut String)) {
        self.edit_file(&self.name(at), edit);
    }

    /// Changes a file in the editor, if it exists.
    pub(super) fn edit_file(&mut self, name: &str, edit: impl FnOnce(&mut String)) {
        if !self.open.contains_key(name) {
            let Ok(text) = std::fs::read_to_string(self.place.path().join(name)) else {
                return;
            };
            self.client.open(name, &text);
            self.open.insert(name.to_owned(), text);
        }
        let text = self.open.get_mut(name).unwrap();
        edit(text);
        self.client.change(name, &text.clone());
    }

    fn act(&mut self, step: Step) {
        match step {
            Step::Type(at, from, length, new) => self.edit(at, |text| {
                let from = text.floor_char_boundary(from % (text.len() + 1));
                let end = text.floor_char_boundary((from + length).min(text.len())).max(from);
                text.replace_range(from..end, &new);
            }),
            Step::Number(at, from, number) => self.edit(at, |text| {
                let from = text.floor_char_boundary(from % (text.len() + 1));
                let Some(start) = text[from..].find(|c: char| c.is_ascii_digit()) else {
                    return;
                };
                let rest = &text[from + start..];
                let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                text.replace_range(from + start..from + start + length, &number.to_string());
            }),
            Step::Line(at, line) => self.edit(at, |text| {
                let count = text.lines().count().max(1);
                let kept = text.split_inclusive('\n').enumerate();
                *text = kept
                    .filter(|(at, _)| *at != line % count)
                    .map(|(_, line)| line)
                    .collect();
            }),
            Step::Save(at) => {
                let name = self.name(at);
                if let Some(text) = self.open.remove(&name) {
                    let path = self.place.path().join(&name);
                    let kind = if path.exists() { 2 } else { 1 };
                    std::fs::write(path, text).unwrap();
                    self.client.notify_file_changes(&[(&name, kind)]);
                    self.client.close(&name);
                }
            }
            Step::Drop(at) => {
                let name = self.name(at);
                if self.open.remove(&name).is_some() {
                    self.client.close(&name);
                }
            }
            Step::Remove(at) => {
                let name = self.name(at);
                let _ = std::fs::remove_file(self.place.path().join(&name));
                self.client.notify_file_changes(&[(&name, 3)]);
            }
            Step::Restore(at) => {
                let name = self.name(at);
                let path = self.place.path().join(&name);
                let kind = if path.exists() { 2 } else { 1 };
                std::fs::write(path, &self.first[&name]).unwrap();
                self.client.notify_file_changes(&[(&name, kind)]);
            }
        }
    }

    /// Returns the findings of the server, and those of a batch run over the same texts.
    pub(super) fn both(&mut self) -> (Vec<String>, Vec<String>) {
        let mut found = self.client.found();
        // The server marks problems in the configuration file itself.
        found.retain(|one| !one.starts_with(CONFIGURATION));
        let mut disk = BTreeMap::new();
        texts(self.place.path(), self.place.path(), &mut disk);
        disk.extend(self.open.iter().map(|(name, text)| (name.clone(), text.clone())));
        let copy = TemporaryDirectory::with_files(disk.iter().map(|(name, text)| (&**name, &**text)));
        (found, batch_run(copy.path()))
    }
}

#[test]
fn dependent_units_are_checked_together() {
    let mut desk = EditorSession::new();
    let (found, expected) = desk.both();
    assert_eq!(found, expected);
    let has = |rule: &str, file: &str| found.iter().any(|one| one.starts_with(file) && one.ends_with(rule));
    let below = "visibility-timeout-below-function-timeout";
    assert!(has(below, "ties/exports.yaml"), "through an export: {found:#?}");
    assert!(has(below, "ties/named/main.tf"), "through a name");
    assert!(has(below, "ties/module/main.tf"), "through a call");
    assert!(
        !has("dead-letter-queue-unalarmed", "ties/named/main.tf"),
        "by the alarm of another unit"
    );
}

#[test]
fn open_configuration_applies_after_it_is_deleted() {
    let mut desk = EditorSession::new();
    desk.edit_file(CONFIGURATION, |text| text.insert_str(0, ":="));
    std::fs::remove_file(desk.place.path().join(CONFIGURATION)).unwrap();
    desk.client.notify_file_changes(&[(CONFIGURATION, 3)]);
    let (found, expected) = desk.both();
    assert_eq!(found, expected);
}

#[test]
fn rule_that_may_listen_to_every_alarm_concerns_all_projects() {
    let mut desk = EditorSession::new();
    desk.both();
    // The pattern of the rule is unknown while the block does not parse.
    desk.edit_file("stacks/sound/terraform-events/events.tf", |text| {
        *text = text.replacen("name           = \"orders\"", "name   }]f}\"orders\"", 1);
    });
    let (found, expected) = desk.both();
    assert_eq!(found, expected);
}

proptest! {
    #![proptest_config(Config { cases: 4, max_shrink_iters: 40, failure_persistence: None, ..Config::default() })]

    #[test]
    fn findings_after_any_edits_equal_a_batch_run(steps in proptest::collection::vec(proptest::collection::vec(step(), 1..6), 1..8)) {
        let mut desk = EditorSession::new();
        for some in steps {
            for step in some {
                desk.act(step);
            }
            let (found, expected) = desk.both();
            prop_assert_eq!(found, expected);
        }
    }
}
