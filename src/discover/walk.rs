//! Walks directories, without files that git ignores and directories that tools generate.

use super::Input;
use super::names::{SERVICES, TERRAGRUNT, is_service_in_code, is_state, is_terraform, may_be_template, name_of};
use super::recognise::has_manifest;
use source::files::{DirectoryEntry, EntryKind, Files, Ignored, Patterns, Refusal, Visitor, repository_root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// File with the settings of a CDK app.
const APP: &str = "cdk.json";
/// Output directory of `cdk synth`.
pub(super) const ASSEMBLY: &str = "cdk.out";

/// Directories that are entered only if they are named: generated, downloaded, or not code.
pub(super) const SKIPPED_DIRECTORIES: [&str; 7] = [
    ".git",
    ".terraform",
    ".terragrunt-cache",
    ".aws-sam",
    ".serverless",
    "node_modules",
    ASSEMBLY,
];

/// Results of the walks, in sorted collections because parallel walks have no order.
#[derive(Default)]
pub(super) struct WalkResults {
    pub(super) inputs: BTreeSet<Input>,
    /// YAML and JSON files whose content decides, with their paths for display.
    pub(super) candidates: BTreeMap<PathBuf, String>,
    pub(super) errors: Vec<String>,
    /// Named files that are not units, with the error to report.
    pub(super) not_units: Vec<(PathBuf, String)>,
    pub(super) skipped: BTreeSet<String>,
    /// CDK apps by the path of their `cdk.json`, each with the `cdk.out` next to it if that is readable.
    pub(super) apps: BTreeMap<String, Option<String>>,
    /// Directories whose files may contain queues that are not read, each with their kind.
    pub(super) unread: BTreeMap<PathBuf, &'static UnreadKind>,
    /// Services of the Serverless Framework that cannot be read.
    pub(super) services_in_code: BTreeSet<String>,
}

/// Kind of files that are not read but may contain queues.
pub(super) struct UnreadKind {
    /// The files, as a noun phrase.
    pub(super) what: &'static str,
    /// Predicate for their names.
    pub(super) is_file: fn(&str) -> bool,
    /// Texts that each queue contains one of.
    pub(super) queue: &'static [&'static str],
}

/// Snapshots that the tests of a CDK app without output compare its templates with.
static SNAPSHOTS: UnreadKind = UnreadKind {
    what: "snapshots of the tests of CDK apps",
    is_file: |name| Path::new(name).extension().is_some_and(|ending| ending == "snap"),
    queue: &["\"AWS::SQS::Queue\""],
};

/// Returns `true` for a program, or a document of Pulumi.
fn is_program(name: &str) -> bool {
    let endings = [".ts", ".js", ".mjs", ".py", ".go", ".cs", ".java", ".yaml"];
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Projects of tools that are not read, by the file in the directory of each.
static UNREAD: [(&str, UnreadKind); 3] = [("Pulumi.yaml", PULUMI), ("cdktf.json", CDKTF), ("sst.config.ts", SST)];

/// Apps of the CDK for Terraform, whose output is read if it exists.
const CDKTF: UnreadKind = UnreadKind {
    what: "apps of CDK for Terraform",
    is_file: is_program,
    queue: &["SqsQueue(", "sqsqueue.NewSqsQueue("],
};

/// Apps of SST.
const SST: UnreadKind = UnreadKind {
    what: "apps of SST",
    is_file: is_program,
    queue: &["new sst.aws.Queue(", "new Queue(stack"],
};

/// Projects of Pulumi, as a program or a document.
const PULUMI: UnreadKind = UnreadKind {
    what: "projects of Pulumi",
    is_file: is_program,
    queue: &[
        "sqs.Queue(",
        "sqs.NewQueue(",
        "Sqs.Queue(",
        "aws:sqs:Queue",
        "aws:sqs/queue:Queue",
    ],
};

pub(super) fn with(found: &Mutex<WalkResults>, change: impl FnOnce(&mut WalkResults)) {
    change(&mut found.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Settings of a walk.
pub(super) struct Walk {
    files: Files,
    /// Paths that git ignores, unless ignored files are walked, too.
    ignored: Option<Ignored>,
    /// `true` if the output of a CDK app is read when the walk finds its `cdk.json`.
    takes_apps: bool,
}

impl Walk {
    pub(super) fn new(files: &Files, no_gitignore: bool) -> Self {
        Walk {
            files: files.clone(),
            ignored: (!no_gitignore).then(|| Ignored::new(files)),
            takes_apps: true,
        }
    }

    /// Limits CDK apps to those that are named.
    pub(super) fn without_apps(mut self) -> Self {
        self.takes_apps = false;
        self
    }

    /// Returns the files that may be read.
    pub(super) fn files(&self) -> &Files {
        &self.files
    }

    /// Returns ignore files that could not be read.
    pub(super) fn refused(&self) -> Vec<(PathBuf, Refusal)> {
        self.ignored.as_ref().map_or_else(Vec::new, Ignored::refused)
    }

    /// Finds units below a directory.
    pub(super) fn units(&self, root: &Path, shown: &Path, found: &Mutex<WalkResults>) {
        let units = Units {
            walk: self,
            root,
            shown,
            // A link may point to another file of the tree, but not outside.
            bounds: repository_root(root).unwrap_or_else(|| root.to_owned()),
            found,
        };
        self.files.walk(root, &units);
    }

    /// Returns the files below `root` whose names are `wanted`, without links and unordered.
    pub(super) fn files_below(&self, root: &Path, wanted: fn(&str) -> bool) -> Vec<PathBuf> {
        let all = All {
            walk: self,
            wanted,
            files: Mutex::default(),
        };
        self.files.walk(root, &all);
        all.files.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, directory: &Path, names: &[DirectoryEntry]) -> Patterns {
        let ignored = self.ignored.as_ref().map(|ignored| ignored.within(directory, names));
        ignored.unwrap_or_default()
    }
}

/// Returns `true` for directories that are entered only if they are named.
fn is_skipped_directory(name: &str, kind: EntryKind) -> bool {
    kind == EntryKind::Directory && SKIPPED_DIRECTORIES.contains(&name)
}

/// Walk that finds units.
struct Units<'w> {
    walk: &'w Walk,
    root: &'w Path,
    /// Path of the root for display.
    shown: &'w Path,
    bounds: PathBuf,
    found: &'w Mutex<WalkResults>,
}

impl Visitor for Units<'_> {
    type Inside = Patterns;

    fn enter(&self, directory: &Path, names: &[DirectoryEntry]) -> Patterns {
        let contains = |name: &str| {
            names
                .iter()
                .any(|one| one.name == name && one.kind != EntryKind::Directory)
        };
        if contains(APP) {
            self.app(directory);
        }
        let is_output = |one: &DirectoryEntry| one.name == "cdktf.out" && one.kind == EntryKind::Directory;
        for (marker, kind) in &UNREAD {
            if contains(marker) && !(*marker == "cdktf.json" && names.iter().any(is_output)) {
                with(self.found, |all| {
                    all.unread.insert(directory.to_owned(), kind);
                });
            }
        }
        // Without a `package.json`, it is a module of that name. The framework prefers a service in YAML.
        if contains("package.json") && !SERVICES.iter().any(|name| contains(name)) {
            let paths = names.iter().map(|one| directory.join(&one.name));
            let services = paths.filter(|path| is_service_in_code(name_of(path)));
            let shown = services.map(|path| shown_below(self.shown, self.root, &path));
            with(self.found, |all| all.services_in_code.extend(shown));
        }
        self.walk.enter(directory, names)
    }

    fn wants(&self, name: &str, kind: EntryKind) -> bool {
        match kind {
            EntryKind::Directory => name != ".git",
            _ => is_terraform(name) || name == TERRAGRUNT || may_be_template(name) || is_state(name),
        }
    }

    // Named paths are walked even if git ignores them.
    fn visits(&self, patterns: &Patterns, path: &Path, kind: EntryKind) -> bool {
        let is_skipped = is_skipped_directory(name_of(path), kind);
        let is_kept = !patterns.ignore(path, kind == EntryKind::Directory);
        if is_skipped && is_kept {
            let shown = shown_below(self.shown, self.root, path);
            with(self.found, |found| {
                found.skipped.insert(shown);
            });
        }
        is_kept && !is_skipped
    }

    fn visit_file(&self, path: &Path, kind: EntryKind) {
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

impl Units<'_> {
    /// Adds the output of the CDK app in `directory`, even if git ignores it.
    fn app(&self, directory: &Path) {
        let shown = |path: &Path| shown_below(self.shown, self.root, path);
        let output = directory.join(ASSEMBLY);
        let found = self.walk.files.find(&output).ok();
        let found = found.filter(|found| self.walk.takes_apps && has_manifest(found, &self.walk.files));
        with(self.found, |all| {
            if found.is_none() {
                all.unread.insert(directory.to_owned(), &SNAPSHOTS);
            }
            all.apps
                .insert(shown(&directory.join(APP)), found.as_ref().map(|_| shown(&output)));
            all.inputs.extend(found.map(Input::CdkApp));
        });
    }
}

/// Walk that collects files by name.
struct All<'w> {
    walk: &'w Walk,
    wanted: fn(&str) -> bool,
    files: Mutex<Vec<PathBuf>>,
}

impl Visitor for All<'_> {
    type Inside = Patterns;

    fn enter(&self, directory: &Path, names: &[DirectoryEntry]) -> Patterns {
        self.walk.enter(directory, names)
    }

    fn wants(&self, name: &str, kind: EntryKind) -> bool {
        match kind {
            EntryKind::Directory => !is_skipped_directory(name, kind),
            EntryKind::File(_) => (self.wanted)(name),
            EntryKind::Link | EntryKind::Other => false,
        }
    }

    fn visits(&self, patterns: &Patterns, path: &Path, kind: EntryKind) -> bool {
        !patterns.ignore(path, kind == EntryKind::Directory)
    }

    fn visit_file(&self, path: &Path, _: EntryKind) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push(path.to_owned());
    }

    fn fail(&self, _: &Path, _: &Refusal) {
        // Unreadable directories contain no files that this walk could use.
    }
}

/// Returns the files below `root` whose names are `wanted`.
pub(crate) fn files_named(root: &Path, wanted: fn(&str) -> bool, files: &Files, no_gitignore: bool) -> Vec<PathBuf> {
    let mut found = Walk::new(files, no_gitignore).files_below(root, wanted);
    found.retain(|path| files.is_file(path));
    found.sort();
    found
}

/// Returns `true` if a walk from the root of the repository would not reach `path`.
pub(super) fn is_skipped(path: &Path, repository: Option<&Path>) -> bool {
    let below = repository.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
    let mut names = below.components().filter_map(|part| part.as_os_str().to_str());
    names.any(|name| SKIPPED_DIRECTORIES.contains(&name))
}

/// Returns `path`, which is below `root`, for display, with `root` shown as `shown`.
pub(super) fn shown_below(shown: &Path, root: &Path, path: &Path) -> String {
    shown
        .join(path.strip_prefix(root).unwrap_or(path))
        .display()
        .to_string()
}

fn take(
    path: &Path,
    kind: EntryKind,
    bounds: &Path,
    files: &Files,
    shown: impl Fn(&Path) -> String,
    found: &Mutex<WalkResults>,
) {
    let name = name_of(path);
    let terraform = is_terraform(name);
    let terragrunt = name == TERRAGRUNT;
    let linked = kind == EntryKind::Link;
    let is_ordinary = matches!(kind, EntryKind::File(_));
    // Terraform reads anything with such a name, so the module reports special files; directories are ignored.
    let is_reported = terraform && kind == EntryKind::Other;
    if !(linked || is_ordinary || is_reported) {
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
