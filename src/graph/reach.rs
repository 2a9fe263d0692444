//! What a part of a project may have to do with the rest of it: names that it declares or looks for, and what concerns
//! every unit of a project wherever it stands. Two parts that share none of this are judged alike together and apart,
//! as long as neither reads a file of the other.
//!
//! ```text
//! queue "orders" here, ARN "…:orders" there        a name that both have
//! an alarm on an unresolved name "${…}-dlq"        may be about each queue with a name like it
//! a rule that hears of all alarms                  concerns each alarm
//! a policy on a role that is not known             may be granted to each role
//! ```

use super::watch::{LEAST_LETTERS, name_of};
use super::{Graph, Pattern, State, Target};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

/// What a part of a project may have to do with others.
// Facts that hold or not, each by itself, are no state machine.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reach {
    /// Hashes of names: two that are alike by chance only join what need not be joined.
    pub(crate) names: FxHashSet<u64>,
    /// Whether something hears of alarms besides their actions.
    pub(crate) hears: bool,
    /// Whether there are alarms.
    pub(crate) alarms: bool,
    /// Whether something is granted to a role that is not known.
    pub(crate) grants: bool,
    /// Whether there are roles.
    pub(crate) roles: bool,
    /// Directories of which every template may be put together with one of this part.
    pub(crate) below: BTreeSet<PathBuf>,
    /// Environments that files name.
    pub(crate) environments: BTreeSet<String>,
    /// Names of queues that are not known whole.
    open_names: Vec<Pattern>,
    /// Names that alarms look at.
    watched: Vec<Pattern>,
}

impl Reach {
    /// Adds a name of a kind of its own.
    pub(crate) fn name(&mut self, kind: &str, name: &str) {
        let mut hasher = FxHasher::default();
        (kind, name).hash(&mut hasher);
        self.names.insert(hasher.finish());
    }

    /// The reach of both.
    pub(crate) fn add(&mut self, other: Reach) {
        self.names.extend(other.names);
        self.hears |= other.hears;
        self.alarms |= other.alarms;
        self.grants |= other.grants;
        self.roles |= other.roles;
        self.below.extend(other.below);
        self.environments.extend(other.environments);
        self.open_names.extend(other.open_names);
        self.watched.extend(other.watched);
    }

    /// As far as `graph` tells, whose rules have run.
    pub(crate) fn of(graph: &Graph) -> Reach {
        let mut reach = Reach::default();
        graph.names_in_indexes(&mut |name| reach.name("name", name));
        for queue in graph.queues() {
            for case in &queue.name.cases {
                let State::Unresolved(unresolved) = &case.state else {
                    continue;
                };
                let name = name_of(unresolved);
                if name.letters() >= LEAST_LETTERS {
                    reach.name("name", &name.to_string());
                    reach.open_names.push(name);
                }
            }
        }
        reach.of_alarms(graph);
        reach.of_access(graph);
        reach.open_names.sort_by_key(ToString::to_string);
        reach.open_names.dedup();
        reach.watched.sort_by_key(ToString::to_string);
        reach.watched.dedup();
        reach
    }

    fn of_alarms(&mut self, graph: &Graph) {
        self.hears = !graph.alarm_listeners().is_empty();
        let alarms = graph.alarms().iter().chain(graph.left_out_alarms());
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
        self.grants = graph.policies().grants_openly();
    }
}

/// Hands over the places of parts of which one has an alarm that may look at a queue of the other, whose name is not
/// known whole: each of them with another, so that all hang together that belong together.
pub(crate) fn may_watch<'r>(parts: impl Iterator<Item = &'r Reach> + Clone, join: &mut impl FnMut(usize, usize)) {
    let mut watched = Watched::default();
    for (at, part) in parts.clone().enumerate() {
        for name in &part.watched {
            watched.add(name, at);
        }
    }
    watched.sort();
    for (at, part) in parts.enumerate() {
        for name in &part.open_names {
            watched.join(name, at, join);
        }
    }
}

/// Names that alarms look at, each with the places of the parts that they are of.
#[derive(Default)]
struct Watched {
    all: Vec<(Pattern, Vec<usize>)>,
    by_text: FxHashMap<String, usize>,
    /// Those that are known whole, sorted; and from their ends.
    known: Vec<(String, usize)>,
    reversed: Vec<(String, usize)>,
    /// The others.
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

    /// Joins the part `at`, which has a queue of that name, with all that may look at it.
    fn join(&mut self, name: &Pattern, at: usize, join: &mut impl FnMut(usize, usize)) {
        let (head, tail) = (name.head(), reversed(name.tail()));
        // What is longer leaves less to compare.
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
            if name.may_be(watched) {
                for part in parts.iter() {
                    join(*part, at);
                }
                // They hang together now.
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

    /// `…` stands for what is not known.
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
    fn parts_are_joined_as_their_names_are_compared_one_by_one() {
        let names = ["a-dlq", "b-dlq", "…-dlq", "a-…", "a-…-dlq", "…", "x", "b-…q", "ü-…"];
        let parts: Vec<Reach> = names
            .iter()
            .flat_map(|name| {
                let (name, other) = (pattern(name), Reach::default());
                let watches = Reach {
                    watched: vec![name.clone()],
                    ..Reach::default()
                };
                let open = Reach {
                    open_names: if name.is_known() { Vec::new() } else { vec![name] },
                    ..other
                };
                [watches, open]
            })
            .collect();
        for one in &parts {
            for other in &parts {
                let mut joined = false;
                may_watch([one, other].into_iter(), &mut |a, b| joined |= a != b);
                let meets = |one: &Reach, other: &Reach| {
                    one.open_names
                        .iter()
                        .any(|open| other.watched.iter().any(|name| open.may_be(name)))
                };
                assert_eq!(joined, meets(one, other) || meets(other, one), "{one:?} {other:?}");
            }
        }
    }
}
