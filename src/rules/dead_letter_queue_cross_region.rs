//! Flags dead-letter queues in a different Region from their source queue.

use super::prelude::*;
use crate::rules::shared::places::{LocationKind, require_same_location};

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-cross-region",
    Category::Redrive,
    Severity::Error,
    "a dead-letter queue is in another Region than its source, which SQS rejects"
);

fn check(findings: &mut Findings<'_>) {
    require_same_location(findings, LocationKind::Region);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    #[test]
    fn dead_letter_queue_in_other_region_is_flagged() {
        let others = r#"
provider "aws" {
  region = "eu-west-1"
}
resource "aws_sqs_queue" "here" {}
resource "aws_sqs_queue" "there" {
  region = "us-east-1"
}
resource "aws_sqs_queue" "open" {
  region = var.open
}"#;
        queue().terraform(others).check(
            &RULE,
            r#"
            queue.target                                    | finding
            = aws_sqs_queue.here.arn                        |
            = aws_sqs_queue.open.arn                        |
            arn:aws:sqs:eu-west-1:111122223333:failed       |
            = "arn:aws:sqs:${var.open}:111122223333:failed" |
            open                                            |
            = aws_sqs_queue.there.arn                       | queue.target
            arn:aws:sqs:us-east-1:111122223333:failed       | queue.target
            "#,
        );
    }
}
