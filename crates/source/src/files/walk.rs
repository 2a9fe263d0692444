//! Walks directories, on disk or in an earlier commit. Links are not followed, so a walk cannot run into a cycle.

use super::{DirectoryEntry, EntryKind, Files, Refusal};
use rayon::Scope;
use std::path::{Path, PathBuf};

/// Callbacks of a walk, called from any thread and in arbitrary order.
pub trait Visitor: Sync {
    /// State for the entries of one directory.
    type Inside;

    /// Called with the names in a directory before any of them is visited.
    fn enter(&self, directory: &Path, names: &[DirectoryEntry]) -> Self::Inside;

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

    fn enter<'s>(&'s self, directory: PathBuf, visitor: &'s impl Visitor, scope: &Scope<'s>) {
        self.record(&directory);
        let listed = match self.store.list(&directory) {
            Ok(listed) => listed,
            Err(error) => return visitor.fail(&directory, &error.into()),
        };
        let inside = visitor.enter(&directory, &listed);
        for one in listed {
            let path = directory.join(one.name);
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
    }
}
