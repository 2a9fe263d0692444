//! What delivers to queues and reads them besides event source mappings: topics and subscriptions, targets of rules
//! and schedules, notifications of buckets, pipes, and state machines.

use super::lookup::take;
use super::{Attribute, Fault, Link, Reason, Resource, Seconds, Tags, UnitId};
use crate::conditions::Condition;
use crate::source::Span;
use std::sync::Arc;

/// An `EventBridge` pipe, whatever its source and target.
#[derive(Debug, Clone)]
pub struct Pipe {
    /// Address, place and existence.
    pub resource: Resource,
    /// What it reads.
    pub source: Attribute<Link>,
    /// What it asks about each batch, where there is such a step.
    pub enrichment: Attribute<Option<Link>>,
    /// Where it delivers.
    pub target: Attribute<Link>,
    /// What that is.
    pub target_kind: Attribute<TargetKind>,
    /// Largest batch that it reads from a queue.
    pub batch_size: Attribute<i64>,
    /// Batching window of a queue as its source.
    pub window: Attribute<Seconds>,
    /// Patterns of its filters; empty where it has none.
    pub filters: Attribute<Vec<Attribute<String>>>,
    /// Whether it runs (`DesiredState`).
    pub running: Attribute<bool>,
    /// How it invokes its target: `REQUEST_RESPONSE` or `FIRE_AND_FORGET`; `None` where nothing is written.
    pub invocation_type: Attribute<Option<String>>,
    /// The message group of a FIFO queue as its target; `None` where nothing is written.
    pub message_group_id: Attribute<Option<String>>,
    /// The role it works under.
    pub role: Attribute<Option<Link>>,
}

/// What a pipe delivers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// A queue.
    Queue,
    /// An SNS topic.
    Topic,
    /// An event bus.
    EventBus,
    /// A Kinesis stream.
    Stream,
    /// A delivery stream of Data Firehose.
    DeliveryStream,
    /// Anything else.
    Other,
}

impl TargetKind {
    /// The kind of a resource of which only the ARN is known, by the service in it.
    pub fn of_service(service: &str) -> TargetKind {
        match service {
            "sqs" => TargetKind::Queue,
            "sns" => TargetKind::Topic,
            "events" => TargetKind::EventBus,
            "kinesis" => TargetKind::Stream,
            "firehose" => TargetKind::DeliveryStream,
            _ => TargetKind::Other,
        }
    }

    /// In a sentence: "an SNS topic".
    pub fn shown(self) -> &'static str {
        match self {
            TargetKind::Queue => "a queue",
            TargetKind::Topic => "an SNS topic",
            TargetKind::EventBus => "an event bus",
            TargetKind::Stream => "a Kinesis stream",
            TargetKind::DeliveryStream => "a delivery stream",
            TargetKind::Other => "another kind of target",
        }
    }

    /// The largest batch that it takes from a pipe, where that is less than what any pipe may read.
    /// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-batching-concurrency.html>
    pub fn largest_batch(self) -> Option<i64> {
        match self {
            TargetKind::Queue | TargetKind::Topic | TargetKind::EventBus => Some(10),
            TargetKind::Stream | TargetKind::DeliveryStream => Some(500),
            TargetKind::Other => None,
        }
    }
}

/// An SNS topic.
#[derive(Debug, Clone)]
pub struct Topic {
    /// Address, place and existence.
    pub resource: Resource,
    /// The physical name where written.
    pub name: Attribute<Option<String>>,
    /// Whether it is a FIFO topic.
    pub fifo: Attribute<bool>,
    /// Its tags.
    pub tags: Attribute<Tags>,
}

/// Where SNS puts what it could not deliver.
#[derive(Debug, Clone)]
pub struct SubscriptionRedrivePolicy {
    /// `deadLetterTargetArn`; unresolved where it is missing (see `faults`).
    pub target: Attribute<Link>,
    /// What is wrong with its form; `maxReceiveCount` is an unknown key here.
    pub faults: Vec<Fault>,
}

/// A subscription to a topic, whatever its protocol.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// Address, place and existence.
    pub resource: Resource,
    /// The topic.
    pub topic: Attribute<Link>,
    /// `sqs`, `lambda`, `email`…
    pub protocol: Attribute<String>,
    /// What is subscribed.
    pub endpoint: Attribute<Link>,
    /// Whether messages arrive without SNS's envelope.
    pub raw_message_delivery: Attribute<bool>,
    /// Its redrive policy, `None` where there is none.
    pub redrive: Attribute<Option<SubscriptionRedrivePolicy>>,
}

/// Which service delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sender {
    /// An `EventBridge` rule.
    Rule,
    /// An `EventBridge` schedule.
    Schedule,
    /// A notification of an S3 bucket.
    Bucket,
}

/// One target of a rule or a schedule, or one notification of a bucket.
#[derive(Debug, Clone)]
pub struct EventTarget {
    /// Address, place and existence. The address is that of the resource that declares it, with its place in a
    /// list where one resource declares several: `OrdersRule.Targets[0]`.
    pub resource: Resource,
    /// Which service delivers.
    pub sender: Sender,
    /// The rule, schedule or bucket.
    pub source: Attribute<Link>,
    /// What it delivers to.
    pub target: Attribute<Link>,
    /// Where events go that could not be delivered, `None` where nowhere.
    pub dead_letter: Attribute<Option<Link>>,
    /// The role it delivers under, `None` where it asks the target's own policy.
    pub role: Attribute<Option<Link>>,
    /// The message group of a FIFO queue as its target; `None` where nothing is written.
    pub message_group_id: Attribute<Option<String>>,
    /// How long it tries.
    pub maximum_event_age: Attribute<Seconds>,
    /// Whether it delivers at all.
    pub enabled: Attribute<bool>,
}

/// A state machine of Step Functions.
#[derive(Debug, Clone)]
pub struct StateMachine {
    /// Address, place and existence.
    pub resource: Resource,
    /// Whether it is an express workflow, none of whose tasks can wait.
    pub express: Attribute<bool>,
    /// What its definition says of tasks that wait.
    pub tasks: Attribute<TokenTasks>,
}

/// The tasks of a definition that send a message with a task token, and wait until somebody sends the token back.
#[derive(Debug, Clone, Default)]
pub struct TokenTasks {
    /// Those that are known.
    pub all: Vec<TokenTask>,
    /// Why there may be more.
    pub opaque: Option<Reason>,
}

/// A task that sends a message with a task token, and waits until somebody sends the token back.
#[derive(Debug, Clone)]
pub struct TokenTask {
    /// The name of its state.
    pub state: Arc<str>,
    /// What it does, in the definition.
    pub span: Span,
    /// The condition under which it does.
    pub when: Condition,
    /// The condition under which nothing limits how long it waits.
    pub unlimited: Condition,
}

/// What delivers in a unit, or in a project.
#[derive(Debug, Clone, Default)]
pub struct Deliveries {
    /// Pipes.
    pub pipes: Vec<Pipe>,
    /// Topics.
    pub topics: Vec<Topic>,
    /// Subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// Targets of rules and schedules, notifications of buckets.
    pub targets: Vec<EventTarget>,
    /// State machines.
    pub machines: Vec<StateMachine>,
}

impl Deliveries {
    /// Takes over what `other` holds, as of `unit`.
    pub(super) fn absorb(&mut self, other: Deliveries, unit: UnitId) {
        take(&mut self.pipes, other.pipes, unit, |node| &mut node.resource);
        take(&mut self.topics, other.topics, unit, |node| &mut node.resource);
        take(&mut self.subscriptions, other.subscriptions, unit, |node| {
            &mut node.resource
        });
        take(&mut self.targets, other.targets, unit, |node| &mut node.resource);
        take(&mut self.machines, other.machines, unit, |node| &mut node.resource);
    }
}
