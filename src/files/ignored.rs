//! What git ignores. The patterns are matched by a library; the files that hold them are read here, because a
//! `.gitignore` of a pull request may be a pipe, a link out of the repository, or eight gigabytes long.
//!
//! ```text
//! repo/.gitignore         build/        ignores repo/build and repo/infra/build
//! repo/infra/.gitignore   !build/       takes repo/infra/build back: the nearest file decides
//! ```

use super::{Files, GIT, Kind, Listed, Refusal, disk};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The file that holds the patterns of its directory and those below.
const GITIGNORE: &str = ".gitignore";

/// A file of patterns that is larger is not read.
const LARGEST: u64 = 4 << 20;

/// The patterns of a walk, each file read once.
#[derive(Debug)]
pub(crate) struct Ignored {
    files: Files,
    levels: RwLock<FxHashMap<PathBuf, Arc<Level>>>,
    refused: Mutex<BTreeMap<PathBuf, Refusal>>,
}

/// What holds for the names in one directory, the nearest first.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    levels: Vec<Arc<Level>>,
}

impl Patterns {
    /// Whether git ignores what lies at `path`, in the directory. What lies above it is not asked.
    pub(crate) fn ignore(&self, path: &Path, is_directory: bool) -> bool {
        let of_gitignores = self.levels.iter().map(|level| level.patterns.as_ref());
        let excluded = self.levels.iter().map(|level| level.excluded.as_ref());
        let mut all = of_gitignores.chain(excluded);
        all.find_map(|patterns| matched(patterns, path, is_directory))
            .unwrap_or(false)
    }
}

/// What one directory says.
#[derive(Debug, Default)]
struct Level {
    patterns: Option<Gitignore>,
    /// `.git/info/exclude`, which counts after all `.gitignore`s.
    excluded: Option<Gitignore>,
    /// Whether it is the root of a repository: what lies above says nothing.
    is_root: bool,
}

impl Ignored {
    pub(crate) fn new(files: &Files) -> Self {
        Ignored {
            files: files.clone(),
            levels: RwLock::default(),
            refused: Mutex::default(),
        }
    }

    /// What is ignored among `names`, which are all there is in the real directory `directory`.
    pub(crate) fn within(&self, directory: &Path, names: &[Listed]) -> Patterns {
        let says_something = |one: &Listed| one.name == GIT || one.name == GITIGNORE;
        // A commit has no directory of git's in its root.
        let is_root = self.files.repository() == Some(directory);
        // Most directories have no patterns, and need not be asked.
        if !is_root && !names.iter().any(says_something) {
            let mut levels = self.levels.write().unwrap_or_else(PoisonError::into_inner);
            levels.entry(directory.to_owned()).or_default();
        }
        let mut patterns = Patterns::default();
        for above in directory.ancestors() {
            let level = self.level(above);
            let is_root = level.is_root;
            if level.patterns.is_some() || level.excluded.is_some() {
                patterns.levels.push(level);
            }
            if is_root {
                break;
            }
        }
        patterns
    }

    /// Files of patterns that were not read, with the reason.
    pub(crate) fn refused(&self) -> Vec<(PathBuf, Refusal)> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *refused).into_iter().collect()
    }

    fn level(&self, directory: &Path) -> Arc<Level> {
        let known = self.levels.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(level) = known.get(directory) {
            return level.clone();
        }
        drop(known);
        let git = directory.join(GIT);
        let is_root = disk::exists(&git);
        let level = Arc::new(Level {
            patterns: self.read(directory, &directory.join(GITIGNORE), &self.files),
            excluded: exclude_file(&git, is_root).and_then(|(file, files)| self.read(directory, &file, &files)),
            is_root,
        });
        let mut levels = self.levels.write().unwrap_or_else(PoisonError::into_inner);
        levels.entry(directory.to_owned()).or_insert(level).clone()
    }

    fn read(&self, directory: &Path, file: &Path, files: &Files) -> Option<Gitignore> {
        match files.kind_of_itself(file) {
            // Git does not follow a link here.
            Ok(Kind::File(_) | Kind::Other) => {}
            _ => return None,
        }
        let bytes = match files.read(file, LARGEST) {
            Ok(bytes) => bytes,
            // Above the bounds of the run nobody's patterns are asked for.
            Err(Refusal::Missing | Refusal::Outside) => return None,
            Err(refusal) => {
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.insert(file.to_owned(), refusal);
                return None;
            }
        };
        let mut builder = GitignoreBuilder::new(directory);
        let text = String::from_utf8_lossy(&bytes);
        for line in text.trim_start_matches('\u{feff}').lines() {
            // A pattern that cannot be understood ignores nothing, as with git.
            let _ = builder.add_line(None, line);
        }
        builder.build().ok()
    }
}

fn matched(patterns: Option<&Gitignore>, path: &Path, is_directory: bool) -> Option<bool> {
    match patterns?.matched(path, is_directory) {
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
        Match::None => None,
    }
}

/// `info/exclude` of the repository whose `.git` is given, and the bounds to read it in. A worktree's `.git` is a file
/// that names its directory, which names that of the repository.
fn exclude_file(git: &Path, is_root: bool) -> Option<(PathBuf, Files)> {
    if !is_root {
        return None;
    }
    let line = |file: &Path| {
        let bytes = disk::read(file, 4096).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        Some(text.trim_end().to_owned())
    };
    let common = match disk::kind(git).ok()? {
        Kind::Directory => git.to_owned(),
        Kind::File(_) => {
            let own = git.parent()?.join(line(git)?.strip_prefix("gitdir: ")?);
            own.join(line(&own.join("commondir"))?)
        }
        Kind::Link | Kind::Other => return None,
    };
    let info = disk::real(&common.join("info")).ok()?;
    let file = info.join("exclude");
    Some((file, Files::new(None, vec![info])))
}
