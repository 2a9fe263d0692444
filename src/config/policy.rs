//! Files that hold policies: which ones the globs of a configuration name, below its own directory.

use super::ConfigError;
use super::check::Checked;
use crate::files::{Files, Kind};
use globset::GlobSet;
use std::path::{Path, PathBuf};

/// A file of policies that is larger is none.
const LARGEST: u64 = 1 << 20;
/// Directories below each other that are looked into.
const MAX_DEPTH: usize = 8;
/// Files and directories that are looked at.
const MAX_ENTRIES: usize = 20_000;

/// Adds to `checked` the policies of the files that it names, and gives those files.
pub(super) fn read(checked: &mut Checked, files: &Files) -> Result<Vec<PathBuf>, ConfigError> {
    let mut all = Vec::new();
    for (globs, base, missing) in checked.policy_files().to_vec() {
        let found = matching(&globs, &base, files);
        if found.is_empty() {
            return Err(missing);
        }
        for path in found {
            if all.contains(&path) {
                continue;
            }
            let refused = |message: String| ConfigError {
                message: format!("`{}`: {message}", super::shown(&path)),
                ..missing.clone()
            };
            let bytes = files
                .read(&path, LARGEST)
                .map_err(|refusal| refused(refusal.to_string()))?;
            let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8".to_owned()))?;
            checked.add_policies(&text, &path)?;
            all.push(path);
        }
    }
    Ok(all)
}

/// The files below `base` that match, sorted.
fn matching(globs: &GlobSet, base: &Path, files: &Files) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries = 0;
    let mut directories = vec![(base.to_owned(), 0)];
    while let Some((directory, depth)) = directories.pop() {
        let mut names = files.list(&directory).unwrap_or_default();
        names.sort_by(|a, b| a.name.cmp(&b.name));
        for listed in names {
            entries += 1;
            if entries > MAX_ENTRIES {
                return found;
            }
            let path = directory.join(&listed.name);
            let is_hidden = listed.name.to_string_lossy().starts_with('.');
            match listed.kind {
                Kind::Directory if depth < MAX_DEPTH && !is_hidden => directories.push((path, depth + 1)),
                Kind::File(_) if path.strip_prefix(base).is_ok_and(|relative| globs.is_match(relative)) => {
                    found.push(path);
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}
