//! The disk under texts that somebody holds who has not saved them, an editor.

use super::store::Disk;
use super::{Kind, Listed, Refusal, Store, clean, disk};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts by the real paths of the files that they stand for, which need not be there.
pub(crate) type Held = Arc<BTreeMap<PathBuf, Arc<str>>>;

/// The disk under texts.
#[derive(Debug)]
pub(crate) struct Overlaid {
    disk: Disk,
    texts: Held,
}

impl Overlaid {
    pub(crate) fn new(texts: Held) -> Self {
        Overlaid {
            disk: Disk::default(),
            texts,
        }
    }

    fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.texts.get(path)
    }

    /// The paths of the texts below a directory.
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

    /// The kind of what only texts say that it is there.
    fn told(&self, path: &Path) -> Option<Kind> {
        let file = self.text(path).map(|text| Kind::File(text.len() as u64));
        file.or_else(|| self.is_directory(path).then_some(Kind::Directory))
    }
}

impl Store for Overlaid {
    fn named(&self, path: &Path) -> Result<PathBuf, Refusal> {
        let found = self.disk.named(path);
        match found {
            Err(Refusal::Missing) => {
                let path = clean(&disk::absolute(path));
                self.told(&path).map(|_| path).ok_or(Refusal::Missing)
            }
            found => found,
        }
    }

    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match self.disk.real(path) {
            Ok(real) => Ok(real),
            Err(error) => {
                let path = clean(path);
                self.told(&path).map(|_| path).ok_or(error)
            }
        }
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        if let Some(text) = self.text(path) {
            return Ok(Kind::File(text.len() as u64));
        }
        self.disk.kind(path).or_else(|error| self.told(path).ok_or(error))
    }

    fn kind_of_itself(&self, path: &Path) -> io::Result<Kind> {
        if let Some(text) = self.text(path) {
            return Ok(Kind::File(text.len() as u64));
        }
        self.disk
            .kind_of_itself(path)
            .or_else(|error| self.told(path).ok_or(error))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Listed>> {
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
                let kind = self.told(&directory.join(name)).unwrap_or(Kind::Other);
                listed.push(Listed {
                    name: name.to_owned(),
                    kind,
                });
            }
        }
        Ok(listed)
    }

    fn read(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        match self.text(path) {
            Some(text) if text.len() as u64 > most => Err(Refusal::TooLarge(most)),
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.disk.read(path, most),
        }
    }

    fn head(&self, path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
        match self.text(path) {
            Some(text) => {
                let most = usize::try_from(most).unwrap_or(usize::MAX).min(text.len());
                Ok(text.as_bytes().get(..most).unwrap_or_default().to_vec())
            }
            None => self.disk.head(path, most),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::TemporaryDirectory;

    #[test]
    fn texts_lie_over_files_and_beside_them() {
        let place = TemporaryDirectory::with_files([("a.tf", "disk"), ("b.tf", "b")]);
        let at = |name: &str| place.path().join(name);
        let texts = [("a.tf", "held"), ("new/c.tf", "c")].map(|(name, text)| (at(name), Arc::from(text)));
        let store = Overlaid::new(Arc::new(texts.into_iter().collect()));
        let read = |name: &str| String::from_utf8(store.read(&at(name), 9).unwrap()).unwrap();
        assert_eq!(["a.tf", "b.tf", "new/c.tf"].map(read), ["held", "b", "c"]);
        assert!(matches!(store.read(&at("a.tf"), 3), Err(Refusal::TooLarge(3))));
        assert_eq!(store.kind(&at("new")).unwrap(), Kind::Directory);
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
        assert_eq!(names(place.path()), ["a.tf", "b.tf", "new"]);
        assert_eq!(names(&at("new")), ["c.tf"]);
    }
}
