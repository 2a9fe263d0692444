//! Flags queues that are encrypted with the AWS managed key and receive messages from a service, which the key's policy
//! does not allow to use it.

use super::prelude::*;
use crate::graph::AWS_KEY;
use crate::rules::shared::senders::Delivery;

pub(super) static RULE: Rule = Rule {
    id: "queue-key-blocks-service",
    category: Category::Permissions,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "the queue is encrypted with `alias/aws/sqs`, which the service that sends to it may not use",
    page: include_str!("../../rules/queue-key-blocks-service.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let mut all = findings.deliveries(graph);
    all.extend(findings.failed_deliveries(graph));
    for delivery in all {
        let queue = delivery.queue;
        for key in findings.known(&delivery.when, queue, &queue.key) {
            let is_own = key.value.as_ref().is_none_or(|key| !key.is_key_of_aws());
            let is_open = fact(is_own, || format!("`{AWS_KEY}` does not encrypt the queue")).depending_on(&key);
            findings.require(&key.when, queue, is_open.depending_on(&delivery.span), || {
                blocks(&delivery, &key)
            });
        }
    }
}

fn blocks(delivery: &Delivery<'_>, key: &Known<'_, Option<Link>>) -> Finding {
    let service = delivery.service_shown();
    let headline = format!(
        "{} cannot send to {}: the key `{AWS_KEY}` does not let it",
        delivery.resource.shown(),
        delivery.queue.resource.shown()
    );
    let label = format!(
        "nobody can change the policy of AWS's own key, and it does not allow {service}{}",
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
