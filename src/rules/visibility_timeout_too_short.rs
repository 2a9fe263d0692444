//! Flags queues whose visibility timeout leaves Lambda no time to retry a throttled batch.

use super::prelude::*;
use crate::rules::shared::advice::{Advice, set_to_needed};
use crate::rules::shared::consumers::{PollingMapping, RunTime};
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "visibility-timeout-too-short",
    Category::Visibility,
    Severity::Warning,
    "the visibility timeout is less than six times the function timeout plus the batching window",
    fix = Some(Safety::Unsafe),
    settings = Advice::ALL
);

fn check(findings: &mut Findings<'_>) {
    for (queue, _) in findings.graph.polled() {
        let advice = findings.settings::<Advice>(queue);
        findings.set_judged_attribute(&queue.visibility_timeout);
        for poll in findings.polls(&queue.resource.when, queue) {
            for time in findings.least_run_times(&poll) {
                for window in findings.least_window(&time.limit.when, poll.mapping) {
                    for visibility in findings.most_visibility(&window.when, queue) {
                        let enough = at_least(&visibility, advice.needed(&time.limit, &window))
                            .note(|| format!(", with {}", time.function));
                        findings.require(
                            &visibility.when,
                            queue,
                            enough.depending_on(&time).depending_on(&poll),
                            || too_short(queue, &poll, &time, &window, &visibility, advice),
                        );
                    }
                }
            }
        }
    }
}

fn too_short(
    queue: &Queue,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    window: &Operand<'_>,
    visibility: &Operand<'_>,
    advice: Advice,
) -> Finding {
    let (subject, function) = (queue.resource.shown(), time.function.resource.shown());
    let needed = advice.needed(&time.limit, window);
    let first_attempt = Term::from(&time.limit) + window;
    let visible_after = visibility.in_words();
    // Lambda receives messages before the batching window ends, so they wait in it while their visibility timeout runs.
    let headline = if visibility.value < first_attempt.value {
        format!(
            "{subject} has a visibility timeout of {visible_after}, but the batching window and {function} together may \
             take {}, so a message may reappear during its first attempt",
            first_attempt.with_unit()
        )
    } else {
        format!(
            "{subject} has a visibility timeout of {visible_after}, but {} {}, {}, so that a throttled batch can \
             be retried",
            advice.by(),
            needed.with_unit(),
            advice.reason(&function, window)
        )
    };
    let becomes_visible = format!("the message becomes visible again after {}", visibility.shown());
    let label = visibility.or_default("SQS", becomes_visible);
    let mut finding = Finding::new("visibility_timeout", headline, visibility, label)
        .severity(poll.severity(Severity::Warning))
        .scenario(scenarios::of_throttling(visibility, &time.limit, window, advice.factor))
        .show(time)
        .show(poll);
    if window.value > 0 {
        finding = finding.label(
            window,
            format!("a message may wait up to {} for its batch", window.shown()),
        );
    }
    let fifo = queue.fifo.known_in(&visibility.when);
    if let Some((_, case, _)) = fifo.iter().find(|(_, _, fifo)| **fifo) {
        let message = "exactly-once covers sending only: a FIFO queue, too, delivers a message again when its visibility timeout ends";
        finding = finding.label(case.span, message);
    }
    let mut help = advice.help(visibility, &needed);
    if is_rarely_throttled(poll, time, visibility) {
        help += "; throttling is unlikely here, since the mapping's maximum concurrency is within the function's reserved concurrency";
    }
    finding.help(help).fix(set_to_needed(visibility, &needed))
}

/// Returns `true` if the mapping's maximum concurrency is within the function's reserved concurrency.
fn is_rarely_throttled(poll: &PollingMapping<'_>, time: &RunTime<'_>, visibility: &Operand<'_>) -> bool {
    let maximum = poll.mapping.maximum_concurrency.known_in(&visibility.when);
    let reserved = time.function.reserved_concurrency.known_in(&visibility.when);
    match (maximum.as_slice(), reserved.as_slice()) {
        ([(_, _, Some(maximum))], [(_, _, Some(reserved))]) => maximum <= reserved,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Sam;
    use crate::testing::stack;

    #[test]
    fn timeout_below_six_function_timeouts_and_window_is_flagged() {
        stack().function("timeout", 60).check(
            &RULE,
            "
            queue.visibility_timeout | mapping.window | mapping.enabled | finding
            360                      |                |                 |
            359                      |                |                 | queue.visibility_timeout
            365                      | 5              |                 |
            364                      | 5              |                 | queue.visibility_timeout
            60                       |                |                 | warning queue.visibility_timeout
            60                       |                | false           | info queue.visibility_timeout
            // Other rules report these values.
            59                       |                |                 |
            0                        |                |                 |
            open                     |                |                 | unjudged
            360                      | open           |                 | unjudged
            ",
        );
        let table = "queue.visibility_timeout | function.timeout | finding\n 60 | open | unjudged";
        stack().check(&RULE, table);
    }

    #[test]
    fn headline_warns_if_window_uses_up_first_attempt() {
        stack().only(&[Sam]).function("timeout", 60).mapping("window", 5).check(
            &RULE,
            "
            queue.visibility_timeout | finding                  | headline        | calculation            | help
            62                       | queue.visibility_timeout | …may take 65 s… | 6 × 60 s + 5 s = 365 s | set `VisibilityTimeout` to 365 or more: six times the function timeout plus the batching window
            ",
        );
    }

    #[test]
    fn finding_mentions_fifo_and_concurrency() {
        stack().queue("visibility_timeout", 60).function("timeout", 60).check(
            &RULE,
            "
            queue.fifo | function.reserved_concurrency | mapping.concurrency | finding                          | label          | help
            true       |                               |                     | queue.visibility_timeout         | …exactly-once… |
                       | 10                            | 10                  | warning queue.visibility_timeout |                | …throttling is unlikely…
            ",
        );
    }

    /// Returns another function on the queue.
    fn second(timeout: i64) -> String {
        format!(
            r#"
resource "aws_lambda_function" "second" {{
  timeout = {timeout}
}}
resource "aws_lambda_event_source_mapping" "second" {{
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.second.arn
}}"#
        )
    }

    #[test]
    fn one_finding_names_largest_required_timeout() {
        stack().function("timeout", 6).terraform(&second(7)).check(
            &RULE,
            "
            finding | calculation
            queue   | 6 × 7 s + 0 s = 42 s
            ",
        );
    }

    #[test]
    fn function_timeout_above_visibility_timeout_takes_precedence() {
        stack()
            .terraform(&second(60))
            .check(&RULE, "function.timeout | finding\n 6 |");
    }
}
