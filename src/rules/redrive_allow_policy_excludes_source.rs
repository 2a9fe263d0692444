//! Flags dead-letter queues whose redrive allow policy excludes one of their source queues.

use super::prelude::*;
use crate::graph::{RedriveAllowPolicy, Target};

pub(super) static RULE: Rule = rule!(
    "redrive-allow-policy-excludes-source",
    Category::Redrive,
    Severity::Error,
    "a dead-letter queue does not allow the queue that names it, so SQS rejects the redrive policy"
);

fn check(findings: &mut Findings<'_>) {
    for source in findings.graph.queues() {
        for target in findings.redrive_targets(&source.resource.when, source) {
            let Some(dlq) = findings.graph.queue(source.resource.unit, target.value) else {
                continue;
            };
            let when = target.when.and(&dlq.resource.when);
            for allow in findings.known(&when, dlq, &dlq.redrive_allow) {
                let Some(policy) = allow.value else { continue };
                for permission in findings.known(&allow.when, dlq, &policy.permission) {
                    let left = match permission.value.as_str() {
                        "denyAll" => permission.when.clone(),
                        "byQueue" => excluded(findings, source, dlq, policy, &permission.when),
                        _ => Condition::never(),
                    };
                    let allows = || format!("`{}` allows {source}", permission.value);
                    let allows = fact(true, allows).depending_on(&permission).depending_on(&target);
                    findings.satisfied(&permission.when.and(&left.not()), dlq, allows);
                    findings.report(&left, dlq, excludes(source, dlq, &target, &permission));
                }
            }
        }
    }
}

/// Returns the condition under which `policy` of `dlq` certainly does not list `source`.
fn excluded(
    findings: &mut Findings<'_>,
    source: &Queue,
    dlq: &Queue,
    policy: &RedriveAllowPolicy,
    when: &Condition,
) -> Condition {
    let mut left = when.clone();
    for listed in &policy.sources {
        for case in &listed.cases {
            if case.value().is_none() {
                left = left.and(&case.when.not());
            }
        }
        for listed in findings.known(when, dlq, listed) {
            if !is_other(findings.graph, source, dlq, listed.value) {
                left = left.and(&listed.when.not());
            }
        }
    }
    left
}

/// Returns `true` if `link`, written in `dlq`, certainly refers to a queue other than `source`.
fn is_other(graph: &Graph, source: &Queue, dlq: &Queue, link: &Link) -> bool {
    if let Some(queue) = graph.queue(dlq.resource.unit, link) {
        return !std::ptr::eq(queue, source);
    }
    // An external queue differs from this one only if both names are known and different.
    let Target::External(_) = link.target else { return false };
    let named = link.external_queue_name();
    let name = source.name.known().and_then(Option::as_ref);
    named.zip(name).is_some_and(|(named, name)| named != name)
}

fn excludes(source: &Queue, dlq: &Queue, target: &Known<'_, Link>, permission: &Known<'_, String>) -> Finding {
    let (shown, from) = (dlq.resource.shown(), source.resource.shown());
    let denies_all = permission.value == "denyAll";
    let headline = if denies_all {
        format!("{shown} allows no queue to use it as a dead-letter queue, but {from} does")
    } else {
        format!("{shown} does not allow {from} to use it as a dead-letter queue")
    };
    let label = if denies_all {
        "no queue may name this one".to_owned()
    } else {
        format!("{from} is not among the queues that may name this one")
    };
    let help = if denies_all {
        format!("set `redrivePermission` to `byQueue` with the ARN of {from} in `sourceQueueArns`, or to `allowAll`")
    } else {
        format!("add `{}` to `sourceQueueArns`", source.resource.arn_reference())
    };
    Finding::new("redrive_allow", headline, permission, label)
        .label(target, format!("{from} names it, and SQS rejects that"))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::queue;

    const QUEUES: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "failed" {
  name = "failed"
}
resource "aws_sqs_queue" "other" {
  name = "other"
}
resource "aws_sqs_queue" "orders" {
  <name>
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue_redrive_allow_policy" "failed" {
  queue_url            = aws_sqs_queue.failed.id
  redrive_allow_policy = jsonencode({
    redrivePermission = <permission>
    <sources>
  })
}
"#;

    #[test]
    fn excluded_source_queue_is_flagged() {
        Terraform.check_cases(
            &RULE,
            QUEUES,
            r#"
            name            | permission | sources                                                               | finding
            name = "orders" | "allowAll" |                                                                       |
            name = "orders" | "byQueue"  | sourceQueueArns = [aws_sqs_queue.orders.arn]                          |
            name = "orders" | "byQueue"  | sourceQueueArns = [aws_sqs_queue.other.arn, aws_sqs_queue.orders.arn] |
            name = "orders" | "byQueue"  | sourceQueueArns = ["arn:aws:sqs:eu-west-1:111122223333:orders"]       |
            name = "orders" | "byQueue"  | sourceQueueArns = [var.open]                                          |
            name = "orders" | "byQueue"  | sourceQueueArns = var.open                                            |
            name = "orders" | "byQueue"  | sourceQueueArns = [aws_sqs_queue.other.arn, var.open]                 |
            name = "orders" | var.open   |                                                                       |
            name = "orders" | "denyAll"  |                                                                       | permission
            name = "orders" | "byQueue"  | sourceQueueArns = [aws_sqs_queue.other.arn]                           | permission
            name = "orders" | "byQueue"  | sourceQueueArns = ["arn:aws:sqs:eu-west-1:111122223333:elsewhere"]    | permission
            // The name of the source is unknown.
                            | "byQueue"  | sourceQueueArns = ["arn:aws:sqs:eu-west-1:111122223333:elsewhere"]    |
            "#,
        );
    }

    #[test]
    fn denied_source_in_every_dialect_is_flagged() {
        queue().check(&RULE, "dlq.permission | finding\n denyAll | dlq.permission");
    }
}
