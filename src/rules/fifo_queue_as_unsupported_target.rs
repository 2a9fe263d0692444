//! Flags FIFO queues in settings for which AWS accepts only standard queues.

use super::prelude::*;
use crate::graph::delivery::Sender;
use crate::graph::{Attribute, Resource};
use crate::rules::shared::queue_types::TypedQueue;

pub(super) static RULE: Rule = rule!(
    "fifo-queue-as-unsupported-target",
    Category::Fifo,
    Severity::Error,
    "a FIFO queue is used where AWS accepts only a standard queue"
);

/// Setting that does not accept a FIFO queue.
struct Place<'g> {
    resource: &'g Resource,
    attribute: &'static str,
    /// End of the headline, such as "but S3 notifies only standard queues".
    role: &'static str,
    help: &'static str,
}

fn check(findings: &mut Findings<'_>) {
    let deliveries = findings.graph.deliveries();
    for target in &deliveries.targets {
        let resource = &target.resource;
        let role = match target.sender {
            Sender::Bucket => "is notified by a bucket, but S3 notifies only standard queues",
            Sender::IotRule => "is the target of an IoT rule, but AWS IoT sends only to standard queues",
            Sender::LifecycleHook => "is notified by a lifecycle hook, but Auto Scaling notifies only standard queues",
            _ => "",
        };
        if target.sender.needs_standard_queue() {
            let place = Place {
                resource,
                attribute: "target",
                role,
                help: "notify a standard queue, or let EventBridge deliver to the FIFO queue",
            };
            judge(findings, &place, &resource.when, &target.target, Some);
        }
        // Event buses of the new generation accept FIFO dead-letter queues.
        if target.sender == Sender::Subscriber {
            continue;
        }
        let place = Place {
            resource,
            attribute: "dead_letter",
            role: "is the dead-letter queue of a target, but EventBridge accepts only standard queues there",
            help: "use a standard queue for events that could not be delivered",
        };
        judge(findings, &place, &resource.when, &target.dead_letter, Option::as_ref);
    }
    for subscription in &deliveries.subscriptions {
        let resource = &subscription.resource;
        let protocols = findings.known(&resource.when, resource, &subscription.protocol);
        // Endpoints of other protocols, such as email, are not queues, whether known or not.
        let to_queues = protocols.iter().filter(|protocol| *protocol.value == "sqs");
        let topics = to_queues
            .flat_map(|protocol| findings.known(&protocol.when, resource, &subscription.topic))
            .collect::<Vec<_>>();
        for topic in topics {
            let types = findings.topic_types(resource, &topic).into_iter();
            for (when, _) in types.filter(|(_, fifo)| !fifo) {
                let place = Place {
                    resource,
                    attribute: "endpoint",
                    role: "is subscribed to a standard topic, but SNS accepts only standard queues there",
                    help: "subscribe a standard queue, or use a FIFO topic",
                };
                judge(findings, &place, &when, &subscription.endpoint, Some);
            }
        }
    }
}

fn judge<'g, T>(
    findings: &mut Findings<'_>,
    place: &Place<'_>,
    when: &Condition,
    attribute: &'g Attribute<T>,
    link: impl Fn(&'g T) -> Option<&'g Link>,
) {
    for known in findings.known(when, place.resource, attribute) {
        let Some(link) = link(known.value) else { continue };
        for queue in findings.typed_queues_in(place.resource.unit, link, known.span, &known.when) {
            let is_standard = fact(!queue.fifo, || queue.words())
                .depending_on(&known)
                .depending_on(&queue);
            findings.require(&queue.when, place.resource, is_standard, || {
                refused(place, &known, &queue)
            });
        }
    }
}

fn refused<T>(place: &Place<'_>, known: &Known<'_, T>, queue: &TypedQueue<'_>) -> Finding {
    let headline = format!("the FIFO queue {} {} ({})", queue.shown, place.role, place.resource);
    let finding =
        Finding::new(place.attribute, headline, known, "a FIFO queue, which is rejected here").help(place.help);
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
    use crate::testing::run_files;

    const EXPECTED: &str = "# expect: fifo-queue-as-unsupported-target";

    fn terraform(fifo: &str, more: &str) -> String {
        format!("variable \"open\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{\n  fifo_queue = {fifo}\n}}\n{more}\n")
    }

    fn notification(note: &str) -> String {
        format!(
            "resource \"aws_s3_bucket_notification\" \"n\" {{\n bucket = \"b\"\n queue {{\n queue_arn = aws_sqs_queue.q.arn {note}\n events = [\"s3:ObjectCreated:*\"]\n }}\n}}"
        )
    }

    fn target(note: &str) -> String {
        format!(
            "resource \"aws_cloudwatch_event_target\" \"t\" {{\n rule = \"r\"\n arn = \"arn:aws:lambda:eu-west-1:111122223333:function:f\"\n dead_letter_config {{\n arn = aws_sqs_queue.q.arn {note}\n }}\n}}"
        )
    }

    fn subscription(topic: &str, note: &str) -> String {
        format!(
            "resource \"aws_sns_topic\" \"t\" {{\n fifo_topic = {topic}\n}}\nresource \"aws_sns_topic_subscription\" \"s\" {{\n topic_arn = aws_sns_topic.t.arn\n protocol = \"sqs\"\n endpoint = aws_sqs_queue.q.arn {note}\n}}"
        )
    }

    #[test]
    fn fifo_queues_of_buckets_targets_and_standard_topics_are_flagged() {
        Terraform.check(&RULE, &terraform("true", &notification(EXPECTED)));
        Terraform.check(&RULE, &terraform("true", &target(EXPECTED)));
        Terraform.check(&RULE, &terraform("true", &subscription("false", EXPECTED)));
        for fifo in ["false", "var.open"] {
            Terraform.check(&RULE, &terraform(fifo, &notification("")));
            Terraform.check(&RULE, &terraform(fifo, &target("")));
            // A FIFO topic accepts standard queues.
            Terraform.check(&RULE, &terraform(fifo, &subscription("true", "")));
        }
        Terraform.check(&RULE, &terraform("true", &subscription("true", "")));
        Terraform.check(&RULE, &terraform("true", &subscription("var.open", "")));
    }

    #[test]
    fn iot_rules_and_lifecycle_hooks_need_standard_queues() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {QueueName: <name>, FifoQueue: <fifo>}}
  I:
    Type: AWS::IoT::TopicRule
    Properties: {TopicRulePayload: {Sql: x, Actions: [{Sqs: {QueueUrl: !Ref Q, RoleArn: 'arn:aws:iam::111122223333:role/r'}}, {Lambda: {FunctionArn: x}}]}}
  H:
    Type: AWS::AutoScaling::LifecycleHook
    Properties: {NotificationTargetARN: !GetAtt Q.Arn, RoleARN: 'arn:aws:iam::111122223333:role/r'}
  S:
    Type: AWS::EventsV2::Subscriber
    Properties: {OnFailureConfiguration: {Arn: !GetAtt Q.Arn}, InvokeConfiguration: {TargetArn: 'arn:aws:lambda:eu-west-1:111122223333:function:f'}}
",
            "
            name   | fifo  | finding
            q.fifo | true  | 2
            q      | false |
            ",
        );
    }

    #[test]
    fn subscriptions_of_other_protocols_are_ignored() {
        for (protocol, open) in [("\"sqs\"", 1), ("\"email\"", 0), ("\"https\"", 0), ("var.open", 1)] {
            let subscription = format!(
                "resource \"aws_sns_topic\" \"t\" {{}}\nresource \"aws_sns_topic_subscription\" \"s\" {{\n topic_arn = aws_sns_topic.t.arn\n protocol = {protocol}\n endpoint = var.open\n}}"
            );
            let outcome = run_files(&RULE, &[("main.tf", &terraform("true", &subscription))]);
            assert_eq!(outcome.not_evaluated.len(), open, "{protocol}");
        }
    }

    #[test]
    fn dead_letter_queue_of_a_schedule_is_flagged() {
        let template = "
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true}
  S:
    Type: AWS::Scheduler::Schedule
    Properties:
      Target:
        Arn: arn:aws:lambda:eu-west-1:111122223333:function:f
        DeadLetterConfig:
          Arn: !GetAtt Q.Arn # expect: fifo-queue-as-unsupported-target
";
        CloudFormation.check(&RULE, template);
    }
}
