//! Groups policies by the queue, role or key that they apply to.

use super::{Policies, UnresolvedGrant};
use crate::graph::access;
use crate::graph::{Cause, Graph, Link, Reason, Resource, ResourceKey, State, Target, UnitId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

impl Graph {
    /// Groups all policies by the queue, role or key that they apply to.
    pub fn policies(&self) -> Policies<'_> {
        let mut policies = Policies {
            graph: self,
            queues: FxHashMap::default(),
            unresolved_queues: FxHashMap::default(),
            roles: FxHashMap::default(),
            unresolved_roles: Vec::new(),
            unmatched_roles: Vec::new(),
            by_queue: RefCell::default(),
            sends: RefCell::default(),
            role_names: FxHashMap::default(),
            unresolved_actions: RefCell::default(),
            passed_roles: FxHashSet::default(),
            managed: FxHashMap::default(),
            keys: FxHashMap::default(),
            aliases: FxHashMap::default(),
            alias_names: FxHashMap::default(),
        };
        policies.add_queues();
        policies.add_roles();
        policies.add_keys();
        policies
    }
}

impl<'g> Policies<'g> {
    fn add_queues(&mut self) {
        let access = self.graph.access();
        for policy in &access.queue_policies {
            for case in &policy.queue.cases {
                let unit = policy.resource.unit;
                match &case.state {
                    State::Set(link) | State::Default(link) => {
                        for queue in self.graph.queue_candidates(unit, link) {
                            let when = policy.resource.when.and(&case.when);
                            self.queues
                                .entry(queue.resource.key())
                                .or_default()
                                .push((when, policy));
                        }
                    }
                    State::Unresolved(unresolved) => {
                        let open = self.unresolved_queues.entry(self.graph.deployment(unit)).or_default();
                        open.push((unresolved.reason().clone(), case.span));
                    }
                }
            }
        }
    }

    fn add_roles(&mut self) {
        let access = self.graph.access();
        let mut names: FxHashMap<&str, Vec<&Resource>> = FxHashMap::default();
        for role in &access.roles {
            for name in role.name.cases.iter().filter_map(|case| case.value()?.as_deref()) {
                names.entry(name).or_default().push(&role.resource);
                self.role_names.insert((role.resource.unit, name), role);
            }
        }
        for granted in &access.role_policies {
            let unit = granted.resource.unit;
            for case in &granted.role.cases {
                let open = |reason: &Reason| UnresolvedGrant {
                    granted,
                    reason: reason.clone(),
                    span: case.span,
                };
                let link = match &case.state {
                    State::Set(link) | State::Default(link) => link,
                    State::Unresolved(unresolved) => {
                        self.unresolved_roles.push(open(unresolved.reason()));
                        continue;
                    }
                };
                let roles = self.graph.role_keys(unit, link, &names);
                if roles.is_empty() && matches!(link.target, Target::External(_)) {
                    let reason = Cause::Derived.because(format!("the role may be the one called `{}`", link.written()));
                    self.unmatched_roles.push(open(&reason));
                }
                for role in roles {
                    let when = granted.when.and(&case.when);
                    self.roles.entry(role).or_default().push((when, granted));
                }
            }
        }
        for (unit, link) in self.graph.links_passed_to_missing_code() {
            self.passed_roles.extend(self.graph.role_keys(*unit, link, &names));
        }
        let managed = access.managed_policies.iter();
        self.managed = managed.map(|policy| (policy.resource.key(), policy)).collect();
    }

    fn add_keys(&mut self) {
        let access = self.graph.access();
        self.keys = access.keys.iter().map(|known| (known.resource.key(), known)).collect();
        for alias in &access.key_aliases {
            self.aliases.insert(alias.resource.key(), alias);
            for name in alias.name.cases.iter().filter_map(|case| case.value()?.as_deref()) {
                self.alias_names.insert((alias.resource.unit, name.into()), alias);
            }
        }
    }

    /// Returns the key that `link`, written in `unit`, refers to directly or by an alias, if the project declares it.
    pub fn key(&self, unit: UnitId, link: &Link) -> Option<&'g access::Key> {
        let alias = match &link.target {
            Target::Resource(_) | Target::OtherUnit { .. } => {
                let named = self.graph.address_key(unit, link)?;
                match self.keys.get(&named) {
                    Some(known) => return Some(known),
                    None => self.aliases.get(&named)?,
                }
            }
            Target::External(written) => {
                let name = written.rsplit(':').next()?;
                self.alias_names.get(&(unit, name.into()))?
            }
            Target::Dangling(_) => return None,
        };
        let named = self.graph.address_key(alias.resource.unit, alias.key.known()?)?;
        self.keys.get(&named).copied()
    }
}

impl Graph {
    /// Returns the unit and address that `link`, written in `unit`, refers to.
    pub(in crate::graph) fn address_key(&self, unit: UnitId, link: &Link) -> Option<ResourceKey> {
        match &link.target {
            Target::Resource(address) => Some((unit, address.clone())),
            Target::OtherUnit { unit: other, address } => Some((self.unit_by_key(unit, other)?, address.clone())),
            Target::External(_) | Target::Dangling(_) => None,
        }
    }

    /// Returns the roles that `link`, written in `unit`, may refer to: several if they share a physical name.
    pub(super) fn role_keys(
        &self,
        unit: UnitId,
        link: &Link,
        names: &FxHashMap<&str, Vec<&Resource>>,
    ) -> Vec<ResourceKey> {
        let Target::External(written) = &link.target else {
            return self.address_key(unit, link).into_iter().collect();
        };
        let roles = written.rsplit('/').next().and_then(|name| names.get(name));
        let roles = roles.into_iter().flatten();
        let here: Vec<ResourceKey> = roles
            .clone()
            .filter(|role| role.unit == unit)
            .map(|role| role.key())
            .collect();
        if here.is_empty() {
            roles.map(|role| role.key()).collect()
        } else {
            here
        }
    }
}
