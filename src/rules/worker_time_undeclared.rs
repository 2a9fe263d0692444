//! Flags queues with the default visibility timeout whose worker may take any time for a message.

use super::prelude::*;
use crate::graph::workers::WorkerConsumption;

pub(super) static RULE: Rule = rule!(
    "worker-time-undeclared",
    Category::Consumers,
    Severity::Info,
    "a worker reads a queue with the default visibility timeout, and nothing states how long a message takes"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        // The worker of a queue usually may read its dead-letter queue, too. It then fails there as it failed before.
        if findings.graph.is_dead_letter_queue(queue) || findings.graph.may_be_timed(queue) {
            continue;
        }
        let workers = findings.graph.worker_consumptions(queue).iter();
        for worker in workers.filter(|worker| worker.is_permitted && worker.polling.is_none()) {
            for visibility in findings.visibility(&worker.when, queue) {
                let is_written =
                    fact(!visibility.is_default, || format!("`{}` is set", visibility.name)).depending_on(&visibility);
                if !findings.satisfied(&visibility.when, queue, is_written) && !states_time(findings.graph, queue) {
                    findings.report(&visibility.when, queue, undeclared(queue, &visibility, worker));
                }
            }
        }
    }
}

/// Returns `true` if a declaration or the worker's code states how long a message of `queue` takes or is hidden, or that
/// the worker renews its visibility timeout.
fn states_time(graph: &Graph, queue: &Queue) -> bool {
    let mut workers = graph.timed(queue).filter(|one| one.is_worker());
    workers.any(|worker| {
        let code = worker.code.as_ref();
        let times = [
            worker.p50,
            worker.p99,
            worker.max,
            code.and_then(|code| code.visibility),
        ];
        times.iter().any(Option::is_some) || worker.heartbeat.is_some() || code.is_some_and(|code| code.is_renewed)
    })
}

fn undeclared(queue: &Queue, visibility: &Operand<'_>, worker: &WorkerConsumption) -> Finding {
    let headline = format!(
        "{queue} has the default visibility timeout of {} s, and nothing states how long its worker takes for a message",
        visibility.value
    );
    let label = format!("`{}` is not set", visibility.name);
    Finding::new("visibility_timeout", headline, visibility, label)
        .label(worker.span, worker.evidence.clone())
        .help(format!(
            "set `{}` above the longest processing time, or declare the worker in `sqslint.toml`: `[[consumer]]` with \
             `processing = {{ max = \"…\" }}`; a message that takes longer is processed twice",
            visibility.name
        ))
}
