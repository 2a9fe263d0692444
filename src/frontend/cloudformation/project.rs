//! Loads all templates of a run: finds out which are units and which are checked only in their calls, which values they
//! export, and which are fragments that a build step merges into one template.
//!
//! Every template is first evaluated by itself; those that turn out to depend on others are evaluated again with them.
//! The dependencies are not known earlier: names of exports and imports are expressions, and those of a nested stack
//! depend on the arguments of its call. Each file is still read and parsed only once.

use super::handover::Export;
use super::incomplete::incomplete;
use super::parameters::Settings;
use super::stacks::Collected;
use super::{Environment, LoadedFile, load_serverless, load_stack, load_template};
use crate::diagnostic::RuleId;
use crate::frontend::{Loaded, Ties};
use crate::graph::{Unit, UnitKind};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use source::reading::read;
use source::{Sources, Span};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::parsed;
use trees::{Node, Parsed, Value};

/// Maximum number of rounds in which exports of imported values are followed.
const MAX_ROUNDS: usize = 4;
/// Maximum number of fragments of one template.
const MAX_FRAGMENTS: usize = 300;

/// The kind of a file. A template that is also a stack of a CDK app is loaded as that stack.
#[derive(Hash)]
pub(in crate::frontend) enum Document {
    /// A template.
    Template,
    /// A template that a CDK app deploys.
    Stack(Environment),
    /// A `serverless.yml`.
    Service,
}

impl Document {
    /// Like [`Document::read`] without knowledge of other templates. Returns the cached result if none of its inputs
    /// changed.
    fn read_alone(&self, path: &Path, settings: &Settings, sources: &Sources) -> LoadedFile {
        if sources.is_cancelled() {
            let unit = Unit {
                name: sources.name_of(path),
                kind: UnitKind::Template,
                notes: Vec::new(),
                unread_modules: std::collections::BTreeMap::new(),
                call: None,
            };
            return Collected::default().into_read(Loaded::new(unit));
        }
        let alone = Project::default();
        // Reading a template records which arguments it accepts, so it cannot be skipped.
        if settings.takes_arguments() {
            return self.read(path, settings, &alone, sources);
        }
        let under = (settings.of(path).fingerprint, settings.is_searching(), self);
        let (read, _) = sources.cached(path, under, |sources| {
            sources.add_dependencies(&settings.of(path).noted);
            self.read(path, settings, &alone, sources)
        });
        Arc::unwrap_or_clone(read)
    }

    fn read(&self, path: &Path, settings: &Settings, project: &Project, sources: &Sources) -> LoadedFile {
        let read = match self {
            Document::Service => load_serverless(path, settings, sources),
            Document::Template => load_template(path, settings, project, sources),
            Document::Stack(environment) => load_stack(path, environment, settings, project, sources),
        };
        if let Some(file) = sources.find(path) {
            sources.file(file).drop_derived_if_large();
        }
        read
    }
}

/// Facts about the other templates that the evaluation of one template needs.
#[derive(Default)]
pub(in crate::frontend) struct Project {
    exports: BTreeMap<String, Vec<Export>>,
    fragments: FxHashMap<PathBuf, Arc<Fragments>>,
    /// Fragments, and templates that they are put into.
    incomplete: BTreeSet<PathBuf>,
}

/// A template that a build step merges with others.
pub(super) struct Member {
    pub(super) path: PathBuf,
    /// The key of its unit.
    pub(super) unit: Arc<str>,
    parsed: Arc<Parsed>,
}

impl Member {
    /// Returns its first document, which every member has.
    pub(super) fn root(&self) -> Option<&Node> {
        self.parsed.documents.first()
    }
}

/// Templates that a build step merges into one.
pub(super) struct Fragments {
    /// Prefix of the keys of their variables, which are shared only among them.
    pub(super) scope: String,
    pub(super) members: Vec<Member>,
}

impl Project {
    pub(super) fn exports(&self, name: &str) -> &[Export] {
        self.exports.get(name).map_or(&[], Vec::as_slice)
    }

    /// Adds to the fragment at `path` the `Globals` of another fragment, if exactly one of them has `Globals`.
    pub(super) fn with_globals<'d>(&self, document: Cow<'d, Node>, path: &Path) -> Cow<'d, Node> {
        let Some(group) = self.fragments_of(path).filter(|_| document.get("Globals").is_none()) else {
            return document;
        };
        let others = group.members.iter().filter(|member| member.path != path);
        let mut globals = others.filter_map(|member| member.root()?.entry("Globals"));
        let (Some(only), None) = (globals.next(), globals.next()) else {
            return document;
        };
        let mut document = document.into_owned();
        if let Value::Mapping(entries) = &mut document.value {
            entries.push(only.clone());
        }
        Cow::Owned(document)
    }

    /// Returns `true` if the file at `path` is merged with files that are not part of the project.
    pub(super) fn is_incomplete(&self, path: &Path) -> bool {
        self.incomplete.contains(path)
    }

    pub(super) fn fragments_of(&self, path: &Path) -> Option<&Fragments> {
        self.fragments.get(path).map(|group| &**group)
    }
}

/// Loads every file.
pub(in crate::frontend) fn load_all(
    files: &BTreeMap<PathBuf, Document>,
    settings: &Settings,
    sources: &Sources,
) -> Vec<Loaded> {
    let mut project = Project::default();
    let alone = files.par_iter().map(|(path, document)| {
        let read = document.read_alone(path, settings, sources);
        (path.as_path(), document, read)
    });
    let mut reads: Vec<(&Path, &Document, LoadedFile)> = keep_uncalled(alone.collect());
    project.incomplete = incomplete(&reads, sources);
    project.fragments = fragments(&reads, &project.incomplete, sources);
    let mut renewed: BTreeSet<usize> = BTreeSet::new();
    for round in 0..MAX_ROUNDS {
        let mut exporters: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        project.exports.clear();
        for (at, (_, _, read)) in reads.iter().enumerate() {
            for export in &read.exports {
                exporters.entry(&export.name).or_default().insert(at);
                project
                    .exports
                    .entry(export.name.clone())
                    .or_default()
                    .push(export.clone());
            }
        }
        let is_new = |at: &usize| round == 0 || renewed.contains(at);
        let again = reads.iter().enumerate().filter(|(_, (path, _, read))| {
            let imports = || read.imports.iter().filter_map(|name| exporters.get(name.as_str()));
            let is_part = || project.is_incomplete(path) || project.fragments.contains_key(*path);
            (round == 0 && is_part()) || imports().flatten().any(&is_new)
        });
        renewed = again.map(|(at, _)| at).collect();
        if renewed.is_empty() {
            break;
        }
        let next: Vec<(usize, LoadedFile)> = renewed
            .par_iter()
            .filter_map(|&at| {
                let (path, document, _) = reads.get(at)?;
                Some((at, document.read(path, settings, &project, sources)))
            })
            .collect();
        for (at, read) in next {
            if let Some(slot) = reads.get_mut(at) {
                slot.2 = read;
            }
        }
    }
    let mut all: Vec<Loaded> = reads.into_iter().flat_map(|(path, _, read)| tied(path, read)).collect();
    say_once(&mut all);
    all
}

/// Returns the units of `path`, with their relations to other templates.
fn tied(path: &Path, read: LoadedFile) -> Vec<Loaded> {
    let mut loaded = read.loaded;
    if let Some(first) = loaded.first_mut() {
        let exports = read.exports.into_iter().map(|export| export.name);
        first.ties = Ties {
            names: exports.chain(read.imports).collect(),
            below: path
                .parent()
                .filter(|_| read.is_frame || !read.undeclared.is_empty())
                .map(Path::to_owned),
        };
    }
    loaded
}

/// Drops the templates that others call, because they are checked in their calls. In a cycle of calls, the first
/// template is kept.
fn keep_uncalled<'f>(reads: Vec<(&'f Path, &'f Document, LoadedFile)>) -> Vec<(&'f Path, &'f Document, LoadedFile)> {
    let called: BTreeSet<PathBuf> = reads
        .iter()
        .flat_map(|(_, _, read)| read.called.iter().cloned())
        .collect();
    let mut covered: BTreeSet<PathBuf> = BTreeSet::new();
    let mut kept: BTreeSet<PathBuf> = BTreeSet::new();
    for is_first_round in [true, false] {
        for (path, _, read) in &reads {
            let is_called = if is_first_round {
                called.contains(*path)
            } else {
                covered.contains(*path)
            };
            if !is_called && kept.insert(path.to_path_buf()) {
                covered.extend(read.called.iter().cloned());
            }
        }
    }
    let all = reads.into_iter();
    all.filter(|(path, ..)| kept.contains(*path)).collect()
}

/// Groups the `incomplete` templates among `reads` with every other template in the same directory or below.
fn fragments(
    reads: &[(&Path, &Document, LoadedFile)],
    incomplete: &BTreeSet<PathBuf>,
    sources: &Sources,
) -> FxHashMap<PathBuf, Arc<Fragments>> {
    let mut groups = FxHashMap::default();
    let directories: BTreeSet<&Path> = incomplete.iter().filter_map(|path| path.parent()).collect();
    let is_inner = |directory: &Path| directory.ancestors().skip(1).any(|above| directories.contains(above));
    for directory in directories.iter().copied().filter(|directory| !is_inner(directory)) {
        let members = reads
            .iter()
            .filter(|(path, document, _)| matches!(document, Document::Template) && path.starts_with(directory));
        let paths: Vec<&Path> = members.map(|(path, ..)| *path).collect();
        if !(2..=MAX_FRAGMENTS).contains(&paths.len()) {
            continue;
        }
        let members = paths.par_iter().filter_map(|path| {
            let name = sources.name_of(path);
            let file = read(path, sources).ok()?;
            let parsed = parsed::tree(file, &sources.file(file));
            let member = Member {
                path: path.to_path_buf(),
                unit: Arc::from(name),
                parsed,
            };
            member.root().is_some().then_some(member)
        });
        let group = Arc::new(Fragments {
            scope: format!("{}/*", sources.name_of(directory)),
            members: members.collect(),
        });
        groups.extend(paths.into_iter().map(|path| (path.to_owned(), group.clone())));
    }
    groups
}

/// Removes repeated diagnostics of files that were read several times.
fn say_once(all: &mut [Loaded]) {
    let mut said: BTreeSet<(RuleId, Span, String)> = BTreeSet::new();
    for loaded in all {
        loaded
            .diagnostics
            .retain(|found| said.insert((found.rule.clone(), found.primary().span, found.headline.clone())));
    }
}
