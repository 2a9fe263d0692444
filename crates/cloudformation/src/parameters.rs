//! Arguments of parameters from outside the template: `--parameters` and the SAM configuration next to it. It knows the
//! formats in which AWS tools write values, but not the use of a parameter.

mod declared;
mod environments;
mod files;
mod samconfig;
mod sceptre;

pub use declared::Parameter;
pub(crate) use environments::with_document;

use crate::inputs::{Inputs, Parameters};
use knowledge::{Cause, Reason};
use rustc_hash::{FxBuildHasher, FxHashMap};
use source::reading::Problem;
use source::{Dependencies, Sources, Span};
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An argument of a parameter, with its source.
#[derive(Debug, Clone)]
pub struct Supplied {
    /// The value, or the reason why it is unresolved although the input sets it.
    pub value: Result<Arc<str>, Reason>,
    /// The span of the value; `None` for the command line.
    pub span: Option<Span>,
    /// Source of the value as a noun phrase: "`--parameters`", "`samconfig.toml`".
    pub by: Arc<str>,
}

impl Supplied {
    /// Creates the argument of a parameter that every configuration of the template sets, without one of them.
    pub(crate) fn by_each_configuration() -> Self {
        Supplied {
            value: Err(Cause::RunContext.because("each configuration sets it")),
            span: None,
            by: "its configurations".into(),
        }
    }
}

/// Inputs of one template.
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// Arguments by parameter.
    pub parameters: FxHashMap<Arc<str>, Supplied>,
    /// `AWS::Region`.
    pub region: Option<Arc<str>>,
    /// `AWS::AccountId`.
    pub account: Option<Arc<str>>,
    /// `AWS::StackName` in the names of exports.
    pub(crate) stack: Option<Arc<str>>,
}

/// An argument of the command line, with a flag that is set once a template declares the parameter.
#[derive(Debug)]
struct Argument {
    name: Arc<str>,
    supplied: Supplied,
    is_taken: AtomicBool,
}

/// Inputs of the command line for every template; later arguments win.
#[derive(Debug, Default)]
pub struct Settings {
    arguments: Vec<Argument>,
    /// The environment of a SAM configuration, or the stage of a service.
    pub(crate) stage: Option<Arc<str>>,
    region: Option<Arc<str>>,
    account: Option<Arc<str>>,
    errors: Vec<String>,
    /// Settings of templates with inputs of their own, by file.
    own: FxHashMap<PathBuf, Settings>,
    /// Parameter files by directory; `None` in a run for one environment, which does not search for environments.
    found: Option<environments::ParameterFiles>,
    /// Hash of the inputs, valid while their files are unchanged.
    pub(crate) fingerprint: u64,
    /// Files read for the inputs, to invalidate cached results.
    pub(crate) noted: Arc<Dependencies>,
}

impl Settings {
    /// Reads the files of `--parameters`, or of an environment.
    /// `all` are those of templates that have none in `own`.
    pub fn new(all: &Inputs, own: &BTreeMap<PathBuf, Inputs>, sources: &Sources) -> Self {
        let found = own.is_empty().then(environments::ParameterFiles::default);
        let own = own.iter();
        let own = own.map(|(path, inputs)| (path.clone(), Settings::read(inputs, sources)));
        Settings {
            found,
            own: own.collect(),
            ..Settings::read(all, sources)
        }
    }

    /// Returns the settings of the template at `path`.
    pub(crate) fn of(&self, path: &Path) -> &Settings {
        self.own.get(path).unwrap_or(self)
    }

    /// Returns `true` if the command line sets parameters.
    pub(crate) fn takes_arguments(&self) -> bool {
        !self.arguments.is_empty()
    }

    /// Returns `true` if the run searches for environments.
    pub(crate) fn is_searching(&self) -> bool {
        self.found.is_some()
    }

    fn read(inputs: &Inputs, sources: &Sources) -> Self {
        let (settings, noted) = sources.recording_dependencies(|sources| Settings::read_here(inputs, sources));
        Settings { noted, ..settings }
    }

    fn read_here(inputs: &Inputs, sources: &Sources) -> Self {
        let mut settings = Settings {
            fingerprint: FxBuildHasher.hash_one(inputs),
            stage: inputs.stage.as_deref().map(Arc::from),
            region: inputs.region.as_deref().map(Arc::from),
            account: inputs.account.as_deref().map(Arc::from),
            ..Settings::default()
        };
        for parameters in &inputs.parameters {
            let found = match parameters {
                Parameters::Assignment(text) => assignment(text)
                    .map(|(name, value)| {
                        let supplied = Supplied {
                            value: Ok(value.into()),
                            span: None,
                            by: "`--parameters`".into(),
                        };
                        vec![(Arc::from(name), supplied)]
                    })
                    .ok_or_else(|| format!("`--parameters {text}`: expected `Name=value` or a file")),
                Parameters::File(path) => files::read(path, sources),
            };
            match found {
                Ok(found) => settings
                    .arguments
                    .extend(found.into_iter().map(|(name, supplied)| Argument {
                        name,
                        supplied,
                        is_taken: AtomicBool::new(false),
                    })),
                Err(error) => settings.errors.push(error),
            }
        }
        settings
    }

    /// Returns the inputs of the template at `path`, which declares `names`.
    pub(crate) fn values<'n>(
        &self,
        path: &Path,
        names: impl Iterator<Item = &'n str>,
        sources: &Sources,
    ) -> (Values, Vec<Problem>) {
        let (configured, problems) = samconfig::read(path, self.stage.as_deref(), sources);
        let mut supplied_by_name: FxHashMap<Arc<str>, Supplied> = configured.arguments.into_iter().collect();
        for argument in &self.arguments {
            supplied_by_name.insert(argument.name.clone(), argument.supplied.clone());
        }
        let mut parameters = FxHashMap::default();
        for name in names {
            for argument in self.arguments.iter().filter(|argument| *argument.name == *name) {
                argument.is_taken.store(true, Ordering::Relaxed);
            }
            if let Some((name, supplied)) = supplied_by_name.remove_entry(name) {
                parameters.insert(name, supplied);
            }
        }
        let values = Values {
            parameters,
            region: self.region.clone(),
            account: self.account.clone(),
            stack: configured.stack,
        };
        (values, problems)
    }

    /// Returns only the account and Region.
    pub(crate) fn place(&self) -> Values {
        Values {
            region: self.region.clone(),
            account: self.account.clone(),
            ..Values::default()
        }
    }

    /// Returns errors about the arguments, after every template has been read.
    pub fn into_errors(mut self) -> Vec<String> {
        let untaken = self.arguments.iter().filter(|a| !a.is_taken.load(Ordering::Relaxed));
        let mut names: Vec<String> = untaken.map(|argument| format!("`{}`", argument.name)).collect();
        names.sort();
        names.dedup();
        if !names.is_empty() {
            let message = format!("`--parameters`: no template declares {}", names.join(", "));
            self.errors.push(message);
        }
        self.errors
    }
}

/// Parses `Name=value`, or `ParameterKey=Name,ParameterValue=value` with escaped commas.
fn assignment(text: &str) -> Option<(String, String)> {
    if let Some(rest) = text.strip_prefix("ParameterKey=") {
        let (name, value) = rest.split_once(",ParameterValue=")?;
        return Some((name.to_owned(), unquoted(&value.replace("\\,", ","))));
    }
    let (name, value) = text.split_once('=')?;
    (!name.is_empty()).then(|| (unquoted(name), value.to_owned()))
}

/// Removes surrounding quotes.
fn unquoted(text: &str) -> String {
    let inner = ['"', '\''].iter().find_map(|&quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner)
    });
    inner.unwrap_or(text).to_owned()
}
