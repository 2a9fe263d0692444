//! Flags queues whose visibility timeout is shorter than the timeout of the function that reads them.

use super::{Category, Findings, Rule, Set};
use crate::diagnostic::{Diagnostic, Severity};
use crate::graph::{Condition, Graph, Queue};
use crate::operands::{Operand, Poll, RunTime, VISIBILITY_FACTOR};

pub(super) static RULE: Rule = Rule {
    id: "visibility-timeout-below-function-timeout",
    category: Category::Visibility,
    severity: Severity::Error,
    set: Set::Default,
    summary: "messages become visible again while the function may still be working on them",
    page: include_str!("../../rules/visibility-timeout-below-function-timeout.md"),
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for (queue, _) in graph.polled() {
        let mut all = shortfalls(graph, findings, queue);
        // The worst speaks; the other functions become its labels.
        all.sort_by_key(|found| std::cmp::Reverse((found.severity(), found.run_time.limit.value)));
        for found in all {
            let diagnostic = below_timeout(findings, queue, &found);
            findings.report(&found.world, &queue.resource, diagnostic);
        }
    }
}

/// A mapping whose function may run for longer than its queue hides a message.
pub(super) struct Shortfall<'g> {
    poll: Poll<'g>,
    run_time: RunTime<'g>,
    visibility: Operand<'g>,
    pub(super) world: Condition,
}

impl Shortfall<'_> {
    /// Whether Lambda accepts a *disabled* mapping is not documented.
    pub(super) fn severity(&self) -> Severity {
        if self.poll.enabled {
            Severity::Error
        } else {
            Severity::Info
        }
    }
}

/// Every shortfall of `queue`. Other rules yield to these.
pub(super) fn shortfalls<'g>(graph: &'g Graph, findings: &mut Findings<'_>, queue: &'g Queue) -> Vec<Shortfall<'g>> {
    let mut all = Vec::new();
    for poll in findings.polls(graph, &queue.resource.when, queue) {
        for run_time in findings.run_times(graph, &poll) {
            for visibility in findings.visibility(&run_time.limit.world, queue) {
                // At 0 it is `visibility-timeout-zero` that speaks.
                if 0 < visibility.value && visibility.value < run_time.limit.value {
                    all.push(Shortfall {
                        world: visibility.world.clone(),
                        poll: poll.clone(),
                        run_time: run_time.clone(),
                        visibility,
                    });
                }
            }
        }
    }
    all
}

fn below_timeout(findings: &Findings<'_>, queue: &Queue, found: &Shortfall<'_>) -> Diagnostic {
    let Shortfall {
        poll,
        run_time,
        visibility,
        ..
    } = found;
    let function = run_time.function.resource.shown();
    let timeout = run_time.limit.value;
    let runs = if run_time.durable {
        format!("an execution of {function} may take {timeout} s")
    } else {
        format!("{function} may run for {timeout} s")
    };
    let headline = format!(
        "{} hides a message for {} s, but {runs}",
        queue.resource.shown(),
        visibility.value
    );
    let becomes_visible = format!("the message becomes visible again after {}", visibility.seconds());
    let diagnostic = findings.diagnostic(
        found.severity(),
        &queue.resource,
        "visibility_timeout",
        headline,
        visibility.span,
        visibility.or_default(becomes_visible, "SQS"),
    );
    let mut diagnostic = run_time.limit.show(visibility.trace(diagnostic), run_time.label());
    if !poll.enabled {
        let mapping = poll.mapping.resource.shown();
        diagnostic = diagnostic.label(poll.enabled_at, format!("{mapping} is disabled, so nothing polls yet"));
    }
    // The window only makes the advice exact: where it is not known the advice names it instead.
    let windows = poll.mapping.window.known_in(&found.world);
    match windows.as_slice() {
        [(_, _, window)] => {
            let wanted = VISIBILITY_FACTOR * timeout + window.0.clamp(0, 300);
            diagnostic
                .calculation(format!("{VISIBILITY_FACTOR} × {timeout} s + {window} = {wanted} s"))
                .help(format!(
                    "set `{}` to {wanted} or more: six times the function timeout plus the batching window",
                    visibility.name
                ))
        }
        _ => diagnostic.help(format!(
            "set `{}` to {} or more, plus the batching window: six times the function timeout",
            visibility.name,
            VISIBILITY_FACTOR * timeout
        )),
    }
}
