//! An earlier tree of the repository, laid out in a temporary directory that goes when it is dropped: the frontends
//! follow names from file to file, so the tree has to lie somewhere, and it is not the working tree's place.
//!
//! Only what the frontends may read is written, within bounds, and nothing outside of the directory, whatever names a
//! tree made by an enemy has. The program may be killed before it can remove the directory; then the system does.

use super::git::{EntryKind, Git, TreeEntry};
use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::path::{Component, Path, PathBuf};

/// Endings of files that are read for what they say.
const CODE: [&str; 12] = [
    "tf", "tofu", "tfvars", "hcl", "yaml", "yml", "json", "template", "toml", "tftpl", "tpl", "tmpl",
];
/// No frontend reads a larger file, plans aside, which are named and not looked for in history.
const LARGEST: u64 = 16 << 20;
/// Other files are there for functions like `file`, which read small texts.
const LARGEST_OTHER: u64 = 64 << 10;
/// How many other files are written.
const MOST_OTHERS: usize = 50_000;
/// How much is written in all.
const MOST_FILES: usize = 250_000;
const MOST_BYTES: u64 = 2 << 30;
/// How deep submodules may lie in one another.
const DEEPEST: usize = 4;

/// A tree on disk.
#[derive(Debug)]
pub(super) struct Tree {
    temporary: PathBuf,
    root: PathBuf,
    /// The repository it is an earlier state of.
    of: PathBuf,
    files: usize,
    others: usize,
    bytes: u64,
}

impl Drop for Tree {
    fn drop(&mut self) {
        // What cannot be removed is the operating system's to remove.
        let _ = std::fs::remove_dir_all(&self.temporary);
    }
}

impl Tree {
    /// The tree of `commit`, and with it what git ignores but a project cannot be read without: such files have no
    /// history, so they are taken for unchanged.
    pub(super) fn new(git: &Git, commit: &str, repository: &Path) -> Result<Self, String> {
        let temporary = temporary_directory().map_err(|error| {
            let place = std::env::temp_dir();
            format!("cannot make a directory in `{}`: {error}", place.display())
        })?;
        // Texts may hold the name of the repository's directory.
        let name = repository.file_name().unwrap_or(OsStr::new("repository"));
        let root = temporary.join(name);
        let mut tree = Tree {
            temporary,
            root,
            of: repository.to_owned(),
            files: 0,
            others: 0,
            bytes: 0,
        };
        // It is found as a repository is found.
        create(&tree.root.join(".git"))?;
        tree.fill(git, commit, Path::new(""), DEEPEST)?;
        tree.take_ignored(git);
        Ok(tree)
    }

    /// Its root.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where in it the place is that `path`, absolute, has in the repository; `None` where it has none.
    pub(super) fn place_of(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.of).ok()?;
        // Joined with nothing, a path would get a slash at its end.
        Some(if below.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(below)
        })
    }

    fn fill(&mut self, git: &Git, commit: &str, prefix: &Path, levels: usize) -> Result<(), String> {
        let entries = git.tree(commit)?;
        let (mut files, mut links, mut submodules) = (Vec::new(), Vec::new(), Vec::new());
        for entry in entries.into_iter().filter(|entry| is_plain(&entry.path)) {
            match entry.kind {
                EntryKind::File if self.wants(&entry) => files.push(entry),
                EntryKind::File => {}
                EntryKind::Link => links.push(entry),
                EntryKind::Submodule => submodules.push(entry),
            }
        }
        let objects = |entries: &[TreeEntry]| entries.iter().map(|entry| entry.object.clone()).collect::<Vec<_>>();
        let wanted = objects(&files);
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        git.contents(&wanted, |at, bytes| match (files.get(at), bytes) {
            (Some(entry), Some(bytes)) => self.write(&prefix.join(&entry.path), &bytes),
            // Compared with a part of the tree, old findings would be new.
            (Some(entry), None) => Err(format!(
                "`{}` at that commit is not in this clone, a partial one; `git fetch --refetch --no-filter` fetches it",
                entry.path.display()
            )),
            (None, _) => Ok(()),
        })?;
        for entry in &submodules {
            // One that is not checked out has no files in the working tree either.
            if let Some(inner) = git.submodule(&entry.path).filter(|_| levels > 0)
                && inner.commit(&entry.object).ok().flatten().is_some()
            {
                self.fill(&inner, &entry.object, &prefix.join(&entry.path), levels - 1)?;
            }
        }
        // Links come last, when every directory is there, so that nothing is written through one.
        let mut ready = Vec::new();
        for entry in &links {
            let place = self.root.join(prefix).join(&entry.path);
            let parent = place.parent().map_or(Ok(()), create);
            if parent.is_ok() {
                ready.push(place);
            } else {
                ready.push(PathBuf::new());
            }
        }
        let wanted = objects(&links);
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        git.contents(&wanted, |at, bytes| {
            if let (Some(place), Some(target)) = (ready.get(at), bytes.as_deref().and_then(super::git::path_of)) {
                link(&target, place);
            }
            Ok(())
        })
    }

    /// Whether a frontend may read it, with a count of those that are only perhaps read.
    fn wants(&mut self, entry: &TreeEntry) -> bool {
        if is_code(&entry.path) {
            return entry.size <= LARGEST;
        }
        let wants = entry.size <= LARGEST_OTHER && self.others < MOST_OTHERS;
        self.others += usize::from(wants);
        wants
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), String> {
        self.files += 1;
        self.bytes += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self.files > MOST_FILES || self.bytes > MOST_BYTES {
            return Err("the earlier tree is too large to be laid out".to_owned());
        }
        let place = self.root.join(path);
        if let Some(parent) = place.parent() {
            create(parent)?;
            // Trees that git makes need no such look; others may have a link and a directory of one name.
            if !parent.canonicalize().is_ok_and(|parent| parent.starts_with(&self.root)) {
                return Err(format!("`{}` leads out of its tree", path.display()));
            }
        }
        std::fs::write(&place, bytes).map_err(|error| format!("cannot write `{}`: {error}", place.display()))
    }

    /// Ignored variable files, override files, and modules that `terraform init` has fetched.
    fn take_ignored(&mut self, git: &Git) {
        // Without them the comparison is coarser, not wrong.
        for path in git
            .ignored()
            .unwrap_or_default()
            .into_iter()
            .filter(|path| is_plain(path))
        {
            let from = self.of.join(&path);
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or("");
            if name == ".terraform" {
                self.copy(&from.join("modules"), &path.join("modules"), true);
            } else if is_setting(name) {
                self.copy(&from, &path, false);
            }
        }
    }

    /// Copies a file, or what a directory holds; links are left out.
    fn copy(&mut self, from: &Path, to: &Path, may_be_directory: bool) {
        let mut next = vec![(from.to_owned(), to.to_owned())];
        while let Some((from, to)) = next.pop() {
            let Ok(metadata) = std::fs::symlink_metadata(&from) else {
                continue;
            };
            if metadata.is_dir() && may_be_directory {
                let entries = std::fs::read_dir(&from).into_iter().flatten().flatten();
                next.extend(entries.map(|entry| (entry.path(), to.join(entry.file_name()))));
            } else if metadata.is_file()
                && metadata.len() <= LARGEST
                && (is_code(&from) || metadata.len() <= LARGEST_OTHER)
                && !self.root.join(&to).exists()
                && let Ok(bytes) = std::fs::read(&from)
                && self.write(&to, &bytes).is_err()
            {
                return;
            }
        }
    }
}

fn is_code(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or("");
    CODE.contains(&ending)
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

fn create(directory: &Path) -> Result<(), String> {
    std::fs::create_dir_all(directory).map_err(|error| format!("cannot make `{}`: {error}", directory.display()))
}

/// A new directory that nobody else may look into.
fn temporary_directory() -> std::io::Result<PathBuf> {
    let builder = private();
    let parent = std::env::temp_dir().canonicalize()?;
    let mut tries = 0;
    loop {
        let random = RandomState::new().hash_one(std::process::id());
        let path = parent.join(format!("sqslint-since-{random:016x}"));
        match builder.create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists || tries > 9 => return Err(error),
            Err(_) => tries += 1,
        }
    }
}

#[cfg(unix)]
fn private() -> std::fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Elsewhere the directory for temporary files is the user's own.
#[cfg(not(unix))]
fn private() -> std::fs::DirBuilder {
    std::fs::DirBuilder::new()
}

#[cfg(unix)]
fn link(target: &Path, place: &Path) {
    // A name that is taken is none that git would have made a link of.
    let _ = std::os::unix::fs::symlink(target, place);
}

/// Where links need a privilege, git writes none either.
#[cfg(not(unix))]
fn link(_target: &Path, _place: &Path) {}

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
}
