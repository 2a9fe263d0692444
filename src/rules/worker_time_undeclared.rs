//! Flags queues whose worker may take any time for a message.

use super::prelude::*;
use crate::graph::declared::{DeclaredConsumer, Duration};
use crate::graph::workers::WorkerConsumption;

/// Longest visibility timeout that slow messages often exceed, in seconds.
const SHORT: i64 = 60;

pub(super) static RULE: Rule = rule!(
    "worker-time-undeclared",
    Category::Consumers,
    Severity::Warning,
    "nothing states how long a worker takes for a message, whose visibility timeout may be too short"
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    for queue in graph.queues() {
        // The worker of a queue usually may read its dead-letter queue, too. It then fails there as it failed before.
        if graph.is_dead_letter_queue(queue) || graph.may_be_timed(queue) {
            continue;
        }
        let stated: Vec<&DeclaredConsumer> = graph.timed(queue).filter(|one| one.is_worker()).collect();
        let is_stated = stated.iter().any(|one| states_time(one));
        let code = stated.iter().find(|one| one.code.is_some());
        let received = code.and_then(|one| one.code.as_ref()?.visibility);
        let workers = graph.worker_consumptions(queue).iter();
        for worker in workers.filter(|worker| worker.is_permitted && worker.polling.is_none()) {
            // A role that may also send is often that of a sender, unless code receives.
            let is_certain = (worker.receiver.is_some() || code.is_some()) && !graph.is_read(queue);
            let severity = |seconds: i64| {
                if is_certain && seconds <= SHORT {
                    Severity::Warning
                } else {
                    Severity::Info
                }
            };
            if let Some(received) = received {
                if !is_stated {
                    let finding = undeclared_in_code(queue, received, worker);
                    findings.report(&worker.when, queue, finding.severity(severity(received.seconds_up())));
                }
                continue;
            }
            for visibility in findings.visibility(&worker.when, queue) {
                // `visibility-timeout-zero` reports a timeout of 0.
                let is_known = fact(is_stated || visibility.value == 0, || {
                    "the worker's time for a message is stated".to_owned()
                });
                if !findings.satisfied(&visibility.when, queue, is_known.depending_on(&visibility)) {
                    let finding = undeclared(queue, &visibility, worker).severity(severity(visibility.value));
                    findings.report(&visibility.when, queue, finding);
                }
            }
        }
    }
}

/// Returns `true` if a declaration or the worker's code states how long a message takes, or that the worker renews its
/// visibility timeout.
fn states_time(worker: &DeclaredConsumer) -> bool {
    let times = [worker.p50, worker.p99, worker.max];
    let is_renewed = worker.code.as_ref().is_some_and(|code| code.is_renewed);
    times.iter().any(Option::is_some) || worker.heartbeat.is_some() || is_renewed
}

fn undeclared(queue: &Queue, visibility: &Operand<'_>, worker: &WorkerConsumption) -> Finding {
    let of = if visibility.is_default {
        "the default visibility timeout"
    } else {
        "a visibility timeout"
    };
    let headline = format!(
        "{queue} has {of} of {} s, and nothing states how long its worker takes for a message",
        visibility.value
    );
    let label = visibility.or_default(
        "SQS",
        format!("the message becomes visible again after {}", visibility.shown()),
    );
    Finding::new("visibility_timeout", headline, visibility, label)
        .label(worker.span, worker.evidence.clone())
        .help(format!(
            "set `{}` above the longest processing time, or {DECLARE}",
            visibility.name
        ))
}

fn undeclared_in_code(queue: &Queue, visibility: Duration, worker: &WorkerConsumption) -> Finding {
    let headline = format!(
        "the worker of {queue} receives messages with a visibility timeout of {visibility}, and nothing states how long it \
         takes for one"
    );
    let finding = Finding::new(
        "visibility_timeout",
        headline,
        queue.resource.header,
        "the queue of that worker",
    );
    let hides = format!("hides a received message for {visibility}");
    let finding = visibility
        .span
        .into_iter()
        .fold(finding, |all, span| all.label(span, &*hides));
    finding.label(worker.span, worker.evidence.clone()).help(format!(
        "receive with a visibility timeout above the longest processing time, or {DECLARE}"
    ))
}

const DECLARE: &str = "declare the worker in `sqslint.toml`: `[[consumer]]` with `processing = { max = \"…\" }`; a message \
                       that takes longer is processed twice";
