//! Lowers resources that deliver to queues or poll them, except mappings: topics and subscriptions, targets of rules
//! and schedules, notifications of buckets, pipes.

use super::queue::is_missing;
use super::read::{dangling, exact};
use super::{BareName, Field, Lowering, Node, Path, View, is_absent, last, own_link};
use crate::graph::delivery::{
    EventTarget, Pipe, RuleOnBus, Sender, Subscription, SubscriptionRedrivePolicy, TargetKind, Topic,
};
use crate::graph::{
    Attribute, Cause, Form, Link, PolicyError, PolicyErrorKind, Resource, State, Target, Unresolved, limits,
};
use source::Span;

/// Names of a pipe's attributes.
pub(in crate::frontend) struct PipeNames {
    pub(in crate::frontend) source: Path,
    pub(in crate::frontend) enrichment: Path,
    pub(in crate::frontend) target: Path,
    /// Kinds of targets by resource type; all other types are [`TargetKind::Other`].
    pub(in crate::frontend) target_kinds: &'static [(&'static str, TargetKind)],
    pub(in crate::frontend) batch_size: Path,
    pub(in crate::frontend) window: Path,
    /// The object with the filters, the list in it, and the pattern of each filter.
    pub(in crate::frontend) filters: [Path; 3],
    pub(in crate::frontend) state: Path,
    /// The type among the parameters of a function, and among those of a state machine.
    pub(in crate::frontend) invocation_types: [Path; 2],
    pub(in crate::frontend) message_group_id: Path,
    pub(in crate::frontend) role: Path,
    /// The dead-letter queues of streams.
    pub(in crate::frontend) dead_letters: [Path; 2],
}

/// Names of a topic's attributes.
pub(in crate::frontend) struct TopicNames {
    pub(in crate::frontend) name: Path,
    pub(in crate::frontend) fifo: Path,
    /// Paths of the tags; the first that is written is used.
    pub(in crate::frontend) tags: &'static [Path],
    /// The list of inline subscriptions.
    pub(in crate::frontend) subscriptions: Option<(Path, &'static SubscriptionNames)>,
}

/// Names of a subscription's attributes.
pub(in crate::frontend) struct SubscriptionNames {
    pub(in crate::frontend) topic: Path,
    pub(in crate::frontend) protocol: Path,
    pub(in crate::frontend) endpoint: Path,
    pub(in crate::frontend) raw_message_delivery: Path,
    pub(in crate::frontend) redrive: Path,
}

/// Names of a rule's attributes.
pub(in crate::frontend) struct RuleNames {
    pub(in crate::frontend) state: Path,
    /// An older attribute for the state.
    pub(in crate::frontend) enabled: Option<Path>,
    pub(in crate::frontend) bus: Path,
    /// The pattern of matching events.
    pub(in crate::frontend) pattern: Path,
    /// The list of inline targets.
    pub(in crate::frontend) targets: Option<(Path, &'static TargetNames)>,
}

/// Names of the attributes of a target, or of a schedule with its only target.
pub(in crate::frontend) struct TargetNames {
    /// The rule of a separate target; elsewhere only a name for the source.
    pub(in crate::frontend) source: Path,
    pub(in crate::frontend) target: Path,
    pub(in crate::frontend) dead_letter: Path,
    pub(in crate::frontend) role: Path,
    pub(in crate::frontend) message_group_id: Path,
    pub(in crate::frontend) maximum_event_age: Path,
    /// The event, or the parameters of an action of the SDK.
    pub(in crate::frontend) input: Path,
    pub(in crate::frontend) state: Path,
}

/// Names of the attributes of a part of a resource that sends to a queue under a role.
pub(in crate::frontend) struct SenderNames {
    /// The list of such parts; `None` for the resource itself.
    pub(in crate::frontend) list: Option<Path>,
    pub(in crate::frontend) sender: Sender,
    pub(in crate::frontend) of: &'static TargetNames,
}

/// Name of an attribute that a kind of sender does not have.
const MISSING: Path = "-";

impl TargetNames {
    /// Creates the names of a sender that has a target and a role only.
    pub(in crate::frontend) const fn of_sender(target: Path, role: Path) -> Self {
        TargetNames {
            source: MISSING,
            target,
            dead_letter: MISSING,
            role,
            message_group_id: MISSING,
            maximum_event_age: MISSING,
            input: MISSING,
            state: MISSING,
        }
    }
}

/// Names of the attributes of a bucket's notifications.
pub(in crate::frontend) struct NotificationNames {
    /// The bucket; `None` if they are written in the bucket.
    pub(in crate::frontend) bucket: Option<Path>,
    /// The lists of notifications, and the name of the recipient in each.
    pub(in crate::frontend) lists: [(Path, Path, BareName); 3],
}

/// Names of the attributes of an API's integration with a queue.
pub(in crate::frontend) struct IntegrationNames {
    pub(in crate::frontend) uri: Path,
    /// The action of an HTTP API, and the URL of the queue among its parameters.
    pub(in crate::frontend) action: Option<(Path, Path)>,
    pub(in crate::frontend) role: Path,
    /// The parameters of the request, and the templates of its body, by content type.
    pub(in crate::frontend) parameters: Path,
    pub(in crate::frontend) templates: Path,
}

/// Extension of an operation of an `OpenAPI` document that contains its integration, with the keys in it.
/// <https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-integration.html>
const INTEGRATION: &str = "x-amazon-apigateway-integration";
static OPEN_API: IntegrationNames = IntegrationNames {
    uri: "uri",
    action: Some(("integrationSubtype", "requestParameters.QueueUrl")),
    role: "credentials",
    parameters: "requestParameters",
    templates: "requestTemplates",
};

/// Part of the URI with which an API sends to a queue: `arn:aws:apigateway:eu-west-1:sqs:path/111122223333/orders`.
/// <https://docs.aws.amazon.com/apigateway/latest/api/API_PutIntegration.html>
pub(in crate::frontend) const API_QUEUE: &str = ":sqs:path/";
/// End of the target of a schedule that sends with an action of the SDK, whose input names the queue.
/// <https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html>
const UNIVERSAL_SEND: &str = ":aws-sdk:sqs:sendMessage";
const UNIVERSAL_SEND_BATCH: &str = ":aws-sdk:sqs:sendMessageBatch";
/// Action that sends to a queue, also as a batch.
const SEND: &str = "SendMessage";
/// Parameter of `SendMessage` for the message group.
const MESSAGE_GROUP: &str = "MessageGroupId";

impl<V: View> Lowering<V> {
    pub(super) fn pipe(&mut self, node: Node<V::Value>, names: &PipeNames) {
        let written = &node.written;
        let pipe = Pipe {
            source: self.source(written, names.source),
            enrichment: self.plain(written, names.enrichment, None),
            target: self.link(written, names.target, BareName::Queue),
            target_kind: self.required(written, names.target, |view, value| {
                target_kind(view, value, names.target_kinds)
            }),
            batch_size: self.plain(written, names.batch_size, limits::BATCH_SIZE_DEFAULT),
            window: self.plain(written, names.window, limits::WINDOW_DEFAULT),
            filters: self.filters(written, names.filters),
            running: self.is_not(written, names.state, "STOPPED"),
            invocation_type: self.invocation_type(written, names.invocation_types),
            message_group_id: self.text(written, names.message_group_id),
            role: self.plain(written, names.role, None),
            dead_letters: names.dead_letters.map(|path| self.plain(written, path, None)).into(),
            resource: node.resource,
        };
        self.graph.deliveries.pipes.push(pipe);
    }

    /// Returns the invocation type of a pipe's target: the first of `paths` that is written.
    fn invocation_type(&mut self, written: &V::Value, paths: [Path; 2]) -> Attribute<Option<String>> {
        let [function, machine] = paths;
        let of_function = self.text(written, function);
        if is_absent(&of_function) {
            self.text(written, machine)
        } else {
            of_function
        }
    }

    /// Lowers a topic, with its inline subscriptions.
    pub(super) fn topic(&mut self, node: Node<V::Value>, names: &TopicNames) {
        if let Some((list, of_each)) = names.subscriptions {
            for element in self.view.elements(&node.written, list) {
                let resource = element.resource(&node.resource, last(list));
                let topic = Attribute::set(last(of_each.topic), own_link(&node.resource), resource.header);
                self.subscription(resource, &element.written, of_each, topic);
            }
        }
        let topic = Topic {
            name: self.text(&node.written, names.name),
            fifo: self.plain(&node.written, names.fifo, false),
            tags: self.tags(&node.written, names.tags),
            resource: node.resource,
        };
        self.graph.deliveries.topics.push(topic);
    }

    pub(super) fn separate_subscription(&mut self, node: Node<V::Value>, names: &SubscriptionNames) {
        let topic = self.link(&node.written, names.topic, BareName::Queue);
        self.subscription(node.resource, &node.written, names, topic);
    }

    fn subscription(
        &mut self,
        resource: Resource,
        written: &V::Value,
        names: &SubscriptionNames,
        topic: Attribute<Link>,
    ) {
        let subscription = Subscription {
            resource,
            topic,
            protocol: self.required(written, names.protocol, V::text),
            endpoint: self.link(written, names.endpoint, BareName::Queue),
            raw_message_delivery: self.plain(written, names.raw_message_delivery, false),
            redrive: self.subscription_redrive(written, names.redrive),
        };
        self.graph.deliveries.subscriptions.push(subscription);
    }

    fn subscription_redrive(&mut self, written: &V::Value, path: Path) -> Attribute<Option<SubscriptionRedrivePolicy>> {
        let name = "deadLetterTargetArn";
        self.policy(written, path, |this, object, span| {
            let fault = |kind, span| PolicyError { kind, span };
            let Ok(fields) = object.and_then(|object| this.view.fields(&object)) else {
                return Ok(SubscriptionRedrivePolicy {
                    target: Attribute::unresolved(
                        name,
                        Cause::Invalid.because("the redrive policy is malformed"),
                        span,
                    ),
                    faults: vec![fault(PolicyErrorKind::NotAnObject, span)],
                });
            };
            let mut faults: Vec<PolicyError> = Vec::new();
            for field in fields.iter().filter(|field| &*field.key != name) {
                let value = this.view.attribute(&field.value, "");
                // A key that is null in one case is absent in that case.
                if !value.cases.iter().any(|case| matches!(case.value(), Some(None))) {
                    faults.push(fault(PolicyErrorKind::UnknownKey(field.key.to_string()), field.span));
                }
            }
            let target = this.entry(exact(&fields, name), name, span);
            if is_absent(&target) {
                faults.push(fault(PolicyErrorKind::TargetMissing, span));
            }
            let target = this.convert(target, is_missing, |this, value| {
                this.view.link(&value, BareName::Queue)
            });
            let target = dangling(target);
            Ok(SubscriptionRedrivePolicy { target, faults })
        })
    }

    /// Lowers a rule, with its inline targets.
    pub(super) fn rule(&mut self, node: &Node<V::Value>, names: &RuleNames) {
        self.graph.deliveries.sources.push(node.resource.clone());
        let bus = self.plain(&node.written, names.bus, None);
        if !is_absent(&bus) {
            let resource = node.resource.clone();
            self.graph.deliveries.rules_on_buses.push(RuleOnBus { resource, bus });
        }
        self.rule_on_alarms(&node.resource, &node.written, names.pattern);
        let mut enabled = self.is_not(&node.written, names.state, "DISABLED");
        if let Some(switch) = names.enabled
            && is_absent(&enabled)
        {
            let switched = self.plain(&node.written, switch, true);
            if !is_absent(&switched) {
                enabled = switched;
            }
        }
        if let Some((list, of_each)) = names.targets {
            for element in self.view.elements(&node.written, list) {
                let resource = element.resource(&node.resource, last(list));
                let source = Attribute::set(last(of_each.source), own_link(&node.resource), resource.header);
                let target = self.target(resource, Sender::Rule, source, &element.written, of_each);
                self.graph.deliveries.targets.push(EventTarget {
                    enabled: enabled.clone(),
                    ..target
                });
            }
        } else {
            self.pending.rules.insert(node.resource.address.clone(), enabled);
        }
    }

    /// Lowers a separate target of a rule.
    pub(super) fn separate_target(&mut self, node: Node<V::Value>, names: &TargetNames) {
        let source = self.link(&node.written, names.source, BareName::Queue);
        let target = self.target(node.resource, Sender::Rule, source, &node.written, names);
        self.graph.deliveries.targets.push(target);
    }

    /// Lowers a schedule, which has one target.
    pub(super) fn schedule(&mut self, node: Node<V::Value>, names: &TargetNames) {
        let source = Attribute::set(last(names.source), own_link(&node.resource), node.resource.header);
        let mut target = self.target(node.resource, Sender::Schedule, source, &node.written, names);
        let action = self.text(&node.written, names.target);
        let action = action.known().cloned().flatten().unwrap_or_default();
        let is_batch = action.ends_with(UNIVERSAL_SEND_BATCH);
        if is_batch || action.ends_with(UNIVERSAL_SEND) {
            self.use_parameters(&mut target, &node.written, names.input, is_batch);
        }
        self.graph.deliveries.targets.push(target);
    }

    /// Replaces the target and the message group by the parameters of `SendMessage`, or of the first entry of a batch
    /// that has no group.
    fn use_parameters(&mut self, target: &mut EventTarget, written: &V::Value, input: Path, is_batch: bool) {
        let queue = self.policy(written, input, |this, object, _| {
            let fields = this.view.fields(&object?)?;
            let url = exact(&fields, "QueueUrl").ok_or_else(|| V::missing("QueueUrl"))?;
            this.view.link(&url.value, BareName::Queue)
        });
        target.uses_url = true;
        target.target = queue.try_map(|queue| queue.ok_or_else(|| V::missing("QueueUrl").into()));
        let group = self.policy(written, input, |this, object, _| {
            let fields = this.view.fields(&object?)?;
            if !is_batch {
                return this.group_of(&fields);
            }
            let entries = exact(&fields, "Entries").ok_or_else(|| V::missing("Entries"))?;
            let mut group = Err(V::missing("Entries").into());
            for entry in this.view.elements(&entries.value, "") {
                entry.place?;
                let fields = this.view.fields(&entry.written)?;
                group = this.group_of(&fields);
                if matches!(group, Ok(None)) {
                    break;
                }
            }
            group
        });
        target.message_group_id = group.try_map(|group| Ok(group.flatten()));
        target.message_group_id.name = MESSAGE_GROUP.into();
    }

    fn group_of(&mut self, fields: &[Field<V::Value>]) -> Result<Option<String>, Unresolved> {
        let group = exact(fields, MESSAGE_GROUP).map(|group| self.view.text(&group.value));
        group.transpose()
    }

    fn target(
        &mut self,
        resource: Resource,
        sender: Sender,
        source: Attribute<Link>,
        written: &V::Value,
        names: &TargetNames,
    ) -> EventTarget {
        let target = self.link(written, names.target, BareName::Queue);
        EventTarget {
            dead_letter: self.plain(written, names.dead_letter, None),
            role: self.plain(written, names.role, None),
            message_group_id: self.text(written, names.message_group_id),
            maximum_event_age: self.plain(written, names.maximum_event_age, limits::EVENT_AGE_DEFAULT),
            enabled: self.is_not(written, names.state, "DISABLED"),
            ..EventTarget::plain(resource, sender, source, target)
        }
    }

    /// Lowers the parts of a resource that send to queues under a role.
    pub(super) fn senders(&mut self, node: &Node<V::Value>, all: &[SenderNames]) {
        for names in all {
            let parts: Vec<(Resource, V::Value)> = match names.list {
                None => vec![(node.resource.clone(), node.written.clone())],
                Some(list) => {
                    let elements = self.view.elements(&node.written, list).into_iter();
                    elements
                        .map(|one| (one.resource(&node.resource, last(list)), one.written))
                        .collect()
                }
            };
            for (resource, written) in parts {
                if is_absent(&self.view.attribute(&written, names.of.target)) {
                    continue;
                }
                let source = Attribute::set("source", own_link(&node.resource), resource.header);
                let target = self.target(resource, names.sender, source, &written, names.of);
                self.graph.deliveries.targets.push(EventTarget {
                    uses_url: names.sender == Sender::IotRule,
                    ..target
                });
            }
        }
    }

    /// Lowers the integrations in the `OpenAPI` document of an API.
    pub(super) fn api(&mut self, node: &Node<V::Value>, document: Path) {
        for case in self.view.attribute(&node.written, document).cases {
            let State::Set(Some(written)) = case.then.state else {
                continue;
            };
            let Some(document) = self.view.decoded(&written) else {
                continue;
            };
            let when = node.resource.when.and(&case.when);
            for paths in self.fields_called(&document, "paths") {
                for path in self.view.fields(&paths.value).unwrap_or_default() {
                    for method in self.view.fields(&path.value).unwrap_or_default() {
                        for integration in self.fields_called(&method.value, INTEGRATION) {
                            let resource = Resource {
                                address: format!("{}.{} {}", node.resource.address, method.key, path.key).into(),
                                header: integration.span,
                                when: when.clone(),
                                ..node.resource.clone()
                            };
                            self.integration(resource, &integration.value, &OPEN_API);
                        }
                    }
                }
            }
        }
    }

    fn fields_called(&mut self, object: &V::Value, key: &str) -> Vec<Field<V::Value>> {
        let mut fields = self.view.fields(object).unwrap_or_default();
        fields.retain(|field| &*field.key == key);
        fields
    }

    /// Lowers the integration of an API, if it sends to a queue.
    pub(super) fn integration(&mut self, resource: Resource, written: &V::Value, names: &IntegrationNames) {
        let header = resource.header;
        let url = self.url_of_action(written, names);
        let queue = url.unwrap_or(names.uri);
        let templates = url.is_none().then_some(names.templates);
        let request = self.request(written, names.parameters, templates);
        // An API may also receive from a queue: the request names the action.
        if url.is_none() && !(request.contains(SEND).is_some() && self.is_queue_uri(written, names.uri)) {
            return;
        }
        let target = self.link(written, queue, BareName::Queue);
        let source = Attribute::set("api", own_link(&resource), header);
        let target = target.try_map(|link| Ok(queue_url(&link).unwrap_or(link)));
        let target = EventTarget {
            uses_url: true,
            role: self.plain(written, names.role, None),
            message_group_id: request.message_group(header),
            ..EventTarget::plain(resource, Sender::Api, source, target)
        };
        self.graph.deliveries.targets.push(target);
    }

    /// Returns the path of the queue's URL if the action of an HTTP API sends to a queue.
    fn url_of_action(&mut self, written: &V::Value, names: &IntegrationNames) -> Option<Path> {
        let (action, url) = names.action?;
        let action = self.text(written, action);
        let sends = |action: &Option<String>| action.as_deref() == Some("SQS-SendMessage");
        action.known().is_some_and(sends).then_some(url)
    }

    /// Returns `true` if every value of a URI is that of a queue.
    fn is_queue_uri(&mut self, written: &V::Value, uri: Path) -> bool {
        let uri = self.view.attribute(written, uri);
        let mut values = uri.cases.iter().map(|case| case.value().and_then(Option::as_ref));
        values.all(|value| {
            let link = value.and_then(|value| self.view.link(value, BareName::Queue).ok());
            link.is_some_and(|link| match link.target {
                Target::Resource(_) | Target::OtherUnit { .. } => link.form == Form::Url,
                _ => queue_url(&link).is_some(),
            })
        })
    }

    /// Returns the parameters and the templates of the request that an API sends.
    fn request(&mut self, written: &V::Value, parameters: Path, templates: Option<Path>) -> Request {
        let mut request = Request {
            texts: Vec::new(),
            is_open: false,
        };
        let mut bodies = 0;
        for path in [Some(parameters), templates].into_iter().flatten() {
            let found = self.view.attribute(written, path);
            for case in &found.cases {
                let Some(Some(object)) = case.value() else {
                    request.is_open |= matches!(case.state, State::Unresolved(_));
                    continue;
                };
                let fields = self.view.fields(object).unwrap_or_default();
                request.is_open |= fields.is_empty() || found.cases.len() > 1;
                for field in fields {
                    let text = self.view.text(&field.value);
                    // A parameter sets what its key names.
                    if templates == Some(path) {
                        bodies += 1;
                        request.is_open |= text.is_err();
                    }
                    let text = format!("{}={}", field.key, text.unwrap_or_default());
                    request.texts.push((text, field.span));
                }
            }
        }
        // Without a template, the client's request is a part of the request.
        request.is_open |= templates.is_some() && bodies == 0;
        request
    }

    /// Lowers the notifications of a bucket, each as a separate target.
    pub(super) fn notifications(&mut self, node: &Node<V::Value>, names: &NotificationNames) {
        let bucket = names
            .bucket
            .map(|bucket| self.link(&node.written, bucket, BareName::Queue));
        if bucket.is_none() {
            self.graph.deliveries.sources.push(node.resource.clone());
        }
        for (list, path, named) in names.lists {
            for element in self.view.elements(&node.written, list) {
                let resource = element.resource(&node.resource, last(list));
                let header = resource.header;
                let itself = || Attribute::set("bucket", own_link(&node.resource), header);
                let source = bucket.clone().unwrap_or_else(itself);
                let target = self.link(&element.written, path, named);
                let target = EventTarget::plain(resource, Sender::Bucket, source, target);
                self.graph.deliveries.targets.push(target);
            }
        }
    }
}

/// Parts of the request that an API sends to a queue.
struct Request {
    texts: Vec<(String, Span)>,
    /// `true` if it may have other parts.
    is_open: bool,
}

impl Request {
    /// Returns the part that contains `word`.
    fn contains(&self, word: &str) -> Option<&(String, Span)> {
        self.texts.iter().find(|(text, _)| text.contains(word))
    }

    /// Returns the message group, absent if no part of the request sets one.
    fn message_group(&self, header: Span) -> Attribute<Option<String>> {
        match self.contains(MESSAGE_GROUP) {
            Some((text, span)) => Attribute::set(MESSAGE_GROUP, Some(text.clone()), *span),
            None if self.is_open => {
                let reason = Cause::Derived.because("a part of the request is not known");
                Attribute::unresolved(MESSAGE_GROUP, reason, header)
            }
            None => Attribute::absent(MESSAGE_GROUP, None, header),
        }
    }
}

/// Returns the queue that an API's URI names, as a link by its URL.
fn queue_url(uri: &Link) -> Option<Link> {
    let Target::External(written) = &uri.target else {
        return None;
    };
    let (start, path) = written.split_once(API_QUEUE)?;
    let region = start.rsplit(':').next().unwrap_or_default();
    Some(Link {
        target: Target::External(format!("https://sqs.{region}.amazonaws.com/{path}").into()),
        form: Form::Url,
    })
}

/// Returns the kind of a pipe's target.
fn target_kind<V: View>(
    view: &mut V,
    value: &V::Value,
    kinds: &[(&str, TargetKind)],
) -> Result<TargetKind, Unresolved> {
    if let Some(kind) = view.kind_of(value) {
        let found = kinds.iter().find(|(name, _)| **name == *kind);
        return Ok(found.map_or(TargetKind::Other, |(_, kind)| *kind));
    }
    let link = view.link(value, BareName::Queue)?;
    let service = link.service().map(TargetKind::of_service);
    service.ok_or_else(|| Cause::Elsewhere.because("what it names is declared elsewhere").into())
}
