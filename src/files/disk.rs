//! What the file system says. Nothing here asks whether a file may be read; `Files` does.

use super::{GIT, Kind, Listed, Refusal};
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// `path` without links, `.` and `..`; it has to exist.
pub fn real(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// `path` from the root, as written; it need not exist.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What lies at `path`; a link is followed.
pub fn kind(path: &Path) -> io::Result<Kind> {
    Ok(of(&std::fs::metadata(path)?))
}

/// What lies at `path`; a link is not followed.
pub(super) fn kind_of_itself(path: &Path) -> io::Result<Kind> {
    Ok(of(&std::fs::symlink_metadata(path)?))
}

/// Whether an ordinary file lies at `path`.
pub fn is_file(path: &Path) -> bool {
    matches!(kind(path), Ok(Kind::File(_)))
}

/// Whether a directory lies at `path`.
pub fn is_directory(path: &Path) -> bool {
    matches!(kind(path), Ok(Kind::Directory))
}

/// Whether anything lies at `path`; a link that leads nowhere counts.
pub fn exists(path: &Path) -> bool {
    kind_of_itself(path).is_ok()
}

/// What tells one state of a file or directory from another: when it was changed, and how long it is.
pub(crate) type Stamp = Option<(std::time::SystemTime, u64)>;

/// The state of what lies at `path`, where anything does.
pub(crate) fn stamp(path: &Path) -> Stamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The nearest directory, `from` or above it, that holds a `.git` directory or file.
pub fn repository_root(from: &Path) -> Option<PathBuf> {
    let from = real(from).ok()?;
    let mut above = from.ancestors();
    above.find(|directory| exists(&directory.join(GIT))).map(Path::to_owned)
}

fn of(metadata: &Metadata) -> Kind {
    match kind_of(metadata.file_type()) {
        Kind::File(_) => Kind::File(metadata.len()),
        other => other,
    }
}

/// The kind of a file, without its length.
fn kind_of(file: FileType) -> Kind {
    match () {
        () if file.is_file() => Kind::File(0),
        () if file.is_dir() => Kind::Directory,
        () if file.is_symlink() => Kind::Link,
        () => Kind::Other,
    }
}

/// The names in a directory; a file's length is not looked up.
pub(super) fn list(directory: &Path) -> io::Result<Vec<Listed>> {
    let entries = std::fs::read_dir(directory)?.flatten();
    let listed = entries.map(|entry| Listed {
        kind: entry.file_type().map_or(Kind::Other, kind_of),
        name: entry.file_name(),
    });
    Ok(listed.collect())
}

/// The whole of an ordinary file of at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
    let (file, length) = open(path)?;
    if length > most {
        return Err(Refusal::TooLarge(most));
    }
    let bytes = taken(file, length, most.saturating_add(1))?;
    // It may grow while it is read.
    if bytes.len() as u64 > most {
        return Err(Refusal::TooLarge(most));
    }
    #[cfg(test)]
    super::counts::read(path, &bytes);
    Ok(bytes)
}

/// The first bytes of an ordinary file.
pub(super) fn head(path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
    let (file, length) = open(path)?;
    taken(file, length.min(most), most)
}

fn taken(mut file: File, expected: u64, most: u64) -> Result<Vec<u8>, Refusal> {
    let (expected, most) = (
        usize::try_from(expected).unwrap_or(0),
        usize::try_from(most).unwrap_or(usize::MAX),
    );
    let mut bytes = vec![0; expected.saturating_add(1).min(most)];
    let length = loop {
        match file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    bytes.truncate(length);
    // One byte more was asked for than there should be: what ends where it should need not be asked again.
    if length != expected || expected == 0 {
        let rest = most.saturating_sub(length);
        file.take(rest as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// An ordinary file and its length. What was opened is asked, not the name, which may mean something else by then.
fn open(path: &Path) -> Result<(File, u64), Refusal> {
    let file = match without_waiting().open(path) {
        Ok(file) => file,
        // A socket, or a device without a driver, cannot be opened at all.
        Err(error) if error.raw_os_error().is_some() && matches!(kind(path), Ok(Kind::Other)) => {
            drop(error);
            return Err(Refusal::NotAFile);
        }
        Err(error) => return Err(error.into()),
    };
    match of(&file.metadata()?) {
        Kind::File(length) => Ok((file, length)),
        _ => Err(Refusal::NotAFile),
    }
}

/// A pipe without a writer would make an ordinary `open` wait for ever.
#[cfg(unix)]
fn without_waiting() -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    // The path is real, so a link in its place was put there since.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    options
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    options
}

/// Named pipes of Windows are no files of a directory.
#[cfg(not(unix))]
fn without_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}
