//! Writes workflow commands of GitHub Actions, which become annotations, and the summary of a step.

use super::{Report, markdown, printable, region};
use crate::diagnostic::{Diagnostic, Severity};
use std::io::{self, Write};

/// Writes the findings as commands, most severe first, because Actions shows only the first ten of each kind.
/// Suppressed findings appear only in the summary, since annotations would concern lines that the team has already
/// accepted.
pub fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for error in report.errors {
        writeln!(out, "::error title=sqslint::{}", data(&printable(error)))?;
    }
    for found in report.by_severity() {
        writeln!(out, "{}", command(report, found))?;
    }
    Ok(())
}

/// Returns the text to append to `$GITHUB_STEP_SUMMARY`.
pub fn step_summary(report: &Report<'_>) -> String {
    markdown::summary(report) + &markdown::silenced(report)
}

fn command(report: &Report<'_>, found: &Diagnostic) -> String {
    let file = report.sources.file(found.annotated().file);
    let region = region::first_line_region(&file, found.annotated());
    let kind = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let when = found.when.as_ref().map(|when| format!("only if {when}"));
    let parts = [
        Some(&*found.headline),
        found.calculation.as_deref(),
        when.as_deref(),
        found.help.as_deref(),
    ];
    let lines: Vec<String> = parts.into_iter().flatten().map(printable).collect();
    format!(
        "::{kind} file={},line={},endLine={},col={},endColumn={},title={}::{}",
        property(&printable(file.name())),
        region.start.line,
        region.end.line,
        region.start.column,
        region.end.column,
        property(&format!("sqslint ({})", found.rule)),
        data(&lines.join("\n")),
    )
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
