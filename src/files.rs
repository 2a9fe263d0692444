//! The one place that opens files, and the one that writes them.
//!
//! Inputs come from strangers' pull requests, so each question is asked of the file itself and not of its name:
//!
//! ```text
//! leak.tf -> /proc/self/environ      a link out of the repository     not read: Refusal::Outside
//! z.tf -> /dev/zero, a FIFO          no ordinary file                 not read: Refusal::NotAFile
//! template.yaml of 8 GB              larger than the bound            not read: Refusal::TooLarge
//! file(".git/config")                git's own files, with tokens     not read: Refusal::Git
//! ```
//!
//! A link is resolved before anything is asked, a file is opened without waiting for another end, and what was opened
//! is looked at before a byte of it is read. It knows no dialect and no format; `write.rs` writes.

#[cfg(test)]
pub(crate) mod counts;
mod disk;
mod ignored;
mod named;
mod notes;
mod overlaid;
mod scratch;
mod store;
mod walk;
pub mod write;

pub(crate) use disk::{Stamp, read as of_disk, stamp};
pub use disk::{absolute, exists, is_directory, is_file, kind, real, repository_root};
pub(crate) use ignored::{Ignored, Patterns};
pub use named::{beyond_links, named};
pub(crate) use notes::{Asked, Paths};
pub(crate) use overlaid::{Held as HeldTexts, Overlaid};
pub(crate) use scratch::Scratch;
use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::Disk;
pub use store::Store;
pub(crate) use walk::Visitor;

/// The directory that git keeps its own files in.
const GIT: &str = ".git";

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is nothing at the path.
    #[error("no such file")]
    Missing,
    /// It lies outside of what may be read, or is a link that leads there.
    #[error("it lies outside of the repository")]
    Outside,
    /// The same, through a link.
    #[error("it is a link that leads out of the repository")]
    LeadsOut,
    /// It belongs to git, which keeps credentials there.
    #[error("it is one of git's own files")]
    Git,
    /// A directory, a pipe, a socket or a device.
    #[error("it is not an ordinary file")]
    NotAFile,
    /// More bytes than the bound.
    #[error("it is larger than {}", Size(*.0))]
    TooLarge(u64),
    /// The system refuses.
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

/// A number of bytes, as people write a bound.
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

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary file of so many bytes.
    File(u64),
    /// A directory.
    Directory,
    /// A symbolic link, where links are not followed.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// One name in a directory; a link is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name.
    pub name: OsString,
    /// What bears it.
    pub kind: Kind,
}

/// Which files a run may read.
#[derive(Debug, Clone)]
pub struct Files {
    /// Where they come from.
    store: Arc<dyn Store>,
    /// The root of the repository, real; without one, what was named bounds the run.
    repository: Option<PathBuf>,
    /// Real directories that the user named, which may lie elsewhere.
    roots: Vec<PathBuf>,
    /// Real files that the user named, wherever they lie.
    trusted: Vec<PathBuf>,
    held: Arc<Mutex<Held>>,
    /// Where somebody wants to know what was asked about.
    asked: Option<Arc<Asked>>,
}

/// What was read already, by real path.
type Held = HashMap<PathBuf, Vec<u8>>;

impl Default for Files {
    fn default() -> Self {
        Files::new(None, Vec::new())
    }
}

impl Files {
    /// The files of `repository` on disk, and those below `roots`; both are real paths.
    pub fn new(repository: Option<PathBuf>, roots: Vec<PathBuf>) -> Self {
        Files {
            store: Arc::new(Disk::default()),
            repository,
            roots,
            trusted: Vec::new(),
            held: Arc::default(),
            asked: None,
        }
    }

    /// The same, and files that the command line names; those that are not there are left out.
    #[must_use]
    pub fn trusting<'p>(mut self, files: impl IntoIterator<Item = &'p Path>) -> Self {
        self.trusted
            .extend(files.into_iter().filter_map(|file| named(file).ok()));
        self
    }

    /// The same bounds for files that come from `store`.
    #[must_use]
    pub fn of(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self.held = Arc::default();
        self
    }

    /// The same, noting in `asked` every path that something is asked about.
    #[must_use]
    pub(crate) fn noting(mut self, asked: Arc<Asked>) -> Self {
        self.asked = Some(asked);
        self
    }

    /// What is noted there, where it is.
    pub(crate) fn asked(&self) -> Option<&Arc<Asked>> {
        self.asked.as_ref()
    }

    /// Notes that something was asked about `path`.
    fn note(&self, path: &Path) {
        if let Some(asked) = &self.asked {
            asked.note(path);
        }
    }

    /// The same, and what lies below `root`.
    #[must_use]
    pub fn with_root(mut self, root: &Path) -> Self {
        self.roots.push(root.to_owned());
        self
    }

    /// The root of the repository.
    pub fn repository(&self) -> Option<&Path> {
        self.repository.as_deref()
    }

    /// The real path of what lies at `path`, where it may be read.
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

    /// The part of the real path `found` that lies below a bound.
    fn below<'f>(&self, found: &'f Path) -> Option<&'f Path> {
        let mut bounds = self.repository.iter().chain(&self.roots);
        bounds.find_map(|bound| found.strip_prefix(bound).ok())
    }

    /// The same; `path` led to it. Without a repository `..` may lead further, as to local modules, and a link may not.
    fn bound<'f>(&self, path: &Path, found: &'f Path) -> Option<&'f Path> {
        let is_plain = || self.repository.is_none() && found == clean(path);
        self.below(found).or_else(|| is_plain().then_some(found))
    }

    /// Whether the real path `found` lies below a bound, so that a configuration may ask for it to be written.
    pub fn holds(&self, found: &Path) -> bool {
        self.below(found).is_some_and(|below| !is_of_git(below))
    }

    /// Whether what lies at the real path `found` may be read.
    pub fn allows(&self, found: &Path) -> bool {
        self.bound(found, found).is_some_and(|below| !is_of_git(below))
    }

    /// The real path of what a user names.
    pub fn named(&self, path: &Path) -> Result<PathBuf, Refusal> {
        self.store.named(path)
    }

    /// `path` without links, `.` and `..`; it has to exist, and need not be one that may be read.
    pub fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.note(path);
        let real = self.store.real(path)?;
        self.note(&real);
        Ok(real)
    }

    /// What lies at `path`; a link is not followed.
    pub(crate) fn kind_of_itself(&self, path: &Path) -> io::Result<Kind> {
        self.note(path);
        self.store.kind_of_itself(path)
    }

    /// Whether a directory lies at `path`.
    pub fn is_directory(&self, path: &Path) -> bool {
        self.note(path);
        matches!(self.store.kind(path), Ok(Kind::Directory))
    }

    /// Whether anything lies at `path`; a link that leads nowhere counts.
    pub fn exists(&self, path: &Path) -> bool {
        self.kind_of_itself(path).is_ok()
    }

    /// The bytes of an ordinary file of at most `most`.
    pub fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        let found = self.find(path)?;
        let held = self.held().remove(&found);
        let held = held.filter(|bytes| bytes.len() as u64 <= most);
        held.map_or_else(|| self.store.read(&found, most), Ok)
    }

    /// The same for a path that a [walk](Self::walk) came to, which is real: it is not looked up once more.
    pub(crate) fn read_walked(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        if !self.allows(path) {
            return self.read(path, most);
        }
        self.note(path);
        self.store.read(path, most)
    }

    /// Keeps what was read of the file at the real path `path` for whoever reads it next: it had to be read to tell what
    /// it is.
    pub(crate) fn hold(&self, path: &Path, bytes: Vec<u8>) {
        self.held().insert(path.to_owned(), bytes);
    }

    /// Gives back what was [held](Self::hold), and nobody asked for.
    pub(crate) fn let_go(&self) {
        self.held().clear();
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first bytes of an ordinary file, at most `most`.
    pub fn head(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        self.store.head(&self.find(path)?, most)
    }

    /// What lies at `path`, where it may be read; a link is followed.
    pub fn kind(&self, path: &Path) -> Option<Kind> {
        self.store.kind(&self.find(path).ok()?).ok()
    }

    /// Whether an ordinary file lies at `path` that may be read.
    pub fn is_file(&self, path: &Path) -> bool {
        matches!(self.kind(path), Some(Kind::File(_)))
    }

    /// The names in a directory that may be read, in no order.
    pub fn list(&self, directory: &Path) -> Result<Vec<Listed>, Refusal> {
        Ok(self.store.list(&self.find(directory)?)?)
    }

    /// Whether the directory has a name that `is_wanted` asks for.
    pub fn has_name(&self, directory: &Path, is_wanted: impl Fn(&str) -> bool) -> bool {
        let names = self.list(directory).unwrap_or_default();
        names.iter().any(|listed| listed.name.to_str().is_some_and(&is_wanted))
    }
}

/// Whether a path below a bound leads into git's directory.
fn is_of_git(below: &Path) -> bool {
    let mut names = below.components().map(Component::as_os_str);
    names.any(|name| name.eq_ignore_ascii_case(GIT))
}

/// `path` without `.` and `..`, by its text alone: it need not exist.
pub(crate) fn clean(path: &Path) -> PathBuf {
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
