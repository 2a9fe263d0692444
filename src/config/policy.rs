//! Finds policy files: the files below a configuration's directory that match its globs.

use super::ConfigError;
use super::check::Checked;
use globset::GlobSet;
use rustc_hash::FxHashSet;
use source::files::{EntryKind, Files};
use std::path::{Path, PathBuf};

/// Maximum size of a policy file, in bytes.
const LARGEST: u64 = 1 << 20;
/// Maximum depth of directories searched.
const MAX_DEPTH: usize = 8;
/// Maximum number of files and directories that are searched for one glob.
const MAX_ENTRIES: usize = 20_000;

/// Adds the policies of the files that `checked` names, and returns those files.
pub(super) fn read(checked: &mut Checked, files: &Files) -> Result<Vec<PathBuf>, ConfigError> {
    let mut all = Vec::new();
    let mut known = FxHashSet::default();
    for (globs, base, missing) in checked.policy_files().to_vec() {
        let Some(found) = matching(&globs, &base, files) else {
            let message = format!(
                "more than {MAX_ENTRIES} files and directories would be searched for policies; name the directory that \
                 contains them, as in `policies/*.toml`"
            );
            return Err(ConfigError { message, ..missing });
        };
        if found.is_empty() {
            return Err(missing);
        }
        for path in found {
            if !known.insert(path.clone()) {
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

/// Returns the matching files below `base`, sorted, or `None` if there are more than [`MAX_ENTRIES`] files and
/// directories.
fn matching(globs: &GlobSet, base: &Path, files: &Files) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entries = 0;
    let mut directories = vec![(base.to_owned(), 0)];
    while let Some((directory, depth)) = directories.pop() {
        let mut names = files.list(&directory).unwrap_or_default();
        names.sort_by(|a, b| a.name.cmp(&b.name));
        for listed in names {
            entries += 1;
            if entries > MAX_ENTRIES {
                return None;
            }
            let path = directory.join(&listed.name);
            let is_hidden = listed.name.to_string_lossy().starts_with('.');
            match listed.kind {
                EntryKind::Directory if depth < MAX_DEPTH && !is_hidden => directories.push((path, depth + 1)),
                EntryKind::File(_) if path.strip_prefix(base).is_ok_and(|relative| globs.is_match(relative)) => {
                    found.push(path);
                }
                _ => {}
            }
        }
    }
    found.sort();
    Some(found)
}
