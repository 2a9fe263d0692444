//! Flags rules and schedules that send to a FIFO queue without content-based deduplication.

use super::prelude::*;
use crate::graph::delivery::{EventTarget, Sender};

pub(super) static RULE: Rule = rule!(
    "fifo-target-without-deduplication",
    Category::Fifo,
    Severity::Error,
    "a rule or schedule sends to a FIFO queue without content-based deduplication, and every send fails"
);

fn check(findings: &mut Findings<'_>) {
    for target in &findings.graph.deliveries().targets {
        // Requests to the URL of a queue may contain a deduplication id.
        let may_supply_one = target.uses_url && target.sender != Sender::Task || target.sender == Sender::Subscriber;
        if may_supply_one || target.sender.needs_standard_queue() || target.deduplication_id.known() != Some(&None) {
            continue;
        }
        let resource = &target.resource;
        for link in findings.known(&resource.when, resource, &target.target) {
            let Some(queue) = findings.graph.queue(resource.unit, link.value) else {
                continue;
            };
            for fifo in findings.known(&link.when.and(&queue.resource.when), queue, &queue.fifo) {
                if !fifo.value {
                    continue;
                }
                for content in findings.known(&fifo.when, queue, &queue.content_based_deduplication) {
                    let is_on = fact(*content.value, || format!("`{}` is on", content.name));
                    findings.require(
                        &content.when,
                        resource,
                        is_on.depending_on(&content).depending_on(&link),
                        || refused(target, queue, &link, &content),
                    );
                }
            }
        }
    }
}

fn refused(target: &EventTarget, queue: &Queue, link: &Known<'_, Link>, content: &Known<'_, bool>) -> Finding {
    let (sender, shown) = (target.resource.shown(), queue.resource.shown());
    let service = match target.sender {
        Sender::Schedule => "a schedule",
        Sender::Task => "the task",
        _ => "a rule",
    };
    let headline = format!(
        "{sender} sends to the FIFO queue {shown} without a deduplication id, and the queue does not deduplicate by content: every send fails"
    );
    Finding::new(
        "target",
        headline,
        link,
        format!("{service} supplies no deduplication id"),
    )
    .label(content, format!("{shown} expects one with each message"))
    .help(format!("set `{}` to `true` on {shown}", content.name))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::queue;

    #[test]
    fn fifo_target_without_content_deduplication_is_flagged() {
        let target = r#"
resource "aws_cloudwatch_event_target" "t" {
  rule = "r"
  arn  = aws_sqs_queue.orders.arn
  sqs_target {
    message_group_id = "g"
  }
}"#;
        queue().queue("name", "q.fifo").terraform(target).check(
            &RULE,
            "
            queue.fifo | queue.deduplication | finding
            true       |                     | 1
            true       | true                |
            true       | open                |
            open       |                     |
                       |                     |
            ",
        );
        queue()
            .terraform(&target.replace("aws_sqs_queue.orders.arn", "var.open"))
            .check(
                &RULE,
                "
            queue.fifo | finding
            true       |
            ",
            );
    }

    #[test]
    fn action_of_a_schedule_may_supply_an_id() {
        Terraform.check(
            &RULE,
            r#"
resource "aws_sqs_queue" "q" {
  fifo_queue = true
}
resource "aws_scheduler_schedule" "s" {
  target {
    arn   = "arn:aws:scheduler:::aws-sdk:sqs:sendMessage"
    input = jsonencode({ QueueUrl = aws_sqs_queue.q.url, MessageGroupId = "g", MessageDeduplicationId = "d" })
  }
}
"#,
        );
    }

    #[test]
    fn finding_points_at_target() {
        let targets = "  R:
    Type: AWS::Events::Rule
    Properties:
      Targets:
        - Id: q
          Arn: !GetAtt Orders.Arn # expect: fifo-target-without-deduplication
          SqsParameters: {MessageGroupId: g}
  S:
    Type: AWS::Scheduler::Schedule
    Properties:
      Target:
        Arn: !GetAtt Orders.Arn # expect: fifo-target-without-deduplication
        SqsParameters: {MessageGroupId: g}";
        queue()
            .template(targets)
            .check(&RULE, "queue.fifo | finding\n true | targets, targets");
    }
}
