//! What was asked about: a value that was made of files comes out the same as long as every path that was asked about
//! on the way, there or not, is as it was.

use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Paths as they were asked about, and without links.
pub(crate) type Paths = FxHashSet<Arc<Path>>;

/// Every path that something was asked about.
#[derive(Debug, Default)]
pub(crate) struct Asked(Mutex<Paths>);

impl Asked {
    fn lock(&self) -> MutexGuard<'_, Paths> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn note(&self, path: &Path) {
        let mut asked = self.lock();
        if !asked.contains(path) {
            asked.insert(path.into());
        }
    }

    /// Notes all of `paths`.
    pub(crate) fn note_all(&self, paths: &Paths) {
        let mut asked = self.lock();
        #[allow(clippy::iter_over_hash_type)] // into a set
        for path in paths {
            if !asked.contains(path) {
                asked.insert(path.clone());
            }
        }
    }

    /// What was noted; nothing is left.
    pub(crate) fn take(&self) -> Paths {
        std::mem::take(&mut self.lock())
    }
}
