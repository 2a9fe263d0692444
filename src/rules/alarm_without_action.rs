//! Flags the only alarm on a dead-letter queue, or on a queue's age, if it has no action.

use super::prelude::*;
use crate::graph::alarms::is_age;
use crate::graph::{Alarm, Watch};
use rustc_hash::FxHashSet;

pub(super) static RULE: Rule = rule!(
    "alarm-without-action",
    Category::Alarms,
    Severity::Info,
    "the only alarm on a queue notifies no one"
);

fn check(findings: &mut Findings<'_>) {
    let (failures, ages) = (findings.graph.dead_letter_watch(), findings.graph.alarm_watch(is_age));
    // An alarm on both the depth and the age of a dead-letter queue is judged once.
    let mut judged: FxHashSet<*const Alarm> = FxHashSet::default();
    for queue in findings.graph.queues() {
        let is_dead_letter_queue = failures.dead_letter_when(queue).is_possible();
        let failures = Some(&failures).filter(|_| is_dead_letter_queue);
        for (watch, what) in [
            (failures, "messages in the dead-letter queue"),
            (Some(&ages), "the age of messages in"),
        ] {
            let only = watch.and_then(|watch| only_alarm(findings, watch, queue));
            if let Some(alarm) = only.filter(|alarm| judged.insert(std::ptr::from_ref(*alarm))) {
                judge(findings, alarm, queue, what);
            }
        }
    }
}

/// Returns the alarm on `queue` if it is the only one, is created, and no unresolved alarm may also watch the queue.
fn only_alarm<'g>(findings: &mut Findings<'_>, watch: &Watch<'g>, queue: &Queue) -> Option<&'g Alarm> {
    let [alarm] = watch.alarms(queue) else { return None };
    let when = alarm.resource.when.and(&queue.resource.when);
    let alone = findings.certainly_unwatched(watch, queue, when);
    (!alarm.is_nonexistent && alone.is_possible()).then_some(*alarm)
}

fn judge(findings: &mut Findings<'_>, alarm: &Alarm, queue: &Queue, what: &str) {
    if findings.graph.has_subscriber(alarm) {
        return;
    }
    let when = alarm.resource.when.and(&queue.resource.when);
    let headline = format!("{alarm} is the only alarm on {what} {queue}, and it notifies no one");
    for enabled in findings.known(&when, alarm, &alarm.actions_enabled) {
        if !enabled.value {
            let finding = Finding::new("actions", &*headline, &enabled, "its actions are disabled")
                .help(format!("remove `{}`, or set it to `true`", enabled.name));
            findings.report(&enabled.when, alarm, finding);
            continue;
        }
        for actions in findings.known(&enabled.when, alarm, &alarm.has_actions) {
            let has_actions = fact(*actions.value, || format!("`{}` is set", actions.name)).depending_on(&actions);
            findings.require(&actions.when, alarm, has_actions, || {
                let label = if actions.is_default {
                    format!("it changes its state and does nothing: `{}` is not set", actions.name)
                } else {
                    "it changes its state and does nothing: this list is empty".to_owned()
                };
                Finding::new("actions", &*headline, &actions, label).help(format!(
                    "add a topic with subscribers to `{}`, or name the alarm in a composite alarm that has actions",
                    actions.name
                ))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::diagnostic::Diagnostic;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    const ALARM: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {}
resource "aws_cloudwatch_metric_alarm" "a" {
  alarm_name      = "depth"
  namespace       = "AWS/SQS"
  metric_name     = "ApproximateNumberOfMessagesVisible"
  dimensions      = { QueueName = aws_sqs_queue.d.name }
  <actions>
}
"#;

    #[test]
    fn alarm_without_enabled_action_is_flagged() {
        Terraform.check_cases(
            &RULE,
            ALARM,
            r#"
            actions                                                                           | finding
                                                                                              | 1
            alarm_actions = []                                                                | 1
            ok_actions = ["arn:aws:sns:eu-west-1:111122223333:t"]                             | 1
            alarm_actions = ["arn:aws:sns:eu-west-1:111122223333:t"]\nactions_enabled = false | 1
            alarm_actions = ["arn:aws:sns:eu-west-1:111122223333:t"]                          |
            alarm_actions = [var.open]                                                        |
            alarm_actions = compact([var.open])                                               |
            alarm_actions = var.open                                                          |
            actions_enabled = var.open                                                        |
            "#,
        );
    }

    #[test]
    fn default_that_empties_the_list_is_named() {
        let list = "[\"arn:aws:sns:eu-west-1:111122223333:t\"]";
        for (actions, named) in [
            (format!("var.email != \"\" ? {list} : []"), true),
            (format!("length(var.emails) > 0 ? {list} : []"), true),
            (format!("concat(var.email == \"\" ? [] : {list}, [])"), true),
            ("compact([var.email])".to_owned(), true),
            ("[for email in var.emails : email]".to_owned(), true),
            ("local.actions".to_owned(), true),
            ("aws_sns_topic.none[*].arn".to_owned(), true),
            ("{ none = [] }[var.email == \"\" ? \"none\" : \"all\"]".to_owned(), true),
            ("local.never ? [var.email] : []".to_owned(), false),
            ("[]".to_owned(), false),
        ] {
            let text = ALARM.replace("<actions>", &format!("alarm_actions = {actions}"))
                + "variable \"email\" { default = \"\" }\nvariable \"emails\" { default = [] }\n"
                + "resource \"aws_sns_topic\" \"none\" {\n  count = length(var.emails)\n}\n"
                + &format!("locals {{\n  never = false\n  actions = var.email != \"\" ? {list} : []\n}}\n");
            let found = Terraform.findings(&RULE, &text);
            let labels: Vec<&str> = found
                .iter()
                .flat_map(Diagnostic::labels)
                .map(|label| &*label.message)
                .collect();
            let is_named = labels.iter().any(|label| label.contains("the default of `var.email"));
            assert_eq!((found.len(), is_named), (1, named), "{actions}: {labels:?}");
        }
    }

    #[test]
    fn composite_alarm_event_rule_or_second_alarm_counts_as_action() {
        let more = "resource <type> \"more\" {\n  <arguments>\n}\n";
        Terraform.check_cases(
            &RULE,
            &format!("{}{more}", ALARM.replace("<actions>", "")),
            r#"
            type                             | arguments                                                         | finding
            "aws_cloudwatch_composite_alarm" | alarm_rule = "ALARM(\"depth\")"                                   |
            "aws_cloudwatch_composite_alarm" | alarm_rule = "ALARM(${aws_cloudwatch_metric_alarm.a.alarm_name})" |
            "aws_cloudwatch_composite_alarm" | alarm_rule = "${var.open}"                                        |
            "aws_cloudwatch_composite_alarm" | alarm_rule = "ALARM(other)"                                       | 1
            "aws_cloudwatch_event_rule"      | event_pattern = jsonencode({ source = ["aws.cloudwatch"] })       |
            "aws_cloudwatch_event_rule"      | event_pattern = jsonencode({ source = ["aws.ec2"] })              | 1
            "#,
        );
        let second = r#"
resource "aws_cloudwatch_metric_alarm" "b" {
  count         = <count>
  namespace     = "AWS/SQS"
  metric_name   = "ApproximateAgeOfOldestMessage"
  dimensions    = { QueueName = aws_sqs_queue.d.name }
  alarm_actions = ["arn:aws:sns:eu-west-1:111122223333:t"]
}
"#;
        Terraform.check_cases(
            &RULE,
            &format!("{}{second}", ALARM.replace("<actions>", "")),
            "count | finding\n 1 |\n 0 |",
        );
    }

    #[test]
    fn age_alarm_on_any_queue_is_checked() {
        CloudFormation.check(
            &RULE,
            r"
Resources:
  Q: {Type: AWS::SQS::Queue}
  Age: # expect: alarm-without-action
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateAgeOfOldestMessage
      Dimensions: [{Name: QueueName, Value: !GetAtt Q.QueueName}]
  Depth:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions: [{Name: QueueName, Value: !GetAtt Q.QueueName}]
",
        );
    }
}
