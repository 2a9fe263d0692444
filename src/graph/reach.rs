//! Connections between a part of a project and the rest: the names that it declares or looks up, and properties that
//! concern every unit. Two parts without a common connection give the same findings together and apart, as long as
//! neither reads a file of the other.
//!
//! ```text
//! queue "orders" here, ARN "…:orders" there        both contain the name
//! an alarm on an unresolved name "${…}-dlq"        may watch every queue with a matching name
//! a rule on events of all alarms                   concerns every alarm
//! a policy of an unresolved role                   may grant to every role
//! ```

use super::watch::{MIN_SPECIFICITY, name_of};
use super::{Graph, Pattern, State, Target};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

/// Connections of a part of a project.
// Independent facts, not the states of a state machine.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Connections {
    /// Hashes of names. A collision only joins parts that could be checked apart.
    pub(crate) names: FxHashSet<u64>,
    /// `true` if there are subscribers to alarms other than alarm actions.
    pub(crate) has_alarm_subscribers: bool,
    /// `true` if there are alarms.
    pub(crate) alarms: bool,
    /// `true` if there are grants to unresolved roles.
    pub(crate) has_unresolved_grants: bool,
    /// `true` if there are roles.
    pub(crate) roles: bool,
    /// Directories with templates that may be combined with one of this part.
    pub(crate) below: BTreeSet<PathBuf>,
    /// Environments named by files.
    pub(crate) environments: BTreeSet<String>,
    /// Patterns of unresolved names of queues.
    unresolved_names: Vec<Pattern>,
    /// Names that alarms watch.
    watched: Vec<Pattern>,
}

impl Connections {
    /// Adds a name in the namespace `kind`.
    pub(crate) fn name(&mut self, kind: &str, name: &str) {
        let mut hasher = FxHasher::default();
        (kind, name).hash(&mut hasher);
        self.names.insert(hasher.finish());
    }

    /// Adds the connections of another part.
    pub(crate) fn add(&mut self, other: Connections) {
        self.names.extend(other.names);
        self.has_alarm_subscribers |= other.has_alarm_subscribers;
        self.alarms |= other.alarms;
        self.has_unresolved_grants |= other.has_unresolved_grants;
        self.roles |= other.roles;
        self.below.extend(other.below);
        self.environments.extend(other.environments);
        self.unresolved_names.extend(other.unresolved_names);
        self.watched.extend(other.watched);
    }

    /// Collects the connections of `graph`. Its rules must have run, because they look up names.
    pub(crate) fn of(graph: &Graph) -> Connections {
        let mut reach = Connections::default();
        graph.names_in_indexes(&mut |name| reach.name("name", name));
        for queue in graph.queues() {
            for case in &queue.name.cases {
                let State::Unresolved(unresolved) = &case.state else {
                    continue;
                };
                let name = name_of(unresolved);
                if name.specificity() >= MIN_SPECIFICITY {
                    reach.name("name", &name.to_string());
                    reach.unresolved_names.push(name);
                }
            }
        }
        reach.of_alarms(graph);
        reach.of_access(graph);
        reach.unresolved_names.sort_by_key(ToString::to_string);
        reach.unresolved_names.dedup();
        reach.watched.sort_by_key(ToString::to_string);
        reach.watched.dedup();
        reach
    }

    fn of_alarms(&mut self, graph: &Graph) {
        self.has_alarm_subscribers = !graph.alarm_subscribers().is_empty();
        let alarms = graph.alarms().iter().chain(graph.nonexistent_alarms());
        for alarm in alarms {
            self.alarms = true;
            for case in alarm.metrics.iter().flat_map(|metric| &metric.queue.cases) {
                match &case.state {
                    State::Set(link) | State::Default(link) => {
                        if let Target::External(written) = &link.target {
                            self.watched.push(Pattern::from(&**written));
                        }
                    }
                    State::Unresolved(unresolved) => {
                        if let Some(name) = unresolved.pattern() {
                            self.name("name", &name.to_string());
                        }
                    }
                }
            }
        }
    }

    fn of_access(&mut self, graph: &Graph) {
        let access = graph.access();
        self.roles = !access.roles.is_empty();
        for role in &access.roles {
            for name in role.name.cases.iter().filter_map(|case| case.value()?.as_deref()) {
                self.name("role", name);
            }
        }
        for granted in &access.role_policies {
            for link in granted.role.cases.iter().filter_map(|case| case.value()) {
                if let Target::External(written) = &link.target {
                    self.name("role", written.rsplit('/').next().unwrap_or(written));
                }
            }
        }
        self.has_unresolved_grants = graph.policies().has_unresolved_grants();
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
