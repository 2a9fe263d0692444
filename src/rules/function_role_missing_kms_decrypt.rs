//! Flags functions whose role may not decrypt the messages of their queue.

use super::prelude::*;
use crate::rules::shared::roles::{Lacking, PollingFunction};
use crate::rules::shared::trace::ReadValue;

pub(super) static RULE: Rule = rule!(
    "function-role-missing-kms-decrypt",
    Category::Permissions,
    Severity::Warning,
    "the role of a function may not use the key that encrypts its queue, so it gets no message"
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    for queue in findings.graph.queues() {
        for worker in findings.polling_functions(&policies, &queue.resource.when, queue) {
            let Some(role) = worker.role.value else { continue };
            let read: [&dyn ReadValue; 1] = [&worker.role];
            let used = worker.used(queue, role, &read);
            findings.require_on_key(&policies, &used, |lacking, key| {
                locked_out(queue, &worker, lacking, key)
            });
        }
    }
}

fn locked_out(
    queue: &Queue,
    worker: &PollingFunction<'_>,
    lacking: &Lacking<'_>,
    key: &Known<'_, Option<Link>>,
) -> Finding {
    let headline = format!(
        "{}, the role of {}, does not allow {} on {}, which encrypts {queue}, so Lambda cannot receive from it",
        lacking.role.shown(),
        worker.function,
        lacking.actions,
        lacking.on
    );
    lacking
        .finding(headline)
        .label(key, format!("{} encrypts the queue", lacking.on))
        .show(&worker.poll)
        .help(format!(
            "allow the role {} on the key's ARN; the ARN of an alias has no effect there",
            lacking.actions
        ))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Terraform};

    const STACK: &str = r#"
provider "aws" {}
variable "open" {}
resource "aws_kms_key" "k" {}
resource "aws_kms_alias" "a" {
  name          = "alias/orders"
  target_key_id = aws_kms_key.k.key_id
}
resource "aws_sqs_queue" "q" {
  <key>
}
resource "aws_iam_role" "r" {
  name = "worker"
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = aws_iam_role.r.arn
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
"#;

    #[test]
    fn role_without_decrypt_on_customer_managed_key_is_flagged() {
        Terraform.check_cases(
            &RULE,
            STACK,
            r#"
            key                                      | finding
            kms_master_key_id = aws_kms_key.k.arn    | 1
            kms_master_key_id = aws_kms_alias.a.name | 1
            kms_master_key_id = "alias/orders"       | 1
            kms_master_key_id = "alias/else"         |
            kms_master_key_id = "alias/aws/sqs"      |
            sqs_managed_sse_enabled = true           |
            kms_master_key_id = var.open             |
                                                     |
            "#,
        );
    }

    /// `tests/permissions` has policies of the role and of the key.
    #[test]
    fn grant_or_separate_policy_may_allow_decrypt() {
        let stack = STACK.replace("<key>", "kms_master_key_id = aws_kms_key.k.arn");
        Terraform.check_cases(
            &RULE,
            &format!("{stack}<more>\n"),
            r#"
            more                                                                                                                                                                                                              | finding
            resource "aws_kms_grant" "g" {\n key_id = aws_kms_key.k.id\n grantee_principal = aws_iam_role.r.arn\n operations = ["Decrypt"]\n}                                                                                 |
            resource "aws_iam_role_policy" "p" {\n role = aws_iam_role.r.id\n policy = jsonencode({ Statement = [{ Effect = "Allow", Action = var.open, Resource = aws_kms_key.k.arn }] })\n}                                 |
            resource "aws_kms_key_policy" "p" {\n key_id = aws_kms_key.k.id\n policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "kms:*", Resource = "*", Principal = { AWS = "*" } }] })\n}                     |
            resource "aws_kms_key_policy" "p" {\n key_id = aws_kms_key.k.id\n policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "kms:*", Resource = "*", Principal = { Service = "sns.amazonaws.com" } }] })\n} | 1
            "#,
        );
    }

    #[test]
    fn default_role_of_a_service_is_checked() {
        let service = "
service: shop
provider:
  name: aws
  runtime: nodejs22.x
  <role>
plugins: [<plugin>]
functions:
  work:
    handler: work.handler
    <own>
    events:
      - sqs: {arn: !GetAtt Q.Arn}
resources:
  Resources:
    K:
      Type: AWS::KMS::Key
      Properties:
        KeyPolicy: {Statement: [{Effect: Allow, Principal: {AWS: !Sub 'arn:aws:iam::${AWS::AccountId}:root'}, Action: 'kms:*', Resource: '*'}]}
    Q: {Type: AWS::SQS::Queue, Properties: {KmsMasterKeyId: !GetAtt K.Arn}}
";
        crate::testing::check_file_cases(
            &RULE,
            &[("serverless.yml", service)],
            "
            role                                                                                              | plugin                          | own                                      | finding
                                                                                                              |                                 |                                          | 1
            iam: {role: {statements: [{Effect: Allow, Action: 'kms:Decrypt', Resource: !GetAtt K.Arn}]}}      |                                 |                                          |
            iamRoleStatements: [{Effect: Allow, Action: 'kms:*', Resource: '*'}]                              |                                 |                                          |
            iam: {role: {statements: [{Effect: Allow, Action: 's3:*', Resource: '*'}]}}                       |                                 |                                          | 1
            iam: {role: {managedPolicies: ['arn:aws:iam::aws:policy/AdministratorAccess']}}                   |                                 |                                          |
            iam: {role: '${env:ROLE}'}                                                                        |                                 |                                          |
                                                                                                              | serverless-iam-roles-per-function |                                        |
                                                                                                              |                                 | role: 'arn:aws:iam::111122223333:role/r' |
            ",
        );
    }

    #[test]
    fn cloudformation_role_is_checked() {
        CloudFormation.check_cases(
            &RULE,
            r"
Resources:
  K:
    Type: AWS::KMS::Key
    Properties:
      KeyPolicy:
        Statement: [{Effect: Allow, Action: 'kms:*', Resource: '*', Principal: {AWS: <principal>}}]
  Q:
    Type: AWS::SQS::Queue
    Properties: {KmsMasterKeyId: !Ref K}
  R:
    Type: AWS::IAM::Role
    Properties:
      ManagedPolicyArns: ['arn:aws:iam::aws:policy/<policy>']
  F:
    Type: AWS::Lambda::Function
    Properties: {Role: !GetAtt R.Arn}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}
",
            "
            policy              | principal                                  | finding
            AmazonSQSFullAccess | !Sub 'arn:aws:iam::${AWS::AccountId}:root' | 1
            AmazonSQSFullAccess | !GetAtt R.Arn                              |
            AdministratorAccess | !Sub 'arn:aws:iam::${AWS::AccountId}:root' |
            ",
        );
    }
}
