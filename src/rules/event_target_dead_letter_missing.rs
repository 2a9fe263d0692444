//! Flags targets of rules without a dead-letter queue for undeliverable events.

use super::prelude::*;
use crate::graph::delivery::{EventTarget, Sender};

pub(super) static RULE: Rule = rule!(
    "event-target-dead-letter-missing",
    Category::Permissions,
    Severity::Info,
    "a rule's target has no dead-letter queue, so events that EventBridge cannot deliver are lost",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    let targets = findings.graph.deliveries().targets.iter();
    for target in targets.filter(|target| target.sender == Sender::Rule) {
        let resource = &target.resource;
        for enabled in findings.known(&resource.when, resource, &target.enabled) {
            if !*enabled.value {
                continue;
            }
            for to in findings.known(&enabled.when, resource, &target.target) {
                for queue in findings.known(&to.when, resource, &target.dead_letter) {
                    findings.require(&queue.when, resource, is_set(&queue).depending_on(&to), || {
                        missing(target)
                    });
                }
            }
        }
    }
}

fn missing(target: &EventTarget) -> Finding {
    let resource = &target.resource;
    let age = target.maximum_event_age.known();
    let tries = age.map_or_else(String::new, |age| format!(" within {}", age.readable()));
    let headline =
        format!("{resource} has no dead-letter queue: events that EventBridge cannot deliver{tries} are lost");
    Finding::new("dead_letter", headline, resource.header, "no dead-letter queue is set for this target").help(
        "name a standard queue for events that could not be delivered, with a policy that lets `events.amazonaws.com` send \
         to it",
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    #[test]
    fn rule_target_without_dead_letter_queue_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_cloudwatch_event_target" "t" {
  rule = "r"
  arn  = <arn>
  <settings>
}
"#,
            r#"
            arn                         | settings                                                                                                     | finding | headline
            "arn:aws:sns:eu-west-1:1:a" |                                                                                                              | 1       | …deliver within 1 day are lost
            "arn:aws:sns:eu-west-1:1:a" | retry_policy {\n maximum_event_age_in_seconds = 60\n }                                                       | 1       | …deliver within 60 s are lost
            "arn:aws:sns:eu-west-1:1:a" | retry_policy {\n maximum_event_age_in_seconds = var.open\n }                                                 | 1       | …deliver are lost
            var.open                    |                                                                                                              |         |
            "not-used"                  |                                                                                                              |         |
            "arn:aws:sns:eu-west-1:1:a" | dead_letter_config {\n arn = "arn:aws:sqs:eu-west-1:1:d"\n }                                                 |         |
            "arn:aws:sns:eu-west-1:1:a" | dead_letter_config {\n arn = var.open\n }                                                                    |         |
            "arn:aws:sns:eu-west-1:1:a" | dynamic "dead_letter_config" {\n for_each = var.open\n content {\n arn = "arn:aws:sqs:eu-west-1:1:d"\n }\n } |         |
            "#,
        );
    }

    #[test]
    fn schedules_buckets_and_disabled_rules_are_ignored() {
        CloudFormation.check(
            &RULE,
            r#"
Resources:
  Rule:
    Type: AWS::Events::Rule
    Properties:
      Targets:
        - {Id: a, Arn: "arn:aws:sns:eu-west-1:1:a"} # expect: event-target-dead-letter-missing
        - {Id: b, Arn: "arn:aws:sns:eu-west-1:1:b", DeadLetterConfig: {Arn: "arn:aws:sqs:eu-west-1:1:d"}}
  Disabled:
    Type: AWS::Events::Rule
    Properties:
      State: DISABLED
      Targets: [{Id: a, Arn: "arn:aws:sns:eu-west-1:1:a"}]
  Schedule:
    Type: AWS::Scheduler::Schedule
    Properties: {Target: {Arn: "arn:aws:sns:eu-west-1:1:a", RoleArn: r}}
  Bucket:
    Type: AWS::S3::Bucket
    Properties:
      NotificationConfiguration: {QueueConfigurations: [{Event: e, Queue: q}]}
"#,
        );
    }
}
