//! Flags dead-letter queues in another Region than their source.

use super::prelude::*;

pub(super) static RULE: Rule = Rule {
    id: "dead-letter-queue-cross-region",
    category: Category::Redrive,
    severity: Severity::Error,
    set: Set::Default,
    fix: None,
    summary: "a dead-letter queue is in another Region than its source, which SQS rejects",
    page: include_str!("../../rules/dead-letter-queue-cross-region.md"),
    settings: &[],
    check: Some(check),
};

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    for source in graph.queues() {
        let Some(here) = source.resource.region.as_deref() else {
            continue;
        };
        for target in findings.redrive_targets(&source.resource.when, source) {
            let dlq = graph.queue(source.resource.unit, target.value);
            let there = dlq.map_or_else(|| target.value.region(), |dlq| dlq.resource.region.as_deref());
            let Some(there) = there else { continue };
            let is_same = fact(here == there, || format!("both queues are in {here}")).given(&target);
            findings.require(&target.when, source, is_same, || apart(source, &target, here, there));
        }
    }
}

fn apart(source: &Queue, target: &Known<'_, Link>, here: &str, there: &str) -> Finding {
    let headline = format!(
        "{} is in {here} and its dead-letter queue in {there}, but both have to be in one Region",
        source.resource.shown()
    );
    Finding::new(
        "redrive",
        headline,
        target,
        format!("a queue in {there}{}", target.provenance()),
    )
    .label(source.resource.header, format!("this queue is in {here}"))
    .help(format!("use a dead-letter queue in {here}"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;
    use crate::testing::check;

    fn terraform(target: &str, note: &str) -> String {
        format!(
            r#"
variable "open" {{}}
provider "aws" {{
  region = "eu-west-1"
}}
resource "aws_sqs_queue" "here" {{}}
resource "aws_sqs_queue" "there" {{
  region = "us-east-1"
}}
resource "aws_sqs_queue" "open" {{
  region = var.open
}}
resource "aws_sqs_queue" "orders" {{
  redrive_policy = jsonencode({{
    deadLetterTargetArn = {target} {note}
    maxReceiveCount     = 5
  }})
}}
"#
        )
    }

    #[test]
    fn both_are_in_one_region() {
        for target in [
            "aws_sqs_queue.here.arn",
            "aws_sqs_queue.open.arn",
            "\"arn:aws:sqs:eu-west-1:111122223333:failed\"",
            "\"arn:aws:sqs:${var.open}:111122223333:failed\"",
            "var.open",
        ] {
            check(&RULE, Terraform, &terraform(target, ""));
        }
        for target in [
            "aws_sqs_queue.there.arn",
            "\"arn:aws:sqs:us-east-1:111122223333:failed\"",
        ] {
            check(
                &RULE,
                Terraform,
                &terraform(target, "# expect: dead-letter-queue-cross-region"),
            );
        }
    }
}
