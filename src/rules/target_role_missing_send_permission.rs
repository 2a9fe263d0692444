//! Flags roles that do not allow to send to the queue that they are used to send to.

use super::prelude::*;
use crate::graph::delivery::Sender;
use crate::graph::permits::Policies;
use crate::graph::{Attribute, Resource};
use crate::rules::shared::roles::{Edge, Lacking, RoleUse};
use crate::rules::shared::senders::EVENTS;

pub(super) static RULE: Rule = rule!(
    "target-role-missing-send-permission",
    Category::Permissions,
    Severity::Error,
    "the role of a function, schedule, pipe, rule or API may not send to the queue that it has to send to"
);

/// Resource that sends under a role.
struct Sending<'g> {
    resource: &'g Resource,
    role: &'g Attribute<Option<Link>>,
    /// Service that may send without the role.
    service: Option<&'static str>,
    /// Consequence of the missing permission.
    so: &'static str,
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let policies = graph.policies();
    for function in graph.functions() {
        for setting in &function.failure_targets {
            let sending = Sending {
                resource: &function.resource,
                role: &function.role,
                service: None,
                so: "Lambda cannot send failed invocations there",
            };
            judge(
                graph,
                findings,
                &policies,
                &sending,
                (&setting.target, Some),
                &setting.when,
            );
        }
    }
    for pipe in &graph.deliveries().pipes {
        for running in findings.known(&pipe.resource.when, pipe, &pipe.running) {
            if *running.value {
                let sending = Sending {
                    resource: &pipe.resource,
                    role: &pipe.role,
                    service: None,
                    so: "the pipe cannot deliver",
                };
                judge(
                    graph,
                    findings,
                    &policies,
                    &sending,
                    (&pipe.target, Some),
                    &running.when,
                );
            }
        }
    }
    for target in &graph.deliveries().targets {
        let (service, so) = match target.sender {
            Sender::Rule => (Some(EVENTS), "EventBridge cannot deliver"),
            Sender::Schedule => (None, "the schedule cannot deliver"),
            Sender::Api => (None, "every request to the API fails"),
            Sender::Bucket => continue, // Has no role.
        };
        let sending = Sending {
            resource: &target.resource,
            role: &target.role,
            service,
            so,
        };
        let resource = &target.resource;
        for enabled in findings.known(&resource.when, resource, &target.enabled) {
            if *enabled.value {
                judge(
                    graph,
                    findings,
                    &policies,
                    &sending,
                    (&target.target, Some),
                    &enabled.when,
                );
            }
            // The dead-letter queue of a rule is sent to by the service.
            if *enabled.value && target.sender == Sender::Schedule {
                let sending = Sending {
                    so: "what the schedule cannot deliver is lost",
                    ..sending
                };
                let link = (
                    &target.dead_letter,
                    Option::as_ref as fn(&Option<Link>) -> Option<&Link>,
                );
                judge(graph, findings, &policies, &sending, link, &enabled.when);
            }
        }
    }
}

/// Reports the permissions to send to the queue in `attribute` that the role lacks.
fn judge<'g, T>(
    graph: &'g Graph,
    findings: &mut Findings<'_>,
    policies: &Policies<'g>,
    sending: &Sending<'g>,
    (attribute, link): (&'g Attribute<T>, fn(&'g T) -> Option<&'g Link>),
    when: &Condition,
) {
    let resource = sending.resource;
    for target in findings.known(when, &resource, attribute) {
        let Some(queue) = link(target.value).and_then(|link| graph.queue(resource.unit, link)) else {
            continue;
        };
        for role in findings.known(&target.when.and(&queue.resource.when), &resource, sending.role) {
            // Without a role, the service sends by itself or rejects the target.
            let declared = role
                .value
                .as_ref()
                .filter(|link| policies.declared_role(resource.unit, link).is_some());
            let Some(link) = declared else { continue };
            let used = RoleUse {
                edge: Edge::Send,
                resource,
                when: &role.when,
                role: link,
                unit: resource.unit,
                queue,
                service: sending.service,
                read: &[&target, &role],
            };
            findings.require_on_queue(policies, &used, |lacking| refused(sending, &target, lacking));
            findings.require_on_key(policies, &used, |lacking, _| {
                refused(sending, &target, lacking).severity(Severity::Warning)
            });
        }
    }
}

fn refused<T>(sending: &Sending<'_>, target: &Known<'_, T>, lacking: &Lacking<'_>) -> Finding {
    let headline = format!(
        "{}, the role of {}, does not allow {} on {}, so {}",
        lacking.role.shown(),
        sending.resource.shown(),
        lacking.actions,
        lacking.on,
        sending.so
    );
    lacking
        .finding(headline)
        .label(
            target,
            format!("{} sends to the queue with this role", sending.resource.shown()),
        )
        .help(format!(
            "allow the role {} on the ARN of {}",
            lacking.actions, lacking.on
        ))
}
