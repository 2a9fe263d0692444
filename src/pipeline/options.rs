//! Options of a run.

use crate::config::{self, FailLevel};
use crate::diagnostic::{Harm, Severity};
use crate::history;
use crate::inputs::Inputs;
use crate::selection::Selection;
use crate::suppress::Day;
use std::path::PathBuf;

/// Selects the files and rules of a run, and how it treats findings.
// The switches are independent of each other, so an enum of states would not fit.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// Rules to run.
    pub selection: Selection,
    /// Values for variables and parameters.
    pub inputs: Inputs,
    /// Environments to check, declared in configurations or named by files; all of them if empty. `default` is the run
    /// without an environment.
    pub environments: Vec<String>,
    /// Source of the configuration.
    pub config: config::Source,
    /// Minimum severity that fails the run, which overrides the configurations.
    pub fail_level: Option<FailLevel>,
    /// Harms of findings that fail the run, instead of their severities; overrides the configurations.
    pub fail_on: Vec<Harm>,
    /// `true` if unjudged resources fail the run, whatever the configurations set.
    pub fail_on_unjudged: bool,
    /// Minimum severity of findings; others are left out.
    pub min_severity: Severity,
    /// Lowest severity of findings that are fixed (`--fix`) or suppressed (`--add-ignore`).
    pub edit_severity: Severity,
    /// `true` to keep the judgements of rules and the graphs of all environments.
    pub trace: bool,
    /// `true` to determine the properties that relate the files to others of the project.
    pub notes_reach: bool,
    /// `true` if `exclude` applies to named paths, too.
    pub force_exclude: bool,
    /// `true` if files that git ignores are walked, too.
    pub no_gitignore: bool,
    /// `true` if named files that cannot be checked are skipped.
    pub allow_empty: bool,
    /// `true` to also check files that a commit or a push changes.
    pub staged: bool,
    /// Text in place of a file.
    pub stdin: Option<Stdin>,
    /// Texts to read in place of existing files.
    pub overlays: Vec<(PathBuf, String)>,
    /// Baseline with findings to leave out.
    pub baseline: history::BaselineChoice,
    /// Commit or branch; findings at its merge base with `HEAD` are left out.
    pub since: Option<String>,
    /// `true` to disregard suppressions.
    pub no_ignores: bool,
    /// Snapshot of what is deployed, to compare with.
    pub deployed: Option<PathBuf>,
    /// Day for comparison with the expiry of suppressions; `None` for today.
    pub today: Option<Day>,
}

impl Options {
    /// Returns `true` if the graphs of all environments are needed at the end.
    pub(crate) fn keeps_graphs(&self) -> bool {
        self.trace || self.since.is_some()
    }
}

/// Text that is not read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stdin {
    /// Contents of the text.
    pub text: String,
    /// File that it replaces, which need not exist.
    pub path: Option<PathBuf>,
}
