//! Flags functions that send to the queue that invokes them: Lambda stops such a loop.

use super::prelude::*;
use crate::rules::shared::handlers::invokes;

pub(super) static RULE: Rule = rule!(
    "function-feeds-own-queue",
    Category::Mapping,
    Severity::Warning,
    "the function sends to the queue that invokes it, and Lambda stops the loop after about 16 rounds"
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for handled in findings.handled_bodies(mapping) {
            let own = findings.own_queues(mapping, &handled, &handled.handler.sends_to);
            if own.is_empty() {
                let elsewhere = fact(true, || "the handler sends nothing to its own queue".to_owned());
                findings.satisfied(&handled.when, mapping, elsewhere);
            }
            for (when, span, queue) in own {
                for stops in findings.known(&when, handled.function, &handled.function.recursive_loop) {
                    if *stops.value == "Allow" {
                        continue;
                    }
                    let headline = format!(
                        "{} sends to {queue}, which invokes it: after about 16 rounds of a message Lambda stops the \
                         function, and the message is dead-lettered, or lost without a dead-letter queue",
                        handled.function
                    );
                    let finding = Finding::new("queue", headline, span, "sends to the queue that invokes the function")
                        .severity_if_enabled(Severity::Warning, mapping)
                        .label(mapping.resource.header, invokes(mapping))
                        .help(
                            "return the message in `batchItemFailures` to retry it; if the loop is intended and ends, set \
                             the function's `RecursiveLoop` to `Allow`",
                        );
                    findings.report(&stops.when, mapping, finding);
                }
            }
        }
    }
}
