//! Writes Markdown for a comment on a pull request and for the summary of a step: a table, and for each unit a
//! collapsible section with a flowchart.
//!
//! Text from the files cannot format the page, mention people, or refer to issues.

use super::graph::{Topology, drawing};
use super::region::Paths;
use super::suppressed::why;
use super::{Report, counted, printable, review, summary, timeline};
use crate::diagnostic::{Diagnostic, Harm};
use std::collections::BTreeMap;
use std::io;

/// Maximum number of rows in a table.
const MOST_ROWS: usize = 200;
/// Maximum size in bytes. A comment on GitHub may have 65,536 characters.
const MOST_BYTES: usize = 60_000;

/// Writes the comment.
pub fn write(report: &Report<'_>, drawings: &[Topology], out: &mut dyn io::Write) -> io::Result<()> {
    // Limited to the maximum size of a comment.
    out.write_all(comment(report, drawings).as_bytes())
}

fn comment(report: &Report<'_>, drawings: &[Topology]) -> String {
    if let Some(review) = &report.review {
        return review::markdown(report, review);
    }
    let mut text = summary(report);
    let mut units: BTreeMap<&str, Vec<&Diagnostic>> = BTreeMap::new();
    for found in report.findings {
        units.entry(&found.subject.unit).or_default().push(found);
    }
    for unit in drawings.iter().filter_map(|drawing| drawing.units.first()) {
        units.entry(unit).or_default();
    }
    let count = units.len();
    let silenced = silenced(report);
    for (at, (name, findings)) in units.into_iter().enumerate() {
        let charts = drawings
            .iter()
            .filter(|drawing| drawing.units.first().is_some_and(|first| first == name));
        let unit = unit(report, name, &findings, charts);
        if text.len() + unit.len() > MOST_BYTES - silenced.len() {
            text.push_str(&format!("\nLeft out for length: {}.\n", counted(count - at, "unit")));
            break;
        }
        text.push_str(&unit);
    }
    text + &silenced
}

/// Formats the suppressed findings to show as a collapsible table; empty without any.
pub(super) fn silenced(report: &Report<'_>) -> String {
    let all = report.shown_suppressed();
    if all.is_empty() {
        return String::new();
    }
    let title = counted(all.len(), "suppressed finding");
    let mut text = format!("\n<details><summary>{title}</summary>\n\n");
    text.push_str("| severity | rule | place | finding | suppressed |\n| --- | --- | --- | --- | --- |\n");
    let rows = all.iter().map(|one| {
        row(
            report,
            &one.finding,
            &[&why(one, report.sources, Paths::FromRepository)],
        )
    });
    add_rows(&mut text, rows, MOST_BYTES / 4);
    text + "\n</details>\n"
}

/// Adds rows of a table until `text` would exceed `most` bytes, and the number of those that are left out.
fn add_rows(text: &mut String, rows: impl ExactSizeIterator<Item = String>, most: usize) {
    let count = rows.len();
    let mut shown = 0;
    for row in rows.take(MOST_ROWS) {
        if text.len() + row.len() > most {
            break;
        }
        text.push_str(&row);
        shown += 1;
    }
    if shown < count {
        text.push_str(&format!("\nand {} more\n", count - shown));
    }
}

/// Formats a finding as a row of a table, with further cells.
fn row(report: &Report<'_>, found: &Diagnostic, further: &[&str]) -> String {
    let cells = [
        found.severity.to_string(),
        code(&found.rule),
        code(&place(report, found)),
        inline(&found.headline),
    ];
    let cells = cells.into_iter().chain(further.iter().map(|text| inline(text)));
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

/// Formats the heading, the errors and the table.
pub(super) fn summary(report: &Report<'_>) -> String {
    let mut text = format!("## sqslint\n\n{}\n", inline(&summary::found(report)));
    if let Some(judged) = summary::judged(report) {
        text.push_str(&format!("\n{}\n\n", inline(&judged)));
        for line in summary::unjudged(report) {
            text.push_str(&format!("- {}\n", inline(&line)));
        }
    }
    for line in summary::unread(report) {
        text.push_str(&format!("\n{}\n", inline(&line)));
    }
    if !report.errors.is_empty() {
        text.push('\n');
    }
    for error in report.errors {
        text.push_str(&format!("- error: {}\n", inline(error)));
    }
    if report.findings.is_empty() {
        return text;
    }
    text.push_str("\n| severity | rule | place | finding |\n| --- | --- | --- | --- |\n");
    let rows = report.by_severity().into_iter().map(|found| row(report, found, &[]));
    add_rows(&mut text, rows, MOST_BYTES / 2);
    text
}

fn unit<'a>(
    report: &Report<'_>,
    name: &str,
    findings: &[&Diagnostic],
    charts: impl Iterator<Item = &'a Topology>,
) -> String {
    let title = counted(findings.len(), "finding");
    let mut text = format!(
        "\n<details><summary>{} — {title}</summary>\n",
        super::markup::escaped(name)
    );
    for found in findings {
        text.push_str(&format!(
            "\n**{}** {} at {}\n\n{}\n",
            found.severity,
            code(&found.rule),
            code(&place(report, found)),
            inline(&found.headline)
        ));
        let notes = [
            ("calculation", found.calculation.as_deref()),
            ("harm", found.harm().map(Harm::name)),
            ("only if", found.when.as_deref()),
            ("note", found.remark),
            ("help", found.help.as_deref()),
        ];
        let mut list = String::new();
        if let Some(instances) = super::prose::instances(found) {
            list.push_str(&format!("- instances: {}\n", inline(&instances)));
        }
        list.extend(found.root().map(|root| format!("- root: {}\n", code(root))));
        for (name, note) in notes {
            list.extend(note.iter().map(|note| format!("- {name}: {}\n", inline(note))));
        }
        list.extend(super::prose::fix(found).map(|fix| format!("- fix: {}\n", inline(&fix))));
        for label in found.labels().iter().filter(|label| !label.primary) {
            let file = report.sources.file(label.span.file);
            let line = file.position(label.span.start as usize).line;
            let place = code(&format!("{}:{line}", file.name()));
            list.push_str(&format!("- see {place}: {}\n", inline(&label.message)));
        }
        if !list.is_empty() {
            text.push('\n');
            text.push_str(&list);
        }
        if let Some(timeline) = found.timeline() {
            text.push_str(&format!("\n```text\n{}```\n", timeline::in_lines(&timeline)));
        }
    }
    for chart in charts {
        text.push_str(&format!("\n```mermaid\n{}```\n", drawing::mermaid(chart)));
    }
    text.push_str("\n</details>\n");
    text
}

pub(super) fn place(report: &Report<'_>, found: &Diagnostic) -> String {
    let span = found.primary().span;
    let file = report.sources.file(span.file);
    format!("{}:{}", file.name(), file.position(span.start as usize).line)
}

/// Formats a sentence of sqslint, with text in backticks as code and everything else as plain text.
pub(super) fn inline(text: &str) -> String {
    let text = printable(text);
    let parts: Vec<&str> = text.split('`').collect();
    let is_balanced = parts.len() % 2 == 1;
    let is_empty_code = parts.iter().skip(1).step_by(2).any(|part| part.trim().is_empty());
    if !is_balanced || is_empty_code {
        return plain(&text);
    }
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { code(part) } else { plain(part) })
        .collect()
}

/// Formats `text` as code, inside or outside of a table.
pub(super) fn code(text: &str) -> String {
    let text = printable(text);
    if text.contains(['`', '|']) || text.trim().is_empty() {
        // A bar in backticks ends the cell in a table, but not in a paragraph.
        return format!("<code>{}</code>", plain(&text));
    }
    format!("`{text}`")
}

/// Escapes `text` so that nothing in it is Markdown.
fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // A comment between the sign and the name prevents mentions of people and references to issues.
            '@' | '#' => {
                safe.push(character);
                safe.push_str("<!-- -->");
            }
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '|' | '~' | '!' | '$' => {
                safe.push('\\');
                safe.push(character);
            }
            // The comment keeps a URL from becoming a link.
            ':' => safe.push_str(":<!-- -->"),
            _ => safe.push(character),
        }
    }
    safe.replace(":<!-- --> ", ": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_format_the_page() {
        for (text, expected) in [
            ("`aws_sqs_queue.a` waits", "`aws_sqs_queue.a` waits"),
            ("`a|b`", "<code>a\\|b</code>"),
            ("odd ` one", "odd \\` one"),
            ("`` empty", "\\`\\` empty"),
            ("<img src=x>", "&lt;img src=x&gt;"),
            ("@team #1", "@<!-- -->team #<!-- -->1"),
            ("[a](http://x)", "\\[a\\](http:<!-- -->//x)"),
            ("a\nb", "a b"),
        ] {
            assert_eq!(inline(text), expected);
        }
    }
}
