//! Writes files atomically: a single file completely or not at all, several files all or none, and never through a link
//! that leaves the repository.
//!
//! ```text
//! --fix of queues.tf and function.tf
//! 1. stage both texts: write them to files without names, with the mode and owner of the files to replace
//! 2. check that both files still have the content that was linted
//! 3. link each staged file under a random name next to its target, and rename it over the target
//! 4. if the second file cannot be replaced, restore the first
//! ```
//!
//! Staged files have no name until step 3, so a killed run leaves no partial file, and at most one complete one. (On
//! systems other than Linux, and on file systems without such files, they have a random name from the start.) A file
//! with several hard links is written in place, so that its other names keep referring to it, and so is one whose owner
//! cannot be preserved.

use super::disk::{self, symlink_kind};
use super::{EntryKind, Files, GIT, Refusal, named, repository_root};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// Prefix of the names of staged files.
const PREFIX: &str = ".sqslint-";

/// A new text for a file.
#[derive(Debug, Clone, Copy)]
pub struct Change<'c> {
    /// Path of the file.
    pub path: &'c Path,
    /// Text that was linted. A file with another content is not changed.
    pub before: &'c str,
    /// New text.
    pub after: &'c str,
}

/// Files that could not be written.
#[derive(Debug)]
pub struct Failure {
    /// File that failed.
    pub path: PathBuf,
    /// Reason of the failure.
    pub error: io::Error,
    /// Files that were changed before the failure and could not be restored.
    pub changed: Vec<PathBuf>,
}

/// Makes all `changes` or none: if one fails, the files changed before it are restored.
pub fn replace_all(changes: &[Change<'_>], files: &Files) -> Result<(), Failure> {
    let failure = |change: &Change<'_>, error, changed| Failure {
        path: change.path.to_owned(),
        error,
        changed,
    };
    let mut staged = Vec::with_capacity(changes.len());
    for change in changes {
        staged.push(Staged::new(change, files).map_err(|error| failure(change, error, Vec::new()))?);
    }
    for (at, (change, staged)) in changes.iter().zip(staged).enumerate() {
        if let Err(error) = staged.put(change) {
            let done = changes.get(..at).unwrap_or_default();
            return Err(failure(change, error, undo(done, files)));
        }
    }
    Ok(())
}

/// Restores the old texts of files, and returns the files for which that failed.
fn undo(done: &[Change<'_>], files: &Files) -> Vec<PathBuf> {
    let undone = |change: &&Change<'_>| {
        let back = Change {
            path: change.path,
            before: change.after,
            after: change.before,
        };
        Staged::new(&back, files).and_then(|staged| staged.put(&back)).is_ok()
    };
    let not_restored = done.iter().filter(|change| !undone(change));
    not_restored.map(|change| change.path.to_owned()).collect()
}

/// A new text ready to replace its target.
struct Staged {
    target: PathBuf,
    text: StagedText,
}

enum StagedText {
    /// A file in the target's directory, without a name if the system supports that.
    File(StagedFile),
    /// The target is overwritten, because it has other names or an owner that would be lost.
    InPlace,
}

impl Staged {
    fn new(change: &Change<'_>, files: &Files) -> io::Result<Self> {
        // A link within the repository is followed: its target is replaced, the link stays.
        let target = files.find(change.path).map_err(io::Error::other)?;
        is_still(&target, change.before)?;
        let metadata = target.metadata()?;
        if is_read_only(&metadata) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        let text = if has_other_names(&metadata) {
            StagedText::InPlace
        } else {
            StagedFile::new(&target, Some(&metadata), &mut |file| {
                file.write_all(change.after.as_bytes())
            })?
            .map_or(StagedText::InPlace, StagedText::File)
        };
        Ok(Staged { target, text })
    }

    fn put(self, change: &Change<'_>) -> io::Result<()> {
        is_still(&self.target, change.before)?;
        match self.text {
            StagedText::File(staged) => staged.replace(&self.target),
            StagedText::InPlace => in_place(&self.target, change.before, change.after),
        }
    }
}

/// Returns an error unless the file has the text that was linted.
fn is_still(target: &Path, before: &str) -> io::Result<()> {
    let bytes = disk::read(target, before.len() as u64);
    if bytes.is_ok_and(|bytes| bytes == before.as_bytes()) {
        return Ok(());
    }
    Err(io::Error::other("it has changed since it was read, or is not UTF-8"))
}

fn in_place(target: &Path, before: &str, after: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(target)?;
    let mut whole = |text: &str| {
        io::Seek::rewind(&mut file)?;
        file.write_all(text.as_bytes())?;
        file.set_len(text.len() as u64)
    };
    whole(after).inspect_err(|_| {
        // A partial text is worse than the old one. If restoring fails as well, the first error is returned.
        let _ = whole(before);
    })
}

/// A staged file.
enum StagedFile {
    #[cfg(target_os = "linux")]
    Nameless(File),
    Named(NamedTempFile),
}

impl StagedFile {
    /// Creates a staged file with the owner and mode of `like`, or `None` if its owner cannot be set.
    fn new(target: &Path, like: Option<&Metadata>, text: WriteText<'_>) -> io::Result<Option<Self>> {
        let directory = target.parent().unwrap_or(Path::new("."));
        let mut staged = StagedFile::empty(directory)?;
        let file = staged.file();
        filled(file, text)?;
        if let Some(like) = like {
            if !give_owner(file, like) {
                return Ok(None);
            }
            file.set_permissions(like.permissions())?;
        }
        Ok(Some(staged))
    }

    #[cfg(target_os = "linux")]
    fn empty(directory: &Path) -> io::Result<Self> {
        match linux::nameless(directory) {
            Ok(file) => Ok(StagedFile::Nameless(file)),
            Err(_) => named_file(directory).map(StagedFile::Named),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn empty(directory: &Path) -> io::Result<Self> {
        named_file(directory).map(StagedFile::Named)
    }

    fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            StagedFile::Nameless(file) => file,
            StagedFile::Named(file) => file.as_file_mut(),
        }
    }

    /// Moves it to `target`, which need not exist.
    fn replace(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            StagedFile::Nameless(file) => linux::put(file, target),
            StagedFile::Named(file) => file.persist(target).map(|_| ()).map_err(|error| error.error),
        }
    }
}

/// Creates a new file with a random name, which is deleted when it is dropped.
fn named_file(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Builder, File, OpenOptions, PREFIX, Path, io, named_file};
    use rustix::fs::{AtFlags, CWD, OFlags};
    use std::io::Seek;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    /// Creates a file without a name, which disappears with its handle.
    pub(super) fn nameless(directory: &Path) -> io::Result<File> {
        let flags = i32::try_from(OFlags::TMPFILE.bits()).map_err(io::Error::other)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o666).custom_flags(flags);
        options.open(directory)
    }

    /// Gives the file a name and renames it over `target`: only a named file can be renamed.
    pub(super) fn put(mut file: File, target: &Path) -> io::Result<()> {
        let directory = target.parent().unwrap_or(Path::new("."));
        let of_process = format!("/proc/self/fd/{}", file.as_raw_fd());
        let named = Builder::new().prefix(PREFIX).make_in(directory, |name| {
            Ok(rustix::fs::linkat(
                CWD,
                of_process.as_str(),
                CWD,
                name,
                AtFlags::SYMLINK_FOLLOW,
            )?)
        });
        if let Ok(named) = named {
            return named.persist(target).map_err(|error| error.error);
        }
        // Without `/proc`, copy the text to a file with a name.
        let mut copy = named_file(directory)?;
        file.rewind()?;
        io::copy(&mut file, copy.as_file_mut())?;
        copy.as_file().set_permissions(file.metadata()?.permissions())?;
        copy.persist(target).map(|_| ()).map_err(|error| error.error)
    }
}

#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

/// Windows has the number of names only for open files, and owners are inherited from the directory. WebAssembly knows
/// neither names nor modes: a file that is written in place keeps both.
#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    cfg!(target_family = "wasm")
}

/// Returns `true` if the mode of the file forbids writing. WebAssembly does not know that, and the system refuses.
fn is_read_only(metadata: &Metadata) -> bool {
    cfg!(not(target_family = "wasm")) && metadata.permissions().readonly()
}

/// Gives `file` the owner and group of `like`; returns `false` if the system refuses.
#[cfg(unix)]
fn give_owner(file: &File, like: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, fchown};
    let is_alike = |own: Metadata| (own.uid(), own.gid()) == (like.uid(), like.gid());
    file.metadata().is_ok_and(is_alike) || fchown(file, Some(like.uid()), Some(like.gid())).is_ok()
}

#[cfg(not(unix))]
fn give_owner(_: &File, _: &Metadata) -> bool {
    true
}

/// Writes a file, which need not exist, completely or not at all. The user named it, so it may be anywhere. A dangling
/// link and a link that leaves its repository are not followed.
pub fn save(path: &Path, text: &[u8]) -> Result<(), Refusal> {
    save_by(path, &mut |file| file.write_all(text))
}

/// Callback that writes a text.
pub type WriteText<'f> = &'f mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

fn filled(file: &mut File, text: WriteText<'_>) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    text(&mut buffered)?;
    buffered.flush()
}

/// Like [`save`], with a text that is generated while it is written.
pub fn save_by(path: &Path, fill: WriteText<'_>) -> Result<(), Refusal> {
    let target = target(path)?;
    let like = target.metadata().ok();
    if like.as_ref().is_some_and(is_read_only) {
        let error = io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only");
        return Err(Refusal::Io(error));
    }
    // A pipe or a device, as in `--report sarif=/dev/stderr`, is written directly: it has no old content to preserve.
    let is_replaced = like
        .as_ref()
        .is_none_or(|like| like.is_file() && !has_other_names(like));
    let staged = if is_replaced {
        StagedFile::new(&target, like.as_ref(), fill)?
    } else {
        None
    };
    match staged {
        Some(staged) => Ok(staged.replace(&target)?),
        None => Ok(filled(
            &mut OpenOptions::new().write(true).truncate(true).open(&target)?,
            fill,
        )?),
    }
}

/// Resolves `path`, which need not exist, to the real path of a file that may be written.
pub fn target(path: &Path) -> Result<PathBuf, Refusal> {
    let (parent, Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Refusal::NotAFile);
    };
    let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
    let parent = named(parent.unwrap_or(Path::new("."))).map_err(|refusal| match refusal {
        Refusal::Missing => Refusal::Io(io::Error::other("its directory does not exist")),
        other => other,
    })?;
    let whole = parent.join(name);
    let root = repository_root(&parent);
    if root.as_ref().is_some_and(|root| whole.starts_with(root.join(GIT))) {
        return Err(Refusal::Git);
    }
    // `/dev/stdout` and `/dev/fd/63` are links to pipes, which have no path.
    let is_stream = |file: Metadata| !file.is_file() && !file.is_dir();
    match symlink_kind(&whole) {
        Ok(EntryKind::Link) if root.is_none() && whole.metadata().is_ok_and(is_stream) => Ok(whole),
        Ok(EntryKind::Link) => named(&whole).map_err(|refusal| match refusal {
            Refusal::Missing => Refusal::Io(io::Error::other("it is a link that leads nowhere")),
            other => other,
        }),
        Ok(EntryKind::Directory) => Err(Refusal::NotAFile),
        Ok(EntryKind::Other) if root.is_some() => Err(Refusal::NotAFile),
        _ => Ok(whole),
    }
}

/// Like [`save`], for a path from a configuration, which must be within a bound of `files`.
pub fn save_within(files: &Files, path: &Path, text: &[u8]) -> Result<(), Refusal> {
    if !files.contains(&target(path)?) {
        return Err(Refusal::Outside);
    }
    save(path, text)
}

/// Writes a new file. The path must not exist, not even as a dangling link.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Appends to a file that the environment names.
pub fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}
