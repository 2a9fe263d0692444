//! Flags queues whose visibility timeout does not cover the batching window and the function that follows it.

use super::prelude::*;
use crate::rules::shared::advice::{Advice, set_to_needed};
use crate::rules::shared::consumers::{PollingMapping, RunTime};
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "visibility-timeout-below-window",
    Category::Visibility,
    Severity::Warning,
    "a message may become visible again during its first attempt, because it waits for its batch before that",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for (queue, _) in findings.graph.polled() {
        let advice = findings.settings::<Advice>(queue);
        findings.set_judged_attribute(&queue.visibility_timeout);
        for poll in findings.polls(&queue.resource.when, queue) {
            for time in findings.least_run_times(&poll) {
                for window in findings.least_window(&time.limit.when, poll.mapping) {
                    if window.is_known() && window.value == 0 {
                        continue; // `visibility-timeout-below-function-timeout` compares the timeout alone.
                    }
                    for batch in findings.batch_sizes(&window.when, poll.mapping) {
                        if batch.value == 1 {
                            continue; // One message fills its batch and waits for no other.
                        }
                        for visibility in findings.most_visibility(&batch.when, queue) {
                            let covered = at_least(&visibility, Term::from(&time.limit) + &window)
                                .note(|| format!(", with {}", time.function))
                                .depending_on(&time)
                                .depending_on(&batch)
                                .depending_on(&poll);
                            findings.require(&visibility.when, queue, covered, || {
                                below_window(queue, &poll, &time, &window, &visibility, advice)
                            });
                        }
                    }
                }
            }
        }
    }
}

fn below_window(
    queue: &Queue,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    window: &Operand<'_>,
    visibility: &Operand<'_>,
    advice: Advice,
) -> Finding {
    let first_attempt = Term::from(&time.limit) + window;
    // Lambda receives messages before the batching window ends, so they wait in it while their visibility timeout runs.
    let headline = format!(
        "{queue} has a visibility timeout of {}, but the batching window and {} together may take {}, so a message may \
         reappear during its first attempt",
        visibility.in_words(),
        time.function.resource.shown(),
        first_attempt.with_unit()
    );
    let becomes_visible = format!("the message becomes visible again after {}", visibility.shown());
    let needed = advice.needed(&time.limit, window);
    Finding::new(
        "visibility_timeout",
        headline,
        visibility,
        visibility.or_default("SQS", becomes_visible),
    )
    .severity(poll.severity(Severity::Warning))
    .scenario(scenarios::of_window(visibility, &time.limit, window))
    .show(time)
    .show(poll)
    .label(
        window,
        format!("a message may wait up to {} for its batch", window.shown()),
    )
    .although_fifo(queue, &visibility.when)
    .help(advice.help(visibility, &needed))
    .fix(set_to_needed(visibility, &needed))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn timeout_below_function_timeout_and_window_is_flagged() {
        stack().function("timeout", 60).check(
            &RULE,
            "
            queue.visibility_timeout | mapping.window | mapping.enabled | finding
            65                       | 5              |                 |
            64                       | 5              |                 | warning queue.visibility_timeout
            64                       | 5              | false           | info queue.visibility_timeout
            60                       | 5              |                 | queue.visibility_timeout
            60                       | 0              |                 |
            60                       |                |                 |
            // Other rules report these values.
            59                       | 5              |                 |
            0                        | 5              |                 |
            open                     | 5              |                 | unjudged
            64                       | open           |                 | unjudged
            ",
        );
        let batch = "queue.visibility_timeout | mapping.batch_size | finding\n 64 | 1 |\n 64 | 2 | queue.visibility_timeout\n 64 | open | unjudged";
        stack().function("timeout", 60).mapping("window", 5).check(&RULE, batch);
        let table = "queue.visibility_timeout | mapping.window | function.timeout | finding\n 60 | 5 | open | unjudged";
        stack().check(&RULE, table);
    }

    #[test]
    fn fix_covers_what_aws_advises() {
        stack().function("timeout", 60).mapping("window", 5).check(
            &RULE,
            "
            queue.visibility_timeout | queue.fifo | finding                  | headline        | calculation      | label
            62                       |            | queue.visibility_timeout | …may take 65 s… | 60 s + 5 s = 65 s |
            ",
        );
    }
}
