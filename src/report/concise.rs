//! Writes one line per finding, `path:line:col: severity[rule] message`, for editors and problem matchers.

use super::{Report, links, printable, suppressed};
use std::io::{self, Write};

/// Writes the findings, one per line, with paths as links if `linked`.
pub fn write(report: &Report<'_>, linked: bool, out: &mut dyn Write) -> io::Result<()> {
    for found in report.findings {
        let span = found.primary().span;
        let file = report.sources.file(span.file);
        let at = file.position(span.start as usize);
        let path = links::to_file(&printable(file.shown()), &file, linked);
        let message = printable(&found.headline);
        let when = found
            .when
            .as_ref()
            .map_or_else(String::new, |when| format!(" (when {})", printable(when)));
        writeln!(
            out,
            "{path}:{}:{}: {}[{}] {message}{when}",
            at.line, at.column, found.severity, found.rule
        )?;
    }
    for line in suppressed::lines(report) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
