//! Flags mappings on standard queues with a batch size above ten but no batching window.

use super::prelude::*;
use crate::graph::limits::{BATCH_SIZE, BATCH_SIZE_WITHOUT_WINDOW};
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = rule!(
    "batch-size-without-window",
    Category::Mapping,
    Severity::Error,
    "a batch of more than 10 messages has no batching window, which Lambda requires",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for batch in findings.batch_sizes(&mapping.resource.when, mapping) {
            let is_small =
                at_most(&batch, BATCH_SIZE_WITHOUT_WINDOW).note(|| ", which need no batching window".to_owned());
            // `batch-size-out-of-range` reports sizes that no queue accepts.
            if findings.satisfied(&batch.when, mapping, is_small) || !BATCH_SIZE.accepts(batch.value) {
                continue;
            }
            for window in findings.any_numbers(&batch.when, mapping, &mapping.window, Unit::Seconds) {
                let has_window = fact(window.value != 0, || {
                    let (size, window) = (batch.value, window.in_words());
                    format!("{BATCH_SIZE_WITHOUT_WINDOW} < {size} messages, with a batching window: 1 s ≤ {window}")
                });
                if findings.satisfied(
                    &window.when,
                    mapping,
                    has_window.depending_on(&batch).depending_on(&window),
                ) {
                    continue;
                }
                for source in findings.sources(mapping, &window.when) {
                    // A FIFO queue supports neither a larger batch nor a window.
                    if source.fifo {
                        findings.leave_to_rule_of(&source.when, mapping, &[&batch, &window, &source], Cause::FifoBatch);
                    } else {
                        findings.report(&source.when, mapping, without_window(mapping, &batch, &window, &source));
                    }
                }
            }
        }
    }
}

fn without_window(
    mapping: &EventSourceMapping,
    batch: &Operand<'_>,
    window: &Operand<'_>,
    source: &TypedQueue<'_>,
) -> Finding {
    let (size, name) = (batch.value, window.name);
    let headline = format!(
        "{mapping} has a batch size of {size} on {} but no batching window",
        source.shown
    );
    let label = format!(
        "{}: above {BATCH_SIZE_WITHOUT_WINDOW}, Lambda requires a batching window of at least 1 s",
        batch.shown()
    );
    let finding = Finding::new("batch_size", headline, batch, label);
    let finding = if window.is_default {
        let no_window = format!("`{name}` is not set, so the batching window is {}", window.in_words());
        finding.label(window.span, no_window)
    } else {
        finding.label(window, format!("the batching window is {}", window.shown()))
    };
    finding
        .show(source)
        .help(format!(
            "set `{name}` to 1 or more, or `{}` to {BATCH_SIZE_WITHOUT_WINDOW} or less",
            batch.name
        ))
        .fix(window.set_to(1))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::stack;

    #[test]
    fn batch_size_above_ten_needs_a_window() {
        stack().check(
            &RULE,
            r#"
            mapping.batch_size | mapping.window | finding
            10                 |                |
            11                 |                | mapping.batch_size
            "11"               |                | mapping.batch_size
            11                 | 0              | mapping.batch_size
            11                 | 1              |
            open               |                |
            11                 | open           |
            "#,
        );
    }

    #[test]
    fn fifo_queues_and_invalid_sizes_are_left_to_their_rules() {
        stack().check(
            &RULE,
            "
            mapping.batch_size | queue.fifo | finding
            11                 | true       |
            10000              |            | mapping.batch_size
            10001              |            |
            ",
        );
    }

    #[test]
    fn type_of_external_queue_follows_from_arn() {
        stack()
            .mapping("batch_size", 11)
            .only(&[Terraform, CloudFormation])
            .check(
                &RULE,
                "
            mapping.source                                  | finding
            arn:aws:sqs:eu-west-1:111122223333:q            | mapping.batch_size
            arn:aws:sqs:eu-west-1:111122223333:q.fifo       |
            arn:aws:kinesis:eu-west-1:111122223333:stream/q |
            open                                            |
            ",
            );
    }
}
