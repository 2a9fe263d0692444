//! Groups the units that must be checked together, because one reads files of another, because they share a name, or
//! because a unit may affect all others in the project ([`Connections`]).
//!
//! ```text
//! svc/orders   calls modules/queue ┐
//! svc/billing  calls modules/queue ┴─ one group with modules/queue
//! stacks/mail  queue "mail"        ┐
//! stacks/alarm alarm on "mail"     ┴─ one group
//! stacks/web                          a group by itself
//! ```

use super::load::{self, FoundEnvironments};
use super::select::{self, Group};
use super::{Options, Run, RunContext, lint};
use crate::discover::Input;
use crate::graph::{Connections, join_watching_parts};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Cache;
use source::files::{PathRecorder, Paths};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of paths per unit and environment on which the checks of units by themselves depend, on average.
const MOST_DEPENDENCIES: usize = 32;

/// Some units of a project.
pub(crate) struct Part<'p> {
    pub(crate) inputs: &'p [Input],
    pub(crate) reach: &'p Connections,
    /// Paths that its check depends on.
    pub(crate) dependencies: Vec<&'p Path>,
}

/// Groups of the units of a run, by path, if an environment concerns few of them.
pub(super) struct UnitGroups(FxHashMap<PathBuf, usize>);

impl UnitGroups {
    /// Checks each unit of a run by itself to find those that must be checked together. Returns `None` if that would
    /// take about as long as to check all units in each of `environments`.
    pub(super) fn of<'e>(
        run: &Run<'_>,
        groups: &[Group],
        environments: impl Iterator<Item = &'e FoundEnvironments>,
    ) -> Option<Self> {
        let options = run.options;
        let inputs: Vec<&Input> = groups.iter().flat_map(|group| &group.inputs).collect();
        let (all, own) = environments.fold((1, 0), |(all, own), one| (all + 1, own + one.len()));
        let is_part = options.notes_reach || options.trace || options.stdin.is_some() || !options.overlays.is_empty();
        if is_part || 2 * (inputs.len() + own) >= all * inputs.len() {
            return None;
        }
        let options = Options {
            notes_reach: true,
            ..options.clone()
        };
        let cache = Arc::new(Cache::across_parts());
        let read = AtomicUsize::new(0);
        let surveyed = inputs.par_iter().map(|input| {
            // Units that search the same files would each do so again.
            let is_cheap = read.load(Ordering::Relaxed) <= MOST_DEPENDENCIES * (inputs.len() + own);
            let found = is_cheap.then(|| survey(run, &options, input, &cache))?;
            read.fetch_add(found.1.len(), Ordering::Relaxed);
            Some(found)
        });
        let surveyed: Vec<(Connections, Paths)> = surveyed.collect::<Option<_>>()?;
        let parts = inputs.iter().zip(&surveyed).map(|(input, (reach, dependencies))| Part {
            inputs: std::slice::from_ref(*input),
            reach,
            dependencies: dependencies.iter().map(|path| &**path).collect(),
        });
        let mut groups = Groups::of(&parts.collect::<Vec<_>>());
        let groups = inputs
            .iter()
            .enumerate()
            .map(|(at, input)| (input.path().to_owned(), groups.least(at)));
        Some(UnitGroups(groups.collect()))
    }

    /// Returns the units that must be checked together with those that have inputs of their own in `own`; all units if
    /// the run does not contain one of those.
    pub(super) fn with(&self, own: &FoundEnvironments, groups: &[Group]) -> Vec<Group> {
        let wanted: Option<FxHashSet<usize>> = own.iter().map(|one| self.0.get(&one.path).copied()).collect();
        let is_wanted = |input: &&Input| {
            let at = self.0.get(input.path());
            wanted
                .as_ref()
                .is_none_or(|wanted| at.is_none_or(|at| wanted.contains(at)))
        };
        let groups = groups.iter().map(|group| Group {
            config: group.config.clone(),
            inputs: group.inputs.iter().filter(is_wanted).cloned().collect(),
        });
        groups.collect()
    }
}

/// Checks a unit by itself, and returns its connections and the paths that its check depends on.
fn survey(run: &Run<'_>, options: &Options, input: &Input, cache: &Arc<Cache>) -> (Connections, Paths) {
    let dependencies = Arc::<PathRecorder>::default();
    let context = RunContext {
        files: run.context.files.clone().recording(dependencies.clone()),
        ..run.context.clone()
    };
    let part = Run {
        options,
        configs: run.configs,
        context: &context,
        touched: Vec::new(),
        cache: Some(cache.clone()),
        is_cancelled: run.is_cancelled.clone(),
    };
    // Errors are reported by the check of all units.
    let Ok(selected) = select::only(&part, vec![input.clone()]) else {
        return (Connections::default(), Paths::default());
    };
    let linted = lint::lint(&part, load::load(&part, selected));
    let mut reach = linted.gathered.reach;
    for one in &linted.environments {
        reach.add(Connections::of(&one.graph));
    }
    (reach, dependencies.take())
}

fn by_names(parts: &[Part<'_>], groups: &mut Groups) {
    let mut owners: FxHashMap<u64, usize> = FxHashMap::default();
    for (at, part) in parts.iter().enumerate() {
        #[allow(clippy::iter_over_hash_type)] // the groups are the same in every order
        for name in &part.reach.names {
            groups.join(*owners.entry(*name).or_insert(at), at);
        }
    }
}

/// Joins units with those whose files they read, and templates with those that may be deployed together with them.
fn by_files(parts: &[Part<'_>], groups: &mut Groups) {
    let mut owners: FxHashMap<&Path, usize> = FxHashMap::default();
    for (at, part) in parts.iter().enumerate() {
        for input in part.inputs {
            groups.join(*owners.entry(input.path()).or_insert(at), at);
        }
    }
    for (at, part) in parts.iter().enumerate() {
        for dependency in &part.dependencies {
            if let Some(owner) = owners.get(dependency) {
                groups.join(*owner, at);
            }
        }
        for directory in &part.reach.below {
            for (other, part) in parts.iter().enumerate() {
                let is_below = |input: &Input| matches!(input, Input::Template(path) if path.starts_with(directory));
                if part.inputs.iter().any(is_below) {
                    groups.join(at, other);
                }
            }
        }
    }
}

/// Disjoint sets of parts: each element refers to a smaller one of its set, and finally to the smallest.
pub(crate) struct Groups(Vec<usize>);

impl Groups {
    /// Groups the parts that must be checked together.
    pub(crate) fn of(parts: &[Part<'_>]) -> Self {
        let mut groups = Groups((0..parts.len()).collect());
        by_names(parts, &mut groups);
        by_files(parts, &mut groups);
        let reaches = parts.iter().map(|part| part.reach);
        join_watching_parts(reaches, &mut |one, other| groups.join(one, other));
        let hears = parts.iter().any(|part| part.reach.has_alarm_subscribers);
        groups.join_all(parts, |reach| hears && (reach.has_alarm_subscribers || reach.alarms));
        let grants = parts.iter().any(|part| part.reach.has_unresolved_grants);
        groups.join_all(parts, |reach| grants && (reach.has_unresolved_grants || reach.roles));
        groups
    }

    /// Returns the first part of the group of `at`.
    pub(crate) fn least(&mut self, mut at: usize) -> usize {
        while let Some(&above) = self.0.get(at)
            && above != at
        {
            let next = self.0.get(above).copied().unwrap_or(above);
            if let Some(slot) = self.0.get_mut(at) {
                *slot = next;
            }
            at = above;
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.least(one), self.least(other));
        if let Some(slot) = self.0.get_mut(one.max(other)) {
            *slot = one.min(other);
        }
    }

    /// Joins all parts whose connections `belongs` accepts.
    pub(crate) fn join_all(&mut self, parts: &[Part<'_>], belongs: impl Fn(&Connections) -> bool) {
        let mut all = (0..parts.len()).filter(|at| parts.get(*at).is_some_and(|one| belongs(one.reach)));
        if let Some(first) = all.next() {
            all.for_each(|at| self.join(first, at));
        }
    }
}
