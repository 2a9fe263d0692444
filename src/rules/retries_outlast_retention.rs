//! Flags queues whose messages expire before they have failed often enough to reach the dead-letter queue.

use super::prelude::*;
use crate::graph::Seconds;
use crate::graph::limits::{RETENTION, RETENTION_DEFAULT};
use crate::rules::shared::advice::AdvisedReceives;
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::retries::Retries;
use crate::rules::shared::scenarios;

pub(super) static RULE: Rule = Rule {
    id: "retries-outlast-retention",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    fix: Some(Safety::Unsafe),
    summary: "a failing message expires before it reaches the dead-letter queue",
    page: include_str!("../../rules/retries-outlast-retention.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.read() {
        let AdvisedReceives { recommended } = findings.settings(queue);
        for count in findings.receive_counts(&queue.resource.when, queue) {
            for consumer in findings.consumers(graph, &count.when, queue) {
                for retries in findings.retries(&consumer.when, queue, &count) {
                    for retention in findings.retention(&retries.when, queue) {
                        let arrives = below(retries.age(), &retention).depending_on(&consumer);
                        findings.require(&retention.when, queue, arrives, || {
                            expires(queue, &retries, &retention, &consumer, recommended)
                        });
                    }
                }
            }
        }
    }
}

fn expires(
    queue: &Queue,
    retries: &Retries<'_>,
    retention: &Operand<'_>,
    consumer: &Consumer<'_>,
    recommended: i64,
) -> Finding {
    let (age, visibility) = (retries.age().value, retries.visibility.value);
    let severity = if retention.value <= 2 * visibility {
        Severity::Error
    } else {
        Severity::Warning
    };
    let headline = format!(
        "{} keeps messages for {}, but one that keeps failing reaches the dead-letter queue only after {}",
        queue.resource.shown(),
        retention.in_words(),
        Seconds(age).with_words()
    );
    let deleted = format!("the message is deleted after {}", retention.shown());
    let finding = Finding::new("retention", headline, retention, retention.or_default("SQS", deleted));
    // SQS's default is preferred: a source queue with the retention of its dead-letter queue would leave no time to
    // look at failed messages there.
    let wanted = [RETENTION_DEFAULT.0, RETENTION.most]
        .into_iter()
        .find(|wanted| age < *wanted);
    retries
        .show(finding.severity(severity))
        .scenario(scenarios::of_retries(retries, retention))
        .show(consumer)
        .help(help(retries, retention, recommended))
        .fix(wanted.map(|wanted| retention.set_to(wanted)))
}

/// Returns the help text, which never suggests fewer receives than `max-receive-count-low-for-poller` recommends.
fn help(retries: &Retries<'_>, retention: &Operand<'_>, recommended: i64) -> String {
    let (age, count, visibility) = (retries.age().value, retries.count.name, &retries.visibility);
    let raise = (age < RETENTION.most).then(|| format!("raise `{}` above {age}", retention.name));
    // Most receives that still fit; zero if the delay alone uses up the retention period.
    let fitting = (retention.value - retries.delay.value - 1)
        .max(0)
        .checked_div(visibility.value);
    let lower = fitting
        .filter(|fitting| *fitting >= recommended)
        .map(|fitting| format!("lower `{count}` to {fitting} or less"));
    match (raise, lower) {
        (Some(raise), Some(lower)) => format!("{raise}, or {lower}"),
        (Some(help), None) | (None, Some(help)) => help,
        (None, None) => format!("lower `{}`", visibility.name),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{RULE, Severity};
    use crate::testing::{Dialect, check, findings};

    fn terraform(settings: &str, count: i64, mapping: &str) -> String {
        format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{
              {settings}
              redrive_policy = jsonencode({{
                deadLetterTargetArn = "arn:aws:sqs:eu-west-1:123456789012:failed"
                maxReceiveCount     = {count}
              }})
            }}
            resource "aws_lambda_event_source_mapping" "orders" {{
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = "worker"
              {mapping}
            }}
            "#
        )
    }

    fn settings(visibility: &str, delay: &str, retention: &str) -> String {
        format!(
            "visibility_timeout_seconds = {visibility}\n delay_seconds = {delay}\n message_retention_seconds = {retention}"
        )
    }

    #[test]
    fn equal_retention_is_flagged() {
        let short = settings("60", "10", "310 # expect: retries-outlast-retention");
        check(&RULE, Dialect::Terraform, &terraform(&short, 5, ""));
        check(
            &RULE,
            Dialect::Terraform,
            &terraform(&settings("60", "10", "311"), 5, ""),
        );
        check(
            &RULE,
            Dialect::Terraform,
            &terraform(&settings("60", "10", "310"), 5, "enabled = false"),
        );
    }

    #[test]
    fn severity_depends_on_number_of_attempts() {
        let severity = |retention: &str| {
            findings(
                &RULE,
                Dialect::Terraform,
                &terraform(&settings("60", "0", retention), 5, ""),
            )[0]
            .severity
        };
        assert_eq!(severity("120"), Severity::Error);
        assert_eq!(severity("121"), Severity::Warning);
    }

    #[test]
    fn zero_timeout_single_attempt_and_ranges_are_left_to_other_rules() {
        for (visibility, retention, count) in [
            ("0", "60", 5),
            ("60", "60", 5),
            ("60", "300", 2000),
            ("60000", "300", 5),
            ("60", "59", 5),
            ("var.open", "300", 5),
            ("60", "var.open", 5),
        ] {
            let text = terraform(&settings(visibility, "0", retention), count, "");
            check(&RULE, Dialect::Terraform, &text);
        }
    }

    #[test]
    fn help_names_values_that_fit() {
        let help = |visibility: &str, retention: &str, count| {
            let text = terraform(&settings(visibility, "0", retention), count, "");
            let found = findings(&RULE, Dialect::Terraform, &text);
            (found[0].help.clone().unwrap(), found[0].calculation.clone().unwrap())
        };
        assert_eq!(
            help("60", "1000", 20),
            (
                "raise `message_retention_seconds` above 1200, or lower `maxReceiveCount` to 16 or less".to_owned(),
                "0 s + 20 × 60 s = 1200 s".to_owned()
            )
        );
        // Another rule reports fewer than five receives.
        assert_eq!(help("60", "200", 5).0, "raise `message_retention_seconds` above 300");
        // No retention period is long enough.
        assert_eq!(help("43200", "1209600", 28).0, "lower `maxReceiveCount` to 27 or less");
    }

    #[test]
    fn default_retention_is_used() {
        let text = "
Resources:
  Orders: # expect: retries-outlast-retention
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 5400
      RedrivePolicy: {deadLetterTargetArn: 'arn:aws:sqs:eu-west-1:123456789012:failed', maxReceiveCount: 64}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      Events: {Q: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}
";
        check(&RULE, Dialect::Sam, text);
        check(
            &RULE,
            Dialect::Sam,
            &text
                .replace("64}", "63}")
                .replace("# expect: retries-outlast-retention", ""),
        );
    }
}
