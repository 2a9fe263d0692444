//! Flags redrive policies of subscriptions that SNS rejects, or whose dead-letter queue it cannot use.

use super::prelude::*;
use crate::graph::delivery::{Subscription, SubscriptionRedrivePolicy};
use crate::graph::{PolicyError, PolicyErrorKind};
use crate::rules::shared::places::{LocationKind, different_locations};
use crate::rules::shared::queue_types::{TypedQueue, kind};

pub(super) static RULE: Rule = rule!(
    "sns-redrive-policy-invalid",
    Category::Permissions,
    Severity::Error,
    "the redrive policy of a subscription is not one that SNS takes, or leads to a queue that it cannot use"
);

fn check(findings: &mut Findings<'_>) {
    for subscription in &findings.graph.deliveries().subscriptions {
        let resource = &subscription.resource;
        for redrive in findings.known(&resource.when, resource, &subscription.redrive) {
            let Some(policy) = redrive.value else { continue };
            if let Some(fault) = policy.faults.first() {
                findings.report(&redrive.when, resource, malformed(subscription, fault));
                continue;
            }
            judge_place(findings, subscription, policy, &redrive.when);
            judge_type(findings, subscription, policy, &redrive.when);
        }
    }
}

fn malformed(subscription: &Subscription, fault: &PolicyError) -> Finding {
    let (headline, label) = match &fault.kind {
        PolicyErrorKind::UnknownKey(key) => (
            format!("the redrive policy of {subscription} has the key `{key}`, which SNS rejects"),
            "SNS does not know this key".to_owned(),
        ),
        PolicyErrorKind::TargetMissing => (
            format!("the redrive policy of {subscription} names no queue"),
            "`deadLetterTargetArn` is missing".to_owned(),
        ),
        _ => (
            format!("the redrive policy of {subscription} is not a JSON object"),
            "SNS expects an object with `deadLetterTargetArn`".to_owned(),
        ),
    };
    Finding::new("redrive", headline, fault.span, label)
        .help("write `{\"deadLetterTargetArn\": …}` and nothing else: the number of attempts cannot be set here")
}

/// Requires the dead-letter queue to be in the Region of the topic and in the account of the subscription.
fn judge_place(
    findings: &mut Findings<'_>,
    subscription: &Subscription,
    policy: &SubscriptionRedrivePolicy,
    when: &Condition,
) {
    let graph = findings.graph;
    let resource = &subscription.resource;
    for target in findings.known(when, resource, &policy.target) {
        let queue = graph.queue(resource.unit, target.value).map(|queue| &queue.resource);
        let there = LocationKind::Region.at(target.value, queue);
        for topic in findings.without_notes(|this| this.known(&target.when, resource, &subscription.topic)) {
            let declared = graph.topic(resource.unit, topic.value).map(|topic| &topic.resource);
            let here = LocationKind::Region.at(topic.value, declared);
            if let Some((here, there)) = here.zip(there) {
                let is_same = fact(here == there, || format!("topic and queue are in {here}")).depending_on(&target);
                findings.require(&topic.when, resource, is_same.depending_on(&topic), || {
                    different_locations(resource, &target, LocationKind::Region, (here, there))
                });
            }
        }
        let there = LocationKind::Account.at(target.value, queue);
        if let Some((here, there)) = LocationKind::Account.of(resource).zip(there) {
            let is_same = fact(here == there, || format!("both are in account {here}")).depending_on(&target);
            findings.require(&target.when, resource, is_same, || {
                different_locations(resource, &target, LocationKind::Account, (here, there))
            });
        }
    }
}

/// Requires the dead-letter queue to have the topic's type. AWS does not document the required type if a standard queue
/// is subscribed to a FIFO topic.
fn judge_type(
    findings: &mut Findings<'_>,
    subscription: &Subscription,
    policy: &SubscriptionRedrivePolicy,
    when: &Condition,
) {
    let resource = &subscription.resource;
    let queues = findings.without_notes(|this| this.typed_queues_of(when, resource, &policy.target));
    for queue in queues {
        for topic in findings.without_notes(|this| this.known(&queue.when, resource, &subscription.topic)) {
            for (when, fifo) in findings.topic_types(resource, &topic) {
                let endpoints =
                    findings.without_notes(|this| this.typed_queues_of(&when, resource, &subscription.endpoint));
                let is_settled = !fifo || (!endpoints.is_empty() && endpoints.iter().all(|endpoint| endpoint.fifo));
                let is_same = fact(queue.fifo == fifo || !is_settled, || queue.words()).depending_on(&queue);
                findings.require(&when, resource, is_same.depending_on(&topic), || {
                    of_another_type(subscription, &queue, fifo)
                });
            }
        }
    }
}

fn of_another_type(subscription: &Subscription, queue: &TypedQueue<'_>, fifo: bool) -> Finding {
    let topic = if fifo { "a FIFO topic" } else { "a standard topic" };
    let headline = format!(
        "{}, and {subscription} subscribes to {topic}, whose failures need {}",
        queue.words(),
        kind(fifo)
    );
    let finding = Finding::new("redrive", headline, queue.link, format!("{} here", kind(queue.fifo)))
        .help(format!("use {} as dead-letter queue", kind(fifo)));
    if queue.queue.is_some() {
        finding.show(queue)
    } else {
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    const SUBSCRIPTION: &str = r#"
variable "open" {}
provider "aws" {
  region              = "eu-west-1"
  allowed_account_ids = ["111122223333"]
}
resource "aws_sns_topic" "t" {
  fifo_topic = <topic>
}
resource "aws_sqs_queue" "d" {
  <queue>
}
resource "aws_sqs_queue" "q" {
  fifo_queue = <endpoint>
}
resource "aws_sns_topic_subscription" "s" {
  topic_arn      = aws_sns_topic.t.arn
  protocol       = "sqs"
  endpoint       = aws_sqs_queue.q.arn
  redrive_policy = <policy>
}
"#;

    #[test]
    fn malformed_policy_is_flagged() {
        let standard = SUBSCRIPTION.replace("<topic>", "false").replace("<endpoint>", "false");
        Terraform.check_cases(
            &RULE,
            &standard,
            r#"
            policy                                                                             | queue                | finding
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn })                          |                      |
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })     |                      | 1
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = null })  |                      |
            jsonencode({ maxReceiveCount = 5 })                                                |                      | 1
            jsonencode({ deadLetterTarget = aws_sqs_queue.d.arn })                             |                      | 1
            jsonencode([aws_sqs_queue.d.arn])                                                  |                      | 1
            "{}"                                                                               |                      |
            null                                                                               |                      |
            var.open                                                                           |                      |
            jsonencode({ deadLetterTargetArn = var.open })                                     |                      |
            // A queue in another Region or account.
            jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:111122223333:failed" })  |                      |
            jsonencode({ deadLetterTargetArn = "arn:aws:sqs:us-east-1:111122223333:failed" })  |                      | 1
            jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:444455556666:failed" })  |                      | 1
            jsonencode({ deadLetterTargetArn = "arn:aws:sqs:${var.open}:${var.open}:failed" }) |                      |
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn })                          | region = "us-east-1" | 1
            jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn })                          | region = var.open    |
            "#,
        );
    }

    #[test]
    fn queue_of_other_type_than_topic_is_flagged() {
        let valid = SUBSCRIPTION.replace("<policy>", "jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn })");
        Terraform.check_cases(
            &RULE,
            &valid,
            "
            topic    | queue                 | endpoint | finding
            false    | fifo_queue = true     | false    | 1
            true     | fifo_queue = true     | true     |
            true     |                       | true     | 1
            true     |                       | false    |
            var.open | fifo_queue = true     | false    |
            false    | fifo_queue = var.open | false    |
            ",
        );
    }

    #[test]
    fn subscription_in_template_is_checked() {
        CloudFormation.check(
            &RULE,
            r"
Parameters:
  Open: {Type: String}
Conditions:
  Some: !Equals [!Ref Open, x]
Resources:
  D: {Type: AWS::SQS::Queue}
  T:
    Type: AWS::SNS::Subscription
    Properties:
      TopicArn: !Ref Open
      RedrivePolicy:
        deadLetterTargetArn: !GetAtt D.Arn
        maxReceiveCount: !If [Some, 5, !Ref AWS::NoValue]
  U:
    Type: AWS::SNS::Subscription
    Properties:
      TopicArn: arn:aws:sns:eu-west-1:111122223333:t
      RedrivePolicy: {deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:111122223333:d.fifo'} # expect: sns-redrive-policy-invalid
",
        );
    }
}
