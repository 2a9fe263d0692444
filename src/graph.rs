//! The model shared by all dialects: queues, functions, event source mappings, alarms, and the links between them.
//!
//! It consists of values, conditions and spans, and does not know syntax, rules or reports. Frontends create one
//! [`UnitGraph`] per unit; [`Graph::assemble`] joins them and answers the queries of rules.

pub mod access;
pub mod alarms;
mod arn;
pub mod attribute;
pub mod commands;
mod common;
pub mod declared;
pub mod delivery;
pub mod deployed;
mod ends;
pub mod limits;
mod lookup;
mod name;
mod nodes;
pub mod permits;
mod plain;
mod polling;
mod reach;
pub mod relations;
pub mod stated;
mod tags;
pub mod values;
mod watch;
pub mod workers;

pub use ::handlers::{Code, CodeSource, ContinuesAfterFailure, Fact, Handler, Outcome, Response, Unread};
pub use ::knowledge::{
    Bounds, Cause, Form, Input, Knowledge, Origin, Origins, Pattern, Reason, SetBy, Target, UNKNOWN_PIECE, Unresolved,
};
pub use access::Access;
pub use alarms::{Alarm, AlarmMetric, AlarmSubscriber, Dimension};
pub use arn::{AWS_KEY, FIFO_SUFFIX};
pub use attribute::{Attribute, Case, SourcedValue, State};
pub(crate) use common::CommonNode;
pub use conditions::Condition;
pub use delivery::Deliveries;
pub use ends::End;
pub use lookup::{Consumption, Graph};
pub use name::Name;
pub use nodes::Nodes;
pub use plain::{AsPlain, Plain};
pub(crate) use reach::{Connections, join_watching_parts};
pub use tags::{Tag, Tags};
pub use watch::{Doubt, Watch};
pub use workers::Worker;

use source::Span;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A whole number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seconds(pub i64);

impl Seconds {
    /// Formats a whole number of days or hours: `4 days`.
    pub fn in_words(self) -> Option<String> {
        let (count, unit) = match self.0 {
            seconds @ 86_400.. if seconds % 86_400 == 0 => (seconds / 86_400, "day"),
            seconds @ 3_600.. if seconds % 3_600 == 0 => (seconds / 3_600, "hour"),
            _ => return None,
        };
        Some(format!("{count} {unit}{}", if count == 1 { "" } else { "s" }))
    }

    /// Formats the seconds, followed by whole days or hours: `345600 s (4 days)`.
    pub fn with_words(self) -> String {
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

/// Identifier of a unit: its index in [`Graph::units`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitId(pub u32);

/// Identifier of a resource: its unit and its address.
pub type ResourceKey = (UnitId, Arc<str>);

/// Kinds of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitKind {
    /// A Terraform root module, or a module without a caller.
    TerraformModule,
    /// A CloudFormation or SAM template.
    Template,
    /// A synthesised stack of a CDK app, nested or not.
    CdkStack,
    /// A `serverless.yml`.
    ServerlessService,
    /// A Terraform plan as JSON.
    Plan,
    /// A Terraform state, as JSON or as stored.
    State,
    /// A snapshot of what an account has deployed.
    Snapshot,
}

/// A configuration that one tool deploys as one.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Directory or file, relative to the repository root.
    pub name: String,
    /// Kind of unit.
    pub kind: UnitKind,
    /// Parts of it that are not supported, for the summary ("functions and their events are not read").
    pub notes: Vec<String>,
    /// Sources of remote modules that are not read, each with the number of its calls.
    pub unread_modules: BTreeMap<String, usize>,
    /// Call for which it is evaluated, if another unit calls it: `parent.yaml#Orders`.
    pub call: Option<Arc<str>>,
}

impl Unit {
    /// Returns the key that links of other units use for it: its call, or else its name.
    pub fn key(&self) -> &str {
        self.call.as_deref().unwrap_or(&self.name)
    }
}

/// Data that every node has. It dereferences to its [`Common`].
#[derive(Debug, Clone)]
pub struct Resource {
    /// Unit of the resource. [`Graph::assemble`] sets it; frontends use `UnitId(0)`.
    pub unit: UnitId,
    /// Terraform address or CloudFormation logical id.
    pub address: Arc<str>,
    /// Span to point at for an absent attribute: the block header, the logical id.
    pub header: Span,
    /// Condition under which it exists.
    pub when: Condition,
    /// Data that it usually shares with other resources.
    pub common: Arc<Common>,
}

impl Resource {
    /// Returns the identifier of this resource.
    pub fn key(&self) -> ResourceKey {
        (self.unit, self.address.clone())
    }
}

/// Data that the resources of one type and module usually share. Among tens of thousands of resources there are few
/// different values.
#[derive(Debug, Clone, PartialEq)]
pub struct Common {
    /// Type as written: `aws_sqs_queue`, `AWS::SQS::Queue`.
    pub kind: Arc<str>,
    /// Construct from which a CDK app synthesised it: `App/Orders/Queue`.
    pub construct: Option<Arc<str>>,
    /// Reason why it may not exist (an unresolved `count`); `None` if `when` is complete.
    pub uncertain: Option<Reason>,
    /// Headers of the `module` blocks that contain it, outermost first.
    pub calls: Vec<Span>,
    /// Region, if known. Resources with the same name in two Regions are different.
    pub region: Option<Arc<str>>,
    /// Account, if known.
    pub account: Option<Arc<str>>,
    /// Arguments whose changes by others Terraform ignores (`ignore_changes`), or `all`.
    pub ignored: Vec<Arc<str>>,
}

impl Deref for Resource {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

/// Deduplicates [`Common`]s. Consecutive resources have only a handful, so the latest suffice.
#[derive(Debug, Default)]
pub(crate) struct Commons(VecDeque<Arc<Common>>);

impl Commons {
    /// Number of values that are remembered.
    const CAPACITY: usize = 16;

    /// Returns a shared value equal to `common`.
    pub(crate) fn shared(&mut self, common: Common) -> Arc<Common> {
        if let Some(known) = self.0.iter().find(|known| ***known == common) {
            return known.clone();
        }
        let one = Arc::new(common);
        self.0.push_front(one.clone());
        self.0.truncate(Commons::CAPACITY);
        one
    }
}

impl Resource {
    /// Returns the name for a sentence: the address, preceded by the construct, which its author knows better.
    pub fn shown(&self) -> String {
        match &self.construct {
            Some(construct) => format!("`{construct}` (`{}`)", self.address),
            None => format!("`{}`", self.address),
        }
    }
}

/// A reference to another node. References to an alias or version of a function link to the function.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Link {
    /// Target of the link.
    pub target: Target,
    /// Form in which it is written.
    pub form: Form,
}

impl Link {
    /// Creates a link to `target` by ARN.
    pub fn to(target: Target) -> Link {
        Link {
            target,
            form: Form::Arn,
        }
    }

    /// Creates an empty link, for a metric without the dimension `QueueName`.
    pub fn none() -> Link {
        Link {
            target: Target::External("".into()),
            form: Form::Name,
        }
    }
}

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
    /// Resources that the queue refers to in the policy, so that it can only be created after them.
    pub depends_on: Vec<Target>,
}

/// Redrive allow policy of a dead-letter queue: the queues that may use it.
#[derive(Debug, Clone)]
pub struct RedriveAllowPolicy {
    /// `redrivePermission`: `allowAll`, `denyAll`, `byQueue`.
    pub permission: Attribute<String>,
    /// `sourceQueueArns`; empty if absent.
    pub sources: Vec<Attribute<Link>>,
    /// Like [`RedrivePolicy::depends_on`].
    pub depends_on: Vec<Target>,
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

/// Kinds of queues that the SAM transform creates implicitly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implicit {
    /// `SqsSubscription: true` in an event of a function.
    Subscription,
    /// `Type: SQS` without a queue, as a destination for failures or successes.
    Destination,
}

/// An SQS queue, including the settings that separate resources make.
#[derive(Debug, Clone)]
pub struct Queue {
    /// Address, location and existence.
    pub resource: Resource,
    /// Physical name; `None` if AWS or the tool generates it.
    pub name: Attribute<Option<String>>,
    /// `true` for a FIFO queue.
    pub fifo: Attribute<bool>,
    /// `true` if a written `false` is sent to SQS, which rejects it (CloudFormation; Terraform omits it).
    pub sends_fifo_false: bool,
    /// Visibility timeout.
    pub visibility_timeout: Attribute<Seconds>,
    /// Party that sets the visibility timeout, the module or its caller, if known.
    pub visibility_timeout_set_by: Option<SetBy>,
    /// Retention period.
    pub retention: Attribute<Seconds>,
    /// Delivery delay.
    pub delay: Attribute<Seconds>,
    /// Receive wait time (long polling).
    pub receive_wait_time: Attribute<Seconds>,
    /// Maximum message size in bytes.
    pub maximum_message_size: Attribute<i64>,
    /// KMS key, by ARN, id or alias; `None` if it has none.
    pub key: Attribute<Option<Link>>,
    /// Data key reuse period.
    pub key_reuse_period: Attribute<Seconds>,
    /// `true` if it is encrypted by SSE-SQS; `None` if absent.
    pub managed_encryption: Attribute<Option<bool>>,
    /// `true` if SQS detects duplicates by their content.
    pub content_based_deduplication: Attribute<bool>,
    /// `queue` or `messageGroup`; `None` if absent.
    pub deduplication_scope: Attribute<Option<String>>,
    /// `perQueue` or `perMessageGroupId`; `None` if absent.
    pub throughput_limit: Attribute<Option<String>>,
    /// Redrive policy; `None` if absent, empty or null.
    pub redrive: Attribute<Option<Box<RedrivePolicy>>>,
    /// Redrive allow policy.
    pub redrive_allow: Attribute<Option<Box<RedriveAllowPolicy>>>,
    /// All writers of the two policies, if a separate resource writes one.
    pub redrive_writers: Vec<RedriveWriter>,
    /// Tags.
    pub tags: Attribute<Tags>,
    /// Kind of implicit queue; `None` if it is declared.
    pub implicit: Option<Implicit>,
}

/// A setting of a function that sends failed asynchronous invocations somewhere, or successful ones.
#[derive(Debug, Clone)]
pub struct FailureTarget {
    /// Name of the setting as written: `dead_letter_config`, `DeadLetterConfig`, `DeadLetterQueue`, `on_failure`.
    pub name: Arc<str>,
    /// Span of the whole setting.
    pub span: Span,
    /// Condition under which it is set.
    pub when: Condition,
    /// Target of the records.
    pub target: Attribute<Link>,
}

/// Attributes of a function that only policies read.
#[derive(Debug, Clone)]
pub struct FunctionSettings {
    /// Runtime; `None` for an image.
    pub runtime: Attribute<Option<String>>,
    /// Memory in MB.
    pub memory: Attribute<i64>,
    /// Architectures; empty if absent, which means `x86_64`.
    pub architectures: Attribute<Vec<Attribute<String>>>,
    /// Layers.
    pub layers: Attribute<Vec<Attribute<Link>>>,
    /// Environment variables.
    pub environment: Attribute<Tags>,
}

/// A Lambda function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Address, location and existence.
    pub resource: Resource,
    /// Physical name; `None` if it is generated.
    pub name: Attribute<Option<String>>,
    /// Timeout of an invocation.
    pub timeout: Attribute<Seconds>,
    /// Party that sets the timeout, the module or its caller, if known.
    pub timeout_set_by: Option<SetBy>,
    /// Reserved concurrency; `None` if unreserved.
    pub reserved_concurrency: Attribute<Option<i64>>,
    /// `true` if it runs on Managed Instances, which allow longer timeouts.
    pub managed_instances: Attribute<bool>,
    /// Timeout of a durable execution; `None` if the function is not durable.
    pub durable_execution_timeout: Attribute<Option<Seconds>>,
    /// Dead-letter config and failure destinations.
    pub failure_targets: Vec<FailureTarget>,
    /// Destinations of successful asynchronous invocations.
    pub success_targets: Vec<FailureTarget>,
    /// Execution role, including one that SAM creates; `None` if absent.
    pub role: Attribute<Option<Link>>,
    /// Reaction of Lambda to loops through a queue: `Allow` or `Terminate`.
    pub recursive_loop: Attribute<String>,
    /// Tenant isolation mode: `PER_TENANT`; `None` if absent.
    pub tenant_isolation: Attribute<Option<String>>,
    /// Tags.
    pub tags: Attribute<Tags>,
    /// Further attributes; `None` if all are absent.
    pub settings: Option<Box<FunctionSettings>>,
    /// Location of its source code.
    pub code: Code,
    /// Facts about its source code, or the reason why it was not analysed.
    pub handler: Result<Arc<Handler>, Unread>,
}

/// Provisioned pollers of an event source mapping.
#[derive(Debug, Clone)]
pub struct ProvisionedPollers {
    /// Minimum number.
    pub minimum: Attribute<Option<i64>>,
    /// Maximum number.
    pub maximum: Attribute<Option<i64>>,
    /// Group whose pollers it shares, which queues do not support; `None` if absent.
    pub group: Attribute<Option<String>>,
}

/// A response type in a mapping's list.
#[derive(Debug, Clone)]
pub struct ResponseType {
    /// Name; `ReportBatchItemFailures` is the only one that Lambda supports.
    pub name: Attribute<String>,
    /// Condition under which it is in the list.
    pub when: Condition,
    /// `true` if it is written without a list.
    pub is_bare: bool,
}

/// A setting that applies only to streams.
#[derive(Debug, Clone)]
pub struct StreamSetting {
    /// Name as written.
    pub name: Arc<str>,
    /// Span of the setting.
    pub span: Span,
    /// Condition under which it is set to a value that has an effect.
    pub when: Condition,
    /// `true` for the starting position in a stream, which Lambda rejects for a queue.
    pub is_start: bool,
}

/// A property that its resource does not have.
#[derive(Debug, Clone)]
pub struct UnknownProperty {
    /// The resource that sets it.
    pub resource: Resource,
    /// Name as written.
    pub name: Arc<str>,
    /// Span of the name.
    pub span: Span,
    /// Property that was probably meant.
    pub meant: Option<&'static str>,
    /// Default of that property, if it is a number.
    pub default: Option<String>,
    /// Effect of the property.
    pub fault: PropertyFault,
}

/// Effects of an unknown property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyFault {
    /// The deployment fails.
    Rejected,
    /// The tool that creates the resource ignores it.
    Ignored,
    /// The tool ignores the object that the property belongs into, because the property is next to it.
    Misplaced,
    /// The tool ignores the property, which is known, because it has no value.
    Empty,
    /// The deployment fails because the property, which is known, lacks a required key.
    Incomplete,
}

/// An event source mapping whose source is a queue, may be one, or cannot be the source of any mapping.
#[derive(Debug, Clone)]
pub struct EventSourceMapping {
    /// Address, location and existence.
    pub resource: Resource,
    /// Source.
    pub queue: Attribute<Link>,
    /// Function.
    pub function: Attribute<Link>,
    /// Batch size.
    pub batch_size: Attribute<i64>,
    /// Batching window.
    pub window: Attribute<Seconds>,
    /// Party that sets the batching window, the module or its caller, if known.
    pub window_set_by: Option<SetBy>,
    /// `true` if the response types include `ReportBatchItemFailures`.
    pub report_batch_item_failures: Attribute<bool>,
    /// All response types known to be in the list.
    pub response_types: Vec<ResponseType>,
    /// Maximum concurrency; `None` if absent.
    pub maximum_concurrency: Attribute<Option<i64>>,
    /// `true` if it polls.
    pub enabled: Attribute<bool>,
    /// Filter patterns; empty if it has none.
    pub filters: Attribute<Vec<Attribute<String>>>,
    /// Provisioned pollers; `None` if it has none.
    pub provisioned_pollers: Attribute<Option<Box<ProvisionedPollers>>>,
    /// Destination of failed batches, which queues do not support; `None` if absent.
    pub failure_destination: Attribute<Option<Link>>,
    /// Settings that apply only to streams.
    pub stream_settings: Vec<StreamSetting>,
    /// Condition under which its other settings show that its source is a queue, even if an unknown one.
    pub polls_a_queue_when: Condition,
    /// Alias or version of the function that it invokes; `None` for the function itself.
    pub qualifier: Attribute<Option<String>>,
    /// Tags; `None` if it has none.
    pub tags: Option<Box<Attribute<Tags>>>,
    /// Span of `SqsSubscription.Enabled: false`, which the SAM transform treats as `true`.
    pub ignored_disabling: Option<Span>,
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

/// A source other than a queue that may invoke a function: a permission, a subscription, a rule, a schedule.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Resource or event.
    pub resource: Arc<str>,
    /// Span of the resource or event.
    pub span: Span,
    /// Function; unresolved represents any function.
    pub function: Attribute<Link>,
}

/// A unit as its frontend lowered it. Links use addresses of the same unit.
#[derive(Debug, Clone)]
pub struct UnitGraph {
    /// The unit.
    pub unit: Unit,
    /// Queues.
    pub queues: Vec<Queue>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Event source mappings, except those of streams and other sources that are not queues.
    pub mappings: Vec<EventSourceMapping>,
    /// Alarms on any metric.
    pub alarms: Vec<Alarm>,
    /// Alarms that are declared but do not exist: under a condition that does not hold, or with a `count` of zero.
    pub nonexistent_alarms: Vec<Alarm>,
    /// Subscribers to alarms, other than alarm actions.
    pub alarm_subscribers: Vec<AlarmSubscriber>,
    /// Resources other than mappings that send to queues or consume them.
    pub deliveries: Deliveries,
    /// Resources that run programs, which may consume queues.
    pub workers: Vec<Worker>,
    /// Sources of values for environment variables.
    pub parameters: Vec<workers::Parameter>,
    /// Policies, roles and keys.
    pub access: Access,
    /// Uses of dead-letter queues by resources other than queues.
    pub dead_letter_uses: Vec<DeadLetterUse>,
    /// Other sources that may invoke functions.
    pub invocations: Vec<Invocation>,
    /// References to queues and roles that are passed to a module or nested stack whose files are not available. It may
    /// consume the queues or alarm on them, and grant more to the roles.
    pub passed_to_missing_code: Vec<Link>,
    /// References, in place of a queue, to declared resources that are not queues, with their types: `AWS::SNS::Topic`.
    pub not_queues: Vec<(Target, Arc<str>)>,
    /// Properties that their resources do not have.
    pub unknown_properties: Vec<UnknownProperty>,
    /// References to queues in calls of modules without an instance, which may contain alarms.
    pub uninstantiated_calls: Vec<(Link, Span)>,
    /// Number of queues that do not exist, by the variable whose default leaves them out.
    pub switched_off: BTreeMap<Arc<str>, usize>,
}

impl UnitGraph {
    /// Creates an empty unit.
    pub fn new(unit: Unit) -> Self {
        UnitGraph {
            unit,
            queues: Vec::new(),
            functions: Vec::new(),
            mappings: Vec::new(),
            alarms: Vec::new(),
            nonexistent_alarms: Vec::new(),
            alarm_subscribers: Vec::new(),
            deliveries: Deliveries::default(),
            workers: Vec::new(),
            parameters: Vec::new(),
            access: Access::default(),
            dead_letter_uses: Vec::new(),
            invocations: Vec::new(),
            passed_to_missing_code: Vec::new(),
            not_queues: Vec::new(),
            unknown_properties: Vec::new(),
            uninstantiated_calls: Vec::new(),
            switched_off: BTreeMap::new(),
        }
    }

    /// Forgets which numbers the inputs `set` of the unit set, because files of an environment set these inputs. If there
    /// are such files, each of them sets the inputs without a default, also those that only one environment needs.
    pub(crate) fn forget_inputs(&mut self, set: &BTreeSet<Arc<str>>) {
        if set.is_empty() {
            return;
        }
        let is_set = |input: &Input| input.is_required || (input.within.is_empty() && set.contains(&input.name));
        let functions = self.functions.iter_mut().map(|function| &mut function.timeout_set_by);
        let mappings = self.mappings.iter_mut().map(|mapping| &mut mapping.window_set_by);
        for set_by in functions.chain(mappings) {
            if matches!(set_by, Some(SetBy::Input(input)) if is_set(input)) {
                *set_by = None;
            }
        }
    }

    /// Adds a note for each variable that leaves out queues and that no file of an environment sets.
    pub(crate) fn note_switches(&mut self, is_set: impl Fn(&Arc<str>) -> bool) {
        for (name, count) in std::mem::take(&mut self.switched_off) {
            if is_set(&name) {
                continue;
            }
            let (queues, them) = match count {
                1 => ("1 queue exists".to_owned(), "it"),
                _ => (format!("{count} queues exist"), "them"),
            };
            let note = format!("{queues} only with `var.{name}`, whose default leaves {them} out");
            self.unit.notes.push(note);
        }
    }

    /// Releases the spare capacity of the longest lists.
    pub(crate) fn trim(&mut self) {
        self.queues.shrink_to_fit();
        self.functions.shrink_to_fit();
        self.mappings.shrink_to_fit();
    }
}
