//! Flags redrive policies that give a message no second chance.

use super::{Category, Findings, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::{Graph, Queue};
use crate::operands::Operand;

pub(super) static RULE: Rule = Rule {
    id: "max-receive-count-too-low",
    category: Category::Redrive,
    severity: Severity::Warning,
    set: Set::Default,
    summary: "a single failed receive sends a good message to the dead-letter queue",
    page: include_str!("../../rules/max-receive-count-too-low.md"),
    check: Some(check),
};

/// The fewest receives that allow a retry. AWS: "we don't recommend setting the number of maximum receives to 1".
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>
pub(super) const MINIMUM: i64 = 2;

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        for count in findings.receive_counts(&queue.resource.when, queue) {
            if count.value < MINIMUM {
                let diagnostic = too_low(findings, queue, &count);
                findings.report(&count.world, &queue.resource, diagnostic);
            }
        }
    }
}

fn too_low(findings: &Findings<'_>, queue: &Queue, count: &Operand<'_>) -> Diagnostic {
    let receives = if count.value == 1 { "receive" } else { "receives" };
    let headline = format!(
        "{} gives up on a message after {} {receives}: one throttle or lost response sends a good one to the \
         dead-letter queue",
        queue.resource.shown(),
        count.value
    );
    let diagnostic = findings.diagnostic(
        Severity::Warning,
        &queue.resource,
        "max_receive_count",
        headline,
        count.span,
        format!("moved to the dead-letter queue after {} {receives}", count.count()),
    );
    count.trace(diagnostic).help(format!(
        "set `{}` to 5, or to {MINIMUM} at the very least; suppress this where working on a message twice does more harm",
        count.name
    ))
}
