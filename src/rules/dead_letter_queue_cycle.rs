//! Flags redrive policies that form a cycle.

use super::prelude::*;
use crate::graph::UnitId;

pub(super) static RULE: Rule = Rule {
    id: "dead-letter-queue-cycle",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "redrive policies lead back to the queue they start at, so failed messages go round",
    page: include_str!("../../rules/dead-letter-queue-cycle.md"),
    settings: &[],
    check: Some(check),
};

/// Maximum length of a path; longer cycles are not found.
const MAX_LENGTH: usize = 16;
/// Maximum number of redrive policies followed from one queue.
const MAX_STEPS: usize = 256;

/// Queue on a path, and the link to its dead-letter queue.
type Step<'g> = (&'g Queue, Known<'g, Link>);

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for start in graph.queues() {
        let mut open: Vec<(Vec<Step<'_>>, &Queue, Condition)> = vec![(Vec::new(), start, start.resource.when.clone())];
        let mut steps = 0;
        while let Some((path, queue, when)) = open.pop() {
            steps += 1;
            if path.len() >= MAX_LENGTH || steps > MAX_STEPS {
                continue;
            }
            for target in findings.redrive_targets(&when, queue) {
                let Some(next) = graph.queue(queue.resource.unit, target.value) else {
                    continue;
                };
                if path.is_empty() {
                    let ends = fact(!std::ptr::eq(next, start), || {
                        format!("failed messages go to {}", next.resource.shown())
                    });
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
        let label = format!("{} sends its failures to {next}", queue.resource.shown());
        (target, label)
    });
    let (first, label) = labels.next()?;
    let finding = Finding::new("redrive", headline, first, label);
    let finding = labels.fold(finding, |finding, (target, label)| finding.label(target, label));
    Some(finding.help(format!(
        "the way is {way}: let it end in a queue without a redrive policy, and move messages back with a redrive task once their cause is fixed"
    )))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings};

    fn policy(of: &str, to: &str, note: &str) -> String {
        format!(
            r#"
resource "aws_sqs_queue" "{of}" {{
  name = "{of}"
}}
resource "aws_sqs_queue_redrive_policy" "{of}" {{
  queue_url      = aws_sqs_queue.{of}.id
  redrive_policy = jsonencode({{
    deadLetterTargetArn = {to} {note}
    maxReceiveCount     = 5
  }})
}}
"#
        )
    }

    const EXPECTED: &str = "# expect: dead-letter-queue-cycle";

    #[test]
    fn queue_as_its_own_dead_letter_queue_is_flagged() {
        check(&RULE, Terraform, &policy("a", "aws_sqs_queue.a.arn", EXPECTED));
        let by_name = policy("a", "\"arn:aws:sqs:eu-west-1:111122223333:a\"", EXPECTED);
        check(&RULE, Terraform, &by_name);
    }

    #[test]
    fn longer_cycle_is_reported_once() {
        let two = policy("a", "aws_sqs_queue.b.arn", EXPECTED) + &policy("b", "aws_sqs_queue.a.arn", "");
        check(&RULE, Terraform, &two);
        let three = policy("a", "aws_sqs_queue.b.arn", EXPECTED)
            + &policy("b", "aws_sqs_queue.c.arn", "")
            + &policy("c", "aws_sqs_queue.a.arn", "");
        check(&RULE, Terraform, &three);
        let help = findings(&RULE, Terraform, &three).pop().and_then(|found| found.help);
        assert!(
            help.as_deref().is_some_and(|help| help.starts_with(
                "the way is `aws_sqs_queue.a` → `aws_sqs_queue.b` → `aws_sqs_queue.c` → `aws_sqs_queue.a`:"
            )),
            "{help:?}"
        );
    }

    #[test]
    fn chain_is_accepted() {
        let chain = policy("a", "aws_sqs_queue.b.arn", "")
            + &policy("b", "aws_sqs_queue.c.arn", "")
            + "resource \"aws_sqs_queue\" \"c\" {}\n";
        check(&RULE, Terraform, &chain);
        // A queue outside the cycle whose path ends in it.
        let tail = policy("a", "aws_sqs_queue.b.arn", "")
            + &policy("b", "aws_sqs_queue.c.arn", EXPECTED)
            + &policy("c", "aws_sqs_queue.b.arn", "");
        check(&RULE, Terraform, &tail);
        check(
            &RULE,
            Terraform,
            &policy("a", "var.open", "").replace("var.open", "local.open"),
        );
    }

    #[test]
    fn cycle_under_exclusive_conditions_is_accepted() {
        let template = |other: &str, expected: &str| {
            format!(
                "
Parameters:
  Stage: {{Type: String}}
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
        - deadLetterTargetArn: arn:aws:sqs:eu-west-1:111122223333:b {expected}
          maxReceiveCount: 5
        - !Ref AWS::NoValue
  B:
    Type: AWS::SQS::Queue
    Condition: {other}
    Properties:
      QueueName: b
      RedrivePolicy:
        deadLetterTargetArn: arn:aws:sqs:eu-west-1:111122223333:a
        maxReceiveCount: 5
"
            )
        };
        check(&RULE, CloudFormation, &template("IsTest", ""));
        check(&RULE, Sam, &template("IsProd", EXPECTED));
    }
}
