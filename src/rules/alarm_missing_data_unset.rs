//! Flags alarms on dead-letter queues that do not define how periods without data are treated: SQS publishes no metrics
//! of an unused queue.

use super::prelude::*;
use crate::graph::Alarm;
use crate::graph::alarms::reveals_backlog;

pub(super) static RULE: Rule = rule!(
    "alarm-missing-data-unset",
    Category::Alarms,
    Severity::Warning,
    "an alarm on a dead-letter queue does not say that periods without data are fine",
    set = Set::Pedantic
);

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    for alarm in graph.alarms() {
        for metric in findings.queue_metrics(alarm) {
            let queues = graph.watched_queues(alarm, metric.of);
            let queue = queues.into_iter().find(|queue| graph.is_dead_letter_queue(queue));
            let Some(queue) = queue.filter(|_| reveals_backlog(metric.name.value)) else {
                continue;
            };
            for missing in findings.known(&metric.name.when, alarm, &alarm.missing_data) {
                let setting = missing.value.as_deref().unwrap_or("missing");
                let is_fine = fact(matches!(setting, "notBreaching" | "ignore"), || {
                    format!("periods without data are `{setting}`")
                });
                findings.require(&missing.when, alarm, is_fine.depending_on(&missing), || {
                    unset(alarm, queue, &missing, setting)
                });
            }
        }
    }
}

fn unset(alarm: &Alarm, queue: &Queue, missing: &Known<'_, Option<String>>, setting: &str) -> Finding {
    let (name, shown) = (alarm.resource.shown(), queue.resource.shown());
    let is_breaching = setting == "breaching";
    let (headline, label, severity) = if is_breaching {
        (
            format!("{name} goes off while the dead-letter queue {shown} is idle"),
            "periods without data count as breaching, and SQS reports nothing of a queue that is not used".to_owned(),
            Severity::Warning,
        )
    } else {
        (
            format!("{name} is neither OK nor ALARM while the dead-letter queue {shown} is idle"),
            format!(
                "`{}` is `missing`, so the alarm shows INSUFFICIENT_DATA when SQS reports nothing",
                missing.name
            ),
            Severity::Info,
        )
    };
    Finding::new("missing_data", headline, missing, label)
        .severity(severity)
        .help(format!("set `{}` to `notBreaching`", missing.name))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::diagnostic::Severity;
    use crate::testing::Dialect::Terraform;

    fn severities(queue: &str, missing: &str) -> Vec<Severity> {
        let text = format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 }})
}}
resource "aws_sqs_queue" "d" {{}}
resource "aws_cloudwatch_metric_alarm" "a" {{
  namespace   = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = {{ QueueName = aws_sqs_queue.{queue}.name }}
  {missing}
}}
"#
        );
        Terraform
            .findings(&RULE, &text)
            .iter()
            .map(|found| found.severity)
            .collect()
    }

    #[test]
    fn missing_data_setting_of_dead_letter_queue_alarm_is_checked() {
        assert_eq!(severities("d", ""), [Severity::Info]);
        assert_eq!(severities("d", "treat_missing_data = \"missing\""), [Severity::Info]);
        assert_eq!(
            severities("d", "treat_missing_data = \"breaching\""),
            [Severity::Warning]
        );
        assert_eq!(severities("d", "treat_missing_data = \"notBreaching\""), []);
        assert_eq!(severities("d", "treat_missing_data = \"ignore\""), []);
        assert_eq!(severities("d", "treat_missing_data = var.open"), []);
        assert_eq!(severities("q", ""), []);
    }
}
