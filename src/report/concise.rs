//! One line a finding: `path:line:col: severity[rule] message`, for editors and problem matchers.

use super::{Report, links, printable};
use std::fmt::Write;

/// The findings, one line each.
pub fn render(report: &Report<'_>) -> String {
    render_linked(report, false)
}

/// The findings, one line each, with paths as links where they are `linked`.
pub fn render_linked(report: &Report<'_>, linked: bool) -> String {
    let mut text = String::new();
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
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{path}:{}:{}: {}[{}] {message}{when}",
            at.line, at.column, found.severity, found.rule
        );
    }
    text + &super::suppressed::render(report)
}
