//! The one lowering: what a dialect shows of its resources becomes the nodes of the graph.
//!
//! A dialect brings a [`View`] of what is written, and tables: which of its types is which [`Kind`] of node, and what it
//! calls each attribute. The builders, a file for each family of nodes, take both and know no dialect. The same queue
//! in two of them:
//!
//! ```hcl
//! resource "aws_sqs_queue" "orders" {
//!   visibility_timeout_seconds = var.slow ? 900 : 60
//!   redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
//! }
//! ```
//!
//! ```yaml
//! Orders:
//!   Type: AWS::SQS::Queue
//!   Properties:
//!     VisibilityTimeout: !If [Slow, 900, 60]
//!     RedrivePolicy: { deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5 }
//! ```
//!
//! Both types are [`Kind::Queue`] in their dialect's table. The builder `queue::queue` asks the view for what the table
//! calls the visibility timeout (`visibility_timeout_seconds`, `VisibilityTimeout`) and gets two cases, 900 and 60, each
//! with its condition; it turns them into seconds, and what is not written into AWS's default. It asks for the redrive
//! policy as an object, which the one view decodes from JSON and the other takes as it is, reads its two keys, and asks
//! the view what the target links to:
//!
//! ```text
//! Queue {
//!     visibility_timeout: 900 s where `var.slow` (or `Slow`), else 60 s, called as its author calls it,
//!     redrive: RedrivePolicy { target: Link to the failed queue by ARN, max_receive_count: 5 },
//!     retention: 4 days by default, …
//! }
//! ```

pub(super) mod access;
pub(super) mod alarm;
pub(super) mod code;
pub(super) mod delivery;
mod document;
pub(super) mod function;
mod lists;
pub(super) mod machine;
pub(super) mod mapping;
pub(super) mod queue;
mod read;
pub(super) mod separate;
mod tags;
pub(super) mod unread;
pub(super) mod worker;

use crate::conditions::Condition;
use crate::graph::{
    Alarm, Attribute, Commons, Form, Implicit, Link, Owner, PolicyFault, Reason, Resource, SetBy, Target, UnitGraph,
    Unresolved,
};
use crate::source::Span;
use std::path::PathBuf;
use std::sync::Arc;

/// Where an attribute stands: the keys, arguments or blocks that lead to it, with dots between them.
pub(super) type Path = &'static str;

/// What a dialect shows of what is written.
pub(super) trait View {
    /// Something written: a resource, a nested block, an object, an element of a list, a single value.
    type Written: Clone;

    /// Types of resources that no event source mapping and no pipe can read.
    const NO_SOURCES: &'static [&'static str];

    /// Whether the tool waits until SQS answers with the queue policy that was written.
    const AWAITS_QUEUE_POLICIES: bool = false;

    /// What stands at `path`, case by case, as its author calls it; the default is that nothing does. An empty path
    /// leads to `within` itself.
    fn attribute(&mut self, within: &Self::Written, path: Path) -> Attribute<Option<Self::Written>>;

    /// The elements of the list, or the nested blocks, at `path`. A single value counts as a list of it.
    fn elements(&mut self, within: &Self::Written, path: Path) -> Vec<Element<Self::Written>>;

    /// The keys of an object, or why they are not known.
    fn fields(&mut self, object: &Self::Written) -> Result<Vec<Field<Self::Written>>, Reason>;

    /// What a value is as a policy, which some dialects take as an object and all as a text of JSON.
    fn policy(&mut self, value: &Self::Written) -> Policy<Self::Written>;

    /// Whether null is written at `key` where it is refused, and does not stand for nothing.
    fn is_refused_null(&self, _within: &Self::Written, _key: &str) -> bool {
        false
    }

    /// Tags that the tool adds to `resource`, behind its own; absent where it adds none.
    fn inherited_tags(&mut self, _resource: &Self::Written) -> Attribute<Option<Self::Written>>;

    /// Whether `key` is written, in any case. What something outside of the files may add does not count.
    fn has(&mut self, within: &Self::Written, key: &str) -> bool;

    /// A whole number.
    fn integer(&mut self, value: &Self::Written) -> Result<i64, Unresolved>;

    /// A boolean.
    fn boolean(&mut self, value: &Self::Written) -> Result<bool, Unresolved>;

    /// A text.
    fn text(&mut self, value: &Self::Written) -> Result<String, Unresolved>;

    /// What a value is that some dialects take as a text of JSON; `None` where that is not known.
    fn decoded(&mut self, value: &Self::Written) -> Option<Self::Written> {
        Some(value.clone())
    }

    /// What a value points to.
    fn link(&mut self, value: &Self::Written, named: Named) -> Result<Link, Unresolved>;

    /// The alias or version in what names a function.
    fn qualifier(&mut self, value: &Self::Written) -> Result<Option<String>, Unresolved>;

    /// Whether a value names a queue; `None` where that is not known.
    fn is_queue(&mut self, value: &Self::Written) -> Option<bool>;

    /// Whether a value holds a reference to the resource that it names, `link`, so that what it stands in can only be
    /// made afterwards. A text that is put together of its name alone holds none.
    fn refers_to(&mut self, value: &Self::Written, link: &Link) -> bool;

    /// The type of the declared resource that a value names, where it is known.
    fn kind_of(&mut self, value: &Self::Written) -> Option<Arc<str>>;

    /// What is wrong with `value` as a receive count in JSON, where it is known.
    fn count_fault(&mut self, value: &Self::Written) -> Option<PolicyFault>;

    /// Who sets the number at `path` of a resource: its module or template, or whoever uses that; `None` where that is
    /// not known.
    fn set_by(&mut self, _resource: &Self::Written, _path: Path) -> Option<SetBy> {
        None
    }

    /// Where the resource is not known that the value at `path` names: what its address may begin with.
    fn among(&mut self, _within: &Self::Written, _path: Path) -> Option<Arc<str>> {
        None
    }

    /// Whether a resource at `address` is among those.
    fn is_among(_address: &str, _among: &str) -> bool {
        true
    }

    /// Where paths begin that name files of the project.
    fn directory(&self) -> Option<PathBuf>;

    /// What describes the archive that the function `within` is uploaded as, where the same files make it.
    fn archive(&mut self, _within: &Self::Written) -> Option<Self::Written> {
        None
    }

    /// The file or directory that a tool made the code of the function `within` from, or put it into.
    fn asset(&self, _within: &Self::Written) -> Option<String> {
        None
    }

    /// Why there is no value of the attribute `name`, which has to have one.
    fn missing(name: &str) -> Reason;
}

/// What a bare name, without an ARN around it, is a name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Named {
    /// A queue, or anything else.
    Queue,
    /// A function.
    Function,
    /// A parameter of Systems Manager.
    Parameter,
}

/// One element of a list, or one nested block, where it stands.
pub(super) struct Element<W> {
    /// Its place in the list, from 0; or why the list is not known, all of which this stands for.
    pub(super) place: Result<usize, Reason>,
    /// The condition under which it stands there.
    pub(super) when: Condition,
    /// All of it.
    pub(super) span: Span,
    /// Where to point at something absent in it.
    pub(super) header: Span,
    /// What is written.
    pub(super) written: W,
}

/// One key of an object.
pub(super) struct Field<W> {
    /// The key.
    pub(super) key: Arc<str>,
    /// Its place.
    pub(super) span: Span,
    /// What stands there.
    pub(super) value: W,
}

/// A value as a policy.
pub(super) enum Policy<W> {
    /// An empty text or object, which stands for none.
    Empty,
    /// An object with keys.
    Object(W),
    /// Not an object.
    Malformed(Reason),
    /// Not known.
    Unresolved(Reason),
}

/// One resource to lower.
pub(super) struct Node<W> {
    /// Address, place and existence.
    pub(super) resource: Resource,
    /// What it says.
    pub(super) written: W,
    /// What its existence depends on, where that is not known: resources of one cause exist together.
    pub(super) cause: Option<Arc<str>>,
    /// What a transform says of it that made it.
    pub(super) made: Made,
}

/// What is to be known of a resource that nobody wrote.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Whether a transform made it.
    pub(super) by_transform: bool,
    /// Why a queue exists though nobody declares it.
    pub(super) implicit: Option<Implicit>,
    /// Where a wish to disable a mapping was dropped.
    pub(super) ignored_disabling: Option<Span>,
}

/// What a type of resource is in the graph, with what a dialect calls its attributes.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Alarm(&'static alarm::AlarmNames),
    CompositeAlarm(&'static alarm::TextNames),
    Function(&'static function::FunctionNames),
    InstanceProfile(&'static worker::InstanceProfileNames),
    InvokeConfig(&'static function::InvokeConfigNames),
    Key(&'static access::KeyNames),
    KeyAlias(&'static access::KeyAliasNames),
    KeyPolicy(&'static separate::SeparateNames),
    ManagedPolicy(&'static access::ManagedPolicyNames),
    Mapping(&'static mapping::MappingNames),
    /// A monitor of another vendor.
    Monitor(&'static alarm::TextNames),
    Notifications(&'static delivery::NotificationNames),
    Parameter(&'static worker::ParameterNames),
    Permission(&'static access::PermissionNames),
    Pipe(&'static delivery::PipeNames),
    Queue(&'static queue::QueueNames),
    QueuePolicy(&'static access::QueuePolicyNames),
    RecursionConfig(&'static separate::SeparateNames),
    RedriveAllowPolicy(&'static separate::SeparateNames),
    RedrivePolicy(&'static separate::SeparateNames),
    Role(&'static access::RoleNames),
    RolePolicy(&'static access::RolePolicyNames),
    Rule(&'static delivery::RuleNames),
    Schedule(&'static delivery::TargetNames),
    StateMachine(&'static machine::MachineNames),
    Subscription(&'static delivery::SubscriptionNames),
    Target(&'static delivery::TargetNames),
    Topic(&'static delivery::TopicNames),
    Worker(&'static worker::WorkerNames),
}

impl Kind {
    /// Whether it looks at metrics of others.
    pub(super) fn watches(self) -> bool {
        matches!(self, Kind::Alarm(_) | Kind::Monitor(_))
    }

    /// What a resource is that uses a dead-letter queue; `kind` is `None` where the graph has no such nodes.
    pub(super) fn owner(kind: Option<Kind>) -> Owner {
        match kind {
            Some(Kind::Function(_)) => Owner::Function,
            Some(Kind::Subscription(_)) => Owner::Subscription,
            Some(Kind::Topic(_)) => Owner::Topic,
            Some(Kind::Rule(_)) => Owner::Rule,
            Some(Kind::Target(_)) => Owner::Target,
            Some(Kind::Schedule(_)) => Owner::Schedule,
            Some(Kind::Pipe(_)) => Owner::Pipe,
            Some(Kind::Mapping(_)) => Owner::Mapping,
            _ => Owner::Other,
        }
    }
}

/// Lowers the resources of one unit.
pub(super) struct Lowering<V: View> {
    pub(super) view: V,
    pub(super) graph: UnitGraph,
    /// What resources have in common with those before them.
    pub(super) commons: Commons,
    /// What separate resources set on others.
    pending: separate::Pending,
}

impl<V: View> Lowering<V> {
    pub(super) fn new(view: V, graph: UnitGraph) -> Self {
        Lowering {
            view,
            graph,
            commons: Commons::default(),
            pending: separate::Pending::default(),
        }
    }

    /// Adds to the graph what `node` is.
    pub(super) fn add(&mut self, kind: Kind, node: Node<V::Written>) {
        match kind {
            Kind::Alarm(names) => self.alarm(node, names),
            Kind::CompositeAlarm(names) => self.composite_alarm(node, names),
            Kind::Function(names) => self.function(node, names),
            Kind::InstanceProfile(names) => self.instance_profile(node, names),
            Kind::InvokeConfig(names) => self.invoke_config(node, names),
            Kind::Key(names) => self.key(node, names),
            Kind::KeyAlias(names) => self.key_alias(node, names),
            Kind::KeyPolicy(names) => self.key_policy(&node, names),
            Kind::ManagedPolicy(names) => self.managed_policy(node, names),
            Kind::Mapping(names) => self.mapping(node, names),
            Kind::Monitor(names) => self.monitor(node, names),
            Kind::Notifications(names) => self.notifications(&node, names),
            Kind::Parameter(names) => self.parameter(node, names),
            Kind::Permission(names) => self.permission(node, names),
            Kind::Pipe(names) => self.pipe(node, names),
            Kind::Queue(names) => self.queue(node, names),
            Kind::QueuePolicy(names) => self.queue_policy(&node, names),
            Kind::RecursionConfig(names) => self.recursion_config(&node, names),
            Kind::RedriveAllowPolicy(names) => self.separate_redrive_allow(node, names),
            Kind::RedrivePolicy(names) => self.separate_redrive(node, names),
            Kind::Role(names) => self.role(node, names),
            Kind::RolePolicy(names) => self.role_policy(&node, names),
            Kind::Rule(names) => self.rule(&node, names),
            Kind::Schedule(names) => self.schedule(node, names),
            Kind::StateMachine(names) => self.state_machine(node, names),
            Kind::Subscription(names) => self.separate_subscription(node, names),
            Kind::Target(names) => self.separate_target(node, names),
            Kind::Topic(names) => self.topic(node, names),
            Kind::Worker(names) => self.worker(node, names),
        }
    }

    /// The graph of a unit of which a part is not read, for this reason: nothing in it is known to be absent.
    pub(super) fn finish_in_part(mut self, reason: &Reason) -> UnitGraph {
        self.merge();
        unread::unsettle(&mut self.graph, reason);
        self.graph
    }

    /// Keeps what `node` would be of alarms, where its author leaves it out.
    pub(super) fn leave_out(&mut self, kind: Kind, node: Node<V::Written>) {
        if kind.watches() {
            let there = self.graph.alarms.len();
            self.add(kind, node);
            let left_out = self.graph.alarms.split_off(there).into_iter();
            let left_out = left_out.map(|alarm| Alarm {
                is_left_out: true,
                ..alarm
            });
            self.graph.left_out_alarms.extend(left_out);
        }
    }

    /// The graph, once every resource has been added.
    pub(super) fn finish(mut self) -> UnitGraph {
        self.merge();
        self.graph
    }
}

impl<W> Element<W> {
    /// The resource that stands for it, as a part of `of`: `Rule.Targets[0]`.
    fn resource(&self, of: &Resource, list: &str) -> Resource {
        let place = self.place.as_ref().copied().unwrap_or_default();
        Resource {
            address: format!("{}.{list}[{place}]", of.address).into(),
            header: self.header,
            when: of.when.and(&self.when),
            ..of.clone()
        }
    }
}

/// A resource as what its own parts belong to.
fn own_link(resource: &Resource) -> Link {
    Link {
        target: Target::Resource(resource.address.clone()),
        form: Form::Arn,
    }
}

/// What stands at the end of a path, to name it by.
pub(super) fn last(path: Path) -> &'static str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Whether nothing is written.
fn is_absent<T>(attribute: &Attribute<T>) -> bool {
    attribute.cases.iter().all(|case| case.is_default())
}
