//! Surroundings of a run: the working directory, the repository, and the files that may be read.

use super::Options;
use crate::config::Configs;
use crate::history::{BaselineChoice, no_baseline};
use crate::inputs::{Parameters, Variable};
use source::files::{self, Files, named, real, repository_root};
use std::path::{Path, PathBuf};

/// Directories and files of a run. Paths are absolute and contain no symbolic links.
#[derive(Debug, Clone)]
pub(crate) struct RunContext {
    pub(crate) working_directory: PathBuf,
    /// Root of the repository, if any.
    pub(crate) repository: Option<PathBuf>,
    /// The files that may be read.
    pub(crate) files: Files,
}

impl RunContext {
    pub(crate) fn of(options: &Options) -> Self {
        let working_directory = std::env::current_dir().and_then(|path| real(&path));
        RunContext::at(working_directory.unwrap_or_default(), options)
    }

    /// Determines the directories as if the process ran in `working_directory`.
    pub(crate) fn at(working_directory: PathBuf, options: &Options) -> Self {
        let stdin = options.stdin.as_ref().and_then(|stdin| stdin.path.as_deref()?.parent());
        let all = options.paths.iter().map(PathBuf::as_path).chain(stdin);
        let all: Vec<Option<PathBuf>> = all.map(|path| named(path).ok()).collect();
        let start = all.first().and_then(Option::as_deref);
        let repository = repository_root(start.unwrap_or(&working_directory));
        let roots = all
            .iter()
            .flatten()
            .filter_map(|path| bound(path, repository.as_deref()));
        let files = Files::new(repository.clone(), roots.collect());
        let configuration = options.config.file.as_deref();
        RunContext {
            repository,
            working_directory,
            files: files.trusting(
                options
                    .inputs
                    .files()
                    .chain(configuration)
                    .chain(options.deployed.as_deref()),
            ),
        }
    }

    /// Returns errors for the arguments of the command line that have no name, and for its files that do not exist.
    pub(super) fn missing(&self, options: &Options) -> Result<(), Vec<String>> {
        let variables = options.inputs.variables.iter().filter_map(|variable| match variable {
            Variable::File(path) => Some(("--var-file", path)),
            Variable::Assignment(_) => None,
        });
        let parameters = options
            .inputs
            .parameters
            .iter()
            .filter_map(|parameters| match parameters {
                Parameters::File(path) => Some(("--parameters", path)),
                Parameters::Assignment(_) => None,
            });
        let deployed = options.deployed.iter().map(|path| ("--deployed", path));
        let missing = variables.chain(parameters).chain(deployed).filter_map(|(flag, path)| {
            let why = match () {
                () if files::is_directory(path) => "it is a directory",
                () if !files::exists(path) => "no such file",
                () => return None,
            };
            Some(format!("`{flag} {}`: {why}", path.display()))
        });
        let mut errors: Vec<String> = missing.collect();
        errors.extend(options.inputs.variables.iter().filter_map(Variable::fault));
        if let BaselineChoice::File(path) = &options.baseline {
            if files::is_directory(path) {
                errors.push(format!("`--baseline {}`: it is a directory", path.display()));
            } else if !files::exists(path) {
                errors.push(no_baseline(&path.display().to_string()));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Returns the configurations for a run.
    pub(crate) fn configs(&self, options: &Options) -> Configs {
        let roots = roots(options, self.repository.as_deref(), &self.working_directory);
        Configs::new(options.config.clone(), roots, &self.files)
    }

    /// Returns the root of the repository or, without one, the working directory.
    pub(crate) fn root(&self) -> &Path {
        self.repository.as_deref().unwrap_or(&self.working_directory)
    }
}

/// Returns the directory that becomes readable because `path` was named outside of `repository`.
fn bound(path: &Path, repository: Option<&Path>) -> Option<PathBuf> {
    if repository.is_some_and(|repository| path.starts_with(repository)) {
        return None;
    }
    let directory = if files::is_directory(path) {
        path
    } else {
        path.parent()?
    };
    Some(repository_root(directory).unwrap_or_else(|| directory.to_owned()))
}

/// Returns the directories at which the search for configurations ends.
fn roots(options: &Options, repository: Option<&Path>, working_directory: &Path) -> Vec<PathBuf> {
    if let Some(repository) = repository {
        return vec![repository.to_owned()];
    }
    let named = options.paths.iter().filter_map(|path| named(path).ok());
    let outside = named.filter(|path| !path.starts_with(working_directory));
    std::iter::once(working_directory.to_owned()).chain(outside).collect()
}
