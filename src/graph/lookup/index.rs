//! Indexes of nodes, by address and by physical name.

use crate::graph::arn::{account, physical_name, region};
use crate::graph::reach::hash_of;
use crate::graph::{Attribute, Form, Link, Resource, Target, Unit, UnitId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Index of a list of nodes, by address and by physical name.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Nodes by unit and address.
    by_address: Vec<FxHashMap<Arc<str>, usize>>,
    /// Units by [`Unit::key`].
    pub(super) units: FxHashMap<Arc<str>, UnitId>,
    /// Nodes by physical name.
    pub(super) by_name: FxHashMap<String, Vec<NamedNode>>,
    /// Recorder of the names that are looked up, each with the unit that contains the link.
    pub(super) lookups: Option<Mutex<FxHashSet<(UnitId, u64)>>>,
}

/// A node with a physical name.
#[derive(Debug)]
pub(super) struct NamedNode {
    pub(super) unit: UnitId,
    at: usize,
    region: Option<Arc<str>>,
    account: Option<Arc<str>>,
}

impl Index {
    pub(super) fn build<'a>(
        units: &[Unit],
        nodes: impl Iterator<Item = (&'a Resource, &'a Attribute<Option<String>>)>,
    ) -> Index {
        let mut index = Index {
            by_address: vec![FxHashMap::default(); units.len()],
            ..Index::default()
        };
        for (at, unit) in units.iter().enumerate() {
            let id = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
            index.units.entry(unit.key.text()).or_insert(id);
        }
        for (at, (resource, name)) in nodes.enumerate() {
            if let Some(nodes) = index.by_address.get_mut(resource.unit.0 as usize) {
                nodes.insert(resource.address.clone(), at);
            }
            for name in name.cases.iter().filter_map(|case| case.value()?.as_ref()) {
                // Two nodes rarely have the same name.
                let bearers = index.by_name.entry(name.clone());
                bearers.or_insert_with(|| Vec::with_capacity(1)).push(NamedNode {
                    unit: resource.unit,
                    at,
                    region: resource.region.clone(),
                    account: resource.account.clone(),
                });
            }
        }
        index
    }

    pub(super) fn at(&self, unit: UnitId, address: &str) -> Option<usize> {
        self.by_address.get(unit.0 as usize)?.get(address).copied()
    }

    /// Returns the node that `link`, written in `unit`, points to: by address, or by physical name if exactly one node
    /// of the unit, or else exactly one of the project, has that name.
    pub(super) fn find(&self, unit: UnitId, link: &Link) -> Option<usize> {
        match &link.target {
            Target::Resource(address) => self.at(unit, address),
            Target::OtherUnit { unit: other, address } => {
                self.record(unit, "unit", other);
                let other = *self.units.get(other)?;
                self.at(other, address)
            }
            Target::Dangling(_) => None,
            Target::External(written) => {
                let named = self.nodes_named(unit, written, link.form);
                let mut here = named.iter().filter(|node| node.unit == unit);
                match (here.next(), here.next(), named.as_slice()) {
                    (Some(node), None, _) | (None, _, [node]) => Some(node.at),
                    _ => None,
                }
            }
        }
    }

    /// Returns the nodes that `attribute`, written in `unit`, points to under any condition.
    pub(super) fn all(&self, unit: UnitId, attribute: &Attribute<Link>) -> impl Iterator<Item = usize> {
        let links = attribute.cases.iter().filter_map(|case| case.value());
        links.filter_map(move |link| self.find(unit, link))
    }

    /// Records that a link in `unit` refers to a name.
    pub(super) fn record(&self, unit: UnitId, kind: &str, name: &str) {
        if let Some(lookups) = &self.lookups {
            let mut lookups = lookups.lock().unwrap_or_else(PoisonError::into_inner);
            lookups.insert((unit, hash_of(kind, name)));
        }
    }

    /// Returns all nodes with the physical name in `written`, which is written in `unit`, except those known to be in
    /// another Region or account.
    pub(super) fn nodes_named(&self, unit: UnitId, written: &str, form: Form) -> Vec<&NamedNode> {
        let (region, account) = (region(written, form), account(written, form));
        let name = physical_name(written, form);
        if let Some(name) = name {
            self.record(unit, "name", name);
        }
        let named = name.and_then(|name| self.by_name.get(name));
        let elsewhere = move |node: &NamedNode| {
            let regions = region.zip(node.region.as_deref());
            let accounts = account.zip(node.account.as_deref());
            regions.into_iter().chain(accounts).any(|(one, other)| one != other)
        };
        named.into_iter().flatten().filter(|node| !elsewhere(node)).collect()
    }

    /// Returns all nodes that `link` may point to: several if nodes of `unit` share a physical name.
    pub(super) fn candidates(&self, unit: UnitId, link: &Link) -> Vec<usize> {
        let Target::External(written) = &link.target else {
            return self.find(unit, link).into_iter().collect();
        };
        let named = self.nodes_named(unit, written, link.form).into_iter();
        let here: Vec<usize> = named.filter(|node| node.unit == unit).map(|node| node.at).collect();
        if here.is_empty() {
            self.find(unit, link).into_iter().collect()
        } else {
            here
        }
    }
}
