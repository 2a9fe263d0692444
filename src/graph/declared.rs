//! What a team declares of the work on a queue's messages, which the files of the infrastructure do not say: how long
//! it takes, and that a worker reads the queue at all.
//!
//! It knows nothing of configuration files but the places in them.

use super::{Function, Graph, Queue, Resource, UnitId};
use crate::source::Span;
use rustc_hash::FxHashSet;
use std::fmt;
use std::sync::Arc;

/// A declared consumer of queues: a worker, or the work of functions.
#[derive(Debug)]
pub struct DeclaredConsumer {
    /// The queues as its author names them.
    pub queue: String,
    /// Where that stands; `None` on a command line.
    pub span: Option<Span>,
    /// The functions it is about; `None` for a worker.
    pub functions: Option<FxHashSet<(UnitId, Arc<str>)>>,
    /// Half of the messages take no longer.
    pub p50: Option<Duration>,
    /// 99 of 100 messages take no longer.
    pub p99: Option<Duration>,
    /// No message takes longer.
    pub max: Option<Duration>,
    /// How a worker keeps its message invisible.
    pub heartbeat: Option<Heartbeat>,
    /// How many messages of a batch are worked on at once.
    pub parallelism: i64,
    /// When the times were measured.
    pub measured: Option<Measured>,
}

/// A declared span of time.
#[derive(Debug, Clone, Copy)]
pub struct Duration {
    /// Its milliseconds.
    pub milliseconds: i64,
    /// Where it is written.
    pub span: Option<Span>,
}

/// Calls of `ChangeMessageVisibility` while the work goes on.
#[derive(Debug, Clone, Copy)]
pub struct Heartbeat {
    /// How often.
    pub every: Duration,
    /// The visibility timeout that each call sets.
    pub extend_to: Duration,
}

/// A day on which work was measured.
#[derive(Debug)]
pub struct Measured {
    /// The day, as `2026-03-14`.
    pub day: String,
    /// How many days ago that is.
    pub age: i64,
    /// Where it is written.
    pub span: Option<Span>,
}

impl Duration {
    /// In whole seconds, where it is that.
    pub fn seconds(self) -> Option<i64> {
        (self.milliseconds % 1000 == 0).then_some(self.milliseconds / 1000)
    }

    /// In whole seconds, rounded up.
    pub fn seconds_up(self) -> i64 {
        self.milliseconds / 1000 + i64::from(self.milliseconds % 1000 > 0)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds() {
            Some(seconds) => write!(f, "{seconds} s"),
            None => write!(f, "{} ms", self.milliseconds),
        }
    }
}

impl DeclaredConsumer {
    /// Whether it is a worker, and no function.
    pub fn is_worker(&self) -> bool {
        self.functions.is_none()
    }

    /// Whether it is about `function`.
    pub fn is_of(&self, function: &Function) -> bool {
        let key = (function.resource.unit, function.resource.address.clone());
        self.functions
            .as_ref()
            .is_some_and(|functions| functions.contains(&key))
    }
}

impl Graph {
    /// Adds what is declared of the queue `resource`.
    pub fn declare(&mut self, resource: &(UnitId, Arc<str>), consumer: &Arc<DeclaredConsumer>) {
        if let Some(at) = self.place_at(resource.0, &resource.1) {
            self.declared.entry(at).or_default().push(consumer.clone());
        }
    }

    /// What is declared of `queue`, in the order of the configuration.
    pub fn declared<'g>(&'g self, queue: &Queue) -> &'g [Arc<DeclaredConsumer>] {
        let Resource { unit, address, .. } = &queue.resource;
        let at = self.place_at(*unit, address);
        at.and_then(|at| self.declared.get(&at)).map_or(&[], Vec::as_slice)
    }

    /// The declared workers of `queue`.
    pub fn declared_workers<'g>(&'g self, queue: &Queue) -> impl Iterator<Item = &'g DeclaredConsumer> {
        let all = self.declared(queue).iter().map(|declared| &**declared);
        all.filter(|declared| declared.is_worker())
    }
}
