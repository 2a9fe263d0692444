//! Environments named by files near a root module: variable files that Terraform does not load automatically.
//!
//! ```text
//! infra/main.tf              variable "timeout" {}, variable "stage" {}
//! infra/env/dev.tfvars       timeout = 5            the environment `dev`
//! infra/prod/terraform.tfvars  timeout = 300        the environment `prod`
//! infra/other.tfvars         region = "eu"          of another module: `region` is not declared here
//! ```
//!
//! A file belongs to a root that declares every name in it, or at least half of them and not fewer than any other module
//! nearby: Terraform only warns of an undeclared name. Files with equal names that set the same variables are
//! separate environments, named by their paths (`eu/prod`, `us/prod`).
//!
//! Without such files, the values that the modules compare the workspace or a variable with become environments. With
//! such files, these values add inputs to the environments of the same names. If the modules mention workspaces that no
//! file is named after (`shop-dev`, for `dev.tfvars`), the workspace of an environment that they do not mention is
//! unresolved.

mod written;

use super::inputs::values;
use super::inputs::{Inputs, Variable};
use super::module::{Module, Modules, is_code};
use crate::limits;
use rustc_hash::{FxHashMap, FxHasher};
use source::files::{EntryKind, Files};
use source::reading::{Problem, ReadError, read};
use source::{Dependencies, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use written::{ModuleChoices, Selector};

/// Search results that all roots share.
pub struct EnvironmentSearch<'m> {
    modules: &'m Modules,
    /// Hash of the variables that each module declares.
    pub fingerprint: u64,
    written: ModuleChoices<'m>,
    siblings: Mutex<FxHashMap<PathBuf, (Arc<Siblings>, Arc<Dependencies>)>>,
}

/// The subdirectories of a directory; `None` if there are more than [`limits::MAX_SIBLING_DIRECTORIES`].
struct Siblings(Option<Vec<(String, EntryKind)>>);

/// Variable files near a root that no module loads automatically, with the names that they set.
struct NearbyFiles(Vec<VariableFile>);

/// A variable file.
struct VariableFile {
    path: PathBuf,
    /// Names that it sets.
    names: BTreeSet<Arc<str>>,
    /// `true` if it cannot be read completely.
    is_broken: bool,
}

/// Environments of a root.
#[derive(Debug, Default)]
pub struct Environments {
    /// Their inputs by name.
    pub inputs: BTreeMap<String, Inputs>,
    /// Names of the variables that their files set.
    pub variables: BTreeSet<Arc<str>>,
    /// Environments whose variable files cannot be read, with the reasons.
    pub unread: Vec<(String, Problem)>,
}

/// Returns the environments of `root`.
pub fn of_root<'m>(root: &'m Module, found: &EnvironmentSearch<'m>, sources: &Sources) -> Environments {
    let beside = found.beside(&root.directory, sources);
    let mut by_directory: BTreeMap<PathBuf, Vec<(PathBuf, BTreeSet<Arc<str>>)>> = BTreeMap::new();
    let mut set: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut unread = Vec::new();
    let own = beside.0.iter().filter(|file| found.is_of(file, root));
    for VariableFile {
        path: file,
        names,
        is_broken,
    } in own
    {
        set.extend(names.iter().cloned());
        if names.is_empty() {
            // It may set any variable.
            set.extend(root.variables.keys().cloned());
        }
        if *is_broken && let (_, Some(problem)) = parsed(file, sources) {
            unread.push((name_of(&named_place(file)), problem));
            continue;
        }
        if let Some(directory) = file.parent() {
            by_directory
                .entry(directory.to_owned())
                .or_default()
                .push((file.clone(), names.clone()));
        }
    }
    let mut places: Vec<(PathBuf, Vec<(PathBuf, BTreeSet<Arc<str>>)>)> = Vec::new();
    for (directory, files) in by_directory {
        // Files in one directory that set different variables are parts of one environment, unless they are called so.
        let named = files
            .iter()
            .filter(|(file, _)| NAMES.contains(&&*name_of(&named_place(file))));
        if directory != root.directory && files.len() > 1 && named.count() < 2 && are_disjoint(&files) {
            places.push((directory, files));
        } else {
            places.extend(files.into_iter().map(|file| (named_place(&file.0), vec![file])));
        }
    }
    let mut by_name: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for (place, files) in places {
        by_name.entry(name_of(&place)).or_default().push((place, files));
    }
    let mut all: BTreeMap<String, Inputs> = BTreeMap::new();
    for (name, places) in by_name {
        let files: Vec<_> = places.iter().flat_map(|(_, files)| files).cloned().collect();
        let is_one = are_disjoint(&files);
        for (place, files) in places {
            // `eu/prod.tfvars` and `us/prod.tfvars` are two environments if they set the same variables.
            let name = if is_one { name.clone() } else { path_below(&place, root) };
            let files = files.into_iter().map(|(file, _)| Variable::File(file));
            all.entry(name).or_default().variables.extend(files);
        }
    }
    let is_by_files = !all.is_empty();
    let written = found.written.values(root);
    if is_by_files {
        mark_unresolved_workspaces(&mut all, &written);
    }
    let variables = set.clone();
    set.extend(root.settings.iter().map(|(_, setting)| setting.name.clone()));
    for (selector, values) in written {
        if matches!(&selector, Selector::Variable(name) if set.contains(name)) {
            continue;
        }
        for value in values {
            let name = selector.name(&value);
            if !is_by_files || all.contains_key(&name) {
                selector.give(&value, all.entry(name).or_default());
            }
        }
    }
    Environments {
        inputs: all,
        variables,
        unread,
    }
}

/// Marks the workspace of an environment as unresolved if the modules do not mention a workspace of its name but do
/// mention others that have no file: `dev.tfvars` may belong to the workspace `shop-dev`.
fn mark_unresolved_workspaces(all: &mut BTreeMap<String, Inputs>, written: &BTreeMap<Selector, BTreeSet<Arc<str>>>) {
    let Some(names) = written.get(&Selector::Workspace) else {
        return;
    };
    if names.iter().all(|name| all.contains_key(&**name)) {
        return;
    }
    for (name, inputs) in all {
        inputs.is_workspace_unresolved = !names.contains(name.as_str());
    }
}

impl Selector {
    /// Returns the name of the environment in which the selector is `value`: `prod`, or `size=large` if the variable
    /// does not name environments.
    fn name(&self, value: &str) -> String {
        match self {
            Selector::Variable(name) if !is_of_environments(name) => format!("{name}={value}"),
            _ => value.to_owned(),
        }
    }

    fn give(&self, value: &str, inputs: &mut Inputs) {
        match self {
            Selector::Workspace => inputs.workspace = Some(value.to_owned()),
            // Values in files take precedence, because they come later.
            Selector::Variable(name) => inputs
                .variables
                .insert(0, Variable::Assignment(format!("{name}={value}"))),
        }
    }
}

/// Returns `true` if the name of a variable suggests that it selects an environment: `env`, `environment_name`,
/// `deploy_stage`.
fn is_of_environments(name: &str) -> bool {
    let mut words = name.split('_');
    words.any(|word| matches!(word, "env" | "environment" | "stage" | "workspace" | "tier"))
}

impl<'m> EnvironmentSearch<'m> {
    /// Creates a search of the roots among `modules`.
    pub fn in_modules(modules: &'m Modules) -> Self {
        let mut hasher = FxHasher::default();
        for (directory, module) in modules {
            directory.hash(&mut hasher);
            module.variables.keys().for_each(|name| name.hash(&mut hasher));
        }
        EnvironmentSearch {
            modules,
            fingerprint: hasher.finish(),
            written: ModuleChoices::in_modules(modules),
            siblings: Mutex::default(),
        }
    }

    /// Returns `true` if `file` sets the variables of `root`. A file without a readable name belongs to the modules above.
    fn is_of(&self, file: &VariableFile, root: &Module) -> bool {
        let (own, all) = (declared(&file.names, root), file.names.len());
        if all == 0 {
            return file.is_broken && file.path.starts_with(&root.directory) && !root.variables.is_empty();
        }
        // Modules that find the file, too.
        let near = |module: &&Arc<Module>| {
            module
                .directory
                .parent()
                .is_some_and(|above| file.path.starts_with(above))
        };
        let is_better = |module: &Arc<Module>| declared(&file.names, module) > own;
        own == all || (own * 2 >= all && !self.modules.values().filter(near).any(is_better))
    }

    /// Returns the environments in files near `directory`. The result does not depend on the modules, so it stays
    /// cached while a module is edited.
    fn beside(&self, directory: &Path, sources: &Sources) -> Arc<NearbyFiles> {
        let (beside, _) = sources.cached(directory, (), |sources| {
            let mut search = VariableFileSearch {
                files: sources.files(),
                found: Vec::new(),
                directories: 0,
            };
            search.below(directory, true, 0);
            if let Some(parent) = directory.parent().filter(|parent| sources.files().contains(parent)) {
                search.beside(directory, parent, &self.siblings(parent, sources));
            }
            let aside = sources.separate();
            let files = search.found.into_iter().map(|path| {
                let (names, problem) = parsed(&path, &aside);
                let is_broken = problem.is_some();
                VariableFile { path, names, is_broken }
            });
            NearbyFiles(files.collect())
        });
        beside
    }

    /// Returns the directories in `parent`. The result is shared, because hundreds of roots may have the same parent.
    fn siblings(&self, parent: &Path, sources: &Sources) -> Arc<Siblings> {
        let known = || self.siblings.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known().get(parent).cloned();
        if let Some((siblings, noted)) = before {
            sources.add_dependencies(&noted);
            return siblings;
        }
        // The lock is not held here, because this reads a directory.
        let (siblings, noted) = sources.cached(parent, (), |sources| {
            let mut listed = list(parent, sources.files());
            listed.retain(|(_, kind)| matches!(kind, EntryKind::Directory));
            Siblings((listed.len() <= limits::MAX_SIBLING_DIRECTORIES).then_some(listed))
        });
        known().insert(parent.to_owned(), (siblings.clone(), noted));
        siblings
    }
}

/// A search for variable files.
struct VariableFileSearch<'a> {
    files: &'a Files,
    found: Vec<PathBuf>,
    /// Number of directories searched so far.
    directories: usize,
}

impl VariableFileSearch<'_> {
    /// Adds the variable files in `directory` and below that no module loads automatically.
    fn below(&mut self, directory: &Path, is_root: bool, depth: usize) {
        let listed = list(directory, self.files);
        if !is_root && listed.iter().any(|(name, _)| is_code(name)) {
            return;
        }
        let names = listed.iter().map(|(name, _)| name);
        for name in names.filter(|name| is_variables(name) && !(is_root && is_read(name))) {
            let path = directory.join(name);
            if self.found.len() < limits::MAX_VARIABLE_FILES && !self.found.contains(&path) && self.files.is_file(&path)
            {
                self.found.push(path);
            }
        }
        if depth < limits::MAX_VARIABLE_FILE_DEPTH {
            self.inside(directory, &listed, depth + 1, None);
        }
    }

    /// Adds the variable files in the siblings of `root` in `parent`, and below them.
    fn beside(&mut self, root: &Path, parent: &Path, siblings: &Siblings) {
        if let Some(siblings) = &siblings.0 {
            self.inside(parent, siblings, limits::MAX_VARIABLE_FILE_DEPTH - 1, Some(root));
        }
    }

    /// Searches the subdirectories in `listed`, except for `root`. Symbolic links are not followed.
    fn inside(&mut self, directory: &Path, listed: &[(String, EntryKind)], depth: usize, root: Option<&Path>) {
        let directories = listed.iter().filter(|(_, kind)| matches!(kind, EntryKind::Directory));
        for (name, _) in directories.filter(|(name, _)| !name.starts_with('.') && name != "node_modules") {
            if self.directories == limits::MAX_VARIABLE_DIRECTORIES {
                return;
            }
            let path = directory.join(name);
            if root != Some(&path) {
                self.directories += 1;
                self.below(&path, false, depth);
            }
        }
    }
}

/// Returns the entries of a directory, sorted by name.
fn list(directory: &Path, files: &Files) -> Vec<(String, EntryKind)> {
    let listed = files.list(directory).unwrap_or_default().into_iter();
    let named = listed.filter_map(|listed| Some((listed.name.into_string().ok()?, listed.kind)));
    let mut named: Vec<(String, EntryKind)> = named.collect();
    named.sort_by(|one, other| one.0.cmp(&other.0));
    named
}

fn is_variables(name: &str) -> bool {
    [".tfvars", ".tfvars.json"].iter().any(|end| name.ends_with(end))
}

/// Returns `true` if the module in the same directory loads the file automatically.
fn is_read(name: &str) -> bool {
    let name = name.trim_end_matches(".json");
    name == "terraform.tfvars" || name.ends_with(".auto.tfvars")
}

/// Reads the names that a variable file sets, and a problem with it.
fn parsed(path: &Path, sources: &Sources) -> (BTreeSet<Arc<str>>, Option<Problem>) {
    match read(path, sources) {
        Ok(id) => {
            let (body, problems) = values(id, &sources.file(id));
            let names = body.attributes.into_iter().map(|attribute| attribute.name);
            (names.collect(), problems.into_iter().next().map(Problem::from))
        }
        Err(ReadError::Unfit(problem)) => (BTreeSet::new(), Some(problem)),
        Err(ReadError::Io(_)) => (BTreeSet::new(), None),
    }
}

/// Usual names of environments.
const NAMES: [&str; 13] = [
    "dev",
    "develop",
    "development",
    "integration",
    "live",
    "preprod",
    "prod",
    "production",
    "qa",
    "sandbox",
    "staging",
    "test",
    "uat",
];

/// Returns the number of `names` that `module` declares.
fn declared(names: &BTreeSet<Arc<str>>, module: &Module) -> usize {
    names.iter().filter(|name| module.variables.contains_key(*name)).count()
}

fn are_disjoint(files: &[(PathBuf, BTreeSet<Arc<str>>)]) -> bool {
    let mut seen = BTreeSet::new();
    files.iter().flat_map(|(_, names)| names).all(|name| seen.insert(name))
}

/// Returns the path from which the environment of `file` gets its name: `env/prod` for `env/prod.tfvars`,
/// `env/prod.auto.tfvars.json` and `env/prod/terraform.tfvars`.
fn named_place(file: &Path) -> PathBuf {
    let name = name_of(file);
    let stem = name
        .trim_end_matches(".json")
        .trim_end_matches(".tfvars")
        .trim_end_matches(".auto");
    match (stem, file.parent()) {
        ("terraform" | "", Some(directory)) => directory.to_owned(),
        _ => file.with_file_name(stem),
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str);
    name.unwrap_or_default().to_owned()
}

/// Returns `place` relative to `root` or to the parent directory of `root`.
fn path_below(place: &Path, root: &Module) -> String {
    let above = root.directory.parent();
    let below = place.strip_prefix(&root.directory).ok();
    let below = below.or_else(|| place.strip_prefix(above?).ok()).unwrap_or(place);
    below.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use source::Cache;
    use source::files::Scratch;

    #[test]
    fn variable_files_are_searched_again_after_a_reported_change() {
        let place = Scratch::with_files([
            ("live/a/main.tf", "variable \"x\" {}\n"),
            ("live/a/env/prod.tfvars", "x = 1\n"),
            ("module/main.tf", ""),
        ])
        .unwrap();
        let at = |name: &str| place.path().join(name);
        let kept = Arc::new(Cache::default());
        let files = Files::new(None, vec![place.path().to_owned()]);
        let look = || {
            let sources =
                Sources::with_files(files.clone(), place.path().to_owned()).with_cache(Some(kept.clone()), None, None);
            let modules = Modules::new();
            let found = EnvironmentSearch::in_modules(&modules);
            let beside = found.beside(&at("live/a"), &sources);
            kept.finish_run(&sources);
            let files = beside.0.iter();
            files.map(|file| name_of(&named_place(&file.path))).collect::<Vec<_>>()
        };
        assert_eq!(look(), ["prod"]);
        std::fs::write(at("live/a/env/dev.tfvars"), "x = 2\n").unwrap();
        kept.invalidate(&at("module/main.tf"), false);
        assert_eq!(look(), ["prod"], "the change was not reported");
        assert_eq!(look(), ["prod"]);
        kept.invalidate(&at("live/a/env/dev.tfvars"), true);
        assert_eq!(look(), ["dev", "prod"]);
    }
}
