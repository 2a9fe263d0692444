//! Files that are read in part, or not at all: what is lost is not absent, the rest is judged, and nothing passes in
//! silence.

use crate::inputs::{check, check_files};
use sqslint::Outcome;
use sqslint::testing::{TemporaryDirectory, describe};

/// Every finding as `file:line rule`.
fn told(outcome: &Outcome) -> Vec<String> {
    let findings = outcome.findings.iter().map(|found| {
        let span = found.primary().span;
        let (file, line) = (outcome.sources.file(span.file), outcome.sources.start(span).line);
        format!("{}:{line} {}", file.base_name(), found.rule)
    });
    findings.collect()
}

fn told_of(files: &[(&str, &str)]) -> Vec<String> {
    told(&check_files(files.iter().copied()))
}

const QUEUE: &str = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"q\"\n}\n";
const POLLED: &str = r#"
resource "aws_lambda_function" "f" {
  function_name = "f"
  timeout       = 30
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn        = aws_sqs_queue.q.arn
  function_name           = aws_lambda_function.f.arn
  function_response_types = ["ReportBatchItemFailures"]
}
"#;
const POLICY: &str = r#"
resource "aws_sqs_queue_redrive_policy" "q" {
  queue_url      = aws_sqs_queue.q.id
  redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:d", maxReceiveCount = 5 })
}
"#;

#[test]
fn a_comment_that_is_not_closed_is_told() {
    let rest = format!("{QUEUE}/* never closed\n{POLLED}");
    assert_eq!(told_of(&[("main.tf", &rest)]), ["main.tf:4 parse-error"]);
    let within = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"q\" /* never closed\n}\n";
    assert_eq!(told_of(&[("main.tf", within)]), ["main.tf:2 parse-error"]);
    let heredoc = format!("locals {{\n  x = <<EOT\n}}\n{POLICY}");
    let files = [("main.tf", QUEUE), ("polled.tf", POLLED), ("x.tf", heredoc.as_str())];
    assert_eq!(
        told_of(&files),
        ["main.tf:1 visibility-timeout-too-short", "x.tf:2 parse-error"]
    );
}

#[test]
fn a_byte_that_is_not_utf8_may_stand_in_a_comment() {
    let scene = |text: &[u8]| {
        let directory = TemporaryDirectory::with_files([]);
        std::fs::write(directory.path().join("main.tf"), text).unwrap();
        let outcome = check(directory.path());
        told(&outcome)
    };
    let read =
        b"# caf\xe9\nresource \"aws_sqs_queue\" \"q\" { // \xff\n  message_retention_seconds = 30 /* \xe9 */\n}\n";
    assert_eq!(scene(read), ["main.tf:3 queue-attribute-out-of-range"]);
    let refused = b"resource \"aws_sqs_queue\" \"q\" {\n  name = \"caf\xe9\"\n}\n";
    assert_eq!(scene(refused), ["main.tf:2 parse-error"]);
}

#[test]
fn a_file_with_such_a_byte_is_not_rewritten() {
    let directory = TemporaryDirectory::with_files([]);
    let file = directory.path().join("main.tf");
    let text = b"# caf\xe9\nresource \"aws_sqs_queue\" \"q\" {\n  message_retention_seconds = 30\n}\n";
    std::fs::write(&file, text).unwrap();
    let outcome = check(directory.path());
    assert!(outcome.findings.iter().all(|found| found.fix.is_none()));
}

#[test]
fn nothing_is_absent_while_a_file_is_not_read() {
    let polled = format!("{QUEUE}{POLLED}");
    let missing = "main.tf:1 redrive-policy-missing";
    let short = "main.tf:1 visibility-timeout-too-short";
    assert_eq!(told_of(&[("main.tf", &polled)]), [missing, short]);
    // The policy may stand in what is lost.
    for lost in [
        "\u{0}\u{1}\u{2}",
        "resource \"aws_sqs_queue_redrive_policy\" \"q\"\n{\n  queue_url = aws_sqs_queue.q.id\n}\n",
        "resource \"aws_sqs_queue_redrive_policy\" \"q\" {\n  queue_url = = aws_sqs_queue.q.id\n}\n",
    ] {
        let found = told_of(&[("main.tf", &polled), ("redrive.tf", lost)]);
        assert!(!found.contains(&missing.to_owned()), "{lost}: {found:?}");
        assert!(found.contains(&short.to_owned()), "{lost}: {found:?}");
        assert!(found.iter().any(|found| found.contains("parse-error")), "{lost}");
    }
    let found = told_of(&[("main.tf", &polled), ("redrive.tf.json", "{\"resource\": {,}}")]);
    assert!(!found.contains(&missing.to_owned()), "{found:?}");
    // A bracket too many hides nothing.
    let found = told_of(&[("main.tf", &polled), ("other.tf", "locals {}\n}\n")]);
    assert!(found.contains(&missing.to_owned()), "{found:?}");
}

#[test]
fn an_override_that_is_not_read_may_override_anything() {
    let found = told_of(&[("main.tf", &format!("{QUEUE}{POLLED}")), ("q_override.tf", "\u{0}x")]);
    assert_eq!(found, ["q_override.tf:1 parse-error"]);
}

#[test]
fn a_block_that_is_not_written_is_not_flagged_for_a_stray_line() {
    let text = format!("{QUEUE}{POLICY}{POLLED}").replace("timeout       = 30", "stray line");
    assert_eq!(told_of(&[("main.tf", &text)]), ["main.tf:12 parse-error"]);
}

#[test]
fn a_variable_file_that_is_not_read_leaves_variables_open() {
    let text = "variable \"t\" {\n  default = 5\n}\nresource \"aws_sqs_queue\" \"q\" {\n  message_retention_seconds = var.t\n}\n";
    let out = "main.tf:5 queue-attribute-out-of-range";
    assert_eq!(told_of(&[("main.tf", text)]), [out]);
    for (name, values) in [
        ("terraform.tfvars", "t = = 90\n"),
        ("terraform.tfvars", "t 90\n"),
        ("terraform.tfvars", "x = {\n t = 3\n t = 90\n"),
        ("terraform.tfvars", "/* t = 90\n"),
        ("terraform.tfvars.json", "{\"t\": 90,, }"),
        ("terraform.tfvars", "t = max(90, 1)\n"),
    ] {
        let found = told_of(&[("main.tf", text), (name, values)]);
        assert_eq!(found, [format!("{name}:1 parse-error")], "{values}");
    }
    // A later file has the last word.
    let files = [
        ("main.tf", text),
        ("a.auto.tfvars", "t 90\n"),
        ("b.auto.tfvars", "t = 6\n"),
    ];
    assert_eq!(told_of(&files), ["a.auto.tfvars:1 parse-error", out]);
}

#[test]
fn a_brace_behind_an_argument_is_one_parse_error() {
    let main = "resource \"aws_lambda_function\" \"f\" {\n  function_name = \"f\"\n  timeout = 900 }\n";
    let outcome = check_files([("main.tf", main)]);
    let errors = outcome.findings.iter().filter(|found| found.rule == "parse-error");
    assert_eq!(errors.count(), 1, "{}", describe(&outcome));
}

#[test]
fn one_cause_is_one_parse_error() {
    let document = r#"
data "aws_iam_policy_document" "d" {
  statement {
    actions = ["sqs:*"]
  }
  "statement" {
    actions = ["sqs:SendMessage"]
    resources = ["*"]
  }
  "statement" {
    actions = ["sqs:ReceiveMessage"]
  }
}
"#;
    assert_eq!(
        told_of(&[("main.tf", document)]),
        ["main.tf:6 parse-error", "main.tf:10 parse-error"]
    );
    let broken = "resource \"aws_sqs_queue\" \"q\" {\n  tags = = {\n    a = 1\n  }\n  name = \"q\"\n}\n";
    assert_eq!(told_of(&[("main.tf", broken)]), ["main.tf:2 parse-error"]);
}

#[test]
fn the_syntax_of_011_is_read_where_the_project_asks_for_it() {
    let pinned = "terraform {\n  required_version = \"~> 0.11.14\"\n}\n";
    let text = r#"
resource "aws_sqs_queue" "q" {
  message_retention_seconds = 30
  tags {
    "Name" = "q"
    "Env"  = "dev"
  }
}
"#;
    let found = "main.tf:3 queue-attribute-out-of-range";
    let outcome = check_files([("main.tf", text), ("versions.tf", pinned)]);
    assert_eq!(told(&outcome), [found]);
    assert_eq!(
        outcome.graph.units()[0].notes,
        ["`main.tf` is in the syntax of Terraform 0.11"]
    );
    let newer = pinned.replace("~> 0.11.14", ">= 0.11");
    assert_eq!(
        told_of(&[("main.tf", text), ("versions.tf", &newer)]),
        [found, "main.tf:5 parse-error", "main.tf:6 parse-error"]
    );
}

#[test]
fn a_disabled_resource_of_opentofu_does_not_exist() {
    let disabled = |value: &str| {
        let text = format!(
            "variable \"on\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n  message_retention_seconds = 30\n  lifecycle {{\n    enabled = {value}\n  }}\n}}\n"
        );
        let outcome = check_files([("main.tofu", text.as_str())]);
        (outcome.graph.queues().into_iter().count(), told(&outcome))
    };
    let found = vec!["main.tofu:3 queue-attribute-out-of-range".to_owned()];
    assert_eq!(disabled("false"), (0, Vec::new()));
    assert_eq!(disabled("true"), (1, found.clone()));
    assert_eq!(disabled("var.on"), (1, found));
    let module = "module \"m\" {\n  source = \"./m\"\n  lifecycle {\n    enabled = false\n  }\n}\n";
    let outcome = check_files([("main.tofu", module), ("m/main.tf", QUEUE)]);
    assert_eq!(outcome.graph.queues().into_iter().count(), 0);
}

#[test]
fn a_source_that_is_computed_early_is_followed() {
    let root = "variable \"which\" {\n  default = \"slow\"\n}\nlocals {\n  base = \"./modules\"\n}\nmodule \"q\" {\n  source = \"${local.base}/${var.which}\"\n}\n";
    let slow = "resource \"aws_sqs_queue\" \"q\" {\n  message_retention_seconds = 30\n}\n";
    let files = [
        ("main.tofu", root),
        ("modules/slow/main.tf", slow),
        ("modules/fast/main.tf", QUEUE),
    ];
    let outcome = check_files(files);
    assert_eq!(told(&outcome), ["main.tf:2 queue-attribute-out-of-range"]);
    let addresses: Vec<&str> = outcome
        .graph
        .queues()
        .into_iter()
        .map(|queue| &*queue.resource.address)
        .collect();
    assert_eq!(addresses, ["module.q.aws_sqs_queue.q", "aws_sqs_queue.q"]);
}

#[test]
fn the_arn_for_an_api_names_no_function() {
    let text =
        format!("{QUEUE}{POLICY}{POLLED}").replace("aws_lambda_function.f.arn", "aws_lambda_function.f.invoke_arn");
    assert_eq!(told_of(&[("main.tf", &text)]), Vec::<String>::new());
}
