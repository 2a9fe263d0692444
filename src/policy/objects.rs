//! Defines the fields of each object, in tables that serve to check, read and list them.

use super::context::{Context, ShownValue, list};
use super::types::{ObjectType, Type};
use super::value::{Evaluated, EvaluatedCases, ListElement, Value, single_case};
use crate::graph::access::{Effect, QueuePolicy, Statement, StatementCondition};
use crate::graph::attributes::{Declared, Reader, Visit};
use crate::graph::declared::{DeclaredConsumer, Duration};
use crate::graph::delivery::{EventTarget, Pipe, Subscription, Topic};
use crate::graph::workers::WorkerConsumption;
use crate::graph::{
    Alarm, AlarmMetric, AsPlain, Attribute, EventSourceMapping, Function, FunctionAttributes, Kind, MappingAttributes,
    Plain, Queue, QueueAttributes, Resource, Tags, UnitId, UnitKind, limits,
};
use conditions::Condition;
use std::sync::LazyLock;

/// Tags of a resource without any.
static NO_TAGS: Tags = Tags {
    entries: Vec::new(),
    opaque: None,
};

/// Object with fields.
#[derive(Debug, Clone, Copy)]
pub(super) enum Object<'g> {
    Queue(&'g Queue),
    Function(&'g Function),
    Mapping(&'g EventSourceMapping),
    Alarm(&'g Alarm),
    Topic(&'g Topic),
    Pipe(&'g Pipe),
    Consumer(ConsumerOf<'g>),
    Sender(SenderOf<'g>),
    /// A statement of a queue's policy.
    Statement(&'g QueuePolicy, &'g Statement),
    /// A comparison in the conditions of a statement.
    Comparison(&'g QueuePolicy, &'g StatementCondition),
    /// A metric of an alarm.
    Metric(&'g Alarm, &'g AlarmMetric),
    /// A declaration of the consumers of a queue.
    Declaration(&'g DeclaredConsumer),
    Unit(UnitId),
}

/// Consumer of a queue.
#[derive(Debug, Clone, Copy)]
pub(super) enum ConsumerOf<'g> {
    Mapping(&'g EventSourceMapping),
    Pipe(&'g Pipe),
    Worker(&'g WorkerConsumption),
    /// A consumer that a team declares.
    Declared,
}

/// Sender to a queue.
#[derive(Debug, Clone, Copy)]
pub(super) enum SenderOf<'g> {
    Subscription(&'g Subscription),
    Target(&'g EventTarget),
    Pipe(&'g Pipe),
}

/// A field of an object.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Type,
    /// `true` if the field may be null.
    pub(super) is_optional: bool,
    pub(super) summary: &'static str,
    pub(super) read: for<'g> fn(&Field, &Context<'g>, Object<'g>, &Condition) -> EvaluatedCases<'g>,
}

/// Reads the declared attribute `name`.
struct ReadField<'r, 'g> {
    name: &'static str,
    context: &'r Context<'g>,
    when: &'r Condition,
    found: Option<EvaluatedCases<'g>>,
}

impl<'g> Visit<'g> for ReadField<'_, 'g> {
    fn attribute<T: AsPlain>(&mut self, row: &'static Declared, attribute: &'g Attribute<T>) {
        if row.name == self.name {
            self.found = Some(self.context.plain(attribute, self.when));
        }
    }
}

impl<'g> Object<'g> {
    /// Returns the resource of the object, if it has one.
    pub(super) fn resource(self) -> Option<&'g Resource> {
        Some(match self {
            Object::Queue(node) => &node.resource,
            Object::Function(node) => &node.resource,
            Object::Mapping(node) => &node.resource,
            Object::Alarm(node) | Object::Metric(node, _) => &node.resource,
            Object::Topic(node) => &node.resource,
            Object::Pipe(node) => &node.resource,
            Object::Statement(policy, _) | Object::Comparison(policy, _) => &policy.resource,
            Object::Consumer(ConsumerOf::Mapping(node)) => &node.resource,
            Object::Consumer(ConsumerOf::Pipe(node)) | Object::Sender(SenderOf::Pipe(node)) => &node.resource,
            Object::Consumer(ConsumerOf::Worker(reading)) => &reading.resource,
            Object::Sender(SenderOf::Subscription(node)) => &node.resource,
            Object::Sender(SenderOf::Target(node)) => &node.resource,
            Object::Consumer(ConsumerOf::Declared) | Object::Declaration(_) | Object::Unit(_) => return None,
        })
    }

    /// Lets `visitor` visit the declared attributes.
    fn visit(self, visitor: &mut impl Visit<'g>) {
        match self {
            Object::Queue(queue) => queue.attributes.visit(visitor),
            Object::Function(function) => function.attributes.visit(visitor),
            Object::Mapping(mapping) => mapping.attributes.visit(visitor),
            _ => {}
        }
    }

    /// Returns `true` if both are the same object.
    pub(super) fn is_same(self, other: Object<'_>) -> bool {
        if let (Object::Unit(one), Object::Unit(other)) = (self, other) {
            return one == other;
        }
        let is_same_type = ObjectType::of(&self) == ObjectType::of(&other);
        let one = self.resource().map(|resource| (resource.unit, &resource.address));
        is_same_type && one.is_some() && one == other.resource().map(|resource| (resource.unit, &resource.address))
    }
}

fn text<'g>(text: &str, when: &Condition) -> EvaluatedCases<'g> {
    single_case(when, Evaluated::known(Value::Text(text.into())))
}

fn optional_text<'g>(written: Option<&str>, when: &Condition) -> EvaluatedCases<'g> {
    single_case(
        when,
        Evaluated::known(written.map_or(Value::Null, |written| Value::Text(written.into()))),
    )
}

fn time<'g>(time: Option<Duration>, when: &Condition) -> EvaluatedCases<'g> {
    let known = time.map_or(Value::Null, |time| Value::Duration(time.milliseconds));
    single_case(when, Evaluated::known(known))
}

fn null<'g>(when: &Condition) -> EvaluatedCases<'g> {
    single_case(when, Evaluated::known(Value::Null))
}

fn flag<'g>(flag: bool, when: &Condition) -> EvaluatedCases<'g> {
    single_case(when, Evaluated::known(Value::Bool(flag)))
}

fn object<'g>(object: Object<'g>, when: &Condition) -> EvaluatedCases<'g> {
    single_case(when, Evaluated::known(Value::Object(object)))
}

/// Returns a list of texts.
fn texts<'g>(all: impl IntoIterator<Item = String>, when: &Condition) -> EvaluatedCases<'g> {
    let items = all.into_iter().map(|text| {
        let value = Evaluated::known(Value::Text(text.into()));
        (when.clone(), ListElement::certain(value))
    });
    list(when, items.collect(), None)
}

fn tags<'g>(context: &Context<'g>, tags: &'g Attribute<Tags>, when: &Condition) -> EvaluatedCases<'g> {
    let span = tags.cases.first().map(|case| case.span);
    let value = |tags: &'g Tags, when: &Condition| match span {
        Some(span) => single_case(when, Evaluated::known(Value::Tags(tags, span))),
        None => null(when),
    };
    context.attribute(tags, when, value, |tags| ShownValue::Count(tags.entries.len()), 1)
}

/// Defines fields, each with an attribute that is read as it is, or an expression over the context and the condition.
/// Both may use the node of the object's type.
macro_rules! fields {
    ($($variant:pat => [$(
        $name:literal: $kind:expr, $optional:literal, $summary:literal,
            $(plain $node:ident.$attribute:ident)? $(|$context:ident, $when:ident| $read:expr)?;
    )*])*) => {
        vec![$($(Field {
            name: $name,
            kind: $kind,
            is_optional: $optional,
            summary: $summary,
            read: |_, context, object, when| {
                #[allow(unused_variables, reason = "a field may use only some of the names")]
                #[allow(unreachable_patterns, reason = "some fields are those of every object")]
                match object {
                    $variant => {
                        $(context.plain(&$node.$attribute, when))?
                        $(
                            let ($context, $when) = (context, when);
                            $read
                        )?
                    }
                    _ => null(when),
                }
            },
        }),*),*]
    };
}

/// Returns `own`, after the fields that every resource has.
fn with_resource_fields(own: Vec<Field>) -> Vec<Field> {
    let mut all = fields! { of => [
        "address": Type::Text, false, "The Terraform address or CloudFormation logical id.",
            |context, when| optional_text(of.resource().map(|resource| &*resource.address), when);
        "type": Type::Text, false, "The type as written: `aws_sqs_queue`, `AWS::SQS::Queue`.",
            |context, when| optional_text(of.resource().map(|resource| &*resource.kind), when);
        "region": Type::Text, true, "The Region, null if the files do not state it.",
            |context, when| optional_text(of.resource().and_then(|resource| resource.region.as_deref()), when);
        "account": Type::Text, true, "The account, null if the files do not state it.",
            |context, when| optional_text(of.resource().and_then(|resource| resource.account.as_deref()), when);
        "unit": Type::Object(ObjectType::Unit), false, "The unit that declares it.",
            |context, when| match of.resource() {
                Some(resource) => object(Object::Unit(resource.unit), when),
                None => null(when),
            };
    ]};
    all.extend(own);
    all
}

/// Returns the fields of a resource, with those of the declared attributes before the field `next`.
fn with_attributes(declared: &'static [Declared], next: &str, own: Vec<Field>) -> Vec<Field> {
    let mut all = with_resource_fields(own);
    let at = all.iter().position(|field| field.name == next).unwrap_or(all.len());
    let declared = declared.iter().filter(|row| row.is_for(Reader::Policy));
    let fields = declared.map(|row| Field {
        name: row.name,
        kind: match row.kind {
            Kind::Flag => Type::Bool,
            Kind::Number => Type::Int,
            Kind::Seconds => Type::Duration,
            Kind::Text | Kind::Link => Type::Text,
        },
        is_optional: row.is_optional,
        summary: row.summary.trim_start(),
        read: |field, context, object, when| {
            let (name, found) = (field.name, None);
            let mut reading = ReadField {
                name,
                context,
                when,
                found,
            };
            object.visit(&mut reading);
            reading.found.unwrap_or_else(|| null(when))
        },
    });
    all.splice(at..at, fields);
    all
}

fn list_of(element: ObjectType) -> Type {
    Type::List(Type::Object(element).into())
}

static QUEUE: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let own = fields! { Object::Queue(queue) => [
        "name": Type::Text, false, "The physical name. Unknown if AWS or the tool generates it.",
            |context, when| context.name(&queue.resource, &queue.name, when);
        "is_named": Type::Bool, false, "Whether a name is written.",
            |context, when| {
                let value = |name: &Option<String>, when: &Condition| flag(name.is_some(), when);
                context.attribute(&queue.name, when, value, |name| ShownValue::Plain(name.plain()), 1)
            };
        "tags": Type::Tags, false, "Its tags, with those that a provider adds to every resource.",
            |context, when| tags(context, &queue.tags, when);
        "max_receive_count": Type::Int, true, "After how many receives a message is moved. Null without a redrive policy.",
            |context, when| context.max_receive_count(queue, when);
        "dead_letter_queue": Type::Object(ObjectType::Queue), true, "The queue that receives the messages that fail. Null without a redrive policy.",
            |context, when| context.dead_letter_queue(queue, when);
        "is_dead_letter_queue": Type::Bool, false, "Whether it receives the failures of a queue, a function, a subscription, a rule…",
            |context, when| context.is_dead_letter_queue(queue, when);
        "sources": list_of(ObjectType::Queue), false, "The queues that name it as their dead-letter queue.",
            |context, when| context.sources(queue, when);
        "mappings": list_of(ObjectType::Mapping), false, "The event source mappings that read it, enabled or not.",
            |context, when| context.mappings_of_queue(queue, when);
        "functions": list_of(ObjectType::Function), false, "The functions of those mappings, each once.",
            |context, when| context.functions_of_queue(queue, when);
        "consumers": list_of(ObjectType::Consumer), false, "What reads it: enabled mappings, running pipes, workers.",
            |context, when| context.consumers(queue, when);
        "declarations": list_of(ObjectType::Declaration), false, "What the configuration declares about its consumers in `[[consumer]]`, or what their code states.",
            |context, when| context.declarations(queue, when);
        "senders": list_of(ObjectType::Sender), false, "What sends to it: subscriptions of topics, targets of rules and schedules, notifications of buckets, integrations of APIs, pipes.",
            |context, when| context.senders(queue, when);
        "policy": list_of(ObjectType::Statement), false, "The statements of its policies.",
            |context, when| context.statements(queue, when);
        "alarms": list_of(ObjectType::Alarm), false, "The alarms on one of its metrics.",
            |context, when| context.alarms(queue, when);
    ]};
    with_attributes(QueueAttributes::DECLARED, "tags", own)
});

static FUNCTION: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let own = fields! { Object::Function(function) => [
        "name": Type::Text, false, "The physical name. Unknown if AWS or the tool generates it.",
            |context, when| context.name(&function.resource, &function.name, when);
        "tags": Type::Tags, false, "Its tags, with those that a provider adds to every resource.",
            |context, when| tags(context, &function.tags, when);
        "runtime": Type::Text, true, "The runtime. Null for an image.",
            |context, when| match &function.settings {
                Some(settings) => context.plain(&settings.runtime, when),
                None => null(when),
            };
        "memory": Type::Int, false, "The memory, in MB.",
            |context, when| match &function.settings {
                Some(settings) => context.plain(&settings.memory, when),
                None => single_case(when, Evaluated::known(Value::Int(limits::MEMORY_DEFAULT))),
            };
        "architectures": Type::List(Type::Text.into()), false, "`x86_64` or `arm64`.",
            |context, when| context.architectures(function, when);
        "layers": Type::List(Type::Text.into()), false, "Its layers: addresses, or ARNs as written.",
            |context, when| match &function.settings {
                Some(settings) => context.values(&settings.layers, when),
                None => list(when, Vec::new(), None),
            };
        "environment": Type::Tags, false, "Its environment variables.",
            |context, when| match &function.settings {
                Some(settings) => tags(context, &settings.environment, when),
                None => single_case(when, Evaluated::known(Value::Tags(&NO_TAGS, function.resource.header))),
            };
        "failure_targets": Type::List(Type::Text.into()), false, "Where failed asynchronous invocations go: its dead-letter config and its destinations on failure, as addresses, or ARNs as written.",
            |context, when| context.failure_targets(function, when);
        "mappings": list_of(ObjectType::Mapping), false, "The event source mappings that invoke it, enabled or not.",
            |context, when| context.mappings_of_function(function, when);
        "queues": list_of(ObjectType::Queue), false, "The queues that those mappings read, each once.",
            |context, when| context.queues_of_function(function, when);
    ]};
    with_attributes(FunctionAttributes::DECLARED, "tags", own)
});

static MAPPING: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let own = fields! { Object::Mapping(mapping) => [
        "queue": Type::Object(ObjectType::Queue), false, "The queue that it reads.",
            |context, when| context.linked_queue(&mapping.resource, &mapping.queue, when);
        "function": Type::Object(ObjectType::Function), false, "The function that it invokes.",
            |context, when| context.linked_object(&mapping.resource, &mapping.function, when, |unit, link| {
                context.graph.function(unit, link).map(Object::Function)
            });
        "batching_window": Type::Duration, false, "The batching window.", plain mapping.window;
        "has_filters": Type::Bool, false, "Whether it has filters.",
            |context, when| {
                let value = |all: &Vec<Attribute<String>>, when: &Condition| flag(!all.is_empty(), when);
                context.attribute(&mapping.filters, when, value, |all| ShownValue::Count(all.len()), 1)
            };
        "filters": Type::List(Type::Text.into()), false, "The patterns of its filters, as JSON.",
            |context, when| context.values(&mapping.filters, when);
        "tags": Type::Tags, false, "Its tags, with those that a provider adds to every resource.",
            |context, when| match &mapping.tags {
                Some(all) => tags(context, all, when),
                None => single_case(when, Evaluated::known(Value::Tags(&NO_TAGS, mapping.resource.header))),
            };
    ]};
    with_attributes(MappingAttributes::DECLARED, "batching_window", own)
});

static ALARM: LazyLock<Vec<Field>> = LazyLock::new(|| {
    with_resource_fields(fields! { Object::Alarm(alarm) => [
        "name": Type::Text, false, "The physical name. Unknown if AWS or the tool generates it.",
            |context, when| context.name(&alarm.resource, &alarm.name, when);
        "metrics": list_of(ObjectType::Metric), false, "The metrics that it looks at.",
            |context, when| context.metrics(alarm, when);
        "queues": list_of(ObjectType::Queue), false, "The queues whose metrics it looks at.",
            |context, when| context.queues_of_alarm(alarm, when);
        "threshold": Type::Int, true, "What the metric is compared with. Null if not set.", plain alarm.threshold;
        "comparison": Type::Text, true, "How it is compared: `GreaterThanThreshold`. Null if not set.",
            |context, when| context.plain(&alarm.comparison, when);
        "evaluation_periods": Type::Int, true, "Over how many periods. Null if not set.",
            |context, when| context.plain(&alarm.evaluation_periods, when);
        "missing_data": Type::Text, true, "How periods without data count. Null if not set.", plain alarm.missing_data;
        "has_actions": Type::Bool, false, "Whether it does anything when it goes off.", plain alarm.has_actions;
        "actions": Type::List(Type::Text.into()), false, "The targets of its actions when it goes off: addresses, or ARNs as written.",
            |context, when| match &alarm.actions {
                Some(actions) => context.values(actions, when),
                None => list(when, Vec::new(), None),
            };
        "actions_enabled": Type::Bool, false, "Whether its actions are enabled.", plain alarm.actions_enabled;
    ]})
});

static METRIC: LazyLock<Vec<Field>> = LazyLock::new(|| {
    fields! { Object::Metric(alarm, metric) => [
        "namespace": Type::Text, false, "The namespace: `AWS/SQS`.", plain metric.namespace;
        "name": Type::Text, false, "The metric: `ApproximateNumberOfMessagesVisible`.", plain metric.metric;
        "queue": Type::Object(ObjectType::Queue), false, "The queue in its dimension `QueueName`.",
            |context, when| context.linked_queue(&alarm.resource, &metric.queue, when);
        "statistic": Type::Text, true, "`Maximum`, `p99`. Null if not set.", plain metric.statistic;
        "period": Type::Int, true, "How many seconds make a data point. Null if not set.", plain metric.period;
    ]}
});

static TOPIC: LazyLock<Vec<Field>> = LazyLock::new(|| {
    with_resource_fields(fields! { Object::Topic(topic) => [
        "name": Type::Text, false, "The physical name. Unknown if AWS or the tool generates it.",
            |context, when| context.name(&topic.resource, &topic.name, when);
        "fifo": Type::Bool, false, "Whether it is a FIFO topic.", plain topic.fifo;
        "tags": Type::Tags, false, "Its tags, with those that a provider adds to every resource.",
            |context, when| tags(context, &topic.tags, when);
        "queues": list_of(ObjectType::Queue), false, "The queues that are subscribed to it.",
            |context, when| context.queues_of_topic(topic, when);
    ]})
});

static PIPE: LazyLock<Vec<Field>> = LazyLock::new(|| {
    with_resource_fields(fields! { Object::Pipe(pipe) => [
        "queue": Type::Object(ObjectType::Queue), true, "The queue that it reads. Null if its source is not a queue.",
            |context, when| context.source_of_pipe(pipe, when);
        "source": Type::Text, false, "What it reads: an address, or an ARN as written.", plain pipe.source;
        "target": Type::Text, false, "Where it delivers: an address, or an ARN as written.", plain pipe.target;
        "batch_size": Type::Int, false, "The largest batch that it reads.", plain pipe.batch_size;
        "batching_window": Type::Duration, false, "The batching window.", plain pipe.window;
        "running": Type::Bool, false, "Whether it runs.", plain pipe.running;
        "role": Type::Text, true, "The role that it works under. Null if none is named.", plain pipe.role;
    ]})
});

static CONSUMER: LazyLock<Vec<Field>> = LazyLock::new(|| {
    with_resource_fields(fields! { Object::Consumer(consumer) => [
        "kind": Type::Text, false, "`mapping`, `pipe` or `worker`.",
            |context, when| text(match consumer {
                ConsumerOf::Mapping(_) => "mapping",
                ConsumerOf::Pipe(_) => "pipe",
                ConsumerOf::Worker(_) | ConsumerOf::Declared => "worker",
            }, when);
        "mapping": Type::Object(ObjectType::Mapping), true, "The mapping. Null for pipes and workers.",
            |context, when| match consumer {
                ConsumerOf::Mapping(mapping) => object(Object::Mapping(mapping), when),
                _ => null(when),
            };
        "pipe": Type::Object(ObjectType::Pipe), true, "The pipe. Null for mappings and workers.",
            |context, when| match consumer {
                ConsumerOf::Pipe(pipe) => object(Object::Pipe(pipe), when),
                _ => null(when),
            };
        "function": Type::Object(ObjectType::Function), true, "The function of a mapping. Null for pipes and workers.",
            |context, when| match consumer {
                ConsumerOf::Mapping(mapping) => {
                    context.linked_object(&mapping.resource, &mapping.function, when, |unit, link| {
                        context.graph.function(unit, link).map(Object::Function)
                    })
                }
                _ => null(when),
            };
    ]})
});

static SENDER: LazyLock<Vec<Field>> = LazyLock::new(|| {
    with_resource_fields(fields! { Object::Sender(sender) => [
        "kind": Type::Text, false, "`topic`, `pipe`, `rule`, `schedule`, `bucket`, `api`, `task`, `iot-rule`, `lifecycle-hook` or `subscriber`.",
            |context, when| text(match sender {
                SenderOf::Subscription(_) => "topic",
                SenderOf::Pipe(_) => "pipe",
                SenderOf::Target(target) => target.sender.name(),
            }, when);
        "source": Type::Text, false, "The topic, rule, schedule or bucket, or what the pipe reads: an address, or an ARN as written.",
            |context, when| match sender {
                SenderOf::Subscription(one) => context.plain(&one.topic, when),
                SenderOf::Pipe(one) => context.plain(&one.source, when),
                SenderOf::Target(one) => context.plain(&one.source, when),
            };
        "topic": Type::Object(ObjectType::Topic), true, "The topic. Null for other senders.",
            |context, when| match sender {
                SenderOf::Subscription(one) => {
                    context.linked_object(&one.resource, &one.topic, when, |unit, link| {
                        context.graph.topic(unit, link).map(Object::Topic)
                    })
                }
                _ => null(when),
            };
    ]})
});

static STATEMENT: LazyLock<Vec<Field>> = LazyLock::new(|| {
    fields! { Object::Statement(policy, statement) => [
        "effect": Type::Text, false, "`Allow` or `Deny`.",
            |context, when| {
                let value = |effect: &Effect, when: &Condition| text(shown_effect(*effect), when);
                context.attribute(&statement.effect, when, value, |effect| ShownValue::Plain(Plain::Text(shown_effect(*effect))), 1)
            };
        "principals": Type::List(Type::Text.into()), false, "To whom it applies: `*`, accounts, ARNs, `sns.amazonaws.com`.",
            |context, when| context.principals(statement, when);
        "actions": Type::List(Type::Text.into()), false, "The actions, as written: `sqs:SendMessage`, `sqs:*`.",
            |context, when| {
                let value = |all: &Vec<String>, when: &Condition| texts(all.iter().cloned(), when);
                context.attribute(&statement.actions, when, value, |all| ShownValue::Count(all.len()), 1)
            };
        "conditions": Type::List(Type::Text.into()), false, "The keys of its conditions: `aws:SourceArn`.",
            |context, when| context.conditions((policy, statement), when, |one| Value::Text(one.key.as_str().into()));
        "comparisons": list_of(ObjectType::Comparison), false, "Its conditions, with their values.",
            |context, when| context.conditions((policy, statement), when, |one| Value::Object(Object::Comparison(policy, one)));
        "sources": Type::List(Type::Text.into()), false, "What `aws:SourceArn` is compared with: addresses, or ARNs as written.",
            |context, when| context.source_arns(policy, statement, when);
    ]}
});

static COMPARISON: LazyLock<Vec<Field>> = LazyLock::new(|| {
    fields! { Object::Comparison(_, comparison) => [
        "operator": Type::Text, false, "The operator: `Bool`, `ArnEquals`.",
            |context, when| text(&comparison.operator, when);
        "key": Type::Text, false, "The key, as written: `aws:SecureTransport`.",
            |context, when| text(&comparison.key, when);
        "values": Type::List(Type::Text.into()), false, "What the key is compared with: texts as written, `true` or `false`, addresses.",
            |context, when| context.each_value(&comparison.values, when);
    ]}
});

static DECLARATION: LazyLock<Vec<Field>> = LazyLock::new(|| {
    fields! { Object::Declaration(declared) => [
        "is_worker": Type::Bool, false, "Whether it is about a worker, not about functions.",
            |context, when| flag(declared.is_worker(), when);
        "p50": Type::Duration, true, "How long half of the messages take at most. Null if nothing is declared.",
            |context, when| time(declared.p50, when);
        "p99": Type::Duration, true, "How long 99 % of the messages take at most. Null if nothing is declared.",
            |context, when| time(declared.p99, when);
        "max": Type::Duration, true, "How long the slowest message takes. Null if nothing is declared.",
            |context, when| time(declared.max, when);
        "heartbeat": Type::Duration, true, "The interval at which a worker renews the visibility timeout. Null without a heartbeat.",
            |context, when| time(declared.heartbeat.map(|heartbeat| heartbeat.every), when);
        "extends_to": Type::Duration, true, "The visibility timeout that a heartbeat sets. Null without a heartbeat.",
            |context, when| time(declared.heartbeat.map(|heartbeat| heartbeat.extend_to), when);
        "parallelism": Type::Int, false, "How many messages of a batch a function processes at once.",
            |context, when| single_case(when, Evaluated::known(Value::Int(declared.parallelism)));
    ]}
});

static UNIT: LazyLock<Vec<Field>> = LazyLock::new(|| {
    fields! { Object::Unit(unit) => [
        "path": Type::Text, false, "The directory or file, from the repository's root on.",
            |context, when| text(&context.graph.unit(unit).name, when);
        "kind": Type::Text, false, "`terraform`, `template`, `cdk`, `serverless`, `plan` or `state`.",
            |context, when| text(match context.graph.unit(unit).kind {
                UnitKind::TerraformModule => "terraform",
                UnitKind::Template => "template",
                UnitKind::CdkStack => "cdk",
                UnitKind::ServerlessService => "serverless",
                UnitKind::Plan => "plan",
                UnitKind::State => "state",
                UnitKind::Snapshot => "snapshot",
            }, when);
    ]}
});

fn shown_effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "Allow",
        Effect::Deny => "Deny",
    }
}

impl ObjectType {
    /// Returns the fields of the type.
    pub(super) fn fields(self) -> &'static [Field] {
        match self {
            ObjectType::Queue => &QUEUE,
            ObjectType::Function => &FUNCTION,
            ObjectType::Mapping => &MAPPING,
            ObjectType::Alarm => &ALARM,
            ObjectType::Topic => &TOPIC,
            ObjectType::Pipe => &PIPE,
            ObjectType::Consumer => &CONSUMER,
            ObjectType::Sender => &SENDER,
            ObjectType::Statement => &STATEMENT,
            ObjectType::Comparison => &COMPARISON,
            ObjectType::Metric => &METRIC,
            ObjectType::Declaration => &DECLARATION,
            ObjectType::Unit => &UNIT,
        }
    }
}
