//! Origins of files: the disk, or the earlier commit that `--since` compares with. A store answers queries about paths;
//! `Files` decides what may be read.

use super::{DirectoryEntry, EntryKind, Refusal, disk, named};
use rustc_hash::FxHashMap;
use std::fmt::Debug;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// An origin of files. Paths are absolute; all stores of one repository use the same paths.
pub trait Store: Debug + Send + Sync {
    /// Returns the real path of a path that the user names, which may be relative.
    fn named(&self, path: &Path) -> Result<PathBuf, Refusal>;

    /// Returns `path` without links, `.` and `..`. It must exist.
    fn real(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns the type of the file at `path`; links are followed.
    fn kind(&self, path: &Path) -> io::Result<EntryKind>;

    /// Returns the type of the file at `path`; links are not followed.
    fn symlink_kind(&self, path: &Path) -> io::Result<EntryKind>;

    /// Returns the entries of a directory, in arbitrary order. The lengths of files may be missing.
    fn list(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>>;

    /// Returns the content of a regular file of at most `max` bytes, at a real path.
    fn read(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal>;

    /// Returns up to `max` bytes from the start of a regular file, at a real path.
    fn head(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal>;
}

/// The file system.
#[derive(Debug, Default)]
pub(super) struct Disk {
    /// Real paths of directories, by the path used for them; `None` for those that do not exist. So a file takes one
    /// lookup, not one per ancestor.
    directories: RwLock<FxHashMap<PathBuf, Option<PathBuf>>>,
}

impl Disk {
    fn real_directory(&self, path: &Path) -> io::Result<PathBuf> {
        let known = self.directories.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(real) = known.get(path) {
            return real.clone().ok_or_else(|| io::ErrorKind::NotFound.into());
        }
        drop(known);
        let real = disk::real(path);
        if real
            .as_ref()
            .map_or_else(|error| error.kind() == io::ErrorKind::NotFound, |_| true)
        {
            let mut known = self.directories.write().unwrap_or_else(PoisonError::into_inner);
            known.insert(path.to_owned(), real.as_ref().ok().cloned());
        }
        real
    }
}

impl Store for Disk {
    fn named(&self, path: &Path) -> Result<PathBuf, Refusal> {
        named(path)
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        // File systems that ignore case: only the system knows how a name is really spelled.
        if cfg!(any(windows, target_vendor = "apple")) {
            return disk::real(path);
        }
        // A path that ends in `..` or has no parent is resolved as a whole.
        let (Some(Component::Normal(name)), Some(parent)) = (path.components().next_back(), path.parent()) else {
            return disk::real(path);
        };
        if parent.as_os_str().is_empty() {
            return disk::real(path);
        }
        let found = self.real_directory(parent)?.join(name);
        match disk::symlink_kind(&found)? {
            EntryKind::Link => disk::real(&found),
            _ => Ok(found),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<EntryKind> {
        disk::kind(path)
    }

    fn symlink_kind(&self, path: &Path) -> io::Result<EntryKind> {
        disk::symlink_kind(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
        disk::list(directory)
    }

    fn read(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
        disk::read(path, max)
    }

    fn head(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
        disk::head(path, max)
    }
}
