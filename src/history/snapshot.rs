//! Presents an earlier commit of the repository as a source of files, under the paths of the working tree. Nothing is
//! written: requested files are read from git's objects.
//!
//! ```text
//! HEAD~1:main.tf                 /work/repo/main.tf               its text at that commit
//! HEAD~1:infra -> ../shared      /work/repo/infra/queue.tf        a link of that commit, followed within it
//! prod.auto.tfvars, ignored      /work/repo/prod.auto.tfvars      has no history, so it is assumed to be unchanged
//! /etc/x                         outside of the repository        read from disk, subject to the usual bounds
//! ```

use super::git::{Batch, Git, TreeEntry, TreeEntryKind};
use source::files::{self, DirectoryEntry, EntryKind, Files, Refusal, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Maximum number of files in a tree.
const MAX_FILES: usize = 1_000_000;
/// Maximum nesting depth of submodules.
const MAX_SUBMODULE_DEPTH: usize = 4;
/// Maximum number of links followed to one file, as in Linux.
const MAX_LINKS: usize = 40;

/// Earlier commit of the repository at `root`.
#[derive(Debug)]
pub(crate) struct Snapshot {
    root: PathBuf,
    /// Entries by absolute path. Directories follow from their contents.
    entries: BTreeMap<PathBuf, Entry>,
    directories: BTreeMap<PathBuf, BTreeSet<OsString>>,
    repositories: Vec<Mutex<Batch>>,
    /// A file whose text is missing from this clone.
    missing: Mutex<Option<PathBuf>>,
}

#[derive(Debug)]
enum Entry {
    /// An object in one of the repositories, with its size.
    Object(usize, String, u64),
    Link(PathBuf),
    /// A file of the working tree without history.
    Unchanged,
}

impl Snapshot {
    /// Reads the tree of `commit`. It includes ignored files that a project may need: they have no history and are
    /// assumed to be unchanged.
    pub(super) fn new(git: &Git, commit: &str, root: &Path) -> Result<Self, String> {
        let mut snapshot = Snapshot {
            root: root.to_owned(),
            entries: BTreeMap::new(),
            directories: BTreeMap::from([(root.to_owned(), BTreeSet::new())]),
            repositories: Vec::new(),
            missing: Mutex::default(),
        };
        snapshot.fill(git, commit, root, MAX_SUBMODULE_DEPTH)?;
        snapshot.add_ignored(git);
        Ok(snapshot)
    }

    /// Explains why the tree was not checked completely, if a requested text is missing from this clone.
    pub(crate) fn incomplete(&self) -> Option<String> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        // Compared with an incomplete tree, old findings would appear to be new.
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
                TreeEntryKind::File => Entry::Object(repository, object, size),
                TreeEntryKind::Submodule => {
                    submodules.push((path, object));
                    continue;
                }
                // A link whose target is missing from this clone is dangling.
                TreeEntryKind::Link => match batch.contents(&object)?.as_deref().and_then(super::git::path_of) {
                    Some(target) => Entry::Link(target),
                    None => continue,
                },
            };
            self.insert(directory.join(path), held)?;
        }
        self.repositories.push(Mutex::new(batch));
        for (path, object) in submodules {
            // A submodule that is not checked out has no files in the working tree either.
            if let Some(inner) = git.submodule(&path).filter(|_| levels > 0)
                && inner.commit(&object).ok().flatten().is_some()
            {
                self.fill(&inner, &object, &directory.join(&path), levels - 1)?;
            }
        }
        Ok(())
    }

    fn insert(&mut self, path: PathBuf, entry: Entry) -> Result<(), String> {
        if self.entries.len() >= MAX_FILES {
            return Err(format!("the earlier tree has more than {MAX_FILES} files"));
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

    /// Adds ignored variable files, override files, and modules that `terraform init` has downloaded.
    fn add_ignored(&mut self, git: &Git) {
        // Without them, the comparison is less precise, but not wrong.
        let ignored = git.ignored().unwrap_or_default().into_iter();
        for path in ignored.filter(|path| is_plain(path)) {
            let path = self.root.join(path);
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
            if name == ".terraform" {
                self.add_below(&path.join("modules"));
            } else if is_setting(name) {
                self.add_unchanged(path);
            }
        }
    }

    /// Adds the files of the working tree below `directory`, except links.
    fn add_below(&mut self, directory: &Path) {
        let disk = Files::new(Some(self.root.clone()), Vec::new());
        let mut next = vec![directory.to_owned()];
        while let Some(directory) = next.pop() {
            for listed in disk.list(&directory).unwrap_or_default() {
                let path = directory.join(&listed.name);
                match listed.kind {
                    EntryKind::Directory => next.push(path),
                    EntryKind::File(_) => self.add_unchanged(path),
                    EntryKind::Link | EntryKind::Other => {}
                }
            }
        }
    }

    fn add_unchanged(&mut self, path: PathBuf) {
        if !self.entries.contains_key(&path) {
            // Files beyond the limit are left out, like other ignored files.
            let _ = self.insert(path, Entry::Unchanged);
        }
    }

    /// Resolves the links in `path`, at most `links` of them.
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

    /// Returns the contents of the file at a real path, or the reason why it cannot be read.
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
        // The directory that the path is relative to exists in the working tree.
        let path = files::absolute(path);
        let today = files::real(&path).ok().filter(|today| !today.starts_with(&self.root));
        match today {
            Some(_) => files::named(&path),
            None => Ok(self.resolved(&files::beyond_links(&path), MAX_LINKS)?),
        }
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        self.resolved(path, MAX_LINKS)
    }

    fn kind(&self, path: &Path) -> io::Result<EntryKind> {
        self.symlink_kind(&self.resolved(path, MAX_LINKS)?)
    }

    fn symlink_kind(&self, path: &Path) -> io::Result<EntryKind> {
        if self.is_of_disk(path) {
            return files::kind(path);
        }
        match self.entries.get(path) {
            Some(Entry::Object(_, _, size)) => Ok(EntryKind::File(*size)),
            Some(Entry::Link(_)) => Ok(EntryKind::Link),
            Some(Entry::Unchanged) => files::kind(path),
            None if self.directories.contains_key(path) => Ok(EntryKind::Directory),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let names = self.directories.get(directory).ok_or(io::ErrorKind::NotFound)?;
        let listed = names.iter().map(|name| {
            let kind = self.symlink_kind(&directory.join(name)).unwrap_or(EntryKind::Other);
            DirectoryEntry {
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

/// Returns `true` for files that Terraform reads implicitly and that teams often keep out of git.
fn is_setting(name: &str) -> bool {
    let stem = [".tf", ".tf.json"].iter().find_map(|end| name.strip_suffix(end));
    name.ends_with(".tfvars")
        || name.ends_with(".tfvars.json")
        || stem.is_some_and(|stem| stem == "override" || stem.ends_with("_override"))
}

/// Returns `true` if a path is relative, contains no `..`, and does not enter a repository's own directory.
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
    fn paths_outside_the_tree_are_rejected() {
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
        assert_eq!(snapshot.kind(Path::new("/r/live/a/q.tf")).unwrap(), EntryKind::File(3));
        let names = snapshot.list(Path::new("/r")).unwrap();
        assert_eq!(names.iter().filter(|one| one.kind == EntryKind::Directory).count(), 2);
    }
}
