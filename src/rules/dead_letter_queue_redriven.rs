//! Flags dead-letter queues with a redrive policy of their own although they have no consumer.

use super::prelude::*;
use crate::graph::RedrivePolicy;

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-redriven",
    Category::Redrive,
    Severity::Info,
    "a dead-letter queue that nothing reads has a redrive policy of its own",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    findings.note_unresolved_sources();
    for dlq in graph.queues() {
        let sources = graph.sources_of(dlq);
        let Some(source) = sources.first().filter(|_| !graph.is_consumed(dlq)) else {
            continue;
        };
        let unit = dlq.resource.unit;
        let mut mappings = graph.mappings().iter().filter(|mapping| mapping.resource.unit == unit);
        // The mapping may poll this queue.
        if mappings.any(|mapping| mapping.queue.unresolved_reason().is_some()) {
            continue;
        }
        for redrive in findings.redrives(&dlq.resource.when.and(&source.resource.when), dlq) {
            let ends = fact(redrive.value.is_none(), || "no redrive policy of its own".to_owned());
            findings.require(&redrive.when, dlq, ends.depending_on(&redrive), || {
                redriven(source, dlq, &redrive)
            });
        }
    }
}

fn redriven(source: &Queue, dlq: &Queue, redrive: &Known<'_, Option<Box<RedrivePolicy>>>) -> Finding {
    let headline = format!(
        "{dlq} is the dead-letter queue of {source} and has a redrive policy of its own: viewing its messages moves them on"
    );
    Finding::new("redrive", headline, redrive, "viewing a message counts as a receive")
        .label(source.resource.header, format!("its failures go to {dlq}"))
        .help(format!("remove `{}` of {dlq}", redrive.name))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::queue;

    #[test]
    fn unconsumed_dead_letter_queue_with_policy_is_flagged() {
        queue().check(
            &RULE,
            "
            dlq.redrive | finding
                        |
            null        |
            open        |
            ",
        );
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "last" {}
resource "aws_sqs_queue" "failed" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.last.arn, maxReceiveCount = 5 }) <policy>
}
resource "aws_sqs_queue" "orders" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = <polled>
  function_name    = "f"
}
"#,
            "
            policy | polled                                       | finding
                   | \"arn:aws:sqs:eu-west-1:111122223333:other\" | policy
            // Two stages of retries.
                   | aws_sqs_queue.failed.arn                     |
                   | var.open                                     |
            ",
        );
    }
}
