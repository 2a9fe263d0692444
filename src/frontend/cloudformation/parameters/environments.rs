//! Finds environments in files next to a template: tables of a SAM configuration, and parameter files.
//!
//! ```text
//! template.yaml                       Parameters: {Timeout, Stage}
//! samconfig.toml                      [prod.deploy.parameters]           the environment `prod`
//! parameters/dev.json                 [{"ParameterKey": "Timeout", …}]   the environment `dev`
//! ```

use super::{Settings, files, samconfig};
use crate::frontend::{NamedEnvironment, read};
use crate::inputs::{Inputs, Parameters};
use rustc_hash::FxHashMap;
use source::files::{EntryKind, Files};
use source::{Dependencies, Sources};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use trees::parsed;

/// Maximum number of candidate files per directory.
const MAX_FILES: usize = 256;
/// Maximum size in bytes of a candidate file.
const LARGEST: u64 = 256 << 10;

/// Parameter files next to templates, cached by directory because a directory may contain many templates.
#[derive(Debug, Default)]
pub(super) struct ParameterFiles(Mutex<FxHashMap<PathBuf, DirectoryEntry>>);

/// The parameter files of one directory, and the files read to find them.
type DirectoryEntry = (Arc<Vec<ParameterFile>>, Arc<Dependencies>);

/// A parameter file, and the parameters that it sets.
type ParameterFile = (PathBuf, BTreeSet<Arc<str>>);

impl Settings {
    /// Returns the stages of the service at `path`, if the run searches for environments.
    pub(in crate::frontend::cloudformation) fn stages(
        &self,
        path: &Path,
        named: impl FnOnce() -> Vec<String>,
    ) -> Vec<NamedEnvironment> {
        if self.found.is_none() {
            return Vec::new();
        }
        let environments = named().into_iter().map(|name| NamedEnvironment {
            name: name.clone(),
            path: path.to_owned(),
            inputs: Inputs {
                stage: Some(name),
                ..Inputs::default()
            },
        });
        environments.collect()
    }

    /// Returns the environments of the template at `path`, which declares `names`.
    pub(in crate::frontend::cloudformation) fn environments(
        &self,
        path: &Path,
        names: &[&str],
        sources: &Sources,
    ) -> Vec<NamedEnvironment> {
        let Some(found) = self.found.as_ref().filter(|_| !names.is_empty()) else {
            return Vec::new();
        };
        let environment = |name: String, inputs: Inputs| NamedEnvironment {
            name,
            path: path.to_owned(),
            inputs,
        };
        let tables = samconfig::environments(path, sources).into_iter().map(|name| {
            let stage = Some(name.clone());
            let inputs = Inputs {
                stage,
                ..Inputs::default()
            };
            environment(name, inputs)
        });
        let mut all: Vec<NamedEnvironment> = tables.collect();
        let is_of = |set: &BTreeSet<Arc<str>>| set.iter().all(|name| names.contains(&&**name));
        for (file, _) in found.next_to(path, sources).iter().filter(|(_, set)| is_of(set)) {
            let parameters = vec![Parameters::File(file.clone())];
            let inputs = Inputs {
                parameters,
                ..Inputs::default()
            };
            all.push(environment(name_of(file), inputs));
        }
        all
    }
}

impl ParameterFiles {
    /// Returns the parameter files next to the template at `path`.
    fn next_to(&self, path: &Path, sources: &Sources) -> Arc<Vec<ParameterFile>> {
        let Some(directory) = path.parent() else {
            return Arc::default();
        };
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known().get(directory).cloned();
        if let Some((found, noted)) = before {
            sources.add_dependencies(&noted);
            return found;
        }
        // The lock must not be held here, because this reads files.
        let (found, noted) = sources.cached(directory, (), |sources| search(directory, sources));
        known().insert(directory.to_owned(), (found.clone(), noted));
        found
    }
}

/// Finds parameter files in `directory` and its direct subdirectories.
fn search(directory: &Path, sources: &Sources) -> Vec<ParameterFile> {
    let aside = sources.separate();
    let mut directories = vec![directory.to_owned()];
    let mut documents = Vec::new();
    let mut at = 0;
    while let Some(next) = directories.get(at).cloned() {
        for (name, kind) in sorted(&next, sources.files()) {
            let is_document = [".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end));
            match kind {
                EntryKind::Directory if at == 0 && !name.starts_with('.') && name != "node_modules" => {
                    directories.push(next.join(name));
                }
                EntryKind::File(_) if is_document => documents.push(next.join(name)),
                _ => {}
            }
        }
        at += 1;
        if documents.len() > MAX_FILES {
            break;
        }
    }
    documents.truncate(MAX_FILES);
    let named = documents.into_iter().filter_map(|file| {
        let names = names_in(&file, &aside)?;
        Some((file, names))
    });
    named.collect()
}

fn sorted(directory: &Path, files: &Files) -> Vec<(String, EntryKind)> {
    let listed = files.list(directory).unwrap_or_default().into_iter();
    let named = listed.filter_map(|listed| Some((listed.name.into_string().ok()?, listed.kind)));
    let mut named: Vec<(String, EntryKind)> = named.collect();
    named.sort_by(|one, other| one.0.cmp(&other.0));
    named
}

/// Returns the names of the parameters that a file sets, or `None` if it is not a parameter file.
fn names_in(file: &Path, sources: &Sources) -> Option<BTreeSet<Arc<str>>> {
    let head = sources.files().head(file, LARGEST).ok()?;
    let text = std::str::from_utf8(&head).ok()?;
    let may_be = text.contains("ParameterKey") || (text.contains("Parameters") && !text.contains("Resources"));
    if !may_be {
        return None;
    }
    let id = read(file, sources, "").ok()?;
    let parsed = parsed::settings(id, &sources.file(id));
    match (parsed.documents.as_slice(), parsed.errors.is_empty()) {
        ([only], true) => files::names_in(only).filter(|names| !names.is_empty()),
        _ => None,
    }
}

/// Returns the environment's name: `prod` for `prod.json`, `prod.parameters.json`, `parameters-prod.json` and
/// `prod/parameters.json`.
fn name_of(file: &Path) -> String {
    let stem = |path: &Path| {
        path.file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default()
            .to_owned()
    };
    let name = stem(file);
    let is_common = |word: &&str| {
        !matches!(
            *word,
            "parameters" | "params" | "parameter" | "param" | "config" | "template"
        )
    };
    let words: Vec<&str> = name.split(['-', '_', '.']).filter(is_common).collect();
    match (words.is_empty(), file.parent()) {
        (false, _) => words.join("-"),
        (true, Some(directory)) => stem(directory),
        (true, None) => name,
    }
}
