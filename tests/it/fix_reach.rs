//! Checks that a fix changes only resources with its finding, and that many fixes take reasonable time.

use sqslint::diagnostic::Safety;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Fixed, Options};
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn fix(files: &[(&str, &str)], within: &str) -> (Fixed, TemporaryDirectory) {
    let directory = TemporaryDirectory::with_files([]);
    std::fs::create_dir(directory.path().join(".git")).unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let options = Options {
        paths: vec![directory.path().join(within)],
        ..Options::default()
    };
    let fixed = sqslint::fix(&options, Safety::Unsafe);
    assert_eq!(fixed.broken, Vec::<String>::new(), "{}", fixed.diff());
    (fixed, directory)
}

/// Module with a queue whose visibility timeout is `timeout`, and its dead-letter queue.
fn module(timeout: &str) -> String {
    format!(
        r#"variable "timeout" {{ default = 30 }}
resource "aws_sqs_queue" "orders" {{
  visibility_timeout_seconds = {timeout}
  redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.dlq.arn, maxReceiveCount = 5 }})
}}
resource "aws_sqs_queue" "dlq" {{
  message_retention_seconds = 1209600
}}
resource "aws_cloudwatch_metric_alarm" "dlq" {{
  namespace   = "AWS/SQS"
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = {{ QueueName = aws_sqs_queue.dlq.name }}
  alarm_actions = ["arn:aws:sns:eu-west-1:111122223333:on-call"]
}}
output "arn" {{ value = aws_sqs_queue.orders.arn }}
"#
    )
}

/// Calls of that module: name, arguments, and the timeout of the function that polls its queue.
fn calls(of: &[(&str, &str, u32)]) -> String {
    let mut text = String::new();
    for (name, arguments, timeout) in of {
        // Writing to a `String` cannot fail.
        let _ = write!(
            text,
            r#"module "{name}" {{
  source = "../modules/q"
  {arguments}
}}
resource "aws_lambda_function" "{name}" {{
  function_name = "{name}"
  timeout       = {timeout}
}}
resource "aws_lambda_event_source_mapping" "{name}" {{
  event_source_arn        = module.{name}.arn
  function_name           = aws_lambda_function.{name}.arn
  function_response_types = ["ReportBatchItemFailures"]
}}
"#
        );
    }
    text
}

#[test]
fn value_shared_with_a_call_without_the_finding_is_kept() {
    for timeout in ["30", "var.timeout"] {
        let root = calls(&[("slow", "", 60), ("fast", "", 5)]);
        let files = [("modules/q/main.tf", &*module(timeout)), ("root/main.tf", &*root)];
        let (fixed, _directory) = fix(&files, "root");
        assert_eq!(fixed.diff(), "", "{timeout}");
        assert!(!fixed.outcome.findings.is_empty());
    }
}

#[test]
fn value_that_is_wrong_for_every_call_is_fixed() {
    for timeout in ["30", "var.timeout"] {
        let root = calls(&[("slow", "", 60), ("slower", "", 70)]);
        let files = [("modules/q/main.tf", &*module(timeout)), ("root/main.tf", &*root)];
        let (fixed, _directory) = fix(&files, "root");
        assert!(fixed.diff().contains("= 420"), "{timeout}: {}", fixed.diff());
        assert!(fixed.outcome.findings.is_empty());
    }
}

#[test]
fn argument_of_one_call_is_fixed_in_that_call() {
    let root = calls(&[("slow", "timeout = 40", 60), ("fast", "", 5)]);
    let files = [("modules/q/main.tf", &*module("var.timeout")), ("root/main.tf", &*root)];
    let (fixed, _directory) = fix(&files, "root");
    assert!(fixed.diff().contains("+  timeout = 360"), "{}", fixed.diff());
    assert!(!fixed.diff().contains("b/modules/q"), "{}", fixed.diff());
}

/// Template with a queue and the function that polls it, and a parent template that calls it once for each of
/// `timeouts`.
fn called(timeouts: &[u32]) -> [(&'static str, String); 2] {
    let child = "AWSTemplateFormatVersion: 2010-09-09
Parameters:
  Limit: {Type: Number}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Failed.Arn, maxReceiveCount: 5}
  Failed:
    Type: AWS::SQS::Queue
    Properties: {MessageRetentionPeriod: 1209600}
  Work:
    Type: AWS::Lambda::Function
    Properties: {Timeout: !Ref Limit}
  Read:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref Work
      FunctionResponseTypes: [ReportBatchItemFailures]
";
    let mut parent = "AWSTemplateFormatVersion: 2010-09-09\nResources:\n".to_owned();
    for (at, timeout) in timeouts.iter().enumerate() {
        let _ = write!(
            parent,
            "  Call{at}:\n    Type: AWS::CloudFormation::Stack\n    Properties:\n      TemplateURL: child.yaml\n      \
             Parameters: {{Limit: {timeout}}}\n"
        );
    }
    [("child.yaml", child.to_owned()), ("parent.yaml", parent)]
}

#[test]
fn nested_template_is_fixed_only_if_every_stack_needs_it() {
    for (timeouts, changes) in [(&[60, 5][..], false), (&[60, 60], true), (&[60], true)] {
        let files = called(timeouts);
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let (fixed, _directory) = fix(&files, ".");
        let is_longer = fixed.diff().contains("+      VisibilityTimeout: 360");
        assert_eq!(is_longer, changes, "{timeouts:?}\n{}", fixed.diff());
    }
}

#[test]
fn alarm_is_not_added_to_a_module_shared_with_source_queues() {
    let queue = "variable \"target\" { default = \"\" }\nresource \"aws_sqs_queue\" \"q\" {\n  message_retention_seconds = 1209600\n  \
                 redrive_policy = var.target == \"\" ? null : jsonencode({ deadLetterTargetArn = var.target, \
                 maxReceiveCount = 5 })\n}\noutput \"arn\" { value = aws_sqs_queue.q.arn }\n";
    let root = "module \"dlq\" {\n  source = \"../modules/q\"\n}\nmodule \"orders\" {\n  source = \"../modules/q\"\n  \
                target = module.dlq.arn\n}\n";
    let (fixed, _directory) = fix(&[("modules/q/main.tf", queue), ("root/main.tf", root)], "root");
    let rules: Vec<_> = fixed.outcome.findings.iter().map(|found| &*found.rule).collect();
    assert!(rules.contains(&"dead-letter-queue-unalarmed"), "{rules:?}");
    assert_eq!(fixed.diff(), "");
}

#[test]
fn diff_paths_are_relative_to_the_repository() {
    let root = calls(&[("slow", "", 60)]);
    let files = [("modules/q/main.tf", &*module("30")), ("root/main.tf", &*root)];
    let (fixed, _directory) = fix(&files, "root");
    let diff = fixed.diff();
    assert!(
        diff.starts_with("--- a/modules/q/main.tf\n+++ b/modules/q/main.tf\n"),
        "{diff}"
    );
}

/// Parsing the file again for each of the fixes took minutes.
#[test]
fn many_queues_in_one_file_are_fixed() {
    let mut text = String::new();
    for at in 0..200 {
        let _ = write!(
            text,
            "resource \"aws_sqs_queue\" \"q{at}\" {{\n  visibility_timeout_seconds = 30\n}}\n\
             resource \"aws_lambda_function\" \"f{at}\" {{\n  timeout = 60\n}}\n\
             resource \"aws_lambda_event_source_mapping\" \"m{at}\" {{\n  event_source_arn = aws_sqs_queue.q{at}.arn\n  \
             function_name = aws_lambda_function.f{at}.arn\n  \
             function_response_types = [\"ReportBatchItemFailures\"]\n}}\n"
        );
    }
    let (fixed, _directory) = fix(&[("main.tf", &text)], "");
    let left = fixed.outcome.findings.iter().map(|found| &*found.rule);
    // No existing alarm has an action that a new alarm could copy.
    let left: BTreeSet<&str> = left.collect();
    assert_eq!(left, ["dead-letter-queue-unalarmed"].into());
    assert_eq!(fixed.outcome.graph.queues().len(), 400);
}

#[test]
fn comment_keeps_its_column_and_a_comment_about_the_number_prevents_the_fix() {
    let template = "Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: 60          # how long a message is hidden
      MessageRetentionPeriod: 864000 # 10 days
      RedrivePolicy:
        deadLetterTargetArn: arn:aws:sqs:eu-west-1:123456789012:dlq
        maxReceiveCount: 3 # after 3 failed attempts
  Worker:
    Type: AWS::Lambda::Function
    Properties:
      Timeout: 60
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref Worker
      FunctionResponseTypes: [ReportBatchItemFailures]
";
    let (fixed, _directory) = fix(&[("template.yaml", template)], "");
    let diff = fixed.diff();
    let line = "+      VisibilityTimeout: 360         # how long a message is hidden\n";
    assert!(diff.contains(line), "{diff}");
    let changed = diff
        .lines()
        .filter(|line| line.starts_with('+') && !line.starts_with("+++"));
    assert_eq!(changed.filter(|line| line.contains('#')).count(), 1, "{diff}");
}

#[test]
#[cfg(unix)]
fn symlink_to_a_file_outside_is_not_followed() {
    let outside = TemporaryDirectory::with_files([("main.tf", "")]);
    let text = format!(
        "{}resource \"aws_lambda_function\" \"f\" {{\n  timeout = 60\n}}\n\
         resource \"aws_lambda_event_source_mapping\" \"m\" {{\n  event_source_arn = aws_sqs_queue.orders.arn\n  \
         function_name = aws_lambda_function.f.arn\n}}\n",
        module("30")
    );
    std::fs::write(outside.path().join("main.tf"), text).unwrap();
    let inside = TemporaryDirectory::with_files([("README.md", "")]);
    std::fs::create_dir(inside.path().join(".git")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("main.tf"), inside.path().join("main.tf")).unwrap();
    let options = Options {
        paths: vec![inside.path().to_owned()],
        ..Options::default()
    };
    let fixed = sqslint::fix(&options, Safety::Unsafe);
    // The target is not even read.
    assert!(fixed.outcome.findings.iter().all(|found| found.rule == "parse-error"));
    assert_eq!(fixed.diff(), "");
}
