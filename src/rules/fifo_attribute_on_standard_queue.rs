//! Flags FIFO attributes on standard queues.

use super::prelude::*;
use crate::graph::Attribute;

pub(super) static RULE: Rule = rule!(
    "fifo-attribute-on-standard-queue",
    Category::Fifo,
    Severity::Error,
    "a standard queue sets an attribute that only FIFO queues have, which SQS rejects"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        judge(
            findings,
            queue,
            "content_based_deduplication",
            &queue.content_based_deduplication,
            |set| *set,
        );
        // State files contain an empty string for an absent attribute.
        let is_set = |set: &Option<String>| set.as_ref().is_some_and(|text| !text.is_empty());
        judge(
            findings,
            queue,
            "deduplication_scope",
            &queue.deduplication_scope,
            is_set,
        );
        judge(findings, queue, "throughput_limit", &queue.throughput_limit, is_set);
    }
}

fn judge<T>(
    findings: &mut Findings<'_>,
    queue: &Queue,
    id: &'static str,
    attribute: &Attribute<T>,
    is_set: impl Fn(&T) -> bool,
) {
    for known in findings.known(&queue.resource.when, queue, attribute) {
        let is_unset = fact(!is_set(known.value), || format!("`{}` is not set", known.name)).depending_on(&known);
        if findings.satisfied(&known.when, queue, is_unset) {
            continue;
        }
        for fifo in findings.known(&known.when, queue, &queue.fifo) {
            let is_fifo = fact(*fifo.value, || "a FIFO queue".to_owned())
                .depending_on(&known)
                .depending_on(&fifo);
            if findings.satisfied(&fifo.when, queue, is_fifo) {
                continue;
            }
            if queue.contradicts_name(*fifo.value, &fifo.when) {
                findings.leave_to_rule_of(&fifo.when, queue, &[&known, &fifo], Cause::NameContradictsType);
            } else {
                findings.report(&fifo.when, queue, for_fifo(queue, id, &known, &fifo));
            }
        }
    }
}

fn for_fifo<T>(queue: &Queue, id: &'static str, known: &Known<'_, T>, fifo: &Known<'_, bool>) -> Finding {
    let headline = format!(
        "{queue} is a standard queue and sets `{}`, which only FIFO queues have",
        known.name
    );
    Finding::new(
        id,
        headline,
        known,
        format!("SQS rejects `{}` on a standard queue", known.name),
    )
    .label(fifo, "a standard queue")
    .help(format!(
        "remove `{}`, or make it a FIFO queue with `{}` and a name that ends in `.fifo`",
        known.name, fifo.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn fifo_attributes_on_standard_queue_are_flagged() {
        queue().check(
            &RULE,
            r#"
            queue.deduplication | queue.deduplication_scope | queue.throughput_limit | queue.name | queue.fifo | finding
            true                |                           |                        |            |            | queue.deduplication
            true                |                           |                        | q.fifo     | true       |
            true                |                           |                        |            | open       |
            // The missing `fifo_queue` is the cause.
            true                |                           |                        | q.fifo     |            |
                                | queue                     |                        |            |            | queue.deduplication_scope
                                | queue                     |                        | q.fifo     | true       |
                                | queue                     |                        |            | open       |
                                | queue                     |                        | q.fifo     |            |
                                |                           | perQueue               |            |            | queue.throughput_limit
                                |                           | perQueue               | q.fifo     | true       |
                                |                           | perQueue               |            | open       |
                                |                           | perQueue               | q.fifo     |            |
            true                |                           | perQueue               |            |            | queue.deduplication, queue.throughput_limit
            false               |                           |                        |            |            |
            open                |                           |                        |            |            |
                                | null                      |                        |            |            |
                                |                           | ""                     |            |            |
            "#,
        );
    }
}
