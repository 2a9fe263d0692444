//! Tests that harmful fixes are reverted, whatever their rule.

use super::*;
use crate::diagnostic::Edit;
use crate::rules;
use crate::selection::Selection;
use crate::testing::TemporaryDirectory;
use source::Span;

const TEMPLATE: &str = "Resources:
  Queue:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 50000
";
const MODULE: &str = "variable \"wait\" {
  default = 50000
}
resource \"aws_sqs_queue\" \"q\" {
  count                      = var.wait > 0 ? 1 : 0
  visibility_timeout_seconds = var.wait
}
";

/// Applies fixes to a file with one finding, whose fix replaces `from` by `to`.
fn fixed(name: &str, text: &str, from: &str, to: &str) -> (Rounds, Outcome) {
    let directory = TemporaryDirectory::with_files([(name, text)]);
    let rule = rules::by_id("queue-attribute-out-of-range").expect("it is a rule");
    let options = Options {
        paths: vec![directory.path().to_owned()],
        selection: Selection::only(rule),
        ..Options::default()
    };
    let mut rounds = Rounds {
        roots: roots(&options),
        options,
        most: Safety::Unsafe,
        texts: Texts::default(),
        given_up: FxHashSet::default(),
        fixed: 0,
        made: Vec::new(),
        left: Vec::new(),
        broken: Vec::new(),
    };
    on_own_threads(|| {
        let mut outcome = check_here(&rounds.options);
        assert_eq!(outcome.findings.len(), 1, "{text}");
        let start = text.find(from).unwrap_or_default();
        for found in &mut outcome.findings {
            let file = found.primary().span.file;
            found.fix = Some(Box::new(Fix {
                title: "do harm".to_owned(),
                safety: Safety::Safe,
                edits: vec![Edit {
                    span: Span::new(file, start..start + from.len()),
                    text: to.to_owned(),
                }],
            }));
        }
        let outcome = rounds.run(outcome);
        (rounds, outcome)
    })
}

#[test]
fn fixes_that_hide_their_finding_are_reverted() {
    for (name, text, from, to, why) in [
        ("template.yaml", TEMPLATE, "50000", "[30", "can no longer be parsed"),
        (
            "template.yaml",
            TEMPLATE,
            "Resources:",
            "Other:",
            "is no longer recognised",
        ),
        (
            "template.yaml",
            TEMPLATE,
            "  Queue:",
            "  Renamed:",
            "`Resources.Queue` is no longer declared",
        ),
        (
            "template.yaml",
            TEMPLATE,
            "AWS::SQS::Queue",
            "AWS::SNS::Topic",
            "`Queue` of",
        ),
        ("main.tf", MODULE, "var.wait\n}", "30\n", "can no longer be parsed"),
        ("main.tf", MODULE, "50000", "0", "`aws_sqs_queue.q[0]` of"),
    ] {
        let (rounds, outcome) = fixed(name, text, from, to);
        assert_eq!((rounds.fixed, rounds.texts.changed().count()), (0, 0), "{to}");
        assert!(
            rounds.broken.iter().any(|stated| stated.contains(why)),
            "{to}: {:?}",
            rounds.broken
        );
        assert_eq!(outcome.findings.len(), 1, "the finding stays: {to}");
    }
}

#[test]
fn fixes_that_resolve_their_finding_are_kept() {
    let (rounds, _) = fixed("template.yaml", TEMPLATE, "50000", "30");
    assert_eq!(
        (rounds.fixed, rounds.texts.changed().count()),
        (1, 1),
        "{:?}",
        rounds.broken
    );
}
