//! Lints SQS queues together with what reads them, in Terraform, CloudFormation and SAM.
//!
//! [`check`] is the whole pipeline: discover → load → link → judge → suppress → sort. It prints nothing, never exits and
//! does not panic on any input; `main.rs` prints and chooses the exit code.

pub mod conditions;
pub mod config;
pub mod diagnostic;
pub mod discover;
pub mod explain;
pub mod files;
mod fixes;
pub mod frontend;
pub mod given;
pub mod graph;
pub mod history;
mod ignores;
mod judge;
mod project;
pub mod report;
pub mod rules;
mod run;
pub mod selection;
pub mod source;
pub mod suppress;
#[doc(hidden)]
pub mod testing;

use config::FailLevel;
use diagnostic::{Diagnostic, NotEvaluated, Severity, Suppressed};
pub use fixes::{Fixed, fix};
use given::Given;
use graph::Graph;
use history::History;
pub use ignores::{Added, add_ignores};
use rules::Judgement;
use run::Place;
use selection::Selection;
use source::Sources;
use std::path::PathBuf;
use suppress::Day;

/// What to check, and with which rules.
// Switches that may be combined at will are no state machine.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// Which rules run.
    pub selection: Selection,
    /// Values for variables and parameters.
    pub given: Given,
    /// Where the configuration comes from.
    pub config: config::Source,
    /// From which severity on a finding fails the run, in place of what the configurations say.
    pub fail_level: Option<FailLevel>,
    /// Findings below it are left out.
    pub min_severity: Severity,
    /// Whether to keep what rules conclude besides their findings, and every environment's graph.
    pub trace: bool,
    /// Whether `exclude` holds for paths that are named, too.
    pub force_exclude: bool,
    /// Files that git ignores are walked, too.
    pub no_gitignore: bool,
    /// A named file that is no unit is passed over.
    pub allow_empty: bool,
    /// Also what a commit, or a push, touches.
    pub staged: bool,
    /// A text in place of a file's.
    pub stdin: Option<Stdin>,
    /// Texts to read in place of files that are there.
    pub overlays: Vec<(PathBuf, String)>,
    /// Findings of this baseline are left out.
    pub baseline: history::Choice,
    /// Findings are left out that the tree had at the merge base of this commit and `HEAD`.
    pub since: Option<String>,
    /// Whether suppressions are passed over.
    pub no_ignores: bool,
    /// The day that ends of suppressions are compared with; `None` is today.
    pub today: Option<Day>,
}

/// A text that comes from elsewhere than from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stdin {
    /// The text.
    pub text: String,
    /// The file that it stands for, which need not be there.
    pub path: Option<PathBuf>,
}

/// What a run found.
#[derive(Debug)]
pub struct Outcome {
    /// Every unit, linked. Without units there was nothing to check.
    pub graph: Graph,
    /// The texts that spans point into.
    pub sources: Sources,
    /// Sorted by path, line, column, rule.
    pub findings: Vec<Diagnostic>,
    /// What suppressions keep from being findings, in the same order.
    pub suppressed: Vec<Suppressed>,
    /// What could not be judged, by unit, address and rule.
    pub not_evaluated: Vec<NotEvaluated>,
    /// What kept sqslint from doing its job: paths that do not exist, files that cannot be opened.
    pub errors: Vec<String>,
    /// What was passed over on the way: `cdk.out`, `.terraform`…
    pub skipped: Vec<String>,
    /// How many units the configuration, or the command line, excludes.
    pub excluded: usize,
    /// What rules concluded besides their findings, in a traced run.
    pub judgements: Vec<Judgement>,
    /// The environment that `graph` is of, where there are any.
    pub environment: Option<String>,
    /// The graphs of further environments by name, in a traced run.
    pub elsewhere: Vec<(String, Graph)>,
    /// Whether a finding reaches the level that fails the run.
    pub fails: bool,
    /// What was left out because it was known before.
    pub history: History,
}

impl Outcome {
    fn empty(place: &Place) -> Self {
        Outcome {
            graph: Graph::default(),
            sources: Sources::reading(place.files.clone(), place.working_directory.clone()),
            findings: Vec::new(),
            suppressed: Vec::new(),
            not_evaluated: Vec::new(),
            errors: Vec::new(),
            skipped: Vec::new(),
            excluded: 0,
            judgements: Vec::new(),
            environment: None,
            elsewhere: Vec::new(),
            fails: false,
            history: History::default(),
        }
    }
}

impl Outcome {
    /// Everything that is kept from being a finding, by suppressions or because it was known before, in the order of
    /// the findings.
    pub fn silenced(&self) -> Vec<Suppressed> {
        project::all_silenced(self)
    }
}

/// Checks everything under the paths of `options`.
pub fn check(options: &Options) -> Outcome {
    run::check(options)
}
