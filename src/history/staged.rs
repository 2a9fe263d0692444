//! Lists the files that a commit or a push changes: those whose contents in the index differ from `HEAD`, including
//! deleted files and both names of renamed ones. If pre-commit runs for a push, the files that differ between the two
//! ends of the push.

use super::git::Git;
use std::path::{Path, PathBuf};

/// Variables in which pre-commit states the ends of a push.
const ENDS: [&str; 2] = ["PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"];

/// Returns the changed files of the repository at `root` as absolute paths, including deleted ones.
pub(crate) fn touched(root: Option<&Path>) -> Result<Vec<PathBuf>, String> {
    let refuse = |reason: String| format!("`--staged`: {reason}");
    let root = root.ok_or_else(|| refuse("this is not a git repository".to_owned()))?;
    let git = Git::of(root);
    git.check().map_err(refuse)?;
    let files = match ENDS.map(variable) {
        [Some(from), Some(to)] => pushed(&git, &from, &to),
        _ => git.staged(),
    };
    Ok(files.map_err(refuse)?.iter().map(|file| root.join(file)).collect())
}

/// Returns `true` if pre-commit runs for more than a range or the staged files: for the first push of a branch, and with
/// `--all-files` or `--files` if nothing is staged. Hooks pass no file names, since a file may have the name of an option.
pub fn concerns_whole_project(directory: &Path) -> bool {
    let is_without_range = variable("PRE_COMMIT").is_some() && ENDS.map(variable).contains(&None);
    // git sets its index for the hooks of a commit, which may be empty.
    let is_commit = variable("GIT_INDEX_FILE").is_some();
    let root = source::files::repository_root(&source::files::absolute(directory));
    is_without_range
        && !is_commit
        && (variable("PRE_COMMIT_REMOTE_NAME").is_some()
            || touched(root.as_deref()).is_ok_and(|files| files.is_empty()))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn pushed(git: &Git, from: &str, to: &str) -> Result<Vec<PathBuf>, String> {
    let commit = |name: &str| {
        let found = git.commit(name)?;
        found.ok_or_else(|| format!("`{name}`, which pre-commit names, is no commit here"))
    };
    let (from, to) = (commit(from)?, commit(to)?);
    // Like pre-commit, compares with the merge base, if it is known.
    let from = git.merge_base(&from, &to).unwrap_or(from);
    git.changed(&from, &to)
}
