//! Flags queues with a visibility timeout of 0: messages stay visible while they are processed.

use super::prelude::*;
use crate::rules::shared::advice::{Advice, set_to_needed};
use crate::rules::shared::consumers::PollingMapping;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "visibility-timeout-zero",
    Category::Visibility,
    Severity::Error,
    "the visibility timeout is 0, so several consumers may receive a message at the same time",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        if !findings.graph.is_consumed(queue) && findings.graph.is_dead_letter_queue(queue) {
            continue; // A dead-letter queue without a consumer.
        }
        for visibility in findings.visibility(&queue.resource.when, queue) {
            if findings.satisfied(&visibility.when, queue, above(&visibility, 0)) {
                continue;
            }
            for poll in findings.polls(&visibility.when, queue) {
                if poll.enabled {
                    let finding = refused(findings, queue, &poll, &visibility);
                    findings.report(&poll.when, queue, finding);
                }
            }
            let help = longer_than_processing(&visibility);
            let finding = zero(queue, &visibility)
                .severity(Severity::Warning)
                .scenario(scenarios::of_length(&visibility, 1))
                .help(help);
            findings.report(&visibility.when, queue, finding);
        }
    }
}

/// Returns the finding for a queue that a mapping polls.
fn refused<'g>(
    findings: &mut Findings<'g>,
    queue: &Queue,
    poll: &PollingMapping<'g>,
    visibility: &Operand<'_>,
) -> Finding {
    let mapping = &poll.mapping.resource;
    let message = format!(
        "Lambda rejects {}, since every function timeout is longer than 0 s",
        mapping.shown()
    );
    let finding = zero(queue, visibility).label(mapping.header, message);
    let times = findings.run_times(poll).into_iter().map(|time| time.limit);
    let Some(longest) = times.max_by_key(|limit| limit.value) else {
        return finding.help(longer_than_processing(visibility));
    };
    let advice = findings.settings::<Advice>(queue);
    // If the window is unknown, no fix is offered. A value below what both need has a finding of its own.
    let needed = advice.needed(&longest, poll.window(&poll.when));
    finding
        .help(advice.help(visibility, &needed))
        .fix(set_to_needed(visibility, &needed))
}

fn longer_than_processing(visibility: &Operand<'_>) -> String {
    format!(
        "set `{}` to more than the time that a consumer needs for a message",
        visibility.name
    )
}

fn zero(queue: &Queue, visibility: &Operand<'_>) -> Finding {
    let headline = format!("{queue} has a visibility timeout of 0 s, so a message stays visible while it is processed");
    let message = format!(
        "{}: other consumers may receive the message at the same time",
        visibility.shown()
    );
    Finding::new("visibility_timeout", headline, visibility, message)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{Sam, Terraform};
    use crate::testing::{queue, stack};

    #[test]
    fn only_zero_is_flagged() {
        stack().check(
            &RULE,
            "
            queue.visibility_timeout | mapping.enabled | finding
            0                        |                 | error queue.visibility_timeout
            0                        | false           | warning queue.visibility_timeout
            1                        |                 |
            null                     |                 |
            open                     |                 | unjudged
            ",
        );
    }

    #[test]
    fn help_is_computed_from_function_timeout() {
        stack().only(&[Sam]).check(
            &RULE,
            "
            queue.visibility_timeout | function.timeout | finding                  | help
            0                        | 20               | queue.visibility_timeout | …`VisibilityTimeout` to 120…
            ",
        );
    }

    #[test]
    fn queue_without_known_consumer_is_a_warning() {
        queue().only(&[Terraform]).check(
            &RULE,
            "
            queue.visibility_timeout | finding                          | help
            0                        | warning queue.visibility_timeout | …`visibility_timeout_seconds`…
            ",
        );
    }
}
