//! What delivers to queues, or reads them besides mappings: topics and subscriptions, targets of rules and schedules,
//! notifications of buckets, pipes.

use super::super::value::{Kind, Value};
use super::read::{Place, boolean, integer, link, seconds, text};
use super::{Lowering, Node, missing};
use crate::graph::delivery::{EventTarget, Pipe, Sender, Subscription, SubscriptionRedrivePolicy, Topic};
use crate::graph::{Attribute, Fault, Form, Link, PolicyFault, Resource, Target, limits};

/// The nested blocks of a bucket's notifications, with the argument of each that names what is notified.
const NOTIFICATIONS: [(&str, &str); 3] = [
    ("queue", "queue_arn"),
    ("lambda_function", "lambda_function_arn"),
    ("topic", "topic_arn"),
];

impl Lowering<'_, '_> {
    pub(super) fn pipe(&mut self, node: &Node) {
        let source = ["source_parameters", "sqs_queue_parameters"];
        let pipe = Pipe {
            resource: node.resource.clone(),
            source: self.link(node, "source"),
            enrichment: self.optional_link(node, "enrichment"),
            target: self.link(node, "target"),
            batch_size: self.read_nested(node, &source, "batch_size", limits::BATCH_SIZE_DEFAULT, integer),
            window: self.read_nested(
                node,
                &source,
                "maximum_batching_window_in_seconds",
                limits::WINDOW_DEFAULT,
                seconds,
            ),
            running: self.read(node, "desired_state", true, |eval, value| {
                Ok(text(eval, value)? != "STOPPED")
            }),
            invocation_type: self.invocation_type(node),
            message_group_id: self.optional_text_in(
                &node.place(),
                &["target_parameters", "sqs_queue_parameters"],
                "message_group_id",
            ),
            role: self.optional_link(node, "role_arn"),
        };
        self.graph.deliveries.pipes.push(pipe);
    }

    /// Which of the two blocks that say how the target is invoked stands there.
    fn invocation_type(&mut self, node: &Node) -> Attribute<Option<String>> {
        let [function, machine] = ["lambda_function_parameters", "step_function_state_machine_parameters"]
            .map(|kind| self.optional_text_in(&node.place(), &["target_parameters", kind], "invocation_type"));
        let is_absent = function.cases.iter().all(|case| case.value() == Some(&None));
        if is_absent { machine } else { function }
    }

    pub(super) fn topic(&mut self, node: &Node) {
        let topic = Topic {
            resource: node.resource.clone(),
            name: self.optional_text(node, "name"),
            fifo: self.read(node, "fifo_topic", false, boolean),
        };
        self.graph.deliveries.topics.push(topic);
    }

    pub(super) fn subscription(&mut self, node: &Node) {
        let subscription = Subscription {
            resource: node.resource.clone(),
            topic: self.link(node, "topic_arn"),
            protocol: self.read_required(node, "protocol", text),
            endpoint: self.link(node, "endpoint"),
            raw_message_delivery: self.read(node, "raw_message_delivery", false, boolean),
            redrive: self.subscription_redrive(node),
        };
        self.graph.deliveries.subscriptions.push(subscription);
    }

    fn subscription_redrive(&mut self, node: &Node) -> Attribute<Option<SubscriptionRedrivePolicy>> {
        let name = "redrive_policy";
        let argument = self.argument(&node.block.body, &node.scope, name);
        let span = argument.as_ref().map_or(node.resource.header, |(_, span)| *span);
        self.policy(name, argument, node, |lowering, policy, world| {
            let policy = policy.ok().filter(|policy| policy.entries().is_some());
            let mut faults = Vec::new();
            let mut fault = |kind, span| faults.push(Fault { kind, span });
            let mut target = None;
            match policy.as_ref().and_then(Value::entries) {
                None => fault(PolicyFault::NotAnObject, span),
                Some(entries) => {
                    for (key, value) in entries.iter() {
                        let place = value.span.unwrap_or(span);
                        if &**key == "deadLetterTargetArn" {
                            target = Some((value.clone(), place));
                        } else {
                            fault(PolicyFault::UnknownKey(key.to_string()), place);
                        }
                    }
                    if target.is_none() {
                        fault(PolicyFault::TargetMissing, span);
                    }
                }
            }
            let target = target.unwrap_or_else(|| (missing("`deadLetterTargetArn` is missing"), span));
            Ok(Some(SubscriptionRedrivePolicy {
                target: lowering.attribute("deadLetterTargetArn", Some(target), span, world, None, link),
                faults,
            }))
        })
    }

    /// `aws_cloudwatch_event_target`.
    pub(super) fn rule_target(&mut self, node: &Node) {
        let enabled = self.rule_enabled(node);
        let place = node.place();
        let mut target = self.event_target(&place, node.resource.clone(), Sender::Rule, "arn");
        target.source = self.link(node, "rule");
        target.enabled = enabled;
        target.message_group_id = self.optional_text_in(&place, &["sqs_target"], "message_group_id");
        self.graph.deliveries.targets.push(target);
    }

    /// Whether the rule of a target is enabled, as the rule's own block says.
    fn rule_enabled(&mut self, node: &Node) -> Attribute<bool> {
        let name = "state";
        let header = node.resource.header;
        let rule = self.argument(&node.block.body, &node.scope, "rule");
        let Some(Kind::Reference(id, _)) = rule.map(|(value, _)| value.kind) else {
            return Attribute::absent(name, true, header);
        };
        let [state, switch] = [name, "is_enabled"].map(|argument| self.eval.configured(&id, &argument.into()));
        let enabled = self
            .eval
            .lift(vec![state, switch], &mut |_, values| match values.as_slice() {
                [state, _] if state.to_text().as_deref() == Some("DISABLED") => Value::bool(false),
                [state, switch] if state.to_text().is_some() => switch.clone(),
                [state, ..] => state.clone(),
                [] => Value::null(),
            });
        let world = &node.resource.when;
        self.attribute(name, Some((enabled, header)), header, world, Some(true), boolean)
    }

    /// `aws_scheduler_schedule`.
    pub(super) fn schedule(&mut self, node: &Node) {
        let enabled = self.read(node, "state", true, |eval, value| Ok(text(eval, value)? != "DISABLED"));
        let source = Attribute::set("name", own_link(&node.resource), node.resource.header);
        for nested in self.blocks(&node.block.body, &node.scope, "target").unwrap_or_default() {
            let world = node.resource.when.and(&nested.when);
            let place = nested.place(&world);
            let resource = Resource {
                when: world.clone(),
                ..node.resource.clone()
            };
            let mut target = self.event_target(&place, resource, Sender::Schedule, "arn");
            target.source = source.clone();
            target.enabled = enabled.clone();
            target.message_group_id = self.optional_text_in(&place, &["sqs_parameters"], "message_group_id");
            self.graph.deliveries.targets.push(target);
        }
    }

    /// `aws_s3_bucket_notification`: a target for each of its blocks.
    pub(super) fn bucket_notification(&mut self, node: &Node) {
        let source = self.link(node, "bucket");
        for (kind, argument) in NOTIFICATIONS {
            let blocks = self.blocks(&node.block.body, &node.scope, kind).unwrap_or_default();
            for (at, nested) in blocks.into_iter().enumerate() {
                let world = node.resource.when.and(&nested.when);
                let resource = Resource {
                    address: format!("{}.{kind}[{at}]", node.resource.address).into(),
                    header: nested.block.header,
                    when: world.clone(),
                    ..node.resource.clone()
                };
                let mut target = self.event_target(&nested.place(&world), resource, Sender::Bucket, argument);
                target.source = source.clone();
                self.graph.deliveries.targets.push(target);
            }
        }
    }

    /// What targets of rules and of schedules spell alike.
    fn event_target(
        &mut self,
        place: &Place<'_>,
        resource: Resource,
        sender: Sender,
        argument: &'static str,
    ) -> EventTarget {
        let header = resource.header;
        EventTarget {
            sender,
            source: Attribute::unresolved("source", "it is not written", header),
            target: self.link_in(place, argument),
            dead_letter: self.optional_link_in(place, &["dead_letter_config"], "arn"),
            role: self.optional_link_in(place, &[], "role_arn"),
            message_group_id: Attribute::absent("message_group_id", None, header),
            maximum_event_age: self.read_in(
                place,
                &["retry_policy"],
                "maximum_event_age_in_seconds",
                limits::EVENT_AGE_DEFAULT,
                seconds,
            ),
            enabled: Attribute::absent("state", true, header),
            resource,
        }
    }

    fn link_in(&mut self, place: &Place<'_>, name: &'static str) -> Attribute<Link> {
        let argument = self.argument(place.body, place.scope, name);
        self.attribute(name, argument, place.header, place.world, None, link)
    }

    fn optional_link_in(&mut self, place: &Place<'_>, path: &[&str], name: &'static str) -> Attribute<Option<Link>> {
        self.read_in(place, path, name, None, |eval, value| link(eval, value).map(Some))
    }

    fn optional_text_in(&mut self, place: &Place<'_>, path: &[&str], name: &'static str) -> Attribute<Option<String>> {
        self.read_in(place, path, name, None, |eval, value| text(eval, value).map(Some))
    }
}

/// A link from a resource to itself, for what is source and target in one.
fn own_link(resource: &Resource) -> Link {
    Link {
        target: Target::Resource(resource.address.clone()),
        form: Form::Arn,
    }
}
