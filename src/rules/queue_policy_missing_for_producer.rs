//! Flags topics, rules and buckets that send to a queue whose policy does not allow it.

use super::prelude::*;
use crate::rules::shared::senders::Delivery;

pub(super) static RULE: Rule = Rule {
    id: "queue-policy-missing-for-producer",
    category: Category::Permissions,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "no policy of the queue lets the topic, rule or bucket send to it, so messages are refused and lost",
    page: include_str!("../../rules/queue-policy-missing-for-producer.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let policies = graph.policies();
    for delivery in findings.deliveries(graph) {
        let permits = policies.send(delivery.queue, delivery.service);
        let allowed = fact(true, || {
            format!("a policy of the queue allows `{}` to send", delivery.service)
        });
        let permitted = delivery.when.and(&permits.when);
        findings.satisfied(&permitted, delivery.resource, allowed.depending_on(&delivery.span));
        let when = findings.without_permission(&delivery.when, delivery.resource, &permits);
        findings.report(
            &when,
            delivery.resource,
            refused(&delivery, permits.evaluated.first().copied()),
        );
    }
}

fn refused(delivery: &Delivery<'_>, policy: Option<source::Span>) -> Finding {
    let (queue, service) = (delivery.queue.resource.shown(), delivery.service);
    let headline = format!(
        "{} sends to {queue}, and no policy of the queue allows `{service}` to do so",
        delivery.resource.shown()
    );
    let label = format!("the queue refuses what {} sends here", delivery.service_shown());
    let finding = Finding::new("target", headline, delivery.span, label);
    let finding = match policy {
        Some(policy) => finding.label(policy, format!("this policy does not allow `{service}`")),
        None => finding.label(delivery.queue.resource.header, format!("{queue} has no policy")),
    };
    finding.help(format!(
        "allow `{service}` the action `sqs:SendMessage` in the queue's policy, with the {}'s ARN as `aws:SourceArn`",
        delivery.source()
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::{check, findings};

    fn count(policy: &str) -> usize {
        let text = format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  name = "orders"
}}
resource "aws_sqs_queue" "other" {{
  name = "other"
}}
resource "aws_sns_topic" "t" {{}}
resource "aws_sns_topic_subscription" "s" {{
  topic_arn = aws_sns_topic.t.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.q.arn
}}
{policy}
"#
        );
        findings(&RULE, Terraform, &text).len()
    }

    fn statement(statement: &str) -> usize {
        count(&format!(
            "resource \"aws_sqs_queue_policy\" \"p\" {{\n  queue_url = aws_sqs_queue.q.url\n  policy = jsonencode({{ \
             Version = \"2012-10-17\", Statement = [{{ {statement} }}] }})\n}}\n"
        ))
    }

    #[test]
    fn topic_without_allow_statement_is_flagged() {
        assert_eq!(count(""), 1);
        let sns = "Principal = { Service = \"sns.amazonaws.com\" }";
        let send = "Action = \"sqs:SendMessage\"";
        let queue = "Resource = aws_sqs_queue.q.arn";
        assert_eq!(statement(&format!("Effect = \"Allow\", {sns}, {send}, {queue}")), 0);
        assert_eq!(
            statement(&format!("Effect = \"Allow\", {sns}, Action = [\"SQS:*\"], {queue}")),
            0
        );
        assert_eq!(
            statement(&format!("Effect = \"Allow\", {sns}, {send}, Resource = \"*\"")),
            0
        );
        assert_eq!(
            statement(&format!("Effect = \"Allow\", Principal = \"*\", {send}, {queue}")),
            0
        );
        assert_eq!(
            statement(&format!(
                "Effect = \"Allow\", Principal = {{ AWS = \"*\" }}, {send}, {queue}"
            )),
            0
        );
        assert_eq!(
            statement(&format!(
                "Effect = \"Allow\", Principal = {{ Service = var.open }}, {send}, {queue}"
            )),
            0
        );
        assert_eq!(
            statement(&format!("Effect = \"Allow\", {sns}, Action = var.open, {queue}")),
            0
        );
        assert_eq!(
            statement(&format!(
                "Effect = \"Allow\", {sns}, NotAction = \"sqs:DeleteQueue\", {queue}"
            )),
            0
        );
        assert_eq!(statement(&format!("Effect = \"Deny\", {sns}, {send}, {queue}")), 1);
        assert_eq!(
            statement(&format!(
                "Effect = \"Allow\", {sns}, Action = \"sqs:ReceiveMessage\", {queue}"
            )),
            1
        );
        assert_eq!(
            statement(&format!("Effect = \"Allow\", {sns}, NotAction = \"sqs:*\", {queue}")),
            1
        );
        assert_eq!(
            statement(&format!(
                "Effect = \"Allow\", {sns}, {send}, Resource = aws_sqs_queue.other.arn"
            )),
            1
        );
        let events = "Principal = { Service = \"events.amazonaws.com\" }";
        assert_eq!(statement(&format!("Effect = \"Allow\", {events}, {send}, {queue}")), 1);
        let account = "Principal = { AWS = \"arn:aws:iam::111122223333:root\" }";
        assert_eq!(statement(&format!("Effect = \"Allow\", {account}, {send}, {queue}")), 1);
    }

    #[test]
    fn separate_policy_resource_is_read() {
        let document = "data \"aws_iam_policy_document\" \"d\" {\n  statement {\n    actions = [\"sqs:SendMessage\"]\n    \
                        resources = [aws_sqs_queue.q.arn]\n    principals {\n      type = \"Service\"\n      \
                        identifiers = [\"sns.amazonaws.com\"]\n    }\n  }\n}\n";
        let policy = |url: &str, policy: &str| {
            count(&format!(
                "{document}resource \"aws_sqs_queue_policy\" \"p\" {{\n  queue_url = {url}\n  policy = {policy}\n}}\n"
            ))
        };
        assert_eq!(policy("aws_sqs_queue.q.id", "data.aws_iam_policy_document.d.json"), 0);
        assert_eq!(policy("var.open", "data.aws_iam_policy_document.d.json"), 0);
        assert_eq!(policy("aws_sqs_queue.q.id", "var.open"), 0);
        assert_eq!(
            policy("aws_sqs_queue.other.id", "data.aws_iam_policy_document.d.json"),
            1
        );
        assert_eq!(
            count("module \"m\" {\n  source = \"acme/policy/aws\"\n  queue = aws_sqs_queue.q.url\n}\n"),
            0
        );
    }

    #[test]
    fn rules_and_buckets_without_allow_statement_are_flagged() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q: {Type: AWS::SQS::Queue}
  Rule:
    Type: AWS::Events::Rule
    Properties:
      Targets:
        - Id: q
          Arn: !GetAtt Q.Arn # expect: queue-policy-missing-for-producer
        - Id: role
          Arn: !GetAtt Q.Arn
          RoleArn: arn:aws:iam::111122223333:role/r
  Bucket:
    Type: AWS::S3::Bucket
    Properties:
      NotificationConfiguration:
        QueueConfigurations:
          - Event: s3:ObjectCreated:*
            Queue: !GetAtt Q.Arn # expect: queue-policy-missing-for-producer
  Schedule:
    Type: AWS::Scheduler::Schedule
    Properties:
      Target: {Arn: !GetAtt Q.Arn, RoleArn: arn:aws:iam::111122223333:role/r}
",
        );
    }
}
