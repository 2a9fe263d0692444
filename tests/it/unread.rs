//! Checks files that are parsed partly or not at all: the lost part does not count as absent, the rest is checked, and
//! every problem is reported.

use crate::inputs::{check, check_files};
use sqslint::Outcome;
use sqslint::testing::{TemporaryDirectory, describe};

/// Formats every finding as `file:line rule`.
fn formatted_findings(outcome: &Outcome) -> Vec<String> {
    let findings = outcome.findings.iter().map(|found| {
        let span = found.primary().span;
        let (file, line) = (outcome.sources.file(span.file), outcome.sources.start(span).line);
        format!("{}:{line} {}", file.base_name(), found.rule)
    });
    findings.collect()
}

fn findings_in(files: &[(&str, &str)]) -> Vec<String> {
    formatted_findings(&check_files(files.iter().copied()))
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
fn unclosed_comment_is_reported() {
    let rest = format!("{QUEUE}/* never closed\n{POLLED}");
    assert_eq!(findings_in(&[("main.tf", &rest)]), ["main.tf:4 parse-error"]);
    let within = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"q\" /* never closed\n}\n";
    assert_eq!(findings_in(&[("main.tf", within)]), ["main.tf:2 parse-error"]);
    let heredoc = format!("locals {{\n  x = <<EOT\n}}\n{POLICY}");
    let files = [("main.tf", QUEUE), ("polled.tf", POLLED), ("x.tf", heredoc.as_str())];
    assert_eq!(
        findings_in(&files),
        ["main.tf:1 visibility-timeout-too-short", "x.tf:2 parse-error"]
    );
}

#[test]
fn invalid_utf8_is_accepted_in_comments_only() {
    let scene = |text: &[u8]| {
        let directory = TemporaryDirectory::with_files([]);
        std::fs::write(directory.path().join("main.tf"), text).unwrap();
        let outcome = check(directory.path());
        formatted_findings(&outcome)
    };
    let read =
        b"# caf\xe9\nresource \"aws_sqs_queue\" \"q\" { // \xff\n  message_retention_seconds = 30 /* \xe9 */\n}\n";
    assert_eq!(scene(read), ["main.tf:3 queue-attribute-out-of-range"]);
    let refused = b"resource \"aws_sqs_queue\" \"q\" {\n  name = \"caf\xe9\"\n}\n";
    assert_eq!(scene(refused), ["main.tf:2 parse-error"]);
}

#[test]
fn file_with_invalid_utf8_has_no_fix() {
    let directory = TemporaryDirectory::with_files([]);
    let file = directory.path().join("main.tf");
    let text = b"# caf\xe9\nresource \"aws_sqs_queue\" \"q\" {\n  message_retention_seconds = 30\n}\n";
    std::fs::write(&file, text).unwrap();
    let outcome = check(directory.path());
    assert!(outcome.findings.iter().all(|found| found.fix.is_none()));
}

#[test]
fn nothing_counts_as_absent_if_a_file_is_broken() {
    let polled = format!("{QUEUE}{POLLED}");
    let missing = "main.tf:1 redrive-policy-missing";
    let short = "main.tf:1 visibility-timeout-too-short";
    assert_eq!(findings_in(&[("main.tf", &polled)]), [missing, short]);
    // The lost part may contain the redrive policy.
    for lost in [
        "\u{0}\u{1}\u{2}",
        "resource \"aws_sqs_queue_redrive_policy\" \"q\"\n{\n  queue_url = aws_sqs_queue.q.id\n}\n",
        "resource \"aws_sqs_queue_redrive_policy\" \"q\" {\n  queue_url = = aws_sqs_queue.q.id\n}\n",
    ] {
        let found = findings_in(&[("main.tf", &polled), ("redrive.tf", lost)]);
        assert!(!found.contains(&missing.to_owned()), "{lost}: {found:?}");
        assert!(found.contains(&short.to_owned()), "{lost}: {found:?}");
        assert!(found.iter().any(|found| found.contains("parse-error")), "{lost}");
    }
    let found = findings_in(&[("main.tf", &polled), ("redrive.tf.json", "{\"resource\": {,}}")]);
    assert!(!found.contains(&missing.to_owned()), "{found:?}");
    // A surplus bracket loses no content.
    let found = findings_in(&[("main.tf", &polled), ("other.tf", "locals {}\n}\n")]);
    assert!(found.contains(&missing.to_owned()), "{found:?}");
}

#[test]
fn broken_override_file_makes_values_unresolved() {
    let found = findings_in(&[("main.tf", &format!("{QUEUE}{POLLED}")), ("q_override.tf", "\u{0}x")]);
    assert_eq!(found, ["q_override.tf:1 parse-error"]);
}

#[test]
fn attribute_lost_by_a_parse_error_is_not_flagged() {
    let text = format!("{QUEUE}{POLICY}{POLLED}").replace("timeout       = 30", "stray line");
    assert_eq!(findings_in(&[("main.tf", &text)]), ["main.tf:12 parse-error"]);
}

#[test]
fn broken_variable_file_makes_variables_unresolved() {
    let text = "variable \"t\" {\n  default = 5\n}\nresource \"aws_sqs_queue\" \"q\" {\n  message_retention_seconds = var.t\n}\n";
    let out = "main.tf:5 queue-attribute-out-of-range";
    assert_eq!(findings_in(&[("main.tf", text)]), [out]);
    for (name, values) in [
        ("terraform.tfvars", "t = = 90\n"),
        ("terraform.tfvars", "t 90\n"),
        ("terraform.tfvars", "x = {\n t = 3\n t = 90\n"),
        ("terraform.tfvars", "/* t = 90\n"),
        ("terraform.tfvars.json", "{\"t\": 90,, }"),
        ("terraform.tfvars", "t = max(90, 1)\n"),
    ] {
        let found = findings_in(&[("main.tf", text), (name, values)]);
        assert_eq!(found, [format!("{name}:1 parse-error")], "{values}");
    }
    // A later file overrides it.
    let files = [
        ("main.tf", text),
        ("a.auto.tfvars", "t 90\n"),
        ("b.auto.tfvars", "t = 6\n"),
    ];
    assert_eq!(findings_in(&files), ["a.auto.tfvars:1 parse-error", out]);
}

#[test]
fn brace_after_an_argument_is_one_parse_error() {
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
        findings_in(&[("main.tf", document)]),
        ["main.tf:6 parse-error", "main.tf:10 parse-error"]
    );
    let broken = "resource \"aws_sqs_queue\" \"q\" {\n  tags = = {\n    a = 1\n  }\n  name = \"q\"\n}\n";
    assert_eq!(findings_in(&[("main.tf", broken)]), ["main.tf:2 parse-error"]);
}

#[test]
fn terraform_011_syntax_is_accepted_if_the_project_requires_it() {
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
    assert_eq!(formatted_findings(&outcome), [found]);
    assert_eq!(
        outcome.graph.units()[0].notes,
        ["`main.tf` is in the syntax of Terraform 0.11"]
    );
    let newer = pinned.replace("~> 0.11.14", ">= 0.11");
    assert_eq!(
        findings_in(&[("main.tf", text), ("versions.tf", &newer)]),
        [found, "main.tf:5 parse-error", "main.tf:6 parse-error"]
    );
}

#[test]
fn disabled_opentofu_resource_does_not_exist() {
    let disabled = |value: &str| {
        let text = format!(
            "variable \"on\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n  message_retention_seconds = 30\n  lifecycle {{\n    enabled = {value}\n  }}\n}}\n"
        );
        let outcome = check_files([("main.tofu", text.as_str())]);
        (outcome.graph.queues().into_iter().count(), formatted_findings(&outcome))
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
fn computed_module_source_is_followed() {
    let root = "variable \"which\" {\n  default = \"slow\"\n}\nlocals {\n  base = \"./modules\"\n}\nmodule \"q\" {\n  source = \"${local.base}/${var.which}\"\n}\n";
    let slow = "resource \"aws_sqs_queue\" \"q\" {\n  message_retention_seconds = 30\n}\n";
    let files = [
        ("main.tofu", root),
        ("modules/slow/main.tf", slow),
        ("modules/fast/main.tf", QUEUE),
    ];
    let outcome = check_files(files);
    assert_eq!(formatted_findings(&outcome), ["main.tf:2 queue-attribute-out-of-range"]);
    let addresses: Vec<&str> = outcome
        .graph
        .queues()
        .into_iter()
        .map(|queue| &*queue.resource.address)
        .collect();
    assert_eq!(addresses, ["module.q.aws_sqs_queue.q", "aws_sqs_queue.q"]);
}

#[test]
fn invoke_arn_does_not_resolve_to_a_function() {
    let text =
        format!("{QUEUE}{POLICY}{POLLED}").replace("aws_lambda_function.f.arn", "aws_lambda_function.f.invoke_arn");
    assert_eq!(findings_in(&[("main.tf", &text)]), Vec::<String>::new());
}
