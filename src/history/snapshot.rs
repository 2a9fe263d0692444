//! An earlier state of the repository as a place that files come from, under the paths of the working tree. Nothing is
//! written: what is asked for is read from git's objects.
//!
//! ```text
//! HEAD~1:main.tf                 /work/repo/main.tf               its text at that commit
//! HEAD~1:infra -> ../shared      /work/repo/infra/queue.tf        a link of that commit, followed within it
//! prod.auto.tfvars, ignored      /work/repo/prod.auto.tfvars      has no history, so it is taken for unchanged
//! /etc/x                         outside of the repository        the disk's, and refused by the bounds as ever
//! ```

use super::git::{Batch, EntryKind, Git, TreeEntry};
use crate::files::{self, Files, Kind, Listed, Refusal, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many files a tree may have.
const MOST_FILES: usize = 1_000_000;
/// How deep submodules may lie in one another.
const DEEPEST: usize = 4;
/// How many links lead to one file, at most; Linux allows as many.
const MOST_LINKS: usize = 40;

/// An earlier state of the repository at `root`.
#[derive(Debug)]
pub(crate) struct Snapshot {
    root: PathBuf,
    /// By absolute path. Directories are told by what is in them.
    entries: BTreeMap<PathBuf, Entry>,
    directories: BTreeMap<PathBuf, BTreeSet<OsString>>,
    repositories: Vec<Mutex<Batch>>,
    /// A file whose text is not in this clone.
    missing: Mutex<Option<PathBuf>>,
}

#[derive(Debug)]
enum Entry {
    /// An object of one of the repositories, and its size.
    Object(usize, String, u64),
    Link(PathBuf),
    /// A file of the working tree that has no history.
    Unchanged,
}

impl Snapshot {
    /// The tree of `commit`, and with it what git ignores but a project cannot be read without: such files have no
    /// history, so they are taken for unchanged.
    pub(super) fn new(git: &Git, commit: &str, root: &Path) -> Result<Self, String> {
        let mut snapshot = Snapshot {
            root: root.to_owned(),
            entries: BTreeMap::new(),
            directories: BTreeMap::from([(root.to_owned(), BTreeSet::new())]),
            repositories: Vec::new(),
            missing: Mutex::default(),
        };
        snapshot.fill(git, commit, root, DEEPEST)?;
        snapshot.take_ignored(git);
        Ok(snapshot)
    }

    /// Why what was judged is not the whole tree, where a text was asked for that this clone does not have.
    pub(crate) fn incomplete(&self) -> Option<String> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        // Compared with a part of the tree, old findings would be new.
        missing.as_ref().map(|path| {
            let shown = path.strip_prefix(&self.root).unwrap_or(path).display();
            format!(
                "`{shown}` at that commit is not in this clone, a partial one; `git fetch --refetch --no-filter` fetches it"
            )
        })
    }

    fn fill(&mut self, git: &Git, commit: &str, directory: &Path, levels: usize) -> Result<(), String> {
        let mut batch = git.batch()?;
        let repository = self.repositories.len();
        let mut submodules = Vec::new();
        for entry in git.tree(commit)?.into_iter().filter(|entry| is_plain(&entry.path)) {
            let TreeEntry {
                kind,
                object,
                size,
                path,
            } = entry;
            let held = match kind {
                EntryKind::File => Entry::Object(repository, object, size),
                EntryKind::Submodule => {
                    submodules.push((path, object));
                    continue;
                }
                // A link whose text is not here leads nowhere.
                EntryKind::Link => match batch.contents(&object)?.as_deref().and_then(super::git::path_of) {
                    Some(target) => Entry::Link(target),
                    None => continue,
                },
            };
            self.insert(directory.join(path), held)?;
        }
        self.repositories.push(Mutex::new(batch));
        for (path, object) in submodules {
            // One that is not checked out has no files in the working tree either.
            if let Some(inner) = git.submodule(&path).filter(|_| levels > 0)
                && inner.commit(&object).ok().flatten().is_some()
            {
                self.fill(&inner, &object, &directory.join(&path), levels - 1)?;
            }
        }
        Ok(())
    }

    fn insert(&mut self, path: PathBuf, entry: Entry) -> Result<(), String> {
        if self.entries.len() >= MOST_FILES {
            return Err(format!("the earlier tree has more than {MOST_FILES} files"));
        }
        let mut inner = path.as_path();
        while let (Some(above), Some(name)) = (inner.parent(), inner.file_name()) {
            let names = self.directories.entry(above.to_owned()).or_default();
            if !names.insert(name.to_owned()) || above == self.root {
                break;
            }
            inner = above;
        }
        self.entries.insert(path, entry);
        Ok(())
    }

    /// Ignored variable files, override files, and modules that `terraform init` has fetched.
    fn take_ignored(&mut self, git: &Git) {
        // Without them the comparison is coarser, not wrong.
        let ignored = git.ignored().unwrap_or_default().into_iter();
        for path in ignored.filter(|path| is_plain(path)) {
            let path = self.root.join(path);
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
            if name == ".terraform" {
                self.take_below(&path.join("modules"));
            } else if is_setting(name) {
                self.take_unchanged(path);
            }
        }
    }

    /// Takes the files of the working tree below `directory`; links are left out.
    fn take_below(&mut self, directory: &Path) {
        let disk = Files::new(Some(self.root.clone()), Vec::new());
        let mut next = vec![directory.to_owned()];
        while let Some(directory) = next.pop() {
            for listed in disk.list(&directory).unwrap_or_default() {
                let path = directory.join(&listed.name);
                match listed.kind {
                    Kind::Directory => next.push(path),
                    Kind::File(_) => self.take_unchanged(path),
                    Kind::Link | Kind::Other => {}
                }
            }
        }
    }

    fn take_unchanged(&mut self, path: PathBuf) {
        if !self.entries.contains_key(&path) {
            // What is beyond the bound is left out, as what is ignored otherwise.
            let _ = self.insert(path, Entry::Unchanged);
        }
    }

    /// `path` without links; each that is followed counts against `links`.
    fn resolved(&self, path: &Path, links: usize) -> io::Result<PathBuf> {
        let Ok(below) = path.strip_prefix(&self.root) else {
            return files::real(path);
        };
        let mut current = self.root.clone();
        let mut parts = below.components();
        while let Some(part) = parts.next() {
            match part {
                Component::Normal(name) => current.push(name),
                Component::ParentDir => {
                    current.pop();
                    if !current.starts_with(&self.root) {
                        return files::real(&current.join(parts.as_path()));
                    }
                    continue;
                }
                _ => continue,
            }
            if let Some(Entry::Link(target)) = self.entries.get(&current) {
                if links == 0 {
                    return Err(io::Error::other("too many levels of symbolic links"));
                }
                current.pop();
                let next = current.join(target).join(parts.as_path());
                return self.resolved(&next, links - 1);
            }
        }
        if self.entries.contains_key(&current) || self.directories.contains_key(&current) {
            return Ok(current);
        }
        Err(io::ErrorKind::NotFound.into())
    }

    /// The file at a real path, or why there is none.
    fn bytes(&self, path: &Path, most: u64) -> Result<Option<Vec<u8>>, Refusal> {
        let Some(entry) = self.entries.get(path) else {
            let is_directory = self.directories.contains_key(path);
            return Err(if is_directory {
                Refusal::NotAFile
            } else {
                Refusal::Missing
            });
        };
        let (repository, object) = match entry {
            Entry::Unchanged => return Ok(None),
            Entry::Link(_) => return Err(Refusal::NotAFile),
            Entry::Object(_, _, size) if *size > most => return Err(Refusal::TooLarge(most)),
            Entry::Object(repository, object, _) => (*repository, object),
        };
        let repository = self.repositories.get(repository).ok_or(Refusal::Missing)?;
        let mut batch = repository.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = batch.contents(object).map_err(io::Error::other)?;
        if contents.is_none() {
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.get_or_insert_with(|| path.to_owned());
        }
        contents.ok_or(Refusal::Missing).map(Some)
    }

    fn is_of_disk(&self, path: &Path) -> bool {
        !path.starts_with(&self.root)
    }
}

impl Store for Snapshot {
    fn named(&self, path: &Path) -> Result<PathBuf, Refusal> {
        // The directory that is named relative to exists today.
        let path = files::absolute(path);
        let today = files::real(&path).ok().filter(|today| !today.starts_with(&self.root));
        match today {
            Some(_) => files::named(&path),
            None => Ok(self.resolved(&files::beyond_links(&path), MOST_LINKS)?),
        }
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.resolved(path, MOST_LINKS)
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        self.kind_of_itself(&self.resolved(path, MOST_LINKS)?)
    }

    fn kind_of_itself(&self, path: &Path) -> io::Result<Kind> {
        if self.is_of_disk(path) {
            return files::kind(path);
        }
        match self.entries.get(path) {
            Some(Entry::Object(_, _, size)) => Ok(Kind::File(*size)),
            Some(Entry::Link(_)) => Ok(Kind::Link),
            Some(Entry::Unchanged) => files::kind(path),
            None if self.directories.contains_key(path) => Ok(Kind::Directory),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Listed>> {
        let names = self.directories.get(directory).ok_or(io::ErrorKind::NotFound)?;
        let listed = names.iter().map(|name| {
            let kind = self.kind_of_itself(&directory.join(name)).unwrap_or(Kind::Other);
            Listed {
                name: name.clone(),
                kind,
            }
        });
        Ok(listed.collect())
    }

    fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        let own = if self.is_of_disk(path) {
            None
        } else {
            self.bytes(path, most)?
        };
        own.map_or_else(|| files::of_disk(path, most), Ok)
    }

    fn head(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        let mut bytes = self.read(path, u64::MAX)?;
        bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(bytes)
    }
}

/// Whether Terraform reads the file of this name beside others, and teams commonly keep it out of git.
fn is_setting(name: &str) -> bool {
    let stem = [".tf", ".tf.json"].iter().find_map(|end| name.strip_suffix(end));
    name.ends_with(".tfvars")
        || name.ends_with(".tfvars.json")
        || stem.is_some_and(|stem| stem == "override" || stem.ends_with("_override"))
}

/// Whether a path leads nowhere but down, and not into a repository's own directory.
fn is_plain(path: &Path) -> bool {
    let is_name = |part: Component<'_>| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    };
    path.components().next().is_some() && path.components().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out() {
        for path in ["a", "a/b.tf", "ä\nb"] {
            assert!(is_plain(Path::new(path)), "{path}");
        }
        for path in ["", "/a", "../a", "a/../../b", ".git/config", "a/.GIT/hooks/x", "./.."] {
            assert!(!is_plain(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn links_are_followed_within_the_tree() {
        let mut snapshot = Snapshot {
            root: PathBuf::from("/r"),
            entries: BTreeMap::new(),
            directories: BTreeMap::from([("/r".into(), BTreeSet::new())]),
            repositories: Vec::new(),
            missing: Mutex::default(),
        };
        let object = || Entry::Object(0, String::new(), 3);
        let entries = [
            ("/r/shared/q.tf", object()),
            ("/r/live/a", Entry::Link("../shared".into())),
            ("/r/live/loop", Entry::Link("loop".into())),
            ("/r/live/gone", Entry::Link("nowhere".into())),
        ];
        for (path, entry) in entries {
            snapshot.insert(path.into(), entry).unwrap();
        }
        let real = |path: &str| snapshot.real(Path::new(path)).ok();
        assert_eq!(real("/r/live/a/q.tf"), Some("/r/shared/q.tf".into()));
        assert_eq!(real("/r/live/../live/a"), Some("/r/shared".into()));
        assert_eq!(real("/r/live/loop"), None);
        assert_eq!(real("/r/live/gone"), None);
        assert_eq!(snapshot.kind(Path::new("/r/live/a/q.tf")).unwrap(), Kind::File(3));
        let names = snapshot.list(Path::new("/r")).unwrap();
        assert_eq!(names.iter().filter(|one| one.kind == Kind::Directory).count(), 2);
    }
}
