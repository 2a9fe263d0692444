//! Reads and writes files. No other module opens any.
//!
//! Inputs come from pull requests of strangers, so every check is made on the file itself and not on its name:
//!
//! ```text
//! leak.tf -> /proc/self/environ      link out of the repository       not read: Refusal::Outside
//! z.tf -> /dev/zero, a FIFO          not a regular file               not read: Refusal::NotAFile
//! template.yaml of 8 GB              larger than the bound            not read: Refusal::TooLarge
//! file(".git/config")                git's own files, with tokens     not read: Refusal::Git
//! ```
//!
//! Links are resolved before any check, files are opened without blocking on a pipe, and checked through their handle
//! before a byte is read. This module does not know dialects or formats; `write.rs` writes.

#[cfg(feature = "counts")]
pub mod counts;
mod disk;
mod ignored;
mod named;
mod overlaid;
mod recorder;
mod scratch;
mod store;
mod walk;
pub mod write;

pub use disk::{Stamp, head, read as of_disk, stamp};
pub use disk::{absolute, exists, is_directory, is_file, kind, real, repository_root};
pub use ignored::{Ignored, Patterns};
pub use named::{beyond_links, named};
pub use overlaid::{Overlaid, UnsavedTexts};
pub use recorder::{PathRecorder, Paths};
pub use scratch::Scratch;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::Disk;
pub use store::Store;
pub use walk::Visitor;

/// Name of git's own directory.
const GIT: &str = ".git";

/// Reason why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The path does not exist.
    #[error("no such file")]
    Missing,
    /// The file is outside of the directories that may be read.
    #[error("it lies outside of the repository")]
    Outside,
    /// The path is a link to a file outside of the directories that may be read.
    #[error("it is a link that leads out of the repository")]
    LeadsOut,
    /// The file belongs to git, which stores credentials there.
    #[error("it is one of git's own files")]
    Git,
    /// A directory, a pipe, a socket or a device.
    #[error("it is not an ordinary file")]
    NotAFile,
    /// The file has more bytes than this bound.
    #[error("it is larger than {}", Size(*.0))]
    TooLarge(u64),
    /// The operating system reports an error.
    #[error("{0}")]
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Refusal::Missing,
            _ => Refusal::Io(error),
        }
    }
}

/// A number of bytes, displayed in a round unit.
struct Size(u64);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            bytes if bytes >= 1 << 20 => write!(f, "{} MiB", bytes >> 20),
            bytes if bytes >= 1 << 10 => write!(f, "{} KiB", bytes >> 10),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

/// Type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file of this many bytes.
    File(u64),
    /// A directory.
    Directory,
    /// A symbolic link, if links are not followed.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Name of the entry.
    pub name: OsString,
    /// Type of the entry; links are not followed.
    pub kind: EntryKind,
}

/// The files that a run may read.
#[derive(Debug, Clone)]
pub struct Files {
    /// Origin of the files.
    store: Arc<dyn Store>,
    /// Real path of the repository root. Without one, the named paths bound the run.
    repository: Option<PathBuf>,
    /// Real paths of directories that the user named, in or outside of the repository.
    roots: Vec<PathBuf>,
    /// Real paths of files that the user named, wherever they are.
    trusted: Vec<PathBuf>,
    read_ahead: Arc<Mutex<ReadAhead>>,
    listed: Arc<Mutex<walk::Listed>>,
    /// Recorder of the paths that are asked about.
    recorder: Option<Arc<PathRecorder>>,
}

/// Contents that were read ahead, by real path.
type ReadAhead = HashMap<PathBuf, Vec<u8>>;

impl Default for Files {
    fn default() -> Self {
        Files::new(None, Vec::new())
    }
}

impl Files {
    /// Allows to read the files of `repository` and those below `roots`, on disk. All are real paths.
    pub fn new(repository: Option<PathBuf>, roots: Vec<PathBuf>) -> Self {
        Files {
            store: Arc::new(Disk::default()),
            repository,
            roots,
            trusted: Vec::new(),
            read_ahead: Arc::default(),
            listed: Arc::default(),
            recorder: None,
        }
    }

    /// Also allows the files `files`, which the command line names. Missing ones are skipped.
    #[must_use]
    pub fn trusting<'p>(mut self, files: impl IntoIterator<Item = &'p Path>) -> Self {
        self.trusted
            .extend(files.into_iter().filter_map(|file| named(file).ok()));
        self
    }

    /// Reads files from `store` instead, within the same bounds.
    #[must_use]
    pub fn from_store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self.read_ahead = Arc::default();
        self.listed = Arc::default();
        self
    }

    /// Records in `recorder` every path that is asked about.
    #[must_use]
    pub fn recording(mut self, recorder: Arc<PathRecorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Returns the recorder of paths, if there is one.
    pub fn recorder(&self) -> Option<&Arc<PathRecorder>> {
        self.recorder.as_ref()
    }

    /// Records that `path` was asked about.
    fn record(&self, path: &Path) {
        if let Some(recorder) = &self.recorder {
            recorder.record(path);
        }
    }

    /// Also allows the files below `root`.
    #[must_use]
    pub fn with_root(mut self, root: &Path) -> Self {
        self.roots.push(root.to_owned());
        self
    }

    /// Returns the repository root.
    pub fn repository(&self) -> Option<&Path> {
        self.repository.as_deref()
    }

    /// Returns the real paths of the directories that may be read, the repository first.
    pub fn bounds(&self) -> impl Iterator<Item = &Path> {
        self.repository.iter().chain(&self.roots).map(PathBuf::as_path)
    }

    /// Returns the real path of `path` if it may be read.
    pub fn find(&self, path: &Path) -> Result<PathBuf, Refusal> {
        let found = self.real(path)?;
        if self.trusted.contains(&found) {
            return Ok(found);
        }
        match self.bound(path, &found) {
            None if found == clean(path) => Err(Refusal::Outside),
            None => Err(Refusal::LeadsOut),
            Some(below) if is_of_git(below) => Err(Refusal::Git),
            Some(_) => Ok(found),
        }
    }

    /// Returns the part of the real path `found` below a bound, if it is within one.
    fn below<'f>(&self, found: &'f Path) -> Option<&'f Path> {
        let mut bounds = self.repository.iter().chain(&self.roots);
        bounds.find_map(|bound| found.strip_prefix(bound).ok())
    }

    /// Like [`below`](Self::below), for `found` reached through `path`. Without a repository, `..` may leave the
    /// bounds, as in the paths of local modules, but a link may not.
    fn bound<'f>(&self, path: &Path, found: &'f Path) -> Option<&'f Path> {
        let is_plain = || self.repository.is_none() && found == clean(path);
        self.below(found).or_else(|| is_plain().then_some(found))
    }

    /// Returns `true` if the real path `found` is within a bound, so that a configuration may request to write it.
    pub fn contains(&self, found: &Path) -> bool {
        self.below(found).is_some_and(|below| !is_of_git(below))
    }

    /// Returns `true` if the real path `found` may be read.
    pub fn allows(&self, found: &Path) -> bool {
        self.bound(found, found).is_some_and(|below| !is_of_git(below))
    }

    /// Returns the real path of a path that the user names.
    pub fn named(&self, path: &Path) -> Result<PathBuf, Refusal> {
        self.store.named(path)
    }

    /// Returns `path` without links, `.` and `..`. It must exist, but the run need not be allowed to read it.
    pub fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.record(path);
        let real = self.store.real(path)?;
        self.record(&real);
        Ok(real)
    }

    /// Returns the type of the file at `path`; links are not followed.
    pub fn symlink_kind(&self, path: &Path) -> io::Result<EntryKind> {
        self.record(path);
        self.store.symlink_kind(path)
    }

    /// Returns `true` if `path` is a directory.
    pub fn is_directory(&self, path: &Path) -> bool {
        self.record(path);
        matches!(self.store.kind(path), Ok(EntryKind::Directory))
    }

    /// Returns `true` if `path` exists, if only as a dangling link.
    pub fn exists(&self, path: &Path) -> bool {
        self.symlink_kind(path).is_ok()
    }

    /// Returns the content of a regular file of at most `max` bytes.
    pub fn read(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
        let found = self.find(path)?;
        let read_ahead = self.read_ahead().remove(&found);
        let read_ahead = read_ahead.filter(|bytes| bytes.len() as u64 <= max);
        read_ahead.map_or_else(|| self.store.read(&found, max), Ok)
    }

    /// Like [`read`](Self::read) for a path from a [walk](Self::walk), which is real: it is not resolved again.
    pub fn read_walked(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
        if !self.allows(path) {
            return self.read(path, max);
        }
        self.record(path);
        self.store.read(path, max)
    }

    /// Stores the content of the file at the real path `path` for its next reader. It was read to detect the file's
    /// type.
    pub fn store_read_ahead(&self, path: &Path, bytes: Vec<u8>) {
        self.read_ahead().insert(path.to_owned(), bytes);
    }

    /// Drops all [stored contents](Self::store_read_ahead).
    pub fn drop_read_ahead(&self) {
        self.read_ahead().clear();
    }

    fn read_ahead(&self) -> MutexGuard<'_, ReadAhead> {
        self.read_ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns up to `max` bytes from the start of a regular file.
    pub fn head(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
        self.store.head(&self.find(path)?, max)
    }

    /// Returns the type of the file at `path` if it may be read; links are followed.
    pub fn kind(&self, path: &Path) -> Option<EntryKind> {
        self.store.kind(&self.find(path).ok()?).ok()
    }

    /// Returns `true` if `path` is a regular file that may be read.
    pub fn is_file(&self, path: &Path) -> bool {
        matches!(self.kind(path), Some(EntryKind::File(_)))
    }

    /// Returns the entries of a directory that may be read, in arbitrary order.
    pub fn list(&self, directory: &Path) -> Result<Vec<DirectoryEntry>, Refusal> {
        Ok(self.store.list(&self.find(directory)?)?)
    }

    /// Returns `true` if the directory has an entry whose name `is_wanted` accepts.
    pub fn has_name(&self, directory: &Path, is_wanted: impl Fn(&str) -> bool) -> bool {
        let names = self.list(directory).unwrap_or_default();
        names.iter().any(|listed| listed.name.to_str().is_some_and(&is_wanted))
    }
}

/// Returns `true` if a path relative to a bound leads into git's directory.
fn is_of_git(below: &Path) -> bool {
    let mut names = below.components().map(Component::as_os_str);
    names.any(|name| name.eq_ignore_ascii_case(GIT))
}

/// Removes `.` and `..` from `path`. It is a purely textual operation: the path need not exist.
pub fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}
