//! Lowers resources of every dialect to the nodes of the graph.
//!
//! A dialect provides a [`View`] of its resources, and tables: the [`NodeKind`] for each of its types, and its name
//! for each attribute. The builders, one file per family of nodes, take both and know no dialect. Example of one queue
//! in two dialects:
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
//! Both types are [`NodeKind::Queue`] in the table of their dialect. The builder `queue::queue` asks the view for the
//! attribute that the table names (`visibility_timeout_seconds`, `VisibilityTimeout`) and gets two cases, 900 and 60,
//! each with its condition. It converts them to seconds; for an absent attribute it uses AWS's default. It asks for the
//! redrive policy as an object, which one view decodes from JSON and the other returns as it is, reads its two keys,
//! and asks the view for the link of the target:
//!
//! ```text
//! Queue {
//!     visibility_timeout: 900 s if `var.slow` (or `Slow`), else 60 s, under the name in the dialect,
//!     redrive: RedrivePolicy { target: Link to the dead-letter queue by ARN, max_receive_count: 5 },
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
pub(super) mod properties;
mod published;
pub(super) mod queue;
mod read;
pub(super) mod separate;
mod tags;
pub(super) mod unread;
pub(super) mod worker;

use crate::graph::{
    Alarm, Attribute, Common, Form, FunctionAlias, Implicit, LastUsed, Link, Owner, PolicyErrorKind, Reason, Resource,
    SetBy, Store, Target, UnitGraph, UnknownProperty, Unresolved,
};
use conditions::Condition;
use source::Span;
use std::path::PathBuf;
use std::sync::Arc;

/// Path of an attribute: keys, arguments or blocks, separated by dots.
pub(super) type Path = &'static str;

/// Principals of permissions that wait for the response of the functions they invoke.
pub(super) const SYNCHRONOUS_PRINCIPALS: [&str; 3] = [
    "apigateway.amazonaws.com",
    "elasticloadbalancing.amazonaws.com",
    // A mapping invokes its function and waits; it needs no permission of the function.
    "sqs.amazonaws.com",
];

/// A dialect's view of resources.
pub(super) trait View {
    /// A written value: a resource, a nested block, an object, an element of a list, a scalar.
    type Value: Clone;

    /// Types of resources that neither an event source mapping nor a pipe can poll.
    const NO_SOURCES: &'static [&'static str];

    /// `true` if the tool waits until SQS returns the queue policy that it wrote.
    const AWAITS_QUEUE_POLICIES: bool = false;

    /// `true` if a null in a policy is sent to SQS, not treated as absent.
    const SENDS_NULL: bool = false;

    /// Returns the cases of the attribute at `path`, under its name in the dialect; the default case means that it is
    /// absent. An empty path returns `within` itself.
    fn attribute(&mut self, within: &Self::Value, path: Path) -> Attribute<Option<Self::Value>>;

    /// Returns the elements of the list, or the nested blocks, at `path`. A single value counts as a list of one.
    fn elements(&mut self, within: &Self::Value, path: Path) -> Vec<Element<Self::Value>>;

    /// Returns the names of the properties that are written in `resource` and that `is_known` rejects, with their spans.
    fn unknown(&mut self, resource: &Self::Value, is_known: impl Fn(&str) -> bool) -> Vec<(Arc<str>, Span)>;

    /// Returns the fields of an object, or the reason why they are unresolved.
    fn fields(&mut self, object: &Self::Value) -> Result<Vec<Field<Self::Value>>, Reason>;

    /// Converts a value to a policy, which some dialects accept as an object and all as a text of JSON.
    fn policy(&mut self, value: &Self::Value) -> Policy<Self::Value>;

    /// Returns `true` if null is written at `key` and the tool rejects it instead of treating it as absent.
    fn is_refused_null(&self, _within: &Self::Value, _key: &str) -> bool {
        false
    }

    /// Returns tags that the tool adds to the own tags of `resource`; absent if it adds none.
    fn inherited_tags(&mut self, _resource: &Self::Value) -> Attribute<Option<Self::Value>>;

    /// Returns `true` if `key` is written, in any case. Attributes that may be added outside the files do not count.
    fn has(&mut self, within: &Self::Value, key: &str) -> bool;

    /// Returns a whole number.
    fn integer(&mut self, value: &Self::Value) -> Result<i64, Unresolved>;

    /// Returns a boolean.
    fn boolean(&mut self, value: &Self::Value) -> Result<bool, Unresolved>;

    /// Returns a text.
    fn text(&mut self, value: &Self::Value) -> Result<String, Unresolved>;

    /// Decodes a value that some dialects accept as a text of JSON or YAML; returns `None` if it cannot be decoded.
    fn decoded(&mut self, value: &Self::Value) -> Option<Self::Value> {
        Some(value.clone())
    }

    /// Returns the name of a parameter or secret, which may be written as a reference to it.
    fn published_name(&mut self, value: &Self::Value) -> Result<String, Unresolved> {
        self.text(value)
    }

    /// Resolves the link of a value.
    fn link(&mut self, value: &Self::Value, named: BareName) -> Result<Link, Unresolved>;

    /// Returns the alias or version in a reference to a function.
    fn qualifier(&mut self, value: &Self::Value) -> Result<Option<String>, Unresolved>;

    /// Returns whether a value names a queue, or `None` if that is unknown.
    fn is_queue(&mut self, value: &Self::Value) -> Option<bool>;

    /// Returns the type of the declared resource that a value names, if known.
    fn kind_of(&mut self, value: &Self::Value) -> Option<Arc<str>>;

    /// Returns the fault of `value` as a receive count in JSON, if known.
    fn count_fault(&mut self, value: &Self::Value) -> Option<PolicyErrorKind>;

    /// Returns the origin of the number at `path` of a resource: its module or template, or an input of that; `None`
    /// if unknown.
    fn set_by(&mut self, _resource: &Self::Value, _path: Path) -> Option<SetBy> {
        None
    }

    /// Returns the address of the block, without instance keys, that the unresolved value at `path` refers to.
    fn among(&mut self, _within: &Self::Value, _path: Path) -> Option<Arc<str>> {
        None
    }

    /// Returns `true` if `address` is an instance of the block `among`, or inside it.
    fn is_among(_address: &str, _among: &str) -> bool {
        true
    }

    /// Returns the base directory of relative paths.
    fn directory(&self) -> Option<PathBuf>;

    /// Returns the description of the archive that the function `within` is uploaded as, if the same files create it.
    fn archive(&mut self, _within: &Self::Value) -> Option<Self::Value> {
        None
    }

    /// Returns how a tool packs the code of the function `within`.
    fn build(&self, _within: &Self::Value) -> Build {
        Build::default()
    }

    /// Returns the reason for a missing value of the required attribute `name`.
    fn missing(name: &str) -> Reason;
}

/// Packaging of the code of a function by a tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Build {
    /// The file or directory that it uploads.
    pub(super) asset: Option<String>,
    /// The directory that it builds an image from.
    pub(super) image: Option<String>,
    /// Files that a bundler starts from.
    pub(super) entry_points: Vec<String>,
    /// `true` if it packs the directory of the configuration unless another is set.
    pub(super) packs_directory: bool,
}

/// Kind of resource that a bare name, without an ARN around it, refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BareName {
    /// A queue, or any other resource.
    Queue,
    /// A function.
    Function,
    /// A parameter of Systems Manager.
    Parameter,
}

/// An element of a list, or a nested block.
pub(super) struct Element<W> {
    /// Index in the list, or the reason why the list is unresolved; this element then represents all of it.
    pub(super) place: Result<usize, Reason>,
    /// The condition under which the list contains it.
    pub(super) when: Condition,
    /// Its whole span.
    pub(super) span: Span,
    /// The span for absent attributes in it.
    pub(super) header: Span,
    /// The value.
    pub(super) written: W,
}

/// A field of an object.
pub(super) struct Field<W> {
    /// The key.
    pub(super) key: Arc<str>,
    /// The span of the key.
    pub(super) span: Span,
    /// The value.
    pub(super) value: W,
}

/// A value as a policy.
pub(super) enum Policy<W> {
    /// An empty text or object, which means no policy.
    Empty,
    /// An object with keys.
    Object(W),
    /// A value that is not an object.
    Malformed(Reason),
    /// An unresolved value.
    Unresolved(Reason),
}

/// A resource to lower.
pub(super) struct Node<W> {
    /// Address, span and condition.
    pub(super) resource: Resource,
    /// The properties.
    pub(super) written: W,
    /// Key of the unresolved value on which its existence depends: resources with equal keys exist together.
    pub(super) cause: Option<Arc<str>>,
    /// Record of the transform that generated it.
    pub(super) made: Made,
}

/// Facts about a generated resource.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// `true` if a transform generated it.
    pub(super) by_transform: bool,
    /// Reason why an undeclared queue exists.
    pub(super) implicit: Option<Implicit>,
    /// `true` if its event names a source other than a queue.
    pub(super) is_of_stream: bool,
    /// Span of a setting that disables the mapping and is dropped by the transform.
    pub(super) ignored_disabling: Option<Span>,
}

/// Kind of node for a type of resource, with the names or paths of its attributes in the dialect.
#[derive(Clone, Copy)]
pub(super) enum NodeKind {
    Alarm(&'static alarm::AlarmNames),
    /// An API with a document that describes its integrations.
    Api(Path),
    Bucket,
    /// The path is that of its rule.
    CompositeAlarm(Path),
    Function(&'static function::FunctionNames),
    /// Its name and its roles.
    InstanceProfile(Path, Path),
    Integration(&'static delivery::IntegrationNames),
    InvokeConfig(&'static function::InvokeConfigNames),
    /// The path is that of its policy.
    Key(Path),
    /// Its name and its key.
    KeyAlias(Path, Path),
    /// The key and its policy.
    KeyPolicy(Path, Path),
    ManagedPolicy(&'static access::ManagedPolicyNames),
    Mapping(&'static mapping::MappingNames),
    /// A monitor of another vendor, with its query.
    Monitor(Path),
    Notifications(&'static delivery::NotificationNames),
    /// The function and the principal.
    Permission(Path, Path),
    Pipe(&'static delivery::PipeNames),
    /// A value that other units may read: where it is, its name, and the spellings of the value.
    Published(Store, Path, &'static [Path]),
    /// The function and the number of environments.
    ProvisionedConcurrency(Path, Path),
    /// The function, the name of the alias, and its provisioned concurrency.
    FunctionAlias(Path, Path, Option<Path>),
    Queue(&'static queue::QueueNames),
    /// A queue or several, and the document.
    QueuePolicy(Path, Path),
    /// The function and its setting for recursive loops.
    RecursionConfig(Path, Path),
    /// The queue and the policy.
    RedriveAllowPolicy(Path, Path),
    /// The queue and the policy.
    RedrivePolicy(Path, Path),
    Role(&'static access::RoleNames),
    /// A resource that grants something to a role or several.
    RolePolicy(Path, access::Granted),
    Rule(&'static delivery::RuleNames),
    Schedule(&'static delivery::TargetNames),
    /// Parts that send to queues under a role.
    Senders(&'static [delivery::SenderNames]),
    /// Paths of the definition, of which the first that is written is used, its type, and its role.
    StateMachine(&'static [Path], Path, Path),
    Subscription(&'static delivery::SubscriptionNames),
    Target(&'static delivery::TargetNames),
    Topic(&'static delivery::TopicNames),
    Worker(&'static worker::WorkerNames),
}

impl NodeKind {
    /// Returns `true` if it watches metrics of other resources.
    pub(super) fn watches(self) -> bool {
        matches!(self, NodeKind::Alarm(_) | NodeKind::Monitor(_))
    }

    /// Returns the names of its numeric attributes that have a default, and that a fix may therefore add.
    pub(super) fn numbers(self) -> Vec<Path> {
        match self {
            NodeKind::Queue(names) => names.attributes.numbers(),
            NodeKind::Mapping(names) => names.attributes.numbers(),
            NodeKind::Function(names) => names.attributes.numbers(),
            _ => Vec::new(),
        }
    }

    /// Returns the name of its list of response types.
    pub(super) fn response_types(self) -> Option<Path> {
        match self {
            NodeKind::Mapping(names) => Some(names.attributes.report_batch_item_failures),
            _ => None,
        }
    }

    /// Returns the names of a queue's attributes.
    pub(super) fn of_queue(self) -> Option<&'static queue::QueueNames> {
        match self {
            NodeKind::Queue(names) => Some(names),
            _ => None,
        }
    }

    /// Returns the names of an alarm's attributes.
    pub(super) fn of_alarm(self) -> Option<&'static alarm::AlarmNames> {
        match self {
            NodeKind::Alarm(names) => Some(names),
            _ => None,
        }
    }

    /// Returns the kind of owner of a dead-letter queue; `kind` is `None` if the graph has no such nodes.
    pub(super) fn owner(kind: Option<NodeKind>) -> Owner {
        match kind {
            Some(NodeKind::Function(_)) => Owner::Function,
            Some(NodeKind::Subscription(_)) => Owner::Subscription,
            Some(NodeKind::Topic(_)) => Owner::Topic,
            Some(NodeKind::Rule(_)) => Owner::Rule,
            Some(NodeKind::Target(_)) => Owner::Target,
            Some(NodeKind::Schedule(_)) => Owner::Schedule,
            Some(NodeKind::Pipe(_)) => Owner::Pipe,
            Some(NodeKind::Mapping(_)) => Owner::Mapping,
            _ => Owner::Other,
        }
    }
}

/// Lowers the resources of one unit.
pub(super) struct Lowering<V: View> {
    pub(super) view: V,
    pub(super) graph: UnitGraph,
    /// Data shared with resources lowered earlier.
    pub(super) commons: LastUsed<Common>,
    /// Keys of tags that resources share.
    tag_keys: LastUsed<String>,
    /// Separate resources that set attributes of others.
    pending: separate::Pending,
    /// Misspelled properties of the resource that is being lowered.
    misspelled: Vec<(Option<Path>, UnknownProperty)>,
}

impl<V: View> Lowering<V> {
    pub(super) fn new(view: V, graph: UnitGraph) -> Self {
        Lowering {
            view,
            graph,
            commons: LastUsed::default(),
            tag_keys: LastUsed::default(),
            pending: separate::Pending::default(),
            misspelled: Vec::new(),
        }
    }

    /// Adds the node of a resource to the graph.
    pub(super) fn add(&mut self, kind: NodeKind, node: Node<V::Value>) {
        match kind {
            NodeKind::Alarm(names) => self.alarm(node, names),
            NodeKind::Api(document) => self.api(&node, document),
            NodeKind::Bucket => self.graph.deliveries.sources.push(node.resource),
            NodeKind::CompositeAlarm(rule) => self.composite_alarm(node, rule),
            NodeKind::Function(names) => self.function(node, names),
            NodeKind::InstanceProfile(name, roles) => self.instance_profile(node, name, roles),
            NodeKind::Integration(names) => self.integration(node.resource, &node.written, names),
            NodeKind::InvokeConfig(names) => self.invoke_config(node, names),
            NodeKind::Key(policy) => self.key(node, policy),
            NodeKind::KeyAlias(name, key) => self.key_alias(node, name, key),
            NodeKind::KeyPolicy(key, policy) => self.key_policy(&node, key, policy),
            NodeKind::ManagedPolicy(names) => self.managed_policy(node, names),
            NodeKind::Mapping(names) => self.mapping(node, names),
            NodeKind::Monitor(query) => self.monitor(node, query),
            NodeKind::Notifications(names) => self.notifications(&node, names),
            NodeKind::Published(store, name, values) => self.publication(node, store, name, values),
            NodeKind::Permission(function, principal) => self.permission(node, function, principal),
            NodeKind::Pipe(names) => self.pipe(node, names),
            NodeKind::FunctionAlias(function, name, count) => {
                let alias = FunctionAlias {
                    function: self.link(&node.written, function, BareName::Function),
                    name: self.text(&node.written, name),
                    resource: node.resource.clone(),
                };
                self.graph.aliases.push(alias);
                if let Some(count) = count {
                    self.provisioned_concurrency(node, function, count);
                }
            }
            NodeKind::ProvisionedConcurrency(function, count) => self.provisioned_concurrency(node, function, count),
            NodeKind::Queue(names) => self.queue(node, names),
            NodeKind::QueuePolicy(queues, document) => self.queue_policy(&node, queues, document),
            NodeKind::RecursionConfig(function, setting) => self.recursion_config(&node, function, setting),
            NodeKind::RedriveAllowPolicy(queue, policy) => self.separate_redrive_allow(node, queue, policy),
            NodeKind::RedrivePolicy(queue, policy) => self.separate_redrive(node, queue, policy),
            NodeKind::Role(names) => self.role(node, names),
            NodeKind::RolePolicy(roles, granted) => self.role_policy(&node, roles, granted),
            NodeKind::Rule(names) => self.rule(&node, names),
            NodeKind::Schedule(names) => self.schedule(node, names),
            NodeKind::Senders(all) => self.senders(&node, all),
            NodeKind::StateMachine(definitions, kind, role) => self.state_machine(node, definitions, kind, role),
            NodeKind::Subscription(names) => self.separate_subscription(node, names),
            NodeKind::Target(names) => self.separate_target(node, names),
            NodeKind::Topic(names) => self.topic(node, names),
            NodeKind::Worker(names) => self.worker(node, names),
        }
    }

    /// Returns the graph of a unit of which a part is unread for this reason, so that nothing in it is known to be
    /// absent.
    pub(super) fn finish_in_part(mut self, reason: &Reason) -> UnitGraph {
        self.merge();
        unread::make_unresolved(&mut self.graph, reason);
        self.graph
    }

    /// Keeps the alarm of a resource whose condition is false.
    pub(super) fn leave_out(&mut self, kind: NodeKind, node: Node<V::Value>) {
        if kind.watches() {
            let there = self.graph.alarms.len();
            self.add(kind, node);
            let left_out = self.graph.alarms.split_off(there).into_iter();
            let left_out = left_out.map(|alarm| Alarm {
                is_nonexistent: true,
                ..alarm
            });
            self.graph.nonexistent_alarms.extend(left_out);
        }
    }

    /// Returns the graph, after every resource has been added.
    pub(super) fn finish(mut self) -> UnitGraph {
        self.merge();
        self.graph
    }
}

impl<W> Element<W> {
    /// Returns a resource for the element, as a part of `of`: `Rule.Targets[0]`.
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

/// Returns a link from the parts of a resource to the resource itself.
fn own_link(resource: &Resource) -> Link {
    Link {
        target: Target::Resource(resource.address.clone()),
        form: Form::Arn,
    }
}

/// Returns the last component of a path, which is the attribute's name.
pub(super) fn last(path: Path) -> &'static str {
    let end = path.bytes().rposition(|byte| byte == b'.');
    end.and_then(|end| path.get(end + 1..)).unwrap_or(path)
}

/// Returns `true` if the attribute is absent in every case.
fn is_absent<T>(attribute: &Attribute<T>) -> bool {
    attribute.cases.iter().all(|case| case.is_default())
}
