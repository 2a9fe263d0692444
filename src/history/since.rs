//! The findings of the tree from which a branch has come, judged as the working tree is: with the configuration of the
//! working tree, the same rules, and the same values, as far as they stand in files at their earlier state.

use super::git::Git;
use super::known::Known;
use super::tree::Tree;
use crate::config::Configs;
use crate::files::{self, Files, named};
use crate::run::{Place, find};
use crate::{Options, Outcome};
use std::path::{Path, PathBuf};

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
    let tree = Tree::new(&git, &base, root).map_err(refuse)?;
    Ok(judge(options, configs, place, &tree))
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

fn judge(options: &Options, configs: &Configs, place: &Place, tree: &Tree) -> Known {
    let values = options.given.files().map(|path| moved(path, tree)).collect::<Vec<_>>();
    let files = Files::new(Some(tree.root().to_owned()), Vec::new());
    let at = Place {
        working_directory: moved(&place.working_directory, tree),
        repository: Some(tree.root().to_owned()),
        files: files.trusting(values.iter().map(PathBuf::as_path)),
    };
    let inside = |path: &PathBuf| tree.place_of(&absolute(path)).unwrap_or_else(|| path.clone());
    let (mut paths, mut touched) = (Vec::new(), Vec::new());
    for path in options.paths.iter().map(inside) {
        if files::exists(&path) {
            paths.push(path);
        } else {
            // A file that came later may belong to a unit that was there.
            touched.push(path);
        }
    }
    let options = Options {
        paths,
        stdin: None,
        // Files that were no units then are none of today's faults.
        allow_empty: true,
        given: options.given.with_files(|path| moved(path, tree)),
        ..options.clone()
    };
    let configs = configs.moved(place.root(), tree.root());
    let mut outcome = Outcome::empty(&at);
    // What could not be read then is no fault of today; findings that were not made are new.
    let found = find(&options, &configs, &touched, &at, &mut outcome);
    found.map_or_else(|_| Known::default(), |found| Known::of(&found.held))
}

fn absolute(path: &Path) -> PathBuf {
    files::real(path).unwrap_or_else(|_| files::absolute(path))
}

fn moved(path: &Path, tree: &Tree) -> PathBuf {
    tree.place_of(&absolute(path)).unwrap_or_else(|| path.to_owned())
}
