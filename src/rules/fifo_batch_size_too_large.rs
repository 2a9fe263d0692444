//! Flags mappings on FIFO queues with a larger batch size than FIFO allows.

use super::prelude::*;
use crate::graph::limits::BATCH_SIZE_FIFO;
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = rule!(
    "fifo-batch-size-too-large",
    Category::Mapping,
    Severity::Error,
    "a mapping on a FIFO queue has a batch size of more than 10",
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for mapping in findings.graph.mappings() {
        for batch in findings.batch_sizes(&mapping.resource.when, mapping) {
            // Without an upper bound: `batch-size-out-of-range` leaves FIFO queues to this rule.
            let is_small = at_most(&batch, BATCH_SIZE_FIFO).note(|| ", as FIFO allows".to_owned());
            if findings.satisfied(&batch.when, mapping, is_small) {
                continue;
            }
            for source in findings.sources(mapping, &batch.when) {
                let is_standard = fact(!source.fifo, || source.words())
                    .depending_on(&batch)
                    .depending_on(&source);
                findings.require(&source.when, mapping, is_standard, || {
                    too_large(mapping, &batch, &source)
                });
            }
        }
    }
}

fn too_large(mapping: &EventSourceMapping, batch: &Operand<'_>, source: &TypedQueue<'_>) -> Finding {
    let headline = format!(
        "{mapping} has a batch size of {} on the FIFO queue {}, but FIFO queues allow at most {BATCH_SIZE_FIFO}",
        batch.value, source.shown
    );
    let label = format!(
        "{} is above {BATCH_SIZE_FIFO}, so Lambda rejects the mapping",
        batch.shown()
    );
    Finding::new("batch_size", headline, batch, label)
        .show(source)
        .help(format!("set `{}` to {BATCH_SIZE_FIFO} or less", batch.name))
        .fix(batch.set_to(BATCH_SIZE_FIFO))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::stack;

    #[test]
    fn batch_size_above_ten_is_flagged() {
        stack().check(
            &RULE,
            "
            queue.fifo | mapping.batch_size | finding
            true       | 10                 |
            true       | 11                 | mapping.batch_size
            true       | 20000              | mapping.batch_size
            true       |                    |
            true       | open               |
                       | 11                 |
            open       | 11                 |
            ",
        );
    }

    #[test]
    fn type_of_external_queue_follows_from_arn() {
        stack().mapping("batch_size", 11).check(
            &RULE,
            "
            mapping.source                            | finding
            arn:aws:sqs:eu-west-1:111122223333:q.fifo | mapping.batch_size
            arn:aws:sqs:eu-west-1:111122223333:q      |
            ",
        );
    }
}
