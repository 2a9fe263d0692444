//! The disk with the unsaved texts of an editor in place of files.

use super::store::Disk;
use super::{DirectoryEntry, EntryKind, Refusal, Store, clean, disk};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Unsaved texts by the real paths of their files, which need not exist on disk.
pub type UnsavedTexts = Arc<BTreeMap<PathBuf, Arc<str>>>;

/// The disk overlaid with texts.
#[derive(Debug)]
pub struct Overlaid {
    disk: Disk,
    texts: UnsavedTexts,
}

impl Overlaid {
    /// Overlays the disk with `texts`.
    pub fn new(texts: UnsavedTexts) -> Self {
        Overlaid {
            disk: Disk::default(),
            texts,
        }
    }

    fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.texts.get(path)
    }

    /// Returns the paths of the texts below a directory.
    fn below<'p>(&'p self, directory: &'p Path) -> impl Iterator<Item = &'p Path> {
        let from = self.texts.range(directory.to_owned()..);
        let below = from.map(|(path, _)| path.as_path());
        below
            .take_while(move |path| path.starts_with(directory))
            .filter(move |path| *path != directory)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.below(path).next().is_some()
    }

    /// Returns the type of a file or directory that exists only because of the texts.
    fn kind_of_text(&self, path: &Path) -> Option<EntryKind> {
        let file = self.text(path).map(|text| EntryKind::File(text.len() as u64));
        file.or_else(|| self.is_directory(path).then_some(EntryKind::Directory))
    }
}

impl Store for Overlaid {
    fn named(&self, path: &Path) -> Result<PathBuf, Refusal> {
        let found = self.disk.named(path);
        match found {
            Err(Refusal::Missing) => {
                let path = clean(&disk::absolute(path));
                self.kind_of_text(&path).map(|_| path).ok_or(Refusal::Missing)
            }
            found => found,
        }
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match self.disk.real(path) {
            Ok(real) => Ok(real),
            Err(error) => {
                let path = clean(path);
                self.kind_of_text(&path).map(|_| path).ok_or(error)
            }
        }
    }

    fn kind(&self, path: &Path) -> io::Result<EntryKind> {
        if let Some(text) = self.text(path) {
            return Ok(EntryKind::File(text.len() as u64));
        }
        self.disk
            .kind(path)
            .or_else(|error| self.kind_of_text(path).ok_or(error))
    }

    fn symlink_kind(&self, path: &Path) -> io::Result<EntryKind> {
        if let Some(text) = self.text(path) {
            return Ok(EntryKind::File(text.len() as u64));
        }
        self.disk
            .symlink_kind(path)
            .or_else(|error| self.kind_of_text(path).ok_or(error))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let mut listed = match self.disk.list(directory) {
            Ok(listed) => listed,
            Err(_) if self.is_directory(directory) => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut known: BTreeSet<_> = BTreeSet::new();
        for path in self.below(directory) {
            let Some(name) = path.strip_prefix(directory).ok().and_then(|rest| rest.iter().next()) else {
                continue;
            };
            if known.insert(name.to_owned()) && !listed.iter().any(|one| one.name == name) {
                let kind = self.kind_of_text(&directory.join(name)).unwrap_or(EntryKind::Other);
                listed.push(DirectoryEntry {
                    name: name.to_owned(),
                    kind,
                });
            }
        }
        Ok(listed)
    }

    fn read(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
        match self.text(path) {
            Some(text) if text.len() as u64 > max => Err(Refusal::TooLarge(max)),
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.disk.read(path, max),
        }
    }

    fn head(&self, path: &Path, max: u64) -> Result<Vec<u8>, Refusal> {
        match self.text(path) {
            Some(text) => {
                let max = usize::try_from(max).unwrap_or(usize::MAX).min(text.len());
                Ok(text.as_bytes().get(..max).unwrap_or_default().to_vec())
            }
            None => self.disk.head(path, max),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::files::Scratch;

    #[test]
    fn texts_replace_and_add_files() {
        let directory = Scratch::with_files([("a.tf", "disk"), ("b.tf", "b")]).unwrap();
        let at = |name: &str| directory.path().join(name);
        let texts = [("a.tf", "held"), ("new/c.tf", "c")].map(|(name, text)| (at(name), Arc::from(text)));
        let store = Overlaid::new(Arc::new(texts.into_iter().collect()));
        let read = |name: &str| String::from_utf8(store.read(&at(name), 9).unwrap()).unwrap();
        assert_eq!(["a.tf", "b.tf", "new/c.tf"].map(read), ["held", "b", "c"]);
        assert!(matches!(store.read(&at("a.tf"), 3), Err(Refusal::TooLarge(3))));
        assert_eq!(store.kind(&at("new")).unwrap(), EntryKind::Directory);
        assert_eq!(store.real(&at("new/c.tf")).unwrap(), at("new/c.tf"));
        assert!(store.real(&at("new/d.tf")).is_err());
        let names = |directory: &Path| {
            let listed = store.list(directory).unwrap();
            let mut names: Vec<String> = listed
                .iter()
                .map(|one| one.name.to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        assert_eq!(names(directory.path()), ["a.tf", "b.tf", "new"]);
        assert_eq!(names(&at("new")), ["c.tf"]);
    }
}
