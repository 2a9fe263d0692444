//! Flags alarms on dead-letter queues whose metric does not change when a redrive policy moves a message there, or only
//! until a consumer takes the message.

use super::prelude::*;
use crate::graph::alarms::{RECEIVED, SENT, VISIBLE, is_blind, is_depth, misspelled_metric};
use crate::graph::{Alarm, Attribute};

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-alarm-metric-blind",
    Category::Alarms,
    Severity::Warning,
    "the metric of a dead-letter queue's only alarm does not count what a redrive policy moves there"
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    let watch = graph.dead_letter_watch();
    for queue in graph.queues() {
        let (when, alarms) = (watch.dead_letter_when(queue), watch.alarms(queue));
        let sees = |alarm: &&Alarm| {
            alarm
                .metrics
                .iter()
                .any(|of| graph.watches(alarm, of, queue) && may_see(&of.metric))
        };
        // Messages that a service sends directly are counted.
        if alarms.is_empty() || !when.is_possible() || graph.is_sent_to(queue) {
            continue;
        }
        if let [alarm] = alarms
            && !(alarm.has_queries || alarm.is_nonexistent)
        {
            // An unresolved alarm may be one on another metric.
            let alone = findings.without_notes(|this| this.certainly_unwatched(&watch, queue, when.clone()));
            find_drained(findings, alarm, queue, &alone);
        }
        if let Some(alarm) = alarms.iter().find(|alarm| sees(alarm)) {
            let has_one = fact(true, || format!("the alarm {alarm} reports it"));
            findings.satisfied(&when, queue, has_one.depending_on(&queue.resource.header));
            continue;
        }
        let when = findings.certainly_unwatched(&watch, queue, when);
        for alarm in alarms.iter().copied().filter(|alarm| !alarm.is_nonexistent) {
            for of in alarm.metrics.iter().filter(|of| graph.watches(alarm, of, queue)) {
                for metric in findings.known(&when.and(&alarm.resource.when), alarm, &of.metric) {
                    // A consumer of the queue changes the other two metrics.
                    if metric.value == SENT || !graph.is_consumed(queue) {
                        findings.report(&metric.when, alarm, blind(alarm, queue, &metric));
                    }
                }
            }
        }
    }
}

/// Reports an alarm that waits for the first message in `queue` if a consumer takes each message at once.
fn find_drained(findings: &mut Findings<'_>, alarm: &Alarm, queue: &Queue, when: &Condition) {
    let graph = findings.graph;
    let consumers = findings.without_notes(|this| this.consumers(&when.and(&alarm.resource.when), queue));
    let Some(consumer) = consumers.first() else { return };
    for of in alarm.metrics.iter().filter(|of| graph.watches(alarm, of, queue)) {
        for metric in findings.known(&consumer.when, alarm, &of.metric) {
            for threshold in findings.known(&metric.when, alarm, &alarm.threshold) {
                for comparison in findings.known(&threshold.when, alarm, &alarm.comparison) {
                    let asks_for_any = match comparison.value.as_deref() {
                        Some("GreaterThanThreshold") => *threshold.value == Some(0),
                        Some("GreaterThanOrEqualToThreshold") => *threshold.value == Some(1),
                        _ => false,
                    };
                    if asks_for_any && is_depth(metric.value) {
                        let finding = drained(alarm, queue, &metric).show(consumer);
                        findings.report(&comparison.when, alarm, finding.severity(Severity::Info));
                    }
                }
            }
        }
    }
}

fn drained(alarm: &Alarm, queue: &Queue, metric: &Known<'_, String>) -> Finding {
    let headline =
        format!("{alarm} rarely goes off: a consumer takes each message out of the dead-letter queue {queue} at once");
    Finding::new("metric", headline, metric, "this is 0 while the consumer keeps up").help(format!(
        "to report every failure, set `{}` to `{RECEIVED}` with the statistic `Sum`, or let the consumer report it",
        metric.name
    ))
}

/// Returns `true` if an alarm on `metric` may detect messages that a redrive policy moves.
fn may_see(metric: &Attribute<String>) -> bool {
    let mut cases = metric.cases.iter();
    // `alarm-dimension-invalid` reports metrics that SQS does not have.
    cases.any(|case| {
        !case
            .value()
            .is_some_and(|name| is_blind(name) && misspelled_metric(name).is_none())
    })
}

fn blind(alarm: &Alarm, queue: &Queue, metric: &Known<'_, String>) -> Finding {
    let (shown, name) = (queue.resource.shown(), metric.value);
    let why = match name.as_str() {
        SENT => "messages moved by a redrive policy do not count as sent",
        RECEIVED => "nothing that is known receives from the queue",
        _ => "nothing that is known receives from the queue, so no message there is in flight",
    };
    let headline = format!(
        "{alarm} does not go off when a message moves to the dead-letter queue {shown}: its metric is `{name}`"
    );
    Finding::new("metric", headline, metric, format!("{why}{}", metric.provenance()))
        .label(queue.resource.header, format!("{shown} is a dead-letter queue"))
        .help(format!(
            "set `{}` to `{VISIBLE}`, with the statistic `Maximum`",
            metric.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    /// Alarm on a dead-letter queue, and another resource.
    const ALARM: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace   = "AWS/SQS"
  metric_name = <metric>
  dimensions  = { QueueName = aws_sqs_queue.d.name }
}
"#;

    fn check_with(more: &str, table: &str) {
        Terraform.check_cases(&RULE, &format!("{ALARM}{more}"), table);
    }

    #[test]
    fn metrics_blind_to_redriven_messages_are_flagged() {
        check_with(
            "",
            r#"
            metric | finding
            "NumberOfMessagesSent"                                              | metric
            "NumberOfMessagesReceived"                                          | metric
            "ApproximateNumberOfMessagesNotVisible"                             | metric
            "ApproximateNumberOfMessagesVisible"                                |
            "ApproximateAgeOfOldestMessage"                                     |
            "NumberOfMessagesDeleted"                                           |
            "NumberOfMessagesSend"                                              |
            var.open                                                            |
            var.open ? "NumberOfMessagesSent" : "ApproximateAgeOfOldestMessage" |
            "#,
        );
    }

    #[test]
    fn second_alarm_on_suitable_metric_is_accepted() {
        check_with(
            r#"
resource "aws_cloudwatch_metric_alarm" "b" {
  count       = <count>
  namespace   = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = { QueueName = <name> }
}
"#,
            r#"
            metric | count | name | finding
            "NumberOfMessagesSent" | 1     | aws_sqs_queue.d.name |
            "NumberOfMessagesSent" | 0     | aws_sqs_queue.d.name |
            "NumberOfMessagesSent" | 1     | var.open             |
            "NumberOfMessagesSent" | 1     | aws_sqs_queue.q.name | 1
            "#,
        );
    }

    #[test]
    fn queue_with_direct_senders_is_ignored() {
        check_with(
            r#"
resource "aws_sns_topic_subscription" "s" {
  topic_arn      = "arn:aws:sns:eu-west-1:111122223333:t"
  protocol       = "sqs"
  endpoint       = "arn:aws:sqs:eu-west-1:111122223333:q"
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn })
}
"#,
            "metric | finding\n \"NumberOfMessagesSent\" |",
        );
    }

    #[test]
    fn depth_of_a_drained_queue_is_advice() {
        let consumer = r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.<queue>.arn
  function_name    = "f"
  enabled          = <enabled>
}
"#;
        let alarm = ALARM.replace(
            "QueueName = aws_sqs_queue.d.name }",
            "QueueName = aws_sqs_queue.d.name }\n  comparison_operator = \"GreaterThanThreshold\"\n  threshold = <threshold>",
        );
        Terraform.check_cases(
            &RULE,
            &format!("{alarm}{consumer}"),
            r#"
            metric | threshold | queue | enabled | finding
            "ApproximateNumberOfMessagesVisible" | 0         | d     | true     | info metric
            "ApproximateNumberOfMessagesVisible" | 1         | d     | true     |
            "ApproximateNumberOfMessagesVisible" | 0         | d     | false    |
            "ApproximateNumberOfMessagesVisible" | 0         | d     | var.open |
            "ApproximateNumberOfMessagesVisible" | var.open  | d     | true     |
            "ApproximateNumberOfMessagesVisible" | 0         | q     | true     |
            "ApproximateAgeOfOldestMessage"      | 0         | d     | true     |
            "NumberOfMessagesReceived"           | 0         | d     | true     |
            "#,
        );
    }

    #[test]
    fn receive_metrics_of_consumed_queue_are_accepted() {
        check_with(
            r#"
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.d.arn
  function_name    = "f"
}
"#,
            "metric | finding\n \"NumberOfMessagesReceived\" |\n \"NumberOfMessagesSent\" | metric",
        );
    }
}
