//! What `sqslint explain` knows of a place; how it says it is in the transcripts.

use crate::inputs::{check_files, repository};
use sqslint::Options;
use sqslint::explain::{Asked, Conclusion, Explained, explain, look};
use sqslint::rules::{RULES, Verdict};
use sqslint::testing::TemporaryDirectory;
use std::path::Path;

fn at(path: &Path, line: usize, column: Option<usize>) -> Explained {
    let path = path.canonicalize().unwrap();
    let options = Options {
        paths: vec![path.clone()],
        ..Options::default()
    };
    let asked = Asked {
        file: &path,
        line,
        column,
    };
    explain(&options, asked)
}

fn addresses(explained: &Explained) -> Vec<String> {
    explained.told().into_iter().map(|told| told.address).collect()
}

const QUEUES: &str = r#"
resource "aws_sqs_queue" "orders" {
  # Slow work.
  visibility_timeout_seconds = 400

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 5
  })
}

resource "aws_sqs_queue" "dead" {
  message_retention_seconds = local.long
}

locals {
  # Two weeks.
  long = 1209600
}
"#;

#[test]
fn a_line_is_about_its_value_or_its_block() {
    let directory = TemporaryDirectory::with_files([("main.tf", QUEUES)]);
    let file = directory.path().join("main.tf");
    let orders = ["aws_sqs_queue.orders"];
    let dead = ["aws_sqs_queue.dead"];
    let cases: &[(usize, &[&str], usize)] = &[
        (1, &[], 0),
        (2, &orders, 9),
        (3, &orders, 9),
        (4, &orders, 1),
        (5, &orders, 9),
        (8, &orders, 1),
        (9, &orders, 9),
        (10, &orders, 9),
        (11, &[], 0),
        (13, &dead, 2),
        (16, &dead, 1),
        (17, &dead, 1),
        (18, &dead, 1),
        (20, &[], 0),
        (99, &[], 0),
    ];
    for (line, expected, lines) in cases {
        let explained = at(&file, *line, None);
        assert_eq!(addresses(&explained), *expected, "line {line}");
        let told: usize = explained.told().iter().map(|told| told.lines.len()).sum();
        assert_eq!(told, *lines, "line {line}: {:?}", explained.told());
    }
    let nearest = at(&file, 11, None);
    let nearest: Vec<&str> = nearest.nearest().iter().map(|(address, _)| &**address).collect();
    assert_eq!(nearest, ["aws_sqs_queue.orders", "aws_sqs_queue.dead"]);
}

#[test]
fn rules_come_in_the_order_of_the_catalogue_each_once() {
    let directory = TemporaryDirectory::with_files([("main.tf", QUEUES)]);
    let explained = at(&directory.path().join("main.tf"), 2, None);
    let places = |id: &str| RULES.iter().position(|rule| rule.id == id);
    let rules: Vec<_> = explained.conclusions().iter().map(|one| places(one.rule.id)).collect();
    assert!(rules.is_sorted_by(|one, next| one < next), "{rules:?}");
    assert!(rules.len() > 5);
}

#[test]
fn an_unsettled_value_tells_what_it_keeps_from_being_judged() {
    let text = r#"
variable "age" {}
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = 30
  message_retention_seconds  = var.age
}
resource "aws_lambda_function" "worker" { timeout = 5 }
resource "aws_lambda_event_source_mapping" "worker" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;
    let directory = TemporaryDirectory::with_files([("main.tf", text)]);
    let explained = at(&directory.path().join("main.tf"), 4, None);
    let conclusions = explained.conclusions();
    let of = |id: &str| conclusions.iter().find(|one| one.rule.id == id).unwrap();
    let [Conclusion::Judged(judged)] = of("visibility-timeout-exceeds-retention").all.as_slice() else {
        panic!("{conclusions:?}");
    };
    let Verdict::NotEvaluated { reason, .. } = &judged.verdict else {
        panic!("{judged:?}");
    };
    assert_eq!(reason, "`var.age` has no value");
}

/// Whatever is asked, there is an answer.
#[test]
fn every_place_can_be_asked_for() {
    let stacks = repository("fixtures/stacks/orders");
    for name in [
        "terraform/queues.tf",
        "sam/template.yaml",
        "cloudformation-json/template.json",
    ] {
        let file = stacks.join(name);
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        let mut explained = at(&file, 1, None);
        let file = file.canonicalize().unwrap();
        for line in 0..=lines + 1 {
            for column in [None, Some(0), Some(1), Some(7), Some(usize::MAX)] {
                let asked = Asked {
                    file: &file,
                    line,
                    column,
                };
                explained = look(explained.outcome, asked);
                assert_eq!(explained.lines(), Some(lines));
                let _ = (explained.told(), explained.conclusions());
            }
        }
    }
}

#[test]
fn what_is_known_is_no_cause_of_what_is_not() {
    const NAMES: &str = r#"
variable "project" {
  default = "orders"
}
variable "stage" {}
locals {
  prefix = "${var.project}-${var.stage}"
}
resource "aws_sqs_queue" "local" {
  name = "queue-${local.prefix}"
}
resource "aws_sqs_queue" "direct" {
  name = "${var.project}-${var.stage}"
}
"#;
    let outcome = check_files([("main.tf", NAMES)]);
    let open = outcome.not_evaluated.iter();
    let open = open.filter(|entry| entry.rule == "fifo-queue-name-suffix");
    let lines: Vec<(String, u32)> = open
        .map(|entry| {
            let start = outcome
                .sources
                .file(entry.span.file)
                .position(entry.span.start as usize);
            (entry.subject.address.clone(), start.line)
        })
        .collect();
    let expected = [("aws_sqs_queue.direct", 13), ("aws_sqs_queue.local", 7)];
    assert_eq!(lines, expected.map(|(address, line)| (address.to_owned(), line)));
}

#[test]
fn what_made_a_value_null_is_told() {
    let text = "variable \"redrives\" {\n  default = false\n}\nresource \"aws_sqs_queue\" \"orders\" {\n  redrive_policy = \
                var.redrives ? \"{}\" : null\n}\n";
    let directory = TemporaryDirectory::with_files([("main.tf", text)]);
    let explained = at(&directory.path().join("main.tf"), 5, None);
    let told = explained.told();
    let line = &told[0].lines[0];
    assert_eq!(line.text, "redrive_policy = none (the default, as null is written)");
    let origins: Vec<&str> = line.origins.iter().map(|(what, _)| &**what).collect();
    assert_eq!(
        origins,
        ["`var.redrives`, which is false", "the default of `var.redrives`"]
    );
}
