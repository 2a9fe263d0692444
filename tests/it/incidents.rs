//! Checks five incidents in every dialect: the program fails for the incident, and accepts its cure. No configuration
//! declares anything; templates and code state the numbers.

use crate::programs::isolate;
use sqslint::testing::TemporaryDirectory;
use std::process::Command;

/// Parts of a stack in each dialect, with holes of the form `<hole>`.
struct Parts {
    terraform: &'static str,
    /// Entries of `Resources` in JSON, for CloudFormation, CDK, and the resources of a service.
    resources: &'static str,
    /// Entries of `Resources` for SAM, if it has a spelling of its own.
    sam: Option<&'static str>,
    /// Functions of a service of the Serverless Framework, whose queue is in `resources`, too.
    functions: Option<&'static str>,
}

/// Queue, dead-letter queue and its alarm, with the hole `<visibility>`.
const QUEUES: Parts = Parts {
    terraform: r#"
resource "aws_sqs_queue" "orders" {
  name                      = "orders"
  receive_wait_time_seconds = 20
  <terraform-visibility>
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "failed" {
  name                      = "orders-failed"
  message_retention_seconds = 1209600
}
resource "aws_cloudwatch_metric_alarm" "failed" {
  alarm_name          = "orders-failed"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  dimensions          = { QueueName = aws_sqs_queue.failed.name }
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  period              = 60
  evaluation_periods  = 1
  treat_missing_data  = "notBreaching"
  alarm_actions       = ["arn:aws:sns:eu-west-1:111122223333:pager"]
}
"#,
    resources: r#"
"Orders": {"Type": "AWS::SQS::Queue", "Properties": {
  "QueueName": "orders", "ReceiveMessageWaitTimeSeconds": 20, <visibility>
  "RedrivePolicy": {"deadLetterTargetArn": {"Fn::GetAtt": ["Failed", "Arn"]}, "maxReceiveCount": 5}}},
"Failed": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "orders-failed", "MessageRetentionPeriod": 1209600}},
"FailedAlarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": {
  "Namespace": "AWS/SQS", "MetricName": "ApproximateNumberOfMessagesVisible",
  "Dimensions": [{"Name": "QueueName", "Value": {"Fn::GetAtt": ["Failed", "QueueName"]}}],
  "Statistic": "Maximum", "ComparisonOperator": "GreaterThanThreshold", "Threshold": 0, "Period": 60,
  "EvaluationPeriods": 1, "TreatMissingData": "notBreaching",
  "AlarmActions": ["arn:aws:sns:eu-west-1:111122223333:pager"]}}"#,
    sam: None,
    functions: None,
};

/// A function that a mapping invokes, with the holes `<timeout>` and `<code>`.
const FUNCTION: Parts = Parts {
    terraform: r#"
data "archive_file" "fulfil" {
  type        = "zip"
  source_dir  = "${path.module}/fulfil"
  output_path = "${path.module}/fulfil.zip"
}
resource "aws_lambda_function" "fulfil" {
  function_name = "fulfil"
  role          = "arn:aws:iam::111122223333:role/fulfil"
  runtime       = "python3.13"
  handler       = "app.handler"
  filename      = data.archive_file.fulfil.output_path
  timeout       = <timeout>
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.fulfil.arn
  batch_size       = 1
}
"#,
    resources: r#"
"Fulfil": {"Type": "AWS::Lambda::Function", "Properties": {
  "Role": "arn:aws:iam::111122223333:role/fulfil", "Runtime": "python3.13", "Handler": "app.handler",
  "Timeout": <timeout>, "Code": "./fulfil"}},
"Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {
  "EventSourceArn": {"Fn::GetAtt": ["Orders", "Arn"]}, "FunctionName": {"Ref": "Fulfil"}, "BatchSize": 1}}"#,
    sam: Some(
        r#"
"Fulfil": {"Type": "AWS::Serverless::Function", "Properties": {
  "Runtime": "python3.13", "Handler": "app.handler", "Timeout": <timeout>, "CodeUri": "fulfil/",
  "Events": {"Order": {"Type": "SQS", "Properties": {
    "Queue": {"Fn::GetAtt": ["Orders", "Arn"]}, "BatchSize": 1}}}}}"#,
    ),
    functions: Some(
        "  fulfil:\n    handler: fulfil/app.handler\n    timeout: <timeout>\n    events:\n      - sqs:\n          \
         arn: {Fn::GetAtt: [Orders, Arn]}\n          batchSize: 1\n",
    ),
};

/// A task on ECS, with the hole `<actions>` for what its role may do.
const WORKER: Parts = Parts {
    terraform: r#"
resource "aws_iam_role" "worker" {
  name               = "worker"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ecs-tasks.amazonaws.com" } }]
  })
}
resource "aws_iam_role_policy" "worker" {
  role   = aws_iam_role.worker.id
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = [<actions>], Resource = aws_sqs_queue.orders.arn }]
  })
}
resource "aws_ecs_task_definition" "worker" {
  family                = "worker"
  task_role_arn         = aws_iam_role.worker.arn
  container_definitions = jsonencode([{
    name        = "worker"
    image       = "worker:1"
    environment = [{ name = "QUEUE_URL", value = aws_sqs_queue.orders.url }]
  }])
}
"#,
    resources: r#"
"WorkerRole": {"Type": "AWS::IAM::Role", "Properties": {
  "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ecs-tasks.amazonaws.com"}}]},
  "Policies": [{"PolicyName": "orders", "PolicyDocument": {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": [<actions>], "Resource": {"Fn::GetAtt": ["Orders", "Arn"]}}]}}]}},
"Worker": {"Type": "AWS::ECS::TaskDefinition", "Properties": {
  "TaskRoleArn": {"Fn::GetAtt": ["WorkerRole", "Arn"]},
  "ContainerDefinitions": [{"Name": "worker", "Image": "worker:1",
    "Environment": [{"Name": "QUEUE_URL", "Value": {"Ref": "Orders"}}]}]}}"#,
    sam: None,
    functions: None,
};

/// An incident: its stack, its code, and the holes with their texts for the incident and for the cure.
struct Incident {
    name: &'static str,
    rule: &'static str,
    consumer: Parts,
    file: &'static str,
    code: &'static str,
    holes: &'static [(&'static str, &'static str, &'static str)],
}

const CHARGE: &str = "const { Consumer } = require(\"sqs-consumer\");\n\nConsumer.create({\n  queueUrl: process.env.QUEUE_URL,\n  \
                      <options>\n  handleMessage: async (message) => charge(JSON.parse(message.Body)),\n}).start();\n";
const MAY_RECEIVE: &str = "\"sqs:ReceiveMessage\", \"sqs:DeleteMessage\"";
const MAY_RENEW: &str = "\"sqs:ReceiveMessage\", \"sqs:DeleteMessage\", \"sqs:ChangeMessageVisibility\"";

const INCIDENTS: [Incident; 5] = [
    Incident {
        name: "a queue with default settings feeds a function that runs for 280 s",
        rule: "visibility-timeout-below-function-timeout",
        consumer: FUNCTION,
        file: "fulfil/app.py",
        code: "def handler(event, context):\n    for record in event[\"Records\"]:\n        ship(record[\"body\"])\n",
        holes: &[("visibility", "", "1680"), ("timeout", "280", "280")],
    },
    Incident {
        name: "a worker that waits 45 s for a payment charges customers twice",
        rule: "consumer-visibility-timeout-too-short",
        consumer: WORKER,
        file: "worker/index.js",
        code: CHARGE,
        holes: &[
            ("visibility", "", "90"),
            (
                "options",
                "handleMessageTimeout: 45000,",
                "handleMessageTimeout: 45000,",
            ),
            ("actions", MAY_RECEIVE, MAY_RECEIVE),
        ],
    },
    Incident {
        name: "the heartbeat that cures it is not permitted",
        rule: "worker-role-missing-queue-permission",
        consumer: WORKER,
        file: "worker/index.js",
        code: CHARGE,
        holes: &[
            ("visibility", "", ""),
            (
                "options",
                "visibilityTimeout: 60, heartbeatInterval: 20,",
                "visibilityTimeout: 60, heartbeatInterval: 20,",
            ),
            ("actions", MAY_RECEIVE, MAY_RENEW),
        ],
    },
    Incident {
        name: "the heartbeat comes when the message has reappeared",
        rule: "consumer-heartbeat-too-slow",
        consumer: WORKER,
        file: "worker/main.py",
        code: "import os\nimport boto3\n\nsqs = boto3.client(\"sqs\")\nQUEUE_URL = os.environ[\"QUEUE_URL\"]\n\n\n\
               def renew(handle, done):\n    while not done.wait(<every>):\n        sqs.change_message_visibility(\
               QueueUrl=QUEUE_URL, ReceiptHandle=handle, VisibilityTimeout=120)\n\n\n\
               def work():\n    return sqs.receive_message(QueueUrl=QUEUE_URL, WaitTimeSeconds=20)\n",
        holes: &[
            ("visibility", "", ""),
            ("every", "60", "10"),
            ("actions", MAY_RENEW, MAY_RENEW),
        ],
    },
    Incident {
        name: "a failure leaves the record in progress, and each retry skips it",
        rule: "claim-never-released",
        consumer: FUNCTION,
        file: "fulfil/app.py",
        code: "def handler(event, context):\n    for record in event[\"Records\"]:\n        key = record[\"messageId\"]\n        \
               try:\n            table.put_item(Item={\"id\": key, \"status\": \"in progress\"}, \
               ConditionExpression=\"attribute_not_exists(id)\")\n        \
               except client.exceptions.ConditionalCheckFailedException:\n            continue\n        <work>\n",
        holes: &[
            ("visibility", "180", "180"),
            ("timeout", "30", "30"),
            (
                "work",
                "ship(record)",
                "try:\n            ship(record)\n        except Exception:\n            table.delete_item(Key={\"id\": key})\n            raise",
            ),
        ],
    },
];

/// Returns the files of `incident` in each dialect, with the holes filled.
fn dialects(incident: &Incident, is_cured: bool) -> Vec<(&'static str, Vec<(String, String)>)> {
    let consumer = &incident.consumer;
    let filled = |text: &str| {
        let mut text = text.to_owned();
        for (hole, wrong, right) in incident.holes {
            let value = if is_cured { *right } else { *wrong };
            if *hole == "visibility" {
                let [terraform, json] = match value {
                    "" => [String::new(), String::new()],
                    seconds => [
                        format!("visibility_timeout_seconds = {seconds}"),
                        format!("\"VisibilityTimeout\": {seconds},"),
                    ],
                };
                text = text
                    .replace("<terraform-visibility>", &terraform)
                    .replace("<visibility>", &json);
            }
            text = text.replace(&format!("<{hole}>"), value);
        }
        text
    };
    let template = |head: &str, parts: &[&str]| format!("{{{head}\"Resources\": {{{}}}}}", filled(&parts.join(",")));
    let manifest = r#"{"version": "52.0.0", "artifacts": {"S": {"type": "aws:cloudformation:stack",
        "environment": "aws://111122223333/eu-west-1", "properties": {"templateFile": "S.template.json"}}}}"#;
    let plain = [QUEUES.resources, consumer.resources];
    let sam = [QUEUES.resources, consumer.sam.unwrap_or(consumer.resources)];
    let service = match consumer.functions {
        Some(functions) => format!(
            "functions:\n{}resources: {}\n",
            filled(functions),
            template("", &plain[..1])
        ),
        None => format!("resources: {}\n", template("", &plain)),
    };
    let service = format!(
        "service: shop\nframeworkVersion: \"3\"\nprovider:\n  name: aws\n  region: eu-west-1\n  runtime: python3.13\n{service}"
    );
    let units = [
        (
            "Terraform",
            vec![("main.tf", filled(&[QUEUES.terraform, consumer.terraform].concat()))],
        ),
        (
            "CloudFormation",
            vec![(
                "template.json",
                template("\"AWSTemplateFormatVersion\": \"2010-09-09\", ", &plain),
            )],
        ),
        (
            "SAM",
            vec![(
                "template.yaml",
                template("\"Transform\": \"AWS::Serverless-2016-10-31\", ", &sam),
            )],
        ),
        ("Serverless Framework", vec![("serverless.yml", service)]),
        (
            "CDK",
            vec![
                ("cdk.out/manifest.json", manifest.to_owned()),
                ("cdk.out/S.template.json", template("", &plain)),
            ],
        ),
    ];
    let code = (incident.file.to_owned(), filled(incident.code));
    let with_code = |files: Vec<(&str, String)>| {
        let files = files.into_iter().map(|(name, text)| (name.to_owned(), text));
        files.chain([code.clone()]).collect()
    };
    units
        .into_iter()
        .map(|(dialect, files)| (dialect, with_code(files)))
        .collect()
}

#[test]
fn incidents_fail_and_cures_pass_in_every_dialect() {
    let mut wrong = Vec::new();
    for incident in &INCIDENTS {
        for is_cured in [false, true] {
            for (dialect, files) in dialects(incident, is_cured) {
                let files = files.iter().map(|(name, text)| (&**name, &**text));
                let directory = TemporaryDirectory::with_files(files);
                let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
                isolate(&mut command);
                let output = command
                    .args(["check", "."])
                    .args((dialect == "CDK").then_some("cdk.out"))
                    .current_dir(directory.path())
                    .output()
                    .expect("it is built");
                let printed = String::from_utf8_lossy(&output.stdout);
                let is_right = if is_cured {
                    output.status.code() == Some(0)
                } else {
                    output.status.code() == Some(1) && printed.contains(incident.rule)
                };
                if !is_right {
                    let failed = String::from_utf8_lossy(&output.stderr);
                    wrong.push(format!(
                        "{dialect}, cured: {is_cured}, {}:\n{printed}{failed}",
                        incident.name
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
