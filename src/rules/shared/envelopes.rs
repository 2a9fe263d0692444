//! Finds queues whose messages all come from SNS, in its envelope or without.

use super::findings::Findings;
use crate::graph::access::{Effect, Grant, Principal, Statement};
use crate::graph::delivery::Subscription;
use crate::graph::{Attribute, Condition, Graph, Link, Queue, Resource};

/// Subscriptions that deliver to a queue without another declared sender.
#[derive(Debug)]
pub(crate) struct Subscribed<'g> {
    pub(crate) all: Vec<&'g Subscription>,
    /// `true` if certainly nothing else sends to the queue.
    pub(crate) is_only: bool,
}

/// Returns the subscriptions that deliver to `queue`, if it has some and no other declared sender.
pub(crate) fn subscribed<'g>(graph: &'g Graph, queue: &Queue) -> Option<Subscribed<'g>> {
    let is_here = |by: &Resource, link: &Link| {
        let found = graph.queue(by.unit, link);
        found.is_some_and(|found| std::ptr::eq(found, queue))
    };
    // An unresolved link may refer to any queue of its unit, but not to queues of other units.
    let leads_here = |by: &Resource, attribute: &Attribute<Link>| {
        let mut links = attribute.cases.iter().map(|case| case.value());
        links.any(|link| link.map_or(by.unit == queue.resource.unit, |link| is_here(by, link)))
    };
    let certainly_leads_here = |one: &Subscription| {
        let mut links = one.endpoint.cases.iter().filter_map(|case| case.value());
        links.any(|link| is_here(&one.resource, link))
    };
    let deliveries = graph.deliveries();
    let sends_else = deliveries
        .targets
        .iter()
        .any(|target| leads_here(&target.resource, &target.target))
        || deliveries
            .pipes
            .iter()
            .any(|pipe| leads_here(&pipe.resource, &pipe.target))
        || graph.is_dead_letter_queue(queue);
    let is_to_queue = |one: &Subscription| {
        let mut protocols = one.protocol.cases.iter().map(|case| case.value());
        protocols.any(|protocol| protocol.is_none_or(|protocol| protocol == "sqs"))
    };
    let mut all: Vec<&Subscription> = (deliveries.subscriptions.iter())
        .filter(|one| is_to_queue(one) && leads_here(&one.resource, &one.endpoint))
        .collect();
    all.sort_by_key(|one| !certainly_leads_here(one));
    let may_be_sent_to =
        || graph.is_passed_to_missing_code(queue) || graph.is_mentioned(queue) || may_be_sent_to(graph, queue);
    let is_subscribed = all.first().is_some_and(|first| certainly_leads_here(first));
    (queue.resource.is_single() && !sends_else && is_subscribed).then(|| Subscribed {
        all,
        is_only: !may_be_sent_to(),
    })
}

/// Returns `true` if a role may send to `queue`, or a policy may allow a principal other than SNS to send.
fn may_be_sent_to(graph: &Graph, queue: &Queue) -> bool {
    let access = graph.access();
    let allows = |statement: &Statement| {
        let effect = statement.effect.known();
        effect != Some(&Effect::Deny)
            && statement
                .actions
                .known()
                .is_none_or(|actions| actions.iter().any(|it| sends(it)))
    };
    let roles = access
        .role_policies
        .iter()
        .filter(|policy| policy.resource.unit == queue.resource.unit);
    let by_role = roles.into_iter().any(|policy| match &policy.grant {
        Grant::Document(document) => (document.known())
            .is_none_or(|document| document.opaque.is_some() || document.statements.iter().any(allows)),
        Grant::Key => false,
        Grant::Managed(link) => link.known().is_none_or(|link| {
            let name = link.written();
            ["SQSFullAccess", "AdministratorAccess", "PowerUser"]
                .iter()
                .any(|all| name.contains(all))
        }),
    });
    let is_sns = |principals: &Vec<Principal>| {
        principals
            .iter()
            .all(|one| one.id.as_deref().is_some_and(|id| id == "*" || id.starts_with("sns.")))
    };
    let policies = access
        .queue_policies
        .iter()
        .filter(|policy| policy.resource.unit == queue.resource.unit);
    let by_policy = policies.into_iter().any(|policy| {
        policy.document.known().is_none_or(|document| {
            let mut allowing = document.statements.iter().filter(|statement| allows(statement));
            document.opaque.is_some() || allowing.any(|one| !one.principals.known().is_some_and(is_sns))
        })
    });
    by_role || by_policy
}

fn sends(action: &str) -> bool {
    let action = action.to_ascii_lowercase();
    let start = action.split('*').next().unwrap_or_default();
    "sqs:sendmessage".starts_with(start) && action.contains('*') || action.starts_with("sqs:sendmessage")
}

/// Returns the part of `when` under which every one of `subscriptions` certainly delivers raw messages or, without
/// `is_raw`, wraps them in SNS's envelope; and the first of them.
pub(crate) fn delivering<'g>(
    findings: &mut Findings<'_>,
    subscriptions: &[&'g Subscription],
    is_raw: bool,
    when: &Condition,
) -> Option<(Condition, &'g Subscription)> {
    let mut left = when.clone();
    for subscription in subscriptions {
        let mut delivers = Condition::never();
        let resource = &subscription.resource;
        for raw in findings.known(&left, resource, &subscription.raw_message_delivery) {
            if *raw.value == is_raw {
                delivers = delivers.or(&raw.when);
            }
        }
        left = left.and(&delivers).and(&resource.when);
    }
    let first = subscriptions.first()?;
    left.is_possible().then_some((left, first))
}
