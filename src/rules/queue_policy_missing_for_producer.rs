//! Flags topics, rules and buckets that send to a queue whose policy does not allow it.

use super::prelude::*;
use crate::rules::shared::senders::Delivery;

pub(super) static RULE: Rule = rule!(
    "queue-policy-missing-for-producer",
    Category::Permissions,
    Severity::Error,
    "no policy of the queue lets the topic, rule or bucket send to it, so messages are refused and lost"
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    for delivery in findings.deliveries() {
        let permits = policies.send(delivery.queue, delivery.service, delivery.source);
        let allowed = fact(true, || {
            format!("a policy of the queue allows `{}` to send", delivery.service)
        });
        let permitted = delivery.when.and(&permits.when);
        findings.satisfied(&permitted, delivery.resource, allowed.depending_on(&delivery.span));
        let when = findings.without_permission(&delivery.when, delivery.resource, &permits);
        // `queue-policy-never-matches` reports a statement whose condition never holds.
        if permits.mismatches.is_empty() {
            let refused = refused(&delivery, permits.evaluated.first().copied());
            findings.report(&when, delivery.resource, refused);
        }
    }
}

fn refused(delivery: &Delivery<'_>, policy: Option<source::Span>) -> Finding {
    let (queue, service) = (delivery.queue.resource.shown(), delivery.service);
    let headline = format!("{delivery} sends to {queue}, and no policy of the queue allows `{service}` to do so");
    let label = match delivery.service_shown() {
        "S3" => "S3 rejects this: \"Unable to validate the following destination configurations\"".to_owned(),
        service => format!("the queue rejects messages from {service}"),
    };
    let finding = Finding::new("target", headline, delivery.span, label);
    let finding = match policy {
        Some(policy) => {
            // It may allow the service to send messages of another source.
            let of = delivery
                .source
                .map(|source| format!(" to send messages of {}", source.shown()));
            let words = format!("this policy does not allow `{service}`{}", of.unwrap_or_default());
            finding.label(policy, words)
        }
        None => finding.label(delivery.queue.resource.header, format!("{queue} has no policy")),
    };
    finding.help(format!(
        "allow `{service}` the action `sqs:SendMessage` in the queue's policy, with the {}'s ARN as `aws:SourceArn`",
        delivery.kind_of_source()
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    const SUBSCRIPTION: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_sqs_queue" "other" {
  name = "other"
}
resource "aws_sns_topic" "t" {}
resource "aws_sns_topic_subscription" "s" {
  topic_arn = aws_sns_topic.t.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.q.arn
}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["sqs:SendMessage"]
    resources = [aws_sqs_queue.q.arn]
    principals {
      type        = "Service"
      identifiers = ["sns.amazonaws.com"]
    }
  }
}
"#;

    #[test]
    fn topic_without_allow_statement_is_flagged() {
        let policy = r#"
resource "aws_sqs_queue_policy" "p" {
  queue_url = aws_sqs_queue.q.url
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "<effect>", Principal = <principal>, <action>, Resource = <resource> }] })
}
"#;
        Terraform.check_cases(
            &RULE,
            &format!("{SUBSCRIPTION}{policy}"),
            r#"
            effect | principal                                  | action                        | resource                | finding
            Allow  | { Service = "sns.amazonaws.com" }          | Action = "sqs:SendMessage"    | aws_sqs_queue.q.arn     |
            Allow  | { Service = "sns.amazonaws.com" }          | Action = ["SQS:*"]            | aws_sqs_queue.q.arn     |
            Allow  | { Service = "sns.amazonaws.com" }          | Action = "sqs:SendMessage"    | "*"                     |
            Allow  | "*"                                        | Action = "sqs:SendMessage"    | aws_sqs_queue.q.arn     |
            Allow  | { AWS = "*" }                              | Action = "sqs:SendMessage"    | aws_sqs_queue.q.arn     |
            Allow  | { Service = var.open }                     | Action = "sqs:SendMessage"    | aws_sqs_queue.q.arn     |
            Allow  | { Service = "sns.amazonaws.com" }          | Action = var.open             | aws_sqs_queue.q.arn     |
            Allow  | { Service = "sns.amazonaws.com" }          | NotAction = "sqs:DeleteQueue" | aws_sqs_queue.q.arn     |
            Deny   | { Service = "sns.amazonaws.com" }          | Action = "sqs:SendMessage"    | aws_sqs_queue.q.arn     | 1
            Allow  | { Service = "sns.amazonaws.com" }          | Action = "sqs:ReceiveMessage" | aws_sqs_queue.q.arn     | 1
            Allow  | { Service = "sns.amazonaws.com" }          | NotAction = "sqs:*"           | aws_sqs_queue.q.arn     | 1
            Allow  | { Service = "sns.amazonaws.com" }          | Action = "sqs:SendMessage"    | aws_sqs_queue.other.arn | 1
            Allow  | { Service = "events.amazonaws.com" }       | Action = "sqs:SendMessage"    | aws_sqs_queue.q.arn     | 1
            Allow  | { AWS = "arn:aws:iam::111122223333:root" } | Action = "sqs:SendMessage"    | aws_sqs_queue.q.arn     | 1
            "#,
        );
    }

    #[test]
    fn policy_for_another_topic_is_flagged() {
        let policy = r#"
resource "aws_sns_topic" "other" {}
resource "aws_sqs_queue_policy" "p" {
  queue_url = aws_sqs_queue.q.url
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = "sns.amazonaws.com" }, Action = "sqs:SendMessage", Resource = "*", Condition = { <operator> = { "aws:SourceArn" = <source> } } }] })
}
"#;
        Terraform.check_cases(
            &RULE,
            &format!("{SUBSCRIPTION}{policy}"),
            r#"
            operator     | source                                           | finding
            ArnEquals    | aws_sns_topic.t.arn                              |
            ArnEquals    | aws_sns_topic.other.arn                          | 1
            StringLike   | [aws_sns_topic.other.arn]                        | 1
            ArnLike      | [aws_sns_topic.other.arn, aws_sns_topic.t.arn]   |
            ArnLike      | [aws_sns_topic.other.arn, var.open]              |
            ArnLike      | "arn:aws:sns:*:*:other"                          |
            ArnNotEquals | aws_sns_topic.other.arn                          |
            "#,
        );
    }

    #[test]
    fn policy_for_another_rule_or_bucket_is_flagged() {
        let text = r#"
resource "aws_cloudwatch_event_rule" "r" {}
resource "aws_cloudwatch_event_rule" "other" {}
resource "aws_s3_bucket" "b" {}
resource "aws_s3_bucket" "other" {}
resource "aws_sqs_queue" "q" {
  policy = jsonencode({ Version = "2012-10-17", Statement = [
    { Effect = "Allow", Principal = { Service = "events.amazonaws.com" }, Action = "sqs:SendMessage", Resource = "*", Condition = { ArnLike = { "aws:SourceArn" = <rule> } } },
    { Effect = "Allow", Principal = { Service = "s3.amazonaws.com" }, Action = "sqs:SendMessage", Resource = "*", Condition = { ArnLike = { "aws:SourceArn" = <bucket> } } },
  ] })
}
resource "aws_cloudwatch_event_target" "t" {
  rule = <target's rule>
  arn  = aws_sqs_queue.q.arn
}
resource "aws_s3_bucket_notification" "n" {
  bucket = aws_s3_bucket.b.id
  queue {
    queue_arn = aws_sqs_queue.q.arn
    events    = []
  }
}
"#;
        Terraform.check_cases(
            &RULE,
            text,
            r#"
            rule                                | bucket                    | target's rule                    | finding
            aws_cloudwatch_event_rule.r.arn     | aws_s3_bucket.b.arn       | aws_cloudwatch_event_rule.r.name |
            aws_cloudwatch_event_rule.other.arn | aws_s3_bucket.b.arn       | aws_cloudwatch_event_rule.r.name | 1
            aws_cloudwatch_event_rule.other.arn | aws_s3_bucket.b.arn       | "r"                              |
            aws_cloudwatch_event_rule.r.arn     | aws_s3_bucket.other.arn   | aws_cloudwatch_event_rule.r.name | 1
            aws_cloudwatch_event_rule.r.arn     | "arn:aws:s3:::other"      | aws_cloudwatch_event_rule.r.name |
            "#,
        );
    }

    #[test]
    fn separate_policy_resource_is_read() {
        Terraform.check_cases(
            &RULE,
            &format!("{SUBSCRIPTION}<more>\n"),
            r#"
            more                                                                                                                         | finding
                                                                                                                                         | 1
            resource "aws_sqs_queue_policy" "p" {\n queue_url = aws_sqs_queue.q.id\n policy = data.aws_iam_policy_document.d.json\n}     |
            resource "aws_sqs_queue_policy" "p" {\n queue_url = var.open\n policy = data.aws_iam_policy_document.d.json\n}               |
            resource "aws_sqs_queue_policy" "p" {\n queue_url = aws_sqs_queue.q.id\n policy = var.open\n}                                |
            resource "aws_sqs_queue_policy" "p" {\n queue_url = aws_sqs_queue.other.id\n policy = data.aws_iam_policy_document.d.json\n} | 1
            module "m" {\n source = "acme/policy/aws"\n queue = aws_sqs_queue.q.url\n}                                                   |
            "#,
        );
    }

    #[test]
    fn targets_with_a_role_need_no_statement() {
        CloudFormation.check(
            &RULE,
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
  Schedule:
    Type: AWS::Scheduler::Schedule
    Properties:
      Target: {Arn: !GetAtt Q.Arn, RoleArn: arn:aws:iam::111122223333:role/r}
",
        );
    }
}
