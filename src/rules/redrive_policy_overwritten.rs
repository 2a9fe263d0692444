//! Flags queues whose redrive policy or redrive allow policy is set twice.

use super::prelude::*;
use crate::graph::{RedriveKind, RedriveWriter};

pub(super) static RULE: Rule = rule!(
    "redrive-policy-overwritten",
    Category::Queue,
    Severity::Warning,
    "the redrive policy of a queue is set in two places, which overwrite each other"
);

fn check(findings: &mut Findings<'_>) {
    for queue in findings
        .graph
        .queues()
        .iter()
        .filter(|queue| queue.resource.is_single())
    {
        if let [only] = queue.redrive_writers.as_slice() {
            let single = fact(true, || "one place writes the redrive policy".to_owned());
            findings.satisfied(&queue.resource.when.and(&only.when), queue, single);
        }
        for (at, writer) in queue.redrive_writers.iter().enumerate() {
            let others = queue.redrive_writers.iter().take(at);
            for other in others.filter(|other| other.kind == writer.kind && other.resource != writer.resource) {
                let mut when = queue.resource.when.and(&writer.when).and(&other.when);
                for writer in [writer, other] {
                    if let Some(reason) = &writer.doubt {
                        findings.note_unresolved(&when, queue, reason, writer.span);
                        when = Condition::never();
                    }
                }
                findings.report(&when, queue, overwritten(queue, other, writer));
            }
        }
    }
}

fn overwritten(queue: &Queue, first: &RedriveWriter, second: &RedriveWriter) -> Finding {
    let (attribute, policy) = match second.kind {
        RedriveKind::Policy => ("redrive", "redrive policy"),
        RedriveKind::AllowPolicy => ("redrive_allow", "redrive allow policy"),
    };
    let headline = format!("the {policy} of {queue} is set in two places, and the one that is applied last stays");
    let label = |writer: &RedriveWriter| match &writer.resource {
        Some(by) => format!("`{by}` sets it"),
        None => format!("the queue sets its {policy} itself"),
    };
    let help = match first.resource {
        None => format!("keep the {policy} in the queue, or in the resource of its own, and remove the other"),
        Some(_) => "keep one of the two resources".to_owned(),
    };
    Finding::new(attribute, headline, second.span, label(second))
        .label(first.span, label(first))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    #[test]
    fn policy_set_in_two_places_is_flagged() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
variable "separate" {
  default = true
}
resource "aws_sqs_queue" "d" {}
resource "aws_sqs_queue" "other" {}
locals {
  policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "q" {
  redrive_policy = <own>
}
resource "aws_sqs_queue_redrive_policy" "p" {
  redrive_policy = local.policy
  queue_url      = <separate>
  count          = <count>
}
resource "aws_sqs_queue_redrive_policy" "r" {
  redrive_policy = local.policy
  queue_url      = <other>
}
"#,
            "
            own                                | separate               | count                | other                  | finding
            local.policy                       | aws_sqs_queue.other.id | 1                    | aws_sqs_queue.d.id     |
            null                               | aws_sqs_queue.q.id     | 1                    | aws_sqs_queue.other.id |
            local.policy                       | aws_sqs_queue.q.id     | 1                    | aws_sqs_queue.other.id | 1
            local.policy                       | var.open               | 1                    | aws_sqs_queue.other.id |
            var.open                           | aws_sqs_queue.q.id     | 1                    | aws_sqs_queue.other.id |
            null                               | aws_sqs_queue.q.id     | 1                    | aws_sqs_queue.q.id     | 1
            // Policies under exclusive conditions.
            var.separate ? null : local.policy | aws_sqs_queue.q.id     | var.separate ? 1 : 0 | aws_sqs_queue.other.id |
            var.separate ? null : local.policy | aws_sqs_queue.q.id     | var.separate ? 0 : 1 | aws_sqs_queue.other.id |
            local.policy                       | aws_sqs_queue.q.id     | 0                    | aws_sqs_queue.other.id |
            local.policy                       | aws_sqs_queue.q.id     | var.open             | aws_sqs_queue.other.id |
            ",
        );
    }

    #[test]
    fn allow_policy_is_checked_separately() {
        Terraform.check(
            &RULE,
            r#"
resource "aws_sqs_queue" "d" {
  redrive_allow_policy = jsonencode({ redrivePermission = "allowAll" })
}
resource "aws_sqs_queue_redrive_allow_policy" "a" { # expect: redrive-policy-overwritten
  queue_url            = aws_sqs_queue.d.id
  redrive_allow_policy = jsonencode({ redrivePermission = "denyAll" })
}
resource "aws_sqs_queue" "q" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue_redrive_allow_policy" "q" {
  queue_url            = aws_sqs_queue.q.id
  redrive_allow_policy = jsonencode({ redrivePermission = "denyAll" })
}
"#,
        );
    }
}
