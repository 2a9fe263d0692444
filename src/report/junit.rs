//! Writes `JUnit` XML: a suite per file, a failed test per finding, and a skipped test per queue or mapping that is
//! not judged, and per suppressed finding.

use super::markup::escaped;
use super::region::Paths;
use super::suppressed::why;
use super::{Report, prose};
use crate::diagnostic::{Diagnostic, Gap, Subject, Suppressed};
use source::Span;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Package of all suites.
const PACKAGE: &str = "sqslint";

/// Test case before formatting.
#[derive(Clone, Copy)]
enum Case<'a> {
    Found(&'a Diagnostic),
    Suppressed(&'a Suppressed),
    Unjudged(&'a Gap),
    /// An error that prevented a part of the run.
    Error(&'a str),
    /// A successful test for a run without findings, because tools treat a suite without tests as a failure.
    Passed,
}

/// Writes the report as test suites.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let suites = suites(report);
    let all: Vec<Case<'_>> = suites.values().flatten().copied().collect();
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sqslint\" {}>",
        counts(&all)
    )?;
    for (name, cases) in &suites {
        let skipped = count(cases, |case| matches!(case, Case::Suppressed(_) | Case::Unjudged(_)));
        let name = escaped(name);
        writeln!(
            out,
            "  <testsuite name=\"{name}\" package=\"{PACKAGE}\" {} skipped=\"{skipped}\">",
            counts(cases)
        )?;
        for case in cases {
            write_case(out, report, &name, *case)?;
        }
        out.write_all(b"  </testsuite>\n")?;
    }
    out.write_all(b"</testsuites>\n")
}

fn count(cases: &[Case<'_>], is: fn(&Case<'_>) -> bool) -> usize {
    cases.iter().filter(|case| is(case)).count()
}

fn counts(cases: &[Case<'_>]) -> String {
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        cases.len(),
        count(cases, |case| matches!(case, Case::Found(_))),
        count(cases, |case| matches!(case, Case::Error(_))),
    )
}

/// Returns the cases of each file, and of the run itself.
fn suites<'a>(report: &Report<'a>) -> BTreeMap<String, Vec<Case<'a>>> {
    let mut suites: BTreeMap<String, Vec<Case<'a>>> = BTreeMap::new();
    let mut add = |at: Span, case| {
        let name = report.sources.file(at.file).name().to_owned();
        suites.entry(name).or_default().push(case);
    };
    for found in report.findings {
        add(found.primary().span, Case::Found(found));
    }
    for one in report.shown_suppressed() {
        add(one.finding.primary().span, Case::Suppressed(one));
    }
    for gap in &report.coverage.gaps {
        add(gap.span, Case::Unjudged(gap));
    }
    if !report.errors.is_empty() {
        let errors = report.errors.iter().map(|error| Case::Error(error));
        suites.entry(PACKAGE.to_owned()).or_default().extend(errors);
    } else if suites.is_empty() {
        suites.insert(PACKAGE.to_owned(), vec![Case::Passed]);
    }
    suites
}

fn write_case(out: &mut dyn Write, report: &Report<'_>, suite: &str, case: Case<'_>) -> io::Result<()> {
    let skipped = |message: &str| format!("<skipped message=\"{}\"/>", escaped(message));
    let named = |rule: &str, subject: &Subject| format!("{} {}", escaped(rule), escaped(&subject.address));
    let (name, content) = match case {
        Case::Found(found) => (named(&found.rule, &found.subject), failure(report, found)),
        Case::Suppressed(one) => {
            let (found, why) = (&one.finding, why(one, report.sources, Paths::FromRepository));
            let message = format!("suppressed ({why}): {}", found.headline);
            (named(&found.rule, &found.subject), skipped(&message))
        }
        Case::Unjudged(gap) => (named("not judged", &gap.subject), skipped(&gap.reason)),
        Case::Error(error) => {
            let error = format!("<error message=\"{}\" type=\"error\"/>", escaped(error));
            ("run".to_owned(), error)
        }
        Case::Passed => return writeln!(out, "    <testcase name=\"No findings\" classname=\"{suite}\"/>"),
    };
    writeln!(
        out,
        "    <testcase name=\"{name}\" classname=\"{suite}\">\n      {content}\n    </testcase>"
    )
}

fn failure(report: &Report<'_>, found: &Diagnostic) -> String {
    let mut body = String::new();
    prose::write(&mut body, report, found, Paths::FromRepository);
    let lines: Vec<String> = body.lines().map(escaped).collect();
    format!(
        "<failure message=\"{}\" type=\"{}\">{}</failure>",
        escaped(&found.headline),
        found.severity,
        lines.join("\n")
    )
}
