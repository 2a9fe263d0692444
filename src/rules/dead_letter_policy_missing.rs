//! Flags dead-letter queues of subscriptions and rules whose queue policy does not allow SNS or EventBridge to send.

use super::prelude::*;
use crate::rules::shared::senders::Delivery;

pub(super) static RULE: Rule = rule!(
    "dead-letter-policy-missing",
    Category::Permissions,
    Severity::Error,
    "no policy of a dead-letter queue lets SNS or EventBridge send to it, so what fails is lost"
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    for delivery in findings.failed_deliveries() {
        let permits = policies.send(delivery.queue, delivery.service, delivery.source);
        let allowed = fact(true, || {
            format!(
                "a policy of the dead-letter queue allows `{}` to send",
                delivery.service
            )
        });
        let permitted = delivery.when.and(&permits.when);
        findings.satisfied(&permitted, delivery.resource, allowed.depending_on(&delivery.span));
        let when = findings.without_permission(&delivery.when, delivery.resource, &permits);
        // `queue-policy-never-matches` reports a statement whose condition never holds.
        if permits.mismatches.is_empty() {
            findings.report(&when, delivery.resource, lost(&delivery));
        }
    }
}

fn lost(delivery: &Delivery<'_>) -> Finding {
    let (queue, service) = (delivery.queue.resource.shown(), delivery.service);
    let headline = format!("the dead-letter queue {queue} of {delivery} rejects messages from `{service}`");
    let label = format!(
        "messages that {} cannot deliver are dropped instead of arriving here",
        delivery.service_shown()
    );
    Finding::new("dead_letter", headline, delivery.span, label)
        .label(delivery.queue.resource.header, format!("no policy of {queue} allows `{service}`"))
        .help(format!(
            "allow `{service}` the action `sqs:SendMessage` in the queue's policy, with the {}'s ARN as `aws:SourceArn`",
            delivery.kind_of_source()
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam};

    #[test]
    fn sns_and_eventbridge_need_a_policy() {
        CloudFormation.check(
            &RULE,
            r"
Resources:
  D: {Type: AWS::SQS::Queue}
  Allowed: {Type: AWS::SQS::Queue}
  Policy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Allowed]
      PolicyDocument:
        Statement:
          - Effect: Allow
            Principal: {Service: [sns.amazonaws.com, events.amazonaws.com]}
            Action: sqs:SendMessage
            Resource: !GetAtt Allowed.Arn
  Subscription:
    Type: AWS::SNS::Subscription
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn} # expect: dead-letter-policy-missing
  Other:
    Type: AWS::SNS::Subscription
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Allowed.Arn}
  Rule:
    Type: AWS::Events::Rule
    Properties:
      Targets:
        - {Id: a, Arn: x, DeadLetterConfig: {Arn: !GetAtt D.Arn}} # expect: dead-letter-policy-missing
        - {Id: b, Arn: x, DeadLetterConfig: {Arn: !GetAtt Allowed.Arn}}
  Source:
    Type: AWS::SQS::Queue
    Properties:
      RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}
  Schedule:
    Type: AWS::Scheduler::Schedule
    Properties:
      Target: {Arn: x, RoleArn: y, DeadLetterConfig: {Arn: !GetAtt D.Arn}}
",
        );
    }

    #[test]
    fn finding_is_at_the_dead_letter_queue_of_an_event() {
        Sam.check(
            &RULE,
            r"
Resources:
  D: {Type: AWS::SQS::Queue}
  F:
    Type: AWS::Serverless::Function
    Properties:
      Events:
        Nightly:
          Type: Schedule
          Properties:
            Schedule: rate(1 day)
            DeadLetterConfig:
              Arn: !GetAtt D.Arn # expect: dead-letter-policy-missing
",
        );
    }

    #[test]
    fn policy_of_exported_queue_is_the_only_one() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  D: {Type: AWS::SQS::Queue, Properties: {QueueName: failed}}
  Other: {Type: AWS::SQS::Queue}
  Policy:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [<queues>]
      PolicyDocument:
        Statement:
          - {Effect: Allow, Principal: {Service: events.amazonaws.com}, Action: sqs:SendMessage, Resource: !GetAtt Other.Arn}
  Rule:
    Type: AWS::Events::Rule
    Properties:
      Targets: [{Id: a, Arn: x, DeadLetterConfig: {Arn: !GetAtt D.Arn}}]
Outputs:
  Arn: {Value: !GetAtt D.Arn, Export: {Name: failed}}
",
            "
            queues                                                                   | finding
            !Ref Other, !Ref D                                                       | 1
            !Sub 'https://sqs.${AWS::Region}.amazonaws.com/${AWS::AccountId}/failed' | 1
            // Another stack may give it a policy.
            !Ref Other                                                               |
            ",
        );
    }
}
