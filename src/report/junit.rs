//! `JUnit` XML: a suite a file, a failed test a finding, a skipped one for what could not be judged or is suppressed.

use super::markup::escaped;
use super::suppressed::{Paths, why};
use super::{Report, prose};
use crate::diagnostic::Subject;
use crate::source::Span;
use std::collections::BTreeMap;

/// What the suites of files are packaged as.
const PACKAGE: &str = "sqslint";

#[derive(Default)]
struct Suite {
    cases: String,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

/// The report as test suites.
pub fn render(report: &Report<'_>) -> String {
    let suites = suites(report);
    let sum = |of: fn(&Suite) -> usize| suites.values().map(of).sum::<usize>();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sqslint\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
        sum(|suite| suite.tests),
        sum(|suite| suite.failures),
        sum(|suite| suite.errors),
    );
    for (name, suite) in &suites {
        text.push_str(&format!(
            "  <testsuite name=\"{}\" package=\"{PACKAGE}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
            escaped(name),
            suite.tests,
            suite.failures,
            suite.errors,
            suite.skipped,
            suite.cases,
        ));
    }
    text.push_str("</testsuites>\n");
    text
}

/// What belongs to each file, and to the run itself.
fn suites(report: &Report<'_>) -> BTreeMap<String, Suite> {
    let mut suites: BTreeMap<String, Suite> = BTreeMap::new();
    let mut add = |at: Span, rule: &str, subject: &Subject, content: &str| {
        let name = report.sources.file(at.file).name().to_owned();
        let case = format!(
            "    <testcase name=\"{} {}\" classname=\"{}\">\n      {content}\n    </testcase>\n",
            escaped(rule),
            escaped(&subject.address),
            escaped(&name),
        );
        let suite = suites.entry(name).or_default();
        suite.tests += 1;
        suite.cases.push_str(&case);
        if content.starts_with("<skipped") {
            suite.skipped += 1;
        } else {
            suite.failures += 1;
        }
    };
    for found in report.findings {
        let mut body = String::new();
        prose::write(&mut body, report, found);
        let lines: Vec<String> = body.lines().map(escaped).collect();
        let (message, kind) = (escaped(&found.headline), found.severity);
        let failure = format!(
            "<failure message=\"{message}\" type=\"{kind}\">{}</failure>",
            lines.join("\n")
        );
        add(found.primary().span, found.rule, &found.subject, &failure);
    }
    let skipped = |message: &str| format!("<skipped message=\"{}\"/>", escaped(message));
    for one in report.silenced() {
        let (found, why) = (&one.finding, why(one, report.sources, Paths::Named));
        let message = format!("suppressed ({why}): {}", found.headline);
        add(found.primary().span, found.rule, &found.subject, &skipped(&message));
    }
    for entry in report.not_evaluated {
        add(entry.span, entry.rule, &entry.subject, &skipped(&entry.reason));
    }
    if !report.errors.is_empty() || suites.is_empty() {
        suites.insert(PACKAGE.to_owned(), run(report.errors));
    }
    suites
}

/// The run itself: what kept it from its job, or, as a suite without tests is no success, that all is well.
fn run(errors: &[String]) -> Suite {
    let mut suite = Suite {
        tests: errors.len().max(1),
        errors: errors.len(),
        ..Suite::default()
    };
    for error in errors {
        suite.cases.push_str(&format!(
            "    <testcase name=\"run\" classname=\"{PACKAGE}\">\n      <error message=\"{}\" type=\"error\"/>\n    </testcase>\n",
            escaped(error)
        ));
    }
    if errors.is_empty() {
        let name = "No findings";
        suite.cases = format!("    <testcase name=\"{name}\" classname=\"{PACKAGE}\"/>\n");
    }
    suite
}
