//! Flags queues that receive messages from a service and are encrypted with a key whose policy does not allow the
//! service to use it: the AWS managed key, or a customer managed key.

use super::prelude::*;
use crate::graph::{self, AWS_KEY};
use crate::graph::{access, permits::Policies};
use crate::rules::shared::roles::{Edge, listed};
use crate::rules::shared::senders::Delivery;

pub(super) static RULE: Rule = rule!(
    "queue-key-blocks-service",
    Category::Permissions,
    Severity::Error,
    "the queue is encrypted with a key that the service which sends to it may not use"
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    let mut all = findings.deliveries();
    all.extend(findings.failed_deliveries());
    for delivery in all {
        let queue = delivery.queue;
        for key in findings.known(&delivery.when, queue, &queue.key) {
            let named = key.value.as_ref().filter(|link| !link.written().is_empty());
            let Some(link) = named.filter(|link| !link.is_key_of_aws()) else {
                let is_open = fact(named.is_none(), || format!("`{AWS_KEY}` does not encrypt the queue"));
                let is_open = is_open.depending_on(&key).depending_on(&delivery.span);
                findings.require(&key.when, queue, is_open, || blocks(&delivery, &key));
                continue;
            };
            if let Some(declared) = policies.key(queue.resource.unit, link) {
                judge(findings, &policies, &delivery, (&key, declared));
            } else {
                let reason = format!("the key `{}` is not declared here", link.written());
                let reason = graph::Cause::Elsewhere.because(reason);
                findings.note_unresolved(&key.when, queue, &reason, key.span);
            }
        }
    }
}

/// Requires that the policy of a customer managed key lets the service use the key.
fn judge<'g>(
    findings: &mut Findings<'_>,
    policies: &Policies<'g>,
    delivery: &Delivery<'g>,
    (key, declared): (&Known<'g, Option<Link>>, &'g access::Key),
) {
    let queue = delivery.queue;
    let (_, actions) = Edge::Send.needs();
    let mut permitted = key.when.clone();
    let mut missing: Vec<(Condition, Vec<&str>)> = Vec::new();
    for action in actions {
        let permits = policies.use_of_key(declared, delivery.service, action);
        permitted = permitted.and(&permits.when);
        let left = findings.without_permission(&key.when, &queue.resource, &permits);
        match missing.iter_mut().find(|(when, _)| *when == left) {
            Some((_, actions)) => actions.push(action),
            None => missing.push((left, vec![action])),
        }
    }
    let may_use = fact(true, || format!("{declared} lets the service use it"));
    findings.satisfied(
        &permitted,
        queue,
        may_use.depending_on(key).depending_on(&delivery.span),
    );
    for (when, actions) in missing {
        findings.report(&when, queue, locks_out(delivery, key, declared, &actions));
    }
}

fn locks_out(
    delivery: &Delivery<'_>,
    key: &Known<'_, Option<Link>>,
    declared: &access::Key,
    actions: &[&str],
) -> Finding {
    let (service, actions) = (delivery.service_shown(), listed(actions));
    let headline = format!(
        "{service} cannot send to {} for {delivery}: the policy of {declared} does not allow it {actions}",
        delivery.queue
    );
    let label = format!("encrypts the queue with {declared}");
    Finding::new("key", headline, key, label)
        .label(
            declared.resource.header,
            format!("its policy does not allow `{}` {actions}", delivery.service),
        )
        .label(delivery.span, format!("{service} sends to the queue"))
        .help(format!(
            "allow `{}` the actions {actions} in the key policy",
            delivery.service
        ))
}

fn blocks(delivery: &Delivery<'_>, key: &Known<'_, Option<Link>>) -> Finding {
    let service = delivery.service_shown();
    let headline = format!(
        "{delivery} cannot send to {}: the key `{AWS_KEY}` does not permit it",
        delivery.queue
    );
    let label = format!(
        "the policy of AWS's own key cannot be changed, and it does not allow {service}{}",
        key.provenance()
    );
    Finding::new("key", headline, key, label)
        .label(delivery.span, format!("{service} sends to the queue"))
        .help(format!(
            "use a customer managed key whose policy allows `{}` the actions `kms:GenerateDataKey` and `kms:Decrypt`, or \
             leave the encryption to SQS's own keys (SSE-SQS)",
            delivery.service
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::CloudFormation;
    use crate::testing::queue;

    #[test]
    fn service_on_queue_with_aws_managed_key_is_flagged() {
        let subscription = r#"
resource "aws_sns_topic_subscription" "s" {
  topic_arn = "t"
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.orders.arn
}"#;
        queue().terraform(subscription).check(
            &RULE,
            "
            queue.key                                        | queue.managed_encryption | finding
            alias/aws/sqs                                    |                          | 1
            arn:aws:kms:eu-west-1:111122223333:alias/aws/sqs |                          | 1
            alias/orders                                     |                          |
            open                                             |                          |
                                                             | true                     |
            ",
        );
        queue().check(&RULE, "queue.key | finding\n alias/aws/sqs |");
    }

    #[test]
    fn notification_that_cdk_sets_is_checked() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {<key>}}
  B: {Type: AWS::S3::Bucket}
  N:
    Type: Custom::S3BucketNotifications
    Properties:
      BucketName: !Ref B
      NotificationConfiguration: {QueueConfigurations: [{Events: ['s3:ObjectCreated:*'], QueueArn: !GetAtt <queue>.Arn}]}
  Other: {Type: AWS::SQS::Queue}
",
            "
            key                            | queue | finding
            KmsMasterKeyId: alias/aws/sqs  | Q     | 1
            KmsMasterKeyId: alias/aws/sqs  | Other |
            SqsManagedSseEnabled: true     | Q     |
            ",
        );
    }

    #[test]
    fn target_with_role_is_accepted() {
        for (role, finding) in [("null", "1"), ("\"arn:aws:iam::111122223333:role/r\"", "")] {
            let arguments = format!("rule = \"r\"\n  arn = aws_sqs_queue.orders.arn\n  role_arn = {role}");
            let target = format!("resource \"aws_cloudwatch_event_target\" \"t\" {{\n  {arguments}\n}}");
            queue()
                .terraform(&target)
                .check(&RULE, &format!("queue.key | finding\n alias/aws/sqs | {finding}"));
        }
    }
}
