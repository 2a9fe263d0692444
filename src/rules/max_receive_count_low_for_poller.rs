//! Flags redrive policies with fewer receives than AWS recommends for queues that Lambda polls.

use super::prelude::*;
use crate::rules::shared::advice::{AdvisedReceives, FewestReceives};
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "max-receive-count-low-for-poller",
    Category::Redrive,
    Severity::Info,
    "fewer than five receives: throttling of the function counts against the message",
    fix = Some(Safety::Unsafe),
    settings = AdvisedReceives::ALL
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.read() {
        let FewestReceives { minimum } = findings.settings(queue);
        let AdvisedReceives { recommended } = findings.settings(queue);
        for count in findings.receive_counts(&queue.resource.when, queue) {
            if count.value < minimum {
                findings.leave_to_rule_of(&count.when, queue, &[&count], Cause::TooFewReceives);
            } else if !findings.satisfied(&count.when, queue, at_least(&count, recommended)) {
                for consumer in findings.consumers(&count.when, queue) {
                    findings.report(&consumer.when, queue, low(queue, &count, &consumer, recommended));
                }
            }
        }
    }
}

fn low(queue: &Queue, count: &Operand<'_>, consumer: &Consumer<'_>, recommended: i64) -> Finding {
    // A team may set a minimum of one.
    let receives = if count.value == 1 { "receive" } else { "receives" };
    let throttled = if consumer.is_pipe() { "pipe" } else { "function" };
    let headline = format!(
        "{queue} moves a message to its dead-letter queue after {} {receives}, and each throttle of the {throttled} counts as one",
        count.value
    );
    let label = format!("moved to the dead-letter queue after {} {receives}", count.shown());
    Finding::new("max_receive_count", headline, count, label)
        .show(consumer)
        .scenario(scenarios::of_unlucky_receives(queue, count.value, true).filter(|_| !consumer.is_pipe()))
        .help(format!("set `{}` to {recommended} or more", count.name))
        .fix((recommended <= limits::MAX_RECEIVE_COUNT.most).then(|| count.set_to(recommended)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn two_to_four_receives_are_flagged() {
        stack().check(
            &RULE,
            "
            queue.max_receive_count | mapping.enabled | finding
            // Other rules report these.
            0                       |                 |
            1                       |                 |
            2                       |                 | queue.max_receive_count
            3                       |                 | queue.max_receive_count
            4                       |                 | queue.max_receive_count
            5                       |                 |
            100                     |                 |
            open                    |                 |
            3                       | false           |
            ",
        );
    }
}
