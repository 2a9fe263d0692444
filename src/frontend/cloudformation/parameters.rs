//! What is handed to parameters from outside of the template: by `--parameters`, by the SAM configuration beside it.
//! It knows the forms in which AWS's tools write values, and nothing of what a parameter is used for.

mod declared;
mod environments;
mod files;
mod samconfig;

pub(super) use declared::Parameter;

use crate::diagnostic::Diagnostic;
use crate::given::{Given, Givens, Parameters};
use crate::graph::Reason;
use crate::source::{Noted, Sources, Span};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A value for a parameter, and who gives it.
#[derive(Debug, Clone)]
pub(super) struct Supplied {
    /// The value, or why it is not known although one is given.
    pub(super) value: Result<Arc<str>, Reason>,
    /// Where it is written, unless that is the command line.
    pub(super) span: Option<Span>,
    /// As a noun phrase: "`--parameters`", "`samconfig.toml`".
    pub(super) by: Arc<str>,
}

/// The values for one template.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    /// By parameter.
    pub(super) parameters: FxHashMap<Arc<str>, Supplied>,
    /// `AWS::Region`.
    pub(super) region: Option<Arc<str>>,
    /// `AWS::AccountId`.
    pub(super) account: Option<Arc<str>>,
}

/// One value of the command line, and whether some template takes it.
#[derive(Debug)]
struct Argument {
    name: Arc<str>,
    supplied: Supplied,
    is_taken: AtomicBool,
}

/// What the command line hands to every template; later ones win.
#[derive(Debug, Default)]
pub(in crate::frontend) struct Settings {
    arguments: Vec<Argument>,
    /// The environment of a SAM configuration, or the stage of a service.
    pub(super) stage: Option<Arc<str>>,
    region: Option<Arc<str>>,
    account: Option<Arc<str>>,
    errors: Vec<String>,
    /// Of templates that are given something else, by their files.
    own: FxHashMap<PathBuf, Settings>,
    /// What names environments, where they are looked for: not in a run for one of them.
    found: Option<environments::Found>,
    /// What was given, in brief: two that are alike are given the same, where files are as they were.
    pub(super) fingerprint: u64,
    /// What was asked about to read it.
    pub(super) noted: Arc<Noted>,
}

impl Settings {
    /// Reads what `--parameters` names, or an environment.
    pub(in crate::frontend) fn new(given: &Givens, sources: &Sources) -> Self {
        let own = given.own.iter();
        let own = own.map(|(path, given)| (path.clone(), Settings::read(given, sources)));
        Settings {
            found: given.own.is_empty().then(environments::Found::default),
            own: own.collect(),
            ..Settings::read(&given.all, sources)
        }
    }

    /// What the template at `path` is given.
    pub(super) fn of(&self, path: &Path) -> &Settings {
        self.own.get(path).unwrap_or(self)
    }

    /// Whether the command line hands anything to parameters.
    pub(super) fn takes_arguments(&self) -> bool {
        !self.arguments.is_empty()
    }

    /// Whether environments are looked for.
    pub(super) fn is_searching(&self) -> bool {
        self.found.is_some()
    }

    fn read(given: &Given, sources: &Sources) -> Self {
        let (settings, noted) = sources.apart(|sources| Settings::read_here(given, sources));
        Settings { noted, ..settings }
    }

    fn read_here(given: &Given, sources: &Sources) -> Self {
        let mut settings = Settings {
            fingerprint: given.fingerprint(),
            stage: given.stage.as_deref().map(Arc::from),
            region: given.region.as_deref().map(Arc::from),
            account: given.account.as_deref().map(Arc::from),
            ..Settings::default()
        };
        for parameters in &given.parameters {
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

    /// The values for the template at `path` that declares `names`.
    pub(super) fn values<'n>(
        &self,
        path: &Path,
        names: impl Iterator<Item = &'n str>,
        sources: &Sources,
        unit: &str,
    ) -> (Values, Vec<Diagnostic>) {
        let (configured, diagnostics) = samconfig::read(path, self.stage.as_deref(), sources, unit);
        let mut given: FxHashMap<Arc<str>, Supplied> = configured.into_iter().collect();
        for argument in &self.arguments {
            given.insert(argument.name.clone(), argument.supplied.clone());
        }
        let mut parameters = FxHashMap::default();
        for name in names {
            for argument in self.arguments.iter().filter(|argument| *argument.name == *name) {
                argument.is_taken.store(true, Ordering::Relaxed);
            }
            if let Some((name, supplied)) = given.remove_entry(name) {
                parameters.insert(name, supplied);
            }
        }
        let values = Values {
            parameters,
            region: self.region.clone(),
            account: self.account.clone(),
        };
        (values, diagnostics)
    }

    /// Where a stack deploys to, and nothing else.
    pub(super) fn place(&self) -> Values {
        Values {
            region: self.region.clone(),
            account: self.account.clone(),
            ..Values::default()
        }
    }

    /// What kept the arguments from being used, once every template has been read.
    pub(in crate::frontend) fn into_errors(mut self) -> Vec<String> {
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

/// `Name=value`, or `ParameterKey=Name,ParameterValue=value` with commas escaped.
fn assignment(text: &str) -> Option<(String, String)> {
    if let Some(rest) = text.strip_prefix("ParameterKey=") {
        let (name, value) = rest.split_once(",ParameterValue=")?;
        return Some((name.to_owned(), unquoted(&value.replace("\\,", ","))));
    }
    let (name, value) = text.split_once('=')?;
    (!name.is_empty()).then(|| (unquoted(name), value.to_owned()))
}

/// Without the quotes around it.
fn unquoted(text: &str) -> String {
    let inner = ['"', '\''].iter().find_map(|&quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner)
    });
    inner.unwrap_or(text).to_owned()
}
