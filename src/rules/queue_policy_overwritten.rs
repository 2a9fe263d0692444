//! Flags queues with two policies, which overwrite each other.

use super::prelude::*;
use crate::graph::access::{PolicyWriter, QueuePolicy};
use crate::graph::{Target, UnitKind};
use source::Span;

pub(super) static RULE: Rule = rule!(
    "queue-policy-overwritten",
    Category::Queue,
    Severity::Warning,
    "a queue has two policies, and whichever is written last replaces the other"
);

/// Maximum number of policies of a queue with which each other policy of it is compared.
const MOST_COMPARED: usize = 16;

/// Policy on a queue, under the condition `when`.
struct Written<'g> {
    queue: &'g Queue,
    policy: &'g QueuePolicy,
    when: Condition,
}

fn check(findings: &mut Findings<'_>) {
    let mut all: Vec<Written<'_>> = Vec::new();
    for policy in &findings.graph.access().queue_policies {
        all.extend(written(findings, policy));
    }
    // Sorted for a deterministic order of each pair: a policy in the queue itself comes first.
    all.sort_by_key(|one| {
        let queue = &one.queue.resource;
        (
            queue.unit,
            queue.address.clone(),
            one.policy.writer != PolicyWriter::Queue,
        )
    });
    for policies in all.chunk_by(|one, other| std::ptr::eq(one.queue, other.queue)) {
        for (at, second) in policies.iter().enumerate() {
            for first in policies.iter().take(at.min(MOST_COMPARED)) {
                judge(findings, first, second);
            }
        }
        if let [only] = policies {
            let is_one = fact(true, || "it is the only policy of the queue".to_owned());
            findings.satisfied(&only.when, only.queue, is_one.depending_on(&place(only.policy)));
        }
    }
}

/// Returns the queues that `policy` applies to. A name only matches a queue of the same unit, as other units may be
/// different environments.
fn written<'g>(findings: &mut Findings<'g>, policy: &'g QueuePolicy) -> Vec<Written<'g>> {
    let graph = findings.graph;
    let resource = &policy.resource;
    // In a plan or state, the queue's own policy attribute repeats what a separate resource has set.
    let is_deployed = matches!(graph.unit(resource.unit).kind, UnitKind::Plan | UnitKind::State);
    if is_deployed && policy.writer == PolicyWriter::Queue {
        return Vec::new();
    }
    let links = findings.known(&resource.when, resource, &policy.queue).into_iter();
    let all = links.filter_map(|link| {
        let queue = graph
            .queue(resource.unit, link.value)
            .filter(|queue| queue.resource.is_single())?;
        let is_named = matches!(link.value.target, Target::External(_));
        let when = link.when.and(&queue.resource.when);
        let is_this = !is_named || queue.resource.unit == resource.unit;
        is_this.then_some(Written { queue, policy, when })
    });
    all.collect()
}

fn judge(findings: &mut Findings<'_>, first: &Written<'_>, second: &Written<'_>) {
    let (one, other) = (&first.policy.resource, &second.policy.resource);
    if (one.unit, &one.address) == (other.unit, &other.address) && first.policy.writer == second.policy.writer {
        return;
    }
    let mut when = first.when.and(&second.when);
    for policy in [first.policy, second.policy] {
        if let Some(reason) = &policy.resource.uncertain {
            findings.note_unresolved(&when, first.queue, reason, policy.resource.header);
            when = Condition::never();
        }
    }
    for policy in [first.policy, second.policy] {
        // An unresolved argument may be null.
        if let Some((case, unresolved)) = policy.document.unresolved_reason()
            && policy.writer == PolicyWriter::Queue
        {
            let open = when.and(&case.when);
            findings.note_unresolved(&open, first.queue, unresolved.reason(), case.span);
            when = when.and(&open.not());
        }
    }
    findings.report(&when, first.queue, overwritten(first, second));
}

fn place(policy: &QueuePolicy) -> Span {
    match (policy.writer, policy.document.cases.first()) {
        (PolicyWriter::Queue, Some(case)) => case.span,
        _ => policy.resource.header,
    }
}

fn overwritten(first: &Written<'_>, second: &Written<'_>) -> Finding {
    let headline = format!(
        "{} has two policies, and whichever is written last replaces the other",
        first.queue
    );
    let label = |policy: &QueuePolicy| match policy.writer {
        PolicyWriter::Queue => "the queue has a policy in itself".to_owned(),
        PolicyWriter::Transform => "SAM generates a policy of the queue for this".to_owned(),
        PolicyWriter::Separate => format!("{policy} is a policy of the queue"),
    };
    Finding::new("policy", headline, place(second.policy), label(second.policy))
        .label(place(first.policy), label(first.policy))
        .help("put the statements of both into one policy: a queue has one")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    const POLICY: &str = r#"
variable "open" {}
variable "separate" {
  default = true
}
locals {
  policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}
resource "aws_sqs_queue" "other" {}
resource "aws_sqs_queue" "q" {
  name   = "orders"
  policy = <own>
}
resource "aws_sqs_queue_policy" "p" {
  policy    = local.policy
  queue_url = <url>
  count     = <count>
}
"#;

    #[test]
    fn second_policy_on_queue_is_flagged() {
        Terraform.check_cases(
            &RULE,
            POLICY,
            "
            own                                | url                     | count                | finding
            local.policy                       | aws_sqs_queue.other.url | 1                    |
            null                               | aws_sqs_queue.q.url     | 1                    |
            local.policy                       | aws_sqs_queue.q.url     | 1                    | 1
            var.open                           | aws_sqs_queue.q.url     | 1                    |
            // Under exclusive conditions.
            var.separate ? null : local.policy | aws_sqs_queue.q.url     | var.separate ? 1 : 0 |
            local.policy                       | aws_sqs_queue.q.url     | 0                    |
            local.policy                       | aws_sqs_queue.q.url     | var.open             |
            ",
        );
        let two = "resource \"aws_sqs_queue_policy\" \"r\" {\n  policy = local.policy\n  queue_url = <url>\n}\n";
        Terraform.check_cases(
            &RULE,
            &(POLICY.replace("<url>", "aws_sqs_queue.q.url") + two),
            r#"
            own  | url                                                       | count | finding
            null | aws_sqs_queue.q.url                                       | 1     | 1
            null | aws_sqs_queue.other.url                                   | 1     |
            null | var.open                                                  | 1     |
            null | "https://sqs.eu-west-1.amazonaws.com/111122223333/orders" | 1     | 1
            "#,
        );
    }

    #[test]
    fn cloudformation_policies_are_flagged() {
        CloudFormation.check(
            &RULE,
            r"
Conditions:
  Open: !Equals [!Ref AWS::Region, eu-west-1]
  Closed: !Not [!Condition Open]
Resources:
  Q: {Type: AWS::SQS::Queue}
  R: {Type: AWS::SQS::Queue}
  P:
    Type: AWS::SQS::QueuePolicy
    Properties: {PolicyDocument: {Statement: []}, Queues: [!Ref Q, !Ref Q]}
  S: # expect: queue-policy-overwritten
    Type: AWS::SQS::QueuePolicy
    Properties: {PolicyDocument: {Statement: []}, Queues: [!Ref Q]}
  T:
    Type: AWS::SQS::QueuePolicy
    Condition: Open
    Properties: {PolicyDocument: {Statement: []}, Queues: [!Ref R]}
  U:
    Type: AWS::SQS::QueuePolicy
    Condition: Closed
    Properties: {PolicyDocument: {Statement: []}, Queues: [!Ref R]}
",
        );
    }
}
