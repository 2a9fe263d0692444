//! Flags functions and tasks that may send to an encrypted queue and may not use its key.

use super::prelude::*;
use crate::graph::permits::{On, Policies};
use crate::graph::workers::Variable;
use crate::graph::{Attribute, Form, Resource};
use crate::rules::shared::roles::{Edge, Lacking, RoleUse};

pub(super) static RULE: Rule = rule!(
    "producer-role-missing-key-permission",
    Category::Permissions,
    Severity::Warning,
    "a function or task may send to a queue and may not use the key that encrypts it, so every send fails"
);

/// Permission that makes a function or a task a producer of the queue in its environment.
const SEND: &str = "sqs:SendMessage";

fn check(findings: &mut Findings<'_>) {
    let graph = findings.graph;
    let policies = graph.policies();
    for function in graph.functions() {
        let polled = |queue: &Queue| {
            let mappings = graph.consumptions(queue).into_iter().map(|one| one.mapping);
            let mut functions =
                mappings.filter_map(|mapping| graph.function(mapping.resource.unit, mapping.function.known()?));
            functions.any(|other| std::ptr::eq(other, function))
        };
        judge(
            findings,
            &policies,
            (&function.resource, &function.role),
            &function.queue_variables,
            &polled,
        );
    }
    for worker in graph.workers() {
        for role in &worker.roles {
            judge(
                findings,
                &policies,
                (&worker.resource, role),
                &worker.environment,
                &|_| false,
            );
        }
    }
}

/// Reports the queues in `variables` that the role may send to without the use of their key.
fn judge<'g>(
    findings: &mut Findings<'g>,
    policies: &Policies<'g>,
    (resource, role): (&'g Resource, &'g Attribute<Option<Link>>),
    variables: &'g [Variable],
    is_polled: &dyn Fn(&Queue) -> bool,
) {
    for variable in variables {
        for (when, link, queue) in findings.graph.held_queues(resource, variable) {
            if link.form != Form::Url || is_polled(queue) {
                continue;
            }
            let when = when.and(&queue.resource.when);
            for role in findings.without_notes(|this| this.known(&when, resource, role)) {
                let Some(link) = role.value else { continue };
                let Some(sends) = policies.role(resource.unit, link, SEND, On::Queue(queue)) else {
                    continue;
                };
                let used = RoleUse {
                    edge: Edge::Send,
                    resource,
                    when: &role.when.and(&sends.when),
                    role: link,
                    unit: resource.unit,
                    queue,
                    service: None,
                    read: &[&role],
                };
                findings.require_on_key(policies, &used, |lacking, key| {
                    locked_out(queue, resource, lacking)
                        .label(key, format!("{} encrypts the queue", lacking.on))
                        .label(variable.span, format!("{resource} sends to {queue} with this URL"))
                });
            }
        }
    }
}

fn locked_out(queue: &Queue, resource: &Resource, lacking: &Lacking<'_>) -> Finding {
    let headline = format!(
        "{}, the role of {resource}, may send to {queue}, but does not allow {} on {}, which encrypts it: every send fails",
        lacking.role.shown(),
        lacking.actions,
        lacking.on
    );
    lacking.finding(headline).help(format!(
        "allow the role {} on the key's ARN: SQS encrypts with a new data key, and verifies it by decrypting it",
        lacking.actions
    ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};

    #[test]
    fn producer_needs_both_actions_on_the_key() {
        Terraform.check_cases(
            &RULE,
            r#"
variable "open" {}
resource "aws_kms_key" "k" {}
resource "aws_sqs_queue" "q" {
  name = "q"
  <key>
}
resource "aws_iam_role" "r" {
  name = "r"
}
resource "aws_iam_role_policy" "p" {
  role   = aws_iam_role.r.id
  policy = jsonencode({ Statement = [
    { Effect = "Allow", Action = "<send>", Resource = aws_sqs_queue.q.arn },
    { Effect = "Allow", Action = <use>, Resource = aws_kms_key.k.arn },
  ] })
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
  environment {
    variables = { OUT = <variable> }
  }
}
"#,
            r#"
            key                                   | send               | use                                      | variable             | finding
            kms_master_key_id = aws_kms_key.k.arn | sqs:SendMessage    | ["kms:GenerateDataKey"]                  | aws_sqs_queue.q.url  | warning
            kms_master_key_id = aws_kms_key.k.arn | sqs:SendMessage    | ["kms:Decrypt"]                          | aws_sqs_queue.q.url  | warning
            kms_master_key_id = aws_kms_key.k.arn | sqs:SendMessage    | ["kms:GenerateDataKey", "kms:Decrypt"]   | aws_sqs_queue.q.url  |
            kms_master_key_id = aws_kms_key.k.arn | sqs:SendMessage    | ["s3:GetObject"]                         | aws_sqs_queue.q.url  | warning
            kms_master_key_id = aws_kms_key.k.arn | sqs:SendMessage    | ["s3:GetObject"]                         | "none"               |
            kms_master_key_id = aws_kms_key.k.arn | sqs:SendMessage    | ["s3:GetObject"]                         | aws_sqs_queue.q.arn  |
            kms_master_key_id = aws_kms_key.k.arn | sqs:ReceiveMessage | ["s3:GetObject"]                         | aws_sqs_queue.q.url  |
            kms_master_key_id = aws_kms_key.k.arn | sqs:SendMessage    | var.open                                 | aws_sqs_queue.q.url  |
            kms_master_key_id = "alias/aws/sqs"   | sqs:SendMessage    | ["s3:GetObject"]                         | aws_sqs_queue.q.url  |
            kms_master_key_id = var.open          | sqs:SendMessage    | ["s3:GetObject"]                         | aws_sqs_queue.q.url  |
                                                  | sqs:SendMessage    | ["s3:GetObject"]                         | aws_sqs_queue.q.url  |
            "#,
        );
    }

    #[test]
    fn templates_are_checked() {
        for dialect in [CloudFormation, Sam] {
            dialect.check_cases(
                &RULE,
                "
Resources:
  K:
    Type: AWS::KMS::Key
    Properties:
      KeyPolicy: {Statement: [{Effect: Allow, Principal: {AWS: !Sub 'arn:aws:iam::${AWS::AccountId}:root'}, Action: 'kms:*', Resource: '*'}]}
  Q: {Type: AWS::SQS::Queue, Properties: {KmsMasterKeyId: !Ref K}}
  R:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyName: p
          PolicyDocument:
            Statement:
              - {Effect: Allow, Action: 'sqs:SendMessage', Resource: !GetAtt Q.Arn}
              - {Effect: Allow, Action: [<use>], Resource: !GetAtt K.Arn}
  F:
    Type: AWS::Lambda::Function
    Properties:
      Role: !GetAtt R.Arn
      Environment: {Variables: {OUT: !Ref Q}}
",
                "
                use                                | finding
                'kms:GenerateDataKey'              | warning
                'kms:GenerateDataKey', kms:Decrypt |
                'kms:*'                            |
                ",
            );
        }
    }
}
