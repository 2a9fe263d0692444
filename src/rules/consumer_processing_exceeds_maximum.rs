//! Flags declared processing times that exceed the maximum time for which SQS hides a received message.

use super::prelude::*;
use crate::rules::shared::scenarios;
use crate::rules::shared::work::ProcessingTime;

pub(super) static RULE: Rule = rule!(
    "consumer-processing-exceeds-maximum",
    Category::Consumers,
    Severity::Error,
    "a declared consumer works on a message for longer than the 12 hours that it can be kept"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for work in findings.graph.timed(queue).filter_map(ProcessingTime::longest) {
            let most = Term::seconds_to(limits::VISIBILITY_TIMEOUT.most, limits::VISIBILITY_TIMEOUT.most);
            findings.require(&queue.resource.when, queue, at_most(work, most), || {
                exceeds(queue, work)
            });
        }
    }
}

fn exceeds(queue: &Queue, work: ProcessingTime) -> Finding {
    let headline = format!(
        "the consumer of {queue} {}, but SQS gives a message to another one 12 hours (43200 s) after the receive",
        work.takes()
    );
    let label = "renewing the visibility timeout does not move the end of the 12 hours";
    let finding = Finding::new("visibility_timeout", headline, queue.resource.header, label);
    let finding = finding.scenario(scenarios::beyond_ceiling(work));
    work.show(finding).help(
        "let the message start the work, in Step Functions for example, or save what is done and send the rest as a new message",
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn processing_above_twelve_hours_is_flagged() {
        queue().check(
            &RULE,
            r#"
            consumer                                                                     | finding
            processing = { max = "12h" }                                                 |
            processing = { max = "43201s" }                                              | 1
            processing = { max = "43200001ms" }                                          | 1
            processing = { p50 = "1h", p99 = "13h" }                                     | 1
            processing = { p50 = "13h" }                                                 |
            # No times.                                                                  |
            // A heartbeat does not extend the maximum.
            processing = { max = "13h" }\nheartbeat = { every = "1h", extend-to = "2h" } | 1
            "#,
        );
    }
}
