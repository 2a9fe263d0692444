//! Walks over directories, as git sees them and without what tools generate.

use super::Input;
use super::names::{TERRAGRUNT, is_state, is_terraform, may_be_template, name_of};
use crate::files::{Files, Ignored, Kind, Refusal, kind_of, repository_root};
use ignore::{DirEntry, WalkBuilder};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Directories that are entered only when they are named: generated, downloaded, or not code.
pub(super) const PASSED_OVER: [&str; 7] = [
    ".git",
    ".terraform",
    ".terragrunt-cache",
    ".aws-sam",
    ".serverless",
    "node_modules",
    "cdk.out",
];

/// Directories so deep below the root are walked side by side.
const UPPER_LEVELS: usize = 2;

/// What the walks came upon. Sets, because the parallel walk has no order.
#[derive(Default)]
pub(super) struct Found {
    pub(super) inputs: BTreeSet<Input>,
    /// YAML and JSON whose content decides, and how people see their paths.
    pub(super) candidates: BTreeMap<PathBuf, String>,
    pub(super) errors: Vec<String>,
    /// Files that were named and are no units, with what is said of them.
    pub(super) unfit: Vec<(PathBuf, String)>,
    pub(super) skipped: BTreeSet<String>,
}

pub(super) fn with(found: &Mutex<Found>, change: impl FnOnce(&mut Found)) {
    change(&mut found.lock().unwrap_or_else(PoisonError::into_inner));
}

/// How directories are walked.
pub(super) struct Walk {
    files: Files,
    /// What git ignores, where that is asked.
    ignored: Option<Arc<Ignored>>,
}

impl Walk {
    pub(super) fn new(files: &Files, no_gitignore: bool) -> Self {
        Walk {
            files: files.clone(),
            ignored: (!no_gitignore).then(|| Arc::new(Ignored::new(files))),
        }
    }

    /// The files that may be read.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// Files that say what git ignores, and were not read.
    pub(super) fn refused(&self) -> Vec<(PathBuf, Refusal)> {
        self.ignored.as_ref().map_or_else(Vec::new, |ignored| ignored.refused())
    }

    /// Walks a directory. Symbolic links to directories are not followed, so there are no loops.
    pub(super) fn units(&self, root: &Path, shown: &Path, found: &Arc<Mutex<Found>>) {
        // A link may lead to another file of the tree, not out of it.
        let bounds = repository_root(root).unwrap_or_else(|| root.to_owned());
        let shown_of = |path: &Path| shown_below(shown, root, path);
        let visit = |path: &Path, kind| take(path, kind, &bounds, &self.files, shown_of, found);
        if let Some(known) = self.files.known_below(root) {
            for (path, kind) in self.not_passed_over(root, known) {
                visit(&path, kind);
            }
            return;
        }
        let visit = |result: Result<DirEntry, ignore::Error>| match result {
            Ok(entry) => visit(entry.path(), entry.file_type().map_or(Kind::Other, kind_of)),
            Err(error) => with(found, |found| found.errors.push(error.to_string())),
        };
        // The upper levels one after the other, then what is below them side by side. The crate's own parallel walk
        // starts threads beside ours, and panics or waits for ever where the system allows no more.
        let mut below = Vec::new();
        for result in self.builder(root, shown, found).max_depth(Some(UPPER_LEVELS)).build() {
            match result {
                Ok(entry) if is_directory(&entry) && entry.depth() == UPPER_LEVELS => below.push(entry.into_path()),
                result => visit(result),
            }
        }
        below.par_iter().for_each(|directory| {
            let shown = shown.join(directory.strip_prefix(root).unwrap_or(directory));
            self.builder(directory, &shown, found).build().for_each(visit);
        });
    }

    /// The files below `root`, links left out, in no order.
    pub(super) fn files_below(&self, root: &Path) -> Vec<PathBuf> {
        let is_file = |kind| matches!(kind, Kind::File(_));
        if let Some(known) = self.files.known_below(root) {
            let known = self.not_passed_over(root, known).into_iter();
            return known.filter(|(_, kind)| is_file(*kind)).map(|(path, _)| path).collect();
        }
        let walker = self.builder(root, root, &Arc::default()).build();
        let entries = walker.flatten();
        let files = entries.filter(|entry| entry.file_type().map(kind_of).is_some_and(is_file));
        files.map(DirEntry::into_path).collect()
    }

    /// Those of `known`, which lie below `root`, that a walk would come to.
    fn not_passed_over(&self, root: &Path, known: Vec<(PathBuf, Kind)>) -> Vec<(PathBuf, Kind)> {
        let mut entered = BTreeMap::from([(root.to_owned(), true)]);
        let mut kept = known;
        kept.retain(|(path, _)| {
            let is_ignored = self.ignored.as_ref().is_some_and(|ignored| ignored.has(path, false));
            !is_ignored
                && path
                    .parent()
                    .is_some_and(|directory| self.enters(directory, &mut entered))
        });
        kept
    }

    /// Whether a walk enters `directory`, which lies below its root.
    fn enters(&self, directory: &Path, entered: &mut BTreeMap<PathBuf, bool>) -> bool {
        if let Some(known) = entered.get(directory) {
            return *known;
        }
        let is_entered = !PASSED_OVER.contains(&name_of(directory))
            && !self
                .ignored
                .as_ref()
                .is_some_and(|ignored| ignored.has(directory, true))
            && directory.parent().is_some_and(|above| self.enters(above, entered));
        entered.insert(directory.to_owned(), is_entered);
        is_entered
    }

    fn builder(&self, root: &Path, shown: &Path, found: &Arc<Mutex<Found>>) -> WalkBuilder {
        let (root_of_filter, shown_of_filter) = (root.to_owned(), shown.to_owned());
        let noted = Arc::clone(found);
        let ignored = self.ignored.clone();
        let mut builder = WalkBuilder::new(root);
        builder.standard_filters(false).filter_entry(move |entry| {
            let is_directory = is_directory(entry);
            // What is named is walked, whether or not git ignores it.
            if entry.depth() > 0
                && ignored
                    .as_ref()
                    .is_some_and(|ignored| ignored.has(entry.path(), is_directory))
            {
                return false;
            }
            // An assembly under another name than `cdk.out` is kept on purpose: its templates count as any others.
            let is_inner = entry.depth() > 0 && is_directory;
            let pass = is_inner && PASSED_OVER.contains(&name_of(entry.path()));
            if pass && name_of(entry.path()) != ".git" {
                let path = shown_below(&shown_of_filter, &root_of_filter, entry.path());
                with(&noted, |found| {
                    found.skipped.insert(path);
                });
            }
            !pass
        });
        builder
    }
}

fn is_directory(entry: &DirEntry) -> bool {
    entry.file_type().map(kind_of) == Some(Kind::Directory)
}

/// The files below `root` that are called one of `names`.
pub(crate) fn files_named(root: &Path, names: &[&str], files: &Files, no_gitignore: bool) -> Vec<PathBuf> {
    let all = Walk::new(files, no_gitignore).files_below(root).into_iter();
    let mut found: Vec<PathBuf> = all
        .filter(|path| names.contains(&name_of(path)) && files.is_file(path))
        .collect();
    found.sort();
    found
}

/// Whether a walk from the root of the repository would not come to it.
pub(super) fn is_passed_over(path: &Path, repository: Option<&Path>) -> bool {
    let below = repository.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    let mut names = below.components().filter_map(|part| part.as_os_str().to_str());
    names.any(|name| PASSED_OVER.contains(&name))
}

/// How people see `path` below `root`, which they see as `shown`.
pub(super) fn shown_below(shown: &Path, root: &Path, path: &Path) -> String {
    shown
        .join(path.strip_prefix(root).unwrap_or(path))
        .display()
        .to_string()
}

fn take(path: &Path, kind: Kind, bounds: &Path, files: &Files, shown: impl Fn(&Path) -> String, found: &Mutex<Found>) {
    let name = name_of(path);
    let terraform = is_terraform(name);
    let terragrunt = name == TERRAGRUNT;
    if !(terraform || terragrunt || may_be_template(name) || is_state(name)) {
        return;
    }
    let linked = kind == Kind::Link;
    let is_ordinary = matches!(kind, Kind::File(_));
    // Terraform reads whatever has such a name, so what is no file is said by the module; a directory is none of it.
    let is_told = terraform && kind == Kind::Other;
    if !(linked || is_ordinary || is_told) {
        return;
    }
    if terraform || (terragrunt && !linked) {
        if let Some(directory) = path.parent() {
            let input = if terragrunt {
                Input::Terragrunt(path.to_owned())
            } else {
                Input::TerraformModule(directory.to_owned())
            };
            with(found, |found| {
                found.inputs.insert(input);
            });
        }
        return;
    }
    let file = if linked {
        files.real(path).ok()
    } else {
        Some(path.to_owned())
    };
    if let Some(file) = file.filter(|file| !linked || (file.starts_with(bounds) && files.is_file(file))) {
        with(found, |found| {
            found.candidates.insert(file, shown(path));
        });
    }
}
