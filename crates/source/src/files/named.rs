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
        // Joining nothing would add a `/` at the end, with which the system refuses a path of a file.
        Some((above, real)) => match path.strip_prefix(above) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => path.clone(),
        },
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::files::{Scratch, exists};

    #[test]
    fn path_beyond_links_names_the_same_file() {
        let place = Scratch::with_files([("a/main.tf", "")]).unwrap();
        for (name, is_there) in [
            ("a", true),
            ("a/main.tf", true),
            ("a/new.tf", false),
            ("b/c/new.tf", false),
        ] {
            let path = beyond_links(&place.path().join(name));
            assert_eq!(exists(&path), is_there, "{}", path.display());
            assert!(
                path.ends_with(name) && !path.to_string_lossy().ends_with('/'),
                "{}",
                path.display()
            );
        }
    }
}
