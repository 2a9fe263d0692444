//! How often files are read and texts are parsed, for the test that says: once. Only what holds [`MARK`] is counted, as
//! other tests run beside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Stands in the texts that are counted.
pub(crate) const MARK: &str = "counted-by-sqslint";

static READ: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());
static PARSED: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

fn locked<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that the file at `path`, which holds `bytes`, was read.
pub(super) fn read(path: &Path, bytes: &[u8]) {
    if memchr::memmem::find(bytes, MARK.as_bytes()).is_some() {
        *locked(&READ).entry(path.to_owned()).or_default() += 1;
    }
}

/// Notes that a parser was given `text`.
pub(crate) fn parsed(text: &str) {
    if text.contains(MARK) {
        *locked(&PARSED).entry(text.to_owned()).or_default() += 1;
    }
}

/// How often the file at `path` was read, and a parser was given `text`.
pub(crate) fn of(path: &Path, text: &str) -> (usize, usize) {
    let read = locked(&READ).get(path).copied().unwrap_or_default();
    let parsed = locked(&PARSED).get(text).copied().unwrap_or_default();
    (read, parsed)
}
