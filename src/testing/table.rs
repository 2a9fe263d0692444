//! Tables of test cases, one per row.
//!
//! ```text
//! queue.visibility_timeout | function.timeout | finding
//! 60                       | 60               |
//! // One second less.
//! 59                       | 60               | error queue.visibility_timeout
//! open                     | 60               | unjudged
//! ```
//!
//! An empty cell sets nothing; `\n` in a cell is a line break. The columns in [`Outcomes`] hold the expected result,
//! all others the input.

use super::{describe, marked, run_files};
use crate::Outcome;
use crate::diagnostic::{Diagnostic, Severity};
use crate::rules::Rule;
use std::path::Path;

/// Row of a table.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Heading and text of each cell of the input.
    pub(super) cells: Vec<(String, String)>,
    /// Expected result.
    outcomes: Outcomes,
    /// The row as written, for messages.
    text: String,
}

/// Expected result of a case.
#[derive(Debug, Default)]
struct Outcomes {
    /// Column `finding`: empty for no finding; `unjudged` for no finding but one resource that is not judged; the
    /// number of findings; or for each finding, separated by commas, its severity, the place of its primary label, or
    /// both.
    finding: String,
    /// Column `unjudged`: the number of resources that are not judged.
    unjudged: String,
    /// Column `reason`: why the first of them is not judged.
    reason: String,
    /// Column `headline`: the first finding's headline, where `…` stands for any text.
    headline: String,
    /// Column `label`: one of its labels, likewise.
    label: String,
    /// Column `help`: its help, likewise.
    help: String,
    /// Column `fix`: the title of its fix, likewise; `none` without one.
    fix: String,
    /// Column `calculation`: its calculation.
    calculation: String,
    /// Column `when`: its condition.
    when: String,
}

/// Returns the rows of a table.
///
/// # Panics
/// If a row has another number of cells than the heading.
pub(super) fn rows(table: &str) -> Vec<Row> {
    let lines = table.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    let headings = cells(lines.next().expect("a table has a heading"));
    let row = |line: &str| {
        let cells = cells(line);
        assert_eq!(cells.len(), headings.len(), "a cell for each heading: {line}");
        let mut row = Row {
            text: line.to_owned(),
            ..Row::default()
        };
        for (heading, cell) in headings.iter().zip(cells) {
            match row.outcomes.column(heading) {
                Some(column) => *column = cell,
                None => row.cells.push((heading.clone(), cell)),
            }
        }
        row
    };
    let rows: Vec<Row> = lines.map(row).collect();
    assert!(!rows.is_empty(), "a table has rows");
    rows
}

fn cells(line: &str) -> Vec<String> {
    let padded = format!(" {line} ");
    let cells = padded.split(" | ");
    cells.map(|cell| cell.trim().replace("\\n", "\n")).collect()
}

impl Outcomes {
    fn column(&mut self, heading: &str) -> Option<&mut String> {
        Some(match heading {
            "finding" => &mut self.finding,
            "unjudged" => &mut self.unjudged,
            "reason" => &mut self.reason,
            "headline" => &mut self.headline,
            "label" => &mut self.label,
            "help" => &mut self.help,
            "fix" => &mut self.fix,
            "calculation" => &mut self.calculation,
            "when" => &mut self.when,
            _ => return None,
        })
    }

    /// Returns the severity and the place of each expected finding, or `None` if only their number matters.
    fn findings(&self) -> Option<Vec<(Option<Severity>, &str)>> {
        let texts = self.finding.split(',').map(str::trim);
        let texts = texts.filter(|text| !text.is_empty() && *text != "unjudged");
        let is_count = self.finding.parse::<usize>().is_ok();
        let findings = texts.map(|text| {
            let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
            match severity(first) {
                Some(severity) => (Some(severity), rest.trim()),
                None => (None, text),
            }
        });
        (!is_count).then(|| findings.collect())
    }
}

fn severity(text: &str) -> Option<Severity> {
    [Severity::Error, Severity::Warning, Severity::Info]
        .into_iter()
        .find(|severity| severity.to_string() == text)
}

impl Row {
    /// Returns the places at which findings are expected.
    pub(super) fn places(&self) -> Vec<&str> {
        let findings = self.outcomes.findings().unwrap_or_default();
        findings
            .into_iter()
            .map(|(_, place)| place)
            .filter(|place| !place.is_empty())
            .collect()
    }

    /// Asserts that `rule` has the expected result for `files`, which contain a marker for each of the places.
    pub(super) fn check(&self, rule: &Rule, files: &[(&str, &str)]) {
        let expected = self.outcomes.findings();
        let has_places = expected.iter().flatten().all(|(_, place)| !place.is_empty());
        let outcome = match &expected {
            Some(_) if has_places => marked(rule, files, &self.text),
            _ => run_files(rule, files),
        };
        let message = || format!("{}\n{files:#?}\n{}", self.text, describe(&outcome));
        assert!(outcome.errors.is_empty(), "{:?}\n{}", outcome.errors, message());
        let is_own = |found: &Diagnostic| found.rule == rule.id;
        assert!(outcome.findings.iter().all(is_own), "{}", message());
        assert!(outcome.unmatched.is_empty(), "{:?}\n{}", outcome.unmatched, message());
        let severities: Vec<Severity> = outcome.findings.iter().map(|found| found.severity).collect();
        match expected {
            None => assert_eq!(severities.len().to_string(), self.outcomes.finding, "{}", message()),
            Some(expected) => {
                assert_eq!(severities.len(), expected.len(), "{}", message());
                let all_match = expected
                    .iter()
                    .all(|(severity, _)| severity.is_none_or(|severity| severities.contains(&severity)));
                assert!(all_match, "{}", message());
            }
        }
        let unjudged = match &*self.outcomes.finding {
            "unjudged" => "1",
            _ => &self.outcomes.unjudged,
        };
        if !unjudged.is_empty() {
            assert_eq!(outcome.not_evaluated.len().to_string(), unjudged, "{}", message());
        }
        self.check_texts(&outcome, &message());
    }

    fn check_texts(&self, outcome: &Outcome, message: &str) {
        let wanted = &self.outcomes;
        if !wanted.reason.is_empty() {
            let reason = outcome.not_evaluated.first().map(|open| &*open.reason);
            assert_eq!(reason, Some(&*wanted.reason), "{message}");
        }
        let first = outcome.findings.first();
        let text = |of: fn(&Diagnostic) -> Option<&str>| first.and_then(of).unwrap_or_default();
        assert!(
            matches(&wanted.headline, text(|found| Some(&*found.headline))),
            "headline: {message}"
        );
        assert!(
            matches(&wanted.help, text(|found| found.help.as_deref())),
            "help: {message}"
        );
        let fix = text(|found| Some(found.fix.as_ref().map_or("none", |fix| &fix.title)));
        assert!(matches(&wanted.fix, fix), "fix: {message}");
        let mut labels = first.iter().flat_map(|found| found.labels());
        let has_label = wanted.label.is_empty() || labels.any(|label| matches(&wanted.label, &label.message));
        assert!(has_label, "label: {message}");
        if !wanted.calculation.is_empty() {
            let calculation = text(|found| found.calculation.as_deref());
            assert_eq!(calculation, wanted.calculation, "{message}");
        }
        if !wanted.when.is_empty() {
            assert_eq!(text(|found| found.when.as_deref()), wanted.when, "{message}");
        }
    }
}

/// Returns `true` if `text` equals `pattern`, in which each `…` stands for any text. An empty pattern matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('…');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty() || pattern.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    false
}

/// Checks `rule` on files for each row of `table`: their text with each `<heading>` replaced by its cell. The place of a
/// finding is a heading: the first line of its cell.
///
/// # Panics
/// If the findings are not those that the table expects.
pub fn check_file_cases(rule: &Rule, files: &[(&str, &str)], table: &str) {
    for row in rows(table) {
        let texts = files.iter().map(|(name, text)| filled(rule, name, text, &row, table));
        let texts: Vec<String> = texts.collect();
        let names = files.iter().map(|(name, _)| *name);
        let files: Vec<(&str, &str)> = names.zip(texts.iter().map(String::as_str)).collect();
        row.check(rule, &files);
    }
}

/// Replaces the holes in the text of the file `name`, and adds markers to the lines of those at which `row` expects a
/// finding.
fn filled(rule: &Rule, name: &str, text: &str, row: &Row, table: &str) -> String {
    let is_script = Path::new(name).extension().is_some_and(|ending| ending == "ts");
    let comment = if is_script { " // # expect: " } else { " # expect: " };
    let heading = table.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let places = row.places();
    let mut lines = String::new();
    for line in text.lines() {
        let mut filled = line.to_owned();
        let mut is_marked = false;
        for heading in cells(heading.trim()) {
            let hole = format!("<{heading}>");
            if filled.contains(&hole) {
                is_marked |= places.contains(&&*heading);
                let cell = row.cells.iter().find(|(of, _)| *of == heading);
                filled = filled.replace(&hole, cell.map_or("", |(_, cell)| cell));
            }
        }
        let (first, rest) = filled.split_once('\n').unwrap_or((&filled, ""));
        lines.push_str(first);
        if is_marked {
            lines.extend([comment, rule.id]);
        }
        lines.push('\n');
        if !rest.is_empty() {
            lines.extend([rest, "\n"]);
        }
    }
    lines
}
