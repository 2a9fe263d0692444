//! Flags workers that delete a message before the work on it.

use super::prelude::*;
use crate::graph::{Loss, LossKind};

pub(super) static RULE: Rule = rule!(
    "worker-deletes-before-work",
    Category::Consumers,
    Severity::Error,
    "a worker deletes a message before the work on it, which is lost if the work fails"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for program in findings.graph.programs(queue) {
            let mut losses = program
                .losses
                .iter()
                .filter(|loss| loss.kind == LossKind::BeforeWork)
                .peekable();
            let is_lost = losses.peek().is_some();
            if !findings.satisfied(
                &queue.resource.when,
                queue,
                fact(!is_lost, || "the worker deletes no message before the work".to_owned()),
            ) {
                for loss in losses {
                    findings.report(&queue.resource.when, queue, lost(queue, loss));
                }
            }
        }
    }
}

fn lost(queue: &Queue, loss: &Loss) -> Finding {
    let headline =
        format!("the worker of {queue} deletes a message before the work on it: if that fails, the message is gone");
    Finding::new("deletion", headline, loss.at, "deletes the message")
        .label(loss.other, "the work, after which nothing retries the message")
        .label(queue.resource.header, "the queue of that worker")
        .help("delete the message after the work; a retry then may do it twice, so make the effect idempotent")
}
