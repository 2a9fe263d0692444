//! Flags functions whose role does not allow Lambda to poll their queue.

use super::prelude::*;
use crate::rules::shared::roles::{Lacking, PollingFunction};
use crate::rules::shared::trace::ReadValue;

pub(super) static RULE: Rule = rule!(
    "function-role-missing-queue-permission",
    Category::Permissions,
    Severity::Error,
    "the role of a function may not receive from its queue, or delete there, so Lambda rejects the mapping"
);

fn check(findings: &mut Findings<'_>) {
    let policies = findings.graph.policies();
    for queue in findings.graph.queues() {
        for worker in findings.polling_functions(&policies, &queue.resource.when, queue) {
            let Some(role) = worker.role.value else { continue };
            let read: [&dyn ReadValue; 2] = [&worker.role, &worker.poll];
            let used = worker.used(queue, role, &read);
            findings.require_on_queue(&policies, &used, |lacking| refused(&worker, lacking));
        }
    }
}

fn refused(worker: &PollingFunction<'_>, lacking: &Lacking<'_>) -> Finding {
    let headline = format!(
        "{}, the role of {}, does not allow {} on {}, so Lambda rejects {}",
        lacking.role.shown(),
        worker.function,
        lacking.actions,
        lacking.on,
        worker.poll.mapping
    );
    lacking.finding(headline).show(&worker.poll).help(
        "attach the managed policy `AWSLambdaSQSQueueExecutionRole` to the role, or allow it `sqs:ReceiveMessage`, \
         `sqs:DeleteMessage` and `sqs:GetQueueAttributes` on the queue's ARN",
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Serverless, Terraform};
    use crate::testing::run_files;

    const STACK: &str = r#"
provider "aws" {}
variable "open" {}
resource "aws_sqs_queue" "q" {
  name = "orders"
}
resource "aws_sqs_queue" "other" {
  name = "other"
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

    /// Checks the stack with each row of the table in the holes of `rest`.
    fn check_with(rest: &str, table: &str) {
        Terraform.check_cases(&RULE, &format!("{STACK}{rest}"), table);
    }

    const INLINE: &str = r#"
resource "aws_iam_role_policy" "p" {
  role   = aws_iam_role.r.id
  policy = jsonencode({ Statement = [<statements>] })
}
"#;

    /// `tests/permissions` has more statements, denials and policies of the queue.
    #[test]
    fn role_without_polling_permissions_is_flagged() {
        check_with("", "finding | unjudged\n 1 | 0");
        check_with(
            INLINE,
            r#"
            statements                                                                                           | finding
            { Effect = "Deny", Action = "sqs:*", Resource = "*" }                                                | 1
            { Effect = "Allow", Action = "sqs:*", Resource = "arn:aws:s3:::orders" }                             | 1
            { Effect = "Allow", Action = "sqs:*", NotResource = [aws_sqs_queue.other.arn, aws_sqs_queue.q.arn] } | 1
            { Effect = var.open, Action = "sqs:*", Resource = "*" }                                              |
            { Effect = "Allow", NotAction = ["sqs:Delete*"], Resource = "*" }                                    | 1
            { Effect = "Allow", Action = ["SQS:receivemessage", "sqs:Delete*", "sqs:Get*"], Resource = "*" }     |
            var.open                                                                                             |
            { Effect = "Deny", NotAction = "logs:*", Resource = "*" }                                            | 1
            { Effect = "Deny", Action = var.open, Resource = "*" }                                               | 1
            { Effect = "Deny", Action = "sqs:*", Resource = "*", Condition = { Bool = { "aws:x" = "false" } } }  | 1
            "#,
        );
        check_with(
            INLINE,
            r#"
            statements                                                          | finding | headline
            { Effect = "Allow", Action = "sqs:ReceiveMessage", Resource = "*" } | 1       | `aws_iam_role.r`, the role of `aws_lambda_function.f`, does not allow `sqs:DeleteMessage` and `sqs:GetQueueAttributes` on `aws_sqs_queue.q`, so Lambda rejects `aws_lambda_event_source_mapping.m`
            "#,
        );
    }

    /// A boundary grants nothing, and what it takes away is not evaluated.
    #[test]
    fn permissions_boundary_grants_nothing() {
        let bounded = STACK.replace("\"worker\"", "\"worker\"\n  permissions_boundary = <boundary>");
        Terraform.check_cases(
            &RULE,
            &(bounded + INLINE),
            r#"
            boundary                                  | statements                                             | finding
            "arn:aws:iam::111122223333:policy/limits" | { Effect = "Allow", Action = "sqs:*", Resource = "*" } |
            var.open                                  | { Effect = "Allow", Action = "sqs:*", Resource = "*" } |
            "arn:aws:iam::111122223333:policy/limits" |                                                        | 1
            var.open                                  |                                                        | 1
            "#,
        );
    }

    #[test]
    fn managed_policies_are_recognized_by_name() {
        let attachment = r#"
locals {
  poll = "arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole"
  log  = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}
resource "aws_iam_role_policy_attachment" "a" {
  role       = <role>
  policy_arn = <policy>
  <repeated>
}
"#;
        check_with(
            attachment,
            r#"
            role                | policy                                            | repeated                                  | finding
            aws_iam_role.r.name | local.poll                                        |                                           |
            aws_iam_role.r.name | local.log                                         |                                           | 1
            aws_iam_role.r.name | "arn:aws:iam::aws:policy/AdministratorAccess"     |                                           |
            aws_iam_role.r.name | "arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess" |                                           | 1
            aws_iam_role.r.name | "arn:aws:iam::aws:policy/Unheard"                 |                                           |
            aws_iam_role.r.name | "arn:aws:iam::111122223333:policy/own"            |                                           |
            aws_iam_role.r.name | var.open                                          |                                           |
            aws_iam_role.r.name | each.value                                        | for_each = toset([local.poll, local.log]) |
            aws_iam_role.r.name | each.value                                        | for_each = toset([local.log])             | 1
            aws_iam_role.r.name | each.value                                        | for_each = var.open                       |
            "worker"            | local.poll                                        |                                           |
            "else"              | local.poll                                        |                                           | 1
            var.open            | local.poll                                        |                                           |
            var.open            | local.log                                         |                                           | 1
            aws_iam_role.r.name | local.poll                                        | count = 0                                 | 1
            aws_iam_role.r.name | local.poll                                        | count = var.open ? 1 : 0                  | 1
            aws_iam_role.r.name | local.poll                                        | count = var.open                          |
            "#,
        );
    }

    #[test]
    fn every_form_of_attachment_is_recognized() {
        let with_policies = STACK.replace("\"worker\"", "\"worker\"\n  <policies>");
        let document = r#"
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["sqs:*"]
    resources = [aws_sqs_queue.q.arn]
  }
}
"#;
        Terraform.check_cases(
            &RULE,
            &(with_policies + document),
            r#"
            policies                                                                                                          | finding
            managed_policy_arns = ["arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole"]                     |
            managed_policy_arns = var.open                                                                                    |
            inline_policy {\n    policy = data.aws_iam_policy_document.d.json\n  }                                            |
            dynamic "inline_policy" {\n    for_each = var.open\n    content {\n      policy = inline_policy.value\n    }\n  } |
            "#,
        );
        let own = r#"
resource "aws_iam_policy" "p" {
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "sqs:*", Resource = "*" }] })
}
resource <kind> "a" {
  <arguments>
}
"#;
        check_with(
            own,
            r#"
            kind                                        | arguments                                                              | finding
            "aws_sns_topic"                             |                                                                        | 1
            "aws_iam_role_policy_attachment"            | role = aws_iam_role.r.name\n policy_arn = aws_iam_policy.p.arn         |
            "aws_iam_policy_attachment"                 | roles = [aws_iam_role.r.name]\n policy_arn = aws_iam_policy.p.arn      |
            "aws_iam_role_policy_attachments_exclusive" | role_name = aws_iam_role.r.name\n policy_arns = [aws_iam_policy.p.arn] |
            "#,
        );
    }

    #[test]
    fn source_and_override_documents_are_merged() {
        let documents = r#"
data "aws_iam_policy_document" "base" {
  statement {
    actions   = ["sqs:*"]
    resources = ["*"]
  }
}
data "aws_iam_policy_document" "d" {
  <blocks>
}
resource "aws_iam_role_policy" "p" {
  role   = aws_iam_role.r.id
  policy = data.aws_iam_policy_document.d.json
}
"#;
        check_with(
            documents,
            r#"
            blocks                                                                                                                     | finding
            source_policy_documents = [data.aws_iam_policy_document.base.json]                                                         |
            override_policy_documents = [var.open]                                                                                     |
            statement {\n actions = ["logs:*"]\n resources = ["*"]\n }                                                                 | 1
            dynamic "statement" {\n for_each = toset(["sqs:*"])\n content {\n actions = [statement.value]\n resources = ["*"]\n }\n }  |
            dynamic "statement" {\n for_each = toset(["logs:*"])\n content {\n actions = [statement.value]\n resources = ["*"]\n }\n } | 1
            dynamic "statement" {\n for_each = var.open\n content {\n actions = [statement.value]\n resources = ["*"]\n }\n }          |
            "#,
        );
    }

    #[test]
    fn external_module_or_caller_may_grant_permissions() {
        check_with(
            "module \"m\" {\n  source = \"acme/policies/aws\"\n  <argument>\n}\n",
            r#"
            argument                                  | finding
            role = aws_iam_role.r.name                |
            roles = { worker = [aws_iam_role.r.arn] } |
            role_name = "worker"                      |
            role_name = "else"                        | 1
            "#,
        );
        // A module without a provider may be called by another one.
        let exporting = format!("{STACK}output \"role\" {{\n  value = aws_iam_role.r.name\n}}\n");
        Terraform.check_cases(
            &RULE,
            &exporting.replace("provider \"aws\" {}", "<provider>"),
            "provider | finding\n provider \"aws\" {} | 1\n |",
        );
    }

    #[test]
    fn undeclared_roles_queues_and_functions_are_not_judged() {
        let text =
            STACK.replace("= aws_iam_role.r.arn", "= <role>") + "data \"aws_iam_role\" \"r\" {\n  name = \"r\"\n}\n";
        let text = text.replace("= aws_sqs_queue.q.arn", "= <queue>");
        Terraform.check_cases(
            &RULE,
            &text.replace("= aws_lambda_function.f.arn", "= <function>"),
            r#"
            role                                   | queue                                          | function                                     | finding
            aws_iam_role.r.arn                     | aws_sqs_queue.q.arn                            | aws_lambda_function.f.arn                    | 1
            data.aws_iam_role.r.arn                | aws_sqs_queue.q.arn                            | aws_lambda_function.f.arn                    |
            "arn:aws:iam::111122223333:role/other" | aws_sqs_queue.q.arn                            | aws_lambda_function.f.arn                    |
            var.open                               | aws_sqs_queue.q.arn                            | aws_lambda_function.f.arn                    |
            aws_iam_role.r.arn                     | "arn:aws:sqs:eu-west-1:111122223333:elsewhere" | aws_lambda_function.f.arn                    |
            aws_iam_role.r.arn                     | aws_sqs_queue.q.arn                            | "elsewhere"                                  |
            // A disabled mapping.
            aws_iam_role.r.arn                     | aws_sqs_queue.q.arn                            | aws_lambda_function.f.arn\n  enabled = false |
            "#,
        );
    }

    #[test]
    fn role_of_template_is_checked() {
        CloudFormation.check_cases(
            &RULE,
            "
<top>
Resources:
  Q: {Type: AWS::SQS::Queue}
  R:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {}
      <policies>
  F:
    Type: AWS::Lambda::Function
    Properties: {Role: !GetAtt R.Arn}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}
  P:
    Type: <kind>
    Properties:
      PolicyDocument: {Statement: [{Effect: Allow, Action: 'sqs:*', Resource: '*'}]}
      <more>
",
            r"
            policies                                                                                                               | kind                       | more                                                       | top                                                 | finding
                                                                                                                                   | AWS::SNS::Topic            |                                                            |                                                     | 1
            ManagedPolicyArns: [!Sub 'arn:${AWS::Partition}:iam::aws:policy/AmazonSQSFullAccess']                                  | AWS::SNS::Topic            |                                                            |                                                     |
            ManagedPolicyArns: [arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole]                               | AWS::SNS::Topic            |                                                            |                                                     |
            ManagedPolicyArns: [arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]                                  | AWS::SNS::Topic            |                                                            |                                                     | 1
            Policies: [{PolicyName: p, PolicyDocument: {Statement: [{Effect: Allow, Action: 'sqs:*', Resource: !GetAtt Q.Arn}]}}]  | AWS::SNS::Topic            |                                                            |                                                     |
            Policies: [{PolicyName: p, PolicyDocument: {Statement: [{Effect: Allow, Action: 'logs:*', Resource: !GetAtt Q.Arn}]}}] | AWS::SNS::Topic            |                                                            |                                                     | 1
                                                                                                                                   | AWS::IAM::Policy           | Roles: [!Ref R]                                            |                                                     |
                                                                                                                                   | AWS::IAM::Policy           | Roles: [other]                                             |                                                     | 1
                                                                                                                                   | AWS::IAM::ManagedPolicy    | Roles: [!Ref R]                                            |                                                     |
                                                                                                                                   | AWS::IAM::RolePolicy       | RoleName: !Ref R                                           |                                                     |
            // Macros, importers of an export and nested stacks may attach a policy.
                                                                                                                                   | AWS::SNS::Topic            |                                                            | Transform: OwnMacro                                 |
                                                                                                                                   | AWS::SNS::Topic            |                                                            | Outputs: {O: {Value: !Ref R, Export: {Name: role}}} |
                                                                                                                                   | AWS::CloudFormation::Stack | TemplateURL: 'https://x'\n      Parameters: {Role: !Ref R} |                                                     |
            ",
        );
    }

    #[test]
    fn roles_that_sam_generates_are_accepted() {
        Sam.check_cases(
            &RULE,
            r"
Resources:
  Q: {Type: AWS::SQS::Queue}
  T: {Type: AWS::SNS::Topic}
  Own: {Type: AWS::IAM::Role, Properties: {AssumeRolePolicyDocument: {}}}
  F:
    Type: AWS::Serverless::Function
    Properties: <properties>
  O:
    Type: <other>
    Properties: <its>
",
            r"
            properties                                                                            | other                           | its                                                   | finding
            {Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}                        | AWS::SNS::Topic                 | {}                                                    |
            {Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}, Role: !GetAtt Own.Arn} | AWS::SNS::Topic                 | {}                                                    | 1
            {Events: {E: {Type: SNS, Properties: {Topic: !Ref T, SqsSubscription: true}}}}        | AWS::SNS::Topic                 | {}                                                    |
            {Handler: a.b}                                                                        | AWS::Lambda::EventSourceMapping | {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F} | 1
            {Policies: [{SQSPollerPolicy: {QueueName: !GetAtt Q.QueueName}}]}                     | AWS::Lambda::EventSourceMapping | {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F} |
            {Policies: AWSLambdaSQSQueueExecutionRole}                                            | AWS::Lambda::EventSourceMapping | {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F} |
            ",
        );
        Sam.check(
            &RULE,
            r"
Resources:
  Q: {Type: AWS::SQS::Queue}
  F:
    Type: AWS::Serverless::Function
    Properties: {Handler: a.b}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}
  Connector:
    Type: AWS::Serverless::Connector
    Properties: {Source: {Id: Q}, Destination: {Id: F}, Permissions: [Read, Write]}
",
        );
    }

    #[test]
    fn own_role_of_a_service_is_checked() {
        Serverless.check_cases(
            &RULE,
            "
service: shop
provider: {name: aws, iam: <iam>}
functions:
  worker:
    handler: a.b
    events: [{sqs: {arn: !GetAtt Q.Arn}}]
resources:
  Resources:
    Q: {Type: AWS::SQS::Queue}
    R: {Type: AWS::IAM::Role, Properties: {}}
",
            "
            iam                   | finding
            {}                    |
            {role: !GetAtt R.Arn} | 1
            ",
        );
    }

    #[test]
    fn policy_of_another_unit_may_grant_permissions() {
        for (role, expected) in [("\"worker\"", 0), ("var.open", 0), ("\"else\"", 1)] {
            let other = format!(
                r#"
variable "open" {{}}
resource "aws_iam_role_policy_attachment" "a" {{
  role       = {role}
  policy_arn = "arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole"
}}
"#
            );
            let outcome = run_files(&RULE, &[("a/main.tf", STACK), ("b/main.tf", &other)]);
            assert_eq!(outcome.findings.len(), expected, "{role}");
        }
    }
}
