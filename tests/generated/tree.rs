//! Generates a repository of 3,000 files and 10 MB: Terraform modules, templates in YAML and JSON, and other files in
//! the same directories.

use std::fmt::Write as _;

/// Number of modules, each of five files, and of templates in each of YAML and JSON, with as many other files of each
/// kind.
const MODULES: usize = 240;
const TEMPLATES: usize = 450;

/// Name and text.
pub(crate) type File = (String, String);

/// Returns the files, and how many of them a linter for templates and Terraform has to parse; those are the first ones.
pub(crate) fn tree() -> (Vec<File>, usize) {
    let mut files: Vec<File> = (0..MODULES).flat_map(module).collect();
    for at in 0..TEMPLATES {
        files.push((format!("stacks/{at}/template.yaml"), yaml(at)));
        files.push((format!("stacks/{at}/stack.json"), json(at)));
    }
    let parsed = files.len();
    for at in 0..TEMPLATES {
        files.push((format!("stacks/{at}/deployment.yaml"), deployment(at)));
        files.push((format!("stacks/{at}/package.json"), package(at)));
    }
    (files, parsed)
}

fn module(at: usize) -> Vec<File> {
    let mut main = String::new();
    let mut functions = String::new();
    let mut others = String::new();
    for service in 0..6 {
        let timeout = 10 + (at * 7 + service * 13) % 90;
        let visibility = if (at + service).is_multiple_of(10) {
            timeout
        } else {
            6 * timeout
        };
        write!(
            main,
            r#"resource "aws_sqs_queue" "q{service}_dlq" {{
  name                      = "${{local.prefix}}-q{service}-dlq"
  message_retention_seconds = var.retention
  tags                      = local.tags
}}

resource "aws_sqs_queue" "q{service}" {{
  name                       = "${{local.prefix}}-q{service}"
  visibility_timeout_seconds = {visibility}
  redrive_policy = jsonencode({{
    deadLetterTargetArn = aws_sqs_queue.q{service}_dlq.arn
    maxReceiveCount     = var.receives
  }})
  tags = merge(local.tags, {{ Service = "s{service}" }})
}}

"#
        )
        .unwrap();
        write!(
            functions,
            r#"resource "aws_lambda_function" "f{service}" {{
  function_name = "${{local.prefix}}-f{service}"
  role          = aws_iam_role.f.arn
  handler       = "index.handler"
  runtime       = "nodejs22.x"
  timeout       = {timeout}
  environment {{
    variables = {{ QUEUE = aws_sqs_queue.q{service}.url }}
  }}
}}

resource "aws_lambda_event_source_mapping" "m{service}" {{
  event_source_arn        = aws_sqs_queue.q{service}.arn
  function_name           = aws_lambda_function.f{service}.arn
  function_response_types = ["ReportBatchItemFailures"]
}}

"#
        )
        .unwrap();
        write!(
            others,
            r#"resource "aws_security_group" "g{service}" {{
  name        = "${{local.prefix}}-g{service}"
  description = "What service {service} may reach"
  vpc_id      = var.vpc
  dynamic "ingress" {{
    for_each = {{ for port in [80, 443, {timeout}] : port => "10.0.0.0/8" }}
    content {{
      from_port   = ingress.key
      to_port     = ingress.key
      protocol    = "tcp"
      cidr_blocks = [ingress.value]
    }}
  }}
}}

"#
        )
        .unwrap();
    }
    let head = format!(
        "locals {{\n  prefix = \"${{var.stage}}-{at}\"\n  tags = {{\n    Team  = \"t{at}\"\n    Stage = var.stage\n  }}\n}}\n\n"
    );
    let variables = "variable \"stage\" {\n  type    = string\n  default = \"dev\"\n}\n\nvariable \"retention\" {\n  type    = number\n  default = 1209600\n}\n\nvariable \"receives\" {\n  type    = number\n  default = 5\n}\n\nvariable \"vpc\" {\n  type = string\n}\n";
    let role = "resource \"aws_iam_role\" \"f\" {\n  name = \"${local.prefix}-f\"\n  assume_role_policy = data.aws_iam_policy_document.f.json\n}\n\ndata \"aws_iam_policy_document\" \"f\" {\n  statement {\n    actions = [\"sts:AssumeRole\"]\n    principals {\n      type        = \"Service\"\n      identifiers = [\"lambda.amazonaws.com\"]\n    }\n  }\n}\n";
    let place = |name: &str| format!("modules/m{at}/{name}.tf");
    vec![
        (place("main"), head + &main),
        (place("functions"), functions),
        (place("network"), others),
        (place("variables"), variables.to_owned()),
        (place("roles"), role.to_owned()),
    ]
}

fn yaml(at: usize) -> String {
    let mut text = "AWSTemplateFormatVersion: '2010-09-09'\nTransform: AWS::Serverless-2016-10-31\nParameters:\n  Stage:\n    Type: String\n    Default: dev\n    AllowedValues: [dev, prod]\nConditions:\n  IsProd: !Equals [!Ref Stage, prod]\nGlobals:\n  Function:\n    Runtime: nodejs22.x\n    Timeout: 30\nResources:\n".to_owned();
    for service in 0..5 {
        let visibility = if (at + service).is_multiple_of(10) { 30 } else { 180 };
        write!(
            text,
            "  # Takes orders of service {service}.\n  Queue{service}:\n    Type: AWS::SQS::Queue\n    Properties:\n      QueueName: !Sub '${{Stage}}-{at}-{service}'\n      VisibilityTimeout: !If [IsProd, {visibility}, 300]\n      RedrivePolicy:\n        deadLetterTargetArn: !GetAtt Failed{service}.Arn\n        maxReceiveCount: 5\n  Failed{service}:\n    Type: AWS::SQS::Queue\n    Properties:\n      MessageRetentionPeriod: 1209600\n  Function{service}:\n    Type: AWS::Serverless::Function\n    Properties:\n      Handler: index.handler\n      CodeUri: src/\n      Environment:\n        Variables:\n          TABLE: !Ref Table{service}\n      Events:\n        Orders:\n          Type: SQS\n          Properties:\n            Queue: !GetAtt Queue{service}.Arn\n            BatchSize: 10\n            FunctionResponseTypes: [ReportBatchItemFailures]\n  Table{service}:\n    Type: AWS::DynamoDB::Table\n    Properties:\n      BillingMode: PAY_PER_REQUEST\n      AttributeDefinitions:\n        - AttributeName: id\n          AttributeType: S\n      KeySchema:\n        - AttributeName: id\n          KeyType: HASH\n"
        )
        .unwrap();
    }
    text
}

fn json(at: usize) -> String {
    let mut resources = Vec::new();
    for service in 0..5 {
        let visibility = if (at + service).is_multiple_of(10) { 60 } else { 360 };
        resources.push(format!(
            r#"    "Queue{service}": {{
      "Type": "AWS::SQS::Queue",
      "Properties": {{
        "QueueName": "json-{at}-{service}",
        "VisibilityTimeout": {visibility},
        "RedrivePolicy": {{
          "deadLetterTargetArn": {{ "Fn::GetAtt": ["Failed{service}", "Arn"] }},
          "maxReceiveCount": 5
        }}
      }}
    }},
    "Failed{service}": {{
      "Type": "AWS::SQS::Queue",
      "Properties": {{ "MessageRetentionPeriod": 1209600 }}
    }},
    "Role{service}": {{
      "Type": "AWS::IAM::Role",
      "Properties": {{
        "AssumeRolePolicyDocument": {{
          "Version": "2012-10-17",
          "Statement": [
            {{ "Effect": "Allow", "Principal": {{ "Service": "lambda.amazonaws.com" }}, "Action": "sts:AssumeRole" }}
          ]
        }}
      }}
    }},
    "Function{service}": {{
      "Type": "AWS::Lambda::Function",
      "Properties": {{
        "Code": {{ "S3Bucket": "code", "S3Key": "{at}.zip" }},
        "Handler": "index.handler",
        "Role": {{ "Fn::GetAtt": ["Role{service}", "Arn"] }},
        "Runtime": "nodejs22.x",
        "Timeout": 60
      }}
    }},
    "Mapping{service}": {{
      "Type": "AWS::Lambda::EventSourceMapping",
      "Properties": {{
        "EventSourceArn": {{ "Fn::GetAtt": ["Queue{service}", "Arn"] }},
        "FunctionName": {{ "Ref": "Function{service}" }},
        "FunctionResponseTypes": ["ReportBatchItemFailures"]
      }}
    }}"#
        ));
    }
    format!(
        "{{\n  \"AWSTemplateFormatVersion\": \"2010-09-09\",\n  \"Resources\": {{\n{}\n  }}\n}}\n",
        resources.join(",\n")
    )
}

fn deployment(at: usize) -> String {
    let mut text = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d{at}\nspec:\n  containers:\n");
    for port in 0..25 {
        write!(
            text,
            "    - name: c{port}\n      image: example.org/c{port}:1.{at}\n      ports:\n        - containerPort: {}\n",
            8000 + port
        )
        .unwrap();
    }
    text
}

fn package(at: usize) -> String {
    let entries: Vec<String> = (0..60)
        .map(|other| format!("    \"package-{other}\": \"^{other}.{at}.0\""))
        .collect();
    format!(
        "{{\n  \"name\": \"p{at}\",\n  \"version\": \"1.0.0\",\n  \"dependencies\": {{\n{}\n  }}\n}}\n",
        entries.join(",\n")
    )
}

/// Generates a CDK template of about `size` bytes, with names, metadata and policies like CDK's.
pub(crate) fn cdk(size: usize) -> String {
    let mut text = "{\n \"Resources\": {\n".to_owned();
    let mut count = 0;
    while text.len() < size {
        let comma = if count == 0 { "" } else { ",\n" };
        let id = format!("Service{count}{:08X}", count * 2_654_435_761_usize % 0xffff_ffff);
        write!(
            text,
            r#"{comma}  "{id}Failed": {{
   "Type": "AWS::SQS::Queue",
   "Properties": {{
    "MessageRetentionPeriod": 1209600
   }},
   "UpdateReplacePolicy": "Delete",
   "DeletionPolicy": "Delete",
   "Metadata": {{
    "aws:cdk:path": "App/Service{count}/Failed/Resource"
   }}
  }},
  "{id}Queue": {{
   "Type": "AWS::SQS::Queue",
   "Properties": {{
    "RedrivePolicy": {{
     "deadLetterTargetArn": {{
      "Fn::GetAtt": [
       "{id}Failed",
       "Arn"
      ]
     }},
     "maxReceiveCount": 5
    }},
    "VisibilityTimeout": 360
   }},
   "Metadata": {{
    "aws:cdk:path": "App/Service{count}/Queue/Resource"
   }}
  }},
  "{id}Policy": {{
   "Type": "AWS::IAM::Policy",
   "Properties": {{
    "PolicyDocument": {{
     "Statement": [
      {{
       "Action": [
        "sqs:ReceiveMessage",
        "sqs:ChangeMessageVisibility",
        "sqs:GetQueueUrl",
        "sqs:DeleteMessage",
        "sqs:GetQueueAttributes"
       ],
       "Effect": "Allow",
       "Resource": {{
        "Fn::GetAtt": [
         "{id}Queue",
         "Arn"
        ]
       }}
      }}
     ],
     "Version": "2012-10-17"
    }},
    "PolicyName": "{id}Policy"
   }},
   "Metadata": {{
    "aws:cdk:path": "App/Service{count}/Function/ServiceRole/DefaultPolicy/Resource"
   }}
  }},
  "{id}Function": {{
   "Type": "AWS::Lambda::Function",
   "Properties": {{
    "Code": {{
     "S3Bucket": {{
      "Fn::Sub": "cdk-hnb659fds-assets-${{AWS::AccountId}}-${{AWS::Region}}"
     }},
     "S3Key": "{count}.zip"
    }},
    "Handler": "index.handler",
    "Role": "arn:aws:iam::123456789012:role/app",
    "Runtime": "nodejs22.x",
    "Timeout": 60
   }},
   "DependsOn": [
    "{id}Policy"
   ],
   "Metadata": {{
    "aws:cdk:path": "App/Service{count}/Function/Resource"
   }}
  }},
  "{id}Mapping": {{
   "Type": "AWS::Lambda::EventSourceMapping",
   "Properties": {{
    "EventSourceArn": {{
     "Fn::GetAtt": [
      "{id}Queue",
      "Arn"
     ]
    }},
    "FunctionName": {{
     "Ref": "{id}Function"
    }},
    "FunctionResponseTypes": [
     "ReportBatchItemFailures"
    ]
   }},
   "Metadata": {{
    "aws:cdk:path": "App/Service{count}/Function/SqsEventSource/Resource"
   }}
  }}"#
        )
        .unwrap();
        count += 1;
    }
    text + "\n }\n}\n"
}

/// Generates a module and `count` calls of it.
pub(crate) fn calls(count: usize) -> Vec<File> {
    let module = r#"variable "name" {}
resource "aws_sqs_queue" "dlq" { name = "${var.name}-dlq" }
resource "aws_sqs_queue" "q" {
  name           = var.name
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dlq.arn, maxReceiveCount = 5 })
}
resource "aws_lambda_function" "f" {
  function_name = var.name
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
"#;
    let mut main = String::new();
    for at in 0..count {
        write!(
            main,
            "module \"q{at}\" {{\n  source = \"./m\"\n  name   = \"n{at}\"\n}}\n"
        )
        .unwrap();
    }
    vec![
        ("main.tf".to_owned(), main),
        ("m/main.tf".to_owned(), module.to_owned()),
    ]
}

/// Generates the same resources with a `for_each` over `count` keys.
pub(crate) fn keys(count: usize) -> Vec<File> {
    let names: Vec<String> = (0..count).map(|at| format!("\"n{at}\"")).collect();
    let main = format!(
        "locals {{\n  names = toset([{}])\n}}\nresource \"aws_sqs_queue\" \"dlq\" {{\n  for_each = local.names\n  name     = \"${{each.key}}-dlq\"\n}}\nresource \"aws_sqs_queue\" \"q\" {{\n  for_each = local.names\n  name     = each.key\n  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.dlq[each.key].arn, maxReceiveCount = 5 }})\n}}\n",
        names.join(", ")
    );
    vec![("main.tf".to_owned(), main)]
}
