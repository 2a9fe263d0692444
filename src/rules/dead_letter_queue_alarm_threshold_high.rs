//! Flags alarms on the depth of a dead-letter queue that go off only after several messages or a long time.

use super::prelude::*;
use crate::graph::Alarm;
use crate::graph::alarms::is_depth;

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-alarm-threshold-high",
    Category::Alarms,
    Severity::Info,
    "the alarm on a dead-letter queue waits for several messages, or for long",
    set = Set::Pedantic
);

/// Longest acceptable time until the alarm goes off, in seconds.
const LONGEST: i64 = 900;

/// A common period, in seconds.
const SHORT: i64 = 300;

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    let watch = graph.alarm_watch(is_depth);
    for queue in graph.queues().iter().filter(|queue| graph.is_dead_letter_queue(queue)) {
        // A second alarm may be the one for the first message.
        let [alarm] = watch.alarms(queue) else { continue };
        if alarm.has_queries || alarm.is_nonexistent {
            continue;
        }
        let when = alarm.resource.when.and(&queue.resource.when);
        let when = findings.certainly_unwatched(&watch, queue, when);
        let mut unheard = Condition::never();
        for statistic in alarm.metrics.iter().map(|of| &of.statistic) {
            for statistic in findings.known(&when, *alarm, statistic) {
                // A sum, or a count of samples, may exceed the number of messages.
                let name = statistic.value.as_deref();
                if matches!(name, Some("Maximum" | "Average" | "Minimum")) {
                    let is_maximum = name == Some("Maximum");
                    unheard = unheard.or(&messages(findings, &statistic.when, alarm, queue, is_maximum));
                }
            }
        }
        time(findings, &when.and(&unheard.not()), alarm, queue);
    }
}

/// Checks the number of messages that the alarm waits for. Returns the condition under which a single message never sets
/// it off. Without `is_maximum`, `alarm-statistic-misleading` reports that, together with the statistic.
fn messages(
    findings: &mut Findings<'_>,
    when: &Condition,
    alarm: &Alarm,
    queue: &Queue,
    is_maximum: bool,
) -> Condition {
    let mut unheard = Condition::never();
    for comparison in findings.known(when, alarm, &alarm.comparison) {
        let more = match comparison.value.as_deref() {
            Some("GreaterThanThreshold") => 1,
            Some("GreaterThanOrEqualToThreshold") => 0,
            _ => continue,
        };
        for threshold in findings.any_numbers(&comparison.when, alarm, &alarm.threshold, Unit::Messages) {
            let needed = threshold.value.saturating_add(more);
            let is_first = fact(needed <= 1, || "the first message is enough".to_owned()).depending_on(&threshold);
            if needed > 1 {
                unheard = unheard.or(&threshold.when);
            }
            if !is_maximum {
                continue;
            }
            findings.require(&threshold.when, alarm, is_first, || {
                let headline = format!(
                    "{alarm} waits for {needed} messages in the dead-letter queue {queue}: a single one never sets it off"
                );
                Finding::new(
                    "threshold",
                    headline,
                    &threshold,
                    "each message here is a failure already",
                )
                .help(format!(
                    "set `{}` to {}: the first message is a failure",
                    threshold.name,
                    1 - more
                ))
            });
        }
    }
    unheard
}

/// Checks the time that the alarm waits.
fn time(findings: &mut Findings<'_>, when: &Condition, alarm: &Alarm, queue: &Queue) {
    for datapoints in findings.any_numbers(when, alarm, &alarm.datapoints, Unit::Messages) {
        needs(findings, alarm, queue, &datapoints);
    }
    let unset = findings.known(when, alarm, &alarm.datapoints);
    for unset in unset.iter().filter(|datapoints| datapoints.value.is_none()) {
        for periods in findings.any_numbers(&unset.when, alarm, &alarm.evaluation_periods, Unit::Messages) {
            needs(findings, alarm, queue, &periods);
        }
    }
}

fn needs(findings: &mut Findings<'_>, alarm: &Alarm, queue: &Queue, periods: &Operand<'_>) {
    for of in &alarm.metrics {
        for period in findings.any_numbers(&periods.when, alarm, &of.period, Unit::Seconds) {
            let needed = periods * &period;
            findings.require(&period.when, alarm, at_most(needed, LONGEST), || {
                let headline = format!(
                    "{alarm} waits for {} s before it reports a message in the dead-letter queue {queue}",
                    periods.value.saturating_mul(period.value)
                );
                if period.value > LONGEST {
                    let label = format!("a period alone lasts {}", period.shown());
                    return Finding::new("evaluation_periods", headline, &period, label)
                        .help(format!("set `{}` to {SHORT}", period.name));
                }
                let label = format!(
                    "{} periods of {} have to be over the threshold",
                    periods.value,
                    period.shown()
                );
                Finding::new("evaluation_periods", headline, periods, label)
                    .help(format!("set `{}` to 1", periods.name))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    const QUEUES: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.d.name }
  statistic           = <statistic>
  comparison_operator = <comparison>
  threshold           = <threshold>
  evaluation_periods  = <periods>
  period              = <period>
  datapoints_to_alarm = <datapoints>
}
"#;

    const CASES: &str = r#"
        statistic | comparison                      | threshold | periods | period   | datapoints | finding
        "Maximum" | "GreaterThanThreshold"          | 0         | null    | null     | null       |
        "Maximum" | "GreaterThanThreshold"          | 1         | null    | null     | null       | 1
        "Maximum" | "GreaterThanThreshold"          | 10        | null    | null     | null       | 1
        "Maximum" | "GreaterThanOrEqualToThreshold" | 1         | null    | null     | null       |
        "Maximum" | "GreaterThanOrEqualToThreshold" | 2         | null    | null     | null       | 1
        "Maximum" | "GreaterThanThreshold"          | var.open  | null    | null     | null       |
        "Maximum" | "LessThanThreshold"             | 5         | null    | null     | null       |
        // An evaluation above fifteen minutes.
        "Maximum" | null                            | null      | 3       | 300      | null       |
        "Maximum" | null                            | null      | 4       | 300      | null       | 1
        "Maximum" | null                            | null      | 4       | 300      | 1          |
        "Maximum" | null                            | null      | 1       | var.open | null       |
        // Another rule reports an average that one message does not reach.
        "Average" | "GreaterThanThreshold"          | 1         | 60      | 60       | null       |
        "Average" | "GreaterThanThreshold"          | 1         | 1       | 60       | null       |
        "Average" | "GreaterThanThreshold"          | 0         | 60      | 60       | null       | 1
        // A single period is long.
        "Maximum" | null                            | null      | 1       | 3600     | null       | 1
        "Average" | "GreaterThanOrEqualToThreshold" | 1         | 1       | 60       | null       |
        "#;

    #[test]
    fn threshold_above_one_message_and_long_evaluation_are_flagged() {
        Terraform.check_cases(&RULE, QUEUES, CASES);
    }

    #[test]
    fn time_is_not_reported_if_one_message_never_sets_off_the_alarm() {
        let arguments = [
            "statistic",
            "comparison",
            "threshold",
            "periods",
            "period",
            "datapoints",
        ];
        let values = ["\"Maximum\"", "\"GreaterThanThreshold\"", "1", "60", "60", "null"];
        let text = arguments.iter().zip(values);
        let text = text.fold(QUEUES.to_owned(), |text, (name, value)| {
            text.replace(&format!("<{name}>"), value)
        });
        let found = Terraform.findings(&RULE, &text);
        let headlines: Vec<&str> = found.iter().map(|found| &*found.headline).collect();
        assert!(
            matches!(headlines.as_slice(), [one] if one.ends_with("a single one never sets it off")),
            "{headlines:?}"
        );
    }

    #[test]
    fn queue_with_second_alarm_is_ignored() {
        let other = r#"
resource "aws_cloudwatch_metric_alarm" "b" {
  namespace   = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = { QueueName = aws_sqs_queue.d.name }
}
"#;
        let accepted = CASES.replace("| 1\n", "|\n");
        Terraform.check_cases(&RULE, &format!("{QUEUES}{other}"), &accepted);
    }
}
