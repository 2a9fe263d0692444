//! The findings of the tree from which a branch has come, judged as the working tree is: with the configuration of the
//! working tree, the same rules, and the same values, as far as they stand in files at their earlier state.

use super::git::Git;
use super::known::Known;
use super::snapshot::Snapshot;
use crate::config::Configs;
use crate::files::{self, named};
use crate::run::{Place, find};
use crate::{Options, Outcome};
use std::sync::Arc;

/// The findings at the merge base of `name` and `HEAD`, or why they cannot be known.
pub(crate) fn before(name: &str, options: &Options, configs: &Configs, place: &Place) -> Result<Known, String> {
    let refuse = |reason: String| format!("`--since {name}`: {reason}");
    let root = place.repository.as_deref();
    let root = root.ok_or_else(|| refuse("this is not a git repository".to_owned()))?;
    for path in &options.paths {
        if named(path).is_ok_and(|path| !path.starts_with(root)) {
            return Err(refuse(format!("`{}` lies outside of the repository", path.display())));
        }
    }
    let git = Git::of(root);
    let base = base(name, &git).map_err(refuse)?;
    let snapshot = Arc::new(Snapshot::new(&git, &base, root).map_err(refuse)?);
    let known = judge(options, configs, place, snapshot.clone());
    match snapshot.incomplete() {
        Some(reason) => Err(refuse(reason)),
        None => Ok(known),
    }
}

/// The commit to compare with.
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
            format!("the commit from which both have come is not here: {SHALLOW}")
        } else {
            "it has no commit in common with `HEAD`".to_owned()
        }
    })
}

fn judge(options: &Options, configs: &Configs, place: &Place, snapshot: Arc<Snapshot>) -> Known {
    let at = Place {
        files: place.files.clone().of(snapshot),
        ..place.clone()
    };
    let (mut paths, mut touched) = (Vec::new(), Vec::new());
    for path in &options.paths {
        if at.files.named(path).is_ok() {
            paths.push(path.clone());
        } else {
            // A file that came later may belong to a unit that was there.
            touched.push(files::real(path).unwrap_or_else(|_| files::absolute(path)));
        }
    }
    let options = Options {
        paths,
        stdin: None,
        overlays: Vec::new(),
        // Files that were no units then are none of today's faults.
        allow_empty: true,
        ..options.clone()
    };
    let mut outcome = Outcome::empty(&at);
    // What could not be read then is no fault of today; findings that were not made are new.
    let found = find(&options, configs, &touched, &at, &mut outcome);
    found.map_or_else(|_| Known::default(), |found| Known::of(&found.held))
}
