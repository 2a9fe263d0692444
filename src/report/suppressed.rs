//! What suppressions silence, one line each: for the reports that people read, behind the findings.

use super::{Report, printable};
use std::fmt::Write;

/// A line for each, where that is asked for.
pub(super) fn render(report: &Report<'_>) -> String {
    let mut text = String::new();
    for one in report.suppressed.iter().filter(|_| report.show_suppressed) {
        let span = one.finding.primary().span;
        let file = report.sources.file(span.file);
        let at = file.position(span.start as usize);
        let by_file = report.sources.file(one.by.file);
        let by = by_file.position(one.by.start as usize).line;
        let by = if one.by.file == span.file {
            format!("line {by}")
        } else {
            format!("{}:{by}", printable(by_file.shown()))
        };
        let reason = one
            .reason
            .as_deref()
            .map_or_else(String::new, |reason| format!(": {}", printable(reason)));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}:{}:{}: suppressed {}[{}] {} ({by}{reason})",
            printable(file.shown()),
            at.line,
            at.column,
            one.finding.severity,
            one.finding.rule,
            printable(&one.finding.headline),
        );
    }
    text
}
