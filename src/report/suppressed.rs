//! Suppressed findings in words, and as lines of the reports that people read.

use super::place::Paths;
use super::{Report, printable};
use crate::diagnostic::{Silencer, Suppressed};
use crate::source::Sources;

/// A line for each, behind the findings, where that is asked for.
pub(super) fn lines<'a>(report: &Report<'a>) -> impl Iterator<Item = String> + use<'a> {
    let sources = report.sources;
    report.silenced().iter().map(|one| {
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
            why(one, sources, Paths::Shown),
        )
    })
}

/// The place of the suppression, or the baseline, and the reason: `line 2: polled by one worker`.
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
