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

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let (failures, ages) = (graph.dead_letter_watch(), graph.alarm_watch(is_age));
    // An alarm on both the depth and the age of a dead-letter queue is judged once.
    let mut judged: FxHashSet<*const Alarm> = FxHashSet::default();
    for queue in graph.queues() {
        let is_dead_letter_queue = failures.dead_letter_when(queue).is_possible();
        let failures = Some(&failures).filter(|_| is_dead_letter_queue);
        for (watch, what) in [
            (failures, "messages in the dead-letter queue"),
            (Some(&ages), "the age of messages in"),
        ] {
            let only = watch.and_then(|watch| only_alarm(findings, graph, watch, queue));
            if let Some(alarm) = only.filter(|alarm| judged.insert(std::ptr::from_ref(*alarm))) {
                judge(graph, findings, alarm, queue, what);
            }
        }
    }
}

/// Returns the alarm on `queue` if it is the only one, is created, and no unresolved alarm may also watch the queue.
fn only_alarm<'g>(findings: &mut Findings<'_>, graph: &Graph, watch: &Watch<'g>, queue: &Queue) -> Option<&'g Alarm> {
    let [alarm] = watch.alarms(queue) else { return None };
    let when = alarm.resource.when.and(&queue.resource.when);
    let alone = findings.certainly_unwatched(graph, watch, queue, when);
    (!alarm.is_nonexistent && alone.is_possible()).then_some(*alarm)
}

fn judge(graph: &Graph, findings: &mut Findings<'_>, alarm: &Alarm, queue: &Queue, what: &str) {
    if graph.has_subscriber(alarm) {
        return;
    }
    let when = alarm.resource.when.and(&queue.resource.when);
    let headline = format!(
        "{} is the only alarm on {what} {}, and it notifies no one",
        alarm.resource.shown(),
        queue.resource.shown()
    );
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
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::{check, findings};

    fn count(arguments: &str, more: &str) -> usize {
        let text = format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 }})
}}
resource "aws_sqs_queue" "d" {{}}
resource "aws_cloudwatch_metric_alarm" "a" {{
  alarm_name  = "depth"
  namespace   = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = {{ QueueName = aws_sqs_queue.d.name }}
  {arguments}
}}
{more}
"#
        );
        findings(&RULE, Terraform, &text).len()
    }

    #[test]
    fn alarm_without_enabled_action_is_flagged() {
        assert_eq!(count("", ""), 1);
        assert_eq!(count("alarm_actions = []", ""), 1);
        assert_eq!(count("ok_actions = [\"arn:aws:sns:eu-west-1:111122223333:t\"]", ""), 1);
        assert_eq!(
            count(
                "alarm_actions = [\"arn:aws:sns:eu-west-1:111122223333:t\"]\nactions_enabled = false",
                ""
            ),
            1
        );
        assert_eq!(
            count("alarm_actions = [\"arn:aws:sns:eu-west-1:111122223333:t\"]", ""),
            0
        );
        assert_eq!(count("alarm_actions = [var.open]", ""), 0);
        assert_eq!(count("alarm_actions = compact([var.open])", ""), 0);
        assert_eq!(count("alarm_actions = var.open", ""), 0);
        assert_eq!(count("actions_enabled = var.open", ""), 0);
    }

    #[test]
    fn composite_alarm_or_event_rule_counts_as_action() {
        let composite = |rule: &str| {
            format!("resource \"aws_cloudwatch_composite_alarm\" \"c\" {{\n  alarm_rule = \"{rule}\"\n}}\n")
        };
        assert_eq!(count("", &composite("ALARM(\\\"depth\\\")")), 0);
        assert_eq!(
            count("", &composite("ALARM(${aws_cloudwatch_metric_alarm.a.alarm_name})")),
            0
        );
        assert_eq!(count("", &composite("${var.open}")), 0);
        assert_eq!(count("", &composite("ALARM(other)")), 1);
        let rule = |source: &str| {
            format!(
                "resource \"aws_cloudwatch_event_rule\" \"r\" {{\n  event_pattern = jsonencode({{ source = [\"{source}\"] }})\n}}\n"
            )
        };
        assert_eq!(count("", &rule("aws.cloudwatch")), 0);
        assert_eq!(count("", &rule("aws.ec2")), 1);
    }

    #[test]
    fn queue_with_second_alarm_is_accepted() {
        let other = |existence: &str| {
            format!(
                "resource \"aws_cloudwatch_metric_alarm\" \"b\" {{\n  {existence}\n  namespace = \"AWS/SQS\"\n  \
                 metric_name = \"ApproximateAgeOfOldestMessage\"\n  dimensions = {{ QueueName = aws_sqs_queue.d.name }}\n  \
                 alarm_actions = [\"arn:aws:sns:eu-west-1:111122223333:t\"]\n}}\n"
            )
        };
        assert_eq!(count("", &other("")), 0);
        assert_eq!(count("", &other("count = 0")), 0);
    }

    #[test]
    fn age_alarm_on_any_queue_is_checked() {
        check(
            &RULE,
            CloudFormation,
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
