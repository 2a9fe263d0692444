//! Flags workers whose messages are deleted although the work on them failed.

use super::prelude::*;
use crate::graph::{Loss, LossKind};

pub(super) static RULE: Rule = rule!(
    "worker-swallows-failures",
    Category::Consumers,
    Severity::Warning,
    "a worker hides the failure of a message, which is then deleted as done"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for program in findings.graph.programs(queue) {
            let mut losses = program
                .losses
                .iter()
                .filter(|loss| loss.kind == LossKind::Swallowed)
                .peekable();
            let is_lost = losses.peek().is_some();
            if !findings.satisfied(
                &queue.resource.when,
                queue,
                fact(!is_lost, || "the worker hides no failure of a message".to_owned()),
            ) {
                for loss in losses {
                    findings.report(&queue.resource.when, queue, lost(queue, loss));
                }
            }
        }
    }
}

fn lost(queue: &Queue, loss: &Loss) -> Finding {
    let headline = format!(
        "the worker of {queue} hides the failure of a message, which is then deleted: it is neither retried nor moved to a \
         dead-letter queue"
    );
    let finding = Finding::new(
        "failures",
        headline,
        loss.other,
        "hides the failure, and the program goes on",
    );
    let finding = if loss.at == loss.other {
        finding
    } else {
        finding.label(loss.at, "deletes the message, failed or not")
    };
    finding
        .label(queue.resource.header, "the queue of that worker")
        .help("let the failure leave the function, or skip the deletion, so that SQS delivers the message again")
}
