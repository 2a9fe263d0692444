//! Paths that the command line names. The user's word counts, wherever the path lies; but the path may be fixed in a
//! workflow (`sqslint check infra`), and a pull request may put a link in its place:
//!
//! ```text
//! sqslint check infra                where `infra` is a directory        /work/repo/infra
//! sqslint check infra                where `infra -> /home/runner`       refused: the link leaves its repository
//! sqslint check /tmp/infra           where `/tmp -> /private/tmp`        /private/tmp/infra: no repository holds the link
//! ```

use super::disk::{absolute, kind_of_itself, real, repository_root};
use super::{GIT, Kind, Refusal, clean};
use std::path::{Component, Path, PathBuf};

/// The real path of what `path` names; refused where a link on the way leads out of the repository that holds it.
pub fn named(path: &Path) -> Result<PathBuf, Refusal> {
    let mut current = PathBuf::new();
    for part in absolute(path).components() {
        match part {
            Component::ParentDir => {
                current.pop();
            }
            Component::CurDir => {}
            Component::Normal(name) => current = step(&current, &current.join(name))?,
            other => current.push(other),
        }
    }
    // Windows has several spellings of one path.
    Ok(real(&current)?)
}

/// `path` from the root with the links resolved that lead to the working directory; what it names need not exist.
pub fn beyond_links(path: &Path) -> PathBuf {
    let path = clean(&absolute(path));
    let mut above = path.ancestors().filter_map(|above| Some((above, real(above).ok()?)));
    match above.next() {
        Some((above, real)) => path.strip_prefix(above).map_or(path.clone(), |rest| real.join(rest)),
        None => path,
    }
}

/// `next`, which lies in the real directory `current`, without links.
fn step(current: &Path, next: &Path) -> Result<PathBuf, Refusal> {
    if kind_of_itself(next)? != Kind::Link {
        return Ok(next.to_owned());
    }
    let target = real(next)?;
    match repository_root(current) {
        Some(root) if !target.starts_with(&root) => Err(Refusal::LeadsOut),
        Some(root) if target.starts_with(root.join(GIT)) => Err(Refusal::Git),
        _ => Ok(target),
    }
}
