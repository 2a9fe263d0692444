//! Determines which findings are known: those of a baseline, and those of an earlier commit. Findings are identified by
//! their fingerprints, which contain neither line numbers nor wording, and are counted, so that a second finding with
//! the fingerprint of a known one is still new.
//!
//! `baseline` reads and writes the file, `git` runs the program of that name, `commit` finds the commit to compare
//! with, `snapshot` is its tree, and `staged` lists the files that a commit would change. This module knows no rule and
//! no dialect, and judges nothing.

mod baseline;
mod commit;
mod git;
mod known;
mod snapshot;
mod staged;

pub use baseline::{Action, BaselineChoice, BaselineSummary};
pub(crate) use baseline::{Baselines, CheckedPart, CurrentFindings, file_for, no_baseline, rewrite};
pub(crate) use commit::snapshot;
pub use commit::{head, repository_name};
pub use known::Resolved;
pub(crate) use known::{FindingInEnvironments, KnownFindings};
pub use staged::concerns_whole_project;
pub(crate) use staged::touched;

use crate::diagnostic::{LIMIT_REACHED, PARSE_ERROR, Silencer, Suppressed};
use crate::selection::FormerId;
use std::collections::BTreeSet;

/// Rules for unreadable files. A file that cannot be checked is never acceptable, whatever the history.
const NEVER_KNOWN: [&str; 2] = [PARSE_ERROR, LIMIT_REACHED];

/// Reason why a finding is left out, with the explanation that users gave, if any.
pub(crate) type KnownBecause = (Silencer, Option<String>);

/// Findings that a run left out because they were known.
#[derive(Debug, Default)]
pub struct History {
    /// Findings that the baseline or the earlier commit has, sorted like all findings.
    pub known: Vec<Suppressed>,
    /// Baselines with entries that match no finding: the file for display, and the number of entries.
    pub stale: Vec<(String, usize)>,
    /// Findings of the earlier commit that no longer occur.
    pub resolved: Vec<Resolved>,
    /// Fingerprints of findings that the earlier commit has with a lower severity.
    pub worse: BTreeSet<String>,
    /// Former ids of rules in baselines.
    pub(crate) former: Vec<FormerId>,
}
