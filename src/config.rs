//! Reads `sqslint.toml`: a team's decisions, each with its location.
//!
//! `file` defines the shape of the file, `load` finds and reads it, and `check` resolves its contents, with an error
//! for every unknown name. This module knows the names of rules and their settings, but not the graph.

mod check;
mod consumer;
mod duration;
mod error;
mod external;
mod file;
mod load;
pub mod packs;
mod policy;

pub use consumer::{ConfigText, Consumer, Heartbeat, Located, NamePattern};
pub use duration::Duration;
pub use error::{ConfigError, shown};
pub use external::{External, Owned, StatedQueue};
pub use load::{Configs, NAMES, Source};

use crate::diagnostic::{Harm, RuleId, Severity};
use crate::inputs::{Inputs, Parameters, Variable};
use crate::policy::Policy;
use crate::rules::{Catalogue, Rule, Value};
use crate::selection::{FormerId, Selection};
use globset::GlobSet;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// JSON Schema of the file, generated from the types that read it.
pub const SCHEMA: &str = include_str!("../sqslint.schema.json");

/// Minimum severity of findings that fail a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailLevel {
    /// Findings of this severity or a higher one fail the run.
    At(Severity),
    /// Findings never fail the run.
    Never,
}

impl Default for FailLevel {
    fn default() -> Self {
        FailLevel::At(Severity::Warning)
    }
}

impl FailLevel {
    /// Returns `true` if a finding of this severity fails a run.
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            FailLevel::At(least) => severity >= least,
            FailLevel::Never => false,
        }
    }
}

/// Configuration of one rule.
#[derive(Debug, Clone, Default)]
pub struct RuleSettings {
    /// Severity of all its findings.
    pub severity: Option<Severity>,
    /// `true` if comments may suppress the rule, which is the default.
    pub suppressible: Option<bool>,
    /// Settings of the rule that differ from their defaults.
    pub values: FxHashMap<&'static str, Value>,
}

/// Rules that are ignored for some files or resources.
#[derive(Debug, Clone)]
pub struct Override {
    /// Files, relative to the configuration; `None` matches every file.
    pub paths: Option<GlobSet>,
    /// Addresses of resources; `None` matches every resource.
    pub resources: Option<GlobSet>,
    /// Names of rules, categories and sets.
    pub ignore: Vec<String>,
    /// Reason for ignoring the rules.
    pub reason: Option<String>,
    /// File that contains the override; `None` for the command line.
    pub file: Option<ConfigText>,
    /// Patterns of paths and resources, as written.
    pub patterns: Located<Vec<String>>,
    /// Patterns of resources only, as written.
    pub names: Vec<String>,
}

impl Override {
    /// Returns `true` if the override may apply to a finding in `file`, with paths relative to `base`.
    pub fn may_match_file(&self, file: &Path, base: &Path) -> bool {
        let paths = self.paths.as_ref();
        paths.is_none_or(|globs| matching(globs, base, file).is_some())
    }
}

/// Set of inputs under which the files are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// Name of the environment.
    pub name: String,
    /// Values of variables and parameters.
    pub inputs: Inputs,
}

/// Effective settings for the units below one configuration file, or for units without one.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Files it was read from, nearest first; empty for the built-in defaults.
    pub files: Vec<PathBuf>,
    /// Former ids of rules in these files.
    pub(crate) former: Vec<FormerId>,
    /// Rules that run instead of the default set.
    pub select: Option<Vec<String>>,
    /// Rules that do not run.
    pub ignore: Vec<String>,
    /// Minimum severity of findings that fail a run.
    pub fail_level: Option<FailLevel>,
    /// Harms of findings that fail a run, instead of their severities.
    pub fail_on: Option<Vec<Harm>>,
    /// Files and directories to skip, relative to the file that excludes them.
    pub exclude: Vec<(PathBuf, GlobSet)>,
    /// Patterns of `exclude`, as written.
    pub exclude_patterns: Vec<String>,
    /// `true` if every suppression must give a reason.
    pub require_reason: bool,
    /// `true` if a resource that a rule could not judge fails a run.
    pub fail_on_unjudged: bool,
    /// `true` if environments that only the files themselves name are left out.
    pub default_environment_only: bool,
    /// Baseline that applies.
    pub baseline: Option<PathBuf>,
    /// Settings of individual rules.
    pub rules: FxHashMap<RuleId, RuleSettings>,
    /// Rules that the team has defined.
    pub policies: Vec<Arc<Policy>>,
    /// Rules that are ignored for some files or resources, with the directory that their paths are relative to.
    pub overrides: Vec<(PathBuf, Override)>,
    /// Declared environments.
    pub environments: Vec<Environment>,
    /// Declared consumers.
    pub consumers: Vec<Consumer>,
    /// Queues, modules and sources of functions that other files own.
    pub externals: Vec<External>,
    /// Origins of the settings, by key.
    origins: FxHashMap<String, String>,
}

impl Config {
    /// Returns the known rules: the built-in ones and the policies.
    pub fn catalogue(&self) -> Catalogue {
        Catalogue::with(self.policies.iter().map(|policy| policy.facts().clone()))
    }

    /// Returns the patterns of the sources of modules that local directories contain, with the directories.
    pub fn local_modules(&self) -> Vec<(String, PathBuf)> {
        let local = self.externals.iter().filter_map(|external| match &external.what {
            Owned::Module(path) => Some((external.name.value.written.clone(), path.clone()?)),
            _ => None,
        });
        local.collect()
    }

    /// Returns `true` if `rule` runs under this configuration and the selection on the command line.
    pub fn runs(&self, rule: &Rule<'_>, selection: &Selection) -> bool {
        selection.selects(rule, self.select.as_deref(), &self.ignore)
    }

    /// Returns `true` if a diagnostic of the pipeline itself is kept under this configuration.
    pub fn keeps_pipeline_diagnostic(&self, id: &str, selection: &Selection) -> bool {
        selection.keeps_pipeline_diagnostic(id, &self.ignore)
    }

    /// Returns the excluded file or directory that is `path` or contains it.
    pub fn excluded(&self, path: &Path) -> Option<PathBuf> {
        let mut all = self.exclude.iter();
        all.find_map(|(base, globs)| Some(base.join(matching(globs, base, path)?)))
    }

    /// Returns the origin of the setting `key`, or `None` for a built-in default.
    pub fn origin(&self, key: &str) -> Option<&str> {
        self.origins.get(key).map(String::as_str)
    }

    /// Returns the settings of `rule`, if it is configured.
    pub fn rule(&self, rule: &Rule<'_>) -> Option<&RuleSettings> {
        self.rules.get(rule.id)
    }

    /// Returns `true` if comments may suppress the rule `id`.
    pub fn may_suppress(&self, id: &str) -> bool {
        self.rules.get(id).and_then(|rule| rule.suppressible).unwrap_or(true)
    }

    /// Returns the override that suppresses `rule` for the resource at `address`, if the finding is in `file`.
    pub fn ignoring_override(&self, rule: &Rule<'_>, file: &Path, address: &str) -> Option<&Override> {
        let applies = |(base, rules): &&(PathBuf, Override)| {
            let resources = rules.resources.as_ref();
            rules.ignore.iter().any(|name| crate::selection::covers(name, rule))
                && rules.may_match_file(file, base)
                && resources.is_none_or(|globs| globs.is_match(address))
        };
        self.overrides.iter().find(applies).map(|(_, rules)| rules)
    }
}

/// Returns `path`, or the directory above it, that matches one of `globs`, which are relative to `base`.
fn matching<'p>(globs: &GlobSet, base: &Path, path: &'p Path) -> Option<&'p Path> {
    let relative = path.strip_prefix(base).ok()?;
    let mut all = relative.ancestors().filter(|part| !part.as_os_str().is_empty());
    all.find(|part| globs.is_match(part))
}

/// Converts a pattern of addresses to a glob in which `[`, the bracket of an instance key, is literal.
fn address_glob(written: &str) -> String {
    written.replace('[', "[[]").replace('{', "[{]")
}

impl Environment {
    /// Formats the inputs as a line of TOML.
    pub fn described(&self) -> String {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let mut parts = Vec::new();
        let files = self.inputs.variables.iter().filter_map(|variable| match variable {
            Variable::File(path) => Some(text(&shown(path))),
            Variable::Assignment(_) => None,
        });
        let files: Vec<String> = files.collect();
        if !files.is_empty() {
            parts.push(format!("var-files = [{}]", files.join(", ")));
        }
        for parameters in &self.inputs.parameters {
            if let Parameters::File(path) = parameters {
                parts.push(format!("parameters = {}", text(&shown(path))));
            }
        }
        let inputs = &self.inputs;
        for (key, value) in [
            ("workspace", &inputs.workspace),
            ("region", &inputs.region),
            ("account", &inputs.account),
        ] {
            parts.extend(value.as_ref().map(|value| format!("{key} = {}", text(value))));
        }
        format!("{{ {} }}", parts.join(", "))
    }
}
