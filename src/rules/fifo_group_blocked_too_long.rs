//! Flags FIFO queues on which one failing message blocks its message group for a long time.

use super::prelude::*;
use crate::graph::Seconds;
use crate::rules::shared::advice::AdvisedReceives;
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::retries::Retries;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "fifo-group-blocked-too-long",
    Category::Fifo,
    Severity::Warning,
    "a message that fails keeps its message group waiting for more than 15 minutes",
    settings = Waiting::ALL
);

settings! {
    /// Acceptable waiting times of a message group.
    struct Waiting of "fifo-group-blocked-too-long" {
        warning: i64 = 3_600, at least 1, "the longest wait in seconds that is not a warning";
        info: i64 = 900, at least 1, "the longest wait in seconds that is not told at all";
    }
}

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.read() {
        for fifo in findings.known(&queue.resource.when, queue, &queue.fifo) {
            if !fifo.value {
                continue;
            }
            for count in findings.receive_counts(&fifo.when, queue) {
                for consumer in findings.consumers(&count.when, queue) {
                    for retries in findings.retries(&consumer.when, queue, &count) {
                        judge(findings, queue, &consumer, &retries);
                    }
                }
            }
        }
    }
}

fn judge(findings: &mut Findings<'_>, queue: &Queue, consumer: &Consumer<'_>, retries: &Retries<'_>) {
    let Waiting { warning, info } = findings.settings(queue);
    let wait = || &retries.count * &retries.visibility;
    let is_short = at_most(wait(), Seconds(info)).depending_on(consumer);
    if findings.satisfied(&retries.when, queue, is_short) {
        return;
    }
    let severity = if wait().value > warning {
        Severity::Warning
    } else {
        Severity::Info
    };
    let when = beyond_advice(findings, queue, retries);
    findings.report(&when, queue, blocked(queue, consumer, retries, severity));
}

/// Returns the conditions under which the receive count or the visibility timeout exceeds the minimum that other rules
/// recommend.
fn beyond_advice(findings: &mut Findings<'_>, queue: &Queue, retries: &Retries<'_>) -> Condition {
    let AdvisedReceives { recommended } = findings.settings(queue);
    if retries.count.value > recommended {
        return retries.when.clone();
    }
    findings.exceeds_every_need(queue, &retries.visibility, &retries.when, 1)
}

fn blocked(queue: &Queue, consumer: &Consumer<'_>, retries: &Retries<'_>, severity: Severity) -> Finding {
    let wait = &retries.count * &retries.visibility;
    let headline = format!(
        "a message of {queue} that always fails keeps its message group waiting for {}",
        Seconds(wait.value).readable()
    );
    let finding = Finding::new(
        "visibility_timeout",
        headline,
        &retries.visibility,
        format!("the group waits for {} after each receive", retries.visibility.shown()),
    );
    finding
        .severity(severity)
        .label(&retries.count, retries.count.counted("receives"))
        .show(consumer)
        .scenario(scenarios::of_group(queue, retries))
        .calculation(wait.calculation())
        .help(format!(
            "lower `{}` or `{}`, so that a message that fails reaches the dead-letter queue sooner",
            retries.visibility.name, retries.count.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn wait_above_15_minutes_is_an_info_and_above_an_hour_a_warning() {
        stack().queue("target", "arn:aws:sqs:eu-west-1:111122223333:failed.fifo").check(
            &RULE,
            "
            queue.fifo | queue.visibility_timeout | queue.max_receive_count | function.timeout | finding
            true       | 90                       | 10                      | 3                |
            true       | 91                       | 10                      | 3                | info queue.visibility_timeout
            true       | 360                      | 10                      | 3                | info queue.visibility_timeout
            true       | 361                      | 10                      | 3                | warning queue.visibility_timeout
            true       | 900                      | 10                      |                  | queue.visibility_timeout
            // AWS's own recommendation.
            true       | 1800                     | 5                       | 300              |
            true       | 1801                     | 5                       | 300              | warning queue.visibility_timeout
            true       | 1800                     | 6                       | 300              | warning queue.visibility_timeout
            true       | open                     | 10                      | 3                |
            true       | 361                      | open                    | 3                |
            true       | 1801                     | 5                       | open             |
            false      | 361                      | 10                      | 3                |
            open       | 361                      | 10                      | 3                |
            ",
        );
    }
}
