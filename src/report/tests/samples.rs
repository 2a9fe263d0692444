//! Tests of the formats with artificial diagnostics.
#![allow(clippy::unwrap_used)]

use crate::diagnostic::{Coverage, Diagnostic, Edit, Fix, Gap, NotEvaluated, Safety, Severity, Step, Subject};
use crate::published::Published;
use crate::report::human::Style;
use crate::report::{Report, Units, concise, human, json, printable, summary};
use crate::testing::written;
use proptest::prelude::*;
use source::{Sources, Span};
use std::path::Path;

const QUEUES: &str = "resource \"aws_sqs_queue\" \"orders\" {\n  name                       = \"orders\"\n  visibility_timeout_seconds = 30\n}\n";
const FUNCTIONS: &str =
    "resource \"aws_lambda_function\" \"worker\" {\n  function_name = \"worker\"\n  timeout       = 300\n}\n";

const STYLE: Style = Style {
    width: 80,
    color: false,
    unicode: true,
    graphics: true,
    links: false,
    infos: true,
};

fn subject() -> Subject {
    Subject {
        unit: "infra".to_owned(),
        address: "aws_sqs_queue.orders".to_owned(),
        attribute: "visibility_timeout",
    }
}

fn span_of(sources: &Sources, path: &str, text: &str, marked: &str) -> Span {
    let file = sources.add(Path::new(path), text);
    let start = text.find(marked).unwrap();
    Span::new(file, start..start + marked.len())
}

/// Creates a finding whose label covers `marked` in `text`, the only file.
fn simple(sources: &Sources, text: &str, marked: &str) -> Diagnostic {
    let span = span_of(sources, "main.tf", text, marked);
    Diagnostic::new(
        "some-rule",
        Severity::Warning,
        subject(),
        "The headline",
        span,
        "the label",
    )
}

fn two_files(sources: &Sources) -> Diagnostic {
    let queue = span_of(sources, "infra/queues.tf", QUEUES, "visibility_timeout_seconds = 30");
    let function = span_of(sources, "infra/functions.tf", FUNCTIONS, "timeout       = 300");
    Diagnostic::new(
        "visibility-timeout-below-function-timeout",
        Severity::Error,
        subject(),
        "`aws_sqs_queue.orders` has a visibility timeout of 30 s, while `aws_lambda_function.worker` may work on it for 300 s",
        queue,
        "30 s",
    )
    .label(function, "300 s")
    .calculation("6 × 300 s + 0 s = 1800 s")
    .help("set `visibility_timeout_seconds` to at least 1800, so that a message stays hidden while it is worked on")
    .when(Some("`var.production` is true".to_owned()))
}

fn open(sources: &Sources, address: &str, rule: &'static str, reason: &str) -> NotEvaluated {
    NotEvaluated {
        rule: rule.into(),
        subject: Subject {
            address: address.to_owned(),
            ..subject()
        },
        reason: reason.to_owned(),
        cause: "input-without-value",
        span: span_of(sources, "infra/queues.tf", QUEUES, "name"),
    }
}

fn with<T>(sources: &Sources, findings: &[Diagnostic], ask: impl Fn(&Report<'_>) -> T) -> T {
    ask(&Report {
        sources,
        findings,
        suppressed: &[],
        show_suppressed: false,
        not_evaluated: &[],
        coverage: Coverage::EMPTY,
        errors: &[],
        rules: crate::rules::Catalogue::BUILT_IN,
        units: &Units::default(),
        review: None,
        published: Published::NOWHERE,
    })
}

fn drawn(sources: &Sources, found: Diagnostic, style: Style) -> String {
    with(sources, &[found], |report| {
        written(|out| human::write(report, style, out))
    })
}

#[test]
fn both_files_are_drawn() {
    let sources = Sources::default();
    insta::assert_snapshot!(drawn(&sources, two_files(&sources), STYLE));
}

#[test]
fn ascii_and_colour() {
    let sources = Sources::default();
    let style = Style {
        unicode: false,
        color: true,
        ..STYLE
    };
    let text = drawn(&sources, two_files(&sources), style);
    assert!(text.is_ascii(), "{text}");
    assert!(text.contains("38;5;196"), "{text}");
    assert!(text.contains("6 x 300 s"), "{text}");
}

#[test]
fn prose_without_graphics() {
    let sources = Sources::default();
    let style = Style {
        graphics: false,
        ..STYLE
    };
    insta::assert_snapshot!(drawn(&sources, two_files(&sources), style));
}

#[test]
fn summary_counts_resources_and_lists_most_frequent_causes() {
    let sources = Sources::default();
    let findings = [two_files(&sources)];
    let gap = |address: &str, is_mapping, reason: &str| Gap {
        subject: Subject {
            address: address.to_owned(),
            ..subject()
        },
        call: None,
        header: open(&sources, address, "r", reason).span,
        is_mapping,
        reason: reason.to_owned(),
        cause: "input-without-value",
        step: Some(Step::SetInput),
        span: open(&sources, address, "r", reason).span,
    };
    let coverage = Coverage {
        queues: 4,
        mappings: 1,
        gaps: vec![
            gap("a", false, "`var.rare` has no value"),
            gap("b", false, "`var.common` has no value"),
            gap("c", true, "`var.common` has no value"),
        ],
        unconsumed: Vec::new(),
        handlers: Vec::new(),
    };
    let not_evaluated = [
        open(&sources, "b", "r", "`var.name` has no value"),
        open(&sources, "b", "s", "`var.name` has no value"),
        open(
            &sources,
            "d",
            "parse-error",
            "the template of `d` is not read: there is no file `d.yml`",
        ),
    ];
    let units = Units {
        modules: 4,
        templates: 2,
        unread_modules: [("registry/a".to_owned(), 3), ("registry/b".to_owned(), 1)].into(),
        notes: vec!["api/serverless.yml: functions are not read".to_owned()],
        ..Units::default()
    };
    let report = Report {
        sources: &sources,
        findings: &findings,
        suppressed: &[],
        show_suppressed: false,
        not_evaluated: &not_evaluated,
        coverage: &coverage,
        errors: &[],
        rules: crate::rules::Catalogue::BUILT_IN,
        units: &units,
        review: None,
        published: Published::NOWHERE,
    };
    assert_eq!(
        summary::lines(&report).join("\n"),
        "sqslint: judged 2 of 4 queues and 0 of 1 mapping\n  \
         2 queues and 1 mapping: `var.common` has no value; `var.rare` has no value \
         (set it with `--var`, `--var-file` or `--parameters`)\n\
         sqslint: 4 calls of 2 remote modules are not read (run `terraform init`)\n\
         sqslint: infra: the template of `d` is not read: there is no file `d.yml`\n\
         sqslint: 1 error in 4 modules and 2 templates; api/serverless.yml: functions are not read"
    );
    let notes = ["a", "b", "c", "d", "e"].map(|unit| format!("{unit}: its module is not read"));
    let units = Units {
        modules: 4,
        notes: notes.to_vec(),
        ..Units::default()
    };
    let report = Report {
        units: &units,
        ..report
    };
    let last = summary::lines(&report).pop().expect("the run has a last line");
    assert!(last.ends_with("; c: its module is not read; and 2 more notes: `--verbose` lists all"));
    let mut all = Vec::new();
    summary::write_not_evaluated(&report, &mut all).expect("a vector accepts all");
    assert!(String::from_utf8_lossy(&all).starts_with("5 notes\n  a: its module is not read\n"));
}

#[test]
fn long_line_is_cut_around_its_labels() {
    let sources = Sources::default();
    let text = format!("{}\"Timeout\":300{}", "x".repeat(100_000), "y".repeat(100_000));
    let text = drawn(&sources, simple(&sources, &text, "\"Timeout\":300"), STYLE);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("x\"Timeout\":300y"), "{text}");
    assert!(text.contains("main.tf:1:100001"), "{text}");
}

/// Checks that the change of a fix is visible, regardless of its position on the line.
#[test]
fn lines_of_a_fix_are_cut_around_the_change() {
    for (before, behind) in [(0, 300), (30, 300), (300, 0), (300, 5), (300, 300), (60, 0)] {
        let sources = Sources::default();
        let text = format!("{}count = 3{}", "x".repeat(before), "y".repeat(behind));
        let mut found = simple(&sources, &text, "count");
        let span = span_of(&sources, "main.tf", &text, "3");
        found.fix = Some(Box::new(Fix {
            title: "set it to 5".to_owned(),
            safety: Safety::Unsafe,
            edits: vec![Edit {
                span,
                text: "5".to_owned(),
            }],
        }));
        let text = drawn(&sources, found, STYLE);
        let changed = |sign: &str, value: &str| {
            let has = |line: &str| line.contains(sign) && line.contains(&format!("count = {value}"));
            text.lines().filter(|line| has(line)).count()
        };
        assert_eq!((changed(" - ", "3"), changed(" + ", "5")), (1, 1), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn text_of_files_cannot_control_the_terminal() {
    let sources = Sources::default();
    let text = "a = \"\u{1b}[2J\u{202e}\u{9b}\r\u{7}b\"\r\n\tmarked\n";
    let mut found = simple(&sources, text, "marked").label(span_of(&sources, "main.tf", text, "\u{1b}"), "\u{1b}[1m");
    found.headline = "\u{1b}]8;;x\u{7}\nnext".to_owned();
    let text = drawn(&sources, found.clone(), STYLE);
    let obeyed = |c: char| c != '\n' && crate::report::printable::is_deceptive(c);
    assert!(!text.contains(obeyed), "{text:?}");
    let text = with(&sources, &[found], |report| {
        written(|out| concise::write(report, false, out))
    });
    assert_eq!(text.lines().count(), 1);
    assert!(!text.contains(obeyed), "{text:?}");
    assert_eq!(printable("a\u{1b}b"), "a\\u{1b}b");
}

#[test]
fn labels_at_the_ends_are_drawn() {
    for (text, range) in [
        ("", 0..0),
        ("a\n", 2..2),
        ("a", 1..1),
        ("a\nb", 1..1),
        ("a\r\nb", 0..99),
    ] {
        let sources = Sources::default();
        let file = sources.add(Path::new("main.tf"), text);
        let span = Span::new(file, range.clone());
        let found = Diagnostic::new("r", Severity::Info, subject(), "h", span, "the label");
        let shown = drawn(&sources, found, STYLE);
        assert!(shown.contains("the label"), "{text:?} {range:?}\n{shown}");
    }
}

proptest! {
    #[test]
    fn no_label_causes_a_panic(
        text in "[a-z ö\t\n\r\u{1b}日]{0,300}",
        ranges in prop::collection::vec((0usize..700, 0usize..700), 1..20),
        width in 0usize..200,
        graphics: bool,
    ) {
        let sources = Sources::default();
        let files = [sources.add(Path::new("a.tf"), text.as_str()), sources.add(Path::new("b.tf"), text.repeat(3))];
        let span = |at: usize, (start, end): (usize, usize)| Span::new(files[at % 2], start..end);
        let mut found = Diagnostic::new("r", Severity::Info, subject(), text.clone(), span(0, ranges[0]), "0");
        for (at, range) in ranges.iter().enumerate() {
            found = found.label(span(at, *range), format!("label {at}"));
        }
        let style = Style { width, graphics, ..STYLE };
        let shown = drawn(&sources, found.clone(), style);
        prop_assert!(!shown.contains('\u{1b}'), "an escape sequence is left");
        with(&sources, &[found], |report| {
            written(|out| json::write(report, out));
            written(|out| concise::write(report, false, out))
        });
    }
}
