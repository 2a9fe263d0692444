//! Finds the units that a changed setting affects: a configuration, one that it extends, a baseline, or a file with
//! values for an environment or for the command line. Such a file belongs to no unit, and may affect many.
//!
//! This module only compares paths; the configuration decides how a setting affects a unit.

use super::Run;
use crate::config::{Config, NAMES};
use crate::discover::{self, DiscoveryRequest, Input};
use crate::history;
use crate::inputs::Inputs;
use source::files::{absolute, clean};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Changed files that may be settings.
pub(super) struct Settings<'a> {
    /// Absolute paths, including those of deleted files.
    files: Vec<PathBuf>,
    run: &'a Run<'a>,
}

impl<'a> Settings<'a> {
    /// Keeps those of `files` that may be settings, which excludes units.
    pub(super) fn among(files: &[PathBuf], run: &'a Run<'a>) -> Self {
        let may_be_one = |file: &&PathBuf| discover::is_data(file) && !discover::is_unit(file, &run.context.files);
        Settings {
            files: files.iter().filter(may_be_one).cloned().collect(),
            run,
        }
    }

    /// Returns the affected units. Any error is one of a configuration.
    pub(super) fn units(&self) -> Result<Vec<Input>, String> {
        if self.files.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<PathBuf> = self.directories()?.into_iter().collect();
        let below = discover::discover(&DiscoveryRequest {
            no_gitignore: self.run.options.no_gitignore,
            ..DiscoveryRequest::of(&self.run.context.files, &paths)
        });
        let mut units = Vec::new();
        for input in below.inputs {
            let config = self
                .run
                .configs
                .for_path(input.path())
                .map_err(|error| error.to_string())?;
            if self.is_of(&config) || self.was_of(&config, input.path()) {
                units.push(input);
            }
        }
        Ok(units)
    }

    /// Returns the directories that contain the units one of the files may affect.
    fn directories(&self) -> Result<BTreeSet<PathBuf>, String> {
        let mut starts: BTreeSet<PathBuf> = self.above().map(Path::to_owned).collect();
        let files = self.files.iter().filter_map(|file| file.parent());
        starts.extend(files.map(Path::to_owned));
        if let Some(repository) = &self.run.context.repository {
            // The current configurations also apply to an earlier commit.
            let found = self.run.configs.files_below(repository, self.run.options.no_gitignore);
            starts.extend(found.iter().filter_map(|file| file.parent()).map(Path::to_owned));
            starts.insert(repository.clone());
        }
        let mut directories: BTreeSet<PathBuf> = self.above().map(Path::to_owned).collect();
        for start in starts {
            let config = match self.run.configs.for_path(&start) {
                Ok(config) => config,
                // Errors in other configurations do not concern a named file.
                Err(_) if !self.run.options.staged => continue,
                Err(error) => return Err(error.to_string()),
            };
            if self.is_of(&config) {
                let own = config.files.first().and_then(|file| file.parent());
                let own = own.filter(|_| self.run.configs.are_searched());
                directories.insert(own.unwrap_or(self.run.context.root()).to_owned());
            }
        }
        directories.retain(|directory| self.run.context.files.is_directory(directory));
        Ok(directories)
    }

    /// Returns the directories of files that are, or were, configurations.
    fn above(&self) -> impl Iterator<Item = &Path> {
        let is_one = |file: &&PathBuf| {
            NAMES
                .iter()
                .any(|name| file.file_name().is_some_and(|own| own == *name))
        };
        let files = self.files.iter().filter(|_| self.run.configs.are_searched());
        files.filter(is_one).filter_map(|file| file.parent())
    }

    /// Returns `true` if one of the files is part of `config`.
    fn is_of(&self, config: &Config) -> bool {
        let reads = |inputs: &Inputs| inputs.files().any(|path| self.has(path));
        config.files.iter().any(|path| self.has(path))
            || history::file_for(&self.run.options.baseline, config, self.run.context.root())
                .is_some_and(|path| self.has(&path))
            || config.environments.iter().any(|environment| reads(&environment.inputs))
            || reads(&self.run.options.inputs)
    }

    /// Returns `true` if one of the files was the nearest configuration above `unit`, if it was one.
    fn was_of(&self, config: &Config, unit: &Path) -> bool {
        let nearest = config.files.first().and_then(|file| file.parent());
        let is_nearer = |than: &Path| nearest.is_some_and(|nearest| nearest != than && nearest.starts_with(than));
        self.above().any(|above| unit.starts_with(above) && !is_nearer(above))
    }

    fn has(&self, path: &Path) -> bool {
        let path = absolute(path);
        let canonical = self.run.context.files.real(&path).unwrap_or_else(|_| clean(&path));
        self.files.contains(&canonical)
    }
}
