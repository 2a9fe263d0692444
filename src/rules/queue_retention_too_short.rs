//! Flags queues that lose messages if their consumer has an outage of a day, or of minutes if no consumer is known.

use super::prelude::*;
use crate::graph::Seconds;
use crate::rules::shared::scenarios;

settings! {
    /// Minimum retention period of a queue.
    struct Outage of "queue-retention-too-short" {
        minimum: i64 = 86_400, at least 60, "the shortest retention period in seconds that outlasts an outage";
    }
}

/// Retention period below which every pause of a consumer loses messages, whatever the consumer is.
const PAUSE: Seconds = Seconds(300);

pub(super) static RULE: Rule = rule!(
    "queue-retention-too-short",
    Category::Queue,
    Severity::Info,
    "a queue keeps messages for less than a day, so that an outage of its consumer loses them",
    set = Set::DefaultInPart,
    settings = Outage::ALL
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        // The rules on dead-letter queues require more.
        if !findings.graph.dead_letter_uses_of(queue).is_empty() {
            continue;
        }
        let when = queue.resource.when.and(&receives_failures(findings.graph, queue).not());
        let Outage { minimum } = findings.settings(queue);
        findings.set_judged_attribute(&queue.retention);
        let without_consumer = minimum.min(PAUSE.0);
        for retention in findings.retention(&when, queue) {
            findings.require(
                &retention.when,
                queue,
                at_least(&retention, Seconds(without_consumer)),
                || too_short(queue, &retention, without_consumer),
            );
        }
        for consumer in findings.consumers_and_workers(&when, queue) {
            for retention in findings.retention(&consumer.when, queue) {
                let lasts = at_least(&retention, Seconds(minimum)).depending_on(&consumer);
                findings.require(&retention.when, queue, lasts, || {
                    let found = too_short(queue, &retention, minimum).show(&consumer);
                    if retention.value < PAUSE.0 {
                        found
                    } else {
                        found.pedantic()
                    }
                });
            }
        }
    }
}

/// Returns the condition under which `queue` is the dead-letter queue of another.
fn receives_failures(graph: &Graph, queue: &Queue) -> Condition {
    let mut receives = Condition::never();
    for source in graph.sources_of(queue) {
        for (when, link) in source.redrive_targets(&source.resource.when) {
            let target = graph.queue(source.resource.unit, link);
            if target.is_some_and(|target| target.resource.key() == queue.resource.key()) {
                receives = receives.or(&when);
            }
        }
    }
    receives
}

fn too_short(queue: &Queue, retention: &Operand<'_>, minimum: i64) -> Finding {
    let headline = format!(
        "{queue} keeps messages for {}, so a longer outage of its consumer loses them",
        retention.readable()
    );
    let label = format!("a message that is not processed is deleted after {}", retention.shown());
    let default = limits::RETENTION_DEFAULT;
    let wanted = if minimum > limits::RETENTION.most {
        // A configured minimum may exceed the maximum of SQS.
        format!(
            "{}, the maximum that SQS accepts",
            Seconds(limits::RETENTION.most).with_words()
        )
    } else if Seconds(minimum) > default {
        format!("{} or more", Seconds(minimum).with_words())
    } else {
        format!("SQS's default of {} or more", default.with_words())
    };
    Finding::new("retention", headline, retention, label)
        .scenario(scenarios::of_outage(retention, minimum))
        .help(format!(
            "set `{}` to {wanted}, and let the dead-letter queue keep messages for longer than that",
            retention.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{queue, stack};

    #[test]
    fn retention_below_a_day_is_flagged() {
        stack().check(
            &RULE,
            "
            queue.retention | queue.visibility_timeout | mapping.enabled | finding
            86400           |                          |                 |
            86399           |                          |                 | queue.retention
            null            |                          |                 |
            open            |                          |                 |
            3600            |                          | false           |
            // Other rules report these.
            14              |                          |                 |
            3600            | 3600                     |                 |
            ",
        );
    }

    #[test]
    fn minimum_retention_can_be_set() {
        let settings = "[rules.queue-retention-too-short]\nminimum = 172800\n";
        stack()
            .configured(settings)
            .check(&RULE, "queue.retention | finding\n 86400 | queue.retention");
    }

    #[test]
    fn only_minutes_are_flagged_without_a_consumer() {
        queue().check(
            &RULE,
            "
            queue.retention | dlq.retention | finding
            3600            | 60            |
            300             | 3600          |
            299             | 3600          | queue.retention
            60              | 3600          | queue.retention
            null            | 3600          |
            open            | 3600          |
            ",
        );
        let consumers = "[[consumer]]\nqueue = \"*\"\n";
        queue().configured(consumers).check(
            &RULE,
            "
            queue.retention | dlq.retention | finding
            3600            | 3600          | queue.retention
            ",
        );
    }
}
