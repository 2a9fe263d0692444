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

fn check(graph: &Graph, findings: &mut Findings<'_>) {
    let policies = graph.policies();
    for queue in graph.queues() {
        for worker in findings.polling_functions(graph, &policies, &queue.resource.when, queue) {
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
        worker.function.resource.shown(),
        lacking.actions,
        lacking.on,
        worker.poll.mapping.resource.shown()
    );
    lacking.finding(headline).show(&worker.poll).help(
        "attach the managed policy `AWSLambdaSQSQueueExecutionRole` to the role, or allow it `sqs:ReceiveMessage`, \
         `sqs:DeleteMessage` and `sqs:GetQueueAttributes` on the queue's ARN",
    )
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::Dialect::{CloudFormation, Sam, Terraform};
    use crate::testing::{check, findings, run_files};

    fn text(role: &str, rest: &str) -> String {
        format!(
            r#"
provider "aws" {{}}
variable "open" {{}}
resource "aws_sqs_queue" "q" {{
  name = "orders"
}}
resource "aws_sqs_queue" "other" {{
  name = "other"
}}
resource "aws_iam_role" "r" {{
  name = "worker"
  {role}
}}
resource "aws_lambda_function" "f" {{
  function_name = "f"
  role          = aws_iam_role.r.arn
}}
resource "aws_lambda_event_source_mapping" "m" {{
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}}
{rest}
"#
        )
    }

    fn count(rest: &str) -> usize {
        findings(&RULE, Terraform, &text("", rest)).len()
    }

    /// Returns the number of findings if the role has an inline policy of these statements.
    fn inline(statements: &str) -> usize {
        count(&format!(
            "resource \"aws_iam_role_policy\" \"p\" {{\n  role = aws_iam_role.r.id\n  policy = jsonencode({{ Version = \
             \"2012-10-17\", Statement = [{statements}] }})\n}}\n"
        ))
    }

    const ALL: &str = "Action = [\"sqs:ReceiveMessage\", \"sqs:DeleteMessage\", \"sqs:GetQueueAttributes\"]";

    #[test]
    fn role_without_polling_permissions_is_flagged() {
        assert_eq!(count(""), 1);
        for (statements, expected) in [
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = aws_sqs_queue.q.arn }}"), 0),
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = \"*\" }}"), 0),
            (format!("{{ Effect = \"Deny\", {ALL}, Resource = \"*\" }}"), 1),
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = aws_sqs_queue.other.arn }}"), 1),
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = \"arn:aws:sqs:*:*:ord*\" }}"), 0),
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = \"arn:aws:sqs:*:*:x*\" }}"), 1),
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = \"arn:aws:sqs:*:*:x\" }}"), 1),
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = \"arn:aws:s3:::orders\" }}"), 1),
            (format!("{{ Effect = \"Allow\", {ALL}, NotResource = aws_sqs_queue.other.arn }}"), 0),
            (format!("{{ Effect = \"Allow\", {ALL}, NotResource = [aws_sqs_queue.other.arn, aws_sqs_queue.q.arn] }}"), 1),
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = var.open }}"), 0),
            (format!("{{ Effect = var.open, {ALL}, Resource = \"*\" }}"), 0),
            (format!("{{ Effect = \"Allow\", {ALL}, Resource = \"*\", Condition = {{ StringEquals = {{ \"aws:x\" = \"y\" }} }} }}"), 0),
            ("{ Effect = \"Allow\", Action = \"sqs:*\", Resource = \"*\" }".to_owned(), 0),
            ("{ Effect = \"Allow\", Action = \"*\", Resource = \"*\" }".to_owned(), 0),
            ("{ Effect = \"Allow\", Action = var.open, Resource = \"*\" }".to_owned(), 0),
            ("{ Effect = \"Allow\", NotAction = \"iam:*\", Resource = \"*\" }".to_owned(), 0),
            ("{ Effect = \"Allow\", NotAction = [\"sqs:Delete*\"], Resource = \"*\" }".to_owned(), 1),
            ("{ Effect = \"Allow\", Action = \"sqs:ReceiveMessage\", Resource = \"*\" }".to_owned(), 1),
            ("{ Effect = \"Allow\", Action = [\"SQS:receivemessage\", \"sqs:Delete*\", \"sqs:Get*\"], Resource = \"*\" }".to_owned(), 0),
            ("var.open".to_owned(), 0),
        ] {
            assert_eq!(inline(&statements), expected, "{statements}");
        }
    }

    /// Denials and permission boundaries grant nothing. A certain denial takes precedence over what is allowed;
    /// possible ones and boundaries are not evaluated.
    #[test]
    fn denials_and_boundaries_grant_nothing() {
        let allow = format!("{{ Effect = \"Allow\", {ALL}, Resource = aws_sqs_queue.q.arn }}");
        for (denial, expected) in [
            (
                "{ Effect = \"Deny\", Action = \"sqs:DeleteMessage\", Resource = aws_sqs_queue.q.arn }",
                1,
            ),
            (
                "{ Effect = \"Deny\", Action = \"sqs:*\", Resource = \"*\", Condition = { Bool = { \"aws:SecureTransport\" = \"false\" } } }",
                0,
            ),
            ("{ Effect = \"Deny\", NotAction = \"logs:*\", Resource = \"*\" }", 1),
            ("{ Effect = \"Deny\", Action = var.open, Resource = \"*\" }", 0),
        ] {
            assert_eq!(inline(&format!("{allow}, {denial}")), expected, "{denial}");
            assert_eq!(inline(denial), 1, "{denial}");
        }
        let policy = format!(
            "resource \"aws_iam_role_policy\" \"p\" {{\n  role = aws_iam_role.r.id\n  policy = jsonencode({{ Statement = [{allow}] }})\n}}\n"
        );
        for boundary in ["\"arn:aws:iam::111122223333:policy/boundary\"", "var.open"] {
            let boundary = format!("permissions_boundary = {boundary}");
            assert_eq!(findings(&RULE, Terraform, &text(&boundary, &policy)).len(), 0);
            assert_eq!(findings(&RULE, Terraform, &text(&boundary, "")).len(), 1);
        }
    }

    #[test]
    fn headline_names_missing_actions() {
        let text = text(
            "",
            "resource \"aws_iam_role_policy\" \"p\" {\n  role = aws_iam_role.r.id\n  policy = jsonencode({ Statement = [{ Effect = \
             \"Allow\", Action = \"sqs:ReceiveMessage\", Resource = \"*\" }] })\n}\n",
        );
        let found = findings(&RULE, Terraform, &text);
        assert_eq!(found.len(), 1);
        let headline = "`aws_iam_role.r`, the role of `aws_lambda_function.f`, does not allow `sqs:DeleteMessage` and \
                        `sqs:GetQueueAttributes` on `aws_sqs_queue.q`, so Lambda rejects \
                        `aws_lambda_event_source_mapping.m`";
        assert!(found.iter().all(|found| found.headline == headline), "{found:?}");
    }

    const POLL: &str = "arn:aws:iam::aws:policy/service-role/AWSLambdaSQSQueueExecutionRole";
    const LOG: &str = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole";

    fn attached(arguments: &str) -> String {
        format!("resource \"aws_iam_role_policy_attachment\" \"a\" {{\n  {arguments}\n}}\n")
    }

    #[test]
    fn managed_policies_are_recognized_by_name() {
        let role = "role = aws_iam_role.r.name";
        for (arguments, expected) in [
            (format!("{role}\n  policy_arn = \"{POLL}\""), 0),
            (format!("{role}\n  policy_arn = \"{LOG}\""), 1),
            (
                format!("{role}\n  policy_arn = \"arn:aws:iam::aws:policy/AdministratorAccess\""),
                0,
            ),
            (
                format!("{role}\n  policy_arn = \"arn:aws:iam::aws:policy/AmazonSQSReadOnlyAccess\""),
                1,
            ),
            (format!("{role}\n  policy_arn = \"arn:aws:iam::aws:policy/Unheard\""), 0),
            (
                format!("{role}\n  policy_arn = \"arn:aws:iam::111122223333:policy/own\""),
                0,
            ),
            (format!("{role}\n  policy_arn = var.open"), 0),
            (
                format!("{role}\n  for_each = toset([\"{POLL}\", \"{LOG}\"])\n  policy_arn = each.value"),
                0,
            ),
            (
                format!("{role}\n  for_each = toset([\"{LOG}\"])\n  policy_arn = each.value"),
                1,
            ),
            (format!("{role}\n  for_each = var.open\n  policy_arn = each.value"), 0),
            (format!("role = \"worker\"\n  policy_arn = \"{POLL}\""), 0),
            (format!("role = \"else\"\n  policy_arn = \"{POLL}\""), 1),
            (format!("role = var.open\n  policy_arn = \"{POLL}\""), 0),
            (format!("role = var.open\n  policy_arn = \"{LOG}\""), 1),
            (format!("{role}\n  count = 0\n  policy_arn = \"{POLL}\""), 1),
            (
                format!("{role}\n  count = var.open ? 1 : 0\n  policy_arn = \"{POLL}\""),
                1,
            ),
            (format!("{role}\n  count = var.open\n  policy_arn = \"{POLL}\""), 0),
        ] {
            assert_eq!(count(&attached(&arguments)), expected, "{arguments}");
        }
    }

    #[test]
    fn every_form_of_attachment_is_recognized() {
        for role in [
            format!("managed_policy_arns = [\"{POLL}\"]"),
            "managed_policy_arns = var.open".to_owned(),
            "inline_policy {\n    policy = data.aws_iam_policy_document.d.json\n  }".to_owned(),
            "dynamic \"inline_policy\" {\n    for_each = var.open\n    content {\n      policy = inline_policy.value\n    }\n  }"
                .to_owned(),
        ] {
            let document = "data \"aws_iam_policy_document\" \"d\" {\n  statement {\n    actions = [\"sqs:*\"]\n    resources = \
                            [aws_sqs_queue.q.arn]\n  }\n}\n";
            assert_eq!(findings(&RULE, Terraform, &text(&role, document)).len(), 0, "{role}");
        }
        let own = "resource \"aws_iam_policy\" \"p\" {\n  policy = jsonencode({ Statement = [{ Effect = \"Allow\", Action = \
                   \"sqs:*\", Resource = \"*\" }] })\n}\n";
        assert_eq!(count(own), 1);
        let by = |resource: &str| count(&format!("{own}{resource}"));
        assert_eq!(
            by(&attached(
                "role = aws_iam_role.r.name\n  policy_arn = aws_iam_policy.p.arn"
            )),
            0
        );
        assert_eq!(
            by(
                "resource \"aws_iam_policy_attachment\" \"a\" {\n  roles = [aws_iam_role.r.name]\n  policy_arn = \
                aws_iam_policy.p.arn\n}\n"
            ),
            0
        );
        assert_eq!(
            by(
                "resource \"aws_iam_role_policy_attachments_exclusive\" \"a\" {\n  role_name = aws_iam_role.r.name\n  \
                policy_arns = [aws_iam_policy.p.arn]\n}\n"
            ),
            0
        );
    }

    #[test]
    fn source_and_override_documents_are_merged() {
        let document = |blocks: &str| {
            count(&format!(
                "data \"aws_iam_policy_document\" \"base\" {{\n  statement {{\n    actions = [\"sqs:*\"]\n    resources = \
                 [\"*\"]\n  }}\n}}\ndata \"aws_iam_policy_document\" \"d\" {{\n  {blocks}\n}}\nresource \
                 \"aws_iam_role_policy\" \"p\" {{\n  role = aws_iam_role.r.id\n  policy = \
                 data.aws_iam_policy_document.d.json\n}}\n"
            ))
        };
        assert_eq!(
            document("source_policy_documents = [data.aws_iam_policy_document.base.json]"),
            0
        );
        assert_eq!(document("override_policy_documents = [var.open]"), 0);
        assert_eq!(
            document("statement {\n    actions = [\"logs:*\"]\n    resources = [\"*\"]\n  }"),
            1
        );
        let dynamic = |each: &str| {
            format!(
                "dynamic \"statement\" {{\n    for_each = {each}\n    content {{\n      actions = [statement.value]\n      resources \
                 = [\"*\"]\n    }}\n  }}"
            )
        };
        assert_eq!(document(&dynamic("toset([\"sqs:*\"])")), 0);
        assert_eq!(document(&dynamic("toset([\"logs:*\"])")), 1);
        assert_eq!(document(&dynamic("var.open")), 0);
    }

    #[test]
    fn external_module_or_caller_may_grant_permissions() {
        let module =
            |arguments: &str| format!("module \"m\" {{\n  source = \"acme/policies/aws\"\n  {arguments}\n}}\n");
        assert_eq!(count(&module("role = aws_iam_role.r.name")), 0);
        assert_eq!(count(&module("roles = { worker = [aws_iam_role.r.arn] }")), 0);
        assert_eq!(count(&module("role_name = \"worker\"")), 0);
        assert_eq!(count(&module("role_name = \"else\"")), 1);
        // A module without a provider may be called by another one.
        let output = "output \"role\" {\n  value = aws_iam_role.r.name\n}\n";
        assert_eq!(count(output), 1);
        let called = text("", output).replace("provider \"aws\" {}", "");
        assert_eq!(findings(&RULE, Terraform, &called).len(), 0);
    }

    #[test]
    fn undeclared_roles_are_not_judged() {
        let with = |role: &str| {
            let text = text("", "data \"aws_iam_role\" \"r\" {\n  name = \"elsewhere\"\n}\n");
            findings(
                &RULE,
                Terraform,
                &text.replace("= aws_iam_role.r.arn", &format!("= {role}")),
            )
            .len()
        };
        assert_eq!(with("aws_iam_role.r.arn"), 1);
        assert_eq!(with("data.aws_iam_role.r.arn"), 0);
        assert_eq!(with("\"arn:aws:iam::111122223333:role/worker\""), 0);
        assert_eq!(with("var.open"), 0);
    }

    #[test]
    fn queue_policy_may_allow_the_role() {
        let policy = |principal: &str| {
            count(&format!(
                "resource \"aws_sqs_queue_policy\" \"p\" {{\n  queue_url = aws_sqs_queue.q.url\n  policy = jsonencode({{ \
                 Statement = [{{ Effect = \"Allow\", Principal = {principal}, Action = \"sqs:*\", Resource = \"*\" }}] \
                 }})\n}}\n"
            ))
        };
        assert_eq!(policy("{ AWS = aws_iam_role.r.arn }"), 0);
        assert_eq!(policy("\"*\""), 0);
        // The account still has to grant its permissions to the role.
        assert_eq!(policy("{ AWS = \"arn:aws:iam::111122223333:root\" }"), 1);
        assert_eq!(policy("{ AWS = \"111122223333\" }"), 1);
        assert_eq!(policy("{ Service = \"sns.amazonaws.com\" }"), 1);
    }

    #[test]
    fn disabled_mappings_and_external_queues_are_ignored() {
        let with = |from: &str, to: &str| findings(&RULE, Terraform, &text("", "").replace(from, to)).len();
        assert_eq!(
            with(
                "function_name    = aws_lambda_function.f.arn",
                "function_name = aws_lambda_function.f.arn\n  enabled = false"
            ),
            0
        );
        assert_eq!(
            with(
                "aws_sqs_queue.q.arn",
                "\"arn:aws:sqs:eu-west-1:111122223333:elsewhere\""
            ),
            0
        );
        assert_eq!(
            with(
                "function_name    = aws_lambda_function.f.arn",
                "function_name = \"elsewhere\""
            ),
            0
        );
    }

    #[test]
    fn cloudformation_role_is_checked() {
        let with = |policies: &str| {
            let text = format!(
                r"
Resources:
  Q: {{Type: AWS::SQS::Queue}}
  R:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument: {{}}
      {policies}
  F:
    Type: AWS::Lambda::Function
    Properties: {{Role: !GetAtt R.Arn}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
"
            );
            findings(&RULE, CloudFormation, &text).len()
        };
        assert_eq!(with(""), 1);
        assert_eq!(with(&format!("ManagedPolicyArns: [{POLL}]")), 0);
        assert_eq!(
            with("ManagedPolicyArns: [!Sub 'arn:${AWS::Partition}:iam::aws:policy/AmazonSQSFullAccess']"),
            0
        );
        assert_eq!(with(&format!("ManagedPolicyArns: [{LOG}]")), 1);
        let inline = |action: &str| {
            with(&format!(
                "Policies: [{{PolicyName: p, PolicyDocument: {{Statement: [{{Effect: Allow, Action: '{action}', Resource: !GetAtt \
                 Q.Arn}}]}}}}]"
            ))
        };
        assert_eq!(inline("sqs:*"), 0);
        assert_eq!(inline("logs:*"), 1);
        let separate = |kind: &str, role: &str| {
            with(&format!(
                "Path: /\n  P:\n    Type: {kind}\n    Properties:\n      {role}\n      PolicyDocument: {{Statement: [{{Effect: \
                 Allow, Action: 'sqs:*', Resource: '*'}}]}}"
            ))
        };
        assert_eq!(separate("AWS::IAM::Policy", "Roles: [!Ref R]"), 0);
        assert_eq!(separate("AWS::IAM::Policy", "Roles: [other]"), 1);
        assert_eq!(separate("AWS::IAM::ManagedPolicy", "Roles: [!Ref R]"), 0);
        assert_eq!(separate("AWS::IAM::RolePolicy", "RoleName: !Ref R"), 0);
    }

    #[test]
    fn nested_stacks_and_macros_may_grant_permissions() {
        let template = |rest: &str| {
            format!(
                r"{rest}
Resources:
  Q: {{Type: AWS::SQS::Queue}}
  R:
    Type: AWS::IAM::Role
    Properties: {{AssumeRolePolicyDocument: {{}}}}
  F:
    Type: AWS::Lambda::Function
    Properties: {{Role: !GetAtt R.Arn}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {{EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F}}
"
            )
        };
        let count = |text: &str| findings(&RULE, CloudFormation, text).len();
        assert_eq!(count(&template("")), 1);
        assert_eq!(count(&template("Transform: OwnMacro")), 0);
        let export = "Outputs:\n  O: {Value: !Ref R, Export: {Name: role}}";
        assert_eq!(count(&template(export)), 0);
        let nested = "  N:\n    Type: AWS::CloudFormation::Stack\n    Properties: {TemplateURL: 'https://x', Parameters: {Role: !Ref R}}\n";
        assert_eq!(count(&(template("") + nested)), 0);
    }

    #[test]
    fn sam_generated_roles_are_accepted() {
        check(
            &RULE,
            Sam,
            r"
Resources:
  Q: {Type: AWS::SQS::Queue}
  T: {Type: AWS::SNS::Topic}
  Own:
    Type: AWS::IAM::Role
    Properties: {AssumeRolePolicyDocument: {}}
  Plain:
    Type: AWS::Serverless::Function
    Properties:
      Events: {E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}
  Subscribed:
    Type: AWS::Serverless::Function
    Properties:
      Events: {E: {Type: SNS, Properties: {Topic: !Ref T, SqsSubscription: true}}}
  Beside: # expect: function-role-missing-queue-permission
    Type: AWS::Serverless::Function
    Properties: {Handler: a.b}
  BesideMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref Beside}
  Polled:
    Type: AWS::Serverless::Function
    Properties:
      Policies: [{SQSPollerPolicy: {QueueName: !GetAtt Q.QueueName}}]
  PolledMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref Polled}
  Named:
    Type: AWS::Serverless::Function
    Properties: {Policies: AWSLambdaSQSQueueExecutionRole}
  NamedMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref Named}
  Connected:
    Type: AWS::Serverless::Function
    Properties: {Handler: a.b}
  ConnectedMapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref Connected}
  Connector:
    Type: AWS::Serverless::Connector
    Properties: {Source: {Id: Q}, Destination: {Id: Connected}, Permissions: [Read, Write]}
",
        );
        let own = "Resources:\n  Q: {Type: AWS::SQS::Queue}\n  Own: {Type: AWS::IAM::Role, Properties: {}}\n  F:\n    Type: \
                   AWS::Serverless::Function\n    Properties:\n      Role: !GetAtt Own.Arn\n      Events: {E: {Type: SQS, \
                   Properties: {Queue: !GetAtt Q.Arn}}}\n";
        assert_eq!(findings(&RULE, Sam, own).len(), 1);
    }

    #[test]
    fn serverless_generated_roles_are_accepted() {
        let service = |role: &str| {
            let text = format!(
                "service: shop\nprovider:\n  name: aws\n{role}functions:\n  worker:\n    handler: a.b\n    events:\n      - sqs: {{arn: \
                 !GetAtt Q.Arn}}\nresources:\n  Resources:\n    Q: {{Type: AWS::SQS::Queue}}\n    R: {{Type: AWS::IAM::Role, \
                 Properties: {{}}}}\n"
            );
            run_files(&RULE, &[("serverless.yml", &text)]).findings.len()
        };
        assert_eq!(service(""), 0);
        assert_eq!(service("  iam: {role: !GetAtt R.Arn}\n"), 1);
    }

    #[test]
    fn policy_of_another_unit_may_grant_permissions() {
        let own = text("", "");
        let other = |arguments: &str| {
            let text = format!("variable \"open\" {{}}\n{}", attached(arguments));
            run_files(&RULE, &[("a/main.tf", &own), ("b/main.tf", &text)])
                .findings
                .len()
        };
        assert_eq!(other(&format!("role = \"worker\"\n  policy_arn = \"{POLL}\"")), 0);
        assert_eq!(other(&format!("role = var.open\n  policy_arn = \"{POLL}\"")), 0);
        assert_eq!(other(&format!("role = \"else\"\n  policy_arn = \"{POLL}\"")), 1);
    }
}
