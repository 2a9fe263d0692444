//! Flags functions that receive from the queue that invokes them, and ignore the messages that Lambda passes to them.

use super::prelude::*;
use crate::rules::shared::handlers::invokes;

pub(super) static RULE: Rule = rule!(
    "handler-polls-own-queue",
    Category::Handlers,
    Severity::Error,
    "the function receives from the queue that invokes it, and Lambda deletes the messages of its event unread"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let own = findings.own_queues(mapping, &handled, &handled.handler.polls);
            if own.is_empty() {
                let reads = fact(true, || "the handler does not poll the queue of its event".to_owned());
                findings.satisfied(&handled.when, mapping, reads);
            }
            for (when, span, queue) in own {
                let headline = format!(
                    "{} receives from {queue}, which invokes it, and never reads the records of its event: Lambda deletes \
                     the messages in them unread",
                    handled.function
                );
                let label = "competes with the mapping for the other messages";
                let finding = Finding::new("queue", headline, span, label)
                    .severity_if_enabled(Severity::Error, mapping)
                    .label(mapping.resource.header, invokes(mapping))
                    .help("read the records of the event, or remove the mapping");
                findings.report(&when, mapping, finding);
            }
        }
    }
}
