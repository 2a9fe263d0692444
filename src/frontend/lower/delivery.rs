//! What delivers to queues, or reads them besides mappings: topics and subscriptions, targets of rules and schedules,
//! notifications of buckets, pipes.

use super::queue::is_missing;
use super::read::{dangling, exact};
use super::{Lowering, Named, Node, Path, View, is_absent, last, own_link};
use crate::graph::delivery::{EventTarget, Pipe, Sender, Subscription, SubscriptionRedrivePolicy, TargetKind, Topic};
use crate::graph::{Attribute, Cause, Fault, Link, PolicyFault, Resource, Unresolved, limits};

/// What a dialect calls a pipe's attributes.
pub(in crate::frontend) struct PipeNames {
    pub(in crate::frontend) source: Path,
    pub(in crate::frontend) enrichment: Path,
    pub(in crate::frontend) target: Path,
    /// What declared resources are as targets; those of other types are other targets.
    pub(in crate::frontend) target_kinds: &'static [(&'static str, TargetKind)],
    pub(in crate::frontend) batch_size: Path,
    pub(in crate::frontend) window: Path,
    /// What holds the filters, the list of them in it, and the pattern of each.
    pub(in crate::frontend) filters: [Path; 3],
    pub(in crate::frontend) state: Path,
    /// With the parameters of a function, and with those of a state machine.
    pub(in crate::frontend) invocation_types: [Path; 2],
    pub(in crate::frontend) message_group_id: Path,
    pub(in crate::frontend) role: Path,
}

/// What a dialect calls a topic's attributes.
pub(in crate::frontend) struct TopicNames {
    pub(in crate::frontend) name: Path,
    pub(in crate::frontend) fifo: Path,
    /// The first of these that is written counts.
    pub(in crate::frontend) tags: &'static [Path],
    /// The subscriptions written in it.
    pub(in crate::frontend) subscriptions: Option<(Path, &'static SubscriptionNames)>,
}

/// What a dialect calls a subscription's attributes.
pub(in crate::frontend) struct SubscriptionNames {
    pub(in crate::frontend) topic: Path,
    pub(in crate::frontend) protocol: Path,
    pub(in crate::frontend) endpoint: Path,
    pub(in crate::frontend) raw_message_delivery: Path,
    pub(in crate::frontend) redrive: Path,
}

/// What a dialect calls a rule's attributes.
pub(in crate::frontend) struct RuleNames {
    pub(in crate::frontend) state: Path,
    /// An older switch that says the same.
    pub(in crate::frontend) enabled: Option<Path>,
    /// The events it takes.
    pub(in crate::frontend) pattern: Path,
    /// The targets written in it.
    pub(in crate::frontend) targets: Option<(Path, &'static TargetNames)>,
}

/// What a dialect calls the attributes of a target, or of a schedule with its only target.
pub(in crate::frontend) struct TargetNames {
    /// The rule of a target that is a resource of its own; a name for what it belongs to elsewhere.
    pub(in crate::frontend) source: Path,
    pub(in crate::frontend) target: Path,
    pub(in crate::frontend) dead_letter: Path,
    pub(in crate::frontend) role: Path,
    pub(in crate::frontend) message_group_id: Path,
    pub(in crate::frontend) maximum_event_age: Path,
    pub(in crate::frontend) state: Path,
}

/// What a dialect calls the attributes of a bucket's notifications.
pub(in crate::frontend) struct NotificationNames {
    /// The bucket; `None` where they are written in it.
    pub(in crate::frontend) bucket: Option<Path>,
    /// The lists of notifications, and what each calls whom it notifies.
    pub(in crate::frontend) lists: [(Path, Path, Named); 3],
}

impl<V: View> Lowering<V> {
    pub(super) fn pipe(&mut self, node: Node<V::Written>, names: &PipeNames) {
        let written = &node.written;
        let pipe = Pipe {
            source: self.source(written, names.source),
            enrichment: self.optional_link(written, names.enrichment),
            target: self.link(written, names.target, Named::Queue),
            target_kind: self.required(written, names.target, |view, value| {
                target_kind(view, value, names.target_kinds)
            }),
            batch_size: self.integer(written, names.batch_size, limits::BATCH_SIZE_DEFAULT),
            window: self.seconds(written, names.window, limits::WINDOW_DEFAULT),
            filters: self.filters(written, names.filters),
            running: self.is_not(written, names.state, "STOPPED"),
            invocation_type: self.invocation_type(written, names.invocation_types),
            message_group_id: self.text(written, names.message_group_id),
            role: self.optional_link(written, names.role),
            resource: node.resource,
        };
        self.graph.deliveries.pipes.push(pipe);
    }

    /// How a pipe invokes its target: the first of `paths` at which something is written.
    fn invocation_type(&mut self, written: &V::Written, paths: [Path; 2]) -> Attribute<Option<String>> {
        let [function, machine] = paths;
        let of_function = self.text(written, function);
        if is_absent(&of_function) {
            self.text(written, machine)
        } else {
            of_function
        }
    }

    /// A topic, with the subscriptions written in it.
    pub(super) fn topic(&mut self, node: Node<V::Written>, names: &TopicNames) {
        if let Some((list, of_each)) = names.subscriptions {
            for element in self.view.elements(&node.written, list) {
                let resource = element.resource(&node.resource, last(list));
                let topic = Attribute::set(last(of_each.topic), own_link(&node.resource), resource.header);
                self.subscription(resource, &element.written, of_each, topic);
            }
        }
        let topic = Topic {
            name: self.text(&node.written, names.name),
            fifo: self.flag(&node.written, names.fifo, false),
            tags: self.tags(&node.written, names.tags),
            resource: node.resource,
        };
        self.graph.deliveries.topics.push(topic);
    }

    pub(super) fn separate_subscription(&mut self, node: Node<V::Written>, names: &SubscriptionNames) {
        let topic = self.link(&node.written, names.topic, Named::Queue);
        self.subscription(node.resource, &node.written, names, topic);
    }

    fn subscription(
        &mut self,
        resource: Resource,
        written: &V::Written,
        names: &SubscriptionNames,
        topic: Attribute<Link>,
    ) {
        let subscription = Subscription {
            resource,
            topic,
            protocol: self.required(written, names.protocol, V::text),
            endpoint: self.link(written, names.endpoint, Named::Queue),
            raw_message_delivery: self.flag(written, names.raw_message_delivery, false),
            redrive: self.subscription_redrive(written, names.redrive),
        };
        self.graph.deliveries.subscriptions.push(subscription);
    }

    fn subscription_redrive(
        &mut self,
        written: &V::Written,
        path: Path,
    ) -> Attribute<Option<SubscriptionRedrivePolicy>> {
        let name = "deadLetterTargetArn";
        self.policy(written, path, |this, object, span| {
            let fault = |kind, span| Fault { kind, span };
            let Ok(fields) = object.and_then(|object| this.view.fields(&object)) else {
                return Ok(SubscriptionRedrivePolicy {
                    target: Attribute::unresolved(
                        name,
                        Cause::Invalid.because("the redrive policy is malformed"),
                        span,
                    ),
                    faults: vec![fault(PolicyFault::NotAnObject, span)],
                });
            };
            let mut faults: Vec<Fault> = Vec::new();
            for field in fields.iter().filter(|field| &*field.key != name) {
                let value = this.view.attribute(&field.value, "");
                // What is null under some condition is not there under it.
                if !value.cases.iter().any(|case| matches!(case.value(), Some(None))) {
                    faults.push(fault(PolicyFault::UnknownKey(field.key.to_string()), field.span));
                }
            }
            let target = this.entry(exact(&fields, name), name, span);
            if is_absent(&target) {
                faults.push(fault(PolicyFault::TargetMissing, span));
            }
            let target = this.convert(target, is_missing, |this, value| this.view.link(&value, Named::Queue));
            let target = dangling(target, |link| link);
            Ok(SubscriptionRedrivePolicy { target, faults })
        })
    }

    /// A rule, with the targets written in it.
    pub(super) fn rule(&mut self, node: &Node<V::Written>, names: &RuleNames) {
        self.rule_on_alarms(&node.resource, &node.written, names.pattern);
        let mut enabled = self.is_not(&node.written, names.state, "DISABLED");
        if let Some(switch) = names.enabled
            && is_absent(&enabled)
        {
            let switched = self.flag(&node.written, switch, true);
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

    /// A target of a rule that is a resource of its own.
    pub(super) fn separate_target(&mut self, node: Node<V::Written>, names: &TargetNames) {
        let source = self.link(&node.written, names.source, Named::Queue);
        let target = self.target(node.resource, Sender::Rule, source, &node.written, names);
        self.graph.deliveries.targets.push(target);
    }

    /// A schedule, which has one target.
    pub(super) fn schedule(&mut self, node: Node<V::Written>, names: &TargetNames) {
        let source = Attribute::set(last(names.source), own_link(&node.resource), node.resource.header);
        let target = self.target(node.resource, Sender::Schedule, source, &node.written, names);
        self.graph.deliveries.targets.push(target);
    }

    fn target(
        &mut self,
        resource: Resource,
        sender: Sender,
        source: Attribute<Link>,
        written: &V::Written,
        names: &TargetNames,
    ) -> EventTarget {
        EventTarget {
            resource,
            sender,
            source,
            target: self.link(written, names.target, Named::Queue),
            dead_letter: self.optional_link(written, names.dead_letter),
            role: self.optional_link(written, names.role),
            message_group_id: self.text(written, names.message_group_id),
            maximum_event_age: self.seconds(written, names.maximum_event_age, limits::EVENT_AGE_DEFAULT),
            enabled: self.is_not(written, names.state, "DISABLED"),
        }
    }

    /// The notifications of a bucket, each a target of its own.
    pub(super) fn notifications(&mut self, node: &Node<V::Written>, names: &NotificationNames) {
        let bucket = names
            .bucket
            .map(|bucket| self.link(&node.written, bucket, Named::Queue));
        for (list, path, named) in names.lists {
            for element in self.view.elements(&node.written, list) {
                let resource = element.resource(&node.resource, last(list));
                let header = resource.header;
                let itself = || Attribute::set("bucket", own_link(&node.resource), header);
                let target = EventTarget {
                    resource,
                    sender: Sender::Bucket,
                    source: bucket.clone().unwrap_or_else(itself),
                    target: self.link(&element.written, path, named),
                    dead_letter: Attribute::absent("dead-letter queue", None, header),
                    role: Attribute::absent("role", None, header),
                    message_group_id: Attribute::absent("message group", None, header),
                    maximum_event_age: Attribute::absent("maximum event age", limits::EVENT_AGE_DEFAULT, header),
                    enabled: Attribute::absent("state", true, header),
                };
                self.graph.deliveries.targets.push(target);
            }
        }
    }
}

/// What `value` names as the target of a pipe.
fn target_kind<V: View>(
    view: &mut V,
    value: &V::Written,
    kinds: &[(&str, TargetKind)],
) -> Result<TargetKind, Unresolved> {
    if let Some(kind) = view.kind_of(value) {
        let found = kinds.iter().find(|(name, _)| **name == *kind);
        return Ok(found.map_or(TargetKind::Other, |(_, kind)| *kind));
    }
    let link = view.link(value, Named::Queue)?;
    let service = link.service().map(TargetKind::of_service);
    service.ok_or_else(|| Cause::Elsewhere.because("what it names is declared elsewhere").into())
}
