//! Checks how `sqslint.toml` is applied: each unit by its own file, once per environment.

use crate::inputs::check;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome, config, diagnostic::Severity};

const STACK: &str = r#"
variable "seconds" {
  default = 600
}
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = var.seconds
  redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:dead", maxReceiveCount = 5 })
}
resource "aws_lambda_function" "orders" {
  function_name = "orders"
  timeout       = 100
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn        = aws_sqs_queue.orders.arn
  function_name           = aws_lambda_function.orders.arn
  function_response_types = ["ReportBatchItemFailures"]
}
"#;

fn run(files: &[(&str, &str)], options: Options) -> Outcome {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        ..options
    })
}

/// Formats severity, rule, address and condition of each finding.
fn formatted_findings(outcome: &Outcome) -> Vec<String> {
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let findings = outcome.findings.iter();
    findings
        .map(|found| {
            let when = found
                .when
                .as_ref()
                .map_or(String::new(), |when| format!(" when {when}"));
            format!("{} {} {}{when}", found.severity, found.rule, found.subject.address)
        })
        .collect()
}

const SHORT: &str = "visibility-timeout-too-short aws_sqs_queue.orders";

#[test]
fn variable_file_on_the_command_line_is_accepted_if_an_environment_uses_it() {
    let files = [
        ("infra/main.tf", STACK),
        (
            "sqslint.toml",
            "[[environment]]\nname = \"prod\"\nvar-files = [\"env/prod.tfvars\"]\n",
        ),
        ("env/prod.tfvars", "seconds = 300\n"),
        ("env/other.tfvars", "seconds = 300\n"),
        (".git/HEAD", ""),
    ];
    let directory = TemporaryDirectory::with_files(files);
    let named = |file: &str| check(&directory.path().join(file));
    assert_eq!(
        formatted_findings(&named("env/prod.tfvars")),
        [format!("warning {SHORT}")]
    );
    let other = named("env/other.tfvars").errors;
    assert_eq!(other.len(), 1, "{other:?}");
    assert!(other[0].contains("no Terraform file"), "{other:?}");
}

#[test]
fn finding_names_its_environments() {
    let environments =
        "[[environment]]\nname = \"dev\"\n[[environment]]\nname = \"prod\"\nvar-files = [\"env/prod.tfvars\"]\n";
    let files = [
        ("main.tf", STACK),
        ("sqslint.toml", environments),
        ("env/prod.tfvars", "seconds = 300\n"),
    ];
    let outcome = run(&files, Options::default());
    assert_eq!(
        formatted_findings(&outcome),
        [format!("warning {SHORT} when the environment is `prod`")]
    );
    let both = [files[0], files[1], files[2], ("terraform.tfvars", "seconds = 300\n")];
    assert_eq!(
        formatted_findings(&run(&both, Options::default())),
        [format!("warning {SHORT}")]
    );
}

#[test]
fn missing_variable_file_is_an_error() {
    let text = "[[environment]]\nname = \"prod\"\nvar-files = [\"missing.tfvars\"]\n";
    let outcome = run(&[("main.tf", STACK), ("sqslint.toml", text)], Options::default());
    assert!(
        outcome.errors.iter().any(|error| error.contains("missing.tfvars")),
        "{:?}",
        outcome.errors
    );
}

#[test]
fn settings_change_thresholds_severity_and_selection() {
    let short = STACK.replace("default = 600", "default = 500");
    let with =
        |text: &str| formatted_findings(&run(&[("main.tf", &short), ("sqslint.toml", text)], Options::default()));
    let rule = "[rules.visibility-timeout-too-short]\n";
    assert_eq!(with(""), [format!("warning {SHORT}")]);
    assert_eq!(with(&format!("{rule}factor = 5")), [""; 0]);
    assert_eq!(with(&format!("{rule}severity = \"error\"")), [format!("error {SHORT}")]);
    assert_eq!(with("ignore = [\"visibility\"]"), [""; 0]);
    assert_eq!(with("select = [\"redrive\"]"), [""; 0]);
    assert_eq!(
        with("[[override]]\npaths = [\"*.tf\"]\nignore = [\"visibility\"]"),
        [""; 0]
    );
    assert_eq!(
        with("[[override]]\nresources = [\"aws_sqs_queue.o*\"]\nignore = [\"visibility\"]"),
        [""; 0]
    );
}

#[test]
fn nearest_configuration_applies_to_each_unit() {
    let short = STACK.replace("default = 600", "default = 300");
    let files = [
        ("a/main.tf", short.as_str()),
        ("a/sqslint.toml", "ignore = [\"visibility\"]"),
        ("b/main.tf", &short),
        ("b/sqslint.toml", "fail-level = \"error\""),
    ];
    let outcome = run(&files, Options::default());
    assert_eq!(formatted_findings(&outcome), [format!("warning {SHORT}")]);
    assert!(!outcome.fails(), "`fail-level` of its file is higher");
    let fails = Options {
        fail_level: Some(config::FailLevel::At(Severity::Warning)),
        ..Options::default()
    };
    assert!(run(&files, fails).fails(), "the command line wins");
}

#[test]
fn excluded_files_are_skipped_unless_named() {
    let short = STACK.replace("default = 600", "default = 300");
    let directory = TemporaryDirectory::with_files([
        (".git/HEAD", ""),
        ("examples/main.tf", short.as_str()),
        ("sqslint.toml", "exclude = [\"examples/\"]"),
    ]);
    let run = |path: &str, force_exclude| {
        let outcome = sqslint::check(&Options {
            paths: vec![directory.path().join(path)],
            force_exclude,
            ..Options::default()
        });
        outcome.findings.len()
    };
    assert_eq!(run(".", false), 0);
    assert_eq!(run("examples", false), 1);
    assert_eq!(run("examples/main.tf", false), 1);
    assert_eq!(run("examples", true), 0);
}

#[test]
fn invalid_configuration_stops_the_run() {
    let outcome = run(
        &[("main.tf", STACK), ("sqslint.toml", "ignroe = []")],
        Options::default(),
    );
    assert!(outcome.findings.is_empty());
    let said = outcome.errors.join("\n");
    assert!(said.contains("unknown key `ignroe`; did you mean `ignore`?"), "{said}");
}
