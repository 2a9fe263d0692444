//! Flags two queues whose policies refer to each other, so that neither can be created first.

use super::prelude::*;

pub(super) static RULE: Rule = rule!(
    "redrive-allow-policy-dependency-cycle",
    Category::Redrive,
    Severity::Error,
    "a queue and its dead-letter queue refer to each other, so neither can be created first"
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    for source in graph.queues() {
        let unit = source.resource.unit;
        for redrive in findings.redrives(&source.resource.when, source) {
            let Some(policy) = redrive.value else { continue };
            for target in &policy.depends_on {
                let named = Link::to(target.clone());
                let Some(dlq) = graph.queue(unit, &named).filter(|dlq| dlq.resource.unit == unit) else {
                    continue;
                };
                for allow in findings.known(&redrive.when.and(&dlq.resource.when), dlq, &dlq.redrive_allow) {
                    let depends_on = allow.value.iter().flat_map(|policy| &policy.depends_on);
                    let mut back = depends_on.filter_map(|target| graph.queue(unit, &Link::to(target.clone())));
                    let is_first = fact(!back.any(|back| std::ptr::eq(back, source)), || {
                        format!("does not refer to {source}, which refers to it")
                    });
                    findings.require(
                        &allow.when,
                        dlq,
                        is_first.depending_on(&allow).depending_on(&redrive),
                        || circle(source, dlq, redrive.span, &allow),
                    );
                }
            }
        }
    }
}

fn circle<T>(source: &Queue, dlq: &Queue, redrive: source::Span, allow: &Known<'_, T>) -> Finding {
    let (from, shown) = (source.resource.shown(), dlq.resource.shown());
    let headline = format!("{from} and {shown} refer to each other in their policies, so neither can be created first");
    // Terraform has a separate resource for the policy.
    let help = if dlq.resource.kind.contains("::") {
        "write the ARN of one of them with its name, as `!Sub arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:<name>`".to_owned()
    } else {
        format!(
            "set `{}` with an `aws_sqs_queue_redrive_allow_policy`, which is made after both queues",
            allow.name
        )
    };
    Finding::new("redrive_allow", headline, allow, format!("refers to {from}"))
        .label(redrive, format!("refers to {shown}"))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};

    #[test]
    fn references_in_both_directions_are_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
resource "aws_sqs_queue" "failed" {
  name                 = "failed"
  redrive_allow_policy = jsonencode({ redrivePermission = "byQueue", sourceQueueArns = [<source>] })
}
resource "aws_sqs_queue" "orders" {
  name           = "orders"
  redrive_policy = jsonencode({ deadLetterTargetArn = <target>, maxReceiveCount = 5 })
}
"#,
            r#"
            target                                      | source                                      | finding
            aws_sqs_queue.failed.arn                    | aws_sqs_queue.orders.arn                    | source
            aws_sqs_queue.failed.arn                    | "arn:aws:sqs:eu-west-1:111122223333:orders" |
            "arn:aws:sqs:eu-west-1:111122223333:failed" | aws_sqs_queue.orders.arn                    |
            "#,
        );
    }

    #[test]
    fn separate_policy_resource_is_accepted() {
        Terraform.check(
            &RULE,
            r#"
resource "aws_sqs_queue" "failed" {}
resource "aws_sqs_queue" "orders" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue_redrive_allow_policy" "failed" {
  queue_url            = aws_sqs_queue.failed.id
  redrive_allow_policy = jsonencode({ redrivePermission = "byQueue", sourceQueueArns = [aws_sqs_queue.orders.arn] })
}
"#,
        );
    }

    #[test]
    fn cloudformation_queues_are_flagged() {
        for dialect in [CloudFormation, Sam] {
            dialect.check_cases(
                &RULE,
                "
Resources:
  Failed:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: !Sub ${AWS::StackName}-failed
      RedriveAllowPolicy: <policy>
        redrivePermission: byQueue
        sourceQueueArns: [<source>]
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: !Sub ${AWS::StackName}-orders
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}
",
                "
                policy | source                                                                                     | finding
                       | !GetAtt Orders.Arn                                                                         | policy
                       | !Sub '${Orders.Arn}'                                                                       | policy
                       | !Sub 'arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${AWS::StackName}-orders' |
                       | arn:aws:sqs:eu-west-1:111122223333:orders                                                  |
                ",
            );
        }
    }
}
