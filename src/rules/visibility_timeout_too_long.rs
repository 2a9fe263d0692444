//! Flags visibility timeouts that delay the retry of a failed message for a long time.

use super::prelude::*;
use crate::rules::shared::advice::Advice;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = rule!(
    "visibility-timeout-too-long",
    Category::Visibility,
    Severity::Info,
    "the visibility timeout is far longer than the function needs, so failures are retried late",
    set = Set::Pedantic,
    settings = Longest::ALL
);

settings! {
    /// Thresholds above which a timeout is too long.
    struct Longest of "visibility-timeout-too-long" {
        factor: i64 = 10, at least 1, "how many times what AWS advises is too long";
        minimum: i64 = 900, at least 1, "the seconds below which nothing is too long";
    }
}

fn check(findings: &mut Findings<'_>) {
    for (queue, _) in findings.graph.polled() {
        let Longest { factor, minimum } = findings.settings(queue);
        for visibility in findings.visibility(&queue.resource.when, queue) {
            if findings.satisfied(&visibility.when, queue, below(&visibility, minimum)) {
                continue;
            }
            let when = findings.exceeds_every_need(queue, &visibility, &visibility.when, factor);
            let advice: Advice = findings.settings(queue);
            let finding = too_long(queue, &visibility, factor, advice);
            // The finding shows the function with the longest run time.
            let longest = findings.without_notes(|findings| findings.longest_run(queue, &when));
            let story = longest
                .as_ref()
                .and_then(|time| scenarios::of_stop(&visibility, &time.limit));
            let finding = longest.iter().fold(finding, Finding::show).scenario(story);
            findings.report(&when, queue, finding);
        }
    }
}

fn too_long(queue: &Queue, visibility: &Operand<'_>, factor: i64, advice: Advice) -> Finding {
    let advised = advice.times("the timeout of its functions");
    let headline = format!(
        "{queue} has a visibility timeout of {}, more than {} times as long as its functions may run: a failed message is retried only then",
        visibility.in_words(),
        factor.saturating_mul(advice.factor)
    );
    let label = format!("retried after {}", visibility.shown());
    Finding::new("visibility_timeout", headline, visibility, label).help(format!(
        "lower `{}` towards {advised}, plus the batching window",
        visibility.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn timeout_above_ten_times_the_advice_is_flagged() {
        stack().check(
            &RULE,
            "
            queue.visibility_timeout | function.timeout | mapping.enabled | mapping.window | finding
            1800                     | 30               |                 |                |
            1801                     | 30               |                 |                | queue.visibility_timeout
            899                      | 3                |                 |                |
            900                      | 3                |                 |                | queue.visibility_timeout
            43200                    |                  |                 |                | queue.visibility_timeout
            43200                    | 10               |                 |                | queue.visibility_timeout
            open                     | 30               |                 |                |
            1801                     | open             |                 |                |
            1801                     | 30               | false           |                |
            1801                     | 30               |                 | 1              |
            1801                     | 30               |                 | open           |
            ",
        );
    }

    #[test]
    fn slowest_function_decides() {
        let slower = r#"
resource "aws_lambda_function" "slower" {
  timeout = 60
}
resource "aws_lambda_event_source_mapping" "slower" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.slower.arn
}"#;
        let table = "queue.visibility_timeout | function.timeout | finding\n 1801 | 30 |";
        stack().terraform(slower).check(&RULE, table);
    }
}
