//! Reports FIFO queues with a dead-letter queue, which breaks their order.

use super::prelude::*;
use crate::graph::RedrivePolicy;

pub(super) static RULE: Rule = rule!(
    "fifo-dead-letter-breaks-order",
    Category::Fifo,
    Severity::Info,
    "a FIFO queue has a dead-letter queue, so later messages overtake one that failed",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for fifo in findings.known(&queue.resource.when, queue, &queue.fifo) {
            if !fifo.value {
                continue;
            }
            for redrive in findings.redrives(&fifo.when, queue) {
                let keeps_order = fact(redrive.value.is_none(), || {
                    "no dead-letter queue: a group waits".to_owned()
                });
                findings.require(
                    &redrive.when,
                    queue,
                    keeps_order.depending_on(&redrive).depending_on(&fifo),
                    || breaks(queue, &redrive, &fifo),
                );
            }
        }
    }
}

fn breaks(queue: &Queue, redrive: &Known<'_, Option<Box<RedrivePolicy>>>, fifo: &Known<'_, bool>) -> Finding {
    let headline = format!(
        "{queue} is a FIFO queue with a dead-letter queue: after a message has moved there, the later ones of its group are processed without it"
    );
    Finding::new("redrive", headline, redrive, "moves a message out of its order")
        .label(fifo, "a FIFO queue")
        .help("keep the redrive policy if the order of a group may have gaps; otherwise remove it, so that the group waits")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn fifo_queue_with_dead_letter_queue_is_flagged() {
        queue().check(
            &RULE,
            "
            queue.fifo | queue.target                              | queue.redrive | finding
            true       | arn:aws:sqs:eu-west-1:111122223333:d.fifo |               | 1
            true       |                                           | null          |
            true       |                                           | open          |
            false      | arn:aws:sqs:eu-west-1:111122223333:d.fifo |               |
            open       | arn:aws:sqs:eu-west-1:111122223333:d.fifo |               |
            ",
        );
    }
}
