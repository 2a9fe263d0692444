//! Temporary directories.

use std::io;
use std::path::Path;
use tempfile::TempDir;

/// A temporary directory, removed when it is dropped.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// Creates a directory with an unpredictable name and writes `files` into it. Their names are relative and must not
    /// leave it.
    pub fn with_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> io::Result<Self> {
        // Units are identified by their real path.
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

    /// Returns the real path of the directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
