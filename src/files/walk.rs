//! A walk over a directory, the same on disk and in an earlier commit. Links are not followed, so there are no circles.

use super::{Files, Kind, Listed, Refusal};
use rayon::Scope;
use std::path::{Path, PathBuf};

/// What a walk asks and tells, from any thread and in no order.
pub(crate) trait Visitor: Sync {
    /// What it knows of a directory while it is asked for the names in it.
    type Inside;

    /// Is told the names in a directory before it is asked for any of them.
    fn enter(&self, directory: &Path, names: &[Listed]) -> Self::Inside;

    /// Whether to go on with what lies at `path`: to enter a directory, or to take a file.
    fn keeps(&self, inside: &Self::Inside, path: &Path, kind: Kind) -> bool;

    /// Takes what is no directory.
    fn take(&self, path: &Path, kind: Kind);

    /// Takes a directory whose names cannot be read.
    fn fail(&self, directory: &Path, refusal: &Refusal);
}

impl Files {
    /// Walks what lies below `root`, a real path. What is named is walked whatever the visitor would keep.
    pub(crate) fn walk(&self, root: &Path, visitor: &impl Visitor) {
        rayon::in_place_scope(|scope| self.enter(root.to_owned(), visitor, scope));
    }

    fn enter<'s>(&'s self, directory: PathBuf, visitor: &'s impl Visitor, scope: &Scope<'s>) {
        self.note(&directory);
        let listed = match self.store.list(&directory) {
            Ok(listed) => listed,
            Err(error) => return visitor.fail(&directory, &error.into()),
        };
        let inside = visitor.enter(&directory, &listed);
        for one in listed {
            let path = directory.join(one.name);
            if !visitor.keeps(&inside, &path, one.kind) {
                continue;
            }
            if one.kind == Kind::Directory {
                // Not by recursion: a path may have thousands of levels.
                scope.spawn(move |scope| self.enter(path, visitor, scope));
            } else {
                visitor.take(&path, one.kind);
            }
        }
    }
}
