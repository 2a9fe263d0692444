//! Checks the fields that policies read, in every dialect.

use super::{headlines, judge_files};

/// Fields that only policies read, each with the expression that is true for every text in `FUNCTIONS`.
const FIELDS: [(&str, &str); 10] = [
    ("function", r#"function.runtime == "python3.13""#),
    ("function", "function.memory == 512"),
    ("function", r#"function.architectures == ["arm64"]"#),
    ("function", "size(function.layers) == 1"),
    ("function", r#"function.environment["STAGE"] == "prod""#),
    (
        "function",
        r#"size(function.failure_targets) == 1 && function.failure_targets.exists(t, t.lowerAscii().contains("failed"))"#,
    ),
    ("mapping", r#"mapping.filters.exists(f, f.contains("created"))"#),
    ("mapping", r#"mapping.tags["owner"] == "shop""#),
    ("alarm", r#"alarm.actions.exists(a, a.lowerAscii().contains("oncall"))"#),
    (
        "queue",
        r#"queue.is_dead_letter_queue || queue.policy.exists(s, s.effect == "Deny" && s.comparisons.exists(c, c.operator == "Bool" && c.key == "aws:SecureTransport" && "false" in c.values))"#,
    ),
];

const FUNCTIONS: [(&str, &str); 4] = [
    (
        "main.tf",
        r#"
resource "aws_sqs_queue" "failed" {}
resource "aws_sqs_queue" "orders" {
  policy = jsonencode({ Statement = [{ Effect = "Deny", Principal = "*", Action = "sqs:*", Resource = "*", Condition = { Bool = { "aws:SecureTransport" = false } } }] })
}
resource "aws_sns_topic" "oncall" {}
resource "aws_lambda_layer_version" "shared" { layer_name = "shared" }
resource "aws_lambda_function" "ship" {
  function_name = "ship"
  runtime       = "python3.13"
  memory_size   = 512
  architectures = ["arm64"]
  layers        = [aws_lambda_layer_version.shared.arn]
  environment { variables = { STAGE = "prod" } }
  dead_letter_config { target_arn = aws_sqs_queue.failed.arn }
}
resource "aws_lambda_event_source_mapping" "ship" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.ship.arn
  tags             = { owner = "shop" }
  filter_criteria {
    filter { pattern = jsonencode({ body = { kind = ["created"] } }) }
  }
}
resource "aws_cloudwatch_metric_alarm" "old" {
  alarm_actions = [aws_sns_topic.oncall.arn]
}
"#,
    ),
    (
        "template.yaml",
        r#"
Resources:
  Failed: {Type: AWS::SQS::Queue}
  Orders: {Type: AWS::SQS::Queue}
  Tls:
    Type: AWS::SQS::QueuePolicy
    Properties:
      Queues: [!Ref Orders]
      PolicyDocument:
        Statement: [{Effect: Deny, Principal: "*", Action: "sqs:*", Resource: "*", Condition: {Bool: {"aws:SecureTransport": "false"}}}]
  OnCall: {Type: AWS::SNS::Topic}
  Shared: {Type: AWS::Lambda::LayerVersion, Properties: {}}
  Ship:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.13
      MemorySize: 512
      Architectures: [arm64]
      Layers: [!Ref Shared]
      Environment: {Variables: {STAGE: prod}}
      DeadLetterConfig: {TargetArn: !GetAtt Failed.Arn}
  Map:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref Ship
      Tags: [{Key: owner, Value: shop}]
      FilterCriteria: {Filters: [{Pattern: '{"body": {"kind": ["created"]}}'}]}
  Old:
    Type: AWS::CloudWatch::Alarm
    Properties: {AlarmActions: [!Ref OnCall]}
"#,
    ),
    (
        "template.yaml",
        r#"
Transform: AWS::Serverless-2016-10-31
Globals:
  Function: {Runtime: python3.13, MemorySize: 512, Architectures: [arm64], Environment: {Variables: {STAGE: prod}}}
Resources:
  Failed: {Type: AWS::SQS::Queue}
  Ship:
    Type: AWS::Serverless::Function
    Properties:
      Layers: ["arn:aws:lambda:eu-west-1:111122223333:layer:shared:1"]
      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt Failed.Arn}
"#,
    ),
    (
        "serverless.yml",
        r#"
service: shop
provider: {name: aws, runtime: python3.13, memorySize: 512, environment: {STAGE: prod}}
functions:
  ship:
    handler: a.b
    architecture: arm64
    layers: ["arn:aws:lambda:eu-west-1:111122223333:layer:shared:1"]
    destinations: {onFailure: "arn:aws:sqs:eu-west-1:111122223333:failed"}
"#,
    ),
];

#[test]
fn fields_of_policies_are_read_in_every_dialect() {
    for (name, text) in FUNCTIONS {
        for (target, expression) in FIELDS {
            let policy = |demand: &str| {
                let text = format!(
                    "[[policy]]\nid = 'own'\nfor = '{target}'\n{demand} = \'\'\'{expression}\'\'\'\nmessage = 'm'\n"
                );
                text
            };
            let required = judge_files(&[(name, text)], &policy("require"));
            assert_eq!(headlines(&required), [""; 0], "{name}: {expression}");
            assert_eq!(
                required.not_evaluated.len(),
                0,
                "{name}: {expression}: {:?}",
                required.not_evaluated
            );
            let forbidden = judge_files(&[(name, text)], &policy("forbid"));
            let is_there = match target {
                "mapping" | "alarm" => text.contains("AWS::SNS::Topic") || name == "main.tf",
                "queue" => name != "serverless.yml",
                _ => true,
            };
            assert_eq!(forbidden.findings.is_empty(), !is_there, "{name}: {expression}");
        }
    }
}

#[test]
fn absent_fields_have_defaults_and_unknown_ones_are_not_judged() {
    let defaults = r#"function.runtime == null && function.memory == 128 && function.architectures == ["x86_64"]
        && size(function.layers) == 0 && size(function.environment) == 0 && size(function.failure_targets) == 0"#;
    let policy = |require: &str| {
        format!("[[policy]]\nid = 'own'\nfor = 'function'\nrequire = \'\'\'{require}\'\'\'\nmessage = 'm'\n")
    };
    let plain = [("main.tf", "resource \"aws_lambda_function\" \"f\" {}\n")];
    let outcome = judge_files(&plain, &policy(defaults));
    assert_eq!((headlines(&outcome), outcome.not_evaluated.len()), (vec![], 0));
    let open = r#"
variable "any" {}
resource "aws_lambda_function" "f" {
  runtime       = var.any
  memory_size   = var.any
  architectures = [var.any]
  layers        = var.any
  environment { variables = var.any }
}
"#;
    for unknown in [
        r#"function.runtime == "python3.13""#,
        "function.memory >= 512",
        r#"function.architectures == ["arm64"]"#,
        "size(function.layers) == 1",
        r#""STAGE" in function.environment"#,
    ] {
        let outcome = judge_files(&[("main.tf", open)], &policy(unknown));
        assert_eq!(
            (headlines(&outcome), outcome.not_evaluated.len()),
            (vec![], 1),
            "{unknown}"
        );
    }
    // The default of the framework depends on its version.
    let service = [(
        "serverless.yml",
        "service: s\nprovider: {name: aws}\nfunctions: {f: {handler: a.b}}\n",
    )];
    let outcome = judge_files(
        &service,
        &policy("function.memory == 1024 && function.runtime == 'nodejs20.x'"),
    );
    assert_eq!((headlines(&outcome), outcome.not_evaluated.len()), (vec![], 1));
    let declared = "[[consumer]]\nqueue = 'orders'\nprocessing = { max = '40s' }\nheartbeat = { every = '10s', extend-to = '30s' }\n\
        [[policy]]\nid = 'own'\nfor = 'queue'\nrequire = 'queue.declarations.all(d, d.is_worker && d.max < queue.visibility_timeout \
        && d.heartbeat == duration(\"10s\") && d.p50 == null)'\nmessage = 'm'\n";
    let outcome = judge_files(
        &[(
            "main.tf",
            "resource \"aws_sqs_queue\" \"orders\" {\n  name = \"orders\"\n}\n",
        )],
        declared,
    );
    assert_eq!(outcome.findings.len(), 1);
}
