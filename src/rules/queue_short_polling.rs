//! Flags queues with short polling, whose workers pay for each empty response.

use super::prelude::*;
use crate::rules::shared::consumers::Consumer;

pub(super) static RULE: Rule = rule!(
    "queue-short-polling",
    Category::Queue,
    Severity::Info,
    "workers poll a queue that answers at once when it is empty, and pay for each answer",
    set = Set::Pedantic,
    fix = Some(Safety::Unsafe)
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.consumed() {
        // Lambda and pipes use long polling whatever the queue's setting is.
        if findings.graph.is_read(queue) || findings.graph.is_dead_letter_queue(queue) {
            continue;
        }
        let workers: Vec<Consumer<'_>> = findings.workers(&queue.resource.when, queue).collect();
        for worker in workers {
            let wait = &queue.receive_wait_time;
            for wait in findings.numbers(&worker.when, queue, wait, &limits::RECEIVE_WAIT_TIME) {
                findings.require(&wait.when, queue, above(&wait, 0).depending_on(&worker), || {
                    short(queue, &wait, &worker)
                });
            }
        }
    }
}

fn short(queue: &Queue, wait: &Operand<'_>, worker: &Consumer<'_>) -> Finding {
    let headline = format!(
        "{queue} answers a receive without a wait time of its own at once when it is empty, and each empty answer costs \
         a request"
    );
    let label = wait.or_default("SQS", "short polling".to_owned());
    let most = limits::RECEIVE_WAIT_TIME.most;
    Finding::new("receive_wait_time", headline, wait, label)
        .show(worker)
        .help(format!("set `{}` to {most}", wait.name))
        .caveat("leave it if each receive sets its own wait time (`WaitTimeSeconds`)")
        .fix(wait.set_to(most))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{queue, stack};

    #[test]
    fn worker_on_queue_without_wait_time_is_flagged() {
        queue().configured("[[consumer]]\nqueue = \"*rders\"\n").check(
            &RULE,
            "
            queue.wait_time | finding
            0               | 1
                            | 1
            null            | 1
            1               |
            20              |
            21              |
            open            |
            ",
        );
    }

    #[test]
    fn queue_without_worker_is_ignored() {
        queue().check(&RULE, "queue.wait_time | finding\n 0 |");
    }

    #[test]
    fn lambda_sources_and_dead_letter_queues_are_ignored() {
        stack()
            .configured("[[consumer]]\nqueue = \"*rders\"\n")
            .check(&RULE, "queue.wait_time | finding\n 0 |");
        let dead_letters = "[[consumer]]\nqueue = \"*ailed\"\n";
        queue()
            .configured(dead_letters)
            .check(&RULE, "dlq.wait_time | finding\n 0 |");
    }
}
