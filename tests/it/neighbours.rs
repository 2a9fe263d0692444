//! Checks the graph's nodes around the queues of a stack: producers, pipes, policies, roles and keys.

use crate::inputs::{check, repository};
use sqslint::graph::access::{Grant, Negates, PolicyDocument, Statement};
use sqslint::graph::{Attribute, Graph, Link, Resource, State, Target};
use std::fmt::Debug;

fn value<T>(attribute: &Attribute<T>, show: impl Fn(&T) -> String) -> String {
    let cases = attribute.cases.iter().map(|case| match &case.state {
        State::Set(known) => show(known),
        State::Default(known) => format!("({})", show(known)),
        State::Unresolved(reason) => format!("? {reason}"),
    });
    cases.collect::<Vec<_>>().join(" | ")
}

fn plain<T: Debug>(attribute: &Attribute<T>) -> String {
    value(attribute, |known| format!("{known:?}"))
}

fn link(attribute: &Attribute<Link>) -> String {
    value(attribute, written)
}

fn optional(attribute: &Attribute<Option<Link>>) -> String {
    value(attribute, |known| known.as_ref().map_or("none".to_owned(), written))
}

fn written(link: &Link) -> String {
    let (Target::Resource(text)
    | Target::OtherUnit { address: text, .. }
    | Target::External(text)
    | Target::Dangling(text)) = &link.target;
    format!("{text} ({:?})", link.form)
}

fn document(document: &PolicyDocument) -> String {
    let statements: Vec<String> = document.statements.iter().map(statement).collect();
    let opaque = document
        .opaque
        .as_ref()
        .map_or(String::new(), |reason| format!(" opaque: {reason}"));
    format!(
        "version {}{opaque}\n    {}",
        plain(&document.version),
        statements.join("\n    ")
    )
}

fn statement(statement: &Statement) -> String {
    let resources: Vec<String> = statement.resources.iter().map(link).collect();
    let conditions = match &statement.conditions {
        Err(reason) => format!("? {reason}"),
        Ok(all) => {
            let one = |condition: &sqslint::graph::access::StatementCondition| {
                let values: Vec<String> = condition.values.iter().map(link).collect();
                format!("{} {} {values:?}", condition.operator, condition.key)
            };
            all.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    };
    let principals = value(&statement.principals, |all| {
        let one = |p: &sqslint::graph::access::Principal| format!("{}:{}", p.kind, p.id.as_deref().unwrap_or("?"));
        all.iter().map(one).collect::<Vec<_>>().join(" ")
    });
    format!(
        "{} {} by {principals} on {resources:?}{}{}",
        plain(&statement.effect),
        value(&statement.actions, |actions| actions.join(" ")),
        if statement.negates == Negates::default() {
            ""
        } else {
            " negated"
        },
        if conditions.is_empty() {
            String::new()
        } else {
            format!(" if {conditions}")
        },
    )
}

#[allow(clippy::too_many_lines, reason = "one line per kind of node")]
/// Formats the nodes around queues as lines that are easy to review.
fn dump(graph: &Graph) -> String {
    let mut lines = Vec::new();
    let mut line = |resource: &Resource, what: &str, text: String| {
        lines.push(format!("{what} {}: {text}", resource.address));
    };
    let deliveries = graph.deliveries();
    for pipe in &deliveries.pipes {
        let ends = [link(&pipe.source), optional(&pipe.enrichment), link(&pipe.target)].join(" -> ");
        let numbers = [plain(&pipe.batch_size), plain(&pipe.window), plain(&pipe.running)].join(", ");
        let rest = [
            plain(&pipe.invocation_type),
            plain(&pipe.message_group_id),
            optional(&pipe.role),
        ]
        .join(", ");
        line(&pipe.resource, "pipe", format!("{ends}; {numbers}; {rest}"));
    }
    for topic in &deliveries.topics {
        line(
            &topic.resource,
            "topic",
            format!("{}, {}", plain(&topic.name), plain(&topic.fifo)),
        );
    }
    for node in &deliveries.subscriptions {
        let redrive = value(&node.redrive, |policy| match policy {
            None => "none".to_owned(),
            Some(policy) => {
                let faults: Vec<_> = policy.faults.iter().map(|fault| &fault.kind).collect();
                format!("{} {faults:?}", link(&policy.target))
            }
        });
        let ends = [link(&node.topic), plain(&node.protocol), link(&node.endpoint)].join(" ");
        let raw = plain(&node.raw_message_delivery);
        line(&node.resource, "subscription", format!("{ends}; raw {raw}; {redrive}"));
    }
    for node in &deliveries.targets {
        let ends = [link(&node.source), link(&node.target)].join(" -> ");
        let rest = [
            optional(&node.dead_letter),
            optional(&node.role),
            plain(&node.message_group_id),
        ]
        .join(", ");
        let numbers = [plain(&node.maximum_event_age), plain(&node.enabled)].join(", ");
        line(
            &node.resource,
            "target",
            format!("{:?} {ends}; {rest}; {numbers}", node.sender),
        );
    }
    let access = graph.access();
    for node in &access.queue_policies {
        let text = format!(
            "{:?} {} {}",
            node.writer,
            link(&node.queue),
            value(&node.document, document)
        );
        line(&node.resource, "queue policy", text);
    }
    for node in &access.roles {
        line(&node.resource, "role", plain(&node.name));
    }
    for node in &access.role_policies {
        let grant = match &node.grant {
            Grant::Document(granted) => value(granted, document),
            Grant::Managed(arn) => link(arn),
            Grant::Key => "key".to_owned(),
        };
        line(&node.resource, "grant", format!("{} {grant}", link(&node.role)));
    }
    for node in &access.managed_policies {
        line(
            &node.resource,
            "policy",
            format!("{} {}", plain(&node.name), value(&node.document, document)),
        );
    }
    for node in &access.keys {
        let policy = value(&node.policy, |policy| {
            policy.as_ref().map_or("none".to_owned(), document)
        });
        line(&node.resource, "key", policy);
    }
    for node in &access.key_aliases {
        line(
            &node.resource,
            "alias",
            format!("{} of {}", plain(&node.name), link(&node.key)),
        );
    }
    for node in &access.permissions {
        line(
            &node.resource,
            "permission",
            format!("{} {}", link(&node.function), plain(&node.principal)),
        );
    }
    for node in graph.queues() {
        let settings = [
            optional(&node.key),
            plain(&node.managed_encryption),
            plain(&node.content_based_deduplication),
            plain(&node.deduplication_scope),
            plain(&node.throughput_limit),
        ];
        line(&node.resource, "queue", settings.join(", "));
    }
    for node in graph.functions() {
        line(
            &node.resource,
            "function",
            [optional(&node.role), plain(&node.recursive_loop)].join(", "),
        );
    }
    for node in graph.mappings() {
        let filters = value(&node.filters, |filters| {
            filters.iter().map(plain).collect::<Vec<_>>().join(" ")
        });
        let pollers = value(&node.provisioned_pollers, |pollers| match pollers {
            None => "none".to_owned(),
            Some(pollers) => [plain(&pollers.minimum), plain(&pollers.maximum)].join(" to "),
        });
        let streams: Vec<_> = node.stream_settings.iter().map(|setting| &*setting.name).collect();
        let rest = [optional(&node.failure_destination), plain(&node.qualifier)].join(", ");
        line(
            &node.resource,
            "mapping",
            format!("{filters}; pollers {pollers}; {rest}; {streams:?}"),
        );
    }
    lines.join("\n")
}

fn stack(dialect: &str) -> String {
    let root = repository("fixtures/stacks/neighbours");
    let outcome = check(&root.join(dialect));
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    dump(&outcome.graph)
}

#[test]
fn terraform_neighbours_are_lowered() {
    insta::assert_snapshot!(stack("terraform"));
}

#[test]
fn cloudformation_neighbours_are_lowered() {
    insta::assert_snapshot!(stack("cloudformation"));
}
