//! Flags queues that lose messages if their consumer has an outage of a day.

use super::prelude::*;
use crate::graph::Seconds;
use crate::rules::shared::consumers::Consumer;
use crate::rules::shared::scenarios;

settings! {
    /// Minimum retention period of a queue.
    struct Outage of "queue-retention-too-short" {
        minimum: i64 = 86_400, at least 60, "the shortest retention period in seconds that outlasts an outage";
    }
}

pub(super) static RULE: Rule = Rule {
    id: "queue-retention-too-short",
    category: Category::Queue,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: None,
    summary: "a queue keeps messages for less than a day, so that an outage of its consumer loses them",
    page: include_str!("../../rules/queue-retention-too-short.md"),
    settings: Outage::ALL,
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for queue in graph.consumed() {
        if graph.is_dead_letter_queue(queue) {
            continue; // The rules on dead-letter queues require more.
        }
        let Outage { minimum } = findings.settings(queue);
        findings.set_judged_attribute(&queue.retention);
        for consumer in findings.consumers_and_workers(graph, &queue.resource.when, queue) {
            for retention in findings.retention(&consumer.when, queue) {
                let lasts = at_least(&retention, Seconds(minimum)).depending_on(&consumer);
                findings.require(&retention.when, queue, lasts, || {
                    too_short(queue, &retention, &consumer, minimum)
                });
            }
        }
    }
}

fn too_short(queue: &Queue, retention: &Operand<'_>, consumer: &Consumer<'_>, minimum: i64) -> Finding {
    let headline = format!(
        "{} keeps messages for {}, so a longer outage of its consumer loses them",
        queue.resource.shown(),
        retention.in_words()
    );
    let label = format!(
        "a message that nobody has handled is deleted after {}",
        retention.shown()
    );
    let default = limits::RETENTION_DEFAULT;
    let wanted = if minimum > limits::RETENTION.most {
        // A configured minimum may exceed the maximum of SQS.
        format!(
            "{}, the maximum that SQS accepts",
            Seconds(limits::RETENTION.most).with_words()
        )
    } else if Seconds(minimum) > default {
        format!("{} or more", Seconds(minimum).with_words())
    } else {
        format!("SQS's default of {} or more", default.with_words())
    };
    Finding::new("retention", headline, retention, label)
        .show(consumer)
        .scenario(scenarios::of_outage(retention, minimum))
        .help(format!(
            "set `{}` to {wanted}, and let the dead-letter queue keep messages for longer than that",
            retention.name
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};
    use crate::testing::{check, findings, run_files};

    fn terraform(retention: &str, more: &str) -> String {
        format!(
            r#"
            variable "open" {{}}
            resource "aws_sqs_queue" "orders" {{
              message_retention_seconds = {retention}
            }}
            resource "aws_lambda_event_source_mapping" "orders" {{
              event_source_arn = aws_sqs_queue.orders.arn
              function_name    = "worker"
              {more}
            }}
            "#
        )
    }

    const EXPECTED: &str = "# expect: queue-retention-too-short";

    #[test]
    fn retention_below_a_day_is_flagged() {
        check(&RULE, Terraform, &terraform("86400", ""));
        check(&RULE, Terraform, &terraform(&format!("86399 {EXPECTED}"), ""));
        check(&RULE, Terraform, &terraform("null", ""));
        check(&RULE, Terraform, &terraform("var.open", ""));
        check(&RULE, Terraform, &terraform("3600", "enabled = false"));
        check(&RULE, Terraform, &terraform("14", ""));
    }

    #[test]
    fn retention_without_retries_is_left_to_other_rules() {
        let text = terraform("3600\n visibility_timeout_seconds = 3600", "");
        check(&RULE, Terraform, &text);
    }

    #[test]
    fn minimum_retention_can_be_set() {
        let settings = "[rules.queue-retention-too-short]\nminimum = 172800\n";
        let outcome = run_files(
            &RULE,
            &[("main.tf", &terraform("86400", "")), ("sqslint.toml", settings)],
        );
        assert_eq!(outcome.findings.len(), 1);
    }

    #[test]
    fn dead_letter_queues_and_unconsumed_queues_are_ignored() {
        let template = "
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      MessageRetentionPeriod: 3600
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}
  Failed:
    Type: AWS::SQS::Queue
    Properties: {MessageRetentionPeriod: 3600}
";
        assert!(findings(&RULE, CloudFormation, template).is_empty());
        let declared = "[[consumer]]\nqueue = \"*\"\n";
        let template = format!("{template}AWSTemplateFormatVersion: 2010-09-09\n");
        let outcome = run_files(&RULE, &[("template.yaml", &template), ("sqslint.toml", declared)]);
        let addresses: Vec<&str> = outcome.findings.iter().map(|found| &*found.subject.address).collect();
        assert_eq!(addresses, ["Orders"]);
    }
}
