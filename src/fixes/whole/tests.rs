use super::*;
use crate::diagnostic::{Edit, Fix, Safety};
use source::{Sources, Span};
use std::path::Path;

const TEMPLATE: &str = "AWSTemplateFormatVersion: 2010-09-09
Resources:
  Queue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 30
  Other:
    Type: AWS::SQS::Queue
";
const MODULE: &str = "resource \"aws_sqs_queue\" \"q\" {
  visibility_timeout_seconds = 30
}
";

/// Returns the fault of the file `name` after replacing `from` by `to`.
fn fault_after(name: &str, text: &str, from: &str, to: &str) -> Option<String> {
    let sources = Sources::default();
    let file = sources.add(Path::new(name), text);
    let start = text.find(from).unwrap_or_default();
    let fix = Fix {
        title: String::new(),
        safety: Safety::Safe,
        edits: vec![Edit {
            span: Span::new(file, start..start + from.len()),
            text: to.to_owned(),
        }],
    };
    broken_file(&Texts::default().with([&fix].into_iter(), &sources))
}

#[test]
fn edits_of_values_keep_a_file_intact() {
    assert_eq!(fault_after("main.tf", MODULE, "30", "1800"), None);
    assert_eq!(fault_after("api/template.yaml", TEMPLATE, "30", "1800"), None);
    assert_eq!(
        fault_after("api/template.yaml", TEMPLATE, "      VisibilityTimeout: 30\n", ""),
        None
    );
}

#[test]
fn edits_that_break_a_file_are_detected() {
    let parse = "is broken afterwards: it can no longer be parsed";
    for (name, text, from, to, expected) in [
        ("main.tf", MODULE, "30\n}", "1800\n", parse),
        ("main.tf", MODULE, "30", "30 {", parse),
        ("t.yaml", TEMPLATE, "Timeout: 30", "Timeout: [30", parse),
        ("t.yaml", TEMPLATE, "Timeout: 30", "Timeout: 30\n   Delay: 1", parse),
        (
            "t.yaml",
            TEMPLATE,
            "  Other:\n    Type:",
            "    Other:\n      Type:",
            "is broken afterwards: `Resources.Other` is no longer declared",
        ),
    ] {
        let reported = fault_after(name, text, from, to);
        assert_eq!(reported, Some(format!("`{name}` {expected}")), "{from:?} to {to:?}");
    }
}

#[test]
fn edits_that_make_a_template_unrecognisable_are_detected() {
    let recognised = "is broken afterwards: it is no longer recognised as what it was";
    let text = TEMPLATE.replace("AWSTemplateFormatVersion: 2010-09-09\n", "");
    // Undetected, this edit would look like a fix, because the rule has no findings in such a file.
    assert_eq!(
        fault_after("t.yaml", &text, "Resources:", "resources:"),
        Some(format!("`t.yaml` {recognised}"))
    );
    let json = r#"{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}}"#;
    assert_eq!(
        fault_after("t.json", json, "\"Resources\"", "\"resources\""),
        Some(format!("`t.json` {recognised}"))
    );
    let service = "service: s\nfunctions:\n  f: {handler: a.b}\n";
    let broken = fault_after("serverless.yml", service, "service: s\nfunctions", "name: s\nfunction");
    assert_eq!(broken, Some(format!("`serverless.yml` {recognised}")));
}

#[test]
fn file_that_was_already_broken_may_stay_broken() {
    let text = format!("resource {{\n{MODULE}");
    assert_eq!(fault_after("main.tf", &text, "30", "1800"), None);
}
