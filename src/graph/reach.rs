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
use rustc_hash::{FxHashSet, FxHasher};
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

    /// Whether an alarm of one may look at a queue of the other whose name is not known whole.
    pub(crate) fn may_watch(&self, other: &Reach) -> bool {
        let meets = |one: &Reach, other: &Reach| {
            let mut names = one.open_names.iter();
            names.any(|open| other.watched.iter().any(|name| open.may_be(name)))
        };
        meets(self, other) || meets(other, self)
    }

    /// Whether [`Reach::may_watch`] may hold at all.
    pub(crate) fn has_patterns(&self) -> bool {
        !(self.open_names.is_empty() && self.watched.is_empty())
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
