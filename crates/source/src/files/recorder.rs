//! Records the paths that a computation asks about, whether they exist or not. Its result is valid as long as none of
//! them changes.

use rustc_hash::FxHashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Paths as requested, and their real paths.
pub type Paths = FxHashSet<Arc<Path>>;

/// Recorder of the paths that are asked about.
#[derive(Debug, Default)]
pub struct PathRecorder(Mutex<Paths>);

impl PathRecorder {
    fn lock(&self) -> MutexGuard<'_, Paths> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self, path: &Path) {
        let mut recorded = self.lock();
        if !recorded.contains(path) {
            recorded.insert(path.into());
        }
    }

    /// Adds all of `paths`.
    pub fn record_all(&self, paths: &Paths) {
        let mut recorded = self.lock();
        #[allow(clippy::iter_over_hash_type)] // the order is lost in a set anyway
        for path in paths {
            if !recorded.contains(path) {
                recorded.insert(path.clone());
            }
        }
    }

    /// Returns the recorded paths and clears them.
    pub fn take(&self) -> Paths {
        std::mem::take(&mut self.lock())
    }
}
