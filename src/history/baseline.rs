//! The baseline: findings that a team has looked at and leaves as they are, in a file beside its code.
//!
//! It is written by `sqslint baseline` only, sorted and with one entry a finding, so that a change of it can be reviewed;
//! a reason that somebody adds to an entry stays until the entry goes. Which finding an entry means is told by its
//! fingerprint alone; the other fields are there to be read.

use super::known::{Held, Known};
use super::{History, NEVER_KNOWN, Why};
use crate::config::{self, Config};
use crate::diagnostic::Silencer;
use crate::files::write;
use crate::files::{self, Files, Refusal};
use crate::source::Sources;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The file's name where no configuration gives another.
const NAME: &str = ".sqslint-baseline.json";
/// The version of its shape.
const VERSION: u32 = 1;
/// Units that are gone, of which entries are looked for elsewhere.
const MOST_GONE: usize = 50;
/// A baseline that is larger is none.
const LARGEST: u64 = 64 << 20;

/// Which baseline holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Choice {
    /// That of the configuration, else the one at the root of the repository where there is one.
    #[default]
    Configured,
    /// This file.
    File(PathBuf),
    /// None.
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
    /// Absent where it holds in all there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    environments: Option<Vec<String>>,
    fingerprint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Entry {
    fn of((finding, environments): &Held, all: usize) -> Self {
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

/// The baseline for what `config` holds for, whether or not it is there; `root` is the repository's, or the working
/// directory.
pub(crate) fn file_for(choice: &Choice, config: &Config, root: &Path) -> Option<PathBuf> {
    match (choice, &config.baseline) {
        (Choice::Without, _) => None,
        (Choice::File(file), _) => Some(files::absolute(file)),
        (Choice::Configured, Some(file)) => Some(file.clone()),
        (Choice::Configured, None) => Some(root.join(NAME)),
    }
}

/// What of a project a run has looked at: only there can an entry be stale.
pub(crate) struct Coverage<'a> {
    /// The names of the units that were judged.
    pub(crate) units: FxHashSet<&'a str>,
    /// Canonical paths of directories that were walked.
    pub(crate) walked: Vec<PathBuf>,
    /// Whether the rule called so was run for the unit called so.
    pub(crate) runs: &'a dyn Fn(&str, &str) -> bool,
}

impl Coverage<'_> {
    fn judged(&self, entry: &Entry, root: &Path) -> bool {
        if self.units.contains(&entry.unit.as_str()) {
            return (self.runs)(&entry.rule, &entry.unit);
        }
        let path = root.join(&entry.unit);
        self.walked.iter().any(|walked| path.starts_with(walked))
    }
}

/// The baselines of a run: one for each file that a configuration names, commonly one.
#[derive(Debug)]
pub(crate) struct Baselines {
    choice: Choice,
    root: PathBuf,
    files: Files,
    read: BTreeMap<PathBuf, Read>,
    errors: Vec<String>,
    /// Whether there is one that nobody names.
    has_unnamed: bool,
}

#[derive(Debug, Default)]
struct Read {
    entries: Vec<Entry>,
    known: Known,
}

impl Read {
    /// The units of entries that are not there any more: a directory that was renamed, a file that was moved.
    fn gone(&self, root: &Path) -> BTreeSet<String> {
        let units: BTreeSet<&str> = self.entries.iter().map(|entry| entry.unit.as_str()).collect();
        let is_gone = |unit: &&str| !files::exists(&root.join(unit));
        units
            .into_iter()
            .filter(is_gone)
            .take(MOST_GONE)
            .map(ToOwned::to_owned)
            .collect()
    }
}

impl Baselines {
    /// `root` is the repository's, or the working directory.
    pub(crate) fn new(choice: Choice, root: &Path, files: &Files) -> Self {
        let named = match &choice {
            Choice::File(file) => Some(file.as_path()),
            Choice::Configured | Choice::Without => None,
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

    /// Which of `found` are in the baseline of their unit, with the reason that the entry gives.
    pub(crate) fn covers<'c>(&mut self, found: &[Held], config_of: impl Fn(&str) -> &'c Config) -> Vec<Option<Why>> {
        let mut by_file: BTreeMap<Option<PathBuf>, Vec<usize>> = BTreeMap::new();
        for (at, (finding, _)) in found.iter().enumerate() {
            let file = self.file_for(config_of(&finding.subject.unit));
            by_file.entry(file).or_default().push(at);
        }
        let mut covered = vec![None; found.len()];
        for (file, places) in by_file {
            let Some(file) = file else { continue };
            let held: Vec<&Held> = places.iter().filter_map(|at| found.get(*at)).collect();
            let root = self.root.clone();
            let read = self.open(&file);
            let mut known = read.known.covers(&held);
            let gone = read.gone(&root);
            for (covered, held) in known.iter_mut().zip(&held).filter(|(covered, _)| covered.is_none()) {
                *covered = gone.iter().find_map(|unit| {
                    let mut moved = held.0.clone();
                    moved.subject.unit.clone_from(unit);
                    read.known.covers_as(held, &moved.fingerprint())
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

    /// Reads the baseline that holds under `config`, though there may be no finding.
    pub(crate) fn use_for(&mut self, config: &Config) {
        if let Some(file) = self.file_for(config) {
            self.open(&file);
        }
    }

    /// Says which entries are stale, and what could not be read.
    pub(crate) fn conclude(self, coverage: &Coverage<'_>, sources: &Sources, history: &mut History) -> Vec<String> {
        for (file, read) in &self.read {
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
        // The one that nobody names need not be there.
        let is_named = self.choice != Choice::Configured || config.baseline.is_some();
        (is_named || self.has_unnamed).then_some(file)
    }

    fn open(&mut self, path: &Path) -> &mut Read {
        let (errors, files) = (&mut self.errors, &self.files);
        self.read
            .entry(path.to_owned())
            .or_insert_with(|| match load(path, files) {
                Ok(entries) => {
                    let mut known = Known::default();
                    for (id, entry) in entries.iter().enumerate() {
                        known.insert(id, &entry.fingerprint, &entry.message, entry.environments.clone());
                    }
                    Read { entries, known }
                }
                Err(error) => {
                    errors.push(error);
                    Read::default()
                }
            })
    }
}

impl Baselines {
    /// Writes a baseline. One that a configuration names lies in the project; the user may name any place.
    fn save(&self, path: &Path, entries: &[Entry]) -> Result<(), Refusal> {
        let file = File {
            version: VERSION,
            entries: entries.to_vec(),
        };
        let text = serde_json::to_string_pretty(&file).map_err(std::io::Error::other)? + "\n";
        match self.choice {
            Choice::File(_) => write::save(path, text.as_bytes()),
            Choice::Configured | Choice::Without => write::save_within(&self.files, path, text.as_bytes()),
        }
    }
}

fn load(path: &Path, files: &Files) -> Result<Vec<Entry>, String> {
    let shown = config::shown(path);
    let text = files.read(path, LARGEST).map_err(|refusal| match refusal {
        Refusal::Missing => format!("there is no baseline `{shown}`; `sqslint baseline create` writes it"),
        other => format!("cannot read the baseline `{shown}`: {other}"),
    })?;
    let file: File = serde_json::from_slice(&text).map_err(|error| {
        // The place stands before the message, as with every other error.
        let message = error.to_string();
        let message = message
            .rsplit_once(" at line ")
            .map_or(&*message, |(message, _)| message);
        format!("{shown}:{}:{}: not a baseline: {message}", error.line(), error.column())
    })?;
    if file.version == VERSION {
        Ok(file.entries)
    } else {
        let version = file.version;
        Err(format!(
            "{shown}: this version of sqslint does not read version {version} of the baseline"
        ))
    }
}

/// What to do with a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Write one of all findings, where there is none yet.
    Create,
    /// Add new findings and drop entries that have none.
    Update,
    /// Drop entries that have none.
    Prune,
}

/// What became of one baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file, as it is shown.
    pub file: String,
    /// Entries that it has now.
    pub entries: usize,
    /// Entries that were not there.
    pub added: usize,
    /// Entries that are gone.
    pub removed: usize,
}

/// The findings of today, and what they were judged by.
pub(crate) struct Current<'a> {
    pub(crate) found: &'a [Held],
    /// How many environments a unit is judged in.
    pub(crate) environments: &'a dyn Fn(&str) -> usize,
    pub(crate) coverage: &'a Coverage<'a>,
    pub(crate) configs: Vec<&'a Config>,
    pub(crate) config_of: &'a dyn Fn(&str) -> &'a Config,
    pub(crate) sources: &'a Sources,
    pub(crate) root: &'a Path,
}

/// Does `action` for the baselines of `judged`. The errors are what kept it from doing so; nothing is written then.
pub(crate) fn rewrite(choice: &Choice, action: Action, judged: &Current<'_>) -> Result<Vec<Written>, Vec<String>> {
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
            Ok(Vec::new())
        };
        match before {
            Ok(before) => ready.push((path, merged(action, before, found, judged))),
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
        written.push(Written {
            file,
            entries: entries.len(),
            added,
            removed,
        });
    }
    Ok(written)
}

/// The entries to be written, and how many came and went.
fn merged(action: Action, before: Vec<Entry>, found: Vec<Entry>, judged: &Current<'_>) -> (Vec<Entry>, usize, usize) {
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
    // Entries with the words of today come first, so that of two with one fingerprint each keeps its own reason.
    for entry in same.into_iter().chain(other) {
        let now = by_fingerprint.entry(entry.fingerprint.clone()).or_default();
        let exact = now.iter().position(|now| now.message == entry.message);
        match exact.or((!now.is_empty()).then_some(0)).map(|at| now.remove(at)) {
            Some(_) if action == Action::Prune => kept.push(entry),
            Some(now) => kept.push(Entry {
                reason: entry.reason,
                ..now
            }),
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

/// By unit and resource, so that what belongs together stands together.
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
