//! Flags rules and schedules that send to a FIFO queue without content-based deduplication.

use super::prelude::*;
use crate::graph::delivery::{EventTarget, Sender};

pub(super) static RULE: Rule = Rule {
    id: "fifo-target-without-deduplication",
    category: Category::Fifo,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a rule or schedule sends to a FIFO queue without content-based deduplication, and every send fails",
    page: include_str!("../../rules/fifo-target-without-deduplication.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for target in &graph.deliveries().targets {
        if target.sender == Sender::Bucket {
            continue;
        }
        let resource = &target.resource;
        for link in findings.known(&resource.when, resource, &target.target) {
            let Some(queue) = graph.queue(resource.unit, link.value) else {
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
    let service = if target.sender == Sender::Schedule {
        "a schedule"
    } else {
        "a rule"
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
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::check;

    fn terraform(queue: &str, target: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  name = "q.fifo"
  {queue}
}}
resource "aws_cloudwatch_event_target" "t" {{
  rule = "r"
  arn  = {target}
  sqs_target {{
    message_group_id = "g"
  }}
}}
"#
        )
    }

    #[test]
    fn fifo_target_without_content_deduplication_is_flagged() {
        let expected = "aws_sqs_queue.q.arn # expect: fifo-target-without-deduplication";
        check(&RULE, Terraform, &terraform("fifo_queue = true", expected));
        for (queue, target) in [
            (
                "fifo_queue = true\ncontent_based_deduplication = true",
                "aws_sqs_queue.q.arn",
            ),
            (
                "fifo_queue = true\ncontent_based_deduplication = var.open",
                "aws_sqs_queue.q.arn",
            ),
            ("fifo_queue = var.open", "aws_sqs_queue.q.arn"),
            ("", "aws_sqs_queue.q.arn"),
            ("fifo_queue = true", "var.open"),
        ] {
            check(&RULE, Terraform, &terraform(queue, target));
        }
    }

    #[test]
    fn cloudformation_targets_are_flagged() {
        let template = "
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true}
  R:
    Type: AWS::Events::Rule
    Properties:
      Targets:
        - Id: q
          Arn: !GetAtt Q.Arn # expect: fifo-target-without-deduplication
          SqsParameters: {MessageGroupId: g}
  S:
    Type: AWS::Scheduler::Schedule
    Properties:
      Target:
        Arn: !GetAtt Q.Arn # expect: fifo-target-without-deduplication
        SqsParameters: {MessageGroupId: g}
";
        check(&RULE, CloudFormation, template);
        check(&RULE, Sam, template);
    }
}
