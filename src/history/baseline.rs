//! Reads and writes the baseline: a file in the repository with findings that a team has accepted.
//!
//! Only `sqslint baseline` writes the file, sorted and with one entry per finding, so that its changes can be reviewed.
//! A reason that a user adds to an entry is kept as long as the entry. Entries match findings by their fingerprints
//! alone; the other fields are for readers.

use super::known::{FindingInEnvironments, KnownFindings};
use super::{History, KnownBecause, NEVER_KNOWN};
use crate::config::{self, Config};
use crate::diagnostic::{Silencer, fingerprint};
use crate::selection::FormerId;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use source::Sources;
use source::files::write;
use source::files::{self, Files, Refusal};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Default name of the file.
const NAME: &str = ".sqslint-baseline.json";
/// Version of the file format.
const VERSION: u32 = 1;
/// Maximum number of units that no longer exist whose entries are matched with other units.
const MAX_MISSING_UNITS: usize = 50;
/// Maximum size of a baseline, in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// Baseline to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum BaselineChoice {
    /// The configured one, or else the one at the root of the repository, if it exists.
    #[default]
    Configured,
    /// This file.
    File(PathBuf),
    /// No baseline.
    Without,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    unit: String,
    address: String,
    #[serde(default)]
    attribute: String,
    message: String,
    /// Absent if the finding occurs in all environments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    environments: Option<Vec<String>>,
    fingerprint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Entry {
    fn of((finding, environments): &FindingInEnvironments, all: usize) -> Self {
        let mut environments = environments.clone();
        environments.sort();
        Entry {
            rule: finding.rule.to_string(),
            unit: finding.subject.unit.clone(),
            address: finding.subject.address.clone(),
            attribute: finding.subject.attribute.to_owned(),
            message: finding.headline.clone(),
            environments: Some(environments).filter(|names| !names.is_empty() && names.len() < all),
            fingerprint: finding.fingerprint(),
            reason: None,
        }
    }
}

impl Entry {
    /// Replaces a former id of its rule, and returns that id.
    fn renamed(&mut self, file: &Path) -> Option<FormerId> {
        let former = FormerId::of(file, None, &self.rule)?;
        former.current().clone_into(&mut self.rule);
        self.fingerprint = fingerprint([&self.rule, &self.unit, &self.address, &self.attribute]);
        Some(former)
    }
}

/// Returns the path of the baseline that applies under `config`, which need not exist. `root` is the root of the
/// repository or the working directory.
pub(crate) fn file_for(choice: &BaselineChoice, config: &Config, root: &Path) -> Option<PathBuf> {
    match (choice, &config.baseline) {
        (BaselineChoice::Without, _) => None,
        (BaselineChoice::File(file), _) => Some(files::absolute(file)),
        (BaselineChoice::Configured, Some(file)) => Some(file.clone()),
        (BaselineChoice::Configured, None) => Some(root.join(NAME)),
    }
}

/// Part of the project that a run has checked. Only entries in this part can be stale.
pub(crate) struct CheckedPart<'a> {
    /// Names of the units that were checked.
    pub(crate) units: FxHashSet<&'a str>,
    /// Canonical paths of directories that were walked.
    pub(crate) walked: Vec<PathBuf>,
    /// Returns `true` if the rule (first argument) ran for the unit (second argument).
    pub(crate) runs: &'a dyn Fn(&str, &str) -> bool,
    /// The environments that were checked; empty for all.
    pub(crate) environments: &'a [String],
}

impl CheckedPart<'_> {
    fn judged(&self, entry: &Entry, root: &Path) -> bool {
        if !self.covers(entry) {
            return false;
        }
        if self.units.contains(&entry.unit.as_str()) {
            return (self.runs)(&entry.rule, &entry.unit);
        }
        let path = root.join(&entry.unit);
        self.walked.iter().any(|walked| path.starts_with(walked))
    }

    /// Returns `true` if all environments of `entry` were checked.
    fn covers(&self, entry: &Entry) -> bool {
        let is_checked = |names: &Vec<String>| names.iter().all(|name| self.environments.contains(name));
        self.environments.is_empty() || entry.environments.as_ref().is_some_and(is_checked)
    }

    /// Returns the entry for the finding of `now`, which also occurs in the environments of `before` that were not
    /// checked.
    fn joined(&self, before: Entry, mut now: Entry) -> Entry {
        if !self.covers(&before) {
            let names = before.environments.zip(now.environments);
            let names = names.map(|(one, other)| one.into_iter().chain(other).collect::<BTreeSet<_>>());
            now.environments = names.map(Vec::from_iter);
        }
        now.reason = before.reason;
        now
    }
}

/// Baselines of a run, by file. Usually all configurations share one.
#[derive(Debug)]
pub(crate) struct Baselines {
    choice: BaselineChoice,
    root: PathBuf,
    files: Files,
    read: BTreeMap<PathBuf, LoadedBaseline>,
    errors: Vec<String>,
    /// `true` if the default file exists.
    has_unnamed: bool,
}

#[derive(Debug, Default)]
struct LoadedBaseline {
    entries: Vec<Entry>,
    former: Vec<FormerId>,
    known: KnownFindings,
}

impl LoadedBaseline {
    /// Returns the units of entries that no longer exist, because a file or directory was moved or renamed.
    fn missing_units(&self, root: &Path) -> BTreeSet<String> {
        let units: BTreeSet<&str> = self.entries.iter().map(|entry| entry.unit.as_str()).collect();
        let is_gone = |unit: &&str| !files::exists(&root.join(unit));
        units
            .into_iter()
            .filter(is_gone)
            .take(MAX_MISSING_UNITS)
            .map(ToOwned::to_owned)
            .collect()
    }
}

impl Baselines {
    /// Creates the baselines of a run. `root` is the root of the repository or the working directory.
    pub(crate) fn new(choice: BaselineChoice, root: &Path, files: &Files) -> Self {
        let named = match &choice {
            BaselineChoice::File(file) => Some(file.as_path()),
            BaselineChoice::Configured | BaselineChoice::Without => None,
        };
        Baselines {
            files: files.clone().with_root(root).trusting(named),
            choice,
            root: root.to_owned(),
            read: BTreeMap::new(),
            errors: Vec::new(),
            has_unnamed: files::exists(&root.join(NAME)),
        }
    }

    /// Determines which findings in `found` are in the baseline of their unit, and returns the entries' reasons.
    pub(crate) fn covers<'c>(
        &mut self,
        found: &[FindingInEnvironments],
        config_of: impl Fn(&str) -> &'c Config,
    ) -> Vec<Option<KnownBecause>> {
        let mut by_file: BTreeMap<Option<PathBuf>, Vec<usize>> = BTreeMap::new();
        for (at, (finding, _)) in found.iter().enumerate() {
            let file = self.file_for(config_of(&finding.subject.unit));
            by_file.entry(file).or_default().push(at);
        }
        let mut covered = vec![None; found.len()];
        for (file, places) in by_file {
            let Some(file) = file else { continue };
            let held: Vec<&FindingInEnvironments> = places.iter().filter_map(|at| found.get(*at)).collect();
            let root = self.root.clone();
            let read = self.open(&file);
            let mut known = read.known.covers(&held);
            let gone = read.missing_units(&root);
            for (covered, held) in known.iter_mut().zip(&held).filter(|(covered, _)| covered.is_none()) {
                *covered = gone.iter().find_map(|unit| {
                    let mut moved = held.0.clone();
                    moved.subject.unit.clone_from(unit);
                    read.known.cover_moved(held, &moved.fingerprint())
                });
            }
            for (at, entry) in places.into_iter().zip(known) {
                if let (Some(covered), Some(entry)) = (covered.get_mut(at), entry) {
                    let reason = read.entries.get(entry).and_then(|entry| entry.reason.clone());
                    *covered = Some((Silencer::Baseline(file.clone()), reason));
                }
            }
        }
        covered
    }

    /// Reads the baseline that applies under `config`, even if there are no findings.
    pub(crate) fn use_for(&mut self, config: &Config) {
        if let Some(file) = self.file_for(config) {
            self.open(&file);
        }
    }

    /// Records stale entries in `history`, and returns the errors.
    pub(crate) fn record_stale(
        self,
        coverage: &CheckedPart<'_>,
        sources: &Sources,
        history: &mut History,
    ) -> Vec<String> {
        for (file, read) in &self.read {
            history.former.extend(read.former.iter().cloned());
            let unused = read.known.unused();
            let entries = unused.iter().filter_map(|at| read.entries.get(*at));
            let stale = entries.filter(|entry| coverage.judged(entry, &self.root)).count();
            if stale > 0 {
                history.stale.push((sources.shown_of(file), stale));
            }
        }
        self.errors
    }

    fn file_for(&self, config: &Config) -> Option<PathBuf> {
        let file = file_for(&self.choice, config, &self.root)?;
        // The default file need not exist.
        let is_named = self.choice != BaselineChoice::Configured || config.baseline.is_some();
        (is_named || self.has_unnamed).then_some(file)
    }

    fn open(&mut self, path: &Path) -> &mut LoadedBaseline {
        let (errors, files) = (&mut self.errors, &self.files);
        self.read
            .entry(path.to_owned())
            .or_insert_with(|| match load(path, files) {
                Ok((entries, former)) => {
                    let mut known = KnownFindings::default();
                    for (id, entry) in entries.iter().enumerate() {
                        known.insert(id, &entry.fingerprint, &entry.message, entry.environments.clone());
                    }
                    LoadedBaseline { entries, former, known }
                }
                Err(error) => {
                    errors.push(error);
                    LoadedBaseline::default()
                }
            })
    }
}

impl Baselines {
    /// Writes a baseline. A configured one must be in the project; the command line may name any path.
    fn save(&self, path: &Path, entries: &[Entry]) -> Result<(), Refusal> {
        let file = File {
            version: VERSION,
            entries: entries.to_vec(),
        };
        let text = serde_json::to_string_pretty(&file).map_err(std::io::Error::other)? + "\n";
        match self.choice {
            BaselineChoice::File(_) => write::save(path, text.as_bytes()),
            BaselineChoice::Configured | BaselineChoice::Without => {
                write::save_within(&self.files, path, text.as_bytes())
            }
        }
    }
}

/// Returns the error for a baseline that does not exist.
pub(crate) fn no_baseline(shown: &str) -> String {
    format!("there is no baseline `{shown}`; `sqslint baseline create` writes it")
}

/// Reads a baseline, and returns its entries under the current ids of their rules, and the former ids.
fn load(path: &Path, files: &Files) -> Result<(Vec<Entry>, Vec<FormerId>), String> {
    let shown = config::shown(path);
    let text = files.read(path, MAX_SIZE).map_err(|refusal| match refusal {
        Refusal::Missing => no_baseline(&shown),
        other => format!("cannot read the baseline `{shown}`: {other}"),
    })?;
    let mut file: File = serde_json::from_slice(&text).map_err(|error| {
        // The position precedes the message, as in every other error.
        let message = error.to_string();
        let message = message
            .rsplit_once(" at line ")
            .map_or(&*message, |(message, _)| message);
        format!("{shown}:{}:{}: not a baseline: {message}", error.line(), error.column())
    })?;
    if file.version == VERSION {
        let former = file.entries.iter_mut().filter_map(|entry| entry.renamed(path));
        let former = former.collect();
        Ok((file.entries, former))
    } else {
        let version = file.version;
        Err(format!(
            "{shown}: this version of sqslint does not read version {version} of the baseline"
        ))
    }
}

/// Operation on a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Write a baseline of all findings; it must not exist yet.
    Create,
    /// Add new findings, and remove entries without one.
    Update,
    /// Remove entries without a finding.
    Prune,
    /// Replace former ids of rules.
    Migrate,
}

/// Summary of the changes of one baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineSummary {
    /// Path for display.
    pub file: String,
    /// Number of entries afterwards.
    pub entries: usize,
    /// Number of new entries.
    pub added: usize,
    /// Number of removed entries.
    pub removed: usize,
}

/// Current findings and their context.
pub(crate) struct CurrentFindings<'a> {
    pub(crate) found: &'a [FindingInEnvironments],
    /// Returns the number of environments of a unit, of which some may not have been checked.
    pub(crate) environments: &'a dyn Fn(&str) -> usize,
    pub(crate) coverage: &'a CheckedPart<'a>,
    pub(crate) configs: Vec<&'a Config>,
    pub(crate) config_of: &'a dyn Fn(&str) -> &'a Config,
    pub(crate) sources: &'a Sources,
    pub(crate) root: &'a Path,
}

/// Applies `action` to the baselines of `judged`. If any error occurs, no file is written.
pub(crate) fn rewrite(
    choice: &BaselineChoice,
    action: Action,
    judged: &CurrentFindings<'_>,
) -> Result<Vec<BaselineSummary>, Vec<String>> {
    let baselines = Baselines::new(choice.clone(), judged.root, judged.sources.files());
    let file_for = |config: &Config| {
        let file = baselines.file_for(config);
        file.unwrap_or_else(|| judged.root.join(NAME))
    };
    let mut files: BTreeMap<PathBuf, Vec<Entry>> = BTreeMap::new();
    for config in &judged.configs {
        files.entry(file_for(config)).or_default();
    }
    for held in judged
        .found
        .iter()
        .filter(|(found, _)| !NEVER_KNOWN.contains(&&*found.rule))
    {
        let unit = &held.0.subject.unit;
        let file = file_for((judged.config_of)(unit));
        files
            .entry(file)
            .or_default()
            .push(Entry::of(held, (judged.environments)(unit)));
    }
    let mut errors = Vec::new();
    let mut ready = Vec::new();
    for (path, found) in files {
        let there = files::exists(&path);
        if there && action == Action::Create {
            let shown = judged.sources.shown_of(&path);
            errors.push(format!(
                "`{shown}` already exists; `sqslint baseline update` changes it and keeps its reasons"
            ));
            continue;
        }
        let before = if there || action == Action::Prune {
            load(&path, &baselines.files)
        } else {
            Ok((Vec::new(), Vec::new()))
        };
        match before {
            Ok((_, former)) if action == Action::Migrate && former.is_empty() => {}
            Ok((before, _)) => ready.push((path, merged(action, before, found, judged))),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut written = Vec::new();
    for (path, (entries, added, removed)) in ready {
        let file = judged.sources.shown_of(&path);
        baselines
            .save(&path, &entries)
            .map_err(|error| vec![format!("cannot write `{file}`: {error}")])?;
        written.push(BaselineSummary {
            file,
            entries: entries.len(),
            added,
            removed,
        });
    }
    Ok(written)
}

/// Returns the entries to write, and the numbers of added and removed ones.
fn merged(
    action: Action,
    before: Vec<Entry>,
    found: Vec<Entry>,
    judged: &CurrentFindings<'_>,
) -> (Vec<Entry>, usize, usize) {
    if action == Action::Migrate {
        let mut before = before;
        sort(&mut before);
        return (before, 0, 0);
    }
    let mut by_fingerprint: FxHashMap<String, Vec<Entry>> = FxHashMap::default();
    for entry in found {
        by_fingerprint.entry(entry.fingerprint.clone()).or_default().push(entry);
    }
    let mut kept: Vec<Entry> = Vec::new();
    let mut removed = 0;
    let (same, other): (Vec<Entry>, Vec<Entry>) = before.into_iter().partition(|entry| {
        let now = by_fingerprint.get(&entry.fingerprint).into_iter().flatten();
        now.into_iter().any(|now| now.message == entry.message)
    });
    // Entries with unchanged wording are matched first, so that of two with one fingerprint each keeps its own reason.
    for entry in same.into_iter().chain(other) {
        let now = by_fingerprint.entry(entry.fingerprint.clone()).or_default();
        let exact = now.iter().position(|now| now.message == entry.message);
        let similar = (!now.is_empty() && judged.coverage.covers(&entry)).then_some(0);
        match exact.or(similar).map(|at| now.remove(at)) {
            Some(_) if action == Action::Prune => kept.push(entry),
            Some(now) => kept.push(judged.coverage.joined(entry, now)),
            None if judged.coverage.judged(&entry, judged.root) => removed += 1,
            None => kept.push(entry),
        }
    }
    let mut waiting: Vec<Entry> = by_fingerprint.into_values().flatten().collect();
    let added = if action == Action::Prune { 0 } else { waiting.len() };
    if action != Action::Prune {
        kept.append(&mut waiting);
    }
    sort(&mut kept);
    (kept, added, removed)
}

/// Sorts entries by unit and resource, so that related ones are adjacent.
fn sort(entries: &mut [Entry]) {
    entries.sort_by(|a, b| {
        let key = |entry: &Entry| {
            let subject = (entry.unit.clone(), entry.address.clone(), entry.rule.clone());
            (
                subject,
                entry.attribute.clone(),
                entry.message.clone(),
                entry.environments.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
}
