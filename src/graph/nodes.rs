//! Lists of nodes of one kind. The nodes stay in the vectors of their units, because a project has tens of thousands of
//! large nodes, and moving them is slow.

use super::access::{Key, KeyAlias, ManagedPolicy, Permission, QueuePolicy, Role, RolePolicy};
use super::delivery::{EventTarget, Pipe, RuleOnBus, StateMachine, Subscription, Topic};
use super::published::Publication;
use super::workers::{InstanceProfile, Worker};
use super::{
    Alarm, AlarmSubscriber, EventSourceMapping, EventWithoutQueue, Function, FunctionAlias, Queue, Resource, UnitId,
    UnknownProperty,
};
use std::ops::Index;
use std::slice;
use std::sync::Arc;

/// Nodes by unit and address.
#[derive(Debug)]
pub struct Nodes<T> {
    /// Nodes of each unit, by its id, with the index of its first node in the whole list.
    units: Vec<(usize, Vec<T>)>,
    count: usize,
}

impl<T> Default for Nodes<T> {
    fn default() -> Self {
        Nodes {
            units: Vec::new(),
            count: 0,
        }
    }
}

impl<T> Nodes<T> {
    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns `true` if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns an iterator over all nodes.
    pub fn iter(&self) -> Iter<'_, T> {
        let (mut units, first) = (self.units.iter(), [].iter());
        let nodes = units.next().map_or(first, |(_, nodes)| nodes.iter());
        Iter { nodes, units }
    }

    /// Returns all nodes for modification. Unit and address must stay the same.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.units.iter_mut().flat_map(|(_, nodes)| nodes)
    }

    /// Returns the node at index `at` of the whole list.
    pub fn get(&self, at: usize) -> Option<&T> {
        let following = self.units.partition_point(|(start, _)| *start <= at);
        let (start, nodes) = self.units.get(following.checked_sub(1)?)?;
        nodes.get(at - start)
    }

    /// Returns the index of `node`, a node of `unit`, in the whole list.
    pub(super) fn index_of(&self, unit: UnitId, node: &T) -> Option<usize> {
        let (start, nodes) = self.units.get(unit.0 as usize)?;
        Some(start + nodes.element_offset(node)?)
    }

    /// Adds the nodes of `unit`, sorted by address. Units come in the order of their ids.
    pub(super) fn take(&mut self, mut nodes: Vec<T>, unit: UnitId)
    where
        T: AsMut<Resource>,
    {
        sort(&mut nodes, unit);
        nodes.shrink_to_fit();
        let start = self.count;
        self.count += nodes.len();
        self.units.push((start, nodes));
    }
}

/// Sets the unit of `nodes` and sorts them by address.
fn sort<T: AsMut<Resource>>(nodes: &mut Vec<T>, unit: UnitId) {
    let addresses = nodes.iter_mut().map(|node| {
        let resource = node.as_mut();
        resource.unit = unit;
        resource.address.clone()
    });
    let addresses: Vec<Arc<str>> = addresses.collect();
    if addresses.is_sorted() {
        return;
    }
    // Sort the indexes first, so that each node is moved only once.
    let mut places: Vec<usize> = (0..nodes.len()).collect();
    places.sort_by_key(|&at| addresses.get(at));
    let mut unsorted: Vec<Option<T>> = std::mem::take(nodes).into_iter().map(Some).collect();
    nodes.reserve_exact(unsorted.len());
    nodes.extend(places.into_iter().filter_map(|at| unsorted.get_mut(at)?.take()));
}

/// Appends the nodes of `unit`, sorted by address.
pub(super) fn append_sorted<T: AsMut<Resource>>(all: &mut Vec<T>, mut nodes: Vec<T>, unit: UnitId) {
    sort(&mut nodes, unit);
    all.append(&mut nodes);
}

/// Iterator over [`Nodes`].
#[derive(Debug, Clone)]
pub struct Iter<'n, T> {
    nodes: slice::Iter<'n, T>,
    units: slice::Iter<'n, (usize, Vec<T>)>,
}

impl<'n, T> Iterator for Iter<'n, T> {
    type Item = &'n T;

    fn next(&mut self) -> Option<&'n T> {
        loop {
            if let Some(node) = self.nodes.next() {
                return Some(node);
            }
            self.nodes = self.units.next()?.1.iter();
        }
    }
}

impl<'n, T> IntoIterator for &'n Nodes<T> {
    type Item = &'n T;
    type IntoIter = Iter<'n, T>;

    fn into_iter(self) -> Iter<'n, T> {
        self.iter()
    }
}

impl<T> Index<usize> for Nodes<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        self.get(at).expect("a place that an index of the same graph gave")
    }
}

/// Implements `AsRef<Resource>` and `AsMut<Resource>` for all types of nodes.
macro_rules! resources {
    ($($node:ty),* $(,)?) => {
        $(
            impl AsRef<Resource> for $node {
                fn as_ref(&self) -> &Resource {
                    &self.resource
                }
            }

            impl AsMut<Resource> for $node {
                fn as_mut(&mut self) -> &mut Resource {
                    &mut self.resource
                }
            }
        )*
    };
}
resources!(
    Alarm,
    AlarmSubscriber,
    EventSourceMapping,
    EventTarget,
    EventWithoutQueue,
    Function,
    FunctionAlias,
    InstanceProfile,
    Key,
    KeyAlias,
    ManagedPolicy,
    Permission,
    Pipe,
    Publication,
    Queue,
    QueuePolicy,
    Role,
    RolePolicy,
    RuleOnBus,
    StateMachine,
    Subscription,
    Topic,
    UnknownProperty,
    Worker,
);

impl AsRef<Resource> for Resource {
    fn as_ref(&self) -> &Resource {
        self
    }
}

impl AsMut<Resource> for Resource {
    fn as_mut(&mut self) -> &mut Resource {
        self
    }
}
