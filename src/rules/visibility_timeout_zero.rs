//! Flags queues that do not hide messages while somebody works on them.

use super::{Category, Findings, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::{Graph, Queue};
use crate::operands::{Operand, VISIBILITY_FACTOR};

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-zero",
    category: Category::Visibility,
    severity: Severity::Error,
    set: Set::Default,
    summary: "the visibility timeout is 0, so every consumer receives a message at once",
    page: include_str!("../../rules/visibility-timeout-zero.md"),
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
        let read = !graph.consumptions(queue).is_empty();
        if !read && graph.is_dead_letter_queue(queue) {
            continue; // Nobody works on its messages.
        }
        for visibility in findings.visibility(&queue.resource.when, queue) {
            if visibility.value == 0 {
                zero(graph, findings, queue, &visibility);
            }
        }
    }
}

fn zero(graph: &Graph, findings: &mut Findings<'_>, queue: &Queue, visibility: &Operand<'_>) {
    for poll in findings.polls(graph, &visibility.world, queue) {
        if poll.enabled {
            let longest = findings
                .run_times(graph, &poll)
                .into_iter()
                .map(|time| time.limit.value)
                .max();
            let mapping = poll.mapping.resource.shown();
            let message = format!("Lambda refuses {mapping}: every function timeout is longer than 0 s");
            let diagnostic = diagnostic(findings, Severity::Error, queue, visibility)
                .label(poll.mapping.resource.header, message)
                .help(advice(visibility.name, longest));
            findings.report(&poll.world, &queue.resource, diagnostic);
        }
    }
    let diagnostic = diagnostic(findings, Severity::Warning, queue, visibility).help(advice(visibility.name, None));
    findings.report(&visibility.world, &queue.resource, diagnostic);
}

fn diagnostic(findings: &Findings<'_>, severity: Severity, queue: &Queue, visibility: &Operand<'_>) -> Diagnostic {
    let headline = format!(
        "{} does not hide a message while it is worked on: its visibility timeout is 0 s",
        queue.resource.shown()
    );
    let message = format!("the message stays visible: {}", visibility.seconds());
    let diagnostic = findings.diagnostic(
        severity,
        &queue.resource,
        "visibility_timeout",
        headline,
        visibility.span,
        message,
    );
    visibility.trace(diagnostic)
}

fn advice(name: &str, longest: Option<i64>) -> String {
    match longest {
        Some(timeout) => format!(
            "set `{name}` to {} or more: six times the function timeout",
            VISIBILITY_FACTOR * timeout
        ),
        None => format!("set `{name}` to longer than a consumer works on a message"),
    }
}
