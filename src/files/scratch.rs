//! A directory for what is read once and then gone.

use std::io;
use std::path::Path;
use tempfile::TempDir;

/// A directory that is removed when it goes out of scope.
#[derive(Debug)]
pub(crate) struct Scratch(TempDir);

impl Scratch {
    /// A new directory, with a name that nobody can guess, with these files in it. Their names stay below it.
    pub(crate) fn with_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> io::Result<Self> {
        // By its real path, which is what units are named by.
        let parent = std::env::temp_dir().canonicalize()?;
        let directory = tempfile::Builder::new().prefix("sqslint-").tempdir_in(parent)?;
        for (name, text) in files {
            let path = directory.path().join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, text)?;
        }
        Ok(Scratch(directory))
    }

    /// Its real path.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}
