//! What the SAM transform makes of a function: mappings of its SQS events, the queue behind
//! `SqsSubscription: true`, and invocations by every other event. Names are those of the transform.

use super::mapping::made_mapping;
use super::{Lowering, Properties};
use crate::frontend::cloudformation::template::Declared;
use crate::frontend::cloudformation::value::{Evaluated, Outcome};
use crate::frontend::tree::{Entry, Node};
use crate::graph::{
    Attribute, Condition, DeadLetterUse, Form, Invocation, Link, Queue, Resource, Seconds, Target, UnitId, limits,
};
use std::sync::Arc;

/// Events that the transform makes event source mappings of other sources.
const STREAMS: [&str; 6] = ["Kinesis", "DynamoDB", "MSK", "MQ", "SelfManagedKafka", "DocumentDB"];

impl<'t> Lowering<'_, 't> {
    /// `AWS::Serverless::Function`.
    pub(super) fn serverless_function(
        &mut self,
        resource: &Resource,
        properties: &Properties<'t>,
        declared: &Declared<'t>,
    ) {
        let by = resource.address.clone();
        let mut function = self.plain_function(resource.clone(), properties);
        let queue = self.failure_target(properties, "DeadLetterQueue", &["DeadLetterQueue", "TargetArn"]);
        let path = ["EventInvokeConfig", "DestinationConfig", "OnFailure", "Destination"];
        let failed = self.failure_target(properties, "OnFailure", &path);
        let kind = self.get(
            properties,
            &["EventInvokeConfig", "DestinationConfig", "OnFailure", "Type"],
        );
        if failed.is_none() && kind.iter().any(|outcome| outcome.value.text().as_deref() == Ok("SQS")) {
            let address = format!("{by}EventInvokeConfigOnFailureQueue");
            self.made_dead_letter_queue(resource, &by, address.into());
        }
        for target in [queue, failed] {
            function.failure_targets.extend(self.used_by(&by, target));
        }
        self.graph.functions.push(function);
        let events = declared.properties.and_then(|properties| properties.get("Events"));
        for event in events.and_then(Node::entries).unwrap_or_default() {
            self.event(resource, event);
        }
    }

    fn event(&mut self, function: &Resource, event: &'t Entry) {
        let kind = event.value.get("Type").and_then(Node::as_str).unwrap_or_default();
        let written = event.value.get("Properties");
        let own = match written {
            Some(node) => self.template.eval(node, event.key_span, &function.when),
            None => vec![Outcome::always(Evaluated::Absent, event.key_span)],
        };
        let properties = Properties {
            own,
            globals: None,
            header: event.key_span,
            world: function.when.clone(),
        };
        let link = Link {
            target: Target::Resource(function.address.clone()),
            form: Form::Arn,
        };
        let config = written.and_then(|written| written.get("DeadLetterConfig"));
        if let Some(config) = config.filter(|config| config.get("Arn").is_none() && config.get("Type").is_some()) {
            let by: Arc<str> = format!("{}{}", function.address, event.key).into();
            let chosen = config.get("QueueLogicalId").and_then(Node::as_str);
            let address = chosen.map_or_else(|| format!("{by}Queue"), str::to_owned);
            let place = Resource {
                header: event.key_span,
                ..function.clone()
            };
            self.made_dead_letter_queue(&place, &by, address.into());
        }
        let subscription = written.and_then(|written| written.get("SqsSubscription"));
        match (kind, subscription) {
            ("SQS", _) => {
                let queue = self.link(&properties, &["Queue"]);
                let function_link = Attribute::set("FunctionName", link, function.header);
                let resource = made(function, event, "");
                self.push_mapping(resource, &properties, queue, function_link);
            }
            ("SNS", Some(subscription)) if subscription.entries().is_some() => {
                let nested = Properties {
                    own: self.get(&properties, &["SqsSubscription"]),
                    ..properties
                };
                let queue = self.link(&nested, &["QueueArn"]);
                let function_link = Attribute::set("FunctionName", link, function.header);
                let resource = made(function, event, "EventSourceMapping");
                self.push_mapping(resource, &nested, queue, function_link);
                // The transform writes `true` whatever the event says.
                if let Some(mapping) = self.graph.mappings.last_mut() {
                    mapping.enabled = Attribute::absent("Enabled", true, event.key_span);
                }
            }
            ("SNS", Some(_)) => {
                let outcomes = self.get(&properties, &["SqsSubscription"]);
                let on: Vec<_> = outcomes
                    .iter()
                    .filter(|o| o.value.text().as_deref() == Ok("true"))
                    .collect();
                let when = on
                    .iter()
                    .fold(Condition::never(), |either, outcome| either.or(&outcome.when));
                if when.is_possible() {
                    self.subscription_queue(function, event, &when, link.clone());
                }
                if !when.is_always() {
                    self.invoked_by(function, event, link);
                }
            }
            (kind, _) if STREAMS.contains(&kind) => {}
            _ => self.invoked_by(function, event, link),
        }
    }

    fn invoked_by(&mut self, function: &Resource, event: &Entry, link: Link) {
        self.graph.invocations.push(Invocation {
            by: format!("{}{}", function.address, event.key).into(),
            span: event.key_span,
            function: Attribute::set("FunctionName", link, event.key_span),
        });
    }

    /// A queue without properties that the transform makes for the failures of `by`.
    fn made_dead_letter_queue(&mut self, place: &Resource, by: &Arc<str>, address: Arc<str>) {
        let link = Link {
            target: Target::Resource(address.clone()),
            form: Form::Arn,
        };
        self.graph.dead_letter_uses.push(DeadLetterUse {
            by: by.clone(),
            span: place.header,
            target: Attribute::set("Type", link, place.header),
            when: place.when.clone(),
        });
        self.graph.queues.push(default_queue(Resource {
            address,
            kind: "AWS::SQS::Queue".into(),
            ..place.clone()
        }));
    }

    /// The queue and mapping that `SqsSubscription: true` stands for.
    fn subscription_queue(&mut self, function: &Resource, event: &Entry, when: &Condition, link: Link) {
        let mut queue = made(function, event, "Queue");
        let mut mapping = made(function, event, "EventSourceMapping");
        queue.when = queue.when.and(when);
        mapping.when = queue.when.clone();
        let source = Link {
            target: Target::Resource(queue.address.clone()),
            form: Form::Arn,
        };
        self.graph.queues.push(default_queue(queue));
        self.graph.mappings.push(made_mapping(mapping, source, link));
    }
}

/// A resource that the transform makes of an event.
fn made(function: &Resource, event: &Entry, suffix: &str) -> Resource {
    let kind = if suffix == "Queue" {
        "AWS::SQS::Queue"
    } else {
        "AWS::Lambda::EventSourceMapping"
    };
    Resource {
        unit: UnitId(0),
        address: Arc::from(format!("{}{}{suffix}", function.address, event.key)),
        construct: function.construct.clone(),
        kind: kind.into(),
        header: event.key_span,
        when: function.when.clone(),
        uncertain: None,
        calls: Vec::new(),
        region: function.region.clone(),
    }
}

/// A queue without properties.
fn default_queue(resource: Resource) -> Queue {
    let header = resource.header;
    let seconds = |name: &str, default: Seconds| Attribute::absent(name, default, header);
    Queue {
        name: Attribute::absent("QueueName", None, header),
        fifo: Attribute::absent("FifoQueue", false, header),
        sends_fifo_false: true,
        visibility_timeout: seconds("VisibilityTimeout", limits::VISIBILITY_TIMEOUT_DEFAULT),
        retention: seconds("MessageRetentionPeriod", limits::RETENTION_DEFAULT),
        delay: seconds("DelaySeconds", Seconds(0)),
        receive_wait_time: seconds("ReceiveMessageWaitTimeSeconds", Seconds(0)),
        maximum_message_size: Attribute::absent("MaximumMessageSize", limits::MAXIMUM_MESSAGE_SIZE_DEFAULT, header),
        key: Attribute::absent("KmsMasterKeyId", None, header),
        managed_encryption: Attribute::absent("SqsManagedSseEnabled", None, header),
        content_based_deduplication: Attribute::absent("ContentBasedDeduplication", false, header),
        deduplication_scope: Attribute::absent("DeduplicationScope", None, header),
        throughput_limit: Attribute::absent("FifoThroughputLimit", None, header),
        key_reuse_period: seconds("KmsDataKeyReusePeriodSeconds", limits::KEY_REUSE_PERIOD_DEFAULT),
        redrive: Attribute::absent("RedrivePolicy", None, header),
        redrive_allow: Attribute::absent("RedriveAllowPolicy", None, header),
        resource,
    }
}
