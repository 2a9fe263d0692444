//! Writes files: each whole or not at all, several all or none, and never through a link that leaves the repository.
//!
//! ```text
//! --fix of queues.tf and function.tf
//! 1. both texts are staged: written to files without names, with the mode and owner of those that they replace
//! 2. both files are asked whether they still hold what was judged
//! 3. each staged file gets a random name beside its target and is renamed over it
//! 4. where the second cannot take its place, the first gets its old text back
//! ```
//!
//! What is staged has no name until step 3, so that a killed run leaves nothing half-written behind, and one whole text
//! at most (Linux; elsewhere, and on file systems without such files, it has a random name from the start). A file with several hard links, and one whose owner
//! cannot be given to another, is written in place: its other names keep meaning it.

use super::disk::{self, kind_of_itself};
use super::{Files, Kind, Refusal, named, repository_root};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// What begins the name of a file that is about to take another's place.
const PREFIX: &str = ".sqslint-";

/// A new text for a file.
#[derive(Debug, Clone, Copy)]
pub struct Change<'c> {
    /// The file.
    pub path: &'c Path,
    /// The text that was judged: a file that holds another by now is left alone.
    pub before: &'c str,
    /// The text that takes its place.
    pub after: &'c str,
}

/// Files that could not be written.
#[derive(Debug)]
pub struct Failure {
    /// The file that failed.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
    /// Files that were changed before and could not get their old text back.
    pub changed: Vec<PathBuf>,
}

/// Makes all `changes`, or none: what was changed before one fails gets its text back.
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

/// Gives files their old texts back; returns those that keep the new one.
fn undo(done: &[Change<'_>], files: &Files) -> Vec<PathBuf> {
    let undone = |change: &&Change<'_>| {
        let back = Change {
            path: change.path,
            before: change.after,
            after: change.before,
        };
        Staged::new(&back, files).and_then(|staged| staged.put(&back)).is_ok()
    };
    let kept = done.iter().filter(|change| !undone(change));
    kept.map(|change| change.path.to_owned()).collect()
}

/// A text that is ready to take its place.
struct Staged {
    target: PathBuf,
    text: Text,
}

enum Text {
    /// A file beside the target, without a name where the system has such files.
    Beside(Beside),
    /// The target is written itself, as it has other names or an owner that would be lost.
    InPlace,
}

impl Staged {
    fn new(change: &Change<'_>, files: &Files) -> io::Result<Self> {
        // A link is followed to where it leads inside of the repository, and stays.
        let target = files.find(change.path).map_err(io::Error::other)?;
        is_still(&target, change.before)?;
        let metadata = target.metadata()?;
        if metadata.permissions().readonly() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        let text = if has_other_names(&metadata) {
            Text::InPlace
        } else {
            Beside::new(&target, Some(&metadata), &mut |file| {
                file.write_all(change.after.as_bytes())
            })?
            .map_or(Text::InPlace, Text::Beside)
        };
        Ok(Staged { target, text })
    }

    fn put(self, change: &Change<'_>) -> io::Result<()> {
        is_still(&self.target, change.before)?;
        match self.text {
            Text::Beside(beside) => beside.replace(&self.target),
            Text::InPlace => in_place(&self.target, change.before, change.after),
        }
    }
}

/// Whether the file holds the text that was judged.
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
        // Half of a text is worse than the old one; where that fails too, the first error is told.
        let _ = whole(before);
    })
}

/// A staged file.
enum Beside {
    #[cfg(target_os = "linux")]
    Nameless(File),
    Named(NamedTempFile),
}

impl Beside {
    /// `None` where the file cannot be given the owner of `like`.
    fn new(target: &Path, like: Option<&Metadata>, text: Fill<'_>) -> io::Result<Option<Self>> {
        let directory = target.parent().unwrap_or(Path::new("."));
        let mut beside = Beside::empty(directory)?;
        let file = beside.file();
        filled(file, text)?;
        if let Some(like) = like {
            if !give_owner(file, like) {
                return Ok(None);
            }
            file.set_permissions(like.permissions())?;
        }
        Ok(Some(beside))
    }

    #[cfg(target_os = "linux")]
    fn empty(directory: &Path) -> io::Result<Self> {
        match linux::nameless(directory) {
            Ok(file) => Ok(Beside::Nameless(file)),
            Err(_) => named_file(directory).map(Beside::Named),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn empty(directory: &Path) -> io::Result<Self> {
        named_file(directory).map(Beside::Named)
    }

    fn file(&mut self) -> &mut File {
        match self {
            #[cfg(target_os = "linux")]
            Beside::Nameless(file) => file,
            Beside::Named(file) => file.as_file_mut(),
        }
    }

    /// Puts it in the place of `target`, which need not be there.
    fn replace(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Beside::Nameless(file) => linux::put(file, target),
            Beside::Named(file) => file.persist(target).map(|_| ()).map_err(|error| error.error),
        }
    }
}

/// A file with a random name that nobody else can have made, and that goes where it is not put in its place.
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

    /// A file without a name, which is gone with its handle.
    pub(super) fn nameless(directory: &Path) -> io::Result<File> {
        let flags = i32::try_from(OFlags::TMPFILE.bits()).map_err(io::Error::other)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o666).custom_flags(flags);
        options.open(directory)
    }

    /// Names the file and renames it over `target`: a rename needs a name.
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
        // Without `/proc` its text goes through a file that has a name.
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

/// Windows tells the number of names only of an open file, and an owner is inherited from the directory.
#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}

/// Gives `file` the owner and group that `like` has; `false` where the system refuses.
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

/// Writes a file that need not be there yet, whole or not at all. The user named it, so it may lie anywhere; a link that
/// leaves its repository, or leads nowhere, is not followed.
pub fn save(path: &Path, text: &[u8]) -> Result<(), Refusal> {
    save_by(path, &mut |file| file.write_all(text))
}

/// What writes a text.
pub type Fill<'f> = &'f mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

fn filled(file: &mut File, text: Fill<'_>) -> io::Result<()> {
    let mut buffered = BufWriter::new(file);
    text(&mut buffered)?;
    buffered.flush()
}

/// The same for a text that is made as it is written.
pub fn save_by(path: &Path, fill: Fill<'_>) -> Result<(), Refusal> {
    let target = target(path)?;
    let like = target.metadata().ok();
    if like.as_ref().is_some_and(|like| like.permissions().readonly()) {
        let error = io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only");
        return Err(Refusal::Io(error));
    }
    // A pipe or a device, as in `--report sarif=/dev/stderr`, is written as it is: there is nothing to keep.
    let is_replaced = like
        .as_ref()
        .is_none_or(|like| like.is_file() && !has_other_names(like));
    let beside = if is_replaced {
        Beside::new(&target, like.as_ref(), fill)?
    } else {
        None
    };
    match beside {
        Some(beside) => Ok(beside.replace(&target)?),
        None => Ok(filled(
            &mut OpenOptions::new().write(true).truncate(true).open(&target)?,
            fill,
        )?),
    }
}

/// The real path that `path`, which need not be there, names.
fn target(path: &Path) -> Result<PathBuf, Refusal> {
    let (parent, Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Refusal::NotAFile);
    };
    let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
    let parent = named(parent.unwrap_or(Path::new("."))).map_err(|refusal| match refusal {
        Refusal::Missing => Refusal::Io(io::Error::other("its directory does not exist")),
        other => other,
    })?;
    let whole = parent.join(name);
    match kind_of_itself(&whole) {
        Ok(Kind::Link) => named(&whole).map_err(|refusal| match refusal {
            Refusal::Missing => Refusal::Io(io::Error::other("it is a link that leads nowhere")),
            other => other,
        }),
        Ok(Kind::Directory) => Err(Refusal::NotAFile),
        Ok(Kind::Other) if repository_root(&parent).is_some() => Err(Refusal::NotAFile),
        _ => Ok(whole),
    }
}

/// The same for a place that a configuration names, which has to lie below a bound of `files`.
pub fn save_within(files: &Files, path: &Path, text: &[u8]) -> Result<(), Refusal> {
    if !files.holds(&target(path)?) {
        return Err(Refusal::Outside);
    }
    save(path, text)
}

/// Writes a file where nothing is, not even a link that leads nowhere.
pub fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

/// Adds to a file that the environment names.
pub fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    file.write_all(text.as_bytes())
}
