//! Senders to queues, and consumers other than event source mappings: topics and subscriptions, targets of rules and
//! schedules, notifications of buckets, pipes, and state machines.

use super::limits::EVENT_AGE_DEFAULT;
use super::nodes::append_sorted;
use super::{Attribute, Link, PolicyError, Reason, Resource, Seconds, Tags, Target, UnitId};
use conditions::Condition;
use source::Span;
use std::sync::Arc;

/// An `EventBridge` pipe with any source and target.
#[derive(Debug, Clone)]
pub struct Pipe {
    /// Address, location and existence.
    pub resource: Resource,
    /// Source.
    pub source: Attribute<Link>,
    /// Enrichment step, if any.
    pub enrichment: Attribute<Option<Link>>,
    /// Target.
    pub target: Attribute<Link>,
    /// Kind of target.
    pub target_kind: Attribute<TargetKind>,
    /// Batch size for a queue as its source.
    pub batch_size: Attribute<i64>,
    /// Batching window for a queue as its source.
    pub window: Attribute<Seconds>,
    /// Filter patterns; empty if it has none.
    pub filters: Attribute<Vec<Attribute<String>>>,
    /// `true` if it runs (`DesiredState`).
    pub running: Attribute<bool>,
    /// Invocation type of its target: `REQUEST_RESPONSE` or `FIRE_AND_FORGET`; `None` if absent.
    pub invocation_type: Attribute<Option<String>>,
    /// Message group for a FIFO queue as its target; `None` if absent.
    pub message_group_id: Attribute<Option<String>>,
    /// Execution role.
    pub role: Attribute<Option<Link>>,
    /// Dead-letter queues for records of a stream.
    pub dead_letters: Vec<Attribute<Option<Link>>>,
}

/// Kinds of targets of a pipe.
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
    /// Any other target.
    Other,
}

impl TargetKind {
    /// Returns the kind of an external target by the service in its ARN.
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

    /// Returns the kind for a sentence: "an SNS topic".
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

    /// Returns the maximum batch that it accepts from a pipe, if that is below the maximum batch size of pipes.
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
    /// Address, location and existence.
    pub resource: Resource,
    /// Physical name; `None` if it is generated.
    pub name: Attribute<Option<String>>,
    /// `true` for a FIFO topic.
    pub fifo: Attribute<bool>,
    /// Tags.
    pub tags: Attribute<Tags>,
}

/// Redrive policy of a subscription: the queue for messages that SNS could not deliver.
#[derive(Debug, Clone)]
pub struct SubscriptionRedrivePolicy {
    /// `deadLetterTargetArn`; unresolved if it is missing (see `faults`).
    pub target: Attribute<Link>,
    /// Errors in its form; `maxReceiveCount` is an unknown key here.
    pub faults: Vec<PolicyError>,
}

/// A subscription to a topic with any protocol.
#[derive(Debug, Clone)]
pub struct Subscription {
    /// Address, location and existence.
    pub resource: Resource,
    /// Topic.
    pub topic: Attribute<Link>,
    /// `sqs`, `lambda`, `email`…
    pub protocol: Attribute<String>,
    /// Endpoint.
    pub endpoint: Attribute<Link>,
    /// `true` if messages are delivered without SNS's envelope.
    pub raw_message_delivery: Attribute<bool>,
    /// Redrive policy; `None` if absent.
    pub redrive: Attribute<Option<SubscriptionRedrivePolicy>>,
}

/// Services that deliver events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sender {
    /// An `EventBridge` rule.
    Rule,
    /// An `EventBridge` schedule.
    Schedule,
    /// A notification of an S3 bucket.
    Bucket,
    /// An integration of an API.
    Api,
    /// A task of a state machine.
    Task,
    /// An action of an `IoT` rule.
    IotRule,
    /// A lifecycle hook of an Auto Scaling group.
    LifecycleHook,
    /// A subscriber of an event bus of the new generation of `EventBridge`.
    Subscriber,
}

impl Sender {
    /// Returns the name in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Sender::Rule => "rule",
            Sender::Schedule => "schedule",
            Sender::Bucket => "bucket",
            Sender::Api => "api",
            Sender::Task => "task",
            Sender::IotRule => "iot-rule",
            Sender::LifecycleHook => "lifecycle-hook",
            Sender::Subscriber => "subscriber",
        }
    }

    /// Returns `true` if it sends only to standard queues.
    pub fn needs_standard_queue(self) -> bool {
        matches!(self, Sender::Bucket | Sender::IotRule | Sender::LifecycleHook)
    }
}

/// A target of a rule or a schedule, a notification of a bucket, or whatever else sends to a queue.
#[derive(Debug, Clone)]
pub struct EventTarget {
    /// Address, location and existence. If one resource declares several targets, the address includes the index:
    /// `OrdersRule.Targets[0]`.
    pub resource: Resource,
    /// Service that delivers.
    pub sender: Sender,
    /// Rule, schedule or bucket.
    pub source: Attribute<Link>,
    /// Target.
    pub target: Attribute<Link>,
    /// `true` if the target is written as the URL of a queue: by an API, or for an action of the SDK.
    pub uses_url: bool,
    /// Dead-letter queue for events that could not be delivered; `None` if absent.
    pub dead_letter: Attribute<Option<Link>>,
    /// Execution role; `None` if it needs a permission in the target's policy.
    pub role: Attribute<Option<Link>>,
    /// Message group for a FIFO queue as its target; `None` if absent.
    pub message_group_id: Attribute<Option<String>>,
    /// Deduplication id for a FIFO queue as its target; `None` if absent.
    pub deduplication_id: Attribute<Option<String>>,
    /// Delay of each message; `None` if absent.
    pub delay: Attribute<Option<i64>>,
    /// Maximum age of an event, for which delivery is retried.
    pub maximum_event_age: Attribute<Seconds>,
    /// `true` if it is enabled.
    pub enabled: Attribute<bool>,
}

impl EventTarget {
    /// Creates a target without any other attribute.
    pub(crate) fn plain(resource: Resource, sender: Sender, source: Attribute<Link>, target: Attribute<Link>) -> Self {
        let header = resource.header;
        EventTarget {
            resource,
            sender,
            source,
            target,
            uses_url: false,
            dead_letter: Attribute::absent("dead-letter queue", None, header),
            role: Attribute::absent("role", None, header),
            message_group_id: Attribute::absent("MessageGroupId", None, header),
            deduplication_id: Attribute::absent("MessageDeduplicationId", None, header),
            delay: Attribute::absent("DelaySeconds", None, header),
            maximum_event_age: Attribute::absent("maximum event age", EVENT_AGE_DEFAULT, header),
            enabled: Attribute::absent("state", true, header),
        }
    }
}

/// A state machine of Step Functions.
#[derive(Debug, Clone)]
pub struct StateMachine {
    /// Address, location and existence.
    pub resource: Resource,
    /// `true` for an express workflow, whose tasks cannot wait.
    pub express: Attribute<bool>,
    /// Waiting tasks in its definition.
    pub tasks: Attribute<TokenTasks>,
}

/// Tasks of a definition that send a message with a task token and wait until the token is returned.
#[derive(Debug, Clone, Default)]
pub struct TokenTasks {
    /// Known tasks.
    pub all: Vec<TokenTask>,
    /// Reason why there may be unknown ones.
    pub opaque: Option<Reason>,
}

/// A task that sends a message with a task token and waits until the token is returned.
#[derive(Debug, Clone)]
pub struct TokenTask {
    /// Name of its state.
    pub state: Arc<str>,
    /// Span of the task in the definition.
    pub span: Span,
    /// Condition under which it exists.
    pub when: Condition,
    /// Condition under which it has no limit on the waiting time.
    pub unlimited: Condition,
}

/// A rule that names an event bus.
#[derive(Debug, Clone)]
pub struct RuleOnBus {
    /// The rule.
    pub resource: Resource,
    /// The bus, by name or ARN.
    pub bus: Attribute<Option<Link>>,
}

impl RuleOnBus {
    /// Returns `true` if its bus is known and not the default one, so that the ARN of the rule contains its name.
    pub fn is_on_custom_bus(&self) -> bool {
        self.bus
            .known()
            .and_then(Option::as_ref)
            .is_some_and(|bus| match &bus.target {
                Target::External(written) => !written.ends_with("default") && !written.contains('$'),
                _ => true,
            })
    }
}

/// Senders and pipes of a unit or of a project.
#[derive(Debug, Clone, Default)]
pub struct Deliveries {
    /// Pipes.
    pub pipes: Vec<Pipe>,
    /// Topics.
    pub topics: Vec<Topic>,
    /// Rules and buckets.
    pub sources: Vec<Resource>,
    /// Rules that name an event bus.
    pub rules_on_buses: Vec<RuleOnBus>,
    /// Subscriptions.
    pub subscriptions: Vec<Subscription>,
    /// Targets of rules and schedules, notifications of buckets.
    pub targets: Vec<EventTarget>,
    /// State machines.
    pub machines: Vec<StateMachine>,
}

impl Deliveries {
    /// Adds the contents of `other`, which belong to `unit`.
    pub(super) fn append(&mut self, other: Deliveries, unit: UnitId) {
        append_sorted(&mut self.pipes, other.pipes, unit);
        append_sorted(&mut self.topics, other.topics, unit);
        append_sorted(&mut self.sources, other.sources, unit);
        append_sorted(&mut self.rules_on_buses, other.rules_on_buses, unit);
        append_sorted(&mut self.subscriptions, other.subscriptions, unit);
        append_sorted(&mut self.targets, other.targets, unit);
        append_sorted(&mut self.machines, other.machines, unit);
    }
}
