//! Flags pipes whose role does not allow them to poll their queue.

use super::prelude::*;
use crate::graph::delivery::Pipe;
use crate::rules::shared::roles::{Edge, Lacking, RoleUse};

pub(super) static RULE: Rule = rule!(
    "pipe-role-missing-queue-permission",
    Category::PipesAndSam,
    Severity::Error,
    "the role of a pipe may not receive from its queue, or delete there, so the pipe cannot read it"
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    for queue in findings.graph.queues() {
        for (reads, pipe) in findings.graph.pipes_from(queue) {
            let running = findings.known(&reads, pipe, &pipe.running);
            for running in running.into_iter().filter(|running| *running.value) {
                for role in findings.known(&running.when, pipe, &pipe.role) {
                    // A pipe without a role is rejected for that reason, not for missing permissions.
                    let Some(link) = role.value else { continue };
                    let used = RoleUse {
                        edge: Edge::Poll,
                        resource: &pipe.resource,
                        when: &role.when,
                        role: link,
                        unit: pipe.resource.unit,
                        queue,
                        service: None,
                        read: &[&role],
                    };
                    findings.require_on_queue(&policies, &used, |lacking| refused(pipe, queue, lacking));
                    findings.require_on_key(&policies, &used, |lacking, _| {
                        refused(pipe, queue, lacking).severity(Severity::Warning)
                    });
                }
            }
        }
    }
}

fn refused(pipe: &Pipe, queue: &Queue, lacking: &Lacking<'_>) -> Finding {
    let (role, queue, pipe_shown) = (lacking.role.shown(), queue.resource.shown(), pipe.resource.shown());
    let headline = format!(
        "{role}, the role of {pipe_shown}, does not allow {} on {}, so the pipe cannot read {queue}",
        lacking.actions, lacking.on
    );
    lacking
        .finding(headline)
        .label(pipe.resource.header, format!("{pipe_shown} reads {queue} with this role"))
        .help(
            "allow the role `sqs:ReceiveMessage`, `sqs:DeleteMessage` and `sqs:GetQueueAttributes` on the queue's ARN, and \
             `kms:Decrypt` on the ARN of the key that encrypts it",
        )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::Terraform;

    const PIPE: &str = r#"
variable "open" {}
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_iam_role" "r" {
  name = "pipe"
}
resource "aws_iam_role_policy" "p" {
  role   = aws_iam_role.r.id
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = <action>, Resource = "*" }] })
}
resource "aws_pipes_pipe" "p" {
  source   = aws_sqs_queue.q.arn
  target   = "arn:aws:states:eu-west-1:111122223333:stateMachine:m"
  role_arn = <role>
}
"#;

    /// `tests/permissions` has more policies.
    #[test]
    fn role_without_polling_permissions_is_flagged() {
        Terraform.check_cases(
            &RULE,
            PIPE,
            r#"
            action                                      | role               | finding | headline
            "sqs:*"                                     | aws_iam_role.r.arn |         |
            "sqs:ReceiveMessage"                        | aws_iam_role.r.arn | 1       | …`sqs:DeleteMessage` and `sqs:GetQueueAttributes`…
            ["sqs:ReceiveMessage", "sqs:DeleteMessage"] | aws_iam_role.r.arn | 1       |
            "#,
        );
    }

    #[test]
    fn stopped_pipes_and_external_roles_are_not_judged() {
        Terraform.check_cases(
            &RULE,
            PIPE,
            r#"
            action | role                                           | finding
            "s3:*" | aws_iam_role.r.arn\n desired_state = "STOPPED" |
            "s3:*" | aws_iam_role.r.arn\n desired_state = var.open  |
            "s3:*" | var.open                                       |
            "s3:*" | "arn:aws:iam::111122223333:role/elsewhere"     | unjudged
            "#,
        );
    }
}
