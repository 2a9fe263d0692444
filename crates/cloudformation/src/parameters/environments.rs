//! Finds environments in files next to a template: tables of a SAM configuration, and parameter files.
//!
//! ```text
//! template.yaml                       Parameters: {Timeout, Stage}
//! samconfig.toml                      [prod.deploy.parameters]           the environment `prod`
//! parameters/dev.json                 [{"ParameterKey": "Timeout", …}]   the environment `dev`
//! config/test/queues.yaml             template_path: template.yaml       the environment `test`, of Sceptre
//! ```

use super::{Settings, files, samconfig, sceptre};
use crate::NamedInputs;
use crate::inputs::{Inputs, Parameters};
use crate::limits;
use rustc_hash::FxHashMap;
use source::files::{EntryKind, Files};
use source::reading::{Problem, read};
use source::{Dependencies, FileId, Sources};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use trees::{Node, Parsed, parsed};

/// Directory of a project of Sceptre with the configurations of its stacks.
const SCEPTRE: &str = "config";

/// Parameter files next to templates, cached by directory because a directory may contain many templates.
#[derive(Debug, Default)]
pub(super) struct ParameterFiles(Mutex<FxHashMap<(PathBuf, Layout), DirectoryEntry>>);

/// Ways in which parameter files are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Layout {
    /// Files next to the templates.
    Beside,
    /// Configurations in the `config` directory of a Sceptre project, each of which names its template.
    Sceptre,
}

/// The parameter files of one directory, and the files read to find them.
type DirectoryEntry = (Arc<Vec<ParameterFile>>, Arc<Dependencies>);

/// A parameter file, and the parameters that it sets.
#[derive(Debug)]
struct ParameterFile {
    path: PathBuf,
    names: BTreeSet<Arc<str>>,
    /// Reason why it cannot be read.
    problem: Option<Problem>,
    /// Paths that its template may have, if it names one.
    templates: Vec<PathBuf>,
}

/// Environments of a template.
#[derive(Debug, Default)]
pub(crate) struct Environments {
    pub(crate) inputs: Vec<NamedInputs>,
    /// Names of the parameters that their files set.
    pub(crate) set: BTreeSet<Arc<str>>,
    /// Names of those whose defaults no stack has: every configuration of Sceptre sets them, or no file can be read that
    /// may set them.
    pub(crate) always: BTreeSet<Arc<str>>,
    /// Environments whose files cannot be read, with the reasons.
    pub(crate) unread: Vec<(String, Problem)>,
}

impl Settings {
    /// Returns the stages of the service at `path`, if the run searches for environments.
    pub(crate) fn stages(&self, path: &Path, named: impl FnOnce() -> Vec<String>) -> Vec<NamedInputs> {
        if self.found.is_none() {
            return Vec::new();
        }
        let environments = named().into_iter().map(|name| NamedInputs {
            name: name.clone(),
            path: path.to_owned(),
            inputs: Inputs {
                stage: Some(name),
                ..Inputs::default()
            },
        });
        environments.collect()
    }

    /// Returns the environments of the template at `path`, which declares `names`, and the names that their files set.
    pub(crate) fn environments(&self, path: &Path, names: &[&str], sources: &Sources) -> Environments {
        let mut set = BTreeSet::new();
        let Some(found) = self.found.as_ref().filter(|_| !names.is_empty()) else {
            return Environments::default();
        };
        let environment = |name: String, inputs: Inputs| NamedInputs {
            name,
            path: path.to_owned(),
            inputs,
        };
        let tables = samconfig::environments(path, sources)
            .into_iter()
            .map(|(name, assigned)| {
                set.extend(assigned);
                let stage = Some(name.clone());
                let inputs = Inputs {
                    stage,
                    ..Inputs::default()
                };
                environment(name, inputs)
            });
        let mut all: Vec<NamedInputs> = tables.collect();
        let is_of = |file: &&ParameterFile| file.names.iter().all(|name| names.contains(&&**name));
        let aside = sources.separate();
        let assigned = |file: &ParameterFile| -> BTreeSet<Arc<str>> {
            let assigned = files::read(&file.path, &aside).unwrap_or_default();
            assigned.into_iter().map(|(name, _)| name).collect()
        };
        let of_file = |file: &ParameterFile| Inputs {
            parameters: vec![Parameters::File(file.path.clone())],
            ..Inputs::default()
        };
        let mut always: Option<BTreeSet<Arc<str>>> = None;
        let directory = path.parent().unwrap_or(Path::new(""));
        let beside = found.in_directory(directory, Layout::Beside, sources);
        let (mut unread, mut unset) = (Vec::new(), BTreeSet::new());
        for file in beside.iter() {
            if let Some(problem) = &file.problem {
                let may_set = names.iter().filter(|name| file.names.contains(**name));
                let before = unset.len();
                unset.extend(may_set.map(|name| Arc::from(*name)));
                if unset.len() > before {
                    unread.push((name_of(&file.path), problem.clone()));
                }
            } else if is_of(&file) {
                set.extend(assigned(file));
                all.push(environment(name_of(&file.path), of_file(file)));
            }
        }
        for project in directory.ancestors().take(limits::MAX_SCEPTRE_PARENTS) {
            let configured = project.join(SCEPTRE);
            if sources.files().is_directory(&configured) {
                let files = found.in_directory(project, Layout::Sceptre, sources);
                for file in files.iter().filter(|file| file.templates.iter().any(|one| one == path)) {
                    let assigned = assigned(file);
                    set.extend(assigned.iter().cloned());
                    always = Some(always.map_or(assigned.clone(), |always| &always & &assigned));
                    all.push(environment(sceptre::name_of(&file.path, &configured), of_file(file)));
                }
            }
        }
        let mut always = always.unwrap_or_default();
        if all.is_empty() {
            always.extend(unset);
        }
        Environments {
            inputs: all,
            set,
            always,
            unread,
        }
    }
}

impl ParameterFiles {
    /// Returns the parameter files in `directory`.
    fn in_directory(&self, directory: &Path, layout: Layout, sources: &Sources) -> Arc<Vec<ParameterFile>> {
        let key = (directory.to_owned(), layout);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known().get(&key).cloned();
        if let Some((found, noted)) = before {
            sources.add_dependencies(&noted);
            return found;
        }
        // The lock must not be held here, because this reads files.
        let (found, noted) = sources.cached(directory, layout, |sources| search(directory, layout, sources));
        known().insert(key, (found.clone(), noted));
        found
    }
}

/// Finds parameter files in `directory` and its direct subdirectories, or those of a project of Sceptre.
fn search(directory: &Path, layout: Layout, sources: &Sources) -> Vec<ParameterFile> {
    let aside = sources.separate();
    let mut directories = vec![match layout {
        Layout::Beside => directory.to_owned(),
        Layout::Sceptre => directory.join(SCEPTRE),
    }];
    let mut documents = Vec::new();
    let mut at = 0;
    while let Some(next) = directories.get(at).cloned() {
        for (name, kind) in sorted(&next, sources.files()) {
            let is_document = [".json", ".yaml", ".yml"].iter().any(|end| name.ends_with(end));
            match kind {
                EntryKind::Directory
                    if (at == 0 || layout == Layout::Sceptre) && !name.starts_with('.') && name != "node_modules" =>
                {
                    directories.push(next.join(name));
                }
                EntryKind::File(_) if is_document => documents.push(next.join(name)),
                _ => {}
            }
        }
        at += 1;
        if documents.len() > limits::MAX_PARAMETER_FILES || directories.len() > limits::MAX_PARAMETER_FILES {
            break;
        }
    }
    documents.truncate(limits::MAX_PARAMETER_FILES);
    let named = documents.into_iter().filter_map(|path| {
        let ((names, problem), templates) = match layout {
            Layout::Beside => (names_in(&path, &aside)?, Vec::new()),
            Layout::Sceptre => (Default::default(), sceptre::templates(&path, directory, &aside)?),
        };
        Some(ParameterFile {
            path,
            names,
            problem,
            templates,
        })
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

/// Returns the names of the parameters that a file sets, or `None` if it is not a parameter file. Of one that cannot be
/// read, returns its words and the problem.
fn names_in(file: &Path, sources: &Sources) -> Option<(BTreeSet<Arc<str>>, Option<Problem>)> {
    let may_be =
        |text: &str| text.contains("ParameterKey") || (text.contains("Parameters") && !text.contains("Resources"));
    let (id, parsed) = parsed_if(file, sources, may_be)?;
    if let Some(problem) = parsed.errors.first() {
        let file = sources.file(id);
        let words = file.text().split(|one: char| !one.is_alphanumeric());
        let problem = Problem::invalid(problem.span, problem.message.clone());
        return Some((words.map(Arc::from).collect(), Some(problem)));
    }
    let [only] = parsed.documents.as_slice() else {
        return None;
    };
    let names = files::names_in(only).filter(|names| !names.is_empty())?;
    Some((names, None))
}

/// Returns what `get` finds in the only document of a file, if its text `may_be` of the right kind.
pub(crate) fn with_document<T>(
    file: &Path,
    sources: &Sources,
    may_be: impl FnOnce(&str) -> bool,
    get: impl FnOnce(&Node) -> Option<T>,
) -> Option<T> {
    let (_, parsed) = parsed_if(file, sources, may_be)?;
    match (parsed.documents.as_slice(), parsed.errors.is_empty()) {
        ([only], true) => get(only),
        _ => None,
    }
}

/// Returns the tree of a file whose text `may_be` of the right kind.
fn parsed_if(file: &Path, sources: &Sources, may_be: impl FnOnce(&str) -> bool) -> Option<(FileId, Arc<Parsed>)> {
    let head = sources.files().head(file, limits::MAX_PARAMETER_FILE_SIZE).ok()?;
    std::str::from_utf8(&head).ok().filter(|text| may_be(text))?;
    let id = read(file, sources).ok()?;
    Some((id, parsed::settings(id, &sources.file(id))))
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
