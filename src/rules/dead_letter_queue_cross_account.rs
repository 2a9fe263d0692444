//! Flags dead-letter queues in a different account from their source queue.

use super::prelude::*;
use crate::rules::shared::places::{LocationKind, require_same_location};

pub(super) static RULE: Rule = rule!(
    "dead-letter-queue-cross-account",
    Category::Redrive,
    Severity::Warning,
    "a dead-letter queue is in another account than its source"
);

fn check(findings: &mut Findings<'_>) {
    require_same_location(findings, LocationKind::Account);
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::queue;

    const OTHERS: &str = r#"
provider "aws" {
  allowed_account_ids = ["111122223333"]
}
provider "aws" {
  alias = "other"
  assume_role {
    role_arn = "arn:aws:iam::444455556666:role/deploy"
  }
}
provider "aws" {
  alias = "open"
  assume_role {
    role_arn = var.open
  }
}
resource "aws_sqs_queue" "here" {}
resource "aws_sqs_queue" "there" {
  provider = aws.other
}
resource "aws_sqs_queue" "open" {
  provider = aws.open
}"#;

    #[test]
    fn dead_letter_queue_in_other_account_is_flagged() {
        queue().terraform(OTHERS).check(
            &RULE,
            r#"
            queue.target                                 | finding
            = aws_sqs_queue.here.arn                     |
            = aws_sqs_queue.open.arn                     |
            arn:aws:sqs:eu-west-1:111122223333:failed    |
            = "arn:aws:sqs:eu-west-1:${var.open}:failed" |
            open                                         |
            = aws_sqs_queue.there.arn                    | queue.target
            arn:aws:sqs:eu-west-1:444455556666:failed    | queue.target
            "#,
        );
    }

    #[test]
    fn unknown_account_is_not_judged() {
        for accounts in ["[]", "[\"111122223333\", \"1\"]"] {
            let others = OTHERS.replace("[\"111122223333\"]", accounts);
            queue()
                .terraform(&others)
                .check(&RULE, "queue.target | finding\n = aws_sqs_queue.there.arn |");
        }
    }
}
