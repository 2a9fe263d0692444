//! What was known before: findings of a baseline, and findings of an earlier tree of the repository. Both are told
//! by their fingerprints, in which no line and no wording stands, and counted, so that a second finding with the
//! fingerprint of a known one is still new.
//!
//! `baseline` reads and writes the file, `git` asks the program of that name, `tree` lays out an earlier tree, `since`
//! judges it, and `staged` tells which files a commit touches. Nothing here knows a rule or a dialect.

mod baseline;
mod git;
mod known;
mod since;
mod staged;
mod tree;

pub use baseline::{Action, Choice, Written, write};
pub(crate) use baseline::{Baselines, Coverage, Judged, file_for};
pub(crate) use known::Held;
pub(crate) use since::before;
pub(crate) use staged::touched;

use crate::diagnostic::Diagnostic;

/// Diagnostics about what could not be read: no history makes a file that is not judged acceptable.
const NEVER_KNOWN: [&str; 2] = ["parse-error", "limit-reached"];

/// What a run left out because it was known before.
#[derive(Debug, Default)]
pub struct History {
    /// Findings that the baseline has.
    pub baselined: Vec<Diagnostic>,
    /// Findings that the earlier tree has.
    pub before: Vec<Diagnostic>,
    /// Entries of a baseline that no finding answers to any more: the file, as it is shown, and how many.
    pub stale: Vec<(String, usize)>,
}
