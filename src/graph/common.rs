//! Nodes that concern every unit of a project: grants to unresolved roles, and subscribers to alarms. A part of a project
//! is judged together with those of all other parts, so that it need not be judged together with the parts themselves.
//!
//! ```text
//! svc/orders   role "orders"                  ┐ judged alone, with the grant
//! svc/mails    role "mails"                   ┘ of platform
//! platform     a policy for the role var.role   judged alone
//! ```
//!
//! What rules conclude from these nodes is the same wherever they are written, so their digests have no positions: an edit
//! that only moves them does not concern other parts, and of several equal nodes, one suffices.

use super::access::{Grant, ManagedPolicy, PolicyDocument, RolePolicy};
use super::alarms::AlarmSubscriber;
use super::{Attribute, Graph, State, Unit, UnitGraph};
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};
use std::mem::discriminant;

/// A node that concerns every unit of a project.
#[derive(Debug, Clone)]
pub(crate) struct CommonNode {
    pub(crate) unit: Unit,
    node: Node,
    /// Hash of what the node means for other units.
    pub(crate) digest: u64,
}

#[derive(Debug, Clone)]
enum Node {
    /// A grant to an unresolved role, with the managed policy that it attaches, if that is declared.
    Grant(Box<(RolePolicy, Option<ManagedPolicy>)>),
    Subscriber(AlarmSubscriber),
}

impl CommonNode {
    /// Collects the nodes of `graph`.
    pub(crate) fn all(graph: &Graph) -> Vec<CommonNode> {
        let policies = graph.policies();
        let grants = policies.unresolved_grants().map(|granted| {
            let managed = match &granted.grant {
                Grant::Managed(link) => (link.known()).and_then(|link| policies.managed(granted.resource.unit, link)),
                Grant::Document(_) | Grant::Key => None,
            };
            (
                granted.resource.unit,
                grant(&granted, managed),
                Node::Grant(Box::new((granted, managed.cloned()))),
            )
        });
        let subscribers = graph.alarm_subscribers().iter().map(|one| {
            let digest = FxBuildHasher.hash_one(&one.names);
            (one.resource.unit, digest, Node::Subscriber(one.clone()))
        });
        let nodes = grants.chain(subscribers).map(|(unit, digest, node)| CommonNode {
            unit: graph.unit(unit).clone(),
            node,
            digest,
        });
        nodes.collect()
    }

    /// Returns `true` if the node only concerns units with roles, `false` if it concerns those with alarms.
    pub(crate) fn concerns_roles(&self) -> bool {
        matches!(self.node, Node::Grant(..))
    }

    /// Returns the units of `nodes`, with nothing else in them.
    pub(crate) fn units<'n>(nodes: impl Iterator<Item = &'n CommonNode>) -> Vec<UnitGraph> {
        let mut units: BTreeMap<&str, UnitGraph> = BTreeMap::new();
        for one in nodes {
            let unit = (units.entry(&one.unit.name)).or_insert_with(|| UnitGraph::new(one.unit.clone()));
            match &one.node {
                Node::Grant(grant) => {
                    let (granted, managed) = &**grant;
                    unit.access.role_policies.push(granted.clone());
                    unit.access.managed_policies.extend(managed.clone());
                }
                Node::Subscriber(subscriber) => unit.alarm_subscribers.push(subscriber.clone()),
            }
        }
        units.into_values().collect()
    }
}

/// Hashes everything that decides which actions a grant to an unresolved role permits.
fn grant(granted: &RolePolicy, managed: Option<&ManagedPolicy>) -> u64 {
    let role: Vec<_> = granted
        .role
        .cases
        .iter()
        .map(|case| discriminant(&case.state))
        .collect();
    let permitted = match &granted.grant {
        Grant::Document(document) => documents(document),
        Grant::Managed(link) => (states(link), managed.map(|policy| documents(&policy.document))).hashed(),
        Grant::Key => 0,
    };
    (
        discriminant(&granted.grant),
        granted.when.is_possible(),
        role,
        permitted,
    )
        .hashed()
}

fn documents(all: &Attribute<PolicyDocument>) -> u64 {
    let of = |document: &PolicyDocument| {
        let statements = document.statements.iter();
        let statements = statements.map(|one| (states(&one.effect), states(&one.actions), one.negates.actions));
        (document.opaque.is_some(), statements.collect::<Vec<_>>()).hashed()
    };
    let cases = all.cases.iter();
    cases.map(|case| case.value().map(of)).collect::<Vec<_>>().hashed()
}

/// Returns the values of an attribute as text; `None` for unresolved ones.
fn states<T: Debug>(all: &Attribute<T>) -> Vec<Option<String>> {
    let cases = all.cases.iter().map(|case| match &case.state {
        State::Set(value) | State::Default(value) => Some(format!("{value:?}")),
        State::Unresolved(_) => None,
    });
    cases.collect()
}

/// Hashes a value with the hasher of the program.
trait Hashed: Hash {
    fn hashed(&self) -> u64 {
        FxBuildHasher.hash_one(self)
    }
}

impl<T: Hash> Hashed for T {}
