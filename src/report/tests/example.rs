//! A report with every case that a format may encounter: a finding over two files with a fix, one with hostile text
//! everywhere, every kind of suppressed finding, an unjudged resource, and an error.
#![allow(clippy::unwrap_used)]

use crate::diagnostic::{
    Coverage, Diagnostic, Edit, Fix, Gap, NotEvaluated, Safety, Severity, Silencer, Step, Subject, Suppressed,
};
use crate::published::Published;
use crate::report::{Report, Units};
use source::{Sources, Span};
use std::path::Path;

pub(super) const REPOSITORY: &str = "https://example.org/sqslint";

pub(super) const PUBLISHED: Published<'static> = Published {
    homepage: "",
    repository: REPOSITORY,
};
/// Text that names and values may contain, and that no format may pass on unescaped.
pub(super) const HOSTILE: &str =
    "]]>\u{1b}[2J<script>alert('1')</script>::error::%0A\r\n\t`|@team 日本 \"&amp; [x](y) \u{202e}\u{fffe}";
pub(super) const TEXT: &str = "resource \"aws_sqs_queue\" \"ör\" {\r\n\tvisibility_timeout_seconds = \"]]><script>::error::\"\r\n}\r\n日本 = [\r\n  1,\r\n]\r\n";

pub(super) fn subject(address: &str) -> Subject {
    Subject {
        unit: "infra, <b>".to_owned(),
        address: address.to_owned(),
        attribute: "visibility_timeout",
    }
}

pub(super) fn find(sources: &Sources, path: &str, marked: &str) -> Span {
    let file = sources.add(Path::new(path), TEXT);
    let start = TEXT.find(marked).unwrap();
    Span::new(file, start..start + marked.len())
}

fn edit(sources: &Sources, path: &str, marked: &str, text: &str) -> Edit {
    Edit {
        span: find(sources, path, marked),
        text: text.to_owned(),
    }
}

/// Returns findings that are suppressed by a comment in another file, by one in the same file without a reason, by a
/// baseline, and by an earlier commit.
fn suppressed(sources: &Sources) -> Vec<Suppressed> {
    let main = "infra/main.tf";
    let of = |rule, by, reason: Option<&str>| Suppressed {
        finding: Diagnostic::new(
            rule,
            Severity::Warning,
            subject("aws_sqs_queue.silent"),
            "`aws_sqs_queue.silent` is left as it is",
            find(sources, main, "visibility_timeout_seconds"),
            "30 s",
        ),
        by,
        reason: reason.map(str::to_owned),
    };
    let there = Silencer::Suppression(find(sources, "infra/functions.tf", "resource"));
    let here = Silencer::Suppression(find(sources, main, "resource"));
    vec![
        of("visibility-timeout-zero", there, Some(HOSTILE)),
        of("redrive-policy-missing", here, None),
        of(
            "fifo-queue-false",
            Silencer::Baseline("infra/.sqslint-baseline.json".into()),
            Some("from before"),
        ),
        of("fifo-batching-window", Silencer::Since("origin/main".to_owned()), None),
    ]
}

/// Returns a plain finding over two files, one over several lines, and one with hostile text everywhere.
pub(super) fn findings(sources: &Sources) -> Vec<Diagnostic> {
    let main = "infra/main.tf";
    let plain = Diagnostic::new(
        "visibility-timeout-below-function-timeout",
        Severity::Error,
        subject("aws_sqs_queue.orders[\"a\"]"),
        "`aws_sqs_queue.orders[\"a\"]` has a visibility timeout of 30 s",
        find(sources, main, "visibility_timeout_seconds"),
        "30 s",
    )
    .label(find(sources, "infra/functions.tf", "[\r\n  1,\r\n]"), "[300] s")
    .calculation("6 × 300 s + 0 s = 1800 s")
    .help("set `visibility_timeout_seconds` to at least 1800");
    let lines = Diagnostic::new(
        "redrive-policy-missing",
        Severity::Warning,
        subject("aws_sqs_queue.日本"),
        "`aws_sqs_queue.日本` has no redrive policy",
        find(sources, main, "日本 = [\r\n  1,\r\n]"),
        "",
    )
    .when(Some("`var.a` is true".to_owned()));
    let hostile = Diagnostic::new(
        "queue-attribute-out-of-range",
        Severity::Info,
        subject(HOSTILE),
        HOSTILE,
        find(sources, "infra/a,b:c%]]>'<x>.tf", "\"]]><script>::error::\""),
        HOSTILE,
    )
    .label(find(sources, main, "}"), HOSTILE)
    .calculation(HOSTILE)
    .help(HOSTILE)
    .when(Some(HOSTILE.to_owned()));
    let mut fixable = plain.clone();
    fixable.fix = Some(Box::new(Fix {
        title: "set `visibility_timeout_seconds` to 1800".to_owned(),
        safety: Safety::Unsafe,
        edits: vec![
            edit(
                sources,
                main,
                "visibility_timeout_seconds",
                "visibility_timeout_seconds",
            ),
            edit(sources, main, "\"]]><script>::error::\"", "1800"),
        ],
    }));
    vec![hostile, fixable, plain, lines]
}

pub(super) fn with<T>(ask: impl Fn(&Report<'_>) -> T) -> T {
    let sources = Sources::default();
    let findings = findings(&sources);
    let not_evaluated = [NotEvaluated {
        rule: "visibility-timeout-too-short".into(),
        subject: subject(HOSTILE),
        reason: HOSTILE.to_owned(),
        cause: "input-without-value",
        span: find(&sources, "infra/main.tf", "resource"),
    }];
    let coverage = Coverage {
        queues: 2,
        mappings: 1,
        gaps: vec![Gap {
            subject: subject(HOSTILE),
            call: None,
            header: find(&sources, "infra/main.tf", "resource"),
            is_mapping: true,
            reason: HOSTILE.to_owned(),
            cause: "input-without-value",
            step: Some(Step::SetInput),
            span: find(&sources, "infra/main.tf", "resource"),
        }],
        unconsumed: Vec::new(),
        handlers: Vec::new(),
    };
    let suppressed = suppressed(&sources);
    ask(&Report {
        sources: &sources,
        findings: &findings,
        suppressed: &suppressed,
        show_suppressed: true,
        not_evaluated: &not_evaluated,
        coverage: &coverage,
        errors: &[HOSTILE.to_owned()],
        rules: crate::rules::Catalogue::BUILT_IN,
        units: &Units {
            modules: 1,
            ..Units::default()
        },
        review: None,
        published: PUBLISHED,
    })
}

/// Calls `ask` with a report without findings.
pub(super) fn without<T>(ask: impl Fn(&Report<'_>) -> T) -> T {
    ask(&Report {
        sources: &Sources::default(),
        findings: &[],
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
