//! Which units lie under the given paths. It tells files apart by name and content (`content.rs`) and parses nothing.

mod content;
mod names;
mod recognise;
mod referrers;
mod walk;

use crate::files::{Files, Refusal, named};
use names::{TERRAGRUNT, is_terraform, is_variables, name_of};
use rayon::prelude::*;
pub(crate) use recognise::input_of;
pub use recognise::unreadable;
use recognise::{NO_UNIT, is_assembly, named_file, recognise, touched_file};
pub(crate) use referrers::is_data;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
pub(crate) use walk::files_named;
use walk::{Found, Walk, is_passed_over, shown_below, with};

/// Whether what lies at `path` is a unit by itself. Terraform files, of which several make one, are none.
pub(crate) fn is_unit(path: &Path, files: &Files) -> bool {
    let is_candidate = names::may_be_template(name_of(path)) || names::is_state(name_of(path));
    is_candidate && matches!(recognise(path, files), Ok(Some(_)))
}

/// The unit that a walk would take the file at `path` for; `None` where it is none, or a Terraform file.
pub(crate) fn unit_of(path: &Path, files: &Files) -> Option<Input> {
    let is_candidate = names::may_be_template(name_of(path)) || names::is_state(name_of(path));
    let input = recognise(path, files).ok().flatten().filter(|_| is_candidate);
    input.filter(|input| !matches!(input, Input::Plan(_)))
}

/// What to read as one unit. Paths are absolute and without symbolic links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// A directory with Terraform files.
    TerraformModule(PathBuf),
    /// A CloudFormation or SAM template.
    Template(PathBuf),
    /// A `serverless.yml`.
    ServerlessService(PathBuf),
    /// A `terragrunt.hcl`.
    Terragrunt(PathBuf),
    /// A Terraform plan or state: JSON of `terraform show`, or a state file.
    Plan(PathBuf),
    /// A directory that a CDK app was synthesised to, told by its `manifest.json`.
    CdkApp(PathBuf),
}

impl Input {
    /// The file or directory.
    pub fn path(&self) -> &Path {
        match self {
            Input::TerraformModule(path)
            | Input::Template(path)
            | Input::ServerlessService(path)
            | Input::CdkApp(path)
            | Input::Plan(path)
            | Input::Terragrunt(path) => path,
        }
    }
}

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// Which files may be read.
    pub files: &'a Files,
    /// Files and directories that are named.
    pub paths: &'a [PathBuf],
    /// Files that have changed, absolute, there or not: they select units as named ones do, and need not.
    pub touched: &'a [PathBuf],
    /// Where units that depend on a file are looked for.
    pub repository: Option<&'a Path>,
    /// Files that git ignores are walked, too.
    pub no_gitignore: bool,
    /// A named file that is nothing to check is skipped.
    pub lenient: bool,
}

impl<'a> Wanted<'a> {
    /// `paths`, and nothing that depends on them.
    pub fn of(files: &'a Files, paths: &'a [PathBuf]) -> Self {
        Wanted {
            files,
            paths,
            touched: &[],
            repository: None,
            no_gitignore: false,
            lenient: false,
        }
    }
}

/// What lies under the given paths.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Units, sorted, each once.
    pub inputs: Vec<Input>,
    /// Paths that do not exist or cannot be read.
    pub errors: Vec<String>,
    /// Files that were named although no unit is there, and what is said of them unless they are settings of one.
    pub unfit: Vec<(PathBuf, String)>,
    /// Directories of generated or foreign code that were passed over.
    pub skipped: Vec<String>,
    /// Files that say what is to be read, and are not read themselves.
    pub refused: Vec<(PathBuf, Refusal)>,
    /// Units that nobody named, and that depend on what was.
    pub taken_in: Vec<PathBuf>,
}

/// Finds units: a file selects its own and those that depend on it, a directory every one below it.
pub fn discover(wanted: &Wanted<'_>) -> Discovery {
    let found = Mutex::new(Found::default());
    let walk = Walk::new(wanted.files, wanted.no_gitignore);
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for path in wanted.paths {
        let absolute = match wanted.files.named(path) {
            Ok(absolute) => absolute,
            Err(refusal) => {
                with(&found, |found| found.errors.push(unreadable(path, &refusal)));
                continue;
            }
        };
        if is_assembly(&absolute, wanted.files) {
            with(&found, |found| {
                found.inputs.insert(Input::CdkApp(absolute));
            });
        } else if wanted.files.is_directory(&absolute) {
            walk.units(&absolute, path, &found);
        } else {
            let named = named_file(&absolute, path, wanted.files);
            with(&found, |found| match named {
                Ok(input) => {
                    found.inputs.insert(input);
                }
                Err(_) if wanted.lenient => {}
                Err(message) => found.unfit.push((absolute.clone(), message)),
            });
            files.insert(absolute);
        }
    }
    let touched = wanted
        .touched
        .iter()
        .filter(|path| !is_passed_over(path, wanted.repository));
    for path in touched {
        let units = touched_file(path, wanted.repository, wanted.files);
        with(&found, |found| found.inputs.extend(units));
        files.insert(path.clone());
    }
    let referring = wanted
        .repository
        .map(|repository| referrers::of(&files, repository, &walk));
    let referring = referring.unwrap_or_default();
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    let candidates: Vec<(PathBuf, String)> = found.candidates.into_iter().collect();
    let read: Vec<Result<Option<Input>, String>> = candidates
        .par_iter()
        .map(|(path, _)| recognise(path, wanted.files))
        .collect();
    let mut discovery = Discovery {
        errors: found.errors,
        unfit: found.unfit,
        skipped: found.skipped.into_iter().collect(),
        refused: walk.refused(),
        ..Discovery::default()
    };
    let mut inputs = found.inputs;
    for (result, (_, shown)) in read.into_iter().zip(candidates) {
        match result {
            // It is generated and may be stale, and its module, if it is here, is judged itself.
            Ok(Some(Input::Plan(_))) => discovery.skipped.push(shown),
            Ok(input) => inputs.extend(input),
            Err(message) => discovery.errors.push(message),
        }
    }
    let taken_in = referring.difference(&inputs).map(|input| input.path().to_owned());
    discovery.taken_in = taken_in.collect();
    inputs.extend(referring);
    discovery.inputs = inputs.into_iter().collect();
    if discovery.inputs.is_empty() && !wanted.no_gitignore && !wanted.lenient {
        discovery.skipped.extend(ignored(wanted));
    }
    discovery.skipped.sort();
    discovery
}

/// What git ignores below `paths`, where nothing else is: the units, as people see their paths.
fn ignored(wanted: &Wanted<'_>) -> Vec<String> {
    let walk = Walk::new(wanted.files, true);
    let mut shown = BTreeSet::new();
    for path in wanted.paths {
        let Some(root) = wanted
            .files
            .named(path)
            .ok()
            .filter(|root| wanted.files.is_directory(root))
        else {
            continue;
        };
        let found = Mutex::new(Found::default());
        walk.units(&root, path, &found);
        let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
        shown.extend(found.inputs.iter().map(|input| shown_below(path, &root, input.path())));
        let candidates = found.candidates.into_par_iter();
        let is_unit =
            |file: &Path| matches!(recognise(file, wanted.files), Ok(Some(input)) if !matches!(input, Input::Plan(_)));
        let units = candidates.filter(|(file, _)| is_unit(file)).map(|(_, shown)| shown);
        shown.extend(units.collect::<Vec<_>>());
    }
    shown.into_iter().collect()
}

/// The file that a text stands for, and its unit: told by the file's name where there is one, else by the text.
pub fn stdin(text: &str, path: Option<&Path>, working_directory: &Path) -> Result<(PathBuf, Input), String> {
    if let Some(path) = path {
        let absolute = path_of_new(path)
            .ok_or_else(|| format!("`--stdin-filename {}`: its directory does not exist", path.display()))?;
        let name = name_of(&absolute);
        let module = absolute.parent().filter(|_| is_terraform(name) || is_variables(name));
        let input = match module {
            Some(directory) => Some(Input::TerraformModule(directory.to_owned())),
            None if name == TERRAGRUNT => Some(Input::Terragrunt(absolute.clone())),
            None => input_of(&absolute, text.as_bytes()),
        };
        let input = input.filter(|input| !matches!(input, Input::CdkApp(_)));
        let input = input.ok_or_else(|| format!("`--stdin-filename {}` {NO_UNIT}", path.display()))?;
        return Ok((absolute, input));
    }
    let path = working_directory.join("<stdin>");
    if let Some(input) = input_of(&path, text.as_bytes()) {
        return Ok((path, input));
    }
    if content::is_terraform(text) {
        // In a directory of its own, so that no file of the working directory is its neighbour.
        return Ok((path.join("main.tf"), Input::TerraformModule(path)));
    }
    Err(format!("standard input {NO_UNIT}; `--stdin-filename` says what it is"))
}

/// The absolute path of a file that need not exist, in a directory that does.
fn path_of_new(path: &Path) -> Option<PathBuf> {
    named(path).ok().or_else(|| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = named(parent.unwrap_or(Path::new("."))).ok()?;
        Some(parent.join(path.file_name()?))
    })
}

#[cfg(test)]
mod tests;
