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

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let policies = graph.policies();
    for queue in graph.queues() {
        for (reads, pipe) in graph.pipes_from(queue) {
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
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings, run_files};

    const ALL: &str = "[\"sqs:ReceiveMessage\", \"sqs:DeleteMessage\", \"sqs:GetQueueAttributes\"]";

    /// Returns a pipe with a role that allows `actions` on `resource`.
    fn terraform(actions: &str, resource: &str, pipe: &str) -> String {
        format!(
            r#"
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  name = "orders"
}}
resource "aws_iam_role" "r" {{
  name = "pipe"
}}
resource "aws_iam_role_policy" "p" {{
  role = aws_iam_role.r.id
  policy = jsonencode({{
    Version   = "2012-10-17"
    Statement = [{{ Effect = "Allow", Action = {actions}, Resource = {resource} }}]
  }})
}}
resource "aws_pipes_pipe" "p" {{
  source = aws_sqs_queue.q.arn
  target = "arn:aws:states:eu-west-1:111122223333:stateMachine:m"
  {pipe}
}}
"#
        )
    }

    const ROLE: &str = "role_arn = aws_iam_role.r.arn";

    fn count(actions: &str, resource: &str, pipe: &str) -> usize {
        findings(&RULE, Terraform, &terraform(actions, resource, pipe)).len()
    }

    #[test]
    fn role_without_polling_permissions_is_flagged() {
        for (actions, resource, expected) in [
            (ALL, "aws_sqs_queue.q.arn", 0),
            ("\"sqs:*\"", "\"*\"", 0),
            (ALL, "\"arn:aws:sqs:*:*:other\"", 1),
            ("\"sqs:ReceiveMessage\"", "aws_sqs_queue.q.arn", 1),
            (
                "[\"sqs:ReceiveMessage\", \"sqs:DeleteMessage\"]",
                "aws_sqs_queue.q.arn",
                1,
            ),
            ("var.open", "\"*\"", 0),
            (ALL, "var.open", 0),
        ] {
            assert_eq!(count(actions, resource, ROLE), expected, "{actions} {resource}");
        }
    }

    #[test]
    fn headline_names_missing_actions() {
        let found = findings(&RULE, Terraform, &terraform("\"sqs:ReceiveMessage\"", "\"*\"", ROLE));
        assert!(
            found[0]
                .headline
                .contains("`sqs:DeleteMessage` and `sqs:GetQueueAttributes`"),
            "{}",
            found[0].headline
        );
    }

    #[test]
    fn stopped_pipes_and_external_roles_are_not_judged() {
        for pipe in [
            format!("{ROLE}\n desired_state = \"STOPPED\""),
            format!("{ROLE}\n desired_state = var.open"),
            "role_arn = var.open".to_owned(),
        ] {
            assert_eq!(count("\"s3:*\"", "\"*\"", &pipe), 0, "{pipe}");
        }
        let elsewhere = terraform(
            "\"s3:*\"",
            "\"*\"",
            "role_arn = \"arn:aws:iam::111122223333:role/elsewhere\"",
        );
        let outcome = run_files(&RULE, &[("main.tf", &elsewhere)]);
        assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
        assert_eq!(outcome.not_evaluated.len(), 1, "{:?}", outcome.not_evaluated);
    }

    #[test]
    fn cloudformation_pipe_is_flagged() {
        let template = "
Resources:
  Orders:
    Type: AWS::SQS::Queue
  Role:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {}
      Policies:
        - PolicyName: p
          PolicyDocument:
            Statement: [{Effect: Allow, Action: 'sqs:ReceiveMessage', Resource: !GetAtt Orders.Arn}]
  Pipe:
    Type: AWS::Pipes::Pipe
    Properties:
      RoleArn: !GetAtt Role.Arn
      Source: !GetAtt Orders.Arn
      Target: arn:aws:states:eu-west-1:111122223333:stateMachine:m
";
        let flagged = template.replace("  Role:\n", "  Role: # expect: pipe-role-missing-queue-permission\n");
        check(&RULE, CloudFormation, &flagged);
        check(&RULE, Sam, &flagged);
        check(
            &RULE,
            CloudFormation,
            &template.replace("'sqs:ReceiveMessage'", "'sqs:*'"),
        );
    }
}
