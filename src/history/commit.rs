//! Finds the commit that `--since` compares with, and its tree.

use super::git::Git;
use super::snapshot::Snapshot;
use std::path::Path;
use std::sync::Arc;

/// Returns the commit that is checked out in the repository at `root`, if any.
pub fn head(root: &Path) -> Option<String> {
    Git::of(root).commit("HEAD").ok().flatten()
}

/// Returns the tree at the merge base of `name` and `HEAD`, or the reason why it cannot be determined.
pub(crate) fn snapshot(name: &str, root: &Path) -> Result<Arc<Snapshot>, String> {
    let git = Git::of(root);
    let base = base(name, &git)?;
    Ok(Arc::new(Snapshot::new(&git, &base, root)?))
}

/// Returns the commit to compare with.
fn base(name: &str, git: &Git) -> Result<String, String> {
    const SHALLOW: &str = "this clone is shallow; fetch the whole history (`fetch-depth: 0` of actions/checkout, \
                           `git fetch --unshallow`)";
    let head = git.commit("HEAD")?.ok_or("there is no commit yet")?;
    let Some(other) = git.commit(name)? else {
        return Err(if git.is_shallow() {
            format!("there is no such commit or branch here, and {SHALLOW}")
        } else {
            "there is no such commit or branch here".to_owned()
        });
    };
    git.merge_base(&other, &head).ok_or_else(|| {
        if git.is_shallow() {
            format!("the merge base is not here: {SHALLOW}")
        } else {
            "it has no commit in common with `HEAD`".to_owned()
        }
    })
}
