//! Checks the policies in a configuration or in a policy file.

use super::{Checked, Checks, FileChecker, path_glob, unknown};
use crate::config::ConfigError;
use crate::config::file::{self, PolicyFile};
use crate::config::packs::{self, Pack};
use crate::diagnostic::Severity;
use crate::policy::{Definition, Demand, Example, Policy};
use crate::rules::{self, Category, Rule};
use crate::selection;
use globset::GlobSet;
use std::cell::RefCell;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// Maximum length of an id.
const MAX_ID: usize = 64;
/// Maximum number of policies per file.
const MAX_POLICIES: usize = 256;

/// Returns a placeholder for a rule of which only the name is known, so that its settings can be checked.
pub(super) fn nameless(id: &str) -> Rule<'_> {
    Rule::unchecked(id, Category::Policy, Severity::Warning, "", "")
}

impl Checked {
    /// Adds the policies of the policy file at `path`, which replace those of packs.
    pub(in crate::config) fn add_policies(&mut self, text: &str, path: &Path) -> Checks<()> {
        let reader = FileChecker {
            text,
            path: Some(path),
            base: path.parent().unwrap_or(Path::new("")),
            names: RefCell::default(),
        };
        let file: PolicyFile = toml::from_str(text).map_err(|error| reader.syntax(&error))?;
        for (policy, written) in reader.policies(&file.policies)?.into_iter().zip(&file.policies) {
            match self.policy_ids.insert(policy.rule().id.to_owned(), None) {
                Some(None) => return Err(reader.twice(&written.id)),
                Some(Some(of_pack)) => self.config.policies[of_pack] = policy,
                None => self.config.policies.push(policy),
            }
        }
        Ok(())
    }

    /// Returns the globs of policy files, each with its base directory and the error to report if nothing matches.
    pub(in crate::config) fn policy_files(&self) -> &[(GlobSet, PathBuf, ConfigError)] {
        &self.policy_files
    }

    /// Returns the names that are not built-in rules.
    pub(in crate::config) fn names(&self) -> &[(Spanned<String>, ConfigError)] {
        &self.names
    }
}

impl Pack {
    /// Returns the policies of the pack.
    pub fn policies(&self) -> Result<Vec<Arc<Policy>>, ConfigError> {
        let reader = FileChecker {
            text: self.text,
            path: None,
            base: Path::new(""),
            names: RefCell::default(),
        };
        let file: PolicyFile = toml::from_str(self.text).map_err(|error| reader.syntax(&error))?;
        reader.policies(&file.policies)
    }
}

impl FileChecker<'_> {
    pub(super) fn policies(&self, written: &[file::Policy]) -> Checks<Vec<Arc<Policy>>> {
        let mut all: Vec<Arc<Policy>> = Vec::new();
        for one in written {
            let policy = self.policy(one)?;
            if all.iter().any(|known| known.rule().id == policy.rule().id) {
                return Err(self.twice(&one.id));
            }
            if all.len() >= MAX_POLICIES {
                let message = format!("a file has {MAX_POLICIES} policies at most");
                return Err(self.error(one.id.span(), message));
            }
            all.push(Arc::new(policy));
        }
        Ok(all)
    }

    /// Adds the policies of the packs `names`, unless `own` contains policies with their ids.
    pub(super) fn with_packs(&self, mut own: Vec<Arc<Policy>>, names: &[Spanned<String>]) -> Checks<Vec<Arc<Policy>>> {
        for name in names {
            let Some(pack) = packs::all().find(|pack| pack.name == name.get_ref()) else {
                let known: Vec<&str> = packs::all().map(|pack| pack.name).collect();
                return Err(self.error(name.span(), unknown("pack", name.get_ref(), &known)));
            };
            for policy in pack.policies()? {
                if own.iter().all(|known| known.rule().id != policy.rule().id) {
                    own.push(policy);
                }
            }
        }
        Ok(own)
    }

    fn twice(&self, id: &Spanned<String>) -> ConfigError {
        self.error(id.span(), format!("there are two policies called `{}`", id.get_ref()))
    }

    pub(super) fn policy_globs(&self, patterns: &[Spanned<String>]) -> Checks<Vec<(GlobSet, PathBuf, ConfigError)>> {
        let each = patterns.iter().map(|pattern| {
            if !is_below(pattern.get_ref()) {
                let message = "policies lie below the directory of this file; `extend` takes over those of a \
                               configuration elsewhere";
                return Err(self.error(pattern.span(), message));
            }
            let below = pattern.get_ref().trim_start_matches("./");
            let (directory, rest) = split_at_wildcard(below);
            let globs = self.globs(&[Spanned::new(pattern.span(), rest.to_owned())], path_glob)?;
            let message = format!("no file matches `{}`", pattern.get_ref());
            Ok((globs, self.base.join(directory), self.error(pattern.span(), message)))
        });
        each.collect()
    }

    fn policy(&self, written: &file::Policy) -> Checks<Policy> {
        self.policy_id(&written.id)?;
        let (demand, demanded) = match (&written.require, &written.forbid) {
            (Some(require), None) => (Demand::Require(require.get_ref().clone()), require),
            (None, Some(forbid)) => (Demand::Forbid(forbid.get_ref().clone()), forbid),
            (None, None) => {
                let message = "a policy needs `require`, what has to be true, or `forbid`, what must not be";
                return Err(self.error(written.id.span(), message));
            }
            (Some(_), Some(forbid)) => {
                let message = "a policy has `require` or `forbid`, not both";
                return Err(self.error(forbid.span(), message));
            }
        };
        let message = written.message.get_ref().trim();
        if message.is_empty() {
            return Err(self.error(written.message.span(), "say what is wrong where the policy is not met"));
        }
        let examples = written.tests.iter().map(|test| self.example(written, test));
        let definition = Definition {
            id: written.id.get_ref().clone(),
            target: written.target,
            selects: written.selects.as_ref().map(|text| text.get_ref().clone()),
            demand,
            message: message.to_owned(),
            severity: match written.severity {
                Some(file::PolicySeverity::Error) => Severity::Error,
                Some(file::PolicySeverity::Info) => Severity::Info,
                Some(file::PolicySeverity::Warning) | None => Severity::Warning,
            },
            help: written.help.clone(),
            references: written.references.clone(),
            examples: examples.collect::<Checks<Vec<_>>>()?,
        };
        Policy::new(definition).map_err(|fault| {
            let expression = match (&written.selects, fault.in_selection) {
                (Some(selects), true) => selects,
                _ => demanded,
            };
            self.error(self.place(expression, &fault.at), fault.message)
        })
    }

    fn policy_id(&self, id: &Spanned<String>) -> Checks<()> {
        let text = id.get_ref();
        let is_part = |part: &str| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let is_kebab = text.split('-').all(is_part) && text.starts_with(|c: char| c.is_ascii_lowercase());
        if !is_kebab || text.len() > MAX_ID {
            let message =
                format!("an id is in kebab-case, as in `orders-keep-fourteen-days`, of {MAX_ID} characters at most");
            return Err(self.error(id.span(), message));
        }
        if selection::is_known(text, rules::Catalogue::BUILT_IN) {
            let message = format!("`{text}` is already the name of a rule, a category or a set");
            return Err(self.error(id.span(), message));
        }
        Ok(())
    }

    fn example(&self, policy: &file::Policy, test: &file::PolicyTest) -> Checks<Example> {
        let named = [("main.tf", &test.terraform), ("template.yaml", &test.template)];
        let named = named
            .into_iter()
            .filter_map(|(name, text)| Some((name.to_owned(), text.as_ref()?.get_ref().clone())));
        let mut files: Vec<(String, String)> = named.collect();
        for (name, text) in &test.files {
            let path = Path::new(name.get_ref());
            let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
            if !is_inside || name.get_ref().is_empty() {
                return Err(self.error(name.span(), "a test's file has a plain relative path"));
            }
            files.push((name.get_ref().clone(), text.clone()));
        }
        if files.is_empty() {
            let message = "a test needs a snippet: `terraform`, `template` or `files`";
            return Err(self.error(policy.id.span(), message));
        }
        Ok(Example {
            name: test.name.clone(),
            files,
            findings: test.findings,
            not_judged: test.not_judged,
        })
    }

    /// Maps the range `at` of an expression to the text of the file. Returns the range of the whole string if it
    /// contains escapes.
    fn place(&self, expression: &Spanned<String>, at: &Range<usize>) -> Range<usize> {
        let span = expression.span();
        let written = self.text.get(span.clone()).unwrap_or_default();
        match written.find(expression.get_ref().as_str()) {
            Some(offset) => {
                let start = span.start + offset + at.start;
                start
                    ..(span.start + offset + at.end)
                        .max(start + 1)
                        .min(self.text.len().max(start))
            }
            None => span,
        }
    }
}

/// Returns `true` if a glob can match only files below its base directory.
fn is_below(glob: &str) -> bool {
    let is_below = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    Path::new(glob).components().all(is_below)
}

/// Splits a glob into the directory before its first wildcard, to which the search is limited, and the rest.
fn split_at_wildcard(glob: &str) -> (&str, &str) {
    let literal = glob.find(['*', '?', '[', '{', '\\']).unwrap_or(glob.len());
    let end = glob.get(..literal).and_then(|before| before.rfind('/'));
    end.and_then(|end| Some((glob.get(..end)?, glob.get(end + 1..)?)))
        .unwrap_or(("", glob))
}
