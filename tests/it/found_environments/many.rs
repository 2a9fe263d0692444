//! Many environments: which units they concern, and their maximum number.

use super::{MAIN, check, found, selecting};
use crate::inputs::check_files;
use sqslint::testing::{TemporaryDirectory, describe};
use sqslint::{Options, Outcome};

/// Checks a root whose variable files name `count` environments, of which only `defect` has a defect.
fn check_many(count: usize, defect: &str) -> Outcome {
    let names = (1..count).map(|at| format!("env/a{at:04}.tfvars"));
    let files = names.map(|name| (name, "timeout = 5\n".to_owned()));
    let defect = (format!("env/{defect}.tfvars"), "timeout = 300\n".to_owned());
    let files: Vec<_> = files.chain([defect, ("main.tf".to_owned(), MAIN.to_owned())]).collect();
    check_files(files.iter().map(|(path, text)| (&**path, &**text)))
}

/// Returns the headlines of findings on environments that were not judged, without the path of the root.
fn unjudged(outcome: &Outcome) -> Vec<String> {
    let limits = outcome.findings.iter().filter(|found| found.rule == "limit-reached");
    limits
        .map(|found| found.headline.replace(&found.subject.unit, "."))
        .collect()
}

#[test]
fn equally_named_files_that_set_the_same_variables_are_separate_environments() {
    let region = |name: &str, text: &str| (format!("env/{name}.tfvars"), text.to_owned());
    let judged = |files: &[(String, String)]| {
        let files = files.iter().map(|(path, text)| (&**path, &**text));
        found(&check_files(files.chain([("main.tf", MAIN)])))
    };
    let files = [region("eu/prod", "timeout = 300\n"), region("us/prod", "timeout = 6\n")];
    assert_eq!(judged(&files), ["the environment is `env/eu/prod`"]);
    let files = [
        region("eu/prod/terraform", "timeout = 6\n"),
        region("us/prod/terraform", "timeout = 300\n"),
    ];
    assert_eq!(judged(&files), ["the environment is `env/us/prod`"]);
    // Files that set different variables are parts of one environment.
    let files = [
        region("functions/prod", "timeout = 300\n"),
        region("tags/prod", "stage = \"x\"\n"),
    ];
    assert_eq!(judged(&files), ["the environment is `prod`"]);
}

#[test]
fn all_environments_up_to_the_bound_are_judged() {
    for count in [12, 13, 40, 200] {
        let outcome = check_many(count, "prod");
        assert_eq!(found(&outcome), ["the environment is `prod`"], "{count}");
        assert_eq!(unjudged(&outcome), [""; 0], "{count}");
    }
}

#[test]
fn environments_beyond_the_bound_are_reported() {
    for defect in ["prod", "shop-production", "live", "PRD-eu"] {
        let outcome = check_many(201, defect);
        assert_eq!(found(&outcome), [format!("the environment is `{defect}`")], "{defect}");
        assert_eq!(unjudged(&outcome), ["1 environment of `.` was not judged: `a0200`"]);
        assert!(outcome.fails());
    }
    // Staging is next, and other names are last.
    for (defect, finds) in [("staging", true), ("zz", false)] {
        let outcome = check_many(201, defect);
        assert_eq!(found(&outcome).len(), usize::from(finds), "{defect}");
        assert_eq!(unjudged(&outcome).len(), 1, "{defect}");
    }
    let outcome = check_many(300, "zz");
    let headline = &unjudged(&outcome)[0];
    assert!(
        headline.starts_with("100 environments of `.` were not judged: `a0201`, `a0202`"),
        "{headline}"
    );
    assert!(headline.ends_with("`a0250` and 50 more"), "{headline}");
}

#[test]
fn all_written_values_up_to_the_bound_are_judged() {
    for count in [12, 13, 40] {
        let rows: Vec<String> = (1..count).map(|at| format!("a{at} = 5")).collect();
        let main = selecting(
            &format!("lookup({{ {}, prod = 300 }}, var.stage, 5)", rows.join(", ")),
            "",
        );
        assert_eq!(check(&[("main.tf", &main)]), ["the environment is `prod`"], "{count}");
        let allowed: Vec<String> = (1..count).map(|at| format!("\"a{at}\"")).collect();
        let validation = format!(
            "validation {{\n condition = contains([{}, \"prod\"], var.stage)\n error_message = \"x\"\n}}",
            allowed.join(", ")
        );
        let main = selecting("startswith(var.stage, \"a\") || var.stage == \"dev\" ? 5 : 300", "").replace(
            "{ default = \"dev\" }",
            &format!("{{\ndefault = \"dev\"\n{validation}\n}}"),
        );
        assert_eq!(
            check(&[("main.tf", &main)]),
            ["the environment is `prod`"],
            "{count}: {main}"
        );
    }
    let rows: Vec<String> = (0..201).map(|at| format!("a{at:03} = 5")).collect();
    let main = selecting(&format!("lookup({{ {} }}, var.stage, 5)", rows.join(", ")), "");
    let outcome = check_files([("main.tf", &*main)]);
    assert_eq!(unjudged(&outcome), ["1 environment of `.` was not judged: `a200`"]);
}

#[test]
fn environments_judge_the_units_that_they_concern_and_those_linked_to_them() {
    let main = r#"
variable "stage" { default = "dev" }
resource "aws_sqs_queue" "orders" {
  name                       = "orders-${var.stage}"
  visibility_timeout_seconds = 30
}
"#;
    let template = |queue: &str| {
        format!(
            "Resources:\n  F: {{Type: AWS::Lambda::Function, Properties: {{Timeout: 60}}}}\n  M:\n    \
             Type: AWS::Lambda::EventSourceMapping\n    Properties:\n      FunctionName: !Ref F\n      \
             EventSourceArn: arn:aws:sqs:eu-west-1:111122223333:{queue}\n"
        )
    };
    for count in [12, 13, 40] {
        let names = (1..count).map(|at| format!("a{at:04}")).chain(["prod".to_owned()]);
        let mut files: Vec<(String, String)> = names
            .map(|name| (format!("infra/env/{name}.tfvars"), format!("stage = \"{name}\"\n")))
            .collect();
        files.push(("infra/main.tf".to_owned(), main.to_owned()));
        files.push(("worker/template.yaml".to_owned(), template("orders-prod")));
        files.extend((0..9).map(|at| (format!("other{at}/template.yaml"), template(&format!("other-{at}")))));
        let directory = TemporaryDirectory::with_files(files.iter().map(|(path, text)| (&**path, &**text)));
        // A traced run loads all units in every environment.
        let [outcome, whole] = [false, true].map(|trace| {
            sqslint::check(&Options {
                paths: vec![directory.path().to_owned()],
                trace,
                ..Options::default()
            })
        });
        assert_eq!(found(&outcome), ["the environment is `prod`"], "{count}");
        assert_eq!(describe(&outcome), describe(&whole), "{count}");
    }
}

#[test]
fn grant_of_another_unit_to_an_unresolved_role_counts_in_every_environment() {
    let main = r#"
variable "timeout" { default = 5 }
resource "aws_sqs_queue" "orders" { visibility_timeout_seconds = 1800 }
resource "aws_iam_role" "worker" { assume_role_policy = "{}" }
resource "aws_lambda_function" "worker" {
  timeout = var.timeout
  role    = aws_iam_role.worker.arn
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;
    let grant = r#"
variable "role" {}
resource "aws_iam_role_policy" "consumers" {
  role   = var.role
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:*", Resource = "*" }] })
}
"#;
    let missing = |files: &[(&str, &str)]| {
        let findings = check_files(files.iter().copied()).findings.into_iter();
        findings
            .filter(|found| found.rule == "function-role-missing-queue-permission")
            .count()
    };
    let files = [
        ("infra/main.tf", main),
        ("infra/env/prod.tfvars", "timeout = 6\n"),
        ("shared/main.tf", grant),
    ];
    assert_eq!((missing(&files[..2]), missing(&files)), (1, 0));
}
