//! Flags the only alarm on a dead-letter queue if it goes off when the queue is empty instead of when it fills, and
//! alarms on a depth or age whose comparison is never or always true.

use super::prelude::*;
use crate::graph::alarms::{is_age, is_depth};
use crate::graph::{Alarm, Target, Watch};
use crate::rules::shared::alarms::QueueMetric;

pub(super) static RULE: Rule = rule!(
    "alarm-comparison-reversed",
    Category::Alarms,
    Severity::Warning,
    "an alarm goes off when the queue is empty, not when it fills, or never, or always"
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
    for alarm in findings.graph.alarms().iter().filter(|alarm| !alarm.has_queries) {
        for compared in compared(findings, alarm, &alarm.resource.when) {
            let Some(outcome) = constant_outcome(compared.asks, compared.least) else {
                continue;
            };
            // An alarm that is always on can run a step scaling policy again and again; one that is never on may react to
            // missing data.
            let is_meant = if outcome {
                may_scale(alarm)
            } else {
                alarm
                    .missing_data
                    .known()
                    .is_none_or(|how| how.as_deref() == Some("breaching"))
            };
            if !is_meant {
                findings.report(&compared.when, alarm, constant(&compared, outcome));
            }
        }
    }
}

/// Comparison of the depth or age of a queue with a threshold.
struct Compared<'g> {
    metric: QueueMetric<'g>,
    comparison: Known<'g, Option<String>>,
    asks: &'g str,
    least: i64,
    when: Condition,
}

/// Returns the comparisons of `alarm` with the depth or age of a queue under `when`.
fn compared<'g>(findings: &mut Findings<'_>, alarm: &'g Alarm, when: &Condition) -> Vec<Compared<'g>> {
    let mut all = Vec::new();
    for metric in findings.queue_metrics(alarm) {
        if !(is_depth(metric.name.value) || is_age(metric.name.value)) {
            continue;
        }
        for comparison in findings.known(&when.and(&metric.name.when), alarm, &alarm.comparison) {
            for threshold in findings.known(&comparison.when, alarm, &alarm.threshold) {
                if let (Some(asks), Some(least)) = (comparison.value.as_deref(), *threshold.value) {
                    all.push(Compared {
                        metric: metric.clone(),
                        comparison: comparison.clone(),
                        asks,
                        least,
                        when: threshold.when,
                    });
                }
            }
        }
    }
    all
}

/// Returns the result of a comparison that is the same for every number of messages and every age.
fn constant_outcome(comparison: &str, threshold: i64) -> Option<bool> {
    match comparison {
        "LessThanThreshold" => (threshold <= 0).then_some(false),
        "LessThanOrEqualToThreshold" => (threshold < 0).then_some(false),
        "GreaterThanOrEqualToThreshold" => (threshold <= 0).then_some(true),
        "GreaterThanThreshold" => (threshold < 0).then_some(true),
        _ => None,
    }
}

/// Returns `true` if an action of `alarm` may be a scaling policy.
fn may_scale(alarm: &Alarm) -> bool {
    let Some(actions) = &alarm.actions else { return false };
    let Some(actions) = actions.known() else { return true };
    actions
        .iter()
        .any(|action| match action.known().map(|link| &link.target) {
            Some(Target::Resource(named) | Target::External(named)) => {
                let named = named.to_ascii_lowercase();
                named.contains("autoscaling") || named.contains("scalingpolicy")
            }
            _ => true,
        })
}

fn constant(compared: &Compared<'_>, outcome: bool) -> Finding {
    let (alarm, metric, asks, least) = (
        compared.metric.alarm,
        compared.metric.name.value,
        compared.asks,
        compared.least,
    );
    let (headline, label) = if outcome {
        (
            format!("{alarm} is always in the state ALARM, whatever `{metric}` is"),
            format!("`{asks}` {least} is true of an empty queue, and of every other one"),
        )
    } else {
        (
            format!("{alarm} can never go off: `{metric}` is never negative"),
            format!("`{asks}` {least} is never true"),
        )
    };
    let threshold = if is_age(metric) {
        "a threshold well below the retention period"
    } else {
        "a threshold of 1"
    };
    Finding::new("comparison", headline, &compared.comparison, label).help(format!(
        "set `{}` to `GreaterThanOrEqualToThreshold`, with {threshold}",
        compared.comparison.name
    ))
}

fn judge(findings: &mut Findings<'_>, watch: &Watch<'_>, alarm: &Alarm, queue: &Queue) {
    let when = alarm.resource.when.and(&watch.dead_letter_when(queue));
    let when = findings.certainly_unwatched(watch, queue, when);
    for compared in compared(findings, alarm, &when) {
        let (asks, least) = (compared.asks, compared.least);
        let rises = fact(!is_true_of_empty(asks, least), || {
            format!("`{asks}` {least} is false for an empty queue")
        });
        findings.require(&compared.when, alarm, rises.depending_on(&compared.comparison), || {
            reversed(queue, &compared)
        });
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

fn reversed(queue: &Queue, compared: &Compared<'_>) -> Finding {
    let (metric, comparison) = (&compared.metric, &compared.comparison);
    let headline = format!(
        "{} goes off while the dead-letter queue {queue} is empty, and stops when messages arrive",
        metric.alarm
    );
    let label = format!(
        "true for 0, the `{}` of an empty queue{}",
        metric.name.value,
        comparison.provenance()
    );
    let least = compared.least.max(1);
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
  <setting>
}
resource "aws_appautoscaling_policy" "up" {}
<more>
"#,
            r#"
            metric                             | queue | comparison                      | threshold | setting                                                                                                               | more                                                                                                                                                                                                                                                                     | finding
            ApproximateNumberOfMessagesVisible | d     | "LessThanThreshold"             | 1         |                                                                                                                       |                                                                                                                                                                                                                                                                          | 1
            ApproximateNumberOfMessagesVisible | d     | "LessThanThreshold"             | 0         |                                                                                                                       |                                                                                                                                                                                                                                                                          | 1
            ApproximateNumberOfMessagesVisible | d     | "LessThanOrEqualToThreshold"    | 0         |                                                                                                                       |                                                                                                                                                                                                                                                                          | 1
            ApproximateNumberOfMessagesVisible | d     | "LessThanOrEqualToThreshold"    | -1        |                                                                                                                       |                                                                                                                                                                                                                                                                          | 1
            // Never or always true, of any queue.
            ApproximateNumberOfMessagesVisible | q     | "LessThanThreshold"             | 0         |                                                                                                                       |                                                                                                                                                                                                                                                                          | comparison
            ApproximateAgeOfOldestMessage      | q     | "GreaterThanOrEqualToThreshold" | 0         |                                                                                                                       |                                                                                                                                                                                                                                                                          | comparison
            ApproximateAgeOfOldestMessage      | q     | "GreaterThanThreshold"          | -1        |                                                                                                                       |                                                                                                                                                                                                                                                                          | comparison
            NumberOfMessagesSent               | q     | "GreaterThanOrEqualToThreshold" | 0         |                                                                                                                       |                                                                                                                                                                                                                                                                          |
            ApproximateAgeOfOldestMessage      | q     | "GreaterThanOrEqualToThreshold" | 0         | alarm_actions = ["arn:aws:sns:eu-west-1:111122223333:oncall"]                                                         |                                                                                                                                                                                                                                                                          | comparison
            ApproximateAgeOfOldestMessage      | q     | "GreaterThanOrEqualToThreshold" | 0         | alarm_actions = ["arn:aws:autoscaling:eu-west-1:111122223333:scalingPolicy:1:resource/ecs/service/c/s:policyName/up"] |                                                                                                                                                                                                                                                                          |
            ApproximateAgeOfOldestMessage      | q     | "GreaterThanOrEqualToThreshold" | 0         | alarm_actions = [aws_appautoscaling_policy.up.arn]                                                                    |                                                                                                                                                                                                                                                                          |
            ApproximateAgeOfOldestMessage      | q     | "LessThanThreshold"             | 0         | treat_missing_data = "breaching"                                                                                      |                                                                                                                                                                                                                                                                          |
            ApproximateAgeOfOldestMessage      | d     | "LessThanOrEqualToThreshold"    | 60        |                                                                                                                       |                                                                                                                                                                                                                                                                          | 1
            ApproximateNumberOfMessagesVisible | d     | "GreaterThanThreshold"          | 0         |                                                                                                                       |                                                                                                                                                                                                                                                                          |
            ApproximateNumberOfMessagesVisible | d     | "GreaterThanOrEqualToThreshold" | 1         |                                                                                                                       |                                                                                                                                                                                                                                                                          |
            // An alarm on another queue may scale its consumers.
            ApproximateNumberOfMessagesVisible | q     | "LessThanThreshold"             | 1         |                                                                                                                       |                                                                                                                                                                                                                                                                          |
            ApproximateNumberOfMessagesVisible | d     | var.open                        | 1         |                                                                                                                       |                                                                                                                                                                                                                                                                          |
            ApproximateNumberOfMessagesVisible | d     | "LessThanThreshold"             | var.open  |                                                                                                                       |                                                                                                                                                                                                                                                                          |
            // Another alarm on the queue reports the growth.
            ApproximateNumberOfMessagesVisible | d     | "LessThanThreshold"             | 1         |                                                                                                                       | resource "aws_cloudwatch_metric_alarm" "b" {\n namespace = "AWS/SQS"\n metric_name = "ApproximateNumberOfMessagesVisible"\n dimensions = { QueueName = aws_sqs_queue.d.name }\n statistic = "Maximum"\n comparison_operator = "GreaterThanThreshold"\n threshold = 0\n } |
            "#,
        );
    }
}
