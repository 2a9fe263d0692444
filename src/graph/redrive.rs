//! Redrive policies, and other uses of dead-letter queues.

use super::{Attribute, Condition, Link, Queue, Reason};
use source::Span;
use std::sync::Arc;

/// Errors in the form of a redrive policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyErrorKind {
    /// Text that is not JSON, or JSON that is not an object.
    NotAnObject,
    /// A key that redrive policies do not have.
    UnknownKey(String),
    /// No `deadLetterTargetArn`.
    TargetMissing,
    /// No `maxReceiveCount`.
    CountMissing,
    /// A string with a whole number, in a dialect that does not convert it.
    CountQuoted(String),
    /// Like [`PolicyErrorKind::CountQuoted`], of a value that comes from a variable, whose type may have converted it.
    CountConverted(String),
    /// A value, as written, that is neither a whole number nor a string with one.
    CountNotInteger(String),
}

/// An error in a redrive policy and its span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// Kind of error.
    pub kind: PolicyErrorKind,
    /// Span of the error.
    pub span: Span,
}

/// Redrive policy of a source queue: its dead-letter queue, and after how many receives messages move there.
#[derive(Debug, Clone)]
pub struct RedrivePolicy {
    /// `deadLetterTargetArn`; unresolved if it is missing (see `faults`).
    pub target: Attribute<Link>,
    /// `maxReceiveCount`; unresolved if it is missing or not a whole number (see `faults`).
    pub max_receive_count: Attribute<i64>,
    /// Errors in its form.
    pub faults: Vec<PolicyError>,
}

/// Redrive allow policy of a dead-letter queue: the queues that may use it.
#[derive(Debug, Clone)]
pub struct RedriveAllowPolicy {
    /// `redrivePermission`: `allowAll`, `denyAll`, `byQueue`.
    pub permission: Attribute<String>,
    /// `sourceQueueArns`; empty if absent.
    pub sources: Vec<Attribute<Link>>,
    /// Spans of a `sourceQueueArns` that is sent to SQS as null, with their conditions.
    pub null_sources: Vec<(Condition, Span)>,
}

/// The two redrive policies of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedriveKind {
    /// Redrive policy of a source queue.
    Policy,
    /// Redrive allow policy of a dead-letter queue.
    AllowPolicy,
}

/// A writer of a queue's redrive policy or redrive allow policy, if it has several. At least one of them is a separate
/// resource.
#[derive(Debug, Clone)]
pub struct RedriveWriter {
    /// Policy that it writes.
    pub kind: RedriveKind,
    /// Separate resource; `None` for the queue itself.
    pub resource: Option<Arc<str>>,
    /// Span of the policy in the queue, or of the resource's header.
    pub span: Span,
    /// Condition under which it writes one.
    pub when: Condition,
    /// Reason why it may not write one.
    pub doubt: Option<Reason>,
}

/// Kinds of resources that use a dead-letter queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A function.
    Function,
    /// A subscription to a topic.
    Subscription,
    /// A topic with its subscriptions.
    Topic,
    /// A rule with its targets.
    Rule,
    /// A target of a rule.
    Target,
    /// A schedule.
    Schedule,
    /// A pipe.
    Pipe,
    /// An event source mapping of a stream.
    Mapping,
    /// Any other resource.
    Other,
}

impl DeadLetterUse {
    /// Returns the resource for a sentence: "the function `worker`".
    pub fn owner_shown(&self) -> String {
        let kind = match self.owner {
            Owner::Function => "the function ",
            Owner::Subscription => "the subscription ",
            Owner::Topic => "the topic ",
            Owner::Rule => "the rule ",
            Owner::Target => "the event target ",
            Owner::Schedule => "the schedule ",
            Owner::Pipe => "the pipe ",
            Owner::Mapping => "the event source mapping ",
            Owner::Other => "",
        };
        format!("{kind}`{}`", self.resource)
    }
}

/// A reference that makes a queue the dead-letter queue of a resource other than a queue: a function, a destination, a
/// rule, a schedule, a subscription, a pipe.
#[derive(Debug, Clone)]
pub struct DeadLetterUse {
    /// Resource with the reference.
    pub resource: Arc<str>,
    /// Kind of that resource.
    pub owner: Owner,
    /// Span of the argument.
    pub span: Span,
    /// Target of the failures.
    pub target: Attribute<Link>,
    /// Condition under which it is set.
    pub when: Condition,
}

impl Queue {
    /// Returns the targets of its redrive policy under `assumed`, each with its condition.
    pub fn redrive_targets<'g>(&'g self, assumed: &Condition) -> Vec<(Condition, &'g Link)> {
        let mut all = Vec::new();
        for (assumed, _, policy) in self.redrive.known_in(assumed) {
            for (assumed, _, link) in policy.iter().flat_map(|policy| policy.target.known_in(&assumed)) {
                all.push((assumed, link));
            }
        }
        all
    }
}
