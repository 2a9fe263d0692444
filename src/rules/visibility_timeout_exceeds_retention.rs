//! Flags queues that delete a message before it can be received a second time.

use super::{Category, Findings, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::{Graph, Queue};
use crate::operands::{Operand, Poll};

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-exceeds-retention",
    category: Category::Visibility,
    severity: Severity::Error,
    set: Set::Default,
    summary: "a message expires before its visibility timeout ends, so nothing is ever retried",
    page: include_str!("../../rules/visibility-timeout-exceeds-retention.md"),
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (queue, _) in graph.polled() {
        for poll in findings.polls(graph, &queue.resource.when, queue) {
            if !poll.enabled {
                continue; // No consumer: nothing is received even once.
            }
            for visibility in findings.visibility(&poll.world, queue) {
                for retention in findings.retention(&visibility.world, queue) {
                    if retention.value <= visibility.value {
                        let diagnostic = expires_first(findings, queue, &poll, &visibility, &retention);
                        findings.report(&retention.world, &queue.resource, diagnostic);
                    }
                }
            }
        }
    }
}

fn expires_first(
    findings: &Findings<'_>,
    queue: &Queue,
    poll: &Poll<'_>,
    visibility: &Operand<'_>,
    retention: &Operand<'_>,
) -> Diagnostic {
    let headline = format!(
        "{} keeps a message for {} s but hides it for {} s: one that fails once is lost without a retry",
        queue.resource.shown(),
        retention.value,
        visibility.value
    );
    let diagnostic = findings.diagnostic(
        Severity::Error,
        &queue.resource,
        "retention",
        headline,
        retention.span,
        format!("the message is deleted after {}", retention.seconds()),
    );
    let again = format!("it could be received again after {}", visibility.seconds());
    visibility
        .show(retention.trace(diagnostic), visibility.or_default(again, "SQS"))
        .label(
            poll.mapping.resource.header,
            format!("{} reads the queue", poll.mapping.resource.shown()),
        )
        .help(format!(
            "raise `{}` well above {}: without it SQS keeps messages for 345600 s (4 days)",
            retention.name, visibility.value
        ))
}
