//! Flags queues with a consumer but without an alarm on the age of their oldest message.

use super::prelude::*;
use crate::graph::alarms::{AGE, is_age};
use crate::rules::shared::alarms::{Unwatched, Words};

pub(super) static RULE: Rule = rule!(
    "queue-age-unalarmed",
    Category::Alarms,
    Severity::Info,
    "no alarm reports that a queue's messages wait too long",
    set = Set::Pedantic
);

static WORDS: Words = Words {
    start: "no alarm reports that messages wait too long in",
    preposition: "in",
    one: "queue",
    several: "queues",
};

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    let watch = graph.alarm_watch(is_age);
    let mut all = Vec::new();
    for queue in graph.consumed().filter(|queue| !graph.is_dead_letter_queue(queue)) {
        // The messages of a consumer that is switched off grow old, too.
        let mappings = graph.consumptions(queue).into_iter().map(|mapping| mapping.when);
        let pipes = graph.pipes_from(queue).into_iter().map(|(when, _)| when);
        let workers = findings.workers(&queue.resource.when, queue).map(|worker| worker.when);
        let read = mappings
            .chain(pipes)
            .chain(workers)
            .fold(Condition::never(), |all, when| all.or(&when));
        let read = read.and(&queue.resource.when);
        let watched = read.and(&watch.noticed_when(queue));
        let is_watched = fact(true, || format!("an alarm on `{AGE}` watches it")).depending_on(&queue.resource.header);
        findings.satisfied(&watched, queue, is_watched);
        let when = findings.certainly_unwatched(&watch, queue, read.and(&watched.not()));
        if when.is_possible() {
            all.push(Unwatched { queue, when });
        }
    }
    findings.report_unwatched(&watch, all, &WORDS, unalarmed);
}

fn unalarmed(queue: &Queue) -> Finding {
    let headline = format!("no alarm reports that messages wait too long in {queue}");
    let label = match queue.retention.known() {
        Some(retention) => format!(
            "a message that is not processed is deleted after {}",
            retention.readable()
        ),
        None => String::new(),
    };
    Finding::new("alarm", headline, queue.resource.header, label).help(format!(
        "add an alarm on `{AGE}` with the statistic `Maximum` and a threshold well below the retention period"
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    #[test]
    fn consumed_queue_without_age_alarm_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_sqs_queue" "q" { <queue>
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "d" {}
resource "aws_sqs_queue" "unread" {}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = "f"
  enabled          = <enabled>
}
resource "aws_cloudwatch_metric_alarm" "a" {
  namespace   = "AWS/SQS"
  metric_name = <metric>
  dimensions  = { QueueName = <name> }
}
"#,
            r#"
            queue | enabled  | metric                               | name                 | finding
                  | true     | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.q.name | queue
                  | true     | "ApproximateAgeOfOldestMessage"      | aws_sqs_queue.d.name | queue
                  | true     | "ApproximateAgeOfOldestMessage"      | aws_sqs_queue.q.name |
                  | true     | "ApproximateAgeOfOldestMessage"      | var.open             |
                  | true     | var.open                             | aws_sqs_queue.q.name |
            // Messages wait while their consumer is switched off.
                  | false    | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.q.name | queue
                  | var.open | "ApproximateNumberOfMessagesVisible" | aws_sqs_queue.q.name | queue
                  | false    | "ApproximateAgeOfOldestMessage"      | aws_sqs_queue.q.name |
            "#,
        );
    }

    #[test]
    fn unit_without_alarms_gets_one_info() {
        let queue = |name: &str| {
            format!(
                "resource \"aws_sqs_queue\" \"{name}\" {{}}\nresource \"aws_lambda_event_source_mapping\" \"{name}\" {{\n  \
                 event_source_arn = aws_sqs_queue.{name}.arn\n  function_name = \"f\"\n}}\n"
            )
        };
        let found = Terraform.findings(&RULE, &(queue("a") + &queue("b")));
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].headline,
            "no alarm reports that messages wait too long in `aws_sqs_queue.a` or in 1 other queue"
        );
    }
}
