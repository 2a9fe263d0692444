//! Flags visibility timeouts with which failures would use up the quota of messages in flight.

use super::prelude::*;
use crate::graph::limits::{IN_FLIGHT, LEAST_FAILURES};
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "in-flight-limit-at-risk",
    Category::Visibility,
    Severity::Info,
    "fewer than 20 failures per second fill the quota of messages in flight",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.read() {
        for visibility in findings.visibility(&queue.resource.when, queue) {
            let is_short = at_most(&visibility, IN_FLIGHT / LEAST_FAILURES);
            if findings.satisfied(&visibility.when, queue, is_short) {
                continue;
            }
            // No rule advises against what another one demands.
            let needed = findings.without_notes(|all| all.is_needed(queue, &visibility, &visibility.when));
            for consumer in findings.consumers(&visibility.when, queue) {
                findings.report(
                    &consumer.when.and(&needed.not()),
                    queue,
                    at_risk(queue, &visibility, &consumer),
                );
            }
        }
    }
}

fn at_risk(queue: &Queue, visibility: &Operand<'_>, consumer: &Consumer<'_>) -> Finding {
    let failures = IN_FLIGHT / visibility.value;
    let headline = format!(
        "{queue} has a visibility timeout of {}, so {} failures per second fill the quota of {IN_FLIGHT} messages in flight, and nothing is received any more",
        visibility.in_words(),
        failures + 1
    );
    Finding::new(
        "visibility_timeout",
        headline,
        visibility,
        format!("in flight for {}", visibility.shown()),
    )
    .show(consumer)
    .scenario(scenarios::of_failures(visibility, failures + 1))
    .calculation(Some(format!(
        "{IN_FLIGHT} messages ÷ {} s = {failures} per second",
        visibility.value
    )))
    .help(format!(
        "lower `{}` to {} or less, or `maxReceiveCount`, so that failures leave the queue sooner",
        visibility.name,
        IN_FLIGHT / LEAST_FAILURES
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{queue, stack};

    #[test]
    fn timeout_above_6000_seconds_is_flagged() {
        stack().check(
            &RULE,
            "
            queue.visibility_timeout | mapping.enabled | finding
            6000                     |                 |
            6001                     |                 | queue.visibility_timeout
            43200                    |                 | queue.visibility_timeout
            open                     |                 |
            6001                     | false           |
            ",
        );
    }

    #[test]
    fn timeout_that_the_function_needs_is_accepted() {
        stack().check(
            &RULE,
            "
            queue.visibility_timeout | function.timeout | mapping.window | finding
            10800                    | 1800             |                |
            10801                    | 1800             |                | queue.visibility_timeout
            11100                    | 1800             | 300            |
            11101                    | 1800             | 300            | queue.visibility_timeout
            10800                    | open             |                | queue.visibility_timeout
            10800                    | 1801             |                | queue.visibility_timeout
            ",
        );
    }

    #[test]
    fn queue_of_a_pipe_is_flagged() {
        let pipe = "  P:
    Type: AWS::Pipes::Pipe
    Properties: {Source: !GetAtt Orders.Arn, Target: arn:aws:sqs:eu-west-1:111122223333:r}";
        let table = "queue.visibility_timeout | finding\n 43200 | queue.visibility_timeout";
        queue().template(pipe).check(&RULE, table);
    }
}
