//! Flags redrive policies that retry a failing message for a very long time.

use super::prelude::*;
use crate::graph::Seconds;
use crate::rules::shared::advice::AdvisedReceives;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "max-receive-count-too-high",
    Category::Redrive,
    Severity::Info,
    "a message that always fails is retried more than 100 times, or for more than a day",
    set = Set::Pedantic,
    settings = MostReceives::ALL
);

settings! {
    /// Maximum number of receives.
    struct MostReceives of "max-receive-count-too-high" {
        maximum: i64 = 100, at least 1, "the most receives that are not too many";
    }
}

/// Longest acceptable time of all retries in seconds, whatever the count is.
const LONGEST: i64 = 86_400;
/// Time in seconds below which many retries are acceptable: they are a way to wait.
const SHORTEST: i64 = 3_600;

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        let MostReceives { maximum } = findings.settings(queue);
        let AdvisedReceives { recommended } = findings.settings(queue);
        for count in findings.receive_counts(&queue.resource.when, queue) {
            for visibility in findings.visibility(&count.when, queue) {
                let total = || &count * &visibility;
                let is_quick = below(total(), Seconds(SHORTEST));
                if findings.satisfied(&visibility.when, queue, is_quick) {
                    continue;
                }
                if count.value > maximum || total().value > LONGEST {
                    findings.report(
                        &visibility.when,
                        queue,
                        too_many(queue, &count, &visibility, recommended),
                    );
                } else {
                    findings.satisfied(&visibility.when, queue, at_most(&count, maximum));
                }
            }
        }
    }
}

fn too_many(queue: &Queue, count: &Operand<'_>, visibility: &Operand<'_>, recommended: i64) -> Finding {
    let total = count * visibility;
    let help = if count.value > recommended {
        format!("set `{}` to {recommended} or a few more", count.name)
    } else {
        // The visibility timeout is the cause, not the count.
        format!(
            "lower `{}`: a worker that needs longer may extend it as it goes on",
            visibility.name
        )
    };
    let headline = format!(
        "{queue} retries a message that always fails {} times, for {}, before it moves to the dead-letter queue",
        count.value,
        Seconds(total.value).readable()
    );
    Finding::new("max_receive_count", headline, count, count.counted("receives"))
        .label(
            visibility,
            format!("invisible for {} after each receive", visibility.shown()),
        )
        .calculation(total.calculation())
        .scenario(scenarios::of_many_retries(queue, count, visibility))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn more_than_100_receives_or_a_day_of_retries_are_flagged() {
        queue().check(
            &RULE,
            "
            queue.max_receive_count | queue.visibility_timeout | finding
            100                     | 60                       |
            101                     | 60                       | queue.max_receive_count
            1000                    | 60                       | queue.max_receive_count
            // A way to wait.
            101                     | 35                       |
            2                       | 43200                    |
            3                       | 43200                    | queue.max_receive_count
            101                     | open                     |
            open                    | 60                       |
            ",
        );
    }
}
