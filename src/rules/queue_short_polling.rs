//! Flags queues with short polling, whose workers pay for each empty response.

use super::prelude::*;
use crate::rules::shared::consumers::Consumer;

pub(super) static RULE: Rule = Rule {
    id: "queue-short-polling",
    category: Category::Queue,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: Some(Safety::Unsafe),
    summary: "workers poll a queue that answers at once when it is empty, and pay for each answer",
    page: include_str!("../../rules/queue-short-polling.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.consumed() {
        // Lambda and pipes use long polling whatever the queue's setting is.
        if graph.is_read(queue) || graph.is_dead_letter_queue(queue) {
            continue;
        }
        let workers: Vec<Consumer<'_>> = findings.workers(graph, &queue.resource.when, queue).collect();
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
        "{} answers its worker at once when it is empty, and each empty answer costs a request",
        queue.resource.shown()
    );
    let label = wait.or_default("SQS", "short polling".to_owned());
    let most = limits::RECEIVE_WAIT_TIME.most;
    Finding::new("receive_wait_time", headline, wait, label)
        .show(worker)
        .help(format!(
            "set `{}` to {most}, unless each receive asks for a wait of its own (`WaitTimeSeconds`)",
            wait.name
        ))
        .fix(wait.set_to(most))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::run_files;

    const DECLARED: (&str, &str) = ("sqslint.toml", "[[consumer]]\nqueue = \"aws_sqs_queue.jobs\"\n");

    fn queue(wait: &str, more: &str) -> String {
        format!(
            "variable \"open\" {{}}\nresource \"aws_sqs_queue\" \"jobs\" {{\n  receive_wait_time_seconds = {wait}\n}}\n{more}"
        )
    }

    fn found(wait: &str, more: &str) -> usize {
        let outcome = run_files(&RULE, &[("main.tf", &queue(wait, more)), DECLARED]);
        assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
        outcome.findings.len()
    }

    #[test]
    fn worker_on_queue_without_wait_time_is_flagged() {
        assert_eq!(found("0", ""), 1);
        assert_eq!(found("null", ""), 1);
        assert_eq!(found("1", ""), 0);
        assert_eq!(found("20", ""), 0);
        assert_eq!(found("21", ""), 0);
        assert_eq!(found("var.open", ""), 0);
    }

    #[test]
    fn queue_without_worker_is_ignored() {
        assert!(run_files(&RULE, &[("main.tf", &queue("0", ""))]).findings.is_empty());
    }

    #[test]
    fn lambda_sources_and_dead_letter_queues_are_ignored() {
        let mapping = "resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.jobs.arn\n  function_name = \"f\"\n}\n";
        assert_eq!(found("0", mapping), 0);
        let source = "resource \"aws_sqs_queue\" \"source\" {\n  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.jobs.arn, maxReceiveCount = 5 })\n}\n";
        assert_eq!(found("0", source), 0);
    }
}
