//! What was known before: findings of a baseline, and findings of an earlier tree of the repository. Both are told
//! by their fingerprints, in which no line and no wording stands, and counted, so that a second finding with the
//! fingerprint of a known one is still new.
//!
//! `baseline` reads and writes the file, `git` asks the program of that name, `commit` finds the commit to compare with,
//! `snapshot` is its tree, and `staged` tells which files a commit touches. Nothing here knows a rule or a dialect, or
//! judges anything.

mod baseline;
mod commit;
mod git;
mod known;
mod snapshot;
mod staged;

pub use baseline::{Action, Choice, Written};
pub(crate) use baseline::{Baselines, Coverage, Current, file_for, rewrite};
pub use commit::head;
pub(crate) use commit::snapshot;
pub(crate) use known::{Held, Known};
pub(crate) use staged::touched;

use crate::diagnostic::{Silencer, Suppressed};

/// Diagnostics about what could not be read: no history makes a file that is not judged acceptable.
const NEVER_KNOWN: [&str; 2] = ["parse-error", "limit-reached"];

/// What keeps a finding from being one, and the reason where it gives one.
pub(crate) type Why = (Silencer, Option<String>);

/// What a run left out because it was known before.
#[derive(Debug, Default)]
pub struct History {
    /// Findings that a baseline or the earlier tree has, sorted like all findings.
    pub known: Vec<Suppressed>,
    /// Entries of a baseline that no finding answers to any more: the file, as it is shown, and how many.
    pub stale: Vec<(String, usize)>,
}
