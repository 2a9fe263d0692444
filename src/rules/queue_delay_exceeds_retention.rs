//! Flags queues whose messages expire before they can be received.

use super::prelude::*;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "queue-delay-exceeds-retention",
    Category::Queue,
    Severity::Error,
    "messages are delayed for as long as the queue keeps them, so each expires unseen"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for delay in findings.delay(&queue.resource.when, queue) {
            for retention in findings.retention(&delay.when, queue) {
                findings.require(&retention.when, queue, below(&delay, &retention), || {
                    expires(queue, &delay, &retention)
                });
            }
        }
    }
}

fn expires(queue: &Queue, delay: &Operand<'_>, retention: &Operand<'_>) -> Finding {
    let headline = format!(
        "{queue} delays each message by {} and keeps it for {}: every message expires unseen",
        delay.readable(),
        retention.readable()
    );
    Finding::new(
        "retention",
        headline,
        retention,
        format!("a message is deleted after {}", retention.shown()),
    )
    .label(delay, format!("and it cannot be received for {}", delay.shown()))
    .scenario(scenarios::of_one_failure(None, Some(delay), retention))
    .help(format!("set `{}` well above {}", retention.name, delay.in_words()))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn delay_not_below_retention_is_flagged() {
        queue().check(
            &RULE,
            "
            queue.delay | queue.retention | finding
            60          | 60              | queue.retention
            60          | 61              |
            120         | 60              | queue.retention
            900         | 60              | queue.retention
            // The rule for ranges reports it.
            901         | 60              |
            open        | 60              |
            60          | open            |
            ",
        );
    }
}
