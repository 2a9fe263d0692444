//! What is known of one line: every value and link there with the way it came, and the rules that looked at it.

use crate::diagnostic::Diagnostic;
use crate::graph::values::{self, Listed};
use crate::source::{FileId, Span};
use crate::{Options, Outcome, check};
use std::path::Path;

/// A line of a file, and what the run said.
#[derive(Debug)]
pub struct Explained {
    /// The run.
    pub outcome: Outcome,
    file: Option<FileId>,
    line: usize,
}

/// Checks `options` and looks at the line (from 1) of the file at `path`, which is absolute.
pub fn explain(options: &Options, path: &Path, line: usize) -> Explained {
    let outcome = check(&Options {
        trace: true,
        // What a team has accepted is explained all the same.
        baseline: crate::history::Choice::Without,
        ..options.clone()
    });
    let file = outcome.sources.find(path);
    Explained { outcome, file, line }
}

impl Explained {
    /// The attributes that stand on the line, come from it, or are absent from the resource that it heads.
    pub fn values(&self) -> Vec<Listed<'_>> {
        let mut all = values::list(&self.outcome.graph);
        all.retain(|listed| {
            let heads = self.covers(listed.resource.header);
            heads
                || listed
                    .cases
                    .iter()
                    .any(|case| self.covers(case.span) || case.origins.iter().any(|o| self.covers(o.span)))
        });
        all
    }

    /// The findings with a label on the line.
    pub fn findings(&self) -> Vec<&Diagnostic> {
        let findings = self.outcome.findings.iter();
        findings
            .filter(|found| found.labels().iter().any(|label| self.covers(label.span)))
            .collect()
    }

    /// Rules that looked at a value on the line and had nothing to say of it, by name.
    pub fn satisfied(&self) -> Vec<&'static str> {
        let judgements = self.outcome.judgements.iter();
        let looked = judgements.filter(|judged| judged.read.iter().any(|span| self.covers(*span)));
        let spoke: Vec<&str> = self.findings().iter().map(|found| found.rule).collect();
        let mut rules: Vec<&'static str> = looked
            .map(|judged| judged.rule)
            .filter(|rule| !spoke.contains(rule))
            .collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// Whether the line was read at all.
    pub fn is_read(&self) -> bool {
        self.file.is_some()
    }

    /// Whether `span` touches the line; a span over several lines counts with its first one.
    fn covers(&self, span: Span) -> bool {
        Some(span.file) == self.file && self.outcome.sources.start(span).line as usize == self.line
    }
}
