//! Flags workers whose role does not allow what they do with the messages of their queue.

use super::prelude::*;
use crate::graph::Target;
use crate::graph::workers::WorkerConsumption;
use crate::rules::shared::roles::{Edge, Lacking, RoleUse};

pub(super) static RULE: Rule = rule!(
    "worker-role-missing-queue-permission",
    Category::Permissions,
    Severity::Error,
    "the role of a worker may receive from its queue, but not delete there or extend the visibility timeout"
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    let policies = graph.policies();
    for queue in graph.queues() {
        let has_heartbeat = graph
            .timed(queue)
            .any(|worker| worker.is_worker() && worker.heartbeat.is_some());
        // A program that only looks at a dead-letter queue leaves its messages there.
        let is_dead_letter = !graph.sources_of(queue).is_empty();
        let edges = [(Edge::Work, !is_dead_letter), (Edge::Heartbeat, has_heartbeat)];
        for worker in graph
            .worker_consumptions(queue)
            .iter()
            .filter(|worker| worker.is_permitted)
        {
            // With several roles, each program may have the permissions that it needs.
            let [(unit, role)] = worker.roles.as_slice() else {
                continue;
            };
            let when = worker.when.and(&queue.resource.when);
            let role = Link::to(Target::Resource(role.clone()));
            for (edge, _) in edges.iter().filter(|(_, is_needed)| *is_needed) {
                let used = RoleUse {
                    edge: *edge,
                    resource: &worker.resource,
                    when: &when,
                    role: &role,
                    unit: *unit,
                    queue,
                    service: None,
                    read: &[&worker.span],
                };
                let refused = |lacking: &Lacking<'_>| refused(worker, queue, *edge, lacking);
                findings.require_on_queue(&policies, &used, refused);
                findings.require_on_key(&policies, &used, |lacking, _| refused(lacking));
            }
        }
    }
}

fn refused(worker: &WorkerConsumption, queue: &Queue, edge: Edge, lacking: &Lacking<'_>) -> Finding {
    let shown = worker.resource.shown();
    let (severity, so) = if edge == Edge::Heartbeat {
        (
            Severity::Warning,
            "its heartbeat fails and messages reappear during the work",
        )
    } else if lacking.actions.contains("kms:") {
        (Severity::Warning, "no message can be received")
    } else if lacking.actions.contains("sqs:ReceiveMessage") {
        (Severity::Error, "no message can be received")
    } else {
        (Severity::Error, "messages that it has processed are received again")
    };
    let headline = if worker.resource.address == lacking.role.address {
        format!("{shown} does not allow {} on {}, so {so}", lacking.actions, lacking.on)
    } else {
        format!(
            "{}, the role of {shown}, does not allow {} on {}, so {so}",
            lacking.role.shown(),
            lacking.actions,
            lacking.on
        )
    };
    let finding = lacking.finding(headline).severity(severity);
    let finding = if worker.span == lacking.role.header {
        finding
    } else {
        finding.label(worker.span, worker.evidence.clone())
    };
    finding
        .label(queue.resource.header, format!("{queue} is the worker's queue"))
        .help(format!(
            "allow the role {} on the ARN of {}",
            lacking.actions, lacking.on
        ))
}
