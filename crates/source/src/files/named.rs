//! Resolves paths from the command line. The user may name any path. But the path may be fixed in a workflow (as in
//! `sqslint check infra`), and a pull request may replace it by a link:
//!
//! ```text
//! sqslint check infra         with `infra` a directory       /work/repo/infra
//! sqslint check infra         with `infra -> /home/runner`   refused: the link leaves its repository
//! sqslint check /tmp/infra    with `/tmp -> /private/tmp`    /private/tmp/infra: the link is not in a repository
//! ```

use super::disk::{absolute, real, repository_root, symlink_kind};
use super::{EntryKind, GIT, Refusal, clean};
use std::path::{Component, Path, PathBuf};

/// Returns the real path of `path`, unless a link in it leaves the repository that contains the link.
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

/// Returns `path` as an absolute path, with the links in its existing part resolved. The path need not exist.
pub fn beyond_links(path: &Path) -> PathBuf {
    let path = clean(&absolute(path));
    let mut above = path.ancestors().filter_map(|above| Some((above, real(above).ok()?)));
    match above.next() {
        Some((above, real)) => path.strip_prefix(above).map_or(path.clone(), |rest| real.join(rest)),
        None => path,
    }
}

/// Resolves `next`, an entry of the real directory `current`.
fn step(current: &Path, next: &Path) -> Result<PathBuf, Refusal> {
    if symlink_kind(next)? != EntryKind::Link {
        return Ok(next.to_owned());
    }
    let target = real(next)?;
    match repository_root(current) {
        Some(root) if !target.starts_with(&root) => Err(Refusal::LeadsOut),
        Some(root) if target.starts_with(root.join(GIT)) => Err(Refusal::Git),
        _ => Ok(target),
    }
}
