//! Formats suppressed findings for the reports that people read.

use super::region::Paths;
use super::{Report, printable};
use crate::diagnostic::{Silencer, Suppressed};
use source::Sources;

/// Returns a line for each suppressed finding that is to be shown.
pub(super) fn lines<'a>(report: &Report<'a>) -> impl Iterator<Item = String> + use<'a> {
    let sources = report.sources;
    report.shown_suppressed().iter().map(|one| {
        let span = one.finding.primary().span;
        let file = sources.file(span.file);
        let at = file.position(span.start as usize);
        format!(
            "{}:{}:{}: suppressed {}[{}] {} ({})",
            printable(file.shown()),
            at.line,
            at.column,
            one.finding.severity,
            one.finding.rule,
            printable(&one.finding.headline),
            why(one, sources, Paths::FromWorkingDirectory),
        )
    })
}

/// Formats the location of the suppression or the name of the baseline, with the reason:
/// `line 2: polled by one worker`.
pub(super) fn why(one: &Suppressed, sources: &Sources, paths: Paths) -> String {
    let by = match &one.by {
        Silencer::Suppression(span) => {
            let file = sources.file(span.file);
            let line = file.position(span.start as usize).line;
            if span.file == one.finding.primary().span.file {
                format!("line {line}")
            } else {
                format!("{}:{line}", paths.file(&file))
            }
        }
        Silencer::Baseline(file) => format!("in the baseline `{}`", paths.path(file, sources)),
        Silencer::Since(name) => format!("not new since `{name}`"),
    };
    let reason = one.reason.iter().map(|reason| format!(": {reason}"));
    printable(&reason.fold(by, |by, reason| by + &reason))
}
