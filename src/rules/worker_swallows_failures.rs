//! Flags workers whose messages are deleted although the work on them failed.

use super::prelude::*;
use crate::graph::{Loss, LossKind};
use crate::rules::shared::losses::report_losses;

pub(super) static RULE: Rule = rule!(
    "worker-swallows-failures",
    Category::Consumers,
    Severity::Warning,
    "a worker hides the failure of a message, which is then deleted as done"
);

fn check(findings: &mut Findings<'_>) {
    report_losses(
        findings,
        LossKind::Swallowed,
        "the worker hides no failure of a message",
        lost,
    );
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
