//! `JUnit` XML: a suite a file, a failed test a finding, a skipped one for what could not be judged.

use super::markup::escaped;
use super::{Report, prose};
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
    let mut suites: BTreeMap<String, Suite> = BTreeMap::new();
    for found in report.findings {
        let file = report.sources.file(found.primary().span.file);
        let suite = suites.entry(file.name().to_owned()).or_default();
        suite.tests += 1;
        suite.failures += 1;
        let mut body = String::new();
        prose::write(&mut body, report.sources, found);
        let lines: Vec<String> = body.lines().map(escaped).collect();
        suite.cases.push_str(&format!(
            "    <testcase name=\"{} {}\" classname=\"{}\">\n      <failure message=\"{}\" type=\"{}\">{}</failure>\n    </testcase>\n",
            escaped(found.rule),
            escaped(&found.subject.address),
            escaped(file.name()),
            escaped(&found.headline),
            found.severity,
            lines.join("\n"),
        ));
    }
    for entry in report.not_evaluated {
        let file = report.sources.file(entry.span.file);
        let suite = suites.entry(file.name().to_owned()).or_default();
        suite.tests += 1;
        suite.skipped += 1;
        suite.cases.push_str(&format!(
            "    <testcase name=\"{} {}\" classname=\"{}\">\n      <skipped message=\"{}\"/>\n    </testcase>\n",
            escaped(entry.rule),
            escaped(&entry.subject.address),
            escaped(file.name()),
            escaped(&entry.reason),
        ));
    }
    if !report.errors.is_empty() || suites.is_empty() {
        suites.insert(PACKAGE.to_owned(), run(report.errors));
    }
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
