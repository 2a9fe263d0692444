//! Loads all templates of a run: finds out which are units and which are checked only in their calls, which values they
//! export, and which are fragments that a build step merges into one template.
//!
//! Every template is first evaluated by itself; those that turn out to depend on others are evaluated again with them.
//! The dependencies are not known earlier: names of exports and imports are expressions, and those of a nested stack
//! depend on the arguments of its call. Each file is still read and parsed only once.
//!
//! ```text
//! data.yaml     exports  orders = !GetAtt Orders.Arn
//! shared.yaml   exports  input  = !ImportValue orders       knows the ARN after round 1
//! app.yaml      uses              !ImportValue input        knows it after round 2
//! ```
//!
//! So a chain of n templates takes n - 1 rounds, each of which evaluates only the importers of what the last one changed.
//! No order of the templates would save them, because a value may be part of the name of the next export. The bound is
//! for templates that import from each other in a circle, which CloudFormation rejects: their values would change for
//! ever.

use super::Environment;
use super::incomplete::incomplete;
use super::loading::{LoadedFile, Loader, Visit};
use super::parameters::Settings;
use super::stacks::Collected;
use super::surroundings::{Fragments, Member, Project};
use super::unit::{Ties, Unit, UnitKind};
use crate::limits;
use knowledge::UnitKey;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use source::reading::{ProblemKind, read};
use source::{Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trees::parsed;

/// The kind of a file. A template that is also a stack of a CDK app is loaded as that stack.
#[derive(Hash)]
pub enum Document {
    /// A template.
    Template,
    /// A template that a CDK app deploys.
    Stack(Environment),
    /// A `serverless.yml`.
    Service,
    /// A snapshot.
    Snapshot,
}

impl Document {
    /// Like [`Document::read`] without knowledge of other templates. Returns the cached result if none of its inputs
    /// changed.
    fn read_alone<T: Clone + Send + Sync + 'static>(&self, path: &Path, loader: &Loader<'_, T>) -> LoadedFile<T> {
        let (settings, sources) = (loader.settings, loader.sources);
        if sources.is_cancelled() {
            let unit = Unit::new(sources.name_of(path), UnitKind::Template, None);
            return LoadedFile::new(Collected::default(), unit, FxHashMap::default());
        }
        let alone = Project::default();
        // Reading a template records which arguments it accepts, so it cannot be skipped.
        if settings.takes_arguments() {
            return self.read(path, &alone, loader);
        }
        let under = (settings.of(path).fingerprint, settings.is_searching(), self);
        let (read, _) = sources.cached(path, under, |sources| {
            sources.add_dependencies(&settings.of(path).noted);
            let loader = Loader { sources, ..*loader };
            self.read(path, &alone, &loader)
        });
        Arc::unwrap_or_clone(read)
    }

    fn read<T>(&self, path: &Path, project: &Project, loader: &Loader<'_, T>) -> LoadedFile<T> {
        let read = loader.load(path, self, project);
        if let Some(file) = loader.sources.find(path) {
            loader.sources.file(file).drop_derived_if_large();
        }
        read
    }
}

/// A file and what was read from it.
pub(crate) type Read<'f, T> = (&'f Path, &'f Document, LoadedFile<T>);

/// Loads every file. `visit` receives each evaluated template with its unit and the result for the earlier documents of
/// that unit; the units are returned with their results.
pub fn load_all<T: Clone + Send + Sync + 'static>(
    files: &BTreeMap<PathBuf, Document>,
    settings: &Settings,
    sources: &Sources,
    visit: &Visit<'_, T>,
) -> Vec<(Unit, Option<T>)> {
    let loader = Loader {
        settings,
        sources,
        visit,
    };
    let mut project = Project::default();
    let alone = files.par_iter().map(|(path, document)| {
        let read = document.read_alone(path, &loader);
        (path.as_path(), document, read)
    });
    let mut reads: Vec<Read<'_, T>> = keep_uncalled(alone.collect());
    project.incomplete = incomplete(&reads, sources);
    project.fragments = fragments(&reads, &project.incomplete, sources);
    let mut renewed: BTreeSet<usize> = BTreeSet::new();
    for round in 0..limits::MAX_IMPORT_ROUNDS {
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
        let next: Vec<(usize, LoadedFile<T>)> = renewed
            .par_iter()
            .filter_map(|&at| {
                let (path, document, _) = reads.get(at)?;
                Some((at, document.read(path, &project, &loader)))
            })
            .collect();
        for (at, read) in next {
            if let Some(slot) = reads.get_mut(at) {
                slot.2 = read;
            }
        }
    }
    let mut all: Vec<(Unit, Option<T>)> = reads.into_iter().flat_map(|(path, _, read)| tied(path, read)).collect();
    say_once(&mut all);
    all
}

/// Returns the units of `path`, with their relations to other templates.
fn tied<T>(path: &Path, read: LoadedFile<T>) -> Vec<(Unit, Option<T>)> {
    let mut units = read.units;
    if let Some((first, _)) = units.first_mut() {
        first.ties = Ties {
            exports: read.exports.into_iter().map(|export| export.name).collect(),
            imports: read.imports.into_iter().collect(),
            below: path
                .parent()
                .filter(|_| read.is_frame || !read.undeclared.is_empty())
                .map(Path::to_owned),
        };
    }
    units
}

/// Drops the templates that others call, because they are checked in their calls. In a cycle of calls, the first
/// template is kept.
fn keep_uncalled<T>(reads: Vec<Read<'_, T>>) -> Vec<Read<'_, T>> {
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
fn fragments<T>(
    reads: &[Read<'_, T>],
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
        if !(2..=limits::MAX_FRAGMENTS).contains(&paths.len()) {
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
            scope: UnitKey::new(format!("{}/*", sources.name_of(directory))),
            members: members.collect(),
        });
        groups.extend(paths.into_iter().map(|path| (path.to_owned(), group.clone())));
    }
    groups
}

/// Removes repeated problems of files that were read several times.
fn say_once<T>(all: &mut [(Unit, Option<T>)]) {
    let mut stated: BTreeSet<(bool, Span, String)> = BTreeSet::new();
    for (unit, _) in all {
        unit.problems.retain(|problem| {
            let is_limit = problem.kind == ProblemKind::Limit;
            stated.insert((is_limit, problem.span, problem.message.clone()))
        });
    }
}
