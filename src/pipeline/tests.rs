//! Tests the cost of a run: each file is read and parsed once.

#![allow(clippy::unwrap_used)]

use super::{Options, check};
use crate::testing::TemporaryDirectory;
use source::files::counts;

/// Templates that import from each other, nested templates that are called twice, fragments, an included file, a module
/// that is called twice, suppressions, and findings with fixes: everything that needs syntax trees.
const FILES: &[(&str, &str)] = &[
    (
        "queues.yaml",
        "# counted-by-sqslint: exports\nAWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Orders:\n    Type: AWS::SQS::Queue\n\
         Outputs:\n  Arn:\n    Value: !GetAtt Orders.Arn\n    Export:\n      Name: orders-arn\n",
    ),
    (
        "functions.yaml",
        "# counted-by-sqslint: imports\nAWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Work:\n    \
         Type: AWS::Lambda::Function\n    Properties:\n      Timeout: 60\n  Reads:\n    \
         Type: AWS::Lambda::EventSourceMapping\n    Properties:\n      \
         EventSourceArn: !ImportValue orders-arn\n      FunctionName: !Ref Work\n",
    ),
    (
        "alarms.json",
        r#"{"AWSTemplateFormatVersion": "2010-09-09", "Description": "counted-by-sqslint: JSON", "Resources": {
  "Q": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 10}},
  "F": {"Type": "AWS::Lambda::Function", "Properties": {"Timeout": 30}},
  "M": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {
    "EventSourceArn": {"Fn::GetAtt": ["Q", "Arn"]}, "FunctionName": {"Ref": "F"}}}}}"#,
    ),
    (
        "nested/root.yaml",
        "# counted-by-sqslint: calls\nAWSTemplateFormatVersion: '2010-09-09'\nResources:\n  One:\n    \
         Type: AWS::CloudFormation::Stack\n    Properties:\n      TemplateURL: child.yaml\n  Two:\n    \
         Type: AWS::CloudFormation::Stack\n    Properties:\n      TemplateURL: child.yaml\n",
    ),
    (
        "nested/child.yaml",
        "# counted-by-sqslint: is called twice\nAWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Q:\n    \
         Type: AWS::SQS::Queue\n",
    ),
    (
        "fragments/globals.yaml",
        "# counted-by-sqslint: fragments\nGlobals:\n  Function:\n    Timeout: 20\n",
    ),
    (
        "fragments/functions.yaml",
        "# counted-by-sqslint: a fragment\nResources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      \
         Events:\n        Read:\n          Type: SQS\n          Properties:\n            Queue: !GetAtt Elsewhere.Arn\n",
    ),
    (
        "include/template.yaml",
        "# counted-by-sqslint: includes\nAWSTemplateFormatVersion: '2010-09-09'\nResources:\n  Fn::Transform:\n    \
         Name: AWS::Include\n    Parameters:\n      Location: part.yml\n",
    ),
    (
        "include/part.yml",
        "# counted-by-sqslint: is included\nQ:\n  Type: AWS::SQS::Queue\n",
    ),
    (
        "sam/template.yaml",
        "# counted-by-sqslint: SAM\nTransform: AWS::Serverless-2016-10-31\nParameters:\n  Timeout:\n    Type: Number\n\
         Resources:\n  Q:\n    Type: AWS::SQS::Queue\n  F:\n    \
         Type: AWS::Serverless::Function # sqslint: ignore[batch-item-failures-unreported] by hand\n    \
         Properties:\n      Timeout: !Ref Timeout\n      Events:\n        Read:\n          Type: SQS\n          \
         Properties:\n            Queue: !GetAtt Q.Arn\n",
    ),
    (
        "sam/samconfig.toml",
        "# counted-by-sqslint: parameters\nversion = 0.1\n[default.deploy.parameters]\n\
         parameter_overrides = \"Timeout=90\"\n",
    ),
    (
        "service/serverless.yml",
        "# counted-by-sqslint: a service\nservice: s\nprovider:\n  name: aws\nfunctions:\n  work:\n    handler: a.b\n    \
         events:\n      - sqs: !GetAtt Q.Arn\nresources: ${file(resources.yml)}\n",
    ),
    (
        "service/resources.yml",
        "# counted-by-sqslint: of a service\nResources:\n  Q:\n    Type: AWS::SQS::Queue\n",
    ),
    (
        "terraform/main.tf",
        "# counted-by-sqslint: calls twice\nvariable \"timeout\" {}\nmodule \"a\" {\n  source  = \"./queue\"\n  \
         timeout = var.timeout\n}\nmodule \"b\" {\n  source  = \"./queue\"\n  timeout = 5\n}\n",
    ),
    (
        "terraform/queue/main.tf",
        "# counted-by-sqslint: is called\nvariable \"timeout\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  \
         visibility_timeout_seconds = 60\n}\n# sqslint: ignore[redrive-policy-missing] by hand\n\
         resource \"aws_lambda_function\" \"f\" {\n  timeout = var.timeout\n}\n\
         resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = aws_sqs_queue.q.arn\n  \
         function_name    = aws_lambda_function.f.arn\n}\n",
    ),
    (
        "terraform/more.tf.json",
        r#"{"//": "counted-by-sqslint: JSON", "resource": {
  "aws_sqs_queue": {"j": {"visibility_timeout_seconds": 1}},
  "aws_lambda_function": {"j": {"timeout": 30}},
  "aws_lambda_event_source_mapping": {"j": {
    "event_source_arn": "${aws_sqs_queue.j.arn}", "function_name": "${aws_lambda_function.j.arn}"}}}}"#,
    ),
    (
        "terraform/terraform.tfvars",
        "# counted-by-sqslint: values\ntimeout = 30\n",
    ),
];

#[test]
fn each_file_is_read_and_parsed_once() {
    let directory = TemporaryDirectory::with_files(FILES.iter().copied());
    let outcome = check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let found = |fixed: bool| {
        outcome
            .findings
            .iter()
            .filter(|found| found.fix.is_some() == fixed)
            .count()
    };
    assert!(found(true) > 3, "edits ask for trees: {:?}", outcome.findings);
    let counted = FILES.iter().map(|(name, text)| {
        assert!(text.contains(counts::MARK), "{name} is not counted");
        (*name, counts::of(&directory.path().join(name), text))
    });
    // It is not a unit by itself, and the text read to determine that is not cached.
    let expected = |name: &str| if name == "include/part.yml" { (2, 1) } else { (1, 1) };
    let others: Vec<_> = counted.filter(|(name, times)| *times != expected(name)).collect();
    assert!(others.is_empty(), "read and parsed: {others:?}");
}
