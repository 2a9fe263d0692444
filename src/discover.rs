//! Finds the units below the paths to check. It recognises files by name and content (`content.rs`), and parses
//! nothing.

mod content;
mod names;
mod recognise;
mod referrers;
mod walk;

pub(crate) use names::is_terraform;
use names::{TERRAGRUNT, is_variables, name_of};
use rayon::prelude::*;
pub(crate) use recognise::input_of;
pub use recognise::unreadable;
use recognise::{NO_UNIT, UNSHOWN_PLAN, is_assembly, named_file, recognise, touched_file};
pub(crate) use referrers::is_data;
use source::files::{Files, Refusal, named};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
pub(crate) use walk::files_named;
use walk::{UnreadKind, Walk, WalkResults, is_skipped, shown_below, with};

/// Maximum number of bytes of a file that are searched for queues.
const MAX_UNREAD: u64 = 8 << 20;

/// Returns `true` if the file at `path` is a unit by itself. Terraform files are not: their directory is the unit.
pub(crate) fn is_unit(path: &Path, files: &Files) -> bool {
    let is_candidate = names::may_be_template(name_of(path)) || names::is_state(name_of(path));
    is_candidate && matches!(recognise(path, files), Ok(Some(_)))
}

/// Returns the unit that a walk would make of the file at `path`; `None` for other files and for Terraform files.
pub(crate) fn unit_of(path: &Path, files: &Files) -> Option<Input> {
    let is_candidate = names::may_be_template(name_of(path)) || names::is_state(name_of(path));
    let input = recognise(path, files).ok().flatten().filter(|_| is_candidate);
    input.filter(|input| !matches!(input, Input::Plan(_) | Input::Snapshot(_)))
}

/// Unit to read. Paths are absolute and contain no symbolic links.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// A directory with Terraform files.
    TerraformModule(PathBuf),
    /// CloudFormation or SAM template.
    Template(PathBuf),
    /// A `serverless.yml`.
    ServerlessService(PathBuf),
    /// A `terragrunt.hcl`.
    Terragrunt(PathBuf),
    /// A Terraform plan or state: JSON of `terraform show`, or a state file.
    Plan(PathBuf),
    /// A snapshot of what an account has deployed.
    Snapshot(PathBuf),
    /// Output directory of a CDK app, recognised by its `manifest.json`.
    CdkApp(PathBuf),
}

impl Input {
    /// Returns the file or directory.
    pub fn path(&self) -> &Path {
        match self {
            Input::TerraformModule(path)
            | Input::Template(path)
            | Input::ServerlessService(path)
            | Input::CdkApp(path)
            | Input::Plan(path)
            | Input::Snapshot(path)
            | Input::Terragrunt(path) => path,
        }
    }
}

/// Returns the snapshot at `path`, or the reason why the file is not one, as a clause.
pub(crate) fn snapshot(path: &Path, files: &Files) -> Result<Input, String> {
    let absolute = files
        .named(path)
        .map_err(|refusal| format!("`{}` {refusal}", path.display()))?;
    match recognise(&absolute, files)? {
        Some(input @ Input::Snapshot(_)) => Ok(input),
        _ => Err(format!(
            "`{}` is not a snapshot; `sqslint snapshot --script` prints the script that makes one",
            path.display()
        )),
    }
}

/// Request for units.
#[derive(Debug, Clone)]
pub struct DiscoveryRequest<'a> {
    /// Files that may be read.
    pub files: &'a Files,
    /// Files and directories that the user named.
    pub paths: &'a [PathBuf],
    /// Changed files, absolute, including deleted ones. They select units as named files do, but may also select none.
    pub touched: &'a [PathBuf],
    /// Repository in which to search for units that depend on a file.
    pub repository: Option<&'a Path>,
    /// `true` if files that git ignores are walked, too.
    pub no_gitignore: bool,
    /// `true` if a named file that cannot be checked is skipped without an error.
    pub lenient: bool,
    /// `true` if the run is compared with an earlier commit, which has no generated files.
    pub is_compared: bool,
}

impl<'a> DiscoveryRequest<'a> {
    /// Creates a request for the units at `paths`, without those that depend on them.
    pub fn of(files: &'a Files, paths: &'a [PathBuf]) -> Self {
        DiscoveryRequest {
            files,
            paths,
            touched: &[],
            repository: None,
            no_gitignore: false,
            lenient: false,
            is_compared: false,
        }
    }
}

/// Result of a search for units.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Units, sorted and without duplicates.
    pub inputs: Vec<Input>,
    /// Paths that do not exist or cannot be read.
    pub errors: Vec<String>,
    /// Named files that are not part of a unit, with the error to report unless they turn out to be a unit's settings.
    pub not_units: Vec<(PathBuf, String)>,
    /// Directories of generated or third-party code that were skipped.
    pub skipped: Vec<String>,
    /// Ignore files, such as `.gitignore`, that could not be read.
    pub refused: Vec<(PathBuf, Refusal)>,
    /// Units that were not named, but depend on those that were.
    pub dependents: Vec<PathBuf>,
    /// Notes on CDK apps whose output was read or could not be read, on services in code, and on queues in files that
    /// are not read.
    pub notes: Vec<String>,
    /// Number of the latter queues.
    pub unread_queues: usize,
}

/// Finds units: a file selects its own unit and those that depend on it, a directory selects every unit below it.
pub fn discover(wanted: &DiscoveryRequest<'_>) -> Discovery {
    let walk = Walk::new(wanted.files, wanted.no_gitignore);
    let walk = if wanted.is_compared { walk.without_apps() } else { walk };
    let (mut found, files) = search(wanted, &walk);
    let referring = wanted
        .repository
        .map(|repository| referrers::of(&files, repository, &walk));
    let referring = referring.unwrap_or_default();
    let candidates: Vec<(PathBuf, String)> = std::mem::take(&mut found.candidates).into_iter().collect();
    let read: Vec<Result<Option<Input>, String>> = candidates
        .par_iter()
        .map(|(path, _)| recognise(path, wanted.files))
        .collect();
    let mut notes = notes_on(&found, wanted.is_compared);
    let unread = if wanted.is_compared {
        Vec::new()
    } else {
        unread_queues(&found, wanted, &walk)
    };
    notes.extend(unread.iter().map(|(note, _)| note.clone()));
    let mut discovery = Discovery {
        unread_queues: unread.iter().map(|(_, count)| count).sum(),
        errors: found.errors,
        not_units: found.not_units,
        skipped: found.skipped.into_iter().collect(),
        refused: walk.refused(),
        notes,
        ..Discovery::default()
    };
    let mut inputs = found.inputs;
    for (result, (_, shown)) in read.into_iter().zip(candidates) {
        match result {
            // A plan or snapshot is generated and may be stale, and its module, if present, is checked itself.
            Ok(Some(Input::Plan(_) | Input::Snapshot(_))) => discovery.skipped.push(shown),
            Ok(input) => inputs.extend(input),
            Err(message) => discovery.errors.push(message),
        }
    }
    let dependents = referring.difference(&inputs).map(|input| input.path().to_owned());
    discovery.dependents = dependents.collect();
    inputs.extend(referring);
    discovery.inputs = inputs.into_iter().collect();
    if discovery.inputs.is_empty() && !wanted.no_gitignore && !wanted.lenient {
        discovery.skipped.extend(ignored(wanted));
    }
    let is_read = |shown: &String| found.apps.values().flatten().any(|read| read == shown);
    discovery.skipped.retain(|shown| !is_read(shown));
    discovery.skipped.sort();
    discovery
}

/// Walks the named directories, and returns what they, the named files and the changed files select, and those files.
fn search(wanted: &DiscoveryRequest<'_>, walk: &Walk) -> (WalkResults, BTreeSet<PathBuf>) {
    let found = Mutex::new(WalkResults::default());
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
                Err(message) => found.not_units.push((absolute.clone(), message)),
            });
            files.insert(absolute);
        }
    }
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    for path in wanted.touched {
        if !is_skipped(path, wanted.repository) {
            found.inputs.extend(touched_file(path, wanted.repository, wanted.files));
            files.insert(path.clone());
        }
    }
    (found, files)
}

/// Returns notes on the CDK apps: the `cdk.out` that was read for each `cdk.json`, if any; and on services in code.
fn notes_on(found: &WalkResults, is_compared: bool) -> Vec<String> {
    let (apps, services) = (&found.apps, &found.services_in_code);
    let named = |names: Vec<&String>| {
        let (first, rest) = names.split_first()?;
        let first = first.strip_prefix("./").unwrap_or(first);
        Some(match rest.len() {
            0 => (format!("`{first}`"), "was"),
            more => (format!("`{first}` and {more} more"), "were"),
        })
    };
    let read = named(apps.values().flatten().collect())
        .map(|(names, verb)| format!("{names} {verb} read as last written by `cdk synth`"));
    let unread = apps.iter().filter(|(_, read)| read.is_none()).map(|(app, _)| app);
    let unread = named(unread.collect()).map(|(names, verb)| {
        let why = if is_compared {
            "`--since` does not read generated files; name `cdk.out` to check it"
        } else {
            "no readable `cdk.out`; run `cdk synth` first"
        };
        format!("the CDK app of {names} {verb} not checked: {why}")
    });
    let services = named(services.iter().collect()).map(|(names, verb)| {
        format!(
            "the service of {names} {verb} not checked: it is code; package it and name the template in `.serverless`"
        )
    });
    [read, unread, services].into_iter().flatten().collect()
}

/// Returns a note on the queues in each kind of files that are not read, and their number.
fn unread_queues(found: &WalkResults, wanted: &DiscoveryRequest<'_>, walk: &Walk) -> Vec<(String, usize)> {
    let mut kinds: BTreeMap<&str, (&UnreadKind, Vec<&PathBuf>)> = BTreeMap::new();
    for (directory, kind) in &found.unread {
        let (_, outermost) = kinds.entry(kind.what).or_insert((kind, Vec::new()));
        // A directory follows those that contain it.
        if !outermost.last().is_some_and(|above| directory.starts_with(above)) {
            outermost.push(directory);
        }
    }
    let notes = kinds.into_iter().filter_map(|(what, (kind, directories))| {
        let files = directories
            .into_iter()
            .flat_map(|path| walk.files_below(path, kind.is_file));
        let mut files: Vec<PathBuf> = files.collect();
        files.sort();
        let queues = |file: PathBuf| {
            let bytes = wanted.files.head(&file, MAX_UNREAD).unwrap_or_default();
            let texts = kind.queue.iter();
            let count = texts
                .map(|text| memchr::memmem::find_iter(&bytes, text).count())
                .sum::<usize>();
            (count > 0).then_some((file, count))
        };
        let found: Vec<(PathBuf, usize)> = files.into_par_iter().filter_map(queues).collect();
        let first = &found.first()?.0;
        let shown = wanted.paths.iter().find_map(|path| {
            let root = wanted.files.named(path).ok()?;
            first.starts_with(&root).then(|| shown_below(path, &root, first))
        });
        let shown = shown.unwrap_or_default();
        let first = shown.strip_prefix("./").unwrap_or(&shown);
        let others = match found.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let count = found.iter().map(|(_, count)| count).sum();
        let queues = match count {
            1 => "1 queue is".to_owned(),
            _ => format!("{count} queues are"),
        };
        Some((format!("{queues} not read, in {what}: `{first}`{others}"), count))
    });
    notes.collect()
}

/// Returns the paths of units below `paths` that git ignores. Called if the walk finds no other units.
fn ignored(wanted: &DiscoveryRequest<'_>) -> Vec<String> {
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
        let found = Mutex::new(WalkResults::default());
        walk.units(&root, path, &found);
        let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
        shown.extend(found.inputs.iter().map(|input| shown_below(path, &root, input.path())));
        let candidates = found.candidates.into_par_iter();
        let is_unit = |file: &Path| matches!(recognise(file, wanted.files), Ok(Some(input)) if !matches!(input, Input::Plan(_) | Input::Snapshot(_)));
        let units = candidates.filter(|(file, _)| is_unit(file)).map(|(_, shown)| shown);
        shown.extend(units.collect::<Vec<_>>());
    }
    shown.into_iter().collect()
}

/// Returns the path and the unit of a file that is read from standard input. The unit follows from the file's name, if
/// known, and from the text otherwise.
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
        // A separate directory, so that no file of the working directory belongs to the same module.
        return Ok((path.join("main.tf"), Input::TerraformModule(path)));
    }
    Err(if content::is_unshown_plan(text.as_bytes()) {
        format!("standard input {UNSHOWN_PLAN}")
    } else {
        format!("standard input {NO_UNIT}; `--stdin-filename` says what it is")
    })
}

/// Returns the absolute path of a file that need not exist, in a directory that does.
fn path_of_new(path: &Path) -> Option<PathBuf> {
    named(path).ok().or_else(|| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = named(parent.unwrap_or(Path::new("."))).ok()?;
        Some(parent.join(path.file_name()?))
    })
}

#[cfg(test)]
mod tests;
