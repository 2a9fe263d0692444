//! Flags FIFO dead-letter queues that leave people little time.

use super::prelude::*;
use crate::graph::Seconds;
use crate::graph::limits::RETENTION_DEFAULT;
use crate::rules::shared::stories;

pub(super) static RULE: Rule = Rule {
    id: "fifo-dead-letter-queue-retention-short",
    category: Category::Redrive,
    severity: Severity::Info,
    set: Set::Pedantic,
    fix: Some(Safety::Unsafe),
    summary: "a FIFO dead-letter queue keeps messages for less than 4 days",
    page: include_str!("../../rules/fifo-dead-letter-queue-retention-short.md"),
    settings: Kept::ALL,
    check: Some(check),
};

settings! {
    /// How long failures have to be kept.
    struct Kept of "fifo-dead-letter-queue-retention-short" {
        minimum: i64 = RETENTION_DEFAULT.0, at least 60, "the least retention period in seconds that is enough";
    }
}

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for dlq in graph.queues() {
        if graph.sources_of(dlq).is_empty() {
            continue;
        }
        let Kept { minimum } = findings.settings(dlq);
        for fifo in findings.known(&dlq.resource.when, dlq, &dlq.fifo) {
            if *fifo.value {
                for retention in findings.retention(&fifo.when, dlq) {
                    findings.require(&retention.when, dlq, at_least(&retention, Seconds(minimum)), || {
                        short(dlq, &retention, minimum)
                    });
                }
            }
        }
    }
}

fn short(dlq: &Queue, retention: &Operand<'_>, minimum: i64) -> Finding {
    let most = limits::RETENTION.most;
    let headline = format!(
        "{} keeps messages that failed for {}, less than the {} that people need to look at them",
        dlq.resource.shown(),
        retention.spoken(),
        Seconds(minimum).spoken()
    );
    let label = format!("a message is deleted {} after it was moved here", retention.shown());
    Finding::new("retention", headline, retention, label)
        .help(format!("set `{}` to {most} (14 days, the maximum)", retention.name))
        .shows(stories::of_absence(retention, minimum))
        .fix(retention.set_to(most))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(fifo: &str, retention: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "failed" {{
  fifo_queue                = {fifo}
  message_retention_seconds = {retention}
}}
resource "aws_sqs_queue" "orders" {{
  fifo_queue     = {fifo}
  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 }})
}}
"#
        )
    }

    #[test]
    fn four_days_are_enough() {
        for (fifo, retention) in [
            ("true", "345600"),
            ("true", "null"),
            ("true", "var.open"),
            ("false", "60"),
            ("var.open", "60"),
        ] {
            check(&RULE, Terraform, &terraform(fifo, retention));
        }
        check(
            &RULE,
            Terraform,
            &terraform("true", "345599 # expect: fifo-dead-letter-queue-retention-short"),
        );
    }

    #[test]
    fn speaks_of_templates() {
        let template = "
Resources:
  Failed:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      MessageRetentionPeriod: 86400 # expect: fifo-dead-letter-queue-retention-short
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}
";
        check(&RULE, CloudFormation, template);
        check(&RULE, Sam, template);
    }
}
