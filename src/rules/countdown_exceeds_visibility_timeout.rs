//! Flags queues whose messages become visible again while a worker of Celery waits for the time of their task.

use super::prelude::*;
use crate::graph::declared::Duration;

pub(super) static RULE: Rule = rule!(
    "countdown-exceeds-visibility-timeout",
    Category::Consumers,
    Severity::Warning,
    "a task of Celery waits longer than the visibility timeout, so several workers run it"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for delay in findings
            .graph
            .programs(queue)
            .iter()
            .filter_map(|program| program.countdown)
        {
            let delay = Duration {
                milliseconds: delay.milliseconds,
                span: Some(delay.span),
            };
            for visibility in findings.visibility(&queue.resource.when, queue) {
                findings.require(&visibility.when, queue, at_least(&visibility, delay), || {
                    too_long(queue, &visibility, delay)
                });
            }
        }
    }
}

fn too_long(queue: &Queue, visibility: &Operand<'_>, delay: Duration) -> Finding {
    let headline = format!(
        "{queue} has a visibility timeout of {}, but a task waits {delay} in the worker that received it: until then, the \
         message reappears, and other workers run the task as well",
        visibility.in_words()
    );
    let label = format!("the message becomes visible again after {}", visibility.shown());
    let finding = Finding::new(
        "visibility_timeout",
        headline,
        visibility,
        visibility.or_default("SQS", label),
    );
    let finding = delay.span.into_iter().fold(finding, |all, span| {
        all.label(span, "the worker holds the message for this time")
    });
    finding.help(format!(
        "set `{}` above the longest delay, or start tasks that are due much later by a scheduler",
        visibility.name
    ))
}
