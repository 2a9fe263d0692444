//! Finds services that send to queues on their own: topics, rules and buckets. Topics and rules can also send
//! undeliverable messages to dead-letter queues.

use super::findings::Findings;
use crate::graph::delivery::Sender;
use crate::graph::permits::Permits;
use crate::graph::{Attribute, Condition, Link, Queue, Resource};
use source::Span;
use std::fmt;

/// Delivery by a service that sends to a queue as itself, and therefore needs permission in the queue's policy.
#[derive(Debug)]
pub(crate) struct Delivery<'g> {
    /// Resource that makes the service send: a subscription, a target, a notification.
    pub(crate) resource: &'g Resource,
    /// Queue that receives the messages.
    pub(crate) queue: &'g Queue,
    /// Condition under which the service sends.
    pub(crate) when: Condition,
    /// Service principal.
    pub(crate) service: &'static str,
    /// Topic, rule or bucket on whose behalf it sends, if that is declared.
    pub(crate) source: Option<&'g Resource>,
    /// Span of the reference to the queue.
    pub(crate) span: Span,
}

impl fmt::Display for Delivery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.resource.fmt(f)
    }
}

const SNS: &str = "sns.amazonaws.com";
/// Principal of EventBridge.
pub(crate) const EVENTS: &str = "events.amazonaws.com";
const S3: &str = "s3.amazonaws.com";

impl Delivery<'_> {
    /// Returns the common name of the service.
    pub(crate) fn service_shown(&self) -> &'static str {
        match self.service {
            SNS => "SNS",
            S3 => "S3",
            _ => "EventBridge",
        }
    }

    /// Returns `true` for a notification of a bucket.
    pub(crate) fn of_bucket(&self) -> bool {
        self.service == S3
    }

    /// Returns the kind of source on whose behalf the service sends, as used in a statement's condition.
    pub(crate) fn kind_of_source(&self) -> &'static str {
        match self.service {
            SNS => "topic",
            S3 => "bucket",
            _ => "rule",
        }
    }
}

impl<'g> Findings<'g> {
    /// Returns the deliveries to queues of the project.
    pub(crate) fn deliveries(&mut self) -> Vec<Delivery<'g>> {
        let mut all = Vec::new();
        for subscription in &self.graph.deliveries().subscriptions {
            let resource = &subscription.resource;
            let protocols = self.without_notes(|this| this.known(&resource.when, resource, &subscription.protocol));
            for protocol in protocols.iter().filter(|protocol| *protocol.value == "sqs") {
                let endpoint = (&subscription.endpoint, Some as fn(&'g Link) -> Option<&'g Link>);
                let sender = (SNS, &subscription.topic);
                self.add_deliveries(resource, &protocol.when, endpoint, sender, &mut all);
            }
        }
        for target in &self.graph.deliveries().targets {
            let service = match target.sender {
                Sender::Rule => EVENTS,
                Sender::Bucket => S3,
                _ => continue, // Sends under a role.
            };
            let resource = &target.resource;
            let enabled = self.without_notes(|this| this.known(&resource.when, resource, &target.enabled));
            for enabled in enabled.iter().filter(|enabled| *enabled.value) {
                // A target with a role uses the permissions of that role.
                let roles = self.without_notes(|this| this.known(&enabled.when, resource, &target.role));
                for role in roles.iter().filter(|role| role.value.is_none()) {
                    let link = (&target.target, Some as fn(&'g Link) -> Option<&'g Link>);
                    self.add_deliveries(resource, &role.when, link, (service, &target.source), &mut all);
                }
            }
        }
        all
    }

    /// Returns the failed deliveries that services send to dead-letter queues of the project.
    pub(crate) fn failed_deliveries(&mut self) -> Vec<Delivery<'g>> {
        let mut all = Vec::new();
        for subscription in &self.graph.deliveries().subscriptions {
            let resource = &subscription.resource;
            for redrive in self.without_notes(|this| this.known(&resource.when, resource, &subscription.redrive)) {
                if let Some(policy) = redrive.value {
                    let target = (&policy.target, Some as fn(&'g Link) -> Option<&'g Link>);
                    self.add_deliveries(resource, &redrive.when, target, (SNS, &subscription.topic), &mut all);
                }
            }
        }
        let targets = self.graph.deliveries().targets.iter();
        for target in targets.filter(|target| target.sender == Sender::Rule) {
            let link = (
                &target.dead_letter,
                Option::as_ref as fn(&'g Option<Link>) -> Option<&'g Link>,
            );
            self.add_deliveries(
                &target.resource,
                &target.resource.when,
                link,
                (EVENTS, &target.source),
                &mut all,
            );
        }
        all
    }

    fn add_deliveries<T>(
        &mut self,
        resource: &'g Resource,
        when: &Condition,
        (attribute, link): (&'g Attribute<T>, fn(&'g T) -> Option<&'g Link>),
        (service, source): (&'static str, &'g Attribute<Link>),
        all: &mut Vec<Delivery<'g>>,
    ) {
        let source = source.known().and_then(|link| self.graph.source(resource.unit, link));
        for known in self.without_notes(|this| this.known(when, resource, attribute)) {
            let queue = link(known.value).and_then(|link| self.graph.queue(resource.unit, link));
            let both = queue.map(|queue| (queue, known.when.and(&queue.resource.when)));
            let Some((queue, when)) = both.filter(|(_, when)| when.is_possible()) else {
                continue;
            };
            all.push(Delivery {
                resource,
                queue,
                when,
                service,
                source,
                span: known.span,
            });
        }
    }

    /// Returns the part of `when` under which `permits` certainly does not hold for `resource`. Conditions under which
    /// it may hold are noted as unresolved.
    pub(crate) fn without_permission(&mut self, when: &Condition, resource: &Resource, permits: &Permits) -> Condition {
        let mut left = when.and(&permits.when.not());
        for (open, reason, span) in &permits.possible {
            self.note_unresolved(&left.and(open), resource, reason, *span);
            left = left.and(&open.not());
        }
        left
    }
}
