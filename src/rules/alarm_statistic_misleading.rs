//! Flags alarms whose statistic makes something else of a metric than its author compares.

use super::prelude::*;
use crate::graph::Alarm;
use crate::graph::alarms::{is_counter, is_depth, is_gauge};
use crate::rules::shared::alarms::QueueMetric;

pub(super) static RULE: Rule = Rule {
    id: "alarm-statistic-misleading",
    category: Category::Alarms,
    severity: Severity::Warning,
    set: Set::Default,
    fix: None,
    summary: "the statistic of an alarm makes another number of the metric than the threshold is about",
    page: include_str!("../../rules/alarm-statistic-misleading.md"),
    settings: &[],
    check: Some(check),
};

/// SQS publishes its metrics once a minute: in a period of that length every statistic of one sample is the sample.
const SAMPLE: i64 = 60;

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for alarm in graph.alarms().iter().filter(|alarm| !alarm.has_queries) {
        for metric in findings.queue_metrics(alarm) {
            for statistic in findings.known(&metric.name.when, alarm, &metric.of.statistic) {
                let Some(name) = statistic.value.as_deref() else {
                    continue;
                };
                let Some(advised) = advised(graph, &metric, name) else {
                    continue;
                };
                judge(findings, &metric, &statistic, advised);
            }
        }
    }
}

/// What is wrong with a statistic, and the one that is right.
#[derive(Clone, Copy)]
struct Advised {
    statistic: &'static str,
    why: &'static str,
    /// Whether it matters only where a period has several samples.
    is_of_samples: bool,
    /// Only thresholds from here on are missed.
    from: i64,
}

/// What `statistic` is for `metric`, where it misleads.
fn advised(graph: &Graph, metric: &QueueMetric<'_>, statistic: &str) -> Option<Advised> {
    let name = metric.name.value.as_str();
    let is_dead_letter_queue = || {
        let queues = graph.looked_at(metric.alarm, metric.of);
        !queues.is_empty() && queues.iter().all(|queue| graph.is_dead_letter_queue(queue))
    };
    let advised = |statistic, why, is_of_samples, from| Advised {
        statistic,
        why,
        is_of_samples,
        from,
    };
    match statistic {
        "Sum" if is_gauge(name) => Some(advised(
            "Maximum",
            "the sum adds up the samples of a period, so that one message counts once a minute",
            true,
            i64::MIN,
        )),
        "SampleCount" if is_gauge(name) => Some(advised(
            "Maximum",
            "this counts how often SQS reports, whatever it reports",
            false,
            i64::MIN,
        )),
        "Average" if is_depth(name) && is_dead_letter_queue() => Some(advised(
            "Maximum",
            "in the period in which the first message arrives, the average is less than 1",
            true,
            1,
        )),
        "Average" if is_counter(name) => Some(advised(
            "Sum",
            "the average of a counter is a number for each sample, not for the period",
            true,
            i64::MIN,
        )),
        _ => None,
    }
}

fn judge(
    findings: &mut Findings<'_>,
    metric: &QueueMetric<'_>,
    statistic: &Known<'_, Option<String>>,
    advised: Advised,
) {
    let alarm = metric.alarm;
    for period in findings.any_numbers(&statistic.when, alarm, &metric.of.period, Unit::Seconds) {
        if advised.is_of_samples && findings.satisfied(&period.when, alarm, at_most(&period, SAMPLE)) {
            continue;
        }
        for threshold in findings.known(&period.when, alarm, &alarm.threshold) {
            let Some(least) = *threshold.value else { continue };
            for comparison in findings.known(&threshold.when, alarm, &alarm.comparison) {
                let asks = comparison.value.as_deref().unwrap_or_default();
                let used = statistic.value.as_deref().unwrap_or_default();
                let tells = least < advised.from || (advised.is_of_samples && asks_for_any(used, least, asks));
                let is_right = fact(tells, || {
                    format!("`{asks}` {least} asks whether there is anything, which `{used}` tells")
                });
                findings.require(
                    &comparison.when,
                    alarm,
                    is_right.given(statistic).given(&threshold),
                    || misleading(alarm, metric, statistic, advised, &period),
                );
            }
        }
    }
}

/// Whether a comparison tells nothing from something, which is the same for one sample and for `statistic` of several.
fn asks_for_any(statistic: &str, threshold: i64, comparison: &str) -> bool {
    match comparison {
        "GreaterThanThreshold" | "LessThanOrEqualToThreshold" => threshold == 0,
        "GreaterThanOrEqualToThreshold" | "LessThanThreshold" => threshold == 1 && statistic == "Sum",
        _ => false,
    }
}

fn misleading(
    alarm: &Alarm,
    metric: &QueueMetric<'_>,
    statistic: &Known<'_, Option<String>>,
    advised: Advised,
    period: &Operand<'_>,
) -> Finding {
    let used = statistic.value.as_deref().unwrap_or_default();
    let headline = format!(
        "{} compares the `{used}` of `{}` over {}",
        alarm.resource.shown(),
        metric.name.value,
        period.spoken()
    );
    let label = format!("{}{}", advised.why, statistic.provenance());
    Finding::new("statistic", headline, statistic, label)
        .help(format!("set `{}` to `{}`", statistic.name, advised.statistic))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::{check, findings};

    fn count(metric: &str, statistic: &str, comparison: &str, threshold: &str, period: &str) -> usize {
        let text = format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 }})
}}
resource "aws_sqs_queue" "d" {{}}
resource "aws_cloudwatch_metric_alarm" "a" {{
  namespace           = "AWS/SQS"
  metric_name         = "{metric}"
  dimensions          = {{ QueueName = aws_sqs_queue.d.name }}
  statistic           = {statistic}
  comparison_operator = "{comparison}"
  threshold           = {threshold}
  period              = {period}
}}
"#
        );
        findings(&RULE, Terraform, &text).len()
    }

    const DEPTH: &str = "ApproximateNumberOfMessagesVisible";
    const ABOVE: &str = "GreaterThanThreshold";
    const FROM: &str = "GreaterThanOrEqualToThreshold";

    #[test]
    fn a_sum_adds_samples_up() {
        let sum = |comparison, threshold, period| count(DEPTH, "\"Sum\"", comparison, threshold, period);
        assert_eq!(sum(ABOVE, "1", "300"), 1);
        assert_eq!(sum(FROM, "2", "61"), 1);
        // There is one sample a minute.
        assert_eq!(sum(ABOVE, "1", "60"), 0);
        // Whether there is anything, the sum tells.
        assert_eq!(sum(ABOVE, "0", "300"), 0);
        assert_eq!(sum(FROM, "1", "300"), 0);
        for (threshold, period) in [("var.open", "300"), ("1", "var.open")] {
            assert_eq!(sum(ABOVE, threshold, period), 0);
        }
        assert_eq!(count("NumberOfMessagesSent", "\"Sum\"", ABOVE, "10", "300"), 0);
        assert_eq!(count(DEPTH, "\"Maximum\"", ABOVE, "10", "300"), 0);
        assert_eq!(count(DEPTH, "var.open", ABOVE, "10", "300"), 0);
    }

    #[test]
    fn samples_are_no_messages() {
        assert_eq!(count(DEPTH, "\"SampleCount\"", ABOVE, "0", "60"), 1);
    }

    #[test]
    fn the_first_message_is_less_than_one_on_average() {
        let average = |comparison, threshold, period| count(DEPTH, "\"Average\"", comparison, threshold, period);
        assert_eq!(average(FROM, "1", "300"), 1);
        assert_eq!(average(FROM, "1", "60"), 0);
        assert_eq!(average(ABOVE, "0", "300"), 0);
        assert_eq!(
            count("ApproximateAgeOfOldestMessage", "\"Average\"", FROM, "1", "300"),
            0
        );
    }

    #[test]
    fn a_counter_is_summed() {
        assert_eq!(count("NumberOfMessagesSent", "\"Average\"", ABOVE, "10", "300"), 1);
        assert_eq!(count("NumberOfMessagesSent", "\"Average\"", ABOVE, "0", "300"), 0);
        assert_eq!(count("SentMessageSize", "\"Average\"", ABOVE, "10", "300"), 0);
    }

    #[test]
    fn templates_are_judged_alike() {
        check(
            &RULE,
            CloudFormation,
            r"
Resources:
  Q: {Type: AWS::SQS::Queue}
  A:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: ApproximateNumberOfMessagesVisible
      Dimensions: [{Name: QueueName, Value: !GetAtt Q.QueueName}]
      Statistic: Sum # expect: alarm-statistic-misleading
      ComparisonOperator: GreaterThanThreshold
      Threshold: 100
      Period: 300
      EvaluationPeriods: 1
",
        );
    }
}
