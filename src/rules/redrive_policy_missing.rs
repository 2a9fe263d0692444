//! Flags queues that a Lambda function reads and that have no dead-letter queue.

use super::{Category, Findings, Known, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::{Condition, Graph, Queue, RedrivePolicy};
use crate::operands::{Poll, trace};

pub(super) static RULE: Rule = Rule {
    id: "redrive-policy-missing",
    category: Category::Redrive,
    severity: Severity::Warning,
    set: Set::Default,
    summary: "a message that always fails is retried until it expires, and then lost",
    page: include_str!("../../rules/redrive-policy-missing.md"),
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (queue, _) in graph.polled() {
        if graph.is_dead_letter_queue(queue) {
            continue; // The end of the line.
        }
        for redrive in findings.redrives(&queue.resource.when, queue) {
            if redrive.value.is_some() {
                continue; // Whatever is wrong with it, `redrive-policy-malformed` says.
            }
            for world in worlds_as_source(findings, queue, &redrive.world) {
                for poll in findings.polls(graph, &world, queue) {
                    if poll.enabled {
                        let diagnostic = missing(findings, queue, &redrive, &poll);
                        findings.report(&poll.world, &queue.resource, diagnostic);
                    }
                }
            }
        }
    }
}

/// The worlds in which no redrive allow policy makes `queue` a dead-letter queue of somebody who is not here.
fn worlds_as_source(findings: &mut Findings<'_>, queue: &Queue, world: &Condition) -> Vec<Condition> {
    let mut worlds = Vec::new();
    for allow in findings.known(world, &queue.resource, &queue.redrive_allow) {
        let Some(policy) = allow.value else {
            worlds.push(allow.world);
            continue;
        };
        let permissions = findings.known(&allow.world, &queue.resource, &policy.permission);
        let denies = permissions.into_iter().filter(|known| known.value == "denyAll");
        worlds.extend(denies.map(|known| known.world));
    }
    worlds
}

fn missing(
    findings: &Findings<'_>,
    queue: &Queue,
    redrive: &Known<'_, Option<RedrivePolicy>>,
    poll: &Poll<'_>,
) -> Diagnostic {
    let headline = format!(
        "{} has no redrive policy: a message that always fails is retried until it expires, and then lost",
        queue.resource.shown()
    );
    let message = if redrive.case.is_default() {
        format!("no `{}`: failed messages have nowhere to go", redrive.name)
    } else {
        format!("this `{}` is empty: failed messages have nowhere to go", redrive.name)
    };
    let diagnostic = findings.diagnostic(
        Severity::Warning,
        &queue.resource,
        "redrive",
        headline,
        redrive.span(),
        message,
    );
    let mut diagnostic = trace(redrive.origin(), redrive.span(), diagnostic).label(
        poll.mapping.resource.header,
        format!("{} reads the queue", poll.mapping.resource.shown()),
    );
    let fifo = queue.fifo.known_in(&poll.world);
    if let Some((_, case, _)) = fifo.iter().find(|(_, _, fifo)| **fifo) {
        let message = "until it expires the message also blocks its group; a dead-letter queue frees the group, but breaks its order";
        diagnostic = diagnostic.label(case.span, message);
    }
    diagnostic.help(format!(
        "set `{}` with a dead-letter queue of the same type and a `maxReceiveCount` of 5 or more; let that queue keep \
         messages longer than this one, and alarm on it",
        redrive.name
    ))
}
