//! Walks directories, on disk or in an earlier commit. Links are not followed, so a walk cannot run into a cycle.

use super::{DirectoryEntry, EntryKind, Files, Refusal};
use rayon::Scope;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

/// Entries of directories that one walk has listed, for the next walk of the run, which takes them.
pub(super) type Listed = FxHashMap<PathBuf, Vec<DirectoryEntry>>;

/// Callbacks of a walk, called from any thread and in arbitrary order.
pub trait Visitor: Sync {
    /// State for the entries of one directory.
    type Inside;

    /// `true` if the entries of the directories are kept for the next walk.
    const KEEPS_ENTRIES: bool = true;

    /// Called with the names in a directory before any of them is visited.
    fn enter(&self, directory: &Path, names: &[DirectoryEntry]) -> Self::Inside;

    /// Returns `false` if no entry with this name is to be visited, wherever it is.
    fn wants(&self, name: &str, kind: EntryKind) -> bool;

    /// Returns `true` if the entry at `path` is to be visited: a directory entered, a file taken.
    fn visits(&self, inside: &Self::Inside, path: &Path, kind: EntryKind) -> bool;

    /// Called for an entry that is not a directory.
    fn visit_file(&self, path: &Path, kind: EntryKind);

    /// Called for a directory that cannot be listed.
    fn fail(&self, directory: &Path, refusal: &Refusal);
}

impl Files {
    /// Walks the directory `root`, a real path. The root itself is entered without asking the visitor.
    pub fn walk(&self, root: &Path, visitor: &impl Visitor) {
        rayon::in_place_scope(|scope| self.enter(root.to_owned(), visitor, scope));
    }

    fn enter<'s, V: Visitor>(&'s self, directory: PathBuf, visitor: &'s V, scope: &Scope<'s>) {
        self.record(&directory);
        let known = self.listed().remove(&directory);
        let keeps = known.is_none() && V::KEEPS_ENTRIES;
        let listed = match known.map_or_else(|| self.store.list(&directory), Ok) {
            Ok(listed) => listed,
            Err(error) => return visitor.fail(&directory, &error.into()),
        };
        let inside = visitor.enter(&directory, &listed);
        for one in &listed {
            // Most entries are not wanted, and need no path.
            if !visitor.wants(one.name.to_str().unwrap_or(""), one.kind) {
                continue;
            }
            let path = directory.join(&one.name);
            if !visitor.visits(&inside, &path, one.kind) {
                continue;
            }
            if one.kind == EntryKind::Directory {
                // Spawned, not recursive: a path may have thousands of levels.
                scope.spawn(move |scope| self.enter(path, visitor, scope));
            } else {
                visitor.visit_file(&path, one.kind);
            }
        }
        if keeps {
            self.listed().insert(directory, listed);
        }
    }

    fn listed(&self) -> MutexGuard<'_, Listed> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects file names.
    #[derive(Default)]
    struct Names(std::sync::Mutex<Vec<String>>);

    impl Visitor for Names {
        type Inside = ();

        fn enter(&self, _: &Path, _: &[DirectoryEntry]) {}

        fn wants(&self, name: &str, _: EntryKind) -> bool {
            name != "b.md"
        }

        fn visits(&self, (): &(), _: &Path, _: EntryKind) -> bool {
            true
        }

        fn visit_file(&self, path: &Path, _: EntryKind) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        }

        fn fail(&self, _: &Path, _: &Refusal) {
            self.visit_file(Path::new("failed"), EntryKind::Other);
        }
    }

    #[test]
    #[allow(clippy::unwrap_used)]
    fn second_walk_lists_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let root = super::super::real(directory.path()).unwrap();
        std::fs::create_dir(root.join("d")).unwrap();
        for name in ["a.tf", "b.md", "d/c.tf"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let files = Files::default();
        let walk = |files: &Files| {
            let names = Names::default();
            files.walk(&root, &names);
            let mut found = names.0.into_inner().unwrap();
            found.sort();
            found
        };
        assert_eq!(walk(&files), ["a.tf", "c.tf"]);
        drop(directory);
        assert_eq!(walk(&files), ["a.tf", "c.tf"]);
        assert_eq!(walk(&files), ["failed"]);
    }
}
