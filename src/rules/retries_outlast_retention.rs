//! Flags queues whose messages expire before they have failed often enough to reach the dead-letter queue.

use super::prelude::*;
use crate::graph::Seconds;
use crate::graph::limits::{RETENTION, RETENTION_DEFAULT};
use crate::rules::shared::advice::AdvisedReceives;
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::retries::Retries;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "retries-outlast-retention",
    Category::Redrive,
    Severity::Error,
    "a failing message expires before it reaches the dead-letter queue",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.consumed() {
        let AdvisedReceives { recommended } = findings.settings(queue);
        for count in findings.receive_counts(&queue.resource.when, queue) {
            for consumer in findings.consumers_that_wait(&count.when, queue) {
                for retries in findings.retries(&consumer.when, queue, &count) {
                    for retention in findings.retention(&retries.when, queue) {
                        let arrives = below(retries.age(), &retention).depending_on(&consumer);
                        findings.require(&retention.when, queue, arrives, || {
                            expires(queue, &retries, &retention, &consumer, recommended)
                        });
                    }
                }
            }
        }
    }
}

fn expires(
    queue: &Queue,
    retries: &Retries<'_>,
    retention: &Operand<'_>,
    consumer: &Consumer<'_>,
    recommended: i64,
) -> Finding {
    let (age, visibility) = (retries.age().value, retries.visibility.value);
    let severity = if retention.value <= 2 * visibility {
        Severity::Error
    } else {
        Severity::Warning
    };
    let headline = format!(
        "{queue} keeps messages for {}, but one that keeps failing reaches the dead-letter queue only after {}",
        retention.readable(),
        Seconds(age).readable()
    );
    let deleted = format!("the message is deleted after {}", retention.shown());
    let finding = Finding::new("retention", headline, retention, retention.or_default("SQS", deleted));
    // SQS's default is preferred: a source queue with the retention of its dead-letter queue would leave no time to
    // look at failed messages there.
    let wanted = [RETENTION_DEFAULT.0, RETENTION.most]
        .into_iter()
        .find(|wanted| age < *wanted);
    retries
        .show(finding.severity(severity))
        .scenario(scenarios::of_retries(retries, retention))
        .show(consumer)
        .help(help(retries, retention, recommended))
        .fix(wanted.map(|wanted| retention.set_to(wanted)))
}

/// Returns the help text, which never suggests fewer receives than `max-receive-count-low-for-poller` recommends.
fn help(retries: &Retries<'_>, retention: &Operand<'_>, recommended: i64) -> String {
    let (age, count, visibility) = (retries.age().value, retries.count.name, &retries.visibility);
    let raise = (age < RETENTION.most).then(|| format!("raise `{}` above {age}", retention.name));
    // Most receives that still fit; zero if the delay alone uses up the retention period.
    let fitting = (retention.value - retries.delay.value - 1)
        .max(0)
        .checked_div(visibility.value);
    let lower = fitting
        .filter(|fitting| *fitting >= recommended)
        .map(|fitting| format!("lower `{count}` to {fitting} or less"));
    match (raise, lower) {
        (Some(raise), Some(lower)) => format!("{raise}, or {lower}"),
        (Some(help), None) | (None, Some(help)) => help,
        (None, None) => format!("lower `{}`", visibility.name),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::{queue, stack};

    #[test]
    fn equal_retention_is_flagged() {
        stack().queue("max_receive_count", 5).check(
            &RULE,
            "
            queue.visibility_timeout | queue.delay | queue.retention | mapping.enabled | finding
            60                       | 10          | 310             |                 | queue.retention
            60                       | 10          | 311             |                 |
            60                       | 10          | 310             | false           |
            // The severity depends on the number of attempts.
            60                       | 0           | 120             |                 | error queue.retention
            60                       | 0           | 121             |                 | warning queue.retention
            // Other rules report these values.
            0                        | 0           | 60              |                 |
            60                       | 0           | 60              |                 |
            60000                    | 0           | 300             |                 |
            60                       | 0           | 59              |                 |
            open                     | 0           | 300             |                 |
            60                       | 0           | open            |                 |
            ",
        );
    }

    #[test]
    fn declared_worker_without_heartbeat_waits_for_the_visibility_timeout() {
        queue()
            .configured("[[consumer]]\nqueue = \"orders\"\n")
            .queue("name", "orders")
            .queue("max_receive_count", 5)
            .check(
                &RULE,
                "
                queue.visibility_timeout | queue.retention | finding
                60                       | 300             | queue.retention
                60                       | 301             |
                60                       | open            | unjudged
                ",
            );
        queue()
            .configured("[[consumer]]\nqueue = \"orders\"\nheartbeat = { every = \"20s\", extend-to = \"60s\" }\n")
            .queue("name", "orders")
            .queue("max_receive_count", 5)
            .check(
                &RULE,
                "queue.visibility_timeout | queue.retention | finding\n 60 | 300 |",
            );
    }

    #[test]
    fn receive_count_out_of_range_and_default_retention_are_judged() {
        stack().check(
            &RULE,
            "
            queue.visibility_timeout | queue.retention | queue.max_receive_count | finding
            60                       | 300             | 2000                    |
            5400                     |                 | 64                      | queue
            5400                     |                 | 63                      |
            ",
        );
    }

    #[test]
    fn help_names_values_that_fit() {
        stack().only(&[Terraform]).queue("delay", 0).check(
            &RULE,
            "
            queue.visibility_timeout | queue.retention | queue.max_receive_count | finding | calculation              | help
            60                       | 1000            | 20                      | 1       | 0 s + 20 × 60 s = 1200 s | raise `message_retention_seconds` above 1200, or lower `maxReceiveCount` to 16 or less
            // Another rule reports fewer than five receives.
            60                       | 200             | 5                       | 1       |                          | raise `message_retention_seconds` above 300
            // No retention period is long enough.
            43200                    | 1209600         | 28                      | 1       |                          | lower `maxReceiveCount` to 27 or less
            ",
        );
    }
}
