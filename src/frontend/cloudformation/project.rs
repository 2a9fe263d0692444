//! Every template of a run together: which are judged alone and which only where they are called, what is exported,
//! and which are fragments of one template that a build step puts together.
//!
//! Every template is evaluated by itself first; those that turn out to depend on others are evaluated again with them.
//! What depends on what is known no earlier: names of exports and imports are expressions, and a nested stack's come of
//! the arguments of its call. Files are read and parsed once all the same.

use super::handover::Export;
use super::parameters::Settings;
use super::stacks::Met;
use super::{Environment, Read, load_serverless, load_stack, load_template};
use crate::diagnostic::RuleId;
use crate::frontend::tree::{Node, Parsed, Value};
use crate::frontend::{Loaded, Ties, parsed, read};
use crate::graph::{Unit, UnitKind};
use crate::source::{Sources, Span};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Exports of imports are followed this often.
const MAX_ROUNDS: usize = 4;
/// Fragments of one template.
const MAX_FRAGMENTS: usize = 300;

/// What a file is read as. A template that is also a stack of an app is that stack.
#[derive(Hash)]
pub(in crate::frontend) enum Document {
    /// A template by itself.
    Template,
    /// A template as a CDK app deploys it.
    Stack(Environment),
    /// A `serverless.yml`.
    Service,
}

impl Document {
    /// As [`Document::read`] where nothing is known of other templates: the same as in an earlier run, where all that it
    /// asked about is as it was.
    fn read_alone(&self, path: &Path, settings: &Settings, sources: &Sources) -> Read {
        if sources.is_abandoned() {
            let unit = Unit {
                name: sources.name_of(path),
                kind: UnitKind::Template,
                notes: Vec::new(),
                call: None,
            };
            return Met::default().into_read(Loaded::new(unit));
        }
        let alone = Project::default();
        // Which arguments templates take is told when they are read.
        if settings.takes_arguments() {
            return self.read(path, settings, &alone, sources);
        }
        let under = (settings.of(path).fingerprint, settings.is_searching(), self);
        let (read, _) = sources.remember(path, under, |sources| {
            sources.absorb(&settings.of(path).noted);
            self.read(path, settings, &alone, sources)
        });
        Arc::unwrap_or_clone(read)
    }

    fn read(&self, path: &Path, settings: &Settings, project: &Project, sources: &Sources) -> Read {
        let read = match self {
            Document::Service => Met::default().into_read(load_serverless(path, settings, sources)),
            Document::Template => load_template(path, settings, project, sources),
            Document::Stack(environment) => load_stack(path, environment, settings, project, sources),
        };
        if let Some(file) = sources.find(path) {
            sources.file(file).let_go();
        }
        read
    }
}

/// What one template may know of the others.
#[derive(Default)]
pub(in crate::frontend) struct Project {
    exports: BTreeMap<String, Vec<Export>>,
    fragments: FxHashMap<PathBuf, Arc<Fragments>>,
    /// Files that use names which they do not declare.
    incomplete: BTreeSet<PathBuf>,
}

/// One of the templates that a build step makes one.
pub(super) struct Member {
    pub(super) path: PathBuf,
    /// The key of its unit.
    pub(super) unit: Arc<str>,
    parsed: Arc<Parsed>,
}

impl Member {
    /// What it holds; there is a first document, or it is no member.
    pub(super) fn root(&self) -> Option<&Node> {
        self.parsed.documents.first()
    }
}

/// Templates that a build step makes one.
pub(super) struct Fragments {
    /// What their variables are told apart from others' by.
    pub(super) scope: String,
    pub(super) members: Vec<Member>,
}

impl Project {
    pub(super) fn exports(&self, name: &str) -> &[Export] {
        self.exports.get(name).map_or(&[], Vec::as_slice)
    }

    /// The fragment at `path` with the `Globals` that another one holds, where it is the only one.
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

    /// Whether something that is not here is put together with the file at `path`.
    pub(super) fn is_incomplete(&self, path: &Path) -> bool {
        self.incomplete.contains(path)
    }

    pub(super) fn fragments_of(&self, path: &Path) -> Option<&Fragments> {
        self.fragments.get(path).map(|group| &**group)
    }
}

/// Reads every file.
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
    let mut reads: Vec<(&Path, &Document, Read)> = keep_uncalled(alone.collect());
    project.fragments = fragments(&reads, sources);
    let incomplete = reads.iter().filter(|(.., read)| read.is_fragment);
    project.incomplete = incomplete.map(|(path, ..)| path.to_path_buf()).collect();
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
            let is_part = || read.is_fragment || project.fragments.contains_key(*path);
            (round == 0 && is_part()) || imports().flatten().any(&is_new)
        });
        renewed = again.map(|(at, _)| at).collect();
        if renewed.is_empty() {
            break;
        }
        let next: Vec<(usize, Read)> = renewed
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

/// What was read of `path`, with what ties it to other templates.
fn tied(path: &Path, read: Read) -> Vec<Loaded> {
    let mut loaded = read.loaded;
    if let Some(first) = loaded.first_mut() {
        let exports = read.exports.into_iter().map(|export| export.name);
        first.ties = Ties {
            names: exports.chain(read.imports).collect(),
            below: path.parent().filter(|_| read.is_fragment).map(Path::to_owned),
        };
    }
    loaded
}

/// Without the templates that others call: those are judged in their calls. Of templates that only call each other
/// the first is kept.
fn keep_uncalled<'f>(reads: Vec<(&'f Path, &'f Document, Read)>) -> Vec<(&'f Path, &'f Document, Read)> {
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

/// The fragments among `reads`: templates that use names they do not declare, and those that fragments are put into,
/// with every other template in the same directory or below.
fn fragments(reads: &[(&Path, &Document, Read)], sources: &Sources) -> FxHashMap<PathBuf, Arc<Fragments>> {
    let mut groups = FxHashMap::default();
    let is_fragment = |read: &Read| read.is_fragment;
    let directories: BTreeSet<&Path> = reads
        .iter()
        .filter(|(_, document, read)| matches!(document, Document::Template) && is_fragment(read))
        .filter_map(|(path, ..)| path.parent())
        .collect();
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
            let file = read(path, sources, &name).ok()?;
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

/// What is wrong with a file is told once, however often it is read.
fn say_once(all: &mut [Loaded]) {
    let mut said: BTreeSet<(RuleId, Span, String)> = BTreeSet::new();
    for loaded in all {
        loaded
            .diagnostics
            .retain(|found| said.insert((found.rule.clone(), found.primary().span, found.headline.clone())));
    }
}
