//! Flags workers that delete a message before the work on it.

use super::prelude::*;
use crate::graph::{Loss, LossKind};
use crate::rules::shared::losses::report_losses;

pub(super) static RULE: Rule = rule!(
    "worker-deletes-before-work",
    Category::Consumers,
    Severity::Error,
    "a worker deletes a message before the work on it, which is lost if the work fails"
);

fn check(findings: &mut Findings<'_>) {
    report_losses(
        findings,
        LossKind::BeforeWork,
        "the worker deletes no message before the work",
        lost,
    );
}

fn lost(queue: &Queue, loss: &Loss) -> Finding {
    let headline =
        format!("the worker of {queue} deletes a message before the work on it: if that fails, the message is gone");
    Finding::new("deletion", headline, loss.at, "deletes the message")
        .label(loss.other, "the work, after which nothing retries the message")
        .label(queue.resource.header, "the queue of that worker")
        .help("delete the message after the work; a retry then may do it twice, so make the effect idempotent")
}
