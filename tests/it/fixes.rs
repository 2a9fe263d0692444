//! Checks fixes: the finding disappears, no other appears, and all other lines stay unchanged. Runs over the fixtures,
//! and over real projects if a collection of them is next to the checkout.

use crate::inputs::{directories, name, repository};
use needs::{PROJECTS, PYYAML, TERRAFORM};
use similar::TextDiff;
use sqslint::diagnostic::{Diagnostic, Safety};
use sqslint::rules::{RULES, Rule};
use sqslint::selection::Selection;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Fixed, Options, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Reads every file below `from`, by relative path.
fn files(from: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![from.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if path.is_file() {
                let inside = path.strip_prefix(from).unwrap().to_owned();
                found.insert(inside, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn copied(from: &Path) -> TemporaryDirectory {
    let directory = TemporaryDirectory::with_files([]);
    for (path, bytes) in files(from) {
        let to = directory.path().join(path);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::write(to, bytes).unwrap();
    }
    directory
}

fn options(path: &Path, selection: Selection) -> Options {
    Options {
        paths: vec![path.to_owned()],
        selection,
        ..Options::default()
    }
}

/// Returns a unified diff of the changes since `before`, with file names.
fn diff(before: &BTreeMap<PathBuf, Vec<u8>>, directory: &Path) -> String {
    let mut text = String::new();
    for (path, after) in files(directory) {
        let empty = Vec::new();
        let (before, after) = (
            String::from_utf8_lossy(before.get(&path).unwrap_or(&empty)).into_owned(),
            String::from_utf8_lossy(&after).into_owned(),
        );
        if before != after {
            let diff = TextDiff::from_lines(&before, &after);
            let shown = path.display().to_string();
            let _ = write!(text, "{}", diff.unified_diff().context_radius(2).header(&shown, &shown));
        }
    }
    text
}

fn fingerprints(outcome: &Outcome) -> BTreeSet<String> {
    outcome.findings.iter().map(Diagnostic::fingerprint).collect()
}

/// Fixes and writes the files; fails if a fix is broken.
fn fix(path: &Path, selection: Selection) -> Fixed {
    let fixed = sqslint::fix(&options(path, selection), Safety::Unsafe);
    assert_eq!(
        fixed.broken,
        Vec::<String>::new(),
        "{}\n{}",
        path.display(),
        fixed.diff()
    );
    assert_eq!(fixed.write(), Vec::<String>::new(), "{}", path.display());
    fixed
}

/// Snapshots the result of the fixes for every fixture of a rule, for review.
#[test]
fn fixes_of_fixtures_match_their_snapshots() {
    let root = repository("fixtures");
    for rule in RULES.iter().filter(|rule| rule.check.is_some() && rule.fix.is_some()) {
        let mut shown = String::new();
        let of_rule = directories(&root).into_iter().filter(|path| name(path) == rule.id);
        let dialects = of_rule.flat_map(|path| directories(&path));
        for stack in dialects.flat_map(|dialect| directories(&dialect)) {
            if name(&stack).starts_with("invalid-") {
                let dialect = name(stack.parent().unwrap()).to_owned();
                let _ = writeln!(shown, "== {dialect}/{}", name(&stack));
                shown += &fixed_fixture(rule, &stack);
            }
        }
        insta::assert_snapshot!(format!("fixed-{}", rule.id), shown);
    }
}

fn fixed_fixture(rule: &Rule, stack: &Path) -> String {
    let directory = copied(stack);
    let before = files(directory.path());
    let fixed = fix(directory.path(), Selection::only(rule));
    let again = sqslint::check(&options(directory.path(), Selection::only(rule)));
    assert_eq!(
        fingerprints(&again),
        fingerprints(&fixed.outcome),
        "{}",
        stack.display()
    );
    let left = again.findings.len();
    let counts = format!("{} fixed, {left} left\n", fixed.findings);
    let left = fixed.left.into_iter().map(|line| line + "\n");
    counts + &left.collect::<String>() + &diff(&before, directory.path())
}

#[test]
fn fixes_of_real_projects_bring_no_new_findings() {
    let Some(shared) = PROJECTS.found() else { return };
    let (has_terraform, has_pyyaml) = (TERRAFORM.is_available(), PYYAML.is_available());
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut changed, mut lines) = (0, (0, 0));
    for project in directories(&shared.join("corpus/dev")) {
        let directory = copied(&project);
        let texts = files(directory.path());
        let formatted = unformatted(directory.path(), has_terraform);
        let before = sqslint::check(&options(directory.path(), Selection::default()));
        let fixed = fix(directory.path(), Selection::default());
        let after = sqslint::check(&options(directory.path(), Selection::default()));
        let new: Vec<_> = fingerprints(&after)
            .difference(&fingerprints(&before))
            .cloned()
            .collect();
        let new = after.findings.iter().filter(|found| new.contains(&found.fingerprint()));
        // No alarm is added if no existing alarm has an action to copy.
        let new = new.filter(|found| found.rule != "dead-letter-queue-unalarmed" || found.fix.is_some());
        let new: Vec<_> = new.map(|found| (&found.rule, &found.headline)).collect();
        assert!(new.is_empty(), "{}: {new:?}", project.display());
        for found in &before.findings {
            counts.entry(found.rule.to_string()).or_default().0 += 1;
        }
        for found in &after.findings {
            counts.entry(found.rule.to_string()).or_default().1 += 1;
        }
        for left in &fixed.left {
            println!("{}: left: {left}", name(&project));
        }
        for (path, text) in files(directory.path()) {
            let was = String::from_utf8_lossy(&texts[&path]);
            let is = String::from_utf8_lossy(&text);
            if was != is {
                changed += 1;
                parses(&directory.path().join(&path), &was, has_pyyaml);
                let (gone, come) = lines_of(&was, &is);
                lines = (lines.0 + gone, lines.1 + come);
            }
        }
        let newly: Vec<PathBuf> = unformatted(directory.path(), has_terraform)
            .difference(&formatted)
            .cloned()
            .collect();
        assert!(
            newly.is_empty(),
            "{}: no longer formatted: {newly:?}",
            project.display()
        );
    }
    println!("{changed} files changed: {} lines gone, {} come", lines.0, lines.1);
    for (rule, (before, after)) in counts {
        println!("{rule}: {before} before, {after} after");
    }
}

/// Counts the removed and the added lines.
fn lines_of(before: &str, after: &str) -> (usize, usize) {
    let diff = TextDiff::from_lines(before, after);
    let of = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    (of(similar::ChangeTag::Delete), of(similar::ChangeTag::Insert))
}

/// Checks the syntax with other parsers, if installed.
fn parses(path: &Path, before: &str, has_pyyaml: bool) {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "json" => {
            let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert!(
                is_json(&std::fs::read_to_string(path).unwrap()) || !is_json(before),
                "{}",
                path.display()
            );
        }
        "yaml" | "yml" if has_pyyaml => assert!(python_reads(path), "{}", path.display()),
        _ => {}
    }
}

/// Returns `true` if `PyYAML` parses the file, regardless of its tags.
fn python_reads(path: &Path) -> bool {
    const PROGRAM: &str = "import sys, yaml; list(yaml.compose_all(open(sys.argv[1], encoding='utf-8')))";
    let run = Command::new("python3").args(["-c", PROGRAM]).arg(path).output();
    run.is_ok_and(|run| run.status.success())
}

/// Returns the Terraform files that `terraform fmt` would change; empty without `terraform`.
fn unformatted(directory: &Path, has_terraform: bool) -> BTreeSet<PathBuf> {
    if !has_terraform {
        return BTreeSet::new();
    }
    let run = Command::new("terraform")
        .args(["fmt", "-check", "-recursive", "-list=true", "-write=false"])
        .current_dir(directory)
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&run.stdout).into_owned();
    listed.lines().map(PathBuf::from).collect()
}

/// Covers several suppressions in one file, some of them with equal messages.
#[test]
fn unused_suppressions_are_removed() {
    let files = [
        (
            "t.yaml",
            "# sqslint: ignore-file[fifo-queue-false] no reason\n\
             AWSTemplateFormatVersion: 2010-09-09\n\
             Metadata:\n  sqslint:\n    ignore:\n      - rule: fifo-queue-false\n        reason: none\n      \
             - rule: [visibility-timeout-zero, redrive-policy-missing]\n        reason: some\n\
             Resources:\n  Q: # sqslint: ignore[visibility-timeout-zero] x\n    Type: AWS::SQS::Queue\n    \
             Properties:\n      # sqslint: ignore[redrive-policy-missing, visibility-timeout-zero] why\n      \
             QueueName: a\n",
            "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  Q:\n    Type: AWS::SQS::Queue\n    \
             Properties:\n      QueueName: a\n",
        ),
        (
            "main.tf",
            "# sqslint: ignore-file[visibility-timeout-zero] x\nresource \"aws_sqs_queue\" \"q\" {\n  \
             name = \"x\" # sqslint: ignore[visibility-timeout-zero, fifo-queue-false] x\n}\n",
            "resource \"aws_sqs_queue\" \"q\" {\n  name = \"x\"\n}\n",
        ),
        (
            "b.tf.json",
            "{\"//\": \"sqslint: ignore[visibility-timeout-zero]\", \"resource\": {\"aws_sqs_queue\": {}}}\n",
            "{\"resource\": {\"aws_sqs_queue\": {}}}\n",
        ),
    ];
    let directory = TemporaryDirectory::with_files(files.map(|(name, before, _)| (name, before)));
    fix(directory.path(), Selection::default());
    for (name, _, after) in files {
        let text = std::fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(text, after, "{name}");
    }
}

/// The finding covers two numbers, so editing one of them would not fix it.
#[test]
fn finding_with_two_values_is_not_fixed() {
    let text = "AWSTemplateFormatVersion: 2010-09-09\n\
                Parameters: {E: {Type: String}}\nConditions: {P: !Equals [!Ref E, a]}\nResources:\n  Q:\n    \
                Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeout: !If [P, 20, 20]}\n  F:\n    \
                Type: AWS::Lambda::Function\n    Properties: {Timeout: 30}\n  M:\n    \
                Type: AWS::Lambda::EventSourceMapping\n    \
                Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}\n";
    let directory = TemporaryDirectory::with_files([("t.yaml", text)]);
    let rule = RULES
        .iter()
        .find(|rule| rule.id == "visibility-timeout-below-function-timeout");
    let fixed = fix(directory.path(), Selection::only(rule.unwrap()));
    assert_eq!(fixed.outcome.findings.len(), 1);
    assert_eq!(fixed.diff(), "");
}

#[test]
fn finding_with_separate_values_in_two_environments_is_not_fixed() {
    let environment = |name: &str| format!("[[environment]]\nname = \"{name}\"\nvar-files = [\"{name}.tfvars\"]\n");
    let settings = environment("dev") + &environment("prod");
    let files = [
        (
            "main.tf",
            "variable \"wait\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.wait\n}\n\
             resource \"aws_lambda_function\" \"f\" {\n  timeout = 30\n}\n\
             resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  \
             function_name = aws_lambda_function.f.arn\n}\n",
        ),
        ("dev.tfvars", "wait = 20\n"),
        ("prod.tfvars", "wait = 20\n"),
        ("sqslint.toml", &settings),
    ];
    let directory = TemporaryDirectory::with_files(files);
    let rule = RULES
        .iter()
        .find(|rule| rule.id == "visibility-timeout-below-function-timeout");
    let fixed = fix(directory.path(), Selection::only(rule.unwrap()));
    assert_eq!(fixed.outcome.findings.len(), 1);
    assert_eq!(fixed.diff(), "");
}

/// The configuration may set thresholds that no value accepted by AWS reaches.
#[test]
fn fix_that_aws_would_reject_is_not_offered() {
    let queues = "resource \"aws_sqs_queue\" \"failed\" {\n  fifo_queue                = true\n  \
             message_retention_seconds = 86400\n}\nresource \"aws_sqs_queue\" \"orders\" {\n  fifo_queue     = true\n  \
             redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 3 })\n}\n\
             resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.orders.arn\n  \
             function_name = \"worker\"\n}\n";
    for (rule, setting, most) in [
        ("fifo-dead-letter-queue-retention-short", "minimum", 1_209_600),
        ("max-receive-count-too-low", "minimum", 1_000),
        ("max-receive-count-low-for-poller", "recommended", 1_000),
    ] {
        for (value, is_fixable) in [(most, true), (most + 1, false)] {
            let settings = format!("[rules.{rule}]\n{setting} = {value}\n");
            let directory = TemporaryDirectory::with_files([("main.tf", queues), ("sqslint.toml", &settings)]);
            let rule = sqslint::rules::by_id(rule).unwrap();
            let outcome = sqslint::check(&options(directory.path(), Selection::only(rule)));
            let fixable: Vec<bool> = outcome.findings.iter().map(|found| found.fix.is_some()).collect();
            assert_eq!(fixable, [is_fixable], "{} {value}", rule.id);
        }
    }
}

fn of_one(text: &str) -> (TemporaryDirectory, Fixed) {
    let directory = TemporaryDirectory::with_files([("main.tf", text)]);
    let fixed = sqslint::fix(&options(directory.path(), Selection::default()), Safety::Unsafe);
    (directory, fixed)
}

/// Queue without a redrive policy; its function has a failure queue, `failed`, that has no effect for SQS events.
const IN_VAIN: &str = r#"
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = 180
}
resource "aws_sqs_queue" "failed" {
  message_retention_seconds = 1209600
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  timeout       = 30
  dead_letter_config {
    target_arn = aws_sqs_queue.failed.arn
  }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn        = aws_sqs_queue.orders.arn
  function_name           = aws_lambda_function.f.arn
  function_response_types = ["ReportBatchItemFailures"]
}
"#;

/// Returns the lines that the fixes of a file add.
fn added(name: &str, text: &str) -> Vec<String> {
    let directory = TemporaryDirectory::with_files([(name, text)]);
    let fixed = sqslint::fix(&options(directory.path(), Selection::default()), Safety::Unsafe);
    assert_eq!(fixed.broken, Vec::<String>::new());
    let diff = fixed.diff();
    let lines = diff.lines().filter(|line| !line.starts_with("+++"));
    let lines = lines.filter_map(|line| line.strip_prefix('+'));
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn ineffective_failure_queue_becomes_the_dead_letter_queue() {
    let template = "Resources:
  Orders: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 180}}
  Failed: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
  F:
    Type: AWS::Lambda::Function
    Properties: {Timeout: 30, DeadLetterConfig: {TargetArn: !GetAtt Failed.Arn}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref F
      FunctionResponseTypes: [ReportBatchItemFailures]
";
    let sam = "Transform: AWS::Serverless-2016-10-31
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 180
  Failed:
    Type: AWS::SQS::Queue
    Properties:
      MessageRetentionPeriod: 1209600
  F:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 30
      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt Failed.Arn}
      Events:
        Order:
          Type: SQS
          Properties: {Queue: !GetAtt Orders.Arn, FunctionResponseTypes: [ReportBatchItemFailures]}
";
    let json = r#"{"resource": {
  "aws_sqs_queue": {
    "orders": {"visibility_timeout_seconds": 180},
    "failed": {"message_retention_seconds": 1209600}
  },
  "aws_lambda_function": {"f": {
    "function_name": "f", "timeout": 30, "dead_letter_config": {"target_arn": "${aws_sqs_queue.failed.arn}"}
  }},
  "aws_lambda_event_source_mapping": {"m": {
    "event_source_arn": "${aws_sqs_queue.orders.arn}",
    "function_name": "${aws_lambda_function.f.arn}",
    "function_response_types": ["ReportBatchItemFailures"]
  }}
}}"#;
    for (name, text, target) in [
        ("main.tf", IN_VAIN, "deadLetterTargetArn = aws_sqs_queue.failed.arn"),
        ("main.tf.json", json, "deadLetterTargetArn = aws_sqs_queue.failed.arn"),
        ("template.yaml", template, "deadLetterTargetArn: !GetAtt Failed.Arn"),
        ("template.yaml", sam, "deadLetterTargetArn: !GetAtt Failed.Arn"),
    ] {
        let added = added(name, text);
        assert!(added.iter().any(|line| line.contains(target)), "{name}: {added:#?}");
        // The existing queue already has the maximum retention period.
        let is_new = |line: &String| line.contains("1209600");
        assert!(!added.iter().any(is_new), "{name}: {added:#?}");
    }
}

#[test]
fn dead_letter_queue_is_declared_if_no_failure_queue_can_be_reused() {
    let fifo = IN_VAIN.replace(" = 1209600", " = 1209600\n  fifo_queue = true");
    let permission = "resource \"aws_lambda_permission\" \"p\" {\n  function_name = aws_lambda_function.f.arn\n  \
                      principal = \"s3.amazonaws.com\"\n}\n";
    let asynchronous = format!("{IN_VAIN}{permission}");
    let (_, function) = IN_VAIN.split_once("resource \"aws_lambda_function\"").unwrap();
    let second = format!("resource \"aws_lambda_function\"{function}")
        .replace("\"f\"", "\"g\"")
        .replace("function.f", "function.g")
        .replace("\"m\"", "\"n\"")
        .replace("queue.failed", "queue.others");
    let disagree = format!("{IN_VAIN}{second}resource \"aws_sqs_queue\" \"others\" {{}}\n");
    for text in [fifo, asynchronous, disagree] {
        let added = added("main.tf", &text);
        let declared = "resource \"aws_sqs_queue\" \"orders_dlq\" {";
        assert!(added.iter().any(|line| line == declared), "{text}\n{added:#?}");
    }
}

/// Fixes of one queue must not contradict each other: applied together, they leave nothing fixable, and none is
/// reverted because of another.
#[test]
fn fixes_of_one_queue_do_not_conflict() {
    for retention in [3600, 86_400, 1_209_600] {
        for visibility in [180, 21_600, 43_200] {
            for receives in [1, 3, 60] {
                // No retention period is long enough for these; which value to change is the user's choice.
                if receives.max(5) * visibility > retention.min(345_600) {
                    continue;
                }
                let queue = format!(
                    "resource \"aws_sqs_queue\" \"orders\" {{\n  visibility_timeout_seconds = {visibility}\n  \
                     message_retention_seconds = {retention}\n  redrive_policy = jsonencode({{\n    \
                     deadLetterTargetArn = aws_sqs_queue.failed.arn\n    maxReceiveCount = {receives}\n  }})\n}}\n"
                );
                let text = IN_VAIN.replace(
                    "resource \"aws_sqs_queue\" \"orders\" {\n  visibility_timeout_seconds = 180\n}\n",
                    &queue,
                );
                let (_directory, fixed) = of_one(&text);
                let findings = &fixed.outcome.findings;
                let fixable: Vec<_> = findings.iter().filter(|found| found.fix.is_some()).collect();
                let case = format!("{retention} {visibility} {receives}\n{}", fixed.diff());
                assert!(fixable.is_empty(), "{case}\n{fixable:#?}");
                assert_eq!((&fixed.left, &fixed.broken), (&Vec::new(), &Vec::new()), "{case}");
            }
        }
    }
}

/// A queue with `count` is ambiguous: a fix cannot decide which of the queues to use.
#[test]
fn queue_with_count_does_not_become_the_dead_letter_queue() {
    let text = IN_VAIN
        .replace(" = 1209600", " = 1209600\n  count = 2")
        .replace("failed.arn", "failed[0].arn");
    assert_eq!(added("main.tf", &text), Vec::<String>::new());
}

/// Queue whose visibility timeout, once long enough, exceeds its retention period.
const CHAIN: &str = r#"
resource "aws_sqs_queue" "q" {
  name                       = "q"
  visibility_timeout_seconds = 30
  message_retention_seconds  = 3600 # seconds
  redrive_policy = jsonencode({
    deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:d"
    maxReceiveCount     = 5
  })
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  timeout       = 900
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn        = aws_sqs_queue.q.arn
  function_name           = aws_lambda_function.f.arn
  function_response_types = ["ReportBatchItemFailures"]
}
"#;

#[test]
fn fix_that_requires_another_written_value_to_change_is_not_made() {
    let (_directory, fixed) = of_one(CHAIN);
    assert_eq!(fixed.diff(), "");
    let [left] = &*fixed.left else {
        panic!("{:?}", fixed.left);
    };
    let wanted = "set `message_retention_seconds` to 345600, which would change a value that the finding does not name";
    assert!(left.ends_with(wanted), "{left}");
}

/// An alarm without an action would only hide the finding. A new alarm is therefore added only if an existing alarm has
/// an action to copy, and it is reported as a part of the fix; otherwise the finding stays.
#[test]
fn alarm_is_added_only_with_an_action_to_copy() {
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  name                       = \"q\"\n  \
                 visibility_timeout_seconds = 1800\n}\n\
                 resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn        = aws_sqs_queue.q.arn\n  \
                 function_name           = \"worker\"\n  function_response_types = [\"ReportBatchItemFailures\"]\n}\n";
    let alarm = |actions: &str| {
        format!(
            "{queue}resource \"aws_cloudwatch_metric_alarm\" \"age\" {{\n  namespace   = \"AWS/SQS\"\n  \
             metric_name = \"ApproximateAgeOfOldestMessage\"\n  dimensions  = {{ QueueName = aws_sqs_queue.q.name }}\n{actions}}}\n"
        )
    };
    let heard = alarm("  alarm_actions = [aws_sns_topic.on_call.arn]\n");
    let on_function = heard
        .replace("AWS/SQS", "AWS/Lambda")
        .replace("QueueName = aws_sqs_queue.q.name", "FunctionName = \"worker\"");
    let cases = [
        (queue.to_owned(), false),
        (alarm(""), false),
        (heard, true),
        // Its action may have nothing to do with queues.
        (on_function, false),
    ];
    for (text, has_alarm) in cases {
        let (_directory, fixed) = of_one(&text);
        let diff = fixed.diff();
        assert!(diff.contains("+resource \"aws_sqs_queue\" \"q_dlq\""), "{text}\n{diff}");
        let added = "+resource \"aws_cloudwatch_metric_alarm\" \"q_dlq_messages\"";
        assert_eq!(diff.contains(added), has_alarm, "{text}\n{diff}");
        let told: Vec<_> = fixed.made.iter().flat_map(|chain| &chain.others).collect();
        assert_eq!(told.len(), usize::from(has_alarm), "{told:?}");
        let rules = fixed.outcome.findings.iter().map(|found| &*found.rule);
        let stays = rules.filter(|rule| *rule == "dead-letter-queue-unalarmed").count();
        assert_eq!(stays, usize::from(!has_alarm), "{text}");
    }
}

#[test]
fn comment_about_the_number_prevents_the_fix() {
    let (_directory, fixed) = of_one(&CHAIN.replace("# seconds", "# 1 hour"));
    assert_eq!(fixed.diff(), "");
    assert!(
        fixed.left[0].contains("it would bring `visibility-timeout-exceeds-retention`"),
        "{:?}",
        fixed.left
    );
    let reason = CHAIN.replace("= 30\n", "= 30 # because the worker is fast\n");
    assert_eq!(of_one(&reason).1.diff(), "");
}

#[test]
fn fix_adds_no_newer_syntax_to_a_terraform_011_project() {
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"q\"\n}\nresource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = \"${aws_sqs_queue.q.arn}\"\n  function_name    = \"f\"\n}\n";
    let pinned = format!("terraform {{\n  required_version = \"~> 0.11.0\"\n}}\n{queue}");
    assert_ne!(of_one(queue).1.diff(), "");
    assert_eq!(of_one(&pinned).1.diff(), "");
}
