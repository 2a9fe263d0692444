//! Resolves the files that a template names. Only files inside the project are opened; symbolic links are resolved
//! before the check.

use source::Sources;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Returns the file that `location`, written in the file `from`, names, or the reason why it is not read.
pub(crate) fn file(location: &str, from: &Path, sources: &Sources) -> Result<PathBuf, Arc<str>> {
    let is_remote = ["s3://", "http://", "https://"]
        .iter()
        .any(|scheme| location.starts_with(scheme));
    if is_remote || location.contains("${") {
        return Err(format!("`{location}` is not a local file").into());
    }
    let directory = from.parent().unwrap_or(from);
    let missing = || Arc::from(format!("there is no file `{location}`"));
    let found = directory.join(location.strip_prefix("file://").unwrap_or(location));
    let found = sources.files().real(&found).map_err(|_| missing())?;
    let is_near = found.starts_with(directory) || sources.files().contains(&found);
    if !(is_near && sources.files().allows(&found)) {
        return Err(format!("`{location}` is outside the project").into());
    }
    if sources.files().is_file(&found) {
        Ok(found)
    } else {
        Err(missing())
    }
}
