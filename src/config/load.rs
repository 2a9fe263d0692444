//! Finds the configuration of an input, which is the nearest one up to the repository's root, and reads it with the
//! files that it extends.

use super::check::Checked;
use super::policy;
use super::{Config, ConfigError, shown};
use crate::rules::{Catalogue, PolicyMetadata};
use crate::selection::{self, FormerId};
use rustc_hash::FxHashMap;
use source::files::{self, Files};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toml::Spanned;

/// Names of configuration files, in order of precedence.
pub const NAMES: [&str; 2] = ["sqslint.toml", ".sqslint.toml"];

/// Maximum length of a chain of files that extend one another.
const MAX_CHAIN: usize = 16;
/// Maximum size of a configuration, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Source of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// A single file for all units, instead of the nearest ones.
    pub file: Option<PathBuf>,
    /// Lines of TOML that override the file.
    pub lines: Vec<String>,
    /// `true` if no file applies.
    pub isolated: bool,
}

/// Configurations of a run, each read once.
#[derive(Debug)]
pub struct Configs {
    source: Source,
    /// Directories at which the search upwards ends.
    roots: Vec<PathBuf>,
    /// Files of the working tree that may be read.
    files: Files,
    read: Mutex<FxHashMap<Option<PathBuf>, Arc<Config>>>,
    /// Nearest configuration file of each directory.
    nearest: Mutex<FxHashMap<PathBuf, Option<PathBuf>>>,
}

impl Configs {
    /// Creates the configurations of a run. The search does not leave `roots`: the repository, or the working
    /// directory.
    pub fn new(source: Source, roots: Vec<PathBuf>, files: &Files) -> Self {
        Configs {
            source,
            roots,
            files: files.clone(),
            read: Mutex::default(),
            nearest: Mutex::default(),
        }
    }

    /// Returns the configuration for the file or directory at `path`, which is absolute.
    pub fn for_path(&self, path: &Path) -> Result<Arc<Config>, ConfigError> {
        let file = self.file_for(path);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.get(&file) {
            return Ok(known.clone());
        }
        let config = Arc::new(self.load(file.as_deref())?);
        read.insert(file, config.clone());
        Ok(config)
    }

    /// Returns the rules known to the configurations read so far: the built-in ones and the policies.
    pub fn catalogue(&self) -> Catalogue {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        #[allow(clippy::iter_over_hash_type)] // a catalogue is sorted
        let facts: Vec<Arc<PolicyMetadata>> = (read.values())
            .flat_map(|config| config.policies.iter().map(|policy| policy.facts().clone()))
            .collect();
        Catalogue::with(facts)
    }

    /// Returns the former ids of rules in the configurations read so far.
    pub(crate) fn former_ids(&self) -> Vec<FormerId> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let all = read.values().flat_map(|config| config.former.iter().cloned());
        all.collect()
    }

    /// Returns `true` if configurations are searched for in the directories of the inputs.
    pub fn are_searched(&self) -> bool {
        self.source.file.is_none() && !self.source.isolated
    }

    /// Returns the configuration file that applies to `path`.
    pub fn file_for(&self, path: &Path) -> Option<PathBuf> {
        if self.source.isolated {
            return None;
        }
        if let Some(file) = &self.source.file {
            return Some(file.clone());
        }
        let inside = self.roots.iter().any(|root| path.starts_with(root));
        let directory = if self.files.is_directory(path) {
            path
        } else {
            path.parent()?
        };
        let mut nearest = self.nearest.lock().unwrap_or_else(PoisonError::into_inner);
        let mut passed = Vec::new();
        let mut found = None;
        for above in directory.ancestors() {
            if let Some(known) = nearest.get(above) {
                found.clone_from(known);
                break;
            }
            passed.push(above);
            found = NAMES
                .iter()
                .map(|name| above.join(name))
                .find(|file| is_there(file, &self.files));
            if found.is_some() || self.roots.iter().any(|root| root == above) || !inside {
                break;
            }
        }
        let passed = passed.into_iter();
        nearest.extend(passed.map(|directory| (directory.to_owned(), found.clone())));
        found
    }

    /// Returns the configuration files below `root` in the working tree.
    pub(crate) fn files_below(&self, root: &Path, no_gitignore: bool) -> Vec<PathBuf> {
        crate::discover::files_named(root, |name| NAMES.contains(&name), &self.files, no_gitignore)
    }

    /// Returns the files that the configuration `file` may read. A file that the command line names may extend files in
    /// its own directory, even outside the repository.
    fn files_of(&self, file: &Path) -> Files {
        let named = self.source.file.as_ref().and_then(|named| files::named(named).ok());
        let directory = named.as_deref().and_then(Path::parent);
        match directory {
            Some(directory) if self.source.file.as_deref() == Some(file) => self.files.clone().with_root(directory),
            _ => self
                .roots
                .iter()
                .fold(self.files.clone(), |files, root| files.with_root(root)),
        }
    }

    fn load(&self, file: Option<&Path>) -> Result<Config, ConfigError> {
        let (mut config, mut names) = match file {
            Some(file) => read_chain(file, &self.files_of(file))?,
            None => (Config::default(), Vec::new()),
        };
        for line in &self.source.lines {
            let base = std::env::current_dir().unwrap_or_default();
            let mut checked = Checked::parse(line, None, &base)?;
            config.files.extend(policy::read(&mut checked, &self.files)?);
            names.extend_from_slice(checked.names());
            checked.merge_into(&mut config);
        }
        known(&config, names)?;
        Ok(config)
    }
}

/// Reads a file and those that it extends.
fn read_chain(file: &Path, files: &Files) -> Result<(Config, UnknownNames), ConfigError> {
    let mut chain: Vec<Checked> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut policies: Vec<PathBuf> = Vec::new();
    let mut next = Some((file.to_owned(), None));
    while let Some((path, from)) = next {
        let canonical = files.real(&path).unwrap_or_else(|_| path.clone());
        let refuse = |message: String| Err(extended(from.as_ref(), &path, message));
        if seen.contains(&canonical) {
            return refuse("`extend` comes back to this file".to_owned());
        }
        if seen.len() >= MAX_CHAIN {
            return refuse(format!("more than {MAX_CHAIN} files extend one another"));
        }
        let text = read(&path, files).map_err(|error| extended(from.as_ref(), &path, error))?;
        let base = canonical.parent().unwrap_or(Path::new("")).to_owned();
        let mut checked = Checked::parse(&text, Some(&canonical), &base)?;
        policies.extend(policy::read(&mut checked, files)?);
        seen.push(canonical);
        next = checked.extend.clone().map(|(target, span)| {
            let place = ConfigError {
                path: Some(path.clone()),
                text,
                span: Some(span),
                message: String::new(),
            };
            (target, Some(place))
        });
        chain.push(checked);
    }
    let mut config = Config::default();
    let mut names = UnknownNames::new();
    for checked in chain.into_iter().rev() {
        names.extend_from_slice(checked.names());
        checked.merge_into(&mut config);
    }
    config.files = seen;
    config.files.extend(policies);
    Ok((config, names))
}

/// Names that are not built-in rules, each with the error to report if no policy has that name. An error with a message
/// is also reported if there is such a policy.
type UnknownNames = Vec<(Spanned<String>, ConfigError)>;

/// Checks that each of `names` is a policy in `config`.
fn known(config: &Config, names: UnknownNames) -> Result<(), ConfigError> {
    let catalogue = config.catalogue();
    for (name, error) in names {
        if let Err(unknown) = selection::check(name.get_ref(), &catalogue) {
            let message = unknown.to_string();
            let span = Some(name.span());
            return Err(ConfigError { span, message, ..error });
        }
        if !error.message.is_empty() {
            return Err(error);
        }
    }
    Ok(())
}

/// Creates an error about `path`, located at the reference to it.
fn extended(from: Option<&ConfigError>, path: &Path, message: String) -> ConfigError {
    match from {
        Some(place) => ConfigError {
            message: format!("`{}`: {message}", shown(path)),
            ..place.clone()
        },
        None => ConfigError {
            path: Some(path.to_owned()),
            text: String::new(),
            span: None,
            message,
        },
    }
}

fn read(path: &Path, files: &Files) -> Result<String, String> {
    let bytes = files.read(path, MAX_SIZE).map_err(|refusal| refusal.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// Returns `true` if a configuration may exist at `file`. A link that must not be followed counts, so that it is
/// reported instead of overlooked.
fn is_there(file: &Path, files: &Files) -> bool {
    files.exists(file) && !files.is_directory(file)
}
