//! What a run is asked for.

use crate::config::{self, FailLevel};
use crate::diagnostic::Severity;
use crate::given::Given;
use crate::history;
use crate::selection::Selection;
use crate::suppress::Day;
use std::path::PathBuf;

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
    /// Only these environments are judged, of those that configurations declare and files name; all where none is given.
    pub environments: Vec<String>,
    /// Where the configuration comes from.
    pub config: config::Source,
    /// From which severity on a finding fails the run, in place of what the configurations say.
    pub fail_level: Option<FailLevel>,
    /// Whether a resource that a rule could not judge fails the run, whatever the configurations say.
    pub fail_on_unjudged: bool,
    /// Findings below it are left out.
    pub min_severity: Severity,
    /// Whether to keep what rules conclude besides their findings, and every environment's graph.
    pub trace: bool,
    /// Whether to find out what the files may have to do with others of the project.
    pub notes_reach: bool,
    /// Whether `exclude` holds for paths that are named, too.
    pub force_exclude: bool,
    /// Files that git ignores are walked, too.
    pub no_gitignore: bool,
    /// A named file that is nothing to check is skipped.
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
