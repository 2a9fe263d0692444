//! Flags queues whose default visibility timeout is sufficient only until the function's timeout is raised.

use super::prelude::*;
use crate::rules::shared::advice::Advice;
use crate::rules::shared::consumers::{PollingMapping, RunTime};

pub(super) static RULE: Rule = rule!(
    "visibility-timeout-defaulted",
    Category::Visibility,
    Severity::Info,
    "the visibility timeout is left to its default, and is enough by accident",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for (queue, _) in findings.graph.polled() {
        let advice: Advice = findings.settings(queue);
        for visibility in findings.visibility(&queue.resource.when, queue) {
            let is_written =
                fact(!visibility.is_default, || format!("`{}` is set", visibility.name)).depending_on(&visibility);
            if findings.satisfied(&visibility.when, queue, is_written) {
                continue;
            }
            for poll in findings.polls(&visibility.when, queue) {
                if !poll.enabled {
                    continue;
                }
                for time in findings.run_times(&poll) {
                    let window = &poll.mapping.window;
                    for window in findings.numbers(&time.limit.when, poll.mapping, window, &limits::WINDOW) {
                        let needed = advice.needed(&time.limit, &window).value;
                        // `visibility-timeout-too-short` reports an insufficient timeout.
                        if needed <= visibility.value {
                            findings.report(&window.when, queue, defaulted(queue, &visibility, &poll, &time, needed));
                        }
                    }
                }
            }
        }
    }
}

fn defaulted(
    queue: &Queue,
    visibility: &Operand<'_>,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    needed: i64,
) -> Finding {
    let headline = format!(
        "{queue} relies on the default visibility timeout of {} s; {} needs {needed} s now, and a longer function timeout makes the default too short",
        visibility.value, time.function
    );
    let label = format!("`{}` is not set", visibility.name);
    Finding::new("visibility_timeout", headline, visibility, label)
        .show(time)
        .show(poll)
        .help(format!(
            "set `{}`, computed from the function's timeout",
            visibility.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::stack;

    #[test]
    fn sufficient_default_timeout_is_flagged() {
        stack().check(
            &RULE,
            "
            queue.visibility_timeout | function.timeout | mapping.enabled | finding
                                     | 5                |                 | queue
                                     | 3                |                 | queue
            30                       | 5                |                 |
                                     | 6                |                 |
                                     | open             |                 |
            open                     | 5                |                 |
                                     | 5                | false           |
            ",
        );
        stack().only(&[Terraform]).check(
            &RULE,
            "
            queue.visibility_timeout | function.timeout | finding
            null                     | 5                | queue.visibility_timeout
            null                     |                  | queue.visibility_timeout
            null                     | 6                |
            ",
        );
    }
}
