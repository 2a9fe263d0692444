//! Counts reads of files and parses of texts, for the test that no file is read or parsed twice. Other tests run
//! concurrently, so only texts with [`MARK`] are counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Marker in the texts that are counted.
pub const MARK: &str = "counted-by-sqslint";

static READ: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());
static PARSED: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

fn locked<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a read of the file at `path` if `bytes`, its content, have the marker.
pub(super) fn read(path: &Path, bytes: &[u8]) {
    if memchr::memmem::find(bytes, MARK.as_bytes()).is_some() {
        *locked(&READ).entry(path.to_owned()).or_default() += 1;
    }
}

/// Counts a parse of `text`.
pub fn parsed(text: &str) {
    if text.contains(MARK) {
        *locked(&PARSED).entry(text.to_owned()).or_default() += 1;
    }
}

/// Returns how often the file at `path` was read and how often `text` was parsed.
pub fn of(path: &Path, text: &str) -> (usize, usize) {
    let read = locked(&READ).get(path).copied().unwrap_or_default();
    let parsed = locked(&PARSED).get(text).copied().unwrap_or_default();
    (read, parsed)
}
