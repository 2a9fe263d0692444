//! Searches the repository for source files by their names. The names are collected in one walk per run, when the first
//! function needs them; in an editor session, once until a file is created or deleted.
//!
//! A package is named after its source, but not always stored like it: `dist/orders/index.js` is built from
//! `src/orders/index.ts`. So directories of sources and of build outputs do not count in a comparison:
//!
//! ```text
//! wanted       /repo/dist/orders/index      orders/index
//! found        /repo/src/orders/index.ts    orders/index    the two last names agree
//! not found    /repo/src/carts/index.ts     carts/index
//! ```

use super::bundles::{self, Bundle};
use crate::limits;
use crate::read::language::{is_preferred, language_of};
use crate::words::{Words, words};
use rustc_hash::FxHashMap;
use source::Sources;
use source::files::{DirectoryEntry, EntryKind, Files, Ignored, Patterns, Refusal, Visitor};
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Directories of build outputs.
pub(crate) static OUTPUTS: Words =
    Words::new(|| words(".aws-sam .build .serverless .webpack artifact artifacts bin build dist obj out target"));
/// Directories of sources, whose names say nothing.
const SOURCES: [&str; 4] = ["src", "main", "app", "lib"];
/// Words in the names of packages that say nothing of the source.
static OF_PACKAGES: Words = Words::new(|| {
    words("archive build bundle code deploy deployment deps dp function lambda latest package payload pkg with zip")
});
/// Directories that contain the code of others, or no handlers.
static SKIPPED: Words = Words::new(|| {
    words(
        ".git .terraform .venv __mocks__ __pycache__ __tests__ cdk.out coverage fixtures node_modules site-packages \
     test tests vendor venv spec",
    )
});

/// The names of source files in the directories that a run may read.
pub(crate) struct Search<'f> {
    sources: &'f Sources,
    found: OnceCell<Arc<Found>>,
    bundles: OnceCell<Vec<Bundle>>,
}

/// Source files by their names without ending, in lower case.
#[derive(Default)]
struct Found {
    all: FxHashMap<String, Vec<Candidate>>,
    /// Files in Go, which are searched by directory.
    go: Vec<PathBuf>,
    /// Directories with programs in Go.
    programs: Vec<PathBuf>,
    dockerfiles: Vec<PathBuf>,
    /// Files that may configure bundlers.
    bundlers: Vec<PathBuf>,
}

/// A source file.
struct Candidate {
    path: PathBuf,
    /// Its [`names`], once they are compared.
    names: OnceLock<Vec<String>>,
}

impl Candidate {
    /// Returns the number of names in common with `wanted`, from the last one on.
    fn common(&self, wanted: &[String]) -> usize {
        let names = self.names.get_or_init(|| names(&self.path.with_extension("")));
        let pairs = names.iter().rev().zip(wanted.iter().rev());
        pairs.take_while(|(one, other)| one == other).count()
    }
}

impl<'f> Search<'f> {
    pub(crate) fn new(sources: &'f Sources) -> Self {
        Search {
            sources,
            found: OnceCell::new(),
            bundles: OnceCell::new(),
        }
    }

    pub(crate) fn files(&self) -> &'f Files {
        self.sources.files()
    }

    /// Returns the files below `directory` whose paths end like `wanted`, which has no ending: those with the most
    /// names in common, and at least `least`.
    pub(crate) fn ending(&self, wanted: &Path, least: usize, directory: &Path) -> Vec<PathBuf> {
        let Some(stem) = names(wanted).pop() else {
            return Vec::new();
        };
        let candidates = self.found().all.get(&stem).map_or(&[] as &[_], Vec::as_slice);
        let candidates = candidates.iter().filter(|one| one.path.starts_with(directory));
        let candidates: Vec<&Candidate> = candidates.take(limits::MAX_NAME_CANDIDATES + 1).collect();
        if candidates.len() > limits::MAX_NAME_CANDIDATES {
            return Vec::new();
        }
        let best = |wanted: &[String]| {
            let common = candidates.iter().map(|one| one.common(wanted));
            let most = common.max().filter(|most| *most >= least);
            let best = candidates.iter().filter(|one| Some(one.common(wanted)) == most);
            best.map(|one| one.path.clone()).collect::<Vec<_>>()
        };
        // The name of the repository's directory is not that of a package.
        let root = self.files().repository().unwrap_or(Path::new("/"));
        let below = wanted.strip_prefix(root).unwrap_or(wanted);
        let ways = [names(wanted), unpacked_names(below), plain_names(below)];
        let mut found = ways.iter().map(|wanted| best(wanted));
        found.find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Returns the directories with files in Go below `directory`.
    pub(crate) fn programs(&self, directory: &Path) -> impl Iterator<Item = &PathBuf> {
        self.found()
            .programs
            .iter()
            .filter(move |path| path.starts_with(directory))
    }

    /// Returns the Dockerfiles of the repository.
    pub(crate) fn dockerfiles(&self) -> &[PathBuf] {
        &self.found().dockerfiles
    }

    /// Returns what the bundlers of the repository build.
    pub(crate) fn bundles(&self) -> &[Bundle] {
        self.bundles
            .get_or_init(|| bundles::read(&self.found().bundlers, self.files()))
    }

    /// Returns the source files in any language, sorted, if there are no more than `most`.
    pub(crate) fn sources(&self, most: usize) -> Option<Vec<&PathBuf>> {
        let found = self.found();
        let named = found.all.values().flatten().map(|one| &one.path);
        let mut all: Vec<&PathBuf> = named.chain(&found.go).collect();
        all.sort();
        (all.len() <= most).then_some(all)
    }

    fn found(&self) -> &Found {
        self.found.get_or_init(|| {
            let root = self.sources.working_directory();
            self.sources.shared(root, |sources| Found::within(sources.files()))
        })
    }
}

impl Found {
    fn within(files: &Files) -> Self {
        let collector = Collector {
            ignored: Ignored::new(files),
            paths: Mutex::default(),
        };
        // The repository contains the named directories.
        let bounds = files.repository().map(|root| vec![root]);
        for root in bounds.unwrap_or_else(|| files.bounds().collect()) {
            files.walk(root, &collector);
        }
        let mut paths = collector.paths.into_inner().unwrap_or_else(PoisonError::into_inner);
        if paths.len() > limits::MAX_SEARCHED_FILES {
            return Found::default();
        }
        // Compares bytes, because comparing paths splits them into components.
        paths.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        Found::of(paths)
    }

    fn of(paths: Vec<PathBuf>) -> Self {
        let mut found = Found::default();
        for path in paths {
            if is_dockerfile(&path) {
                found.dockerfiles.push(path);
                continue;
            }
            if bundles::is_configuration(&path) {
                found.bundlers.push(path.clone());
            }
            if language_of(&path).is_none() || path.to_str().is_some_and(|path| path.contains(".config.")) {
                continue;
            }
            let Some(stem) = path.file_stem() else { continue };
            let name = stem.to_string_lossy().to_ascii_lowercase();
            if path.extension().is_some_and(|ending| ending == "go") {
                let directory = path.parent().unwrap_or(&path);
                if found.programs.last().is_none_or(|last| last != directory) {
                    found.programs.push(directory.to_owned());
                }
                found.go.push(path);
                continue;
            }
            let same = found.all.entry(name).or_default();
            // A compiled file next to its source is no second candidate.
            let known = same.last_mut().map(|known| &mut known.path);
            let known = known.filter(|known| known.with_extension("") == path.with_extension(""));
            match known {
                Some(known) if is_preferred(&path, known) => *known = path,
                Some(_) => {}
                None => same.push(Candidate {
                    path,
                    names: OnceLock::new(),
                }),
            }
        }
        found
    }
}

/// Returns the number of names in a path that distinguish it.
pub(crate) fn length(path: &Path) -> usize {
    names(path).len()
}

/// Returns the names in a path that distinguish it, in lower case. The last one always does. Words in the others may be
/// joined in any way: `refund-orders` is `refund_orders` and `refundOrders`.
fn names(path: &Path) -> Vec<String> {
    names_by(path, |name| joined(name, |_| true))
}

/// Returns the names in a path like [`names`], without those that only say that it is a package: `function`.
fn unpacked_names(path: &Path) -> Vec<String> {
    let is_plain = |name: &str| !joined(name, says_source).is_empty();
    names_by(path, |name| joined(name, |_| is_plain(name)))
}

/// Returns the names in a path like [`names`], without the words that are only part of a package's name:
/// `lambda_orders-latest` is `orders`.
fn plain_names(path: &Path) -> Vec<String> {
    names_by(path, |name| joined(name, says_source))
}

/// Returns the words of a name that say something of the source, joined: `router` for `lambda-router` and `RouterFunction`.
pub(crate) fn plain_name(name: &str) -> String {
    let name = joined(&name.to_ascii_lowercase(), says_source);
    let plain = ["function", "lambda"].iter().find_map(|end| name.strip_suffix(end));
    plain.map(str::to_owned).unwrap_or(name)
}

fn names_by(path: &Path, plain: impl Fn(&str) -> String) -> Vec<String> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
        _ => None,
    });
    let mut names: Vec<String> = parts.collect();
    let last = names.pop();
    names.retain(|name| !OUTPUTS.contains(&**name) && !SOURCES.contains(&&**name));
    let names = names.iter().map(|name| plain(name)).filter(|name| !name.is_empty());
    names.chain(last).collect()
}

/// Joins the words of a name that count.
fn joined(name: &str, counts: impl Fn(&str) -> bool) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| counts(word)).collect()
}

fn says_source(word: &str) -> bool {
    !OF_PACKAGES.contains(word)
}

/// Collects the paths of source files.
struct Collector {
    ignored: Ignored,
    paths: Mutex<Vec<PathBuf>>,
}

impl Visitor for Collector {
    type Inside = Patterns;

    // No other walk follows.
    const KEEPS_ENTRIES: bool = false;

    fn enter(&self, directory: &Path, names: &[DirectoryEntry]) -> Patterns {
        self.ignored.within(directory, names)
    }

    fn wants(&self, name: &str, kind: EntryKind) -> bool {
        let path = Path::new(name);
        match kind {
            EntryKind::Directory => !SKIPPED.contains(name) && !OUTPUTS.contains(name),
            EntryKind::File(_) => {
                is_dockerfile(path) || bundles::is_configuration(path) || language_of(path).is_some() && !is_test(name)
            }
            EntryKind::Link | EntryKind::Other => false,
        }
    }

    fn visits(&self, inside: &Patterns, path: &Path, kind: EntryKind) -> bool {
        !inside.ignore(path, kind == EntryKind::Directory)
    }

    fn visit_file(&self, path: &Path, _: EntryKind) {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.len() <= limits::MAX_SEARCHED_FILES {
            paths.push(path.to_owned());
        }
    }

    fn fail(&self, _: &Path, _: &Refusal) {}
}

/// Returns `true` for `Dockerfile`, `Dockerfile.lambda` and `lambda.Dockerfile`.
fn is_dockerfile(path: &Path) -> bool {
    let is_docker = |part: Option<&OsStr>| part.is_some_and(|part| part == "Dockerfile");
    is_docker(path.file_stem()) || is_docker(path.extension())
}

/// Returns `true` for files with tests or types only.
fn is_test(name: &str) -> bool {
    let marks = [".test.", ".spec.", "_test.", ".d.ts", ".config."];
    name.starts_with("test_") || marks.iter().any(|mark| name.contains(mark))
}
