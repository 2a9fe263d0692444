//! The model shared by all dialects: queues, functions, event source mappings, alarms, and the links between them.
//!
//! It consists of values, conditions and spans, and does not know syntax, rules or reports. Frontends create one
//! [`UnitGraph`] per unit; [`Graph::assemble`] joins them and answers the queries of rules.

pub mod access;
pub mod alarms;
mod arn;
pub mod attribute;
pub mod attributes;
pub mod commands;
mod common;
pub mod declared;
pub mod delivery;
pub mod deployed;
mod ends;
pub mod external;
pub mod limits;
mod lookup;
mod name;
mod nodes;
pub mod order;
pub mod permits;
mod plain;
mod polling;
pub mod published;
mod reach;
mod redrive;
pub mod relations;
pub mod stated;
mod tags;
mod unit;
mod unknown;
pub mod values;
mod watch;
pub mod workers;

pub use ::handlers::{
    Code, CodeSource, ContinuesAfterFailure, Defect, Fact, Handler, KeyRead, Loss, LossKind, Outcome,
    PolledQueue as QueueReference, Response, SNS_ENVELOPE, Unread,
};
pub use ::knowledge::{
    Bounds, Cause, Form, Input, Knowledge, Origin, Origins, Pattern, Published, Reason, SetBy, Store, Target,
    UNKNOWN_PIECE, Unresolved,
};
pub use access::Access;
pub use alarms::{Alarm, AlarmMetric, AlarmSubscriber, Dimension};
pub use arn::{AWS_KEY, FIFO_SUFFIX};
pub use attribute::{Attribute, Case, SourcedValue, State};
pub use attributes::{
    FunctionAttributeNames, FunctionAttributes, MappingAttributeNames, MappingAttributes, QueueAttributeNames,
    QueueAttributes,
};
pub(crate) use common::CommonNode;
pub use conditions::Condition;
pub use delivery::Deliveries;
pub use ends::End;
pub(crate) use lookup::EarlierQueues;
pub use lookup::{Consumption, Graph};
pub use name::Name;
pub use nodes::Nodes;
pub use plain::{AsPlain, Kind, Plain, Scalar};
pub(crate) use reach::{Connections, join_watching_parts};
pub use redrive::{
    DeadLetterUse, Owner, PolicyError, PolicyErrorKind, RedriveAllowPolicy, RedriveKind, RedrivePolicy, RedriveWriter,
};
pub use tags::{Tag, Tags};
pub use unit::{Unit, UnitGraph, UnitId, UnitKind, UnreadCalls};
pub use unknown::{EventWithoutQueue, UnknownProperty};
pub use watch::{Doubt, Watch};
pub use workers::Worker;

use source::Span;
use std::borrow::Borrow;
use std::collections::VecDeque;
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

    /// Formats whole days or hours in words, and any other number in seconds: `4 days`, `90 s`.
    pub fn readable(self) -> String {
        self.in_words().unwrap_or_else(|| self.to_string())
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

/// Identifier of a resource: its unit and its address.
pub type ResourceKey = (UnitId, Arc<str>);

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

    /// Returns `true` if all links to this resource lead to the same one. It represents all instances of its block if they
    /// are not known.
    pub fn is_single(&self) -> bool {
        self.uncertain.is_none()
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
    /// Name in the author's terms, if the address is generated: "event `Incoming` of `Ship`".
    pub label: Option<Arc<str>>,
    /// Reason why it may not exist (an unresolved `count`); `None` if `when` is complete.
    pub uncertain: Option<Reason>,
    /// Headers of the `module` blocks that contain it, outermost first.
    pub calls: Vec<Span>,
    /// Region, if known. Resources with the same name in two Regions are different.
    pub region: Option<Arc<str>>,
    /// Account, if known.
    pub account: Option<Arc<str>>,
    /// Provider configuration, or a Region of its own that is not known; `None` for the default configuration. Resources
    /// of one unit with the same placement, Region and account are in the same place.
    pub placement: Option<Arc<str>>,
    /// Arguments whose changes by others Terraform ignores (`ignore_changes`), or `all`.
    pub ignored: Vec<Arc<str>>,
}

impl Common {
    /// Creates the data of a resource of type `kind` of which nothing else is known.
    pub fn of_kind(kind: impl Into<Arc<str>>) -> Self {
        Common {
            kind: kind.into(),
            construct: None,
            label: None,
            uncertain: None,
            calls: Vec::new(),
            region: None,
            account: None,
            placement: None,
            ignored: Vec::new(),
        }
    }
}

impl Deref for Resource {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

/// Deduplicates values of which consecutive ones are often equal, such as [`Common`]s, by remembering those used last.
#[derive(Debug)]
pub(crate) struct LastUsed<T: ?Sized>(VecDeque<Arc<T>>);

impl<T: ?Sized> Default for LastUsed<T> {
    fn default() -> Self {
        LastUsed(VecDeque::new())
    }
}

impl<T: ?Sized + PartialEq> LastUsed<T> {
    /// Number of values that are remembered.
    const CAPACITY: usize = 16;

    /// Returns a shared value equal to `value`.
    pub(crate) fn shared(&mut self, value: impl Borrow<T> + Into<Arc<T>>) -> Arc<T> {
        let known = self.0.iter().position(|known| **known == *value.borrow());
        let one = known.and_then(|at| self.0.remove(at)).unwrap_or_else(|| value.into());
        self.0.push_front(one.clone());
        self.0.truncate(Self::CAPACITY);
        one
    }
}

impl Resource {
    /// Returns the name for a sentence: the author's, or else the address, preceded by the construct, which its author
    /// knows better.
    pub fn shown(&self) -> String {
        match (&self.label, &self.construct) {
            (Some(label), _) => label.to_string(),
            (None, Some(construct)) => format!("`{construct}` (`{}`)", self.address),
            (None, None) => format!("`{}`", self.address),
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

/// Kinds of queues that the SAM transform creates implicitly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implicit {
    /// `SqsSubscription: true` in an event of a function.
    Subscription,
    /// `Type: SQS` without a queue, as a destination for failures or successes.
    Destination,
}

/// A change that creates a queue again and deletes the present one, with its messages.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// Attribute whose change requires it, as written; empty if it is unknown.
    pub attribute: Arc<str>,
    /// Values of the attribute before and after the change, in words.
    pub change: Option<[String; 2]>,
    /// Span of the attribute.
    pub span: Span,
}

/// An SQS queue, including the settings that separate resources make.
#[derive(Debug, Clone)]
pub struct Queue {
    /// Address, location and existence.
    pub resource: Resource,
    /// Attributes without parts.
    pub attributes: QueueAttributes,
    /// `true` if a written `false` is sent to SQS, which rejects it (CloudFormation; Terraform omits it).
    pub sends_fifo_false: bool,
    /// Party that sets the visibility timeout, the module or its caller, if known.
    pub visibility_timeout_set_by: Option<SetBy>,
    /// Redrive policy; `None` if absent, empty or null.
    pub redrive: Attribute<Option<Box<RedrivePolicy>>>,
    /// Redrive allow policy.
    pub redrive_allow: Attribute<Option<Box<RedriveAllowPolicy>>>,
    /// All writers of the two policies, if a separate resource writes one.
    pub redrive_writers: Vec<RedriveWriter>,
    /// Replacement by the plan, or by the changes since an earlier commit.
    pub replaced: Option<Replacement>,
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

/// Provisioned concurrency of an alias or version of a function.
#[derive(Debug, Clone)]
pub struct ProvisionedConcurrency {
    /// Alias, version, or separate resource that sets it.
    pub resource: Arc<str>,
    /// Span of the setting.
    pub span: Span,
    /// Condition under which it is set.
    pub when: Condition,
}

/// An alias of a function.
#[derive(Debug, Clone)]
pub struct FunctionAlias {
    /// Address, location and existence.
    pub resource: Resource,
    /// Function.
    pub function: Attribute<Link>,
    /// Name, which mappings use as a qualifier.
    pub name: Attribute<Option<String>>,
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
    /// Attributes without parts.
    pub attributes: FunctionAttributes,
    /// Party that sets the timeout, the module or its caller, if known.
    pub timeout_set_by: Option<SetBy>,
    /// Aliases and versions with provisioned concurrency.
    pub provisioned: Vec<ProvisionedConcurrency>,
    /// Dead-letter config and failure destinations.
    pub failure_targets: Vec<FailureTarget>,
    /// Destinations of successful asynchronous invocations.
    pub success_targets: Vec<FailureTarget>,
    /// Tags.
    pub tags: Attribute<Tags>,
    /// Environment variables that may hold a queue.
    pub queue_variables: Vec<workers::Variable>,
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

/// An event source mapping whose source is a queue, may be one, or cannot be the source of any mapping.
#[derive(Debug, Clone)]
pub struct EventSourceMapping {
    /// Address, location and existence.
    pub resource: Resource,
    /// Attributes without parts.
    pub attributes: MappingAttributes,
    /// Source.
    pub queue: Attribute<Link>,
    /// Function.
    pub function: Attribute<Link>,
    /// Party that sets the batching window, the module or its caller, if known.
    pub window_set_by: Option<SetBy>,
    /// All response types known to be in the list.
    pub response_types: Vec<ResponseType>,
    /// Filter patterns; empty if it has none.
    pub filters: Attribute<Vec<Attribute<String>>>,
    /// Provisioned pollers; `None` if it has none.
    pub provisioned_pollers: Attribute<Option<Box<ProvisionedPollers>>>,
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

/// A source other than a queue that may invoke a function: a permission, a subscription, a rule, a schedule.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Resource or event.
    pub resource: Arc<str>,
    /// Span of the resource or event.
    pub span: Span,
    /// Function; unresolved represents any function.
    pub function: Attribute<Link>,
    /// `true` if the source waits for the response and so receives the function's errors itself.
    pub waits: bool,
}
