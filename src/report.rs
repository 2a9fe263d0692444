//! Formats: each turns one [`Report`] into text, and none of them knows a rule or a dialect, and [`graph`] alone
//! knows the graph.
//!
//! Names, paths and values from the files may hold anything: everything that is meant for a
//! terminal passes through [`printable()`] or, in snippets, through a replacement of the same length; what is meant for
//! programs is JSON of [`json_text`], or escaped as their formats ask.

pub mod checkstyle;
pub mod concise;
mod excerpt;
pub mod github;
pub mod gitlab;
pub mod graph;
pub mod html;
pub mod human;
pub mod json;
pub mod json_lines;
pub mod json_text;
pub mod junit;
mod line_hash;
pub mod links;
pub mod markdown;
mod markup;
mod place;
mod printable;
mod prose;
pub mod rdjson;
pub mod sarif;
pub mod simulation;
pub mod statistics;
pub mod summary;
mod suppressed;
mod timeline;
pub mod wrapped;

pub use printable::{printable, printable_error};

use crate::diagnostic::{Diagnostic, NotEvaluated, Severity, Suppressed};
use crate::published::Published;
use crate::rules::Catalogue;
use crate::source::Sources;

/// Everything that a format may show.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The texts that spans point into.
    pub sources: &'a Sources,
    /// Sorted.
    pub findings: &'a [Diagnostic],
    /// Suppressed findings, sorted.
    pub suppressed: &'a [Suppressed],
    /// True if all formats show those, as far as they have a way to; the JSON ones always do.
    pub show_suppressed: bool,
    /// The resources that rules could not judge.
    pub not_evaluated: &'a [NotEvaluated],
    /// Errors that kept sqslint from doing its job.
    pub errors: &'a [String],
    /// The rules that there are.
    pub rules: &'a Catalogue,
    /// The units that were read.
    pub units: &'a Units,
    /// Where sqslint and the pages of its rules are on the web.
    pub published: Published<'a>,
}

impl<'a> Report<'a> {
    /// Suppressed findings, if they are to be shown.
    fn silenced(&self) -> &'a [Suppressed] {
        if self.show_suppressed { self.suppressed } else { &[] }
    }

    /// The number of findings with `severity`.
    fn count(&self, severity: Severity) -> usize {
        let of = |found: &&Diagnostic| found.severity == severity;
        self.findings.iter().filter(of).count()
    }

    /// The findings, the most severe first.
    fn by_severity(&self) -> Vec<&'a Diagnostic> {
        let mut sorted: Vec<&'a Diagnostic> = self.findings.iter().collect();
        sorted.sort_by_key(|found| std::cmp::Reverse(found.severity));
        sorted
    }
}

/// The number of units that were read, and notes on what in them was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    /// Terraform root modules.
    pub modules: usize,
    /// Templates, whichever tool deploys them.
    pub templates: usize,
    /// Stacks of CDK apps.
    pub stacks: usize,
    /// Serverless Framework services.
    pub services: usize,
    /// Terraform plans.
    pub plans: usize,
    /// Terraform states.
    pub states: usize,
    /// Queues that were read.
    pub queues: Judged,
    /// Event source mappings that were read.
    pub mappings: Judged,
    /// By unit: what in it is not read.
    pub notes: Vec<String>,
}

/// Resources of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Judged {
    /// How many there are.
    pub all: usize,
    /// How many of them every rule could judge.
    pub wholly: usize,
}

/// `1 error`, `2 errors`.
pub fn counted(count: usize, singular: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {singular}{plural}")
}

#[cfg(test)]
mod tests;
