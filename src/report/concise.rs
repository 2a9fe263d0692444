//! One line a finding: `path:line:col: severity[rule] message`, for editors and problem matchers.

use super::{Report, printable};
use std::fmt::Write;

/// The findings, one line each.
pub fn render(report: &Report<'_>) -> String {
    let mut text = String::new();
    for found in report.findings {
        let span = found.primary().span;
        let file = report.sources.file(span.file);
        let at = file.position(span.start as usize);
        let (path, message) = (printable(file.shown()), printable(&found.headline));
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
