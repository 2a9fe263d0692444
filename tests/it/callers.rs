//! Findings on modules and templates with several callers: the place that has to change, and which of them are one.

use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome, check};

const MODULE: &str = r#"
variable "name" {}
variable "visibility" { default = 30 }
variable "timeout" { default = 60 }
resource "aws_sqs_queue" "q" {
  name                       = var.name
  visibility_timeout_seconds = var.visibility
}
resource "aws_lambda_function" "f" {
  function_name = var.name
  timeout       = var.timeout
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
"#;

fn root(arguments: &str) -> String {
    format!("module \"orders\" {{\n  source = \"../orders\"\n  name = \"orders\"\n{arguments}\n}}\n")
}

fn checked(folder: &TemporaryDirectory) -> Outcome {
    let outcome = check(&Options {
        paths: vec![folder.path().to_owned()],
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    outcome
}

/// Returns a line for each finding on the visibility timeout: its place and its instances.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let folder = TemporaryDirectory::with_files(files.iter().copied());
    let outcome = checked(&folder);
    let found = outcome.findings.iter();
    let found = found.filter(|found| found.rule.starts_with("visibility-timeout-below"));
    // The folder as sqslint shows it depends on the working directory.
    let base = outcome.sources.name_of(folder.path()) + "/";
    found
        .map(|found| {
            let span = found.primary().span;
            let (file, at) = (outcome.sources.file(span.file), outcome.sources.start(span));
            let path = file
                .path()
                .strip_prefix(folder.path())
                .expect("the file is in the folder");
            let calls = found.instances(|name| name.replace(&base, ""));
            format!("{}:{} {}", path.display(), at.line, calls.join(", "))
        })
        .collect()
}

#[test]
fn argument_of_each_root_is_the_place_of_its_finding() {
    let all = |prod: &str, stage: &str| {
        let (prod, stage) = (root(prod), root(stage));
        found(&[
            ("orders/main.tf", MODULE),
            ("prod/main.tf", &prod),
            ("stage/main.tf", &stage),
        ])
    };
    let in_module = "orders/main.tf:7 module.orders.aws_sqs_queue.q in prod, module.orders.aws_sqs_queue.q in stage";
    for (prod, stage, expected) in [
        // Two roots pass a value: two arguments have to change.
        (
            "  visibility = 30",
            "  visibility = 30",
            vec!["prod/main.tf:4 ", "stage/main.tf:4 "],
        ),
        (
            "  visibility = 30",
            "  visibility = 40",
            vec!["prod/main.tf:4 ", "stage/main.tf:4 "],
        ),
        ("  visibility = 30", "  visibility = 360", vec!["prod/main.tf:4 "]),
        // The module's own default has to change, once.
        ("", "", vec![in_module]),
        ("  visibility = 360", "", vec!["orders/main.tf:7 "]),
        // A call computes the value.
        (
            "  visibility = max(30, 20)",
            "  visibility = 360",
            vec!["orders/main.tf:7 "],
        ),
    ] {
        assert_eq!(all(prod, stage), expected, "{prod:?} {stage:?}");
    }
}

#[test]
fn finding_in_a_shared_module_names_its_root() {
    let roots = |prod: &str, stage: &str| {
        let (prod, stage) = (root(prod), root(stage));
        let files = [
            (".git/HEAD", ""),
            ("orders/main.tf", MODULE),
            ("prod/main.tf", &prod),
            ("stage/main.tf", &stage),
        ];
        let outcome = checked(&TemporaryDirectory::with_files(files));
        let found = outcome.findings.iter();
        let found = found.filter(|found| found.rule.starts_with("visibility-timeout-below"));
        found.map(|found| found.root().map(str::to_owned)).collect::<Vec<_>>()
    };
    // No line of `stage` is a label, and `prod` has no such finding.
    assert_eq!(roots("  visibility = 360", ""), [Some("stage".to_owned())]);
    // The argument is a label.
    assert_eq!(roots("  visibility = 360", "  visibility = 40"), [None]);
    // The instances name their roots.
    assert_eq!(roots("", ""), [None]);
}

#[test]
fn argument_that_sets_two_numbers_is_not_the_place() {
    let module = MODULE.replace("var.timeout", "var.visibility + 1");
    let prod = root("  visibility = 30");
    assert_eq!(
        found(&[("orders/main.tf", &module), ("prod/main.tf", &prod)]),
        ["orders/main.tf:7 "]
    );
}

#[test]
fn argument_that_the_module_changes_is_not_the_place() {
    let module = MODULE.replace("= var.visibility", "= var.visibility - 20");
    let prod = root("  visibility = 70");
    let all = found(&[("orders/main.tf", &module), ("prod/main.tf", &prod)]);
    assert_eq!(all, ["orders/main.tf:7 "]);
}

#[test]
fn suppression_covers_the_argument_and_the_line_of_the_module() {
    let comment = "  # sqslint: ignore[visibility-timeout-below-function-timeout] measured\n  visibility";
    let (prod, marked) = (root("  visibility = 30"), root(&format!("{comment} = 30")));
    assert_eq!(
        found(&[("orders/main.tf", MODULE), ("prod/main.tf", &marked)]),
        Vec::<String>::new()
    );
    let module = MODULE.replace("  visibility_timeout", &format!("{comment}_timeout"));
    assert_eq!(
        found(&[("orders/main.tf", &module), ("prod/main.tf", &prod)]),
        Vec::<String>::new()
    );
}

#[test]
fn parameter_of_a_nested_stack_is_the_place_of_its_finding() {
    let child = "Parameters:\n  Timeout: {Type: Number}\nResources:\n  \
        Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: !Ref Timeout}}\n  \
        F: {Type: AWS::Lambda::Function, Properties: {Timeout: 60, Runtime: python3.12, Handler: a.b, Role: r, Code: {S3Bucket: b, S3Key: k}}}\n  \
        M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}\n";
    let parent = "Resources:\n  Inner:\n    Type: AWS::CloudFormation::Stack\n    Properties:\n      \
        TemplateURL: child.yaml\n      Parameters:\n        Timeout: 30\n";
    let all = found(&[("child.yaml", child), ("parent.yaml", parent)]);
    assert_eq!(all, ["parent.yaml:7 Inner.Q"]);
}

#[test]
fn findings_that_differ_in_keys_only_are_one() {
    const QUEUES: &str = r#"
resource "aws_sqs_queue" "dead" {
  for_each                  = toset(["orders", "refunds"])
  message_retention_seconds = 3600
}
resource "aws_sqs_queue" "q" {
  for_each       = toset(["orders", "refunds"])
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead[each.key].arn, maxReceiveCount = 5 })
}
"#;
    let folder = TemporaryDirectory::with_files([("main.tf", QUEUES)]);
    let outcome = checked(&folder);
    let found = outcome.findings.iter();
    let found = found.filter(|found| &*found.rule == "dead-letter-queue-retention-too-short");
    let instances: Vec<usize> = found.map(|found| found.instances(str::to_owned).len()).collect();
    assert_eq!(instances, [2]);
}
