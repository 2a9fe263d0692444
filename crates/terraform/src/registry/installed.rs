//! Modules that `terraform init` installed: reads `.terraform/modules/modules.json`, which maps calls to directories.
//! The code in them is read like that of local modules, within the same bounds.

use super::address::Address;
use super::version::Range;
use crate::module::{AllowedDirectory, Module};
use source::Sources;
use source::files::Files;
use source::reading::{Problem, ReadError, read};
use std::path::PathBuf;
use std::sync::Arc;
use trees::Node;
use trees::parsed;

/// The installed code of one call.
#[derive(Debug)]
pub struct Installed {
    /// The source that it was fetched from.
    source: Arc<str>,
    version: Option<Arc<str>>,
    pub(crate) directory: PathBuf,
}

impl Installed {
    /// Returns `true` if the code matches the current `source` and version constraint of the call. Otherwise Terraform
    /// rejects it until the next `init`.
    pub(crate) fn serves(&self, source: &str, constraint: Option<&str>) -> bool {
        let same = match (Address::read(source), Address::read(&self.source)) {
            // The manifest expands abbreviated sources.
            (Some(requested), Some(installed)) => requested == installed,
            (None, None) => source == &*self.source || self.source.ends_with(source),
            _ => false,
        };
        let allowed = match (constraint, &self.version) {
            (Some(constraint), Some(version)) => match (Range::read(constraint), Range::exactly(version)) {
                (Some(allowed), Some(installed)) => installed.newest_of(&[allowed]).is_some(),
                // Pre-releases and the like are accepted, because Terraform chose the version.
                _ => true,
            },
            _ => true,
        };
        same && allowed
    }
}

/// Reads the manifest of a root module, if it has one.
pub(crate) fn read_installed(root: &mut Module, sources: &Sources, bounds: &AllowedDirectory) {
    let path = root.directory.join(".terraform/modules/modules.json");
    if !sources.files().is_file(&path) {
        return;
    }
    let file = match read(&path, sources) {
        Ok(file) => file,
        Err(ReadError::Io(error)) => return root.errors.push(error),
        Err(ReadError::Unfit(problem)) => return root.problems.push(problem),
    };
    let parsed = parsed::settings(file, &sources.file(file));
    root.problems.extend(parsed.problems());
    for document in &parsed.documents {
        let Some(entries) = document.entry("Modules").and_then(|entry| entry.value.items()) else {
            let message = "it is not the list of modules that `terraform init` writes";
            root.problems.push(Problem::invalid(document.span, message));
            continue;
        };
        for entry in entries {
            if let Some((key, installed)) = read_entry(entry, root, bounds, sources.files()) {
                root.installed.insert(key, installed);
            }
        }
    }
}

/// Parses an entry of the manifest; `None` for the root itself, for local modules (their callers lead to them), and for
/// directories that are missing or out of bounds.
fn read_entry(entry: &Node, root: &Module, bounds: &AllowedDirectory, files: &Files) -> Option<(Arc<str>, Installed)> {
    let text = |name: &str| entry.entry(name).and_then(|entry| entry.value.as_str());
    let key = text("Key").filter(|key| !key.is_empty())?;
    let source = text("Source").filter(|source| !source.starts_with('.'))?;
    let directory = files.real(&root.directory.join(text("Dir")?)).ok()?;
    (files.is_directory(&directory) && bounds.allow(&directory)).then(|| {
        let installed = Installed {
            source: source.into(),
            version: text("Version").filter(|version| !version.is_empty()).map(Into::into),
            directory,
        };
        (key.into(), installed)
    })
}
