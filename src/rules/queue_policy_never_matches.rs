//! Flags queue policies whose statements for a sender all have a condition that never holds.

use super::prelude::*;
use crate::graph::permits::{Mismatch, MismatchKind};
use crate::rules::shared::senders::Delivery;

pub(super) static RULE: Rule = rule!(
    "queue-policy-never-matches",
    Category::Permissions,
    Severity::Error,
    "a queue policy allows a topic, rule or bucket to send under a condition that never holds"
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    let deliveries = findings.deliveries();
    for delivery in deliveries.into_iter().chain(findings.failed_deliveries()) {
        let permits = policies.send(delivery.queue, delivery.service, delivery.source);
        let holds = fact(true, || "a statement may match the sender".to_owned());
        let permitted = delivery.when.and(&permits.when);
        findings.satisfied(&permitted, delivery.resource, holds.depending_on(&delivery.span));
        let when = findings.without_permission(&delivery.when, delivery.resource, &permits);
        if let Some(mismatch) = permits.mismatches.first() {
            findings.report(&when, delivery.resource, never(&delivery, mismatch));
        }
    }
}

fn never(delivery: &Delivery<'_>, mismatch: &Mismatch) -> Finding {
    let (queue, source) = (delivery.queue.resource.shown(), delivery.kind_of_source());
    let headline = format!(
        "the policy of {queue} allows {} to send under a condition on `aws:SourceArn` that never holds for {delivery}",
        delivery.service_shown()
    );
    let operator = &mismatch.operator;
    let (label, help) = match mismatch.kind {
        MismatchKind::Queue => (
            format!("this is a queue, and `aws:SourceArn` is the {source} that sends"),
            source_of(delivery),
        ),
        MismatchKind::OtherService => (
            format!("this is no {source}, and `aws:SourceArn` is the {source} that sends"),
            source_of(delivery),
        ),
        MismatchKind::LiteralWildcard => (
            format!("`{operator}` compares `*` and `?` literally"),
            format!("write `ArnLike` instead of `{operator}`"),
        ),
        MismatchKind::BusMissing => (
            "the ARN of a rule on a custom event bus is `…:rule/<bus>/<rule>`".to_owned(),
            source_of(delivery),
        ),
    };
    let refused = format!("the queue refuses the messages of this {source}, and they are lost");
    Finding::new("target", headline, mismatch.span, label)
        .label(delivery.span, refused)
        .help(help)
}

fn source_of(delivery: &Delivery<'_>) -> String {
    let reference = delivery
        .source
        .map(|source| format!(", `{}`", source.source_arn_reference()));
    format!(
        "compare with the ARN of the {}{}",
        delivery.kind_of_source(),
        reference.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};

    #[test]
    fn condition_on_another_kind_of_source_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sns_topic" "t" {}
resource "aws_s3_bucket" "b" {}
resource "aws_cloudwatch_event_rule" "r" {}
resource "aws_sqs_queue" "q" { name = "orders" }
resource "aws_sns_topic_subscription" "s" {
  topic_arn = aws_sns_topic.t.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.q.arn
}
resource "aws_sqs_queue_policy" "p" {
  queue_url = aws_sqs_queue.q.url
  policy = jsonencode({ Version = "2012-10-17", Statement = [
    { Effect = "Allow", Principal = "*", Action = "sqs:SendMessage", Resource = aws_sqs_queue.q.arn, Condition = { <operator> = { "aws:SourceArn" = <source> } } },
    { Effect = "<other>", Principal = { Service = "sns.amazonaws.com" }, Action = "sqs:SendMessage", Resource = "*" },
  ] })
}
"#,
            r#"
            operator      | source                                              | other | finding | help
            ArnEquals     | aws_sqs_queue.q.arn                                 | Deny  | 1       | compare with the ARN of the topic, `aws_sns_topic.t.arn`
            ArnEquals     | aws_sqs_queue.q.arn                                 | Allow |         |
            ArnEquals     | "arn:aws:sqs:eu-west-1:111122223333:orders"         | Deny  | 1       |
            ArnEquals     | "arn:aws:sqs:eu-west-1:111122223333:other"          | Deny  | 1       |
            ArnLike       | aws_s3_bucket.b.arn                                 | Deny  | 1       |
            ArnLike       | aws_cloudwatch_event_rule.r.arn                     | Deny  | 1       |
            ArnLike       | [aws_s3_bucket.b.arn, var.open]                     | Deny  |         |
            ArnLike       | "arn:aws:lambda:eu-west-1:111122223333:function:f"  | Deny  | 1       |
            ArnLike       | "arn:aws:*:eu-west-1:111122223333:t"                | Deny  |         |
            ArnLike       | "arn:aws:sns:*:*:*"                                 | Deny  |         |
            StringLike    | "arn:aws:sns:*:*:*"                                 | Deny  |         |
            StringEquals  | "arn:aws:sns:*:*:*"                                 | Deny  | 1       | write `ArnLike` instead of `StringEquals`
            StringEquals  | "arn:aws:sns:*:*:${var.open}"                       | Deny  | 1       |
            StringEquals  | ["arn:aws:sns:*:*:*", aws_sns_topic.t.arn]          | Deny  |         |
            StringEquals  | aws_sns_topic.t.arn                                 | Deny  |         |
            ArnNotEquals  | aws_sqs_queue.q.arn                                 | Deny  |         |
            ArnEquals     | var.open                                            | Deny  |         |
            "#,
        );
    }

    #[test]
    fn rule_on_a_custom_bus_has_its_name_in_the_arn() {
        for dialect in [CloudFormation, Sam] {
            dialect.check_cases(
                &RULE,
                "
Parameters:
  Open: {Type: String}
Resources:
  Bus: {Type: AWS::Events::EventBus, Properties: {Name: shop}}
  Q: {Type: AWS::SQS::Queue}
  Rule:
    Type: AWS::Events::Rule
    Properties:
      Name: paid
      EventBusName: <bus>
      EventPattern: {source: [shop]}
      Targets: [{Id: q, Arn: !GetAtt Q.Arn}]
  P:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Q]
      PolicyDocument:
        Version: '2012-10-17'
        Statement:
          - {Effect: Allow, Principal: {Service: events.amazonaws.com}, Action: sqs:SendMessage, Resource: !GetAtt Q.Arn, Condition: {ArnEquals: {aws:SourceArn: <source>}}}
",
                "
                bus         | source                                                                        | finding
                shop        | !Sub 'arn:aws:events:${AWS::Region}:${AWS::AccountId}:rule/paid'              | 1
                !Ref Bus    | !Sub 'arn:aws:events:${AWS::Region}:${AWS::AccountId}:rule/paid'              | 1
                shop        | !Sub 'arn:aws:events:${AWS::Region}:${AWS::AccountId}:rule/shop/paid'         |
                shop        | !Sub 'arn:aws:events:${AWS::Region}:${AWS::AccountId}:rule/*'                 |
                shop        | !GetAtt Rule.Arn                                                              |
                default     | !Sub 'arn:aws:events:${AWS::Region}:${AWS::AccountId}:rule/paid'              |
                !Ref Open   | !Sub 'arn:aws:events:${AWS::Region}:${AWS::AccountId}:rule/paid'              |
                shop        | !GetAtt Q.Arn                                                                 | 1
                ",
            );
        }
    }

    #[test]
    fn dead_letter_queues_of_subscriptions_are_checked() {
        Terraform.check(
            &RULE,
            r#"
resource "aws_sns_topic" "t" {}
resource "aws_sqs_queue" "d" {}
resource "aws_sns_topic_subscription" "s" {
  topic_arn      = aws_sns_topic.t.arn
  protocol       = "lambda"
  endpoint       = "arn:aws:lambda:eu-west-1:111122223333:function:f"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn })
}
resource "aws_sqs_queue_policy" "p" {
  queue_url = aws_sqs_queue.d.url
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = "*", Action = "sqs:SendMessage", Resource = "*",
    Condition = { ArnEquals = { "aws:SourceArn" = aws_sqs_queue.d.arn } } # expect: queue-policy-never-matches
  }] })
}
"#,
        );
    }
}
