//! `sqslint.toml` at work: each unit judged by its own file, once for each environment.

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

/// Severity, rule, address and condition of each finding.
fn told(outcome: &Outcome) -> Vec<String> {
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
fn a_file_of_variables_is_no_mistake_where_an_environment_takes_it() {
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
    assert_eq!(told(&named("env/prod.tfvars")), [format!("warning {SHORT}")]);
    let other = named("env/other.tfvars").errors;
    assert_eq!(other.len(), 1, "{other:?}");
    assert!(other[0].contains("no Terraform file"), "{other:?}");
}

#[test]
fn a_finding_names_the_environments_that_have_it() {
    let environments =
        "[[environment]]\nname = \"dev\"\n[[environment]]\nname = \"prod\"\nvar-files = [\"env/prod.tfvars\"]\n";
    let files = [
        ("main.tf", STACK),
        ("sqslint.toml", environments),
        ("env/prod.tfvars", "seconds = 300\n"),
    ];
    let outcome = run(&files, Options::default());
    assert_eq!(
        told(&outcome),
        [format!("warning {SHORT} when the environment is `prod`")]
    );
    let both = [files[0], files[1], files[2], ("terraform.tfvars", "seconds = 300\n")];
    assert_eq!(told(&run(&both, Options::default())), [format!("warning {SHORT}")]);
}

#[test]
fn a_variable_file_that_is_missing_is_an_error() {
    let text = "[[environment]]\nname = \"prod\"\nvar-files = [\"missing.tfvars\"]\n";
    let outcome = run(&[("main.tf", STACK), ("sqslint.toml", text)], Options::default());
    assert!(
        outcome.errors.iter().any(|error| error.contains("missing.tfvars")),
        "{:?}",
        outcome.errors
    );
}

#[test]
fn settings_change_what_a_rule_asks_and_how_bad_it_is() {
    let short = STACK.replace("default = 600", "default = 500");
    let with = |text: &str| told(&run(&[("main.tf", &short), ("sqslint.toml", text)], Options::default()));
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
fn each_unit_has_the_nearest_file() {
    let short = STACK.replace("default = 600", "default = 300");
    let files = [
        ("a/main.tf", short.as_str()),
        ("a/sqslint.toml", "ignore = [\"visibility\"]"),
        ("b/main.tf", &short),
        ("b/sqslint.toml", "fail-level = \"error\""),
    ];
    let outcome = run(&files, Options::default());
    assert_eq!(told(&outcome), [format!("warning {SHORT}")]);
    assert!(!outcome.fails, "`fail-level` of its file is higher");
    let fails = Options {
        fail_level: Some(config::FailLevel::At(Severity::Warning)),
        ..Options::default()
    };
    assert!(run(&files, fails).fails, "the command line wins");
}

#[test]
fn what_is_excluded_is_passed_over_unless_it_is_named() {
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
fn a_configuration_that_cannot_be_used_stops_the_run() {
    let outcome = run(
        &[("main.tf", STACK), ("sqslint.toml", "ignroe = []")],
        Options::default(),
    );
    assert!(outcome.findings.is_empty());
    let said = outcome.errors.join("\n");
    assert!(said.contains("unknown key `ignroe`; did you mean `ignore`?"), "{said}");
}
