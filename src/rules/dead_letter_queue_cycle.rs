//! Flags redrive policies that form a cycle.

use super::prelude::*;
use crate::graph::UnitId;

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-cycle",
    Category::Redrive,
    Severity::Error,
    "redrive policies form a cycle, so failed messages come back"
);

/// Maximum length of a path; longer cycles are not found.
const MAX_LENGTH: usize = 16;
/// Maximum number of redrive policies followed from one queue.
const MAX_STEPS: usize = 256;

/// Queue on a path, and the link to its dead-letter queue.
type Step<'g> = (&'g Queue, Known<'g, Link>);

fn check(findings: &mut Findings<'_>) {
    for start in findings.graph.queues() {
        let mut open: Vec<(Vec<Step<'_>>, &Queue, Condition)> = vec![(Vec::new(), start, start.resource.when.clone())];
        let mut steps = 0;
        while let Some((path, queue, when)) = open.pop() {
            steps += 1;
            if path.len() >= MAX_LENGTH || steps > MAX_STEPS {
                continue;
            }
            for target in findings.redrive_targets(&when, queue) {
                let next = findings.graph.queue(queue.resource.unit, target.value);
                let Some(next) = next.filter(|next| next.resource.is_single()) else {
                    continue;
                };
                if path.is_empty() {
                    let ends = fact(!std::ptr::eq(next, start), || format!("failed messages go to {next}"));
                    findings.satisfied(&target.when, start, ends.depending_on(&target));
                }
                let when = target.when.and(&next.resource.when);
                let path = path.iter().map(|(queue, target)| (*queue, target.clone()));
                let path: Vec<Step<'_>> = path.chain([(queue, target)]).collect();
                if std::ptr::eq(next, start) {
                    if let Some(finding) = circle(&path) {
                        findings.report(&when, start, finding);
                    }
                } else if place(next) > place(start) {
                    // Only queues after the start are followed, so a cycle is reported once: for the first of its
                    // queues.
                    open.push((path, next, when));
                }
            }
        }
    }
}

fn place(queue: &Queue) -> (UnitId, &str) {
    (queue.resource.unit, &queue.resource.address)
}

fn circle(path: &[Step<'_>]) -> Option<Finding> {
    let mut names: Vec<String> = path.iter().map(|(queue, _)| queue.resource.shown()).collect();
    let headline = match names.as_slice() {
        [only] => format!("{only} is its own dead-letter queue, so a message that fails comes back until it expires"),
        _ => format!(
            "a message that fails in {} comes back there through the dead-letter queues, until it expires",
            names.first().map_or("", |name| name)
        ),
    };
    names.extend(names.first().cloned());
    let way = names.join(" → ");
    let mut labels = path.iter().zip(names.iter().skip(1)).map(|((queue, target), next)| {
        let label = format!("{queue} sends its failures to {next}");
        (target, label)
    });
    let (first, label) = labels.next()?;
    let finding = Finding::new("redrive", headline, first, label);
    let finding = labels.fold(finding, |finding, (target, label)| finding.label(target, label));
    Some(finding.help(format!(
        "the cycle is {way}: let it end in a queue without a redrive policy, and move messages back with a redrive task once their cause is fixed"
    )))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};

    /// Queues whose dead-letter queues are `a`, `b` and `c`.
    const QUEUES: &str = r#"
resource "aws_sqs_queue" "a" {
  name = "a"
}
resource "aws_sqs_queue" "b" {}
resource "aws_sqs_queue" "c" {}
resource "aws_sqs_queue_redrive_policy" "a" {
  queue_url      = aws_sqs_queue.a.id
  redrive_policy = jsonencode({
    deadLetterTargetArn = <a>
    maxReceiveCount     = 5
  })
}
resource "aws_sqs_queue_redrive_policy" "b" {
  queue_url      = aws_sqs_queue.b.id
  redrive_policy = jsonencode({
    deadLetterTargetArn = <b>
    maxReceiveCount     = 5
  })
}
resource "aws_sqs_queue_redrive_policy" "c" {
  queue_url      = aws_sqs_queue.c.id
  redrive_policy = jsonencode({
    deadLetterTargetArn = <c>
    maxReceiveCount     = 5
  })
}
"#;

    #[test]
    fn each_cycle_is_reported_once() {
        Terraform.check_cases(
            &RULE,
            QUEUES,
            r#"
            a                                      | b                   | c                   | finding | help
            aws_sqs_queue.a.arn                    | local.open          | local.open          | a       |
            "arn:aws:sqs:eu-west-1:111122223333:a" | local.open          | local.open          | a       |
            aws_sqs_queue.b.arn                    | aws_sqs_queue.a.arn | local.open          | a       |
            aws_sqs_queue.b.arn                    | aws_sqs_queue.c.arn | aws_sqs_queue.a.arn | a       | the cycle is `aws_sqs_queue.a` → `aws_sqs_queue.b` → `aws_sqs_queue.c` → `aws_sqs_queue.a`:…
            // A chain.
            aws_sqs_queue.b.arn                    | aws_sqs_queue.c.arn | local.open          |         |
            // A queue outside the cycle whose path ends in it.
            aws_sqs_queue.b.arn                    | aws_sqs_queue.c.arn | aws_sqs_queue.b.arn | b       |
            local.open                             | local.open          | local.open          |         |
            "#,
        );
    }

    #[test]
    fn cycle_under_exclusive_conditions_is_accepted() {
        for dialect in [CloudFormation, Sam] {
            dialect.check_cases(
                &RULE,
                "
Parameters:
  Stage: {Type: String}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
  IsTest: !Not [!Condition IsProd]
Resources:
  A:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: a
      RedrivePolicy: !If
        - IsProd
        - deadLetterTargetArn: <target>
          maxReceiveCount: 5
        - !Ref AWS::NoValue
  B:
    Type: AWS::SQS::Queue
    Condition: <condition>
    Properties:
      QueueName: b
      RedrivePolicy:
        deadLetterTargetArn: arn:aws:sqs:eu-west-1:111122223333:a
        maxReceiveCount: 5
",
                "
                target                               | condition | finding
                arn:aws:sqs:eu-west-1:111122223333:b | IsTest    |
                arn:aws:sqs:eu-west-1:111122223333:b | IsProd    | target
                ",
            );
        }
    }
}
