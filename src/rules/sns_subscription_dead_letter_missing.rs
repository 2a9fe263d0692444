//! Flags subscriptions of queues and functions without a dead-letter queue for undeliverable messages.

use super::prelude::*;
use crate::graph::delivery::Subscription;

pub(super) static RULE: Rule = rule!(
    "sns-subscription-dead-letter-missing",
    Category::Permissions,
    Severity::Info,
    "a subscription has no redrive policy, so messages that SNS cannot deliver are lost",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    for subscription in &findings.graph.deliveries().subscriptions {
        let resource = &subscription.resource;
        let protocols = findings.known(&resource.when, resource, &subscription.protocol);
        for protocol in protocols
            .iter()
            .filter(|it| matches!(it.value.as_str(), "sqs" | "lambda"))
        {
            for redrive in findings.known(&protocol.when, resource, &subscription.redrive) {
                let is_kept = is_set(&redrive).depending_on(protocol);
                findings.require(&redrive.when, resource, is_kept, || missing(subscription, redrive.name));
            }
        }
    }
}

fn missing(subscription: &Subscription, name: &str) -> Finding {
    let resource = &subscription.resource;
    let headline = format!("{resource} has no redrive policy: messages that SNS cannot deliver are lost");
    Finding::new("redrive", headline, resource.header, format!("`{name}` is not set"))
        .help("name a queue as `deadLetterTargetArn`, with a policy that lets `sns.amazonaws.com` send to it")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    #[test]
    fn subscription_without_redrive_policy_is_flagged() {
        for (arguments, expected) in [
            ("protocol = \"sqs\"", 1),
            ("protocol = \"lambda\"", 1),
            ("protocol = \"email\"", 0),
            ("protocol = var.open", 0),
            ("protocol = \"sqs\"\n  redrive_policy = null", 1),
            ("protocol = \"sqs\"\n  redrive_policy = var.open", 0),
            (
                "protocol = \"sqs\"\n  redrive_policy = jsonencode({ deadLetterTargetArn = \"d\" })",
                0,
            ),
        ] {
            let text = format!(
                "variable \"open\" {{}}\nresource \"aws_sns_topic_subscription\" \"s\" {{\n  topic_arn = \"t\"\n  endpoint = \
                 \"e\"\n  {arguments}\n}}\n"
            );
            assert_eq!(Terraform.findings(&RULE, &text).len(), expected, "{arguments}");
        }
    }
}
