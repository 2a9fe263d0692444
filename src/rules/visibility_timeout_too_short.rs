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
    let graph = findings.graph;
    for (queue, _) in graph.polled() {
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
                            || too_short(graph, queue, &poll, &time, &window, &visibility, advice),
                        );
                    }
                }
            }
        }
    }
}

fn too_short(
    graph: &Graph,
    queue: &Queue,
    poll: &PollingMapping<'_>,
    time: &RunTime<'_>,
    window: &Operand<'_>,
    visibility: &Operand<'_>,
    advice: Advice,
) -> Finding {
    let (subject, function) = (queue.resource.shown(), time.function.resource.shown());
    let needed = advice.needed(&time.limit, window);
    let visible_after = visibility.in_words();
    let is_throttled = !is_rarely_throttled(graph, time, visibility);
    let why = if is_throttled {
        ", so that a throttled batch can be retried"
    } else {
        ""
    };
    let headline = format!(
        "{subject} has a visibility timeout of {visible_after}, but {} {}, {}{why}",
        advice.by(),
        needed.with_unit(),
        advice.reason(&function, window)
    );
    let becomes_visible = format!("the message becomes visible again after {}", visibility.shown());
    let label = visibility.or_default("SQS", becomes_visible);
    let severity = if is_throttled {
        Severity::Warning
    } else {
        Severity::Info
    };
    let scenario = scenarios::of_throttling(visibility, &time.limit, window, advice.factor);
    let mut finding = Finding::new("visibility_timeout", headline, visibility, label)
        .severity(poll.severity(severity))
        .scenario(scenario.filter(|_| is_throttled))
        .show(time)
        .show(poll);
    if window.value > 0 {
        finding = finding.label(
            window,
            format!("a message may wait up to {} for its batch", window.shown()),
        );
    }
    let mut help = advice.help(visibility, &needed);
    if !is_throttled {
        help += "; throttling is unlikely here, since the maximum concurrency of all mappings is within the function's reserved concurrency";
    }
    finding
        .although_fifo(queue, &visibility.when)
        .help(help)
        .fix(set_to_needed(visibility, &needed))
}

/// Returns `true` if the maximum concurrency of all mappings of the function is within its reserved concurrency.
fn is_rarely_throttled(graph: &Graph, time: &RunTime<'_>, visibility: &Operand<'_>) -> bool {
    let reserved = time.function.reserved_concurrency.known_in(&visibility.when);
    let mappings = graph.mappings_of(time.function);
    let maximums = mappings.iter().map(|(_, mapping)| {
        let maximum = mapping.maximum_concurrency.known_in(&visibility.when);
        match maximum.as_slice() {
            [(_, _, maximum)] => **maximum,
            _ => None,
        }
    });
    let total = maximums.sum::<Option<i64>>();
    matches!((reserved.as_slice(), total), ([(_, _, Some(reserved))], Some(total)) if total <= *reserved)
}

#[cfg(test)]
mod tests {
    use super::RULE;
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
    fn finding_mentions_fifo_and_concurrency() {
        stack().queue("visibility_timeout", 60).function("timeout", 60).check(
            &RULE,
            "
            queue.fifo | function.reserved_concurrency | mapping.concurrency | finding                          | label          | help
            true       |                               |                     | queue.visibility_timeout         | …exactly-once… |
                       | 10                            | 10                  | info queue.visibility_timeout    |                | …throttling is unlikely…
                       | 10                            | 11                  | warning queue.visibility_timeout |                |
                       | 10                            |                     | warning queue.visibility_timeout |                |
                       | 10                            | open                | warning queue.visibility_timeout |                |
            ",
        );
    }

    #[test]
    fn another_mapping_may_use_the_reserved_concurrency() {
        let other = r#"
resource "aws_lambda_event_source_mapping" "other" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:other"
  function_name    = aws_lambda_function.worker.arn
  <maximum>
}"#;
        for (maximum, severity) in [
            ("", "warning"),
            ("scaling_config { maximum_concurrency = 5 }", "info"),
            ("scaling_config { maximum_concurrency = 6 }", "warning"),
        ] {
            stack()
                .queue("visibility_timeout", 60)
                .function("timeout", 60)
                .function("reserved_concurrency", 10)
                .mapping("concurrency", 5)
                .terraform(&other.replace("<maximum>", maximum))
                .check(&RULE, &format!("finding\n {severity} queue.visibility_timeout"));
        }
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
