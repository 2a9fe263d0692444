//! Walks over directories, as git sees them and without what tools generate.

use super::Input;
use super::names::{TERRAGRUNT, is_state, is_terraform, may_be_template, name_of};
use crate::files::{Files, Ignored, Kind, Listed, Patterns, Refusal, Visitor, repository_root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

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
    ignored: Option<Ignored>,
}

impl Walk {
    pub(super) fn new(files: &Files, no_gitignore: bool) -> Self {
        Walk {
            files: files.clone(),
            ignored: (!no_gitignore).then(|| Ignored::new(files)),
        }
    }

    /// The files that may be read.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// Files that say what git ignores, and were not read.
    pub(super) fn refused(&self) -> Vec<(PathBuf, Refusal)> {
        self.ignored.as_ref().map_or_else(Vec::new, Ignored::refused)
    }

    /// Finds units below a directory.
    pub(super) fn units(&self, root: &Path, shown: &Path, found: &Mutex<Found>) {
        let units = Units {
            walk: self,
            root,
            shown,
            // A link may lead to another file of the tree, not out of it.
            bounds: repository_root(root).unwrap_or_else(|| root.to_owned()),
            found,
        };
        self.files.walk(root, &units);
    }

    /// The files below `root` whose names are `wanted`, links left out, in no order.
    pub(super) fn files_below(&self, root: &Path, wanted: fn(&str) -> bool) -> Vec<PathBuf> {
        let all = All {
            walk: self,
            wanted,
            files: Mutex::default(),
        };
        self.files.walk(root, &all);
        all.files.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, directory: &Path, names: &[Listed]) -> Patterns {
        let ignored = self.ignored.as_ref().map(|ignored| ignored.within(directory, names));
        ignored.unwrap_or_default()
    }
}

/// Whether a walk goes on with what lies at `path`. What is named is walked, whether or not git ignores it.
fn keeps(patterns: &Patterns, path: &Path, kind: Kind) -> bool {
    let is_directory = kind == Kind::Directory;
    let is_passed_over = is_directory && PASSED_OVER.contains(&name_of(path));
    !is_passed_over && !patterns.ignore(path, is_directory)
}

/// A walk that finds units.
struct Units<'w> {
    walk: &'w Walk,
    root: &'w Path,
    /// How people see the root.
    shown: &'w Path,
    bounds: PathBuf,
    found: &'w Mutex<Found>,
}

impl Visitor for Units<'_> {
    type Inside = Patterns;

    fn enter(&self, directory: &Path, names: &[Listed]) -> Patterns {
        self.walk.enter(directory, names)
    }

    fn keeps(&self, patterns: &Patterns, path: &Path, kind: Kind) -> bool {
        let is_kept = keeps(patterns, path, kind);
        let name = name_of(path);
        let is_passed_over = kind == Kind::Directory && PASSED_OVER.contains(&name) && name != ".git";
        if is_passed_over && !patterns.ignore(path, true) {
            let shown = shown_below(self.shown, self.root, path);
            with(self.found, |found| {
                found.skipped.insert(shown);
            });
        }
        is_kept
    }

    fn take(&self, path: &Path, kind: Kind) {
        take(
            path,
            kind,
            &self.bounds,
            &self.walk.files,
            |path| shown_below(self.shown, self.root, path),
            self.found,
        );
    }

    fn fail(&self, directory: &Path, refusal: &Refusal) {
        let shown = shown_below(self.shown, self.root, directory);
        with(self.found, |found| {
            found.errors.push(format!("cannot read `{shown}`: {refusal}"));
        });
    }
}

/// A walk that takes files by their names.
struct All<'w> {
    walk: &'w Walk,
    wanted: fn(&str) -> bool,
    files: Mutex<Vec<PathBuf>>,
}

impl Visitor for All<'_> {
    type Inside = Patterns;

    fn enter(&self, directory: &Path, names: &[Listed]) -> Patterns {
        self.walk.enter(directory, names)
    }

    fn keeps(&self, patterns: &Patterns, path: &Path, kind: Kind) -> bool {
        let may_be_wanted = match kind {
            Kind::Directory => true,
            Kind::File(_) => (self.wanted)(name_of(path)),
            Kind::Link | Kind::Other => false,
        };
        may_be_wanted && keeps(patterns, path, kind)
    }

    fn take(&self, path: &Path, _: Kind) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push(path.to_owned());
    }

    fn fail(&self, _: &Path, _: &Refusal) {
        // Where these are looked for, what cannot be read has none.
    }
}

/// The files below `root` whose names are `wanted`.
pub(crate) fn files_named(root: &Path, wanted: fn(&str) -> bool, files: &Files, no_gitignore: bool) -> Vec<PathBuf> {
    let mut found = Walk::new(files, no_gitignore).files_below(root, wanted);
    found.retain(|path| files.is_file(path));
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
