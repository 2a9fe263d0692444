//! Flags queues without a dead-letter queue whose consumer is not declared in the files.

use super::prelude::*;
use crate::graph::RedrivePolicy;
use crate::rules::shared::names::is_named_dead_letter_queue;

pub(super) static RULE: Rule = rule!(
    "queue-without-redrive-policy",
    Category::Redrive,
    Severity::Info,
    "a queue that nothing in the files reads has no redrive policy",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        // `redrive-policy-missing` reports queues that have or may have a declared consumer.
        if findings.graph.is_consumed(queue)
            || findings.graph.is_dead_letter_queue(queue)
            || findings.graph.is_passed_to_missing_code(queue)
            || is_named_dead_letter_queue(queue)
            || may_be_read(findings.graph, queue)
        {
            continue;
        }
        for redrive in findings.redrives(&queue.resource.when, queue) {
            if findings.satisfied(&redrive.when, queue, is_set(&redrive)) {
                continue;
            }
            // A queue with a redrive allow policy is the dead-letter queue of an external queue.
            for allow in findings.known(&redrive.when, queue, &queue.redrive_allow) {
                if allow.value.is_none() {
                    findings.report(&allow.when, queue, without(queue, &redrive));
                }
            }
        }
    }
}

/// Returns `true` if a mapping or pipe of the same unit has an unresolved source.
fn may_be_read(graph: &Graph, queue: &Queue) -> bool {
    let unit = queue.resource.unit;
    let mut mappings = graph.mappings().iter().filter(|mapping| mapping.resource.unit == unit);
    let mut pipes = graph
        .deliveries()
        .pipes
        .iter()
        .filter(|pipe| pipe.resource.unit == unit);
    mappings.any(|mapping| mapping.queue.unresolved_reason().is_some())
        || pipes.any(|pipe| pipe.source.unresolved_reason().is_some())
}

fn without(queue: &Queue, redrive: &Known<'_, Option<Box<RedrivePolicy>>>) -> Finding {
    let headline = format!(
        "{queue} has no redrive policy: a message that always fails is received again and again until it expires"
    );
    Finding::new("redrive", headline, redrive, format!("no `{}`", redrive.name)).help(format!(
        "set `{}` to a dead-letter queue of the same type with a `maxReceiveCount` of 5 or more",
        redrive.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{queue, stack};

    #[test]
    fn queue_without_declared_consumer_is_flagged() {
        queue().check(
            &RULE,
            "
            queue.max_receive_count | queue.redrive | queue.permission | queue.name  | finding
                                    |               |                  |             | queue
            5                       |               |                  |             |
                                    | open          |                  |             |
                                    |               | allowAll         |             |
                                    |               |                  | dead-orders | queue
            ",
        );
        stack().check(
            &RULE,
            "
            mapping.source | finding
                           |
            open           |
            ",
        );
        queue().check(&RULE, "function.failure_target | finding\n queue.arn |");
    }

    /// Programs may send failed messages to such a queue.
    #[test]
    fn queue_named_as_dead_letter_queue_is_ignored() {
        for name in ["orders_dlq", "dead_letters", "orders-DeadLetter", "fatalDlq"] {
            queue().check(&RULE, &format!("queue.name | finding\n {name} |"));
            Terraform.check(&RULE, &format!("resource \"aws_sqs_queue\" \"{name}\" {{}}\n"));
        }
    }

    #[test]
    fn exported_queue_is_ignored() {
        let template = "
Resources:
  Exported:
    Type: AWS::SQS::Queue
Outputs:
  Queue:
    Value: !GetAtt Exported.Arn
    Export: {Name: queue}
";
        CloudFormation.check(&RULE, template);
        Sam.check(&RULE, template);
    }
}
