//! Connections between a part of a project and the rest: the names that it declares or looks up. Two parts without a
//! common connection give the same findings together and apart, as long as neither reads a file of the other, and each
//! gets the nodes of the other that concern every unit (`common.rs`).
//!
//! ```text
//! queue "orders" here, ARN "…:orders" there        both contain the name
//! an alarm on an unresolved name "${…}-dlq"        may watch every queue with a matching name
//! ```

use super::watch::{MIN_SPECIFICITY, name_of};
use super::{Graph, Pattern, State, Target, UnitId};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::path::PathBuf;

/// Connections of a part of a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Connections {
    /// Hashes of the names that it declares. A collision only joins parts that could be checked apart.
    pub(crate) declared: FxHashSet<u64>,
    /// Hashes of the names that it refers to.
    pub(crate) sought: FxHashSet<u64>,
    /// `true` if there are alarms.
    pub(crate) alarms: bool,
    /// `true` if there are roles.
    pub(crate) roles: bool,
    /// Directories with templates that may be combined with one of this part.
    pub(crate) below: BTreeSet<PathBuf>,
    /// Environments named by files.
    pub(crate) environments: BTreeSet<String>,
    /// Approximate memory of its texts and nodes, rounded up so that an edit rarely changes it.
    pub(crate) size: usize,
    /// Patterns of unresolved names of queues.
    unresolved_names: Vec<Pattern>,
    /// Names that alarms watch.
    watched: Vec<Pattern>,
}

/// Returns the hash of a name in the namespace `kind`.
pub(super) fn hash_of(kind: &str, name: &str) -> u64 {
    FxBuildHasher.hash_one((kind, name))
}

impl Connections {
    /// Adds a name that the part declares in the namespace `kind`.
    pub(crate) fn declare(&mut self, kind: &str, name: &str) {
        self.declared.insert(hash_of(kind, name));
    }

    /// Adds a name in the namespace `kind` that the part refers to.
    pub(crate) fn seek(&mut self, kind: &str, name: &str) {
        self.sought.insert(hash_of(kind, name));
    }

    /// Returns `true` if this part is related to all others that `other` is related to.
    pub(crate) fn covers(&self, other: &Connections) -> bool {
        let known = |all: &[Pattern], names: &[Pattern]| names.iter().all(|name| all.contains(name));
        other.declared.is_subset(&self.declared)
            && other.sought.is_subset(&self.sought)
            && self.alarms >= other.alarms
            && self.roles >= other.roles
            && other.below.is_subset(&self.below)
            && known(&self.unresolved_names, &other.unresolved_names)
            && known(&self.watched, &other.watched)
    }

    /// Adds the connections of another part.
    pub(crate) fn add(&mut self, other: Connections) {
        self.declared.extend(other.declared);
        self.sought.extend(other.sought);
        self.alarms |= other.alarms;
        self.roles |= other.roles;
        self.below.extend(other.below);
        self.environments.extend(other.environments);
        self.size = self.size.saturating_add(other.size);
        self.unresolved_names.extend(other.unresolved_names);
        self.watched.extend(other.watched);
    }

    /// Collects the connections of the units of `graph` that `is_wanted` accepts by name. Its rules must have run, because
    /// they look up names.
    pub(crate) fn of(graph: &Graph, is_wanted: impl Fn(&str) -> bool) -> Connections {
        let mut all = Connections::default();
        for (unit, one) in graph.units().iter().zip(Connections::by_unit(graph)) {
            if is_wanted(&unit.name) {
                all.add(one);
            }
        }
        all
    }

    /// Collects the connections of each unit of `graph`. Its rules must have run, because they look up names.
    pub(crate) fn by_unit(graph: &Graph) -> Vec<Connections> {
        let mut units = Units(vec![Connections::default(); graph.units().len()]);
        for (one, unit) in units.0.iter_mut().zip(graph.units()) {
            one.declare("unit", unit.key.as_str());
        }
        graph.names_in_indexes(&mut |unit, name, is_declared| {
            let reach = units.of(unit);
            let names = if is_declared {
                &mut reach.declared
            } else {
                &mut reach.sought
            };
            names.insert(name);
        });
        for queue in graph.queues() {
            let reach = units.of(queue.resource.unit);
            for case in &queue.name.cases {
                let State::Unresolved(unresolved) = &case.state else {
                    continue;
                };
                let name = name_of(unresolved);
                if name.specificity() >= MIN_SPECIFICITY {
                    reach.declare("name", &name.to_string());
                    reach.unresolved_names.push(name);
                }
            }
        }
        units.add_alarms(graph);
        units.add_access(graph);
        for reach in &mut units.0 {
            reach.unresolved_names.sort_by_key(ToString::to_string);
            reach.unresolved_names.dedup();
            reach.watched.sort_by_key(ToString::to_string);
            reach.watched.dedup();
        }
        units.0
    }
}

/// Connections by unit.
struct Units(Vec<Connections>);

impl Units {
    fn of(&mut self, unit: UnitId) -> &mut Connections {
        &mut self.0[unit.0 as usize]
    }

    fn add_alarms(&mut self, graph: &Graph) {
        let alarms = graph.alarms().iter().chain(graph.nonexistent_alarms());
        for alarm in alarms {
            let reach = self.of(alarm.resource.unit);
            reach.alarms = true;
            for case in alarm.metrics.iter().flat_map(|metric| &metric.queue.cases) {
                match &case.state {
                    State::Set(link) | State::Default(link) => {
                        if let Target::External(written) = &link.target {
                            reach.watched.push(Pattern::from(&**written));
                        }
                    }
                    State::Unresolved(unresolved) => {
                        if let Some(name) = unresolved.pattern() {
                            reach.seek("name", &name.to_string());
                        }
                    }
                }
            }
        }
    }

    fn add_access(&mut self, graph: &Graph) {
        let access = graph.access();
        for role in &access.roles {
            let reach = self.of(role.resource.unit);
            reach.roles = true;
            for name in role.name.cases.iter().filter_map(|case| case.value()?.as_deref()) {
                reach.declare("role", name);
            }
        }
        for granted in &access.role_policies {
            for link in granted.role.cases.iter().filter_map(|case| case.value()) {
                if let Target::External(written) = &link.target {
                    let name = written.rsplit('/').next().unwrap_or(written);
                    self.of(granted.resource.unit).seek("role", name);
                }
            }
        }
    }
}

/// Calls `join` for pairs of parts to lint together, because an alarm in one may watch a queue with an unresolved name
/// in the other. Parts that belong together are connected by these pairs, but not every such pair is passed.
pub(crate) fn join_watching_parts<'r>(
    parts: impl Iterator<Item = &'r Connections> + Clone,
    join: &mut impl FnMut(usize, usize),
) {
    let mut watched = Watched::default();
    for (at, part) in parts.clone().enumerate() {
        for name in &part.watched {
            watched.add(name, at);
        }
    }
    watched.sort();
    for (at, part) in parts.enumerate() {
        for name in &part.unresolved_names {
            watched.join(name, at, join);
        }
    }
}

/// Names that alarms watch, each with the indexes of the parts that contain it.
#[derive(Default)]
struct Watched {
    all: Vec<(Pattern, Vec<usize>)>,
    by_text: FxHashMap<String, usize>,
    /// Known names, sorted, and the same reversed.
    known: Vec<(String, usize)>,
    reversed: Vec<(String, usize)>,
    /// Unresolved names.
    open: Vec<usize>,
}

impl Watched {
    fn add(&mut self, name: &Pattern, at: usize) {
        let next = self.all.len();
        let place = *self.by_text.entry(name.to_string()).or_insert(next);
        match self.all.get_mut(place) {
            Some((_, parts)) => parts.push(at),
            None => self.all.push((name.clone(), vec![at])),
        }
    }

    fn sort(&mut self) {
        for (place, (name, _)) in self.all.iter().enumerate() {
            if name.is_known() {
                let text = name.to_string();
                self.reversed.push((reversed(&text), place));
                self.known.push((text, place));
            } else {
                self.open.push(place);
            }
        }
        self.known.sort();
        self.reversed.sort();
    }

    /// Joins the part `at`, which has a queue with this name, with all parts that may watch it.
    fn join(&mut self, name: &Pattern, at: usize, join: &mut impl FnMut(usize, usize)) {
        let (head, tail) = (name.head(), reversed(name.tail()));
        // The longer end selects fewer candidates.
        let (sorted, start) = if head.len() >= tail.len() {
            (&self.known, head)
        } else {
            (&self.reversed, tail.as_str())
        };
        let from = sorted.partition_point(|(text, _)| text.as_str() < start);
        let likely = sorted.iter().skip(from).take_while(|(text, _)| text.starts_with(start));
        let places = likely.map(|(_, place)| *place).chain(self.open.iter().copied());
        for place in places {
            let Some((watched, parts)) = self.all.get_mut(place) else {
                continue;
            };
            if name.may_match(watched) {
                for part in parts.iter() {
                    join(*part, at);
                }
                // These parts are connected now, so one of them suffices from here on.
                parts.truncate(1);
            }
        }
    }
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a pattern in which `…` is an unknown piece.
    fn pattern(text: &str) -> Pattern {
        let mut pieces: Vec<Option<std::sync::Arc<str>>> = Vec::new();
        for (at, piece) in text.split('…').enumerate() {
            if at > 0 {
                pieces.push(None);
            }
            pieces.push(Some(piece.into()));
        }
        pieces.into_iter().collect()
    }

    #[test]
    fn joined_parts_are_those_with_names_that_may_match() {
        let names = ["a-dlq", "b-dlq", "…-dlq", "a-…", "a-…-dlq", "…", "x", "b-…q", "ü-…"];
        let parts: Vec<Connections> = names
            .iter()
            .flat_map(|name| {
                let (name, other) = (pattern(name), Connections::default());
                let watches = Connections {
                    watched: vec![name.clone()],
                    ..Connections::default()
                };
                let open = Connections {
                    unresolved_names: if name.is_known() { Vec::new() } else { vec![name] },
                    ..other
                };
                [watches, open]
            })
            .collect();
        for one in &parts {
            for other in &parts {
                let mut joined = false;
                join_watching_parts([one, other].into_iter(), &mut |a, b| joined |= a != b);
                let meets = |one: &Connections, other: &Connections| {
                    one.unresolved_names
                        .iter()
                        .any(|open| other.watched.iter().any(|name| open.may_match(name)))
                };
                assert_eq!(joined, meets(one, other) || meets(other, one), "{one:?} {other:?}");
            }
        }
    }
}
