//! `JUnit` XML: a suite a file, a failed test a finding, a skipped one for what could not be judged or is suppressed.

use super::markup::escaped;
use super::place::Paths;
use super::suppressed::why;
use super::{Report, prose};
use crate::diagnostic::{Diagnostic, NotEvaluated, Subject, Suppressed};
use crate::source::Span;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The package of all suites.
const PACKAGE: &str = "sqslint";

/// A test case, not yet in words.
#[derive(Clone, Copy)]
enum Case<'a> {
    Found(&'a Diagnostic),
    Silenced(&'a Suppressed),
    Open(&'a NotEvaluated),
    /// An error that kept the run from its job.
    Error(&'a str),
    /// A suite without tests is no success, so that a run in which all is well is one.
    Passed,
}

/// The report as test suites.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let suites = suites(report);
    let all: Vec<Case<'_>> = suites.values().flatten().copied().collect();
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sqslint\" {}>",
        counts(&all)
    )?;
    for (name, cases) in &suites {
        let skipped = count(cases, |case| matches!(case, Case::Silenced(_) | Case::Open(_)));
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

/// The cases of each file, and of the run itself.
fn suites<'a>(report: &Report<'a>) -> BTreeMap<String, Vec<Case<'a>>> {
    let mut suites: BTreeMap<String, Vec<Case<'a>>> = BTreeMap::new();
    let mut add = |at: Span, case| {
        let name = report.sources.file(at.file).name().to_owned();
        suites.entry(name).or_default().push(case);
    };
    for found in report.findings {
        add(found.primary().span, Case::Found(found));
    }
    for one in report.silenced() {
        add(one.finding.primary().span, Case::Silenced(one));
    }
    for entry in report.not_evaluated {
        add(entry.span, Case::Open(entry));
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
        Case::Silenced(one) => {
            let (found, why) = (&one.finding, why(one, report.sources, Paths::Named));
            let message = format!("suppressed ({why}): {}", found.headline);
            (named(&found.rule, &found.subject), skipped(&message))
        }
        Case::Open(entry) => (named(&entry.rule, &entry.subject), skipped(&entry.reason)),
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
    prose::write(&mut body, report, found, Paths::Named);
    let lines: Vec<String> = body.lines().map(escaped).collect();
    format!(
        "<failure message=\"{}\" type=\"{}\">{}</failure>",
        escaped(&found.headline),
        found.severity,
        lines.join("\n")
    )
}
