//! Flags targets of rules without a dead-letter queue for undeliverable events.

use super::prelude::*;
use crate::graph::delivery::{EventTarget, Sender};

pub(super) static RULE: Rule = Rule {
    id: "event-target-dead-letter-missing",
    category: Category::Permissions,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: None,
    summary: "a rule's target has no dead-letter queue, so what EventBridge cannot deliver is lost",
    page: include_str!("../../rules/event-target-dead-letter-missing.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let targets = graph.deliveries().targets.iter();
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
    let tries = age.map_or_else(String::new, |age| format!(" within {}", age.with_words()));
    let headline = format!(
        "{} has no dead-letter queue: what EventBridge cannot deliver{tries} is lost",
        resource.shown()
    );
    Finding::new("dead_letter", headline, resource.header, "no dead-letter queue is set for this target").help(
        "name a standard queue for events that could not be delivered, with a policy that lets `events.amazonaws.com` send \
         to it",
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::{check, findings};

    #[test]
    fn rule_target_without_dead_letter_queue_is_flagged() {
        for (arguments, expected) in [
            ("arn = \"arn:aws:sns:eu-west-1:1:a\"", 1),
            ("arn = var.open", 0),
            ("arn = \"not-used\"", 0),
            (
                "arn = \"arn:aws:sns:eu-west-1:1:a\"\n  dead_letter_config {\n    arn = \"arn:aws:sqs:eu-west-1:1:d\"\n  }",
                0,
            ),
            (
                "arn = \"arn:aws:sns:eu-west-1:1:a\"\n  dead_letter_config {\n    arn = var.open\n  }",
                0,
            ),
            (
                "arn = \"arn:aws:sns:eu-west-1:1:a\"\n  dynamic \"dead_letter_config\" {\n    for_each = var.open\n    content {\n      arn = \"arn:aws:sqs:eu-west-1:1:d\"\n    }\n  }",
                0,
            ),
        ] {
            let text = format!(
                "variable \"open\" {{}}\nresource \"aws_cloudwatch_event_target\" \"t\" {{\n  rule = \"r\"\n  {arguments}\n}}\n"
            );
            assert_eq!(findings(&RULE, Terraform, &text).len(), expected, "{arguments}");
        }
    }

    #[test]
    fn headline_states_maximum_event_age() {
        for (policy, within) in [
            ("", "deliver within 86400 s (1 day) is lost"),
            (
                "retry_policy {\n    maximum_event_age_in_seconds = 60\n  }",
                "deliver within 60 s is lost",
            ),
            (
                "retry_policy {\n    maximum_event_age_in_seconds = var.open\n  }",
                "deliver is lost",
            ),
        ] {
            let text = format!(
                "variable \"open\" {{}}\nresource \"aws_cloudwatch_event_target\" \"t\" {{\n  rule = \"r\"\n  arn = \"arn:aws:sns:eu-west-1:1:a\"\n  {policy}\n}}\n"
            );
            let found = findings(&RULE, Terraform, &text);
            assert!(found[0].headline.ends_with(within), "{}", found[0].headline);
        }
    }

    #[test]
    fn schedules_buckets_and_disabled_rules_are_ignored() {
        check(
            &RULE,
            CloudFormation,
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
