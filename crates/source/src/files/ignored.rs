//! Files that git ignores. A library matches the patterns; the files with the patterns are read here, because the
//! `.gitignore` of a pull request may be a pipe, a link out of the repository, or eight gigabytes long.
//!
//! ```text
//! repo/.gitignore         build/        ignores repo/build and repo/infra/build
//! repo/infra/.gitignore   !build/       includes repo/infra/build again: the nearest file decides
//! ```

use super::{DirectoryEntry, EntryKind, Files, GIT, Refusal, disk};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// File with the patterns for its directory and those below.
const GITIGNORE: &str = ".gitignore";

/// Maximum size of a file of patterns, in bytes. Larger ones are not read.
const MAX_SIZE: u64 = 4 << 20;

/// Patterns for a walk. Each file is read once.
#[derive(Debug)]
pub struct Ignored {
    files: Files,
    /// Patterns that apply to the entries of each directory.
    patterns: RwLock<FxHashMap<PathBuf, Patterns>>,
    refused: Mutex<BTreeMap<PathBuf, Refusal>>,
}

/// Patterns that apply to one directory, the nearest first.
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    levels: Arc<[Arc<Level>]>,
}

impl Patterns {
    /// Returns `true` if git ignores the entry `path` of the directory. Its ancestors are not checked.
    pub fn ignore(&self, path: &Path, is_directory: bool) -> bool {
        let of_gitignores = self.levels.iter().map(|level| level.patterns.as_ref());
        let excluded = self.levels.iter().map(|level| level.excluded.as_ref());
        let mut all = of_gitignores.chain(excluded);
        all.find_map(|patterns| matched(patterns, path, is_directory))
            .unwrap_or(false)
    }
}

/// Patterns in one directory.
#[derive(Debug, Default)]
struct Level {
    patterns: Option<Gitignore>,
    /// Patterns of `.git/info/exclude`, which apply after all `.gitignore`s.
    excluded: Option<Gitignore>,
}

impl Ignored {
    /// Creates rules for `files` that have read no ignore file yet.
    pub fn new(files: &Files) -> Self {
        Ignored {
            files: files.clone(),
            patterns: RwLock::default(),
            refused: Mutex::default(),
        }
    }

    /// Returns the patterns for the real directory `directory`, whose entries are `names`.
    pub fn within(&self, directory: &Path, names: &[DirectoryEntry]) -> Patterns {
        let says_something = |one: &DirectoryEntry| one.name == GIT || one.name == GITIGNORE;
        // An earlier commit has no `.git` in its root.
        let is_root = self.files.repository() == Some(directory);
        // Most directories have no patterns: those of their parents apply, without looking for the files.
        match directory
            .parent()
            .filter(|_| !is_root && !names.iter().any(says_something))
        {
            Some(above) => self.insert(directory, self.patterns(above)),
            None => self.patterns(directory),
        }
    }

    /// Returns the files of patterns that could not be read, with the reasons.
    pub fn refused(&self) -> Vec<(PathBuf, Refusal)> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *refused).into_iter().collect()
    }

    fn patterns(&self, directory: &Path) -> Patterns {
        let known = self.patterns.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(patterns) = known.get(directory) {
            return patterns.clone();
        }
        drop(known);
        let git = directory.join(GIT);
        let is_root = disk::exists(&git);
        let own = Level {
            patterns: self.read(directory, &directory.join(GITIGNORE), &self.files),
            excluded: exclude_file(&git, is_root).and_then(|(file, files)| self.read(directory, &file, &files)),
        };
        // Patterns above the root of a repository do not apply.
        let above = directory.parent().filter(|_| !is_root);
        let above = above.map(|above| self.patterns(above)).unwrap_or_default();
        if own.patterns.is_none() && own.excluded.is_none() {
            return self.insert(directory, above);
        }
        let levels = std::iter::once(Arc::new(own)).chain(above.levels.iter().cloned());
        let levels = levels.collect();
        self.insert(directory, Patterns { levels })
    }

    fn insert(&self, directory: &Path, patterns: Patterns) -> Patterns {
        let mut all = self.patterns.write().unwrap_or_else(PoisonError::into_inner);
        all.entry(directory.to_owned()).or_insert(patterns).clone()
    }

    fn read(&self, directory: &Path, file: &Path, files: &Files) -> Option<Gitignore> {
        match files.symlink_kind(file) {
            // Git does not follow a link here.
            Ok(EntryKind::File(_) | EntryKind::Other) => {}
            _ => return None,
        }
        let bytes = match files.read(file, MAX_SIZE) {
            Ok(bytes) => bytes,
            // Patterns outside of the bounds of the run do not apply.
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
            // An invalid pattern ignores nothing, as in git.
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

/// Returns the path of `info/exclude` for the repository with the given `.git`, and the bounds to read it in. The
/// `.git` of a worktree is a file that refers to its own directory, which refers to that of the repository.
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
        EntryKind::Directory => git.to_owned(),
        EntryKind::File(_) => {
            let own = git.parent()?.join(line(git)?.strip_prefix("gitdir: ")?);
            own.join(line(&own.join("commondir"))?)
        }
        EntryKind::Link | EntryKind::Other => return None,
    };
    let info = disk::real(&common.join("info")).ok()?;
    let file = info.join("exclude");
    Some((file, Files::new(None, vec![info])))
}
