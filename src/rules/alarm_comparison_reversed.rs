//! Flags the only alarm on a dead-letter queue if it goes off when the queue is empty instead of when it fills.

use super::prelude::*;
use crate::graph::alarms::{is_age, is_depth};
use crate::graph::{Alarm, Watch};
use crate::rules::shared::alarms::QueueMetric;

pub(super) static RULE: Rule = rule!(
    "alarm-comparison-reversed",
    Category::Alarms,
    Severity::Warning,
    "the only alarm on a dead-letter queue goes off when the queue is empty, not when it fills"
);

fn check(findings: &mut Findings<'_>) {
    let watch = findings.graph.dead_letter_watch();
    for queue in findings.graph.queues() {
        let when = watch.dead_letter_when(queue);
        let [alarm] = watch.alarms(queue) else { continue };
        if when.is_possible() && !alarm.has_queries && !alarm.is_nonexistent {
            judge(findings, &watch, alarm, queue);
        }
    }
}

fn judge(findings: &mut Findings<'_>, watch: &Watch<'_>, alarm: &Alarm, queue: &Queue) {
    let when = alarm.resource.when.and(&watch.dead_letter_when(queue));
    let when = findings.certainly_unwatched(watch, queue, when);
    for metric in findings.queue_metrics(alarm) {
        let name = metric.name.value.as_str();
        if !(is_depth(name) || is_age(name)) {
            continue;
        }
        for comparison in findings.known(&when.and(&metric.name.when), alarm, &alarm.comparison) {
            for threshold in findings.known(&comparison.when, alarm, &alarm.threshold) {
                let (Some(asks), Some(least)) = (comparison.value.as_deref(), *threshold.value) else {
                    continue;
                };
                let rises = fact(!is_true_of_empty(asks, least), || {
                    format!("`{asks}` {least} is false for an empty queue")
                });
                findings.require(&threshold.when, alarm, rises.depending_on(&comparison), || {
                    reversed(queue, &metric, &comparison, least)
                });
            }
        }
    }
}

/// Returns `true` if the comparison is true for an empty queue, and false once it holds enough messages.
fn is_true_of_empty(comparison: &str, threshold: i64) -> bool {
    match comparison {
        "LessThanThreshold" => threshold > 0,
        "LessThanOrEqualToThreshold" => threshold >= 0,
        _ => false,
    }
}

fn reversed(
    queue: &Queue,
    metric: &QueueMetric<'_>,
    comparison: &Known<'_, Option<String>>,
    threshold: i64,
) -> Finding {
    let headline = format!(
        "{} goes off while the dead-letter queue {queue} is empty, and stops when messages arrive",
        metric.alarm
    );
    let label = format!(
        "true for 0, the `{}` of an empty queue{}",
        metric.name.value,
        comparison.provenance()
    );
    let least = threshold.max(1);
    Finding::new("comparison", headline, comparison, label).help(format!(
        "set `{}` to `GreaterThanOrEqualToThreshold`, with a threshold of {least}",
        comparison.name
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    #[test]
    fn comparison_that_is_true_of_an_empty_queue_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace           = "AWS/SQS"
  metric_name         = "<metric>"
  dimensions          = { QueueName = aws_sqs_queue.<queue>.name }
  statistic           = "Maximum"
  comparison_operator = <comparison>
  threshold           = <threshold>
}
<more>
"#,
            r#"
            metric                             | queue | comparison                      | threshold | more | finding
            ApproximateNumberOfMessagesVisible | d     | "LessThanThreshold"             | 1         |      | 1
            ApproximateNumberOfMessagesVisible | d     | "LessThanThreshold"             | 0         |      |
            ApproximateNumberOfMessagesVisible | d     | "LessThanOrEqualToThreshold"    | 0         |      | 1
            ApproximateNumberOfMessagesVisible | d     | "LessThanOrEqualToThreshold"    | -1        |      |
            ApproximateAgeOfOldestMessage      | d     | "LessThanOrEqualToThreshold"    | 60        |      | 1
            ApproximateNumberOfMessagesVisible | d     | "GreaterThanThreshold"          | 0         |      |
            ApproximateNumberOfMessagesVisible | d     | "GreaterThanOrEqualToThreshold" | 1         |      |
            // An alarm on another queue may scale its consumers.
            ApproximateNumberOfMessagesVisible | q     | "LessThanThreshold"             | 1         |      |
            ApproximateNumberOfMessagesVisible | d     | var.open                        | 1         |      |
            ApproximateNumberOfMessagesVisible | d     | "LessThanThreshold"             | var.open  |      |
            // Another alarm on the queue reports the growth.
            ApproximateNumberOfMessagesVisible | d     | "LessThanThreshold"             | 1         | resource "aws_cloudwatch_metric_alarm" "b" {\n namespace = "AWS/SQS"\n metric_name = "ApproximateNumberOfMessagesVisible"\n dimensions = { QueueName = aws_sqs_queue.d.name }\n statistic = "Maximum"\n comparison_operator = "GreaterThanThreshold"\n threshold = 0\n } |
            "#,
        );
    }
}
