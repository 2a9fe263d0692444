//! Clusters of units that must be checked together ([`Groups`]). An edit in one cluster does not affect others, so only
//! that cluster is checked again.

use super::diagnostics::ByFile;
use crate::discover::Input;
use crate::graph::Connections;
use crate::pipeline::{Groups, Outside, Part, SharedNode, most_environments};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use source::Cache;
use source::files::{Paths, Stamp, stamp};
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Stamps of files, each taken once: many clusters depend on the same directories.
#[derive(Debug, Default)]
pub(super) struct Stamps(Mutex<FxHashMap<Arc<Path>, Stamp>>);

impl Stamps {
    fn of(&self, path: &Arc<Path>) -> Stamp {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(path.clone()).or_insert_with(|| stamp(path))
    }
}

/// Units that are checked together.
#[derive(Debug)]
pub(super) struct Cluster {
    /// Units, sorted.
    pub(super) inputs: Vec<Input>,
    /// Paths that the last check depended on, including missing ones, with their stamps at that time.
    pub(super) dependencies: FxHashMap<Arc<Path>, Stamp>,
    /// Cache from its last check, if the user is editing it.
    pub(super) cache: Option<Arc<Cache>>,
    /// Time of the last change of one of its files, on the project's logical clock.
    pub(super) touched: u64,
    /// Paths that changed since the last check, whose stamps are out of date.
    outdated_stamps: BTreeSet<PathBuf>,
    pub(super) reach: Connections,
    /// Its nodes that concern all clusters.
    pub(super) shared: Vec<SharedNode>,
    /// Meaning of the nodes of all clusters, as of its last check.
    pub(super) meaning: Meaning,
    pub(super) found: ByFile,
    /// Errors that prevented the check.
    pub(super) errors: Vec<String>,
    /// `true` once its relations to other clusters are known.
    pub(super) is_surveyed: bool,
    /// `true` if it must be checked again.
    pub(super) is_stale: bool,
    /// `true` if its relations to other clusters may have changed.
    pub(super) is_reshaped: bool,
    /// Files whose published findings are out of date.
    pub(super) changed: BTreeSet<PathBuf>,
}

impl Cluster {
    pub(super) fn new(mut inputs: Vec<Input>) -> Self {
        inputs.sort();
        Cluster {
            inputs,
            dependencies: FxHashMap::default(),
            cache: None,
            touched: 0,
            outdated_stamps: BTreeSet::new(),
            reach: Connections::default(),
            shared: Vec::new(),
            meaning: Meaning::default(),
            found: ByFile::new(),
            errors: Vec::new(),
            is_surveyed: false,
            is_stale: true,
            is_reshaped: true,
            changed: BTreeSet::new(),
        }
    }

    /// Stores the result of a check, and records the files whose findings changed.
    pub(super) fn take(
        &mut self,
        found: ByFile,
        reach: Connections,
        shared: Vec<SharedNode>,
        dependencies: Paths,
        stamps: &Stamps,
    ) {
        let both = self.found.keys().chain(found.keys());
        let changed = both.filter(|path| self.found.get(*path) != found.get(*path));
        self.changed.extend(changed.cloned());
        self.found = found;
        self.take_reach(reach, shared, dependencies, stamps);
        self.is_stale = false;
    }

    /// Stores the properties that relate the cluster to others.
    pub(super) fn take_reach(
        &mut self,
        reach: Connections,
        shared: Vec<SharedNode>,
        dependencies: Paths,
        stamps: &Stamps,
    ) {
        let is_same = dependencies.len() == self.dependencies.len()
            && dependencies.iter().all(|path| self.dependencies.contains_key(path));
        self.is_reshaped |= !is_same || reach != self.reach;
        self.is_surveyed = true;
        self.reach = reach;
        self.shared = shared;
        let before = std::mem::take(&mut self.dependencies);
        // Files without a reported change are assumed to be unchanged. If they have changed, their old stamps reveal
        // it.
        let known = |path: &Path| {
            before
                .get(path)
                .filter(|_| !self.outdated_stamps.contains(path))
                .copied()
        };
        let stamped = dependencies.into_iter().map(|path| {
            let stamp = known(&path).unwrap_or_else(|| stamps.of(&path));
            (path, stamp)
        });
        self.dependencies = stamped.collect();
        self.outdated_stamps.clear();
    }

    /// Records a change of the file at `path`, and returns `true` if it affects the cluster. With
    /// `was_created_or_deleted`, the file or directory was created or deleted, including everything below it.
    pub(super) fn note(&mut self, path: &Path, was_created_or_deleted: bool) -> bool {
        let is_listed = || {
            path.parent()
                .is_some_and(|parent| self.dependencies.contains_key(parent))
        };
        let is_above = || self.dependencies.keys().any(|dependency| dependency.starts_with(path));
        if !(self.dependencies.contains_key(path) || (was_created_or_deleted && (is_listed() || is_above()))) {
            return false;
        }
        self.is_stale = true;
        if was_created_or_deleted {
            let below = self
                .dependencies
                .keys()
                .filter(|dependency| dependency.starts_with(path));
            self.outdated_stamps
                .extend(below.map(|dependency| dependency.to_path_buf()));
            self.outdated_stamps.extend(path.parent().map(Path::to_owned));
        }
        self.outdated_stamps.insert(path.to_owned());
        if let Some(cache) = &self.cache {
            cache.invalidate(path, was_created_or_deleted);
        }
        true
    }

    /// Returns the new directory that contains the new file at `path`, if the directory above it was listed: an editor
    /// may report only the file.
    pub(super) fn new_directory<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let is_new = |directory: &&Path| {
            let parent = directory.parent();
            let listed = parent.and_then(|parent| self.dependencies.get_key_value(parent));
            listed.is_some_and(|(parent, known)| stamp(parent) != *known)
        };
        path.ancestors().skip(1).filter(is_new).last()
    }

    /// Records files that have changed on disk since the last check.
    pub(super) fn detect_changes(&mut self) {
        let outdated = self.dependencies.iter().filter(|(path, known)| stamp(path) != **known);
        let outdated: Vec<Arc<Path>> = outdated.map(|(path, _)| path.clone()).collect();
        for path in outdated {
            self.note(&path, true);
        }
    }
}

/// Hashes of the meaning of the nodes that concern all clusters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    /// Sum over the nodes that concern clusters with roles.
    roles: u64,
    /// Sum over the nodes that concern clusters with alarms.
    alarms: u64,
}

/// The nodes that concern all clusters.
pub(super) struct CommonNodes {
    /// A node for each meaning, with the index of its cluster.
    nodes: Vec<(usize, SharedNode)>,
    pub(super) meaning: Meaning,
}

impl CommonNodes {
    pub(super) fn of(clusters: &[Cluster]) -> Self {
        let (mut nodes, mut meaning) = (Vec::new(), Meaning::default());
        let mut known = FxHashSet::default();
        for (at, cluster) in clusters.iter().enumerate() {
            for one in cluster.shared.iter().filter(|one| known.insert(one.meaning())) {
                let sum = if one.node.concerns_roles() {
                    &mut meaning.roles
                } else {
                    &mut meaning.alarms
                };
                // The hash of a value that consists of zeros is zero, which would not change the sum.
                *sum = sum.wrapping_add(FxBuildHasher.hash_one((1_u8, one.meaning())));
                nodes.push((at, one.clone()));
            }
        }
        CommonNodes { nodes, meaning }
    }

    /// Returns the nodes for a check of the cluster at the index `at`, which has its own.
    pub(super) fn outside(&self, at: usize) -> Outside {
        let others = self.nodes.iter().filter(|(owner, _)| *owner != at);
        others.map(|(_, one)| one.clone()).collect()
    }
}

impl Cluster {
    /// Marks the cluster as stale if the nodes that concern it have changed since its last check.
    pub(super) fn compare_meaning(&mut self, now: Meaning) {
        let Meaning { roles, alarms } = self.meaning;
        self.is_stale |= self.reach.roles && now.roles != roles || self.reach.alarms && now.alarms != alarms;
    }
}

/// Merges the clusters that must be checked together. A merged cluster must be checked again.
pub(super) fn join(clusters: Vec<Cluster>) -> Vec<Cluster> {
    let parts = clusters.iter().map(|cluster| Part {
        inputs: &cluster.inputs,
        reach: &cluster.reach,
        dependencies: cluster.dependencies.keys().map(|path| &**path).collect(),
    });
    let parts: Vec<Part<'_>> = parts.collect();
    let mut groups = Groups::of(&parts);
    let environments = clusters.iter().flat_map(|cluster| &cluster.reach.environments);
    let environments: BTreeSet<&String> = environments.collect();
    // If a run leaves out environments, which ones depends on all units.
    let most = most_environments(clusters.iter().map(|cluster| cluster.reach.size).sum());
    groups.join_all(&parts, |_| environments.len() > most);
    let mut joined = merged(groups, clusters);
    for cluster in &mut joined {
        cluster.is_reshaped = false;
    }
    joined
}

fn merged(mut groups: Groups, clusters: Vec<Cluster>) -> Vec<Cluster> {
    let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
    for at in 0..clusters.len() {
        *sizes.entry(groups.least(at)).or_default() += 1;
    }
    let mut merged: Vec<Cluster> = Vec::with_capacity(sizes.len());
    let mut places: FxHashMap<usize, usize> = FxHashMap::default();
    for (at, cluster) in clusters.into_iter().enumerate() {
        let least = groups.least(at);
        if sizes.get(&least) == Some(&1) {
            merged.push(cluster);
            continue;
        }
        let place = *places.entry(least).or_insert_with(|| {
            merged.push(Cluster {
                is_surveyed: true,
                ..Cluster::new(Vec::new())
            });
            merged.len() - 1
        });
        if let Some(group) = merged.get_mut(place) {
            group.inputs.extend(cluster.inputs);
            group.inputs.sort();
            // Until the merged cluster is checked, it combines the inputs and relations of its parts.
            group.dependencies.extend(cluster.dependencies);
            group.reach.add(cluster.reach);
            group.shared.extend(cluster.shared);
            for (path, found) in cluster.found {
                group.found.entry(path).or_default().extend(found);
            }
            group.changed.extend(cluster.changed);
            group.outdated_stamps.extend(cluster.outdated_stamps);
            if cluster.touched > group.touched {
                group.touched = cluster.touched;
                group.cache = cluster.cache;
            }
        }
    }
    merged
}
