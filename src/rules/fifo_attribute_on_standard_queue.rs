//! Flags FIFO attributes on standard queues.

use super::prelude::*;
use crate::graph::Attribute;

pub(super) static RULE: Rule = Rule {
    id: "fifo-attribute-on-standard-queue",
    category: Category::Fifo,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a standard queue sets an attribute that only FIFO queues have, which SQS rejects",
    page: include_str!("../../rules/fifo-attribute-on-standard-queue.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.queues() {
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
        "{} is a standard queue and sets `{}`, which only FIFO queues have",
        queue.resource.shown(),
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
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(settings: &str) -> String {
        format!("variable \"open\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n{settings}\n}}\n")
    }

    #[test]
    fn fifo_attributes_on_standard_queue_are_flagged() {
        for setting in [
            "content_based_deduplication = true",
            "deduplication_scope = \"queue\"",
            "fifo_throughput_limit = \"perQueue\"",
        ] {
            check(
                &RULE,
                Terraform,
                &terraform(&format!("{setting} # expect: fifo-attribute-on-standard-queue")),
            );
            for other in [
                "name = \"q.fifo\"\nfifo_queue = true",
                "fifo_queue = var.open",
                // The missing `fifo_queue` is the cause.
                "name = \"q.fifo\"",
            ] {
                check(&RULE, Terraform, &terraform(&format!("{setting}\n{other}")));
            }
        }
        for setting in [
            "content_based_deduplication = false",
            "content_based_deduplication = var.open",
            "deduplication_scope = null",
            "fifo_throughput_limit = \"\"",
        ] {
            check(&RULE, Terraform, &terraform(setting));
        }
    }

    #[test]
    fn cloudformation_queue_is_flagged() {
        let template = "
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      ContentBasedDeduplication: true # expect: fifo-attribute-on-standard-queue
      FifoThroughputLimit: perQueue # expect: fifo-attribute-on-standard-queue
";
        check(&RULE, CloudFormation, template);
        check(&RULE, Sam, template);
    }
}
