//! Resolves the contents of a file. Every unknown name is an error with its location.

mod consumer;
mod external;
mod policies;

use policies::nameless;

use super::error::in_words_of_toml;
use super::file::{self, File};
use super::{Config, ConfigError, ConfigText, Environment, FailLevel, Located, Override, RuleSettings, address_glob};
use crate::diagnostic::{RuleId, Severity};
use crate::inputs::{Inputs, Parameters, Variable};
use crate::rules::{self, Catalogue, Rule, Value};
use crate::selection::{self, FormerId};
use globset::{Glob, GlobSet, GlobSetBuilder};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// A single file, checked independently of others.
#[derive(Debug)]
pub(super) struct Checked {
    /// File that it extends, with the range of that reference.
    pub(super) extend: Option<(PathBuf, Range<usize>)>,
    config: Config,
    requires_reason: Option<bool>,
    fail_on_unjudged: Option<bool>,
    default_environment_only: Option<bool>,
    /// Names that are not built-in rules but may be policies. The error with each is reported if they are not, and also
    /// otherwise if it has a message.
    names: Vec<(Spanned<String>, ConfigError)>,
    /// Ids of the policies. A policy of a pack has its index, since a policy file may replace it.
    policy_ids: FxHashMap<String, Option<usize>>,
    /// Globs of further policy files.
    policy_files: Vec<(GlobSet, PathBuf, ConfigError)>,
    /// Keys that the file sets, and the file's name as their origin.
    keys: Vec<String>,
    origin: String,
}

/// Context for error messages.
pub(super) struct FileChecker<'t> {
    text: &'t str,
    path: Option<&'t Path>,
    base: &'t Path,
    /// Names of rules that are still unknown.
    names: RefCell<Vec<(Spanned<String>, ConfigError)>>,
}

/// Keys whose values accumulate over the files.
const ACCUMULATED_KEYS: [&str; 8] = [
    "ignore", "exclude", "override", "consumer", "external", "source", "packs", "policy",
];

type Checks<T> = Result<T, ConfigError>;

impl Checked {
    /// Parses `text`, with paths relative to `base`.
    pub(super) fn parse(text: &str, path: Option<&Path>, base: &Path) -> Checks<Checked> {
        let reader = FileChecker {
            text,
            path,
            base,
            names: RefCell::default(),
        };
        let file: File = toml::from_str(text).map_err(|error| reader.syntax(&error))?;
        reader.file(file)
    }

    /// Merges these settings into `config`: they override its values and add to its lists.
    pub(super) fn merge_into(self, config: &mut Config) {
        let own = self.config;
        for key in &self.keys {
            let origin = match config.origins.get(key) {
                Some(known) if ACCUMULATED_KEYS.contains(&key.as_str()) => format!("{known}, {}", self.origin),
                _ => self.origin.clone(),
            };
            config.origins.insert(key.clone(), origin);
        }
        config.exclude_patterns.extend(own.exclude_patterns);
        config.select = own.select.or(config.select.take());
        config.ignore.extend(own.ignore);
        config.fail_level = own.fail_level.or(config.fail_level);
        config.fail_on = own.fail_on.or(config.fail_on.take());
        config.exclude.extend(own.exclude);
        config.require_reason = self.requires_reason.unwrap_or(config.require_reason);
        config.fail_on_unjudged = self.fail_on_unjudged.unwrap_or(config.fail_on_unjudged);
        config.default_environment_only = (self.default_environment_only).unwrap_or(config.default_environment_only);
        config.baseline = own.baseline.or(config.baseline.take());
        #[allow(clippy::iter_over_hash_type)] // the entries are inserted into another map
        for (id, settings) in own.rules {
            let known = config.rules.entry(id).or_default();
            known.severity = settings.severity.or(known.severity);
            known.suppressible = settings.suppressible.or(known.suppressible);
            known.values.extend(settings.values);
        }
        let ids: FxHashSet<&str> = own.policies.iter().map(|policy| policy.rule().id).collect();
        config.policies.retain(|known| !ids.contains(known.rule().id));
        config.policies.extend(own.policies.iter().cloned());
        config.overrides.extend(own.overrides);
        for environment in own.environments {
            config.environments.retain(|known| known.name != environment.name);
            config.environments.push(environment);
        }
        config.consumers.extend(own.consumers);
        config.former.extend(own.former);
        config.externals.extend(own.externals);
    }
}

impl FileChecker<'_> {
    fn error(&self, span: Range<usize>, message: impl Into<String>) -> ConfigError {
        ConfigError {
            path: self.path.map(Path::to_owned),
            text: self.text.to_owned(),
            span: Some(span),
            message: message.into(),
        }
    }

    /// Returns the file for locations, if any are needed.
    fn text_of(&self, is_wanted: bool) -> Option<ConfigText> {
        let path = self.path.filter(|_| is_wanted)?;
        Some(ConfigText {
            path: path.to_owned(),
            text: Arc::from(self.text),
        })
    }

    /// Converts a parser error, and suggests the nearest expected name.
    fn syntax(&self, error: &toml::de::Error) -> ConfigError {
        let stated = error.message().trim().replace('\n', ", ");
        let mut quoted = stated.split('`').skip(1).step_by(2);
        let message = match (stated.starts_with("unknown "), quoted.next()) {
            (true, Some(name)) => {
                let kind = if stated.starts_with("unknown variant") {
                    "value"
                } else {
                    "key"
                };
                let known: Vec<&str> = quoted.collect();
                unknown(kind, name, &known)
            }
            _ => in_words_of_toml(&stated, self.key_before(error.span())),
        };
        self.error(error.span().unwrap_or(0..0), message)
    }

    /// Returns the key whose value is at `span`, in the same line.
    fn key_before(&self, span: Option<Range<usize>>) -> Option<&str> {
        let before = self.text.get(..span?.start)?;
        let key = before.lines().next_back()?.trim_end().strip_suffix('=')?.trim_end();
        key.rsplit([' ', ',', '{', '[', '.']).next()
    }

    fn file(&self, file: File) -> Checks<Checked> {
        if let Some(required) = &file.required_version {
            self.version(required)?;
        }
        let fail_level = file.fail_level.map(|level| match severity(level) {
            Some(severity) => FailLevel::At(severity),
            None => FailLevel::Never,
        });
        let select = file.select.as_deref().map(|names| self.rule_names(names)).transpose()?;
        let mut exclude = Vec::new();
        if !file.exclude.is_empty() {
            exclude.push((self.base.to_owned(), self.globs(&file.exclude, path_glob)?));
        }
        let mut settings = FxHashMap::default();
        for (name, table) in &file.rules {
            if let Some(rule) = rules::by_id(name.get_ref()) {
                if settings
                    .insert(rule.id.into(), self.rule_settings(rule, table)?)
                    .is_some()
                {
                    let message = format!("`{}` has two tables, one under a former name: join them", rule.id);
                    return Err(self.error(name.span(), message));
                }
            } else {
                match self.rule_settings(&nameless(name.get_ref()), table) {
                    Ok(own) => {
                        settings.insert(self.later(name), own);
                    }
                    Err(error) => self.names.borrow_mut().push((name.clone(), error)),
                }
            }
        }
        let written_in = self.text_of(!file.overrides.is_empty());
        let overrides = file
            .overrides
            .iter()
            .map(|rules| Ok((self.base.to_owned(), self.override_of(rules, written_in.clone())?)));
        let keys = keys(&file);
        let externals = self.externals(&file)?;
        let named = file.overrides.iter().flat_map(|rules| &rules.ignore);
        let named = named.chain(file.select.iter().flatten()).chain(&file.ignore);
        let former = named
            .chain(file.rules.keys())
            .filter_map(|name| FormerId::of(self.path?, Some(name.span().start), name.get_ref()));
        let config = Config {
            exclude_patterns: file.exclude.iter().map(|glob| glob.get_ref().clone()).collect(),
            origins: FxHashMap::default(),
            files: Vec::new(),
            former: former.collect(),
            select,
            ignore: self.rule_names(&file.ignore)?,
            fail_level,
            fail_on: file.fail_on.map(|harms| harms.into_iter().map(Into::into).collect()),
            exclude,
            require_reason: false,
            fail_on_unjudged: false,
            default_environment_only: false,
            baseline: file.baseline.map(|path| self.base.join(path)),
            rules: settings,
            overrides: overrides.collect::<Checks<Vec<_>>>()?,
            environments: self.environments(file.declared_environments)?,
            consumers: self.consumers(&file.consumers)?,
            externals,
            policies: self.with_packs(self.policies(&file.own_policies)?, &file.packs)?,
        };
        let own = file.own_policies.len();
        let policy_ids = config.policies.iter().enumerate();
        let policy_ids = policy_ids.map(|(at, policy)| (policy.rule().id.to_owned(), (at >= own).then_some(at)));
        Ok(Checked {
            policy_ids: policy_ids.collect(),
            extend: file.extend.map(|path| {
                let span = path.span();
                (self.base.join(path.into_inner()), span)
            }),
            config,
            requires_reason: file.require_reason,
            fail_on_unjudged: file.fail_on_unjudged,
            default_environment_only: file
                .environments
                .map(|which| matches!(which, file::Environments::Default)),
            policy_files: self.policy_globs(&file.policies)?,
            names: self.names.take(),
            keys,
            origin: self.path.map_or_else(|| "command line".to_owned(), super::error::shown),
        })
    }

    fn version(&self, required: &Spanned<String>) -> Checks<()> {
        const OWN: &str = env!("CARGO_PKG_VERSION");
        let range = semver::VersionReq::parse(required.get_ref())
            .map_err(|_| self.error(required.span(), "not a range of versions; write it as `>=0.1`"))?;
        let own = semver::Version::parse(OWN).expect("the package has a version");
        if range.matches(&own) {
            return Ok(());
        }
        let message = format!("this file is for sqslint {}; this is sqslint {OWN}", required.get_ref());
        Err(self.error(required.span(), message))
    }

    fn rule_names(&self, names: &[Spanned<String>]) -> Checks<Vec<String>> {
        let check = |name: &Spanned<String>| {
            if !selection::is_known(name.get_ref(), Catalogue::BUILT_IN) {
                self.later(name);
            }
            Ok(name.get_ref().clone())
        };
        names.iter().map(check).collect()
    }

    /// Records a name that is not a built-in rule, to be checked once the policies are known.
    fn later(&self, name: &Spanned<String>) -> RuleId {
        let error = self.error(name.span(), String::new());
        self.names.borrow_mut().push((name.clone(), error));
        Arc::<str>::from(name.get_ref().as_str()).into()
    }

    /// Compiles patterns, which `glob` converts to globs.
    fn globs(&self, patterns: &[Spanned<String>], glob: fn(&str) -> String) -> Checks<GlobSet> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let glob = Glob::new(&glob(pattern.get_ref()));
            set.add(glob.map_err(|error| self.invalid_glob(pattern, &error))?);
        }
        set.build().map_err(|error| self.error(0..0, error.to_string()))
    }

    fn rule_settings(
        &self,
        rule: &Rule<'_>,
        table: &std::collections::BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    ) -> Checks<RuleSettings> {
        let mut settings = RuleSettings::default();
        for (key, value) in table {
            match (key.get_ref().as_str(), value.get_ref()) {
                ("severity", toml::Value::String(name)) => {
                    let names = ["error", "warning", "info"];
                    let found = Severity::ALL.into_iter().find(|severity| severity.name() == name);
                    let refuse = || {
                        let hint = if ["off", "none", "allow", "ignore"].contains(&name.as_str()) {
                            format!("; `ignore = [\"{}\"]` turns a rule off", rule.id)
                        } else {
                            String::new()
                        };
                        self.error(value.span(), unknown("severity", name, &names) + &hint)
                    };
                    settings.severity = Some(found.ok_or_else(refuse)?);
                }
                ("severity", _) => return Err(self.error(value.span(), "expected a severity in quotes")),
                ("suppressible", toml::Value::Boolean(flag)) => settings.suppressible = Some(*flag),
                ("suppressible", _) => return Err(self.error(value.span(), "expected `true` or `false`")),
                (name, value_of) => {
                    let known = rule.settings.iter().find(|setting| setting.name == name);
                    let Some(setting) = known else {
                        let own = rule.settings.iter().map(|setting| setting.name);
                        let names: Vec<&str> = own.chain(["severity", "suppressible"]).collect();
                        let kind = format!("setting of `{}`:", rule.id);
                        return Err(self.error(key.span(), unknown(&kind, name, &names)));
                    };
                    let read = match (setting.default, value_of) {
                        (Value::Number { least, .. }, toml::Value::Integer(number)) if *number >= least => {
                            Value::Number { value: *number, least }
                        }
                        (Value::Number { least, .. }, _) => {
                            let message = format!("`{name}` must be a whole number of at least {least}");
                            return Err(self.error(value.span(), message));
                        }
                        (Value::Flag(_), toml::Value::Boolean(flag)) => Value::Flag(*flag),
                        (Value::Flag(_), _) => return Err(self.error(value.span(), "expected `true` or `false`")),
                    };
                    settings.values.insert(setting.name, read);
                }
            }
        }
        Ok(settings)
    }

    fn override_of(&self, rules: &file::Override, file: Option<ConfigText>) -> Checks<Override> {
        let globs = |patterns: &Option<Vec<Spanned<String>>>, glob| {
            patterns.as_deref().map(|all| self.globs(all, glob)).transpose()
        };
        let whole = rules.ignore.first().map_or(0..0, Spanned::span);
        if rules.paths.is_none() && rules.resources.is_none() {
            let message =
                "an override needs `paths` or `resources`; what applies everywhere goes into `ignore` at the top";
            return Err(self.error(whole, message));
        }
        let patterns = rules.paths.iter().chain(&rules.resources).flatten();
        let patterns: Vec<&Spanned<String>> = patterns.collect();
        Ok(Override {
            file,
            patterns: Located {
                value: patterns.iter().map(|pattern| pattern.get_ref().clone()).collect(),
                range: patterns.first().map_or(whole, |pattern| pattern.span()),
            },
            names: rules
                .resources
                .iter()
                .flatten()
                .map(|one| one.get_ref().clone())
                .collect(),
            paths: globs(&rules.paths, path_glob)?,
            resources: globs(&rules.resources, address_glob)?,
            ignore: self.rule_names(&rules.ignore)?,
            reason: rules.reason.clone(),
        })
    }

    fn invalid_glob(&self, pattern: &Spanned<String>, error: &globset::Error) -> ConfigError {
        self.error(pattern.span(), format!("not a valid glob: {}", error.kind()))
    }

    /// Checks that an account id has twelve digits.
    fn account(&self, written: Option<Spanned<String>>) -> Checks<Option<String>> {
        let Some(written) = written else { return Ok(None) };
        let text = written.get_ref();
        if text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Some(written.into_inner()));
        }
        Err(self.error(written.span(), "an account has twelve digits, as in `\"123456789012\"`"))
    }

    fn environments(&self, written: Vec<file::Environment>) -> Checks<Vec<Environment>> {
        let mut all: Vec<Environment> = Vec::new();
        for environment in written {
            let name = environment.name.get_ref();
            if name.trim().is_empty() {
                return Err(self.error(environment.name.span(), "an environment needs a name"));
            }
            if all.iter().any(|known| known.name == *name) {
                let message = format!("there are two environments called `{name}`");
                return Err(self.error(environment.name.span(), message));
            }
            let files = environment
                .var_files
                .iter()
                .map(|path| Variable::File(self.base.join(path)));
            let parameters = environment
                .parameters
                .iter()
                .map(|path| Parameters::File(self.base.join(path)));
            all.push(Environment {
                inputs: Inputs {
                    variables: files.collect(),
                    parameters: parameters.collect(),
                    workspace: environment.workspace,
                    region: environment.region,
                    account: self.account(environment.account)?,
                    ..Inputs::default()
                },
                name: environment.name.into_inner(),
            });
        }
        Ok(all)
    }
}

/// Returns the keys that `file` sets.
fn keys(file: &File) -> Vec<String> {
    let stated = [
        ("fail-level", file.fail_level.is_some()),
        ("fail-on", file.fail_on.is_some()),
        ("select", file.select.is_some()),
        ("ignore", !file.ignore.is_empty()),
        ("exclude", !file.exclude.is_empty()),
        ("require-reason", file.require_reason.is_some()),
        ("fail-on-unjudged", file.fail_on_unjudged.is_some()),
        ("environments", file.environments.is_some()),
        ("baseline", file.baseline.is_some()),
        ("override", !file.overrides.is_empty()),
        ("consumer", !file.consumers.is_empty()),
        ("external", !file.externals.is_empty()),
        ("source", !file.sources.is_empty()),
        ("packs", !file.packs.is_empty()),
        ("policy", !file.own_policies.is_empty() || !file.policies.is_empty()),
    ];
    let mut keys: Vec<String> = stated
        .iter()
        .filter(|(_, is_noted)| *is_noted)
        .map(|(key, _)| (*key).to_owned())
        .collect();
    for (rule, table) in &file.rules {
        keys.extend(
            table
                .keys()
                .map(|key| format!("rules.{}.{}", rules::current(rule.get_ref()), key.get_ref())),
        );
    }
    keys.extend(
        file.declared_environments
            .iter()
            .map(|one| format!("environment.{}", one.name.get_ref())),
    );
    keys
}

/// Converts a pattern of paths to a glob.
fn path_glob(written: &str) -> String {
    written.trim_end_matches('/').to_owned()
}

fn severity(level: file::Level) -> Option<Severity> {
    match level {
        file::Level::Error => Some(Severity::Error),
        file::Level::Warning => Some(Severity::Warning),
        file::Level::Info => Some(Severity::Info),
        file::Level::Never => None,
    }
}

/// Returns "unknown key `x`" with the nearest of `known`, or with all of them if none is near.
fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    const LISTED: usize = 8;
    let suggestion = match selection::nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if !known.is_empty() && known.len() <= LISTED => {
            let all: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            format!(
                "; there {} {}",
                if known.len() == 1 { "is" } else { "are" },
                all.join(", ")
            )
        }
        None => String::new(),
    };
    format!("unknown {kind} `{name}`{suggestion}")
}
