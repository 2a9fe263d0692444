//! Writes a file that is still as it was read, whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

/// Puts `after` in place of `before` in the file at `path`, which keeps its permissions. A text that has become
/// another in the meantime stays.
pub(crate) fn replace(path: &Path, before: &str, after: &str) -> io::Result<()> {
    // What a link leads to is written, and the link stays.
    let path = path.canonicalize()?;
    if fs::read(&path)? != before.as_bytes() {
        return Err(io::Error::other("it has changed, or is not UTF-8"));
    }
    let permissions = fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.sqslint-{}", std::process::id()));
    let written = fs::write(&beside, after)
        .and_then(|()| fs::set_permissions(&beside, permissions))
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // What could not take the place of the file is of no use.
        let _ = fs::remove_file(&beside);
    }
    written
}
