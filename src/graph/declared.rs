//! Consumers of queues that a team declares in its configuration, because the infrastructure files do not describe
//! them: the duration of the work on a message, and workers.
//!
//! It knows configuration files only by spans.

use super::stated::CodeStatement;
use super::{Function, Graph, Queue, ResourceKey};
use rustc_hash::FxHashSet;
use source::Span;
use std::fmt;
use std::sync::Arc;

/// A declared consumer of queues: a worker, or functions. The code of a worker may take the place of its declaration.
#[derive(Debug)]
pub struct DeclaredConsumer {
    /// Queues as written in the configuration.
    pub queue: String,
    /// Span of the queues; `None` on a command line.
    pub span: Option<Span>,
    /// Functions that the declaration applies to; `None` for a worker.
    pub functions: Option<FxHashSet<ResourceKey>>,
    /// Median duration of the work on a message.
    pub p50: Option<Duration>,
    /// 99th percentile of the duration.
    pub p99: Option<Duration>,
    /// Maximum duration.
    pub max: Option<Duration>,
    /// Longest time that a single call of the work may wait, which only code states.
    pub call: Option<Duration>,
    /// Heartbeat of a worker.
    pub heartbeat: Option<Heartbeat>,
    /// Number of messages of a batch that are processed concurrently.
    pub parallelism: i64,
    /// Date of the measurement of the durations.
    pub measured: Option<Measured>,
    /// Further statements of a program's own code; `None` for a declaration.
    pub code: Option<CodeStatement>,
}

/// A declared duration.
#[derive(Debug, Clone, Copy)]
pub struct Duration {
    /// Milliseconds.
    pub milliseconds: i64,
    /// Span of the value.
    pub span: Option<Span>,
}

/// Periodic calls of `ChangeMessageVisibility` while a message is being processed.
#[derive(Debug, Clone, Copy)]
pub struct Heartbeat {
    /// Interval between calls.
    pub every: Duration,
    /// Visibility timeout that each call sets.
    pub extend_to: Duration,
}

/// Date of a measurement.
#[derive(Debug)]
pub struct Measured {
    /// Date as `2026-03-14`.
    pub day: String,
    /// Number of days since then.
    pub age: i64,
    /// Span of the date.
    pub span: Option<Span>,
}

impl Duration {
    /// Returns the number of seconds if it is whole.
    pub fn seconds(self) -> Option<i64> {
        (self.milliseconds % 1000 == 0).then_some(self.milliseconds / 1000)
    }

    /// Returns the number of seconds, rounded up.
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
    /// Returns `true` for a worker, `false` for functions.
    pub fn is_worker(&self) -> bool {
        self.functions.is_none()
    }

    /// Returns `true` if the declaration applies to `function`.
    pub fn is_of(&self, function: &Function) -> bool {
        let key = function.resource.key();
        self.functions
            .as_ref()
            .is_some_and(|functions| functions.contains(&key))
    }
}

impl Graph {
    /// Adds a declaration about the queue `resource`.
    pub fn declare(&mut self, resource: &ResourceKey, consumer: &Arc<DeclaredConsumer>) {
        if let Some(at) = self.queue_index_at(resource.0, &resource.1) {
            self.declared.entry(at).or_default().push(consumer.clone());
        }
    }

    /// Returns the declarations about `queue`, in the order of the configuration.
    pub fn declared<'g>(&'g self, queue: &Queue) -> &'g [Arc<DeclaredConsumer>] {
        let declared = self.index_of(queue).and_then(|at| self.declared.get(&at));
        declared.map_or(&[], Vec::as_slice)
    }

    /// Returns the declared workers of `queue`.
    pub fn declared_workers<'g>(&'g self, queue: &Queue) -> impl Iterator<Item = &'g DeclaredConsumer> {
        let all = self.declared(queue).iter().map(|declared| &**declared);
        all.filter(|declared| declared.is_worker())
    }
}
