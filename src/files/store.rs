//! Where files come from: the disk, or an earlier state of the repository that `--since` compares with. A store answers
//! what lies at a path; `Files` decides whether it may be read.

use super::{Kind, Listed, Refusal, disk, named};
use rustc_hash::FxHashMap;
use std::fmt::Debug;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// A place that files come from. Paths are absolute, and those of all stores of one repository are the same.
pub trait Store: Debug + Send + Sync {
    /// The real path of what a user names, which may be relative.
    fn named(&self, path: &Path) -> Result<PathBuf, Refusal>;

    /// `path` without links, `.` and `..`; it has to exist.
    fn real(&self, path: &Path) -> io::Result<PathBuf>;

    /// What lies at `path`; a link is followed.
    fn kind(&self, path: &Path) -> io::Result<Kind>;

    /// What lies at `path`; a link is not followed.
    fn kind_of_itself(&self, path: &Path) -> io::Result<Kind>;

    /// The names in a directory, in no order; a file's length need not be told.
    fn list(&self, directory: &Path) -> io::Result<Vec<Listed>>;

    /// The whole of an ordinary file of at most `most` bytes, at a real path.
    fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal>;

    /// The first bytes of an ordinary file, at a real path.
    fn head(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal>;
}

/// The file system.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// Directories by the paths that lead to them, with their real paths: a file in one of them takes one look, and not
    /// one for each directory above it.
    directories: RwLock<FxHashMap<PathBuf, PathBuf>>,
}

impl Disk {
    fn real_directory(&self, path: &Path) -> io::Result<PathBuf> {
        let known = self.directories.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(real) = known.get(path) {
            return Ok(real.clone());
        }
        drop(known);
        let real = disk::real(path)?;
        let mut known = self.directories.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(path.to_owned(), real.clone());
        Ok(real)
    }
}

impl Store for Disk {
    fn named(&self, path: &Path) -> Result<PathBuf, Refusal> {
        named(path)
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        // Elsewhere the system knows how a name is really spelled.
        if cfg!(any(windows, target_vendor = "apple")) {
            return disk::real(path);
        }
        // What ends in `..` or is no path below another is looked up as it is.
        let (Some(Component::Normal(name)), Some(parent)) = (path.components().next_back(), path.parent()) else {
            return disk::real(path);
        };
        if parent.as_os_str().is_empty() {
            return disk::real(path);
        }
        let found = self.real_directory(parent)?.join(name);
        match disk::kind_of_itself(&found)? {
            Kind::Link => disk::real(&found),
            _ => Ok(found),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        disk::kind(path)
    }

    fn kind_of_itself(&self, path: &Path) -> io::Result<Kind> {
        disk::kind_of_itself(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Listed>> {
        disk::list(directory)
    }

    fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        disk::read(path, most)
    }

    fn head(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        disk::head(path, most)
    }
}
