//! Flags alarms whose statistic yields a different number from the one that the threshold is meant for.

use super::prelude::*;
use crate::graph::alarms::{is_age, is_counter, is_depth, is_gauge};
use crate::rules::shared::alarms::QueueMetric;

pub(super) static RULE: Rule = rule!(
    "alarm-statistic-misleading",
    Category::Alarms,
    Severity::Warning,
    "the statistic of an alarm makes another number of the metric than the threshold is about"
);

/// Interval at which SQS publishes metrics, in seconds. In a period of that length there is one sample, so most
/// statistics equal it.
const SAMPLE: i64 = 60;

fn check(findings: &mut Findings<'_>) {
    for alarm in findings.graph.alarms() {
        for metric in findings.queue_metrics(alarm) {
            for statistic in findings.known(&metric.name.when, alarm, &metric.of.statistic) {
                let Some(name) = statistic.value.as_deref() else {
                    continue;
                };
                let Some(advised) = advised(findings.graph, &metric, name) else {
                    continue;
                };
                if !alarm.has_queries {
                    judge(findings, &metric, &statistic, &advised);
                } else if advised.is_smoothed && !is_depth(metric.name.value) {
                    // Of a formula, only the statistics that hide the age in any formula are judged.
                    for comparison in findings.known(&statistic.when, alarm, &alarm.comparison) {
                        if comparison
                            .value
                            .as_deref()
                            .is_some_and(|asks| asks.starts_with("Greater"))
                        {
                            let finding = misleading(&metric, &statistic, &advised, "in a formula", "several times");
                            findings.report(
                                &comparison.when,
                                alarm,
                                finding.help(set_statistic(&statistic, &advised)),
                            );
                        }
                    }
                }
            }
        }
    }
}

/// Better statistic for a metric, and the reason why the present one misleads.
struct Advised {
    statistic: &'static str,
    why: &'static str,
    /// `true` if the statistic misleads only if a period has several samples.
    is_of_samples: bool,
    /// `true` if the statistic hides the highest sample of a period.
    is_smoothed: bool,
    /// `true` if a single message is already a failure.
    is_of_failures: bool,
}

/// Returns the better statistic for `metric` if `statistic` misleads.
fn advised(graph: &Graph, metric: &QueueMetric<'_>, statistic: &str) -> Option<Advised> {
    let name = metric.name.value.as_str();
    let is_dead_letter_queue = || {
        let queues = graph.watched_queues(metric.alarm, metric.of);
        !queues.is_empty() && queues.iter().all(|queue| graph.is_dead_letter_queue(queue))
    };
    let advised = |statistic, why, is_of_samples, is_smoothed| Advised {
        statistic,
        why,
        is_of_samples,
        is_smoothed,
        is_of_failures: is_depth(name) && is_dead_letter_queue(),
    };
    match statistic {
        "Sum" if is_gauge(name) => Some(advised(
            "Maximum",
            "the sum adds up the samples of a period, so that one message counts once a minute",
            true,
            false,
        )),
        "SampleCount" if is_gauge(name) => Some(advised(
            "Maximum",
            "this counts how often SQS reports, whatever it reports",
            false,
            false,
        )),
        "Average" if is_age(name) || (is_depth(name) && is_dead_letter_queue()) => Some(advised(
            "Maximum",
            "an average is below the highest sample of a period, so the alarm goes off late",
            false,
            true,
        )),
        "Minimum" if is_age(name) || (is_depth(name) && is_dead_letter_queue()) => Some(advised(
            "Maximum",
            "this is the lowest sample of a period: all other samples of it are ignored",
            false,
            true,
        )),
        "Average" if is_counter(name) => Some(advised(
            "Sum",
            "the average of a counter is a number for each sample, not for the period",
            true,
            false,
        )),
        _ => None,
    }
}

fn judge(
    findings: &mut Findings<'_>,
    metric: &QueueMetric<'_>,
    statistic: &Known<'_, Option<String>>,
    advised: &Advised,
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
                if advised.is_smoothed && !asks.starts_with("Greater") {
                    continue;
                }
                let used = statistic.value.as_deref().unwrap_or_default();
                let tells = asks_for_any(used, least, asks);
                let is_right = fact(tells, || {
                    format!("`{asks}` {least} asks whether there is anything, which `{used}` tells")
                });
                findings.require(
                    &comparison.when,
                    alarm,
                    is_right.depending_on(statistic).depending_on(&threshold),
                    || {
                        let help = help(statistic, &threshold, advised, asks, period.value / SAMPLE);
                        let is_single = advised.is_smoothed && period.value <= SAMPLE;
                        let over = if is_single {
                            "over a longer period".to_owned()
                        } else {
                            format!("over {}", period.readable())
                        };
                        let times = format!("up to {} times", period.value / SAMPLE);
                        let finding = misleading(metric, statistic, advised, &over, &times).help(help);
                        if is_single {
                            let one = "a period with a single sample, for which all statistics agree: a longer one would hide the others";
                            return finding.severity(Severity::Info).label(period.span, one);
                        }
                        finding
                    },
                );
            }
        }
    }
}

/// Returns `true` if a comparison distinguishes only zero from non-zero, for which `statistic` of several samples gives
/// the same result as one sample.
fn asks_for_any(statistic: &str, threshold: i64, comparison: &str) -> bool {
    match comparison {
        "GreaterThanThreshold" | "LessThanOrEqualToThreshold" => {
            threshold == 0 && matches!(statistic, "Sum" | "Average")
        }
        "GreaterThanOrEqualToThreshold" | "LessThanThreshold" => threshold == 1 && statistic == "Sum",
        _ => false,
    }
}

fn misleading(
    metric: &QueueMetric<'_>,
    statistic: &Known<'_, Option<String>>,
    advised: &Advised,
    over: &str,
    times: &str,
) -> Finding {
    let (alarm, name) = (metric.alarm, metric.name.value);
    let used = statistic.value.as_deref().unwrap_or_default();
    let headline = match used {
        "Sum" if is_age(name) => format!("{alarm} sees {times} the real age: `Sum` adds a sample a minute {over}"),
        "Sum" => format!("{alarm} counts one message {times}: `Sum` adds a sample a minute {over}"),
        "SampleCount" => format!("{alarm} compares how often SQS reports `{name}` {over}, not its value"),
        "Minimum" => format!("{alarm} ignores all but the lowest `{name}` {over}"),
        _ if advised.is_smoothed => format!("{alarm} fires late: the `Average` {over} is below the highest `{name}`"),
        _ => format!("{alarm} compares `{name}` per sample, not its total {over}"),
    };
    let headline = format!("{headline}; use `{}`", advised.statistic);
    let label = format!("{}{}", advised.why, statistic.provenance());
    let severity = match used {
        // The alarm goes off late, but it does.
        "Average" if advised.statistic == "Maximum" => Severity::Info,
        _ => Severity::Warning,
    };
    Finding::new("statistic", headline, statistic, label).severity(severity)
}

fn set_statistic(statistic: &Known<'_, Option<String>>, advised: &Advised) -> String {
    format!("set `{}` to `{}`", statistic.name, advised.statistic)
}

/// Returns the help for an alarm that compares `threshold` with a statistic of `samples` per period. It changes the
/// threshold, too: a sum counts a message in each sample and a maximum only once, so the old threshold would be too
/// high.
fn help(
    statistic: &Known<'_, Option<String>>,
    threshold: &Known<'_, Option<i64>>,
    advised: &Advised,
    comparison: &str,
    samples: i64,
) -> String {
    let set = set_statistic(statistic, advised);
    let (name, compared) = (threshold.name, threshold.value.unwrap_or_default());
    let first = match comparison {
        "GreaterThanThreshold" => Some(0),
        "GreaterThanOrEqualToThreshold" => Some(1),
        _ => None,
    };
    match (statistic.value.as_deref().unwrap_or_default(), first) {
        // A maximum is never below the average, so the alarm still fires.
        (_, first)
            if advised.is_smoothed && !(advised.is_of_failures && first.is_some_and(|first| first < compared)) =>
        {
            set
        }
        ("Average", _) if !advised.is_smoothed => format!(
            "{set}, and `{name}` to {} if {compared} was meant for each minute",
            compared.saturating_mul(samples)
        ),
        (_, Some(first)) if advised.is_of_failures => {
            format!("{set} and `{name}` to {first}, so that the first message sets off the alarm")
        }
        ("Sum", _) => {
            let includes = matches!(comparison, "GreaterThanOrEqualToThreshold" | "LessThanThreshold");
            let rest = i64::from(includes && compared.rem_euclid(samples) != 0);
            let each = compared.div_euclid(samples) + rest;
            format!("{set} and `{name}` to {each}: {compared} was compared with the sum of {samples} samples")
        }
        _ => format!("{set}, and `{name}` to a value of the metric itself"),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    #[test]
    fn statistic_that_does_not_measure_the_threshold_is_flagged() {
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
  dimensions          = { QueueName = aws_sqs_queue.d.name }
  statistic           = <statistic>
  comparison_operator = "<comparison>"
  threshold           = <threshold>
  period              = <period>
}
"#,
            r#"
            metric                             | statistic     | comparison                    | threshold | period   | finding
            ApproximateNumberOfMessagesVisible | "Sum"         | GreaterThanThreshold          | 1         | 300      | 1
            ApproximateNumberOfMessagesVisible | "Sum"         | GreaterThanOrEqualToThreshold | 2         | 61       | 1
            // There is one sample per minute.
            ApproximateNumberOfMessagesVisible | "Sum"         | GreaterThanThreshold          | 1         | 60       |
            // A sum is non-zero if any sample is.
            ApproximateNumberOfMessagesVisible | "Sum"         | GreaterThanThreshold          | 0         | 300      |
            ApproximateNumberOfMessagesVisible | "Sum"         | GreaterThanOrEqualToThreshold | 1         | 300      |
            ApproximateNumberOfMessagesVisible | "Sum"         | GreaterThanThreshold          | var.open  | 300      |
            ApproximateNumberOfMessagesVisible | "Sum"         | GreaterThanThreshold          | 1         | var.open |
            NumberOfMessagesSent               | "Sum"         | GreaterThanThreshold          | 10        | 300      |
            ApproximateNumberOfMessagesVisible | "Maximum"     | GreaterThanThreshold          | 10        | 300      |
            ApproximateNumberOfMessagesVisible | var.open      | GreaterThanThreshold          | 10        | 300      |
            ApproximateNumberOfMessagesVisible | "SampleCount" | GreaterThanThreshold          | 0         | 60       | 1
            ApproximateNumberOfMessagesVisible | "Average"     | GreaterThanOrEqualToThreshold | 1         | 300      | 1
            ApproximateNumberOfMessagesVisible | "Average"     | GreaterThanOrEqualToThreshold | 2         | 300      | info statistic
            ApproximateNumberOfMessagesVisible | "Average"     | GreaterThanOrEqualToThreshold | 1         | 60       | info statistic
            ApproximateNumberOfMessagesVisible | "Average"     | GreaterThanThreshold          | 0         | 300      |
            ApproximateNumberOfMessagesVisible | "Minimum"     | GreaterThanThreshold          | 0         | 300      | warning statistic
            NumberOfMessagesSent               | "Minimum"     | GreaterThanThreshold          | 10        | 300      |
            ApproximateAgeOfOldestMessage      | "Average"     | GreaterThanThreshold          | 3600      | 60       | info statistic
            ApproximateAgeOfOldestMessage      | "Minimum"     | GreaterThanThreshold          | 3600      | 60       | info statistic
            ApproximateAgeOfOldestMessage      | "Minimum"     | GreaterThanThreshold          | 3600      | 61       | warning statistic
            ApproximateAgeOfOldestMessage      | "Minimum"     | GreaterThanThreshold          | var.open  | 60       |
            ApproximateAgeOfOldestMessage      | "p90"         | GreaterThanThreshold          | 3600      | 60       |
            NumberOfMessagesSent               | "Average"     | GreaterThanThreshold          | 10        | 300      | 1
            NumberOfMessagesSent               | "Average"     | GreaterThanThreshold          | 0         | 300      |
            SentMessageSize                    | "Average"     | GreaterThanThreshold          | 10        | 300      |
            "#,
        );
    }

    #[test]
    fn help_changes_the_threshold_with_the_statistic() {
        CloudFormation.check_cases(
            &RULE,
            "
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}}
  D: {Type: AWS::SQS::Queue}
  A:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: AWS/SQS
      MetricName: <metric>
      Dimensions: [{Name: QueueName, Value: !GetAtt <queue>.QueueName}]
      Statistic: <statistic>
      ComparisonOperator: <comparison>
      Threshold: <threshold>
      Period: 300
      EvaluationPeriods: 1
",
            "
            queue | metric                             | statistic   | comparison                    | threshold | finding   | help
            // A message that stays for the whole period gives a sum of 5 and a maximum of 1.
            D     | ApproximateNumberOfMessagesVisible | Sum         | GreaterThanOrEqualToThreshold | 5         | statistic | set `Statistic` to `Maximum` and `Threshold` to 1, so that…
            D     | ApproximateNumberOfMessagesVisible | Sum         | GreaterThanThreshold          | 3         | statistic | set `Statistic` to `Maximum` and `Threshold` to 0, so that…
            D     | ApproximateNumberOfMessagesVisible | SampleCount | GreaterThanThreshold          | 0         | statistic | set `Statistic` to `Maximum` and `Threshold` to 0, so that…
            Q     | ApproximateNumberOfMessagesVisible | Sum         | GreaterThanThreshold          | 102       | statistic | set `Statistic` to `Maximum` and `Threshold` to 20: 102 was…
            Q     | ApproximateNumberOfMessagesVisible | Sum         | GreaterThanOrEqualToThreshold | 102       | statistic | set `Statistic` to `Maximum` and `Threshold` to 21: 102 was…
            Q     | ApproximateNumberOfMessagesVisible | Sum         | GreaterThanOrEqualToThreshold | 100       | statistic | set `Statistic` to `Maximum` and `Threshold` to 20: 100 was…
            Q     | ApproximateAgeOfOldestMessage      | Sum         | LessThanThreshold             | 102       | statistic | set `Statistic` to `Maximum` and `Threshold` to 21: 102 was…
            Q     | ApproximateAgeOfOldestMessage      | SampleCount | GreaterThanThreshold          | 3         | statistic | set `Statistic` to `Maximum`, and `Threshold` to a value…
            Q     | NumberOfMessagesSent               | Average     | GreaterThanThreshold          | 10        | statistic | set `Statistic` to `Sum`, and `Threshold` to 50 if 10…
            D     | ApproximateNumberOfMessagesVisible | Average     | GreaterThanOrEqualToThreshold | 1         | statistic | set `Statistic` to `Maximum`…
            ",
        );
    }
}
