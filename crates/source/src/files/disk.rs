//! The file system, without access checks, which [`Files`](super::Files) makes.

use super::{DirectoryEntry, EntryKind, GIT, Refusal};
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Returns `path` without links, `.` and `..`. It must exist.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Returns `path` as an absolute path, otherwise as written. It need not exist.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the type of the file at `path`; links are followed.
pub fn kind(path: &Path) -> io::Result<EntryKind> {
    Ok(of(&std::fs::metadata(path)?))
}

/// Returns the type of the file at `path`; links are not followed.
pub(super) fn symlink_kind(path: &Path) -> io::Result<EntryKind> {
    Ok(of(&std::fs::symlink_metadata(path)?))
}

/// Returns `true` if `path` is a regular file.
pub fn is_file(path: &Path) -> bool {
    matches!(kind(path), Ok(EntryKind::File(_)))
}

/// Returns `true` if `path` is a directory.
pub fn is_directory(path: &Path) -> bool {
    matches!(kind(path), Ok(EntryKind::Directory))
}

/// Returns `true` if `path` exists, if only as a dangling link.
pub fn exists(path: &Path) -> bool {
    symlink_kind(path).is_ok()
}

/// Modification time and length of a file, which change with its content.
pub type Stamp = Option<(std::time::SystemTime, u64)>;

/// Returns the stamp of the file at `path` if it exists.
pub fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Returns the nearest directory, `from` or an ancestor, that has a `.git` directory or file.
pub fn repository_root(from: &Path) -> Option<PathBuf> {
    let from = real(from).ok()?;
    let mut above = from.ancestors();
    above.find(|directory| exists(&directory.join(GIT))).map(Path::to_owned)
}

fn of(metadata: &Metadata) -> EntryKind {
    match kind_of(metadata.file_type()) {
        EntryKind::File(_) => EntryKind::File(metadata.len()),
        other => other,
    }
}

/// Converts the type of a file, without its length.
fn kind_of(file: FileType) -> EntryKind {
    match () {
        () if file.is_file() => EntryKind::File(0),
        () if file.is_dir() => EntryKind::Directory,
        () if file.is_symlink() => EntryKind::Link,
        () => EntryKind::Other,
    }
}

/// Returns the entries of a directory, without the lengths of files.
pub(super) fn list(directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
    let entries = std::fs::read_dir(directory)?.flatten();
    let listed = entries.map(|entry| DirectoryEntry {
        kind: entry.file_type().map_or(EntryKind::Other, kind_of),
        name: entry.file_name(),
    });
    Ok(listed.collect())
}

/// Returns the content of a regular file of at most `max` bytes.
pub fn read(path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
    let (file, length) = open(path)?;
    if length > max {
        return Err(Refusal::TooLarge(max));
    }
    let bytes = read_up_to(file, length, max.saturating_add(1))?;
    // It may grow while it is being read.
    if bytes.len() as u64 > max {
        return Err(Refusal::TooLarge(max));
    }
    #[cfg(feature = "counts")]
    super::counts::read(path, &bytes);
    Ok(bytes)
}

/// Returns up to `max` bytes from the start of a regular file.
pub fn head(path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
    let (file, length) = open(path)?;
    read_up_to(file, length.min(max), max)
}

fn read_up_to(mut file: File, expected: u64, max: u64) -> Result<Vec<u8>, Refusal> {
    let (expected, max) = (
        usize::try_from(expected).unwrap_or(0),
        usize::try_from(max).unwrap_or(usize::MAX),
    );
    let mut bytes = vec![0; expected.saturating_add(1).min(max)];
    let length = loop {
        match file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    bytes.truncate(length);
    // The buffer has one byte more than expected, so a file of the expected length needs no second read to find its
    // end.
    if length != expected || expected == 0 {
        let rest = max.saturating_sub(length);
        file.take(rest as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Opens a regular file and returns its length. The type is checked on the handle, because the name may meanwhile refer
/// to another file.
fn open(path: &Path) -> Result<(File, u64), Refusal> {
    let file = match without_waiting().open(path) {
        Ok(file) => file,
        // A socket, or a device without a driver, cannot be opened at all.
        Err(error) if error.raw_os_error().is_some() && matches!(kind(path), Ok(EntryKind::Other)) => {
            drop(error);
            return Err(Refusal::NotAFile);
        }
        Err(error) => return Err(error.into()),
    };
    match of(&file.metadata()?) {
        EntryKind::File(length) => Ok((file, length)),
        _ => Err(Refusal::NotAFile),
    }
}

/// Opening a pipe without a writer would otherwise block forever.
#[cfg(unix)]
fn without_waiting() -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    // The path is real, so a link in its place is an attempt to swap the file.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    options
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    options
}

/// Named pipes are not in directories on Windows.
#[cfg(not(unix))]
fn without_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}
