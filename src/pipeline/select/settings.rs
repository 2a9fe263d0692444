//! Which units a changed setting matters to: a configuration, one that it extends, a baseline, a file from which an
//! environment or the command line takes values. Such a file is a part of no unit, and may hold for many.
//!
//! It compares paths. What a setting means for a unit is the configuration's business.

use super::Run;
use crate::config::{Config, NAMES};
use crate::discover::{self, Input, Wanted};
use crate::files::{absolute, clean};
use crate::given::Given;
use crate::history;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Changed files, and what they may be settings of.
pub(super) struct Settings<'a> {
    /// Absolute, there or not.
    files: Vec<PathBuf>,
    run: &'a Run<'a>,
}

impl<'a> Settings<'a> {
    /// Those among `files` that may be settings: a unit is none.
    pub(super) fn among(files: &[PathBuf], run: &'a Run<'a>) -> Self {
        let may_be_one = |file: &&PathBuf| discover::is_data(file) && !discover::is_unit(file, &run.place.files);
        Settings {
            files: files.iter().filter(may_be_one).cloned().collect(),
            run,
        }
    }

    /// The units that they hold for; the error is one of a configuration.
    pub(super) fn units(&self) -> Result<Vec<Input>, String> {
        if self.files.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<PathBuf> = self.directories()?.into_iter().collect();
        let below = discover::discover(&Wanted {
            no_gitignore: self.run.options.no_gitignore,
            ..Wanted::of(&self.run.place.files, &paths)
        });
        let mut units = Vec::new();
        for input in below.inputs {
            let config = self.run.configs.of(input.path()).map_err(|error| error.to_string())?;
            if self.is_of(&config) || self.was_of(&config, input.path()) {
                units.push(input);
            }
        }
        Ok(units)
    }

    /// Directories in which units lie that one of the files may hold for.
    fn directories(&self) -> Result<BTreeSet<PathBuf>, String> {
        let mut starts: BTreeSet<PathBuf> = self.above().map(Path::to_owned).collect();
        let files = self.files.iter().filter_map(|file| file.parent());
        starts.extend(files.map(Path::to_owned));
        if let Some(repository) = &self.run.place.repository {
            // An earlier tree is judged with the configurations of today, too.
            let found = self.run.configs.are_in(repository, self.run.options.no_gitignore);
            starts.extend(found.iter().filter_map(|file| file.parent()).map(Path::to_owned));
            starts.insert(repository.clone());
        }
        let mut directories: BTreeSet<PathBuf> = self.above().map(Path::to_owned).collect();
        for start in starts {
            let config = match self.run.configs.of(&start) {
                Ok(config) => config,
                // What is wrong elsewhere is no fault of a file that is named.
                Err(_) if !self.run.options.staged => continue,
                Err(error) => return Err(error.to_string()),
            };
            if self.is_of(&config) {
                let own = config.files.first().and_then(|file| file.parent());
                let own = own.filter(|_| self.run.configs.are_searched());
                directories.insert(own.unwrap_or(self.run.place.root()).to_owned());
            }
        }
        directories.retain(|directory| self.run.place.files.is_directory(directory));
        Ok(directories)
    }

    /// Where those of the files lie that are configurations, or were.
    fn above(&self) -> impl Iterator<Item = &Path> {
        let is_one = |file: &&PathBuf| {
            NAMES
                .iter()
                .any(|name| file.file_name().is_some_and(|own| own == *name))
        };
        let files = self.files.iter().filter(|_| self.run.configs.are_searched());
        files.filter(is_one).filter_map(|file| file.parent())
    }

    /// Whether one of the files is a part of `config`.
    fn is_of(&self, config: &Config) -> bool {
        let given = |given: &Given| given.files().any(|path| self.has(path));
        config.files.iter().any(|path| self.has(path))
            || history::file_for(&self.run.options.baseline, config, self.run.place.root())
                .is_some_and(|path| self.has(&path))
            || config.environments.iter().any(|environment| given(&environment.given))
            || given(&self.run.options.given)
    }

    /// Whether one of the files, if it was a configuration, was the nearest one above `unit`.
    fn was_of(&self, config: &Config, unit: &Path) -> bool {
        let nearest = config.files.first().and_then(|file| file.parent());
        let is_nearer = |than: &Path| nearest.is_some_and(|nearest| nearest != than && nearest.starts_with(than));
        self.above().any(|above| unit.starts_with(above) && !is_nearer(above))
    }

    fn has(&self, path: &Path) -> bool {
        let path = absolute(path);
        let canonical = self.run.place.files.real(&path).unwrap_or_else(|_| clean(&path));
        self.files.contains(&canonical)
    }
}
