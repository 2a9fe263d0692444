//! Lints SQS queues together with what reads them, in Terraform, CloudFormation and SAM.
//!
//! [`check`] is the whole pipeline: discover → load → link → judge → suppress → sort. It prints nothing, never exits and
//! does not panic on any input; `main.rs` prints and chooses the exit code.

pub mod config;
pub mod diagnostic;
pub mod discover;
pub mod explain;
pub mod frontend;
pub mod given;
pub mod graph;
mod ignores;
mod judge;
mod project;
pub mod report;
pub mod rules;
pub mod selection;
pub mod source;
pub mod suppress;
#[doc(hidden)]
pub mod testing;

use config::{Configs, FailLevel};
use diagnostic::{Diagnostic, NotEvaluated, Severity, Suppressed};
use given::Given;
use graph::Graph;
pub use ignores::{Added, add_ignores};
use project::Project;
use selection::Selection;
use source::{Sources, Span};
use std::path::{Path, PathBuf};
use suppress::Day;

/// Parsers and evaluators recurse within bounds that need more than the 2 MiB of a default thread.
const STACK_SIZE: usize = 8 << 20;

/// The directories above which no configuration is looked for.
fn roots(options: &Options, repository: Option<&PathBuf>, working_directory: &Path) -> Vec<PathBuf> {
    if let Some(repository) = repository {
        return vec![repository.clone()];
    }
    let named = options.paths.iter().filter_map(|path| path.canonicalize().ok());
    let outside = named.filter(|path| !path.starts_with(working_directory));
    std::iter::once(working_directory.to_owned()).chain(outside).collect()
}

fn configs(options: &Options, repository: Option<&PathBuf>, working_directory: &Path) -> Configs {
    Configs::new(options.config.clone(), roots(options, repository, working_directory))
}

/// What to check, and with which rules.
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
    /// Whether to keep which rule looked at which value.
    pub trace: bool,
    /// Whether `exclude` holds for paths that are named, too.
    pub force_exclude: bool,
    /// Whether suppressions are passed over.
    pub no_ignores: bool,
    /// The day that ends of suppressions are compared with; `None` is today.
    pub today: Option<Day>,
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
    /// Which rule looked at which value, where that was asked for.
    pub looked: Vec<(&'static str, Span)>,
    /// Whether a finding reaches the level that fails the run.
    pub fails: bool,
}

/// Checks everything under the paths of `options`.
pub fn check(options: &Options) -> Outcome {
    match rayon::ThreadPoolBuilder::new().stack_size(STACK_SIZE).build() {
        Ok(pool) => pool.install(|| run(options)),
        // Without threads of our own the caller's must do.
        Err(_) => run(options),
    }
}

fn run(options: &Options) -> Outcome {
    let working_directory = std::env::current_dir().and_then(|path| path.canonicalize());
    let working_directory = working_directory.unwrap_or_default();
    let start = options.paths.first().and_then(|path| path.canonicalize().ok());
    let repository = discover::repository_root(start.as_deref().unwrap_or(&working_directory));
    let configs = configs(options, repository.as_ref(), &working_directory);
    let mut outcome = Outcome {
        graph: Graph::default(),
        sources: Sources::new(repository, working_directory),
        findings: Vec::new(),
        suppressed: Vec::new(),
        not_evaluated: Vec::new(),
        errors: Vec::new(),
        skipped: Vec::new(),
        looked: Vec::new(),
        fails: false,
    };
    let discovery = discover::discover(&options.paths);
    outcome.errors.extend(discovery.errors);
    outcome.skipped = discovery.skipped;
    match Project::new(discovery.inputs, &configs, options) {
        Ok(project) => project.judge(options, &configs, &mut outcome),
        // Without its decisions a project is not judged: what it ignores would be said.
        Err(error) => outcome.errors.push(error.to_string()),
    }
    outcome.errors.sort();
    outcome.errors.dedup();
    outcome
}
