//! What delivers to queues, or reads them besides mappings: pipes, topics and subscriptions, rules, schedules, and
//! the notifications of buckets.

use super::queue::Policy;
use super::{Lowering, Properties, integer};
use crate::frontend::cloudformation::value::Evaluated;
use crate::graph::delivery::{EventTarget, Pipe, Sender, Subscription, SubscriptionRedrivePolicy, Topic};
use crate::graph::{Attribute, Fault, Form, Link, PolicyFault, Resource, State, Target, limits};
use std::sync::Arc;

/// The lists in a bucket's notification configuration, and the key of what each notifies.
const NOTIFICATIONS: [(&str, &str); 3] = [
    ("QueueConfigurations", "Queue"),
    ("LambdaConfigurations", "Function"),
    ("TopicConfigurations", "Topic"),
];

impl<'t> Lowering<'_, 't> {
    /// `AWS::Pipes::Pipe`.
    pub(super) fn pipe(&mut self, resource: Resource, properties: &Properties<'t>) {
        let queue = |key| ["SourceParameters", "SqsQueueParameters", key];
        let batch_size = State::Default(limits::BATCH_SIZE_DEFAULT);
        let pipe = Pipe {
            source: self.link(properties, &["Source"]),
            enrichment: self.optional_link(properties, &["Enrichment"]),
            target: self.link(properties, &["Target"]),
            batch_size: self.attribute(properties, &queue("BatchSize"), &batch_size, integer),
            window: self.seconds(
                properties,
                &queue("MaximumBatchingWindowInSeconds"),
                limits::WINDOW_DEFAULT,
            ),
            running: self.attribute(properties, &["DesiredState"], &State::Default(true), |value| {
                value.text().map(|state| state != "STOPPED")
            }),
            invocation_type: self.invocation_type(properties),
            message_group_id: self.name(
                properties,
                &["TargetParameters", "SqsQueueParameters", "MessageGroupId"],
            ),
            role: self.optional_link(properties, &["RoleArn"]),
            resource,
        };
        self.graph.deliveries.pipes.push(pipe);
    }

    /// How a pipe invokes its target: written with the parameters of a function or those of a state machine.
    fn invocation_type(&self, properties: &Properties<'t>) -> Attribute<Option<String>> {
        let of = |kind: &'static str| self.name(properties, &["TargetParameters", kind, "InvocationType"]);
        let function = of("LambdaFunctionParameters");
        if function.known() == Some(&None) {
            of("StepFunctionStateMachineParameters")
        } else {
            function
        }
    }

    /// `AWS::SNS::Topic`, with the subscriptions written in it.
    pub(super) fn topic(&mut self, resource: Resource, properties: &Properties<'t>) {
        for element in self.elements(properties, &["Subscription"]) {
            let inner = self.inner(&element, properties);
            let address = element.resource(&resource, "Subscription");
            let topic = Attribute::set("TopicArn", own_link(&resource), address.header);
            self.subscription(address, &inner, topic);
        }
        let topic = Topic {
            name: self.name(properties, &["TopicName"]),
            fifo: self.flag(properties, &["FifoTopic"], false),
            resource,
        };
        self.graph.deliveries.topics.push(topic);
    }

    /// `AWS::SNS::Subscription`.
    pub(super) fn separate_subscription(&mut self, resource: Resource, properties: &Properties<'t>) {
        let topic = self.link(properties, &["TopicArn"]);
        self.subscription(resource, properties, topic);
    }

    fn subscription(&mut self, resource: Resource, properties: &Properties<'t>, topic: Attribute<Link>) {
        let missing = State::Unresolved("`Protocol` is missing".into());
        let subscription = Subscription {
            topic,
            protocol: self.attribute(properties, &["Protocol"], &missing, Evaluated::text),
            endpoint: self.link(properties, &["Endpoint"]),
            raw_message_delivery: self.flag(properties, &["RawMessageDelivery"], false),
            redrive: self.subscription_redrive(properties),
            resource,
        };
        self.graph.deliveries.subscriptions.push(subscription);
    }

    fn subscription_redrive(&self, properties: &Properties<'t>) -> Attribute<Option<SubscriptionRedrivePolicy>> {
        self.policy(properties, "RedrivePolicy", |keys, outcome| {
            let fault = |kind, span| Fault { kind, span };
            let name = "deadLetterTargetArn";
            let Some(keys) = keys else {
                return SubscriptionRedrivePolicy {
                    target: Attribute::unresolved(name, "the redrive policy is malformed", outcome.span),
                    faults: vec![fault(PolicyFault::NotAnObject, outcome.span)],
                };
            };
            let others = keys.iter().filter(|(key, ..)| &**key != name);
            let mut faults: Vec<Fault> = others
                .map(|(key, span, _)| fault(PolicyFault::UnknownKey(key.to_string()), *span))
                .collect();
            let target = Policy::find(&keys, name, outcome.span);
            if target.iter().all(|found| matches!(found.value, Evaluated::Absent)) {
                faults.push(fault(PolicyFault::TargetMissing, outcome.span));
            }
            let missing = State::Unresolved(format!("`{name}` is missing").into());
            SubscriptionRedrivePolicy {
                target: super::attribute(name, target, outcome.span, &missing, |value| self.template.link(value)),
                faults,
            }
        })
    }

    /// `AWS::Events::Rule`: one node for each target.
    pub(super) fn rule(&mut self, resource: Resource, properties: &Properties<'t>) {
        let enabled = self.attribute(properties, &["State"], &State::Default(true), |value| {
            value.text().map(|state| state != "DISABLED")
        });
        for element in self.elements(properties, &["Targets"]) {
            let inner = self.inner(&element, properties);
            let place = element.resource(&resource, "Targets");
            let source = own_link(&resource);
            let target = self.target(place, Sender::Rule, source, &inner, &[], enabled.clone());
            self.graph.deliveries.targets.push(target);
        }
    }

    /// `AWS::Scheduler::Schedule`, which has one target.
    pub(super) fn schedule(&mut self, resource: Resource, properties: &Properties<'t>) {
        let enabled = self.attribute(properties, &["State"], &State::Default(true), |value| {
            value.text().map(|state| state != "DISABLED")
        });
        let source = own_link(&resource);
        let target = self.target(resource, Sender::Schedule, source, properties, &["Target"], enabled);
        self.graph.deliveries.targets.push(target);
    }

    /// The target whose settings lie at `base` in `properties`.
    fn target(
        &self,
        resource: Resource,
        sender: Sender,
        source: Link,
        properties: &Properties<'t>,
        base: &[&'static str],
        enabled: Attribute<bool>,
    ) -> EventTarget {
        let at = |path: &[&'static str]| -> Vec<&'static str> { base.iter().chain(path).copied().collect() };
        let age = at(&["RetryPolicy", "MaximumEventAgeInSeconds"]);
        EventTarget {
            sender,
            source: Attribute::set("Source", source, resource.header),
            target: self.link(properties, &at(&["Arn"])),
            dead_letter: self.optional_link(properties, &at(&["DeadLetterConfig", "Arn"])),
            role: self.optional_link(properties, &at(&["RoleArn"])),
            message_group_id: self.name(properties, &at(&["SqsParameters", "MessageGroupId"])),
            maximum_event_age: self.seconds(properties, &age, limits::EVENT_AGE_DEFAULT),
            enabled,
            resource,
        }
    }

    /// `AWS::S3::Bucket`: one node for each notification.
    pub(super) fn bucket(&mut self, resource: &Resource, properties: &Properties<'t>) {
        for (list, key) in NOTIFICATIONS {
            for element in self.elements(properties, &["NotificationConfiguration", list]) {
                let inner = self.inner(&element, properties);
                let place = element.resource(resource, list);
                let header = place.header;
                self.graph.deliveries.targets.push(EventTarget {
                    sender: Sender::Bucket,
                    source: Attribute::set("Source", own_link(resource), header),
                    target: self.link(&inner, &[key]),
                    dead_letter: Attribute::absent("DeadLetterConfig", None, header),
                    role: Attribute::absent("RoleArn", None, header),
                    message_group_id: Attribute::absent("MessageGroupId", None, header),
                    maximum_event_age: Attribute::absent("RetryPolicy", limits::EVENT_AGE_DEFAULT, header),
                    enabled: Attribute::absent("State", true, header),
                    resource: place,
                });
            }
        }
    }
}

/// A resource as what its own parts belong to.
pub(super) fn own_link(resource: &Resource) -> Link {
    let address: Arc<str> = resource.address.clone();
    Link {
        target: Target::Resource(address),
        form: Form::Arn,
    }
}
