//! The one model of every dialect: queues, functions, event source mappings, alarms, and their links.
//!
//! It knows values, conditions and places, and nothing of syntax, rules or reports. Frontends fill one
//! [`UnitGraph`] a unit; [`Graph::assemble`] joins them and answers the questions that rules ask.

pub mod access;
pub mod alarms;
mod arn;
pub mod attribute;
pub mod declared;
pub mod delivery;
mod ends;
mod handler;
pub mod jumps;
mod knowledge;
pub mod limits;
mod lookup;
mod nodes;
pub mod permits;
mod polling;
mod reach;
mod reason;
pub mod relations;
pub mod set_by;
mod tags;
pub mod values;
mod watch;
pub mod workers;

pub use crate::conditions::Condition;
pub use access::Access;
pub use alarms::{Alarm, AlarmListener, AlarmMetric, Dimension};
pub use arn::{AWS_KEY, FIFO_SUFFIX};
pub use attribute::{Attribute, Case, Name, Origin, Origins, Sourced, State, Unresolved};
pub use delivery::Deliveries;
pub use ends::End;
pub use handler::{Code, CodeSource, Continues, Fact, Handler, Response};
pub use knowledge::{Bounds, Knowledge, Pattern, UNKNOWN_PIECE};
pub use lookup::{Consumption, Graph};
pub use nodes::Nodes;
pub(crate) use reach::{Reach, may_watch};
pub use reason::{Cause, Reason};
pub use set_by::SetBy;
pub use tags::{Tag, Tags};
pub use watch::{Doubt, Watch};
pub use workers::Worker;

use crate::source::Span;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A whole number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seconds(pub i64);

impl Seconds {
    /// In days or hours, where that makes a whole number: `4 days`.
    pub fn in_words(self) -> Option<String> {
        let (count, unit) = match self.0 {
            seconds @ 86_400.. if seconds % 86_400 == 0 => (seconds / 86_400, "day"),
            seconds @ 3_600.. if seconds % 3_600 == 0 => (seconds / 3_600, "hour"),
            _ => return None,
        };
        Some(format!("{count} {unit}{}", if count == 1 { "" } else { "s" }))
    }

    /// With its words, where there are any: `345600 s (4 days)`.
    pub fn spoken(self) -> String {
        match self.in_words() {
            Some(words) => format!("{self} ({words})"),
            None => self.to_string(),
        }
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.0)
    }
}

/// Names a unit of a [`Graph`]: its place in [`Graph::units`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// What a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitKind {
    /// A Terraform root module, or a module nobody calls.
    TerraformModule,
    /// One CloudFormation or SAM file.
    Template,
    /// A stack of a CDK app, nested or not, as it was synthesised.
    CdkStack,
    /// A `serverless.yml`.
    ServerlessService,
    /// A Terraform plan as JSON.
    Plan,
    /// A Terraform state, as JSON or as stored.
    State,
}

/// A configuration as one tool deploys it.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Directory or file, relative to the repository root.
    pub name: String,
    /// What it is.
    pub kind: UnitKind,
    /// What in it is not read yet, for the summary ("functions and their events are not read").
    pub notes: Vec<String>,
    /// The call that it is evaluated for, where another unit calls it: `parent.yaml#Orders`.
    pub call: Option<Arc<str>>,
}

impl Unit {
    /// What links of other units name it by: its name, or its call.
    pub fn key(&self) -> &str {
        self.call.as_deref().unwrap_or(&self.name)
    }
}

/// What every node has. It reads like its [`Common`].
#[derive(Debug, Clone)]
pub struct Resource {
    /// Set by [`Graph::assemble`]; frontends leave `UnitId(0)`.
    pub unit: UnitId,
    /// Terraform address or CloudFormation logical id.
    pub address: Arc<str>,
    /// The line to point at for something absent: the block header, the logical id.
    pub header: Span,
    /// Where it exists.
    pub when: Condition,
    /// What it mostly has in common with others.
    pub common: Arc<Common>,
}

/// What the resources of one type and module mostly have in common: of tens of thousands, few have one of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    /// The type as written: `aws_sqs_queue`, `AWS::SQS::Queue`.
    pub kind: Arc<str>,
    /// The construct that it was synthesised from, where a CDK app says so: `App/Orders/Queue`.
    pub construct: Option<Arc<str>>,
    /// Why it may not exist at all (an unresolved `count`); `None` where `when` says everything.
    pub uncertain: Option<Reason>,
    /// Headers of the `module` blocks it comes through, outermost first.
    pub calls: Vec<Span>,
    /// Its Region, where the files say one; resources of one name in two Regions are two.
    pub region: Option<Arc<str>>,
    /// Its account, where the files say one.
    pub account: Option<Arc<str>>,
}

impl Deref for Resource {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

/// Makes one of equal [`Common`]s, as far as they come near each other: one in a row has a handful of types.
#[derive(Debug, Default)]
pub(crate) struct Commons(VecDeque<Arc<Common>>);

impl Commons {
    /// So many are remembered.
    const LATEST: usize = 16;

    /// What equals `common`.
    pub(crate) fn one(&mut self, common: Common) -> Arc<Common> {
        if let Some(known) = self.0.iter().find(|known| ***known == common) {
            return known.clone();
        }
        let one = Arc::new(common);
        self.0.push_front(one.clone());
        self.0.truncate(Commons::LATEST);
        one
    }
}

impl Resource {
    /// The name to use in a sentence: the address, behind the construct that its author knows it by.
    pub fn shown(&self) -> String {
        match &self.construct {
            Some(construct) => format!("`{construct}` (`{}`)", self.address),
            None => format!("`{}`", self.address),
        }
    }
}

/// What a link points to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A resource of the same unit, by address; it may be of a kind that the graph does not hold.
    Resource(Arc<str>),
    /// A resource of another unit, which [`Unit::key`] names.
    Elsewhere {
        /// The unit.
        unit: Arc<str>,
        /// The address there.
        address: Arc<str>,
    },
    /// An ARN, URL or name as written.
    External(Arc<str>),
    /// Something the unit ought to declare and does not, as written.
    Dangling(Arc<str>),
}

/// In which form a link was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// An ARN.
    Arn,
    /// A queue's URL.
    Url,
    /// A name or id.
    Name,
}

/// One end of an edge. Aliases and versions link to their function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// What it points to.
    pub target: Target,
    /// How it was written.
    pub form: Form,
}

impl Link {
    /// A link to `target` by its ARN.
    pub fn to(target: Target) -> Link {
        Link {
            target,
            form: Form::Arn,
        }
    }

    /// A link to nothing, for a metric without the dimension `QueueName`.
    pub fn none() -> Link {
        Link {
            target: Target::External("".into()),
            form: Form::Name,
        }
    }
}

/// What is wrong with how a redrive policy is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyFault {
    /// Text that is not JSON, or JSON that is not an object.
    NotAnObject,
    /// A key that redrive policies do not have.
    UnknownKey(String),
    /// No `deadLetterTargetArn`.
    TargetMissing,
    /// No `maxReceiveCount`.
    CountMissing,
    /// A string that holds a whole number, where the dialect does not convert it.
    CountQuoted(String),
    /// Neither a whole number nor a string that holds one, as written.
    CountNotInteger(String),
}

/// A fault and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub kind: PolicyFault,
    /// Where.
    pub span: Span,
}

/// Which queue takes the messages that fail, and after how many receives. On the source queue.
#[derive(Debug, Clone)]
pub struct RedrivePolicy {
    /// `deadLetterTargetArn`; unresolved where it is missing (see `faults`).
    pub target: Attribute<Link>,
    /// `maxReceiveCount`; unresolved where it is missing or no whole number (see `faults`).
    pub max_receive_count: Attribute<i64>,
    /// What is wrong with its form.
    pub faults: Vec<Fault>,
    /// What the queue itself refers to in it, so that it can only be made afterwards.
    pub depends_on: Vec<Target>,
}

/// Which queues may name this one as their dead-letter queue. On the dead-letter queue.
#[derive(Debug, Clone)]
pub struct RedriveAllowPolicy {
    /// `redrivePermission`: `allowAll`, `denyAll`, `byQueue`.
    pub permission: Attribute<String>,
    /// `sourceQueueArns`; empty where absent.
    pub sources: Vec<Attribute<Link>>,
    /// As [`RedrivePolicy::depends_on`].
    pub depends_on: Vec<Target>,
}

/// Which of a queue's two redrive policies is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedriveKind {
    /// The redrive policy of a source queue.
    Policy,
    /// The redrive allow policy of a dead-letter queue.
    AllowPolicy,
}

/// Something that sets a redrive policy or a redrive allow policy on a queue that a resource of its own sets, too.
#[derive(Debug, Clone)]
pub struct RedriveWriter {
    /// Which of the two.
    pub kind: RedriveKind,
    /// The resource of its own; `None` for the queue itself.
    pub by: Option<Arc<str>>,
    /// The policy in the queue, or the header of the resource.
    pub span: Span,
    /// Where it sets one.
    pub when: Condition,
    /// Why it may not.
    pub doubt: Option<Reason>,
}

/// What the SAM transform makes a queue for that the template only implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implicit {
    /// `SqsSubscription: true` in an event of a function.
    Subscription,
    /// `Type: SQS` without a queue of one's own, for what fails or what succeeds.
    Destination,
}

/// An SQS queue, with what separate resources set on it.
#[derive(Debug, Clone)]
pub struct Queue {
    /// Address, place and existence.
    pub resource: Resource,
    /// The physical name where written; `None` where AWS or the tool generates it.
    pub name: Attribute<Option<String>>,
    /// Whether it is a FIFO queue.
    pub fifo: Attribute<bool>,
    /// Whether a written `false` reaches SQS, which refuses it (CloudFormation; Terraform drops it).
    pub sends_fifo_false: bool,
    /// Visibility timeout.
    pub visibility_timeout: Attribute<Seconds>,
    /// Who sets that, where it is known.
    pub visibility_timeout_set_by: Option<SetBy>,
    /// Retention period.
    pub retention: Attribute<Seconds>,
    /// Delivery delay.
    pub delay: Attribute<Seconds>,
    /// Receive wait time (long polling).
    pub receive_wait_time: Attribute<Seconds>,
    /// Largest message, in bytes.
    pub maximum_message_size: Attribute<i64>,
    /// The KMS key that encrypts it, by ARN, id or alias; `None` where none is set.
    pub key: Attribute<Option<Link>>,
    /// How long a data key is reused.
    pub key_reuse_period: Attribute<Seconds>,
    /// Whether SQS's own keys encrypt it (SSE-SQS); `None` where nothing is written.
    pub managed_encryption: Attribute<Option<bool>>,
    /// Whether SQS tells duplicates by their content.
    pub content_based_deduplication: Attribute<bool>,
    /// `queue` or `messageGroup`; `None` where nothing is written.
    pub deduplication_scope: Attribute<Option<String>>,
    /// `perQueue` or `perMessageGroupId`; `None` where nothing is written.
    pub throughput_limit: Attribute<Option<String>>,
    /// Redrive policy, `None` where there is none (absent, empty, null).
    pub redrive: Attribute<Option<Box<RedrivePolicy>>>,
    /// Redrive allow policy.
    pub redrive_allow: Attribute<Option<Box<RedriveAllowPolicy>>>,
    /// What sets the two, where a resource of its own does.
    pub redrive_writers: Vec<RedriveWriter>,
    /// Its tags.
    pub tags: Attribute<Tags>,
    /// Why it exists though nobody declares it; `None` where it is declared.
    pub implicit: Option<Implicit>,
}

/// A setting of a function that takes failures of asynchronous invocations.
#[derive(Debug, Clone)]
pub struct FailureTarget {
    /// As the user spells the setting: `dead_letter_config`, `DeadLetterConfig`, `DeadLetterQueue`, `on_failure`.
    pub name: Arc<str>,
    /// The whole setting.
    pub span: Span,
    /// Where it is set.
    pub when: Condition,
    /// Where failures go.
    pub target: Attribute<Link>,
}

/// A Lambda function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Address, place and existence.
    pub resource: Resource,
    /// The physical name where written.
    pub name: Attribute<Option<String>>,
    /// How long one invocation may run.
    pub timeout: Attribute<Seconds>,
    /// Who sets that, where it is known.
    pub timeout_set_by: Option<SetBy>,
    /// Reserved concurrency; `None` is unreserved.
    pub reserved_concurrency: Attribute<Option<i64>>,
    /// Whether it runs on Managed Instances, which allow longer timeouts.
    pub managed_instances: Attribute<bool>,
    /// How long a durable execution may take; `None` where the function is not durable.
    pub durable_execution_timeout: Attribute<Option<Seconds>>,
    /// Dead-letter config and failure destinations.
    pub failure_targets: Vec<FailureTarget>,
    /// The execution role, also the one that SAM makes; `None` where none is named.
    pub role: Attribute<Option<Link>>,
    /// What Lambda does about loops through a queue: `Allow` or `Terminate`.
    pub recursive_loop: Attribute<String>,
    /// Its tags.
    pub tags: Attribute<Tags>,
    /// Where its source lies, as far as the files say.
    pub code: Code,
    /// What its source says; `None` where that was not read or not understood.
    pub handler: Option<Arc<Handler>>,
}

/// Pollers that an event source mapping holds ready.
#[derive(Debug, Clone)]
pub struct ProvisionedPollers {
    /// At least so many.
    pub minimum: Attribute<Option<i64>>,
    /// At most so many.
    pub maximum: Attribute<Option<i64>>,
    /// The group whose pollers it shares, which queues do not support; `None` where nothing is written.
    pub group: Attribute<Option<String>>,
}

/// One response type that a mapping asks for.
#[derive(Debug, Clone)]
pub struct ResponseType {
    /// `ReportBatchItemFailures` is the only one that Lambda knows.
    pub name: Attribute<String>,
    /// Where it is in the list.
    pub when: Condition,
}

/// A setting that only streams take.
#[derive(Debug, Clone)]
pub struct StreamSetting {
    /// As the user spells it.
    pub name: Arc<str>,
    /// Its place.
    pub span: Span,
    /// Where it is set, to a value that is known to do something.
    pub when: Condition,
    /// Whether it says where to begin in a stream, which Lambda refuses for a queue.
    pub is_start: bool,
}

/// An event source mapping whose source is a queue, may be one, or is nothing that a mapping can read.
#[derive(Debug, Clone)]
pub struct EventSourceMapping {
    /// Address, place and existence.
    pub resource: Resource,
    /// The source.
    pub queue: Attribute<Link>,
    /// The function.
    pub function: Attribute<Link>,
    /// Largest batch.
    pub batch_size: Attribute<i64>,
    /// Batching window.
    pub window: Attribute<Seconds>,
    /// Who sets that, where it is known.
    pub window_set_by: Option<SetBy>,
    /// Whether `ReportBatchItemFailures` is among the response types.
    pub report_batch_item_failures: Attribute<bool>,
    /// Every response type that is known to be written.
    pub response_types: Vec<ResponseType>,
    /// Maximum concurrency; `None` where there is none.
    pub maximum_concurrency: Attribute<Option<i64>>,
    /// Whether it polls.
    pub enabled: Attribute<bool>,
    /// Patterns of its filters; empty where it has none.
    pub filters: Attribute<Vec<Attribute<String>>>,
    /// Provisioned pollers; `None` where it has none.
    pub provisioned_pollers: Attribute<Option<Box<ProvisionedPollers>>>,
    /// Where failed batches go, which queues do not support; `None` where nothing is written.
    pub failure_destination: Attribute<Option<Link>>,
    /// Settings that only streams take.
    pub stream_settings: Vec<StreamSetting>,
    /// Where its settings tell that it reads a queue, and be it not known which.
    pub is_of_a_queue: Condition,
    /// The alias or version of the function that it invokes; `None` for the function itself.
    pub qualifier: Attribute<Option<String>>,
    /// Where `SqsSubscription.Enabled: false` is written, which the SAM transform takes for `true`.
    pub ignored_disabling: Option<Span>,
}

/// What a resource that uses a dead-letter queue is.
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
    /// Anything else.
    Other,
}

impl DeadLetterUse {
    /// The resource that refers to it, in a sentence: "the function `worker`".
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
        format!("{kind}`{}`", self.by)
    }
}

/// A reference that makes a queue the dead-letter queue of something that is no queue: a function, a
/// destination, a rule, a schedule, a subscription, a pipe.
#[derive(Debug, Clone)]
pub struct DeadLetterUse {
    /// The resource that refers to it.
    pub by: Arc<str>,
    /// What that resource is.
    pub owner: Owner,
    /// The argument.
    pub span: Span,
    /// Where failures go.
    pub target: Attribute<Link>,
    /// Where it is set.
    pub when: Condition,
}

/// Something other than a queue that may invoke a function: a permission, a subscription, a rule, a schedule.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The resource or event.
    pub by: Arc<str>,
    /// Its place.
    pub span: Span,
    /// The function; unresolved stands for any function.
    pub function: Attribute<Link>,
}

/// One unit as its frontend understood it. Links name addresses of the same unit.
#[derive(Debug, Clone)]
pub struct UnitGraph {
    /// The unit.
    pub unit: Unit,
    /// Its queues.
    pub queues: Vec<Queue>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Its event source mappings, those of streams and other sources that are no queues left out.
    pub mappings: Vec<EventSourceMapping>,
    /// Its alarms, whatever they look at.
    pub alarms: Vec<Alarm>,
    /// Alarms that it declares and that do not exist: under a condition that does not hold, or with a `count` of zero.
    pub left_out_alarms: Vec<Alarm>,
    /// What hears of alarms besides their actions.
    pub alarm_listeners: Vec<AlarmListener>,
    /// What delivers to queues, or reads them besides mappings.
    pub deliveries: Deliveries,
    /// What runs programs that may read queues.
    pub workers: Vec<Worker>,
    /// What environments take values from.
    pub parameters: Vec<workers::Parameter>,
    /// Policies, roles and keys.
    pub access: Access,
    /// References from failure arguments.
    pub dead_letter_uses: Vec<DeadLetterUse>,
    /// What else invokes functions.
    pub invocations: Vec<Invocation>,
    /// References to queues and roles that hand them to a module or nested stack that is not here, which may alarm on
    /// the ones or consume them, and grant the others more.
    pub handed_out: Vec<Link>,
    /// Types of declared resources that stand where a queue has to, and are none: `AWS::SNS::Topic`.
    pub not_queues: Vec<(Target, Arc<str>)>,
    /// References to queues in calls of modules that have no instance, in which there may be alarms.
    pub left_out_calls: Vec<(Link, Span)>,
}

impl UnitGraph {
    /// A unit in which nothing has been found yet.
    pub fn new(unit: Unit) -> Self {
        UnitGraph {
            unit,
            queues: Vec::new(),
            functions: Vec::new(),
            mappings: Vec::new(),
            alarms: Vec::new(),
            left_out_alarms: Vec::new(),
            alarm_listeners: Vec::new(),
            deliveries: Deliveries::default(),
            workers: Vec::new(),
            parameters: Vec::new(),
            access: Access::default(),
            dead_letter_uses: Vec::new(),
            invocations: Vec::new(),
            handed_out: Vec::new(),
            not_queues: Vec::new(),
            left_out_calls: Vec::new(),
        }
    }

    /// Gives back the room that was reserved for more nodes.
    pub(crate) fn trim(&mut self) {
        self.queues.shrink_to_fit();
        self.functions.shrink_to_fit();
        self.mappings.shrink_to_fit();
    }
}
