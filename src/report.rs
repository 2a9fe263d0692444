//! Report formats. Each turns one [`Report`] into text. No format knows a rule or a dialect, and only [`graph`] knows
//! the graph.
//!
//! Names, paths and values from the files may contain anything. Text for a terminal passes through [`printable()`] or,
//! in excerpts, through a replacement of the same length. Text for programs is JSON written by [`json_text`], or is
//! escaped as its format requires.

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
pub mod links;
pub mod markdown;
mod markup;
mod printable;
mod prose;
mod region;
pub mod review;
pub mod sarif;
pub mod simulation;
pub mod statistics;
pub mod summary;
mod suppressed;
mod timeline;
pub mod wrapped;

pub use crate::diagnostic::few;
pub use printable::{printable, printable_error};

use crate::diagnostic::{Coverage, Diagnostic, NotEvaluated, Severity, Suppressed};
use crate::published::Published;
use crate::rules::Catalogue;
use source::Sources;
use std::collections::BTreeMap;

/// Content of a report in any format.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// Texts that spans refer to.
    pub sources: &'a Sources,
    /// Findings, sorted.
    pub findings: &'a [Diagnostic],
    /// Suppressed findings, sorted.
    pub suppressed: &'a [Suppressed],
    /// `true` if all formats that support it show suppressed findings; the JSON formats always do.
    pub show_suppressed: bool,
    /// Resources that rules could not judge.
    pub not_evaluated: &'a [NotEvaluated],
    /// Queues and mappings, and those that are not judged.
    pub coverage: &'a Coverage,
    /// Errors that prevented a part of the run.
    pub errors: &'a [String],
    /// Known rules.
    pub rules: &'a Catalogue,
    /// Checked units.
    pub units: &'a Units,
    /// Changes since an earlier commit, if the run is compared with one.
    pub review: Option<review::Review<'a>>,
    /// URLs of sqslint and of the rules' pages.
    pub published: Published<'a>,
}

impl<'a> Report<'a> {
    /// Returns the suppressed findings if they are to be shown.
    fn shown_suppressed(&self) -> &'a [Suppressed] {
        if self.show_suppressed { self.suppressed } else { &[] }
    }

    /// Counts the findings with `severity`.
    fn count(&self, severity: Severity) -> usize {
        let of = |found: &&Diagnostic| found.severity == severity;
        self.findings.iter().filter(of).count()
    }

    /// Returns the findings, most severe first.
    fn by_severity(&self) -> Vec<&'a Diagnostic> {
        let mut sorted: Vec<&'a Diagnostic> = self.findings.iter().collect();
        sorted.sort_by_key(|found| std::cmp::Reverse(found.severity));
        sorted
    }
}

/// Paths and numbers of checked units, and notes on their unread parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Units {
    /// Paths that the run was asked for, relative to the repository.
    pub paths: Vec<String>,
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
    /// Snapshots of what is deployed.
    pub snapshots: usize,
    /// Sources of modules that are not read, each with the number of its calls.
    pub unread_modules: BTreeMap<String, usize>,
    /// Notes on unread parts, by unit.
    pub notes: Vec<String>,
}

/// Formats a count with its noun: `1 error`, `2 errors`.
pub fn counted(count: usize, singular: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {singular}{plural}")
}

#[cfg(test)]
mod tests;
