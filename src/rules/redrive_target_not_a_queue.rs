//! Flags redrive policies whose target is not a queue.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "redrive-target-not-a-queue",
    Category::Redrive,
    Severity::Error,
    "SQS rejects the redrive policy: its target is not a queue"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings.graph.queues() {
        for target in findings.redrive_targets(&queue.resource.when, queue) {
            let other = something_else(findings.graph, queue, target.value);
            let is_queue = fact(other.is_none(), || "the target is a queue".to_owned());
            findings.require(&target.when, queue, is_queue.depending_on(&target), || {
                not_a_queue(queue, &target, &other.unwrap_or_default())
            });
        }
    }
}

/// Returns a description of the target of `link` if it is certainly not a queue.
fn something_else(graph: &Graph, queue: &Queue, link: &Link) -> Option<String> {
    if let Some(kind) = graph.type_if_not_queue(queue.resource.unit, link) {
        return Some(format!("a resource of the type `{kind}`"));
    }
    let service = link.service().filter(|service| *service != "sqs")?;
    Some(format!("an ARN of `{service}`"))
}

fn not_a_queue(queue: &Queue, target: &Known<'_, Link>, what: &str) -> Finding {
    let headline = format!("{queue} has {what} as its dead-letter queue, but SQS accepts only a queue");
    Finding::new("redrive", headline, target, format!("{what}, not a queue"))
        .help("set `deadLetterTargetArn` to the ARN of a queue")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn target_that_is_not_a_queue_is_flagged() {
        let others = r#"
resource "aws_sqs_queue" "none" {
  count = 0
}
resource "aws_sns_topic" "failed" {}"#;
        queue().dead_letter_queue("fifo", false).terraform(others).check(
            &RULE,
            r#"
            queue.target                                                     | finding
            dlq.arn                                                          |
            = aws_sqs_queue.none[0].arn                                      |
            = aws_sqs_queue.gone.arn                                         |
            arn:aws:sqs:eu-west-1:111122223333:failed                        |
            = "arn:${var.open}:sqs:eu-west-1:111122223333:failed"            |
            open                                                             |
            = aws_sns_topic.failed.arn                                       | queue.target
            arn:aws:sns:eu-west-1:111122223333:failed                        | queue.target
            = var.open ? aws_sqs_queue.failed.arn : aws_sns_topic.failed.arn | queue.target
            "#,
        );
        queue().terraform(others).check(
            &RULE,
            "
            queue.target               | finding      | headline
            = aws_sns_topic.failed.arn | queue.target | `aws_sqs_queue.orders` has a resource of the type `aws_sns_topic` as its dead-letter queue, but SQS accepts only a queue
            ",
        );
    }

    #[test]
    fn cloudformation_target_is_flagged() {
        let others = "  Topic:
    Type: AWS::SNS::Topic
  Custom:
    Type: Custom::Queue";
        queue().template(others).check(
            &RULE,
            "
            queue.target         | finding
            = !Ref Topic         | queue.target
            = !GetAtt Custom.Arn |
            ",
        );
    }
}
