//! Flags dead-letter queues whose type differs from that of their source queue.

use super::prelude::*;
use crate::graph::Form;
use crate::rules::shared::queue_types::{TypedQueue, kind};

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-type-mismatch",
    Category::Redrive,
    Severity::Error,
    "a queue and its dead-letter queue are of different types: one is FIFO, the other is not"
);

fn check(findings: &mut Findings<'_>) {
    for source in findings.graph.queues() {
        for dlq in findings.typed_targets(&source.resource.when, source) {
            for fifo in findings.known(&dlq.when, source, &source.fifo) {
                if source.contradicts_name(*fifo.value, &fifo.when) || is_doubtful(&dlq) {
                    // The type itself may be the mistake.
                    findings.leave_to_rule_of(&fifo.when, source, &[&fifo, &dlq], Cause::NameContradictsType);
                    continue;
                }
                if dlq.queue.is_none() && dlq.form != Form::Arn {
                    findings.leave_to_rule_of(&fifo.when, source, &[&dlq], Cause::MalformedPolicy);
                    continue;
                }
                let is_same = fact(dlq.fifo == *fifo.value, || {
                    let kind = if dlq.fifo { "FIFO" } else { "standard" };
                    format!("{kind}, as is its dead-letter queue {}", dlq.shown)
                });
                findings.require(
                    &fifo.when,
                    source,
                    is_same.depending_on(&fifo).depending_on(&dlq),
                    || mismatch(source, &fifo, &dlq),
                );
            }
        }
    }
}

/// Returns `true` if the queue's name contradicts its type.
fn is_doubtful(dlq: &TypedQueue<'_>) -> bool {
    dlq.queue
        .is_some_and(|queue| queue.contradicts_name(dlq.fifo, &dlq.when))
}

fn mismatch(source: &Queue, fifo: &Known<'_, bool>, dlq: &TypedQueue<'_>) -> Finding {
    let (shown, is, dlq_is) = (source.resource.shown(), kind(*fifo.value), kind(dlq.fifo));
    let headline = format!("{shown} is {is}, but its dead-letter queue {} is {dlq_is}", dlq.shown);
    let finding = Finding::new("redrive", headline, dlq.link, format!("names {dlq_is}"))
        .label(fifo.span, format!("{shown} is {is}"))
        .help(format!("use {is} as the dead-letter queue"));
    // For an external queue, the target itself contains the name that determines the type.
    if dlq.queue.is_some() {
        finding.show(dlq)
    } else {
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn different_types_are_flagged() {
        queue().check(
            &RULE,
            "
            queue.fifo | queue.name  | dlq.fifo | dlq.name    | finding
                       |             |          |             |
            true       |             | true     |             |
            true       |             |          |             | queue.target
                       |             | true     |             | queue.target
            open       |             | true     |             |
            true       |             | open     |             |
            // Another rule reports a name that contradicts the type.
                       | orders.fifo | true     |             |
            true       |             |          | failed.fifo |
            ",
        );
    }

    #[test]
    fn type_of_external_queue_follows_from_arn() {
        queue().check(
            &RULE,
            "
            queue.fifo | queue.target                                      | finding
            true       | arn:aws:sqs:eu-west-1:123456789012:elsewhere.fifo |
            true       | arn:aws:sqs:eu-west-1:123456789012:elsewhere      | queue.target
                       | arn:aws:sqs:eu-west-1:123456789012:elsewhere.fifo | queue.target
                       | arn:aws:sqs:eu-west-1:123456789012:elsewhere      |
            true       | open                                              |
            ",
        );
    }
}
