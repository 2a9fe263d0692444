//! Flags FIFO dead-letter queues whose retention period leaves little time to look at failures.

use super::prelude::*;
use crate::graph::Seconds;
use crate::graph::limits::RETENTION_DEFAULT;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "fifo-dead-letter-queue-retention-short",
    Category::Redrive,
    Severity::Info,
    "a FIFO dead-letter queue keeps messages for less than 4 days",
    set = Set::Pedantic,
    fix = Some(Safety::Unsafe),
    settings = Kept::ALL
);

settings! {
    /// Minimum retention period for failed messages.
    struct Kept of "fifo-dead-letter-queue-retention-short" {
        minimum: i64 = RETENTION_DEFAULT.0, at least 60, "the least retention period in seconds that is enough";
    }
}

fn check(findings: &mut Findings<'_>) {
    for dlq in findings.graph.queues() {
        if findings.graph.sources_of(dlq).is_empty() {
            continue;
        }
        let Kept { minimum } = findings.settings(dlq);
        for fifo in findings.known(&dlq.resource.when, dlq, &dlq.fifo) {
            if *fifo.value {
                for retention in findings.retention(&fifo.when, dlq) {
                    findings.require(&retention.when, dlq, at_least(&retention, Seconds(minimum)), || {
                        short(dlq, &retention, minimum)
                    });
                }
            }
        }
    }
}

fn short(dlq: &Queue, retention: &Operand<'_>, minimum: i64) -> Finding {
    let most = limits::RETENTION.most;
    let headline = format!(
        "{dlq} keeps messages that failed for {}, less than the {} that people need to look at them",
        retention.readable(),
        Seconds(minimum).readable()
    );
    let label = format!("a message is deleted {} after it was moved here", retention.shown());
    // A configured minimum may exceed the maximum of SQS.
    let is_possible = minimum <= most;
    let help = if is_possible {
        format!("set `{}` to {most} (14 days, the maximum)", retention.name)
    } else {
        format!("SQS keeps messages for 14 days at most: no retention period reaches the `minimum` of {minimum} s")
    };
    Finding::new("retention", headline, retention, label)
        .help(help)
        .scenario(scenarios::of_unchecked_queue(retention, minimum))
        .fix(is_possible.then(|| retention.set_to(most)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn retention_below_four_days_is_flagged() {
        queue().check(
            &RULE,
            "
            queue.fifo | dlq.fifo | dlq.retention | finding
            true       | true     | 345600        |
            true       | true     | 345599        | dlq.retention
            true       | true     | null          |
            true       | true     | open          |
            false      | false    | 60            |
            open       | open     | 60            |
            ",
        );
    }
}
