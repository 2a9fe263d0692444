//! Environments that the files beside a template name: the tables of a SAM configuration, and files of parameters.
//!
//! ```text
//! template.yaml                       Parameters: {Timeout, Stage}
//! samconfig.toml                      [prod.deploy.parameters]       the environment `prod`
//! parameters/dev.json                 [{"ParameterKey": "Timeout", …}]   the environment `dev`
//! ```

use super::{Settings, files, samconfig};
use crate::files::{Files, Kind};
use crate::frontend::{NamedEnvironment, parsed, read};
use crate::given::{Given, Parameters};
use crate::source::{Noted, Sources};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// More files of a directory are not read.
const MAX_FILES: usize = 256;
/// A larger file is not looked into.
const LARGEST: u64 = 256 << 10;

/// The files of parameters beside templates, by directory: many templates lie in one.
#[derive(Debug, Default)]
pub(super) struct Found(Mutex<FxHashMap<PathBuf, Beside>>);

/// The files of parameters in one directory, and what was asked about to find them.
type Beside = (Arc<Vec<Named>>, Arc<Noted>);

/// A file of parameters, and the names that it gives values for.
type Named = (PathBuf, BTreeSet<Arc<str>>);

impl Settings {
    /// The stages of the service at `path`, where environments are looked for.
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
            given: Given {
                stage: Some(name),
                ..Given::default()
            },
        });
        environments.collect()
    }

    /// The environments of the template at `path`, which declares `names`.
    pub(in crate::frontend::cloudformation) fn environments(
        &self,
        path: &Path,
        names: &[&str],
        sources: &Sources,
    ) -> Vec<NamedEnvironment> {
        let Some(found) = self.found.as_ref().filter(|_| !names.is_empty()) else {
            return Vec::new();
        };
        let environment = |name: String, given: Given| NamedEnvironment {
            name,
            path: path.to_owned(),
            given,
        };
        let tables = samconfig::environments(path, sources).into_iter().map(|name| {
            let stage = Some(name.clone());
            let given = Given {
                stage,
                ..Given::default()
            };
            environment(name, given)
        });
        let mut all: Vec<NamedEnvironment> = tables.collect();
        let is_of = |given: &BTreeSet<Arc<str>>| given.iter().all(|name| names.contains(&&**name));
        for (file, _) in found.beside(path, sources).iter().filter(|(_, given)| is_of(given)) {
            let parameters = vec![Parameters::File(file.clone())];
            let given = Given {
                parameters,
                ..Given::default()
            };
            all.push(environment(name_of(file), given));
        }
        all
    }
}

impl Found {
    /// The files of parameters beside the template at `path`.
    fn beside(&self, path: &Path, sources: &Sources) -> Arc<Vec<Named>> {
        let Some(directory) = path.parent() else {
            return Arc::default();
        };
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known().get(directory).cloned();
        if let Some((found, noted)) = before {
            sources.absorb(&noted);
            return found;
        }
        // Not under the lock: it reads files.
        let (found, noted) = sources.remember(directory, (), |sources| search(directory, sources));
        known().insert(directory.to_owned(), (found.clone(), noted));
        found
    }
}

/// The files of parameters in `directory`, and in the directories there.
fn search(directory: &Path, sources: &Sources) -> Vec<Named> {
    let aside = sources.aside();
    let mut directories = vec![directory.to_owned()];
    let mut documents = Vec::new();
    let mut at = 0;
    while let Some(next) = directories.get(at).cloned() {
        for (name, kind) in sorted(&next, sources.files()) {
            let is_document = [".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end));
            match kind {
                Kind::Directory if at == 0 && !name.starts_with('.') && name != "node_modules" => {
                    directories.push(next.join(name));
                }
                Kind::File(_) if is_document => documents.push(next.join(name)),
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

fn sorted(directory: &Path, files: &Files) -> Vec<(String, Kind)> {
    let listed = files.list(directory).unwrap_or_default().into_iter();
    let named = listed.filter_map(|listed| Some((listed.name.into_string().ok()?, listed.kind)));
    let mut named: Vec<(String, Kind)> = named.collect();
    named.sort_by(|one, other| one.0.cmp(&other.0));
    named
}

/// The names that a file of parameters gives values for; `None` where it is something else.
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

/// `prod` for `prod.json`, `prod.parameters.json`, `parameters-prod.json` and `prod/parameters.json`.
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
