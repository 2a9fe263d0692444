//! Links of other resources to a resource, for `sqslint explain`. Its own links are among its
//! [`values`](super::values).

use super::delivery::Sender;
use super::{Attribute, Case, Function, Graph, Link, Queue, Resource, UnitId};
use conditions::Condition;
use source::Span;

/// A link of another resource to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Role of this resource: "read by `aws_lambda_event_source_mapping.orders`".
    pub text: String,
    /// Span of the link.
    pub span: Span,
    /// Condition of the link; `None` if it always applies.
    pub when: Option<String>,
}

/// Returns the links to the queue or function `resource`.
pub fn relations(graph: &Graph, resource: &Resource) -> Vec<Relation> {
    let is_it = |other: &Resource| (other.unit, &other.address) == (resource.unit, &resource.address);
    let mut all = Vec::new();
    if let Some(queue) = graph.queues().iter().find(|queue| is_it(&queue.resource)) {
        of_queue(graph, queue, &mut all);
    }
    if let Some(function) = graph.functions().iter().find(|function| is_it(&function.resource)) {
        of_source(function, &mut all);
        of_function(graph, function, &mut all);
    }
    let mut seen = Vec::new();
    all.retain(|relation| {
        let is_new = !seen.contains(relation);
        seen.push(relation.clone());
        is_new
    });
    all
}

fn relation(text: String, span: Span, assumed: &Condition, resource: &Resource) -> Relation {
    let when = assumed
        .describe()
        .filter(|when| resource.when.describe().as_ref() != Some(when));
    Relation { text, span, when }
}

/// Adds the handler of a function that a queue invokes, or the reason why it was not read.
fn of_source(function: &Function, all: &mut Vec<Relation>) {
    let this = &function.resource;
    let (text, span) = match &function.handler {
        Ok(handler) => (format!("implemented by `{}`", handler.name), handler.place),
        Err(unread) => match unread.words() {
            Some(words) => (words.to_string(), this.header),
            None => return,
        },
    };
    all.push(relation(text, span, &this.when, this));
}

fn of_queue(graph: &Graph, queue: &Queue, all: &mut Vec<Relation>) {
    let this = &queue.resource;
    for read in graph.consumptions(queue) {
        let mapping = read.mapping.resource.shown();
        let functions = graph.functions_of(read.mapping, &read.when);
        if functions.is_empty() {
            let text = format!("read by {mapping}");
            all.push(relation(text, read.link.span, &read.when, this));
        }
        for (assumed, function) in functions {
            let text = format!("read by {mapping} for {function}");
            all.push(relation(text, read.link.span, &assumed, this));
        }
    }
    for (assumed, pipe) in graph.pipes_from(queue) {
        let text = format!("read by the pipe {pipe}");
        all.push(relation(text, pipe.resource.header, &assumed, this));
    }
    for consumption in graph.worker_consumptions(queue) {
        let may = if consumption.is_permitted {
            "read by"
        } else {
            "given to"
        };
        let text = format!("{may} {consumption}");
        all.push(relation(text, consumption.span, &consumption.when, this));
    }
    for span in graph.declared_workers(queue).filter_map(|declared| declared.span) {
        all.push(relation("read by a declared worker".to_owned(), span, &this.when, this));
    }
    for source in graph.sources_of(queue) {
        let policies = source.redrive.cases.iter().filter_map(|case| case.value()?.as_ref());
        for policy in policies {
            for (assumed, case) in naming(graph, &source.resource, &policy.target, this) {
                let text = format!("the dead-letter queue of {source}");
                all.push(relation(text, case.span, &assumed, this));
            }
        }
    }
    for used in graph.dead_letter_uses_of(queue) {
        let text = format!("the dead-letter queue of `{}`", used.resource);
        all.push(relation(text, used.span, &used.when, this));
    }
    senders(graph, this, all);
    for alarm in graph.alarms_on(queue) {
        let text = format!("watched by the alarm {alarm}");
        all.push(relation(text, alarm.resource.header, &alarm.resource.when, this));
    }
}

/// Adds the resources that send to the queue `this`.
fn senders(graph: &Graph, this: &Resource, all: &mut Vec<Relation>) {
    let deliveries = graph.deliveries();
    let mut add = |kind: &str, sender: &Resource, target: &Attribute<Link>| {
        for (assumed, case) in naming(graph, sender, target, this) {
            let text = format!("sent to by {kind} {}", sender.shown());
            all.push(relation(text, case.span, &assumed, this));
        }
    };
    for subscription in &deliveries.subscriptions {
        add("the subscription", &subscription.resource, &subscription.endpoint);
    }
    for target in &deliveries.targets {
        let kind = match target.sender {
            Sender::Rule => "the rule's target",
            Sender::Schedule => "the schedule's target",
            Sender::Bucket => "the bucket's notification",
            Sender::Api => "the API's integration",
            Sender::Task => "the state machine's task",
            Sender::IotRule => "the IoT rule's action",
            Sender::LifecycleHook => "the lifecycle hook",
            Sender::Subscriber => "the subscriber",
        };
        add(kind, &target.resource, &target.target);
    }
    for pipe in &deliveries.pipes {
        add("the pipe", &pipe.resource, &pipe.target);
    }
}

/// Returns the cases of `attribute`, written in `by`, that refer to the queue `this`.
fn naming<'g>(
    graph: &Graph,
    by: &Resource,
    attribute: &'g Attribute<Link>,
    this: &Resource,
) -> Vec<(Condition, &'g Case<Link>)> {
    let names = |unit: UnitId, link: &Link| {
        let found = graph.queue(unit, link);
        found.is_some_and(|found| std::ptr::eq(&raw const found.resource, this))
    };
    let known = attribute.known_in(&by.when.and(&this.when)).into_iter();
    known
        .filter(|(_, _, link)| names(by.unit, link))
        .map(|(assumed, case, _)| (assumed, case))
        .collect()
}

fn of_function(graph: &Graph, function: &Function, all: &mut Vec<Relation>) {
    let this = &function.resource;
    for (_, mapping) in graph.mappings_of(function) {
        let both = mapping.resource.when.and(&this.when);
        for (assumed, case, link) in mapping.function.known_in(&both) {
            let found = graph.function(mapping.resource.unit, link);
            if !found.is_some_and(|found| std::ptr::eq(found, function)) {
                continue;
            }
            let queues = mapping.queue.known_in(&assumed).into_iter();
            let queues: Vec<String> = queues
                .filter_map(|(_, _, link)| graph.queue(mapping.resource.unit, link))
                .map(|queue| queue.resource.shown())
                .collect();
            let of = if queues.is_empty() {
                String::new()
            } else {
                format!(" with messages of {}", queues.join(" or "))
            };
            let text = format!("invoked by {mapping}{of}");
            all.push(relation(text, case.span, &assumed, this));
        }
    }
    for invocation in graph.asynchronous_invocations_of(function) {
        let text = format!("invoked by `{}`", invocation.resource);
        all.push(relation(text, invocation.span, &this.when, this));
    }
}
