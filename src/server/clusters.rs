//! Which units have to be judged together: those of which one reads the other's files, or that share a name, or what may
//! concern every unit of a project ([`Reach`]). What is typed in one cluster changes nothing in another, so only that one
//! is judged again.
//!
//! ```text
//! svc/orders   calls modules/queue ┐
//! svc/billing  calls modules/queue ┴─ one cluster with modules/queue
//! stacks/mail  queue "mail"        ┐
//! stacks/alarm alarm on "mail"     ┴─ one cluster
//! stacks/web                          one by itself
//! ```

use super::diagnostics::ByFile;
use crate::discover::Input;
use crate::files::{Stamp, stamp};
use crate::graph::Reach;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Units that are judged together.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Sorted.
    pub(super) inputs: Vec<Input>,
    /// Paths that it was asked about, there or not, as they were.
    pub(super) asked: FxHashMap<PathBuf, Stamp>,
    pub(super) reach: Reach,
    pub(super) found: ByFile,
    /// What kept sqslint from judging it.
    pub(super) errors: Vec<String>,
    /// Whether it has to be judged again.
    pub(super) is_stale: bool,
    /// Whether it may have to be judged together with others now.
    pub(super) is_reshaped: bool,
    /// Files whose findings are others than those that were told.
    pub(super) changed: BTreeSet<PathBuf>,
}

impl Cluster {
    pub(super) fn new(mut inputs: Vec<Input>) -> Self {
        inputs.sort();
        Cluster {
            inputs,
            asked: FxHashMap::default(),
            reach: Reach::default(),
            found: ByFile::new(),
            errors: Vec::new(),
            is_stale: true,
            is_reshaped: true,
            changed: BTreeSet::new(),
        }
    }

    /// Takes what was found, and notes what of it is new.
    pub(super) fn take(&mut self, found: ByFile, reach: Reach, asked: FxHashMap<PathBuf, Stamp>) {
        let both = self.found.keys().chain(found.keys());
        let changed = both.filter(|path| self.found.get(*path) != found.get(*path));
        self.changed.extend(changed.cloned());
        let is_same = asked.len() == self.asked.len() && asked.keys().all(|path| self.asked.contains_key(path));
        self.is_reshaped |= !is_same || reach != self.reach;
        self.found = found;
        self.reach = reach;
        self.asked = asked;
        self.is_stale = false;
    }

    /// Whether the file at `path` is read for it, or would be if it came; `exists_anew` says that it came or went.
    pub(super) fn concerns(&self, path: &Path, exists_anew: bool) -> bool {
        let is_listed = || path.parent().is_some_and(|parent| self.asked.contains_key(parent));
        self.asked.contains_key(path) || (exists_anew && is_listed())
    }

    /// Whether something that it was asked about is another on disk now.
    pub(super) fn is_outdated(&self) -> bool {
        self.asked.iter().any(|(path, known)| stamp(path) != *known)
    }
}

/// Environments that files name are judged up to this number in a project, so that where there are more, no part of it
/// can be judged by itself.
const MOST_ENVIRONMENTS: usize = 12;

/// Puts together what has to be judged together. Of clusters that are joined one is left, and has to be judged again.
pub(super) fn join(clusters: Vec<Cluster>) -> Vec<Cluster> {
    let mut groups = Groups::new(clusters.len());
    by_names(&clusters, &mut groups);
    by_files(&clusters, &mut groups);
    by_patterns(&clusters, &mut groups);
    let hears = clusters.iter().any(|cluster| cluster.reach.hears);
    groups.join_all(&clusters, |reach| hears && (reach.hears || reach.alarms));
    let grants = clusters.iter().any(|cluster| cluster.reach.grants);
    groups.join_all(&clusters, |reach| grants && (reach.grants || reach.roles));
    let environments = clusters.iter().flat_map(|cluster| &cluster.reach.environments);
    let environments: BTreeSet<&String> = environments.collect();
    groups.join_all(&clusters, |_| environments.len() > MOST_ENVIRONMENTS);
    let mut joined = groups.merged(clusters);
    for cluster in &mut joined {
        cluster.is_reshaped = false;
    }
    joined
}

fn by_names(clusters: &[Cluster], groups: &mut Groups) {
    let mut owners: FxHashMap<u64, usize> = FxHashMap::default();
    for (at, cluster) in clusters.iter().enumerate() {
        #[allow(clippy::iter_over_hash_type)] // the groups are the same in every order
        for name in &cluster.reach.names {
            groups.join(*owners.entry(*name).or_insert(at), at);
        }
    }
}

/// Joins units with those of which they read a file, and templates with those that may be put together with them.
fn by_files(clusters: &[Cluster], groups: &mut Groups) {
    let mut owners: FxHashMap<&Path, usize> = FxHashMap::default();
    for (at, cluster) in clusters.iter().enumerate() {
        for input in &cluster.inputs {
            groups.join(*owners.entry(input.path()).or_insert(at), at);
        }
    }
    for (at, cluster) in clusters.iter().enumerate() {
        #[allow(clippy::iter_over_hash_type)] // the groups are the same in every order
        for asked in cluster.asked.keys() {
            if let Some(owner) = owners.get(asked.as_path()) {
                groups.join(*owner, at);
            }
        }
        for directory in &cluster.reach.below {
            for (other, cluster) in clusters.iter().enumerate() {
                let is_below = |input: &Input| matches!(input, Input::Template(path) if path.starts_with(directory));
                if cluster.inputs.iter().any(is_below) {
                    groups.join(at, other);
                }
            }
        }
    }
}

fn by_patterns(clusters: &[Cluster], groups: &mut Groups) {
    let patterned: Vec<usize> = (0..clusters.len())
        .filter(|at| clusters.get(*at).is_some_and(|cluster| cluster.reach.has_patterns()))
        .collect();
    for (behind, one) in patterned.iter().enumerate() {
        for other in patterned.iter().skip(behind + 1) {
            if let (Some(first), Some(second)) = (clusters.get(*one), clusters.get(*other))
                && first.reach.may_watch(&second.reach)
            {
                groups.join(*one, *other);
            }
        }
    }
}

/// Which clusters belong together: each has the least of its group, in steps.
struct Groups(Vec<usize>);

impl Groups {
    fn new(count: usize) -> Self {
        Groups((0..count).collect())
    }

    fn least(&mut self, mut at: usize) -> usize {
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

    fn join_all(&mut self, clusters: &[Cluster], belongs: impl Fn(&Reach) -> bool) {
        let mut all = (0..clusters.len()).filter(|at| clusters.get(*at).is_some_and(|one| belongs(&one.reach)));
        if let Some(first) = all.next() {
            all.for_each(|at| self.join(first, at));
        }
    }

    fn merged(mut self, clusters: Vec<Cluster>) -> Vec<Cluster> {
        let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
        for at in 0..clusters.len() {
            *sizes.entry(self.least(at)).or_default() += 1;
        }
        let mut merged: Vec<Cluster> = Vec::with_capacity(sizes.len());
        let mut places: FxHashMap<usize, usize> = FxHashMap::default();
        for (at, cluster) in clusters.into_iter().enumerate() {
            let least = self.least(at);
            if sizes.get(&least) == Some(&1) {
                merged.push(cluster);
                continue;
            }
            let place = *places.entry(least).or_insert_with(|| {
                merged.push(Cluster::new(Vec::new()));
                merged.len() - 1
            });
            if let Some(group) = merged.get_mut(place) {
                group.inputs.extend(cluster.inputs);
                group.inputs.sort();
                // Until it is judged, a change of what its parts asked about is one of it.
                group.asked.extend(cluster.asked);
                for (path, found) in cluster.found {
                    group.found.entry(path).or_default().extend(found);
                }
                group.changed.extend(cluster.changed);
            }
        }
        merged
    }
}
