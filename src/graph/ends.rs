//! Names in sentences: those of nodes, and those of the ends of links.

use super::access::{Key, QueuePolicy};
use super::delivery::{EventTarget, Pipe, StateMachine, Subscription, Topic};
use super::workers::{Worker, WorkerConsumption};
use super::{Alarm, EventSourceMapping, Function, Graph, Link, Queue, Resource, Target, UnitId};
use std::fmt;

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown())
    }
}

/// Implements `Display` for types of nodes: the name of their resource.
macro_rules! named {
    ($($node:ty),*) => {
        $(impl fmt::Display for $node {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.resource.fmt(f)
            }
        })*
    };
}
named!(
    Alarm,
    EventSourceMapping,
    EventTarget,
    Function,
    Key,
    Pipe,
    Queue,
    QueuePolicy
);
named!(StateMachine, Subscription, Topic, Worker, WorkerConsumption);

/// End of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End<'g> {
    /// Address of a resource of the same unit.
    Address(&'g str),
    /// A resource of another unit.
    Elsewhere {
        /// Name of the other unit.
        unit: &'g str,
        /// Address of the resource.
        address: &'g str,
    },
    /// Text of a link to a resource that the project does not declare.
    Written(&'g str),
}

impl Graph {
    /// Returns the end of `link`, written in `unit`, given the resource it refers to, if that is declared.
    pub fn end<'g>(&'g self, unit: UnitId, link: &'g Link, resource: Option<&'g Resource>) -> End<'g> {
        match resource {
            Some(found) if found.unit == unit => End::Address(&found.address),
            Some(found) => End::Elsewhere {
                unit: &self.unit(found.unit).name,
                address: &found.address,
            },
            None => match &link.target {
                Target::Resource(written)
                | Target::OtherUnit { address: written, .. }
                | Target::External(written)
                | Target::Dangling(written) => End::Written(written),
            },
        }
    }
}
