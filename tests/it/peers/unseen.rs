//! Checks defects that no other tool finds, and sound queues that security scanners flag.

use super::{Case, FUNCTION, MAPPING, PLAIN, QUEUE, verify};
use crate::inputs::{check, check_files, json, repository};
use sqslint::selection::Selection;
use sqslint::testing::{TemporaryDirectory, describe};
use sqslint::{Options, Outcome};

fn rules(outcome: &Outcome) -> Vec<&str> {
    let mut rules: Vec<&str> = outcome.findings.iter().map(|found| &*found.rule).collect();
    rules.sort_unstable();
    rules
}

#[test]
fn maximum_concurrency_above_reserved_is_found() {
    // 9: every CloudFormation tool reports nothing.
    verify(&Case {
        number: "9",
        function: "F: {Type: AWS::Lambda::Function, Properties: {Timeout: 5, ReservedConcurrentExecutions: 1}}",
        mapping: "M: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref F, ScalingConfig: {MaximumConcurrency: 50}}}",
        found: &["maximum-concurrency-exceeds-reserved F"],
        ..PLAIN
    });
}

#[test]
fn fifo_attribute_on_a_standard_queue_is_found() {
    // 14: cloudformation-validate reports nothing.
    verify(&Case {
        number: "14",
        queue: "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 360, ContentBasedDeduplication: true}}",
        found: &["fifo-attribute-on-standard-queue Q"],
        ..PLAIN
    });
}

#[test]
fn default_encryption_is_accepted() {
    // 25: checkov fails both, although SQS encrypts with its own key by default.
    for properties in ["SqsManagedSseEnabled: true", ""] {
        let template = format!(
            "AWSTemplateFormatVersion: 2010-09-09\nResources:\n  Q: {{Type: AWS::SQS::Queue, Properties: {{{properties}}}}}\n"
        );
        let outcome = check_files([("template.yaml", template.as_str())]);
        assert!(outcome.findings.is_empty(), "{}", describe(&outcome));
    }
}

/// Returns a queue with a policy of these statements, and a topic that delivers to it.
fn policy(statements: &str) -> String {
    format!(
        r#"
resource "aws_sns_topic" "orders" {{
  name = "orders"
}}
resource "aws_sqs_queue" "orders" {{
  name = "orders"
}}
resource "aws_sns_topic_subscription" "orders" {{
  topic_arn = aws_sns_topic.orders.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.orders.arn
}}
resource "aws_sqs_queue_policy" "orders" {{
  queue_url = aws_sqs_queue.orders.id
  policy = jsonencode({{
    Version   = "2012-10-17"
    Statement = [{statements}]
  }})
}}
"#
    )
}

const INSECURE: &str = r#"{
      Effect    = "Deny"
      Principal = "*"
      Action    = "sqs:*"
      Resource  = aws_sqs_queue.orders.arn
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }"#;
const TOPIC: &str = r#"{
      Effect    = "Allow"
      Principal = { Service = "sns.amazonaws.com" }
      Action    = ["*"]
      Resource  = aws_sqs_queue.orders.arn
      Condition = { ArnEquals = { "aws:SourceArn" = aws_sns_topic.orders.arn } }
    }"#;

#[test]
fn policy_statements_are_evaluated() {
    // 26: checkov takes the denial of plain HTTP for public access.
    let outcome = check_files([("main.tf", policy(INSECURE).as_str())]);
    assert_eq!(
        rules(&outcome),
        ["queue-policy-missing-for-producer"],
        "{}",
        describe(&outcome)
    );
    // 27: it does not recognize `*` in a list, nor in a second statement; both allow the topic to send.
    for statements in [TOPIC.to_owned(), format!("{INSECURE}, {TOPIC}")] {
        let outcome = check_files([("main.tf", policy(&statements).as_str())]);
        assert!(outcome.findings.is_empty(), "{}", describe(&outcome));
    }
}

const CONSUMER: &str = r#"
resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = 360
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.failed.arn
    maxReceiveCount     = 5
  })
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
  alarm_actions       = ["arn:aws:sns:eu-west-1:123456789012:on-call"]
}
resource "aws_lambda_function" "worker" {
  function_name = "worker"
  role          = "arn:aws:iam::123456789012:role/worker"
  timeout       = 60
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn        = aws_sqs_queue.orders.arn
  function_name           = aws_lambda_function.worker.arn
  function_response_types = ["ReportBatchItemFailures"]
}
"#;

#[test]
fn function_invoked_only_by_a_mapping_has_no_finding() {
    // 28: checkov demands a dead-letter queue of the function, which would never receive anything.
    let outcome = check_files([("main.tf", CONSUMER)]);
    assert!(outcome.findings.is_empty(), "{}", describe(&outcome));
}

#[test]
fn defects_in_a_called_module_are_found() {
    // 29: checkov reports encryption, tracing, concurrency and signing, but none of the defects. The retention period
    // of the dead-letter queue is judged once its type is right: on FIFO queues, the period restarts when a message
    // moves.
    let call = "module \"orders\" {\n  source  = \"./orders\"\n  timeout = 60\n}\n";
    let module = r#"
variable "timeout" {
  type = number
}
resource "aws_sqs_queue" "orders" {
  name                       = "orders.fifo"
  fifo_queue                 = true
  visibility_timeout_seconds = 30
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.failed.arn
    maxReceiveCount     = 1
  })
}
resource "aws_sqs_queue" "failed" {
  name                      = "orders-failed"
  message_retention_seconds = 60
}
resource "aws_lambda_function" "worker" {
  function_name = "worker"
  timeout       = var.timeout
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
  batch_size       = 100
}
"#;
    let check = |module: &str| {
        let directory = TemporaryDirectory::with_files([("main.tf", call), ("orders/main.tf", module)]);
        sqslint::check(&Options {
            paths: vec![directory.path().to_owned()],
            selection: Selection::new(Vec::new(), Vec::new(), true),
            ..Options::default()
        })
    };
    let outcome = check(module);
    for rule in [
        "dead-letter-queue-type-mismatch",
        "max-receive-count-too-low",
        "visibility-timeout-below-function-timeout",
        "fifo-batch-size-too-large",
    ] {
        assert!(rules(&outcome).contains(&rule), "no {rule}\n{}", describe(&outcome));
    }
    let right = module.replace("\"orders-failed\"", "\"orders-failed.fifo\"\n  fifo_queue = true");
    let outcome = check(&right);
    let rule = "fifo-dead-letter-queue-retention-short";
    assert!(rules(&outcome).contains(&rule), "no {rule}\n{}", describe(&outcome));
}

#[test]
fn references_in_a_plan_are_linked() {
    // 30: the links of a plan are in its configuration.
    let recorded = json(&repository(
        "fixtures/planned/visibility-timeout-below-function-timeout.json",
    ));
    let plan = recorded["flagged"].to_string();
    let directory = TemporaryDirectory::with_files([("plan.json", plan.as_str())]);
    let outcome = check(&directory.path().join("plan.json"));
    assert!(
        rules(&outcome).contains(&"visibility-timeout-below-function-timeout"),
        "{}",
        describe(&outcome)
    );
}

#[test]
fn defects_missed_by_every_cloudformation_tool_are_found() {
    let fifo = "D: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}";
    let failed = "D: {Type: AWS::SQS::Queue}\n  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 360, RedrivePolicy: {deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5}}}";
    let alarm = |metric: &str, queue: &str| {
        format!("A: {{Type: AWS::CloudWatch::Alarm, Properties: {{Namespace: AWS/SQS, MetricName: {metric}, Dimensions: [{{Name: QueueName, Value: {queue}}}], Statistic: Maximum, Period: 60, EvaluationPeriods: 1, Threshold: 0, ComparisonOperator: GreaterThanThreshold, AlarmActions: [arn:aws:sns:us-east-1:1:t]}}}}").leak() as &'static str
    };
    let plain = Case {
        number: "31",
        mapping: "",
        ..PLAIN
    };
    for (queue, more, mapping, found) in [
        (
            fifo,
            "G: {Type: AWS::Lambda::Function, Properties: {DeadLetterConfig: {TargetArn: !GetAtt D.Arn}}}",
            "",
            "async-failure-target-fifo G",
        ),
        (
            fifo,
            "I: {Type: AWS::Lambda::EventInvokeConfig, Properties: {FunctionName: !Ref F, Qualifier: $LATEST, DestinationConfig: {OnFailure: {Destination: !GetAtt D.Arn}}}}",
            "",
            "async-failure-target-fifo F",
        ),
        (
            fifo,
            "R: {Type: AWS::Events::Rule, Properties: {EventPattern: {source: [shop]}, Targets: [{Id: a, Arn: !GetAtt F.Arn, DeadLetterConfig: {Arn: !GetAtt D.Arn}}]}}",
            "",
            "fifo-queue-as-unsupported-target R.Targets[0]",
        ),
        (
            fifo,
            "B: {Type: AWS::S3::Bucket, Properties: {NotificationConfiguration: {QueueConfigurations: [{Event: 's3:ObjectCreated:*', Queue: !GetAtt D.Arn}]}}}",
            "",
            "fifo-queue-as-unsupported-target B.QueueConfigurations[0]",
        ),
        (
            "Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 3600, MessageRetentionPeriod: 60}}",
            "",
            MAPPING,
            "visibility-timeout-exceeds-retention Q",
        ),
        (
            failed,
            alarm("NumberOfMessagesSent", "!GetAtt D.QueueName"),
            MAPPING,
            "dead-letter-queue-alarm-metric-blind A",
        ),
        (
            failed,
            alarm("ApproximateNumberOfMessagesVisible", "!Ref D"),
            MAPPING,
            "alarm-dimension-invalid A",
        ),
        (
            failed,
            alarm("ApproximateNumberOfMessageVisible", "!GetAtt D.QueueName"),
            MAPPING,
            "alarm-dimension-invalid A",
        ),
        (
            QUEUE,
            "T: {Type: AWS::SNS::Topic}\n  S: {Type: AWS::SNS::Subscription, Properties: {Protocol: sqs, TopicArn: !Ref T, Endpoint: !GetAtt Q.Arn}}",
            "",
            "queue-policy-missing-for-producer S",
        ),
        (
            QUEUE,
            "G: {Type: AWS::Lambda::Function, Properties: {Timeout: 5}}\n  N: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !GetAtt Q.Arn, FunctionName: !Ref G}}",
            MAPPING,
            "queue-competing-consumers Q",
        ),
    ] {
        verify(&Case {
            function: FUNCTION,
            queue,
            mapping,
            more,
            found: vec![found].leak(),
            silent: &[],
            ..plain
        });
    }
}

#[test]
fn role_without_queue_permissions_is_found() {
    // 31: the role is in the same template; its policy allows logs only, or another action.
    let granted = |grants: &str| {
        format!(
            "R: {{Type: AWS::IAM::Role, Properties: {{AssumeRolePolicyDocument: {{Statement: [{{Effect: Allow, Action: 'sts:AssumeRole', Principal: {{Service: lambda.amazonaws.com}}}}]}}, {grants}}}}}"
        )
    };
    let statement = |actions: &str| {
        format!(
            "Policies: [{{PolicyName: q, PolicyDocument: {{Statement: [{{Effect: Allow, Action: [{actions}], Resource: !GetAtt Q.Arn}}]}}}}]"
        )
    };
    let managed = |name: &str| format!("ManagedPolicyArns: ['arn:aws:iam::aws:policy/service-role/{name}']");
    let enough = "'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'";
    for (grants, is_enough) in [
        (managed("AWSLambdaBasicExecutionRole"), false),
        (statement("'sqs:ReceiveMessage', 'sqs:GetQueueAttributes'"), false),
        (managed("AWSLambdaSQSQueueExecutionRole"), true),
        (statement(enough), true),
    ] {
        let rule = "function-role-missing-queue-permission";
        let (found, silent) = if is_enough {
            (vec![], vec![rule])
        } else {
            (vec!["function-role-missing-queue-permission M"], vec![])
        };
        verify(&Case {
            number: "31",
            function: "F: {Type: AWS::Lambda::Function, Properties: {Role: !GetAtt R.Arn, Timeout: 5}}",
            more: granted(&grants).leak(),
            found: found.leak(),
            silent: silent.leak(),
            ..PLAIN
        });
    }
}
