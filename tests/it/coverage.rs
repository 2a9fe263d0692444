//! Checks which queues and mappings count as judged.

use crate::inputs::{check_files, repository};
use sqslint::diagnostic::Gap;
use sqslint::{Options, Outcome};

/// A queue with a dead-letter queue, a function and a mapping, in Terraform, with known values. Tests replace one of
/// them.
const TERRAFORM: &str = r#"
variable "unset" {}
resource "aws_sqs_queue" "orders" {
  name                       = "orders-queue"
  visibility_timeout_seconds = 180
  message_retention_seconds  = 345600
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "dead" {
  message_retention_seconds = 1209600
}
resource "aws_lambda_function" "worker" {
  function_name = "worker"
  timeout       = 30
}
resource "aws_lambda_event_source_mapping" "worker" {
  event_source_arn                   = aws_sqs_queue.orders.arn
  function_name                      = aws_lambda_function.worker.arn
  maximum_batching_window_in_seconds = 0
}
"#;

/// Template with the same resources and values.
const CLOUDFORMATION: &str = r#"
AWSTemplateFormatVersion: "2010-09-09"
Parameters: {Unset: {Type: String}}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties:
      QueueName: orders-queue
      VisibilityTimeout: 180
      MessageRetentionPeriod: 345600
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}
  Dead:
    Type: AWS::SQS::Queue
    Properties: {MessageRetentionPeriod: 1209600}
  Function:
    Type: AWS::Lambda::Function
    Properties: {Timeout: 30}
  Mapping:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Orders.Arn
      FunctionName: !Ref Function
      MaximumBatchingWindowInSeconds: 0
"#;

/// Text to replace in Terraform and in CloudFormation, each with its replacement, and the gaps as `address: cause`.
type Case = ([&'static str; 2], [&'static str; 2], &'static [&'static str]);

/// Addresses are those of CloudFormation.
const CASES: &[Case] = &[
    (
        ["= 180", "= var.unset"],
        ["Timeout: 180", "Timeout: !Ref Unset"],
        &["Mapping: input-without-value"],
    ),
    (
        ["= 30", "= var.unset"],
        ["Timeout: 30", "Timeout: !Ref Unset"],
        &["Mapping: input-without-value"],
    ),
    (
        ["seconds = 0", "seconds = var.unset"],
        ["Seconds: 0", "Seconds: !Ref Unset"],
        &["Mapping: input-without-value"],
    ),
    (
        ["= 345600", "= var.unset"],
        ["Period: 345600", "Period: !Ref Unset"],
        &["Orders: input-without-value"],
    ),
    // The dead-letter queue's own retention is also a gap of its source.
    (
        ["= 1209600", "= var.unset"],
        ["Period: 1209600", "Period: !Ref Unset"],
        &["Dead: input-without-value", "Orders: input-without-value"],
    ),
    (
        [
            "jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 5 })",
            "var.unset",
        ],
        [
            "{deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}",
            "!Ref Unset",
        ],
        &["Orders: input-without-value"],
    ),
    (
        ["aws_sqs_queue.dead.arn", "\"arn:aws:sqs:eu-west-1:111122223333:dead\""],
        ["!GetAtt Dead.Arn", "arn:aws:sqs:eu-west-1:111122223333:dead"],
        &["Orders: elsewhere"],
    ),
    (
        [
            "aws_sqs_queue.orders.arn",
            "\"arn:aws:sqs:eu-west-1:111122223333:other\"",
        ],
        ["!GetAtt Orders.Arn", "arn:aws:sqs:eu-west-1:111122223333:other"],
        &["Mapping: elsewhere"],
    ),
    (
        [
            "aws_lambda_function.worker.arn",
            "\"arn:aws:lambda:eu-west-1:111122223333:function:other\"",
        ],
        ["!Ref Function", "arn:aws:lambda:eu-west-1:111122223333:function:other"],
        &["Mapping: elsewhere"],
    ),
    // A name is secondary.
    (
        ["\"orders-queue\"", "var.unset"],
        ["QueueName: orders-queue", "QueueName: !Ref Unset"],
        &[],
    ),
    // Rules report values of a wrong type, so they are judged.
    (["= 180", "= \"soon\""], ["Timeout: 180", "Timeout: soon"], &[]),
    // A stream is no queue.
    (
        [
            "aws_sqs_queue.orders.arn",
            "\"arn:aws:kinesis:eu-west-1:111122223333:stream/s\"",
        ],
        ["!GetAtt Orders.Arn", "arn:aws:kinesis:eu-west-1:111122223333:stream/s"],
        &[],
    ),
];

fn gaps(outcome: &Outcome) -> Vec<String> {
    let shown = |gap: &Gap| {
        let address = match &*gap.subject.address {
            "aws_sqs_queue.orders" => "Orders",
            "aws_sqs_queue.dead" => "Dead",
            "aws_lambda_event_source_mapping.worker" => "Mapping",
            other => other,
        };
        format!("{address}: {}", gap.cause)
    };
    let mut all: Vec<String> = outcome.coverage.gaps.iter().map(shown).collect();
    all.sort();
    all
}

#[test]
fn known_values_leave_no_gap() {
    for (file, text) in [("main.tf", TERRAFORM), ("template.yaml", CLOUDFORMATION)] {
        let outcome = check_files([(file, text)]);
        assert_eq!(gaps(&outcome), [""; 0], "{file}");
        let coverage = &outcome.coverage;
        assert_eq!((coverage.judged_queues(), coverage.judged_mappings()), (2, 1), "{file}");
    }
}

#[test]
fn missing_main_value_is_a_gap_in_each_dialect() {
    for (terraform, cloudformation, expected) in CASES {
        for (file, text, [old, new]) in [
            ("main.tf", TERRAFORM, terraform),
            ("template.yaml", CLOUDFORMATION, cloudformation),
        ] {
            assert_eq!(text.matches(old).count(), 1, "{old}");
            let outcome = check_files([(file, &*text.replace(old, new))]);
            assert_eq!(gaps(&outcome), *expected, "{file}: {old} → {new}");
        }
    }
}

#[test]
fn mapping_of_a_stream_is_not_counted() {
    let stream = "\"arn:aws:kinesis:eu-west-1:111122223333:stream/s\"";
    let outcome = check_files([("main.tf", &*TERRAFORM.replace("aws_sqs_queue.orders.arn", stream))]);
    assert_eq!(outcome.coverage.mappings, 0);
}

#[test]
fn resource_is_judged_only_if_each_environment_judges_it() {
    let text = TERRAFORM.replace("= 180", "= var.unset") + "variable \"other\" {}\n";
    let production = ("env/prod.tfvars", "unset = 180\nother = 1\n");
    let staging = ("env/staging.tfvars", "other = 2\n");
    assert_eq!(gaps(&check_files([("main.tf", &*text), production])), [""; 0]);
    let both = check_files([("main.tf", &*text), production, staging]);
    assert_eq!(gaps(&both), ["Mapping: input-without-value"]);
}

/// The Serverless Framework names a mapping after its queue.
#[test]
fn mapping_whose_name_contains_the_stage_counts_once() {
    let service = "service: s\nprovider: {name: aws, stage: \"${opt:stage, 'dev'}\"}\ncustom: {timeouts: {prod: 5, test: 6}}\n\
        functions:\n  f:\n    handler: a.b\n    timeout: ${self:custom.timeouts.${self:provider.stage}}\n    \
        events: [{sqs: \"arn:aws:sqs:eu-west-1:111122223333:orders-${self:provider.stage}\"}]\n";
    let outcome = check_files([("serverless.yml", service)]);
    let (gaps, coverage) = (gaps(&outcome), &outcome.coverage);
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert_eq!((coverage.mappings, coverage.judged_mappings()), (1, 0));
}

/// Two environments have a gap in different instances of one block.
#[test]
fn instances_of_one_block_count_separately() {
    let main = "variable \"retention\" { default = {} }\nvariable \"unset\" {}\n\
        resource \"aws_sqs_queue\" \"q\" {\n  for_each = toset([\"a\", \"b\"])\n  \
        message_retention_seconds = lookup(var.retention, each.key, var.unset)\n}\n";
    let files = [
        ("main.tf", main),
        ("dev.tfvars", "retention = { a = 3600 }\n"),
        ("prod.tfvars", "retention = { b = 3600 }\n"),
    ];
    let outcome = check_files(files);
    assert_eq!(gaps(&outcome).len(), 2, "{:?}", gaps(&outcome));
    assert_eq!(outcome.coverage.queues, 2);
}

/// Defaults that are no ARN are inputs without a value; the same text in the code is an error of other rules.
#[test]
fn default_that_is_no_arn_is_a_gap() {
    for (default, is_gap) in [
        ("", true),
        ("TODO", true),
        ("arn:aws:kinesis:eu-west-1:111122223333:stream/s", false),
    ] {
        let source = format!("variable \"source_arn\" {{ default = {default:?} }}\n");
        let terraform = source + &TERRAFORM.replace("aws_sqs_queue.orders.arn", "var.source_arn");
        let parameter = format!("{{Unset: {{Type: String}}, Source: {{Type: String, Default: {default:?}}}}}");
        let template = CLOUDFORMATION.replace("!GetAtt Orders.Arn", "!Ref Source");
        let template = template.replace("{Unset: {Type: String}}", &parameter);
        let sam = format!(
            "Transform: AWS::Serverless-2016-10-31\nParameters: {{Source: {{Type: String, Default: {default:?}}}}}\n\
             Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties:\n      Timeout: 5\n      \
             Events: {{Mapping: {{Type: SQS, Properties: {{Queue: !Ref Source}}}}}}\n"
        );
        for (file, text) in [("main.tf", terraform), ("template.yaml", template), ("sam.yaml", sam)] {
            let file = if file == "sam.yaml" { "template.yaml" } else { file };
            let outcome = check_files([(file, &*text)]);
            let causes: Vec<&str> = outcome.coverage.gaps.iter().map(|gap| gap.cause).collect();
            let is_sam = text.contains("Serverless");
            if is_gap {
                assert_eq!(causes, ["input-without-value"], "{text}");
            } else if !is_sam {
                assert_eq!(causes, [""; 0], "{text}");
            }
        }
    }
    // Without an input, the text is what will be deployed.
    let written = TERRAFORM.replace("aws_sqs_queue.orders.arn", "\"\"");
    assert_eq!(gaps(&check_files([("main.tf", &*written)])), [""; 0]);
}

/// Number of queues without a known consumer, in files that differ in one text.
#[test]
fn queues_without_a_consumer_are_counted() {
    let alone = |files: &[(&str, &str)]| check_files(files.iter().copied()).coverage.unconsumed.len();
    // The dead-letter queue needs no consumer.
    assert_eq!(alone(&[("main.tf", TERRAFORM)]), 0);
    assert_eq!(alone(&[("template.yaml", CLOUDFORMATION)]), 0);
    let elsewhere = "\"arn:aws:sqs:eu-west-1:111122223333:other\"";
    let terraform = TERRAFORM.replace("aws_sqs_queue.orders.arn", elsewhere);
    assert_eq!(alone(&[("main.tf", &terraform)]), 1);
    assert_eq!(
        alone(&[(
            "template.yaml",
            &CLOUDFORMATION.replace("!GetAtt Orders.Arn", elsewhere)
        )]),
        1
    );
    let consumers = "[[consumer]]\nqueue = \"orders-queue\"\n";
    assert_eq!(alone(&[("main.tf", &terraform), ("sqslint.toml", consumers)]), 0);
    // A consumer in one environment is a consumer.
    let some = TERRAFORM.replace(
        "\"worker\" {\n  event_source_arn",
        "\"worker\" {\n  count = var.polls ? 1 : 0\n  event_source_arn",
    ) + "variable \"polls\" { default = false }\n";
    assert_eq!(alone(&[("main.tf", &some)]), 1);
    assert_eq!(
        alone(&[("main.tf", &some), ("prod.tfvars", "polls = true\nunset = 1\n")]),
        0
    );
}

/// Parts that are not read, each with the reason that the summary gives.
#[test]
fn unread_parts_are_reported() {
    let stack = |location: &str| {
        format!(
            "AWSTemplateFormatVersion: '2010-09-09'\nParameters: {{Base: {{Type: String}}, Url: {{Type: String}}}}\n\
             Conditions: {{Never: !Equals [a, b]}}\n\
             Resources:\n  Jobs:\n    Type: AWS::CloudFormation::Stack\n    Properties: {{TemplateURL: {location}}}\n"
        )
    };
    let of_kind =
        |kind: &str| format!("AWSTemplateFormatVersion: '2010-09-09'\nResources: {{A: {{Type: '{kind}'}}}}\n");
    let terraform = |kind: &str| format!("resource \"{kind}\" \"a\" {{\n  count = 2\n}}\n");
    let sam = "Transform: AWS::Serverless-2016-10-31\nResources:\n  App:\n    Type: AWS::Serverless::Application\n    \
        Properties: {Location: {ApplicationId: arn:aws:serverlessrepo:us-east-1:1:applications/a, SemanticVersion: 1.0.0}}\n";
    let by_url = "no file matches the end of its URL, `parts/queue.yaml`";
    for (file, text, expected) in [
        ("template.yaml", stack("!Sub '${Base}/parts/queue.yaml'"), Some(by_url)),
        (
            "template.yaml",
            stack("https://s3.amazonaws.com/b/queue.yaml"),
            Some("`b/queue.yaml`"),
        ),
        (
            "template.yaml",
            stack("!Ref Url"),
            Some("these files do not determine its URL"),
        ),
        (
            "template.yaml",
            stack("./missing.yaml"),
            Some("there is no file `./missing.yaml`"),
        ),
        ("template.yaml", stack("./there.yaml"), None),
        ("template.yaml", stack("!Ref Url}\n    Condition: Never #"), None),
        (
            "template.yaml",
            sam.to_owned(),
            Some("it is an application of a repository"),
        ),
        ("template.yaml", of_kind("AWS::EventsV2::Subscriber"), None),
        (
            "template.yaml",
            of_kind("Acme::SQS::Queue::MODULE"),
            Some("`Acme::SQS::Queue::MODULE` is not read"),
        ),
        ("template.yaml", of_kind("AWS::SQS::QueueInlinePolicy"), None),
        ("template.yaml", of_kind("AWS::EC2::VPC"), None),
        (
            "main.tf",
            terraform("awscc_sqs_queue_policy"),
            Some("2 resources of the type `awscc_sqs_queue_policy` are not read"),
        ),
        ("main.tf", terraform("awscc_sqs_queue"), None),
        ("main.tf", terraform("awscc_ec2_vpc"), None),
        ("main.tf", terraform("aws_sqs_queue"), None),
    ] {
        let outcome = check_files([
            (file, &*text),
            ("there.yaml", "Resources: {T: {Type: AWS::SNS::Topic}}\n"),
        ]);
        let unread = outcome.not_evaluated.iter().filter(|open| open.is_unread());
        let reasons: Vec<&str> = unread.map(|open| &*open.reason).collect();
        match (expected, reasons.as_slice()) {
            (None, []) => {}
            (Some(expected), [reason]) if reason.contains(expected) => {}
            _ => panic!("{text}: {reasons:?} instead of {expected:?}"),
        }
    }
}

#[test]
fn gap_fails_the_run_if_requested() {
    let directory =
        sqslint::testing::TemporaryDirectory::with_files([("main.tf", &*TERRAFORM.replace("= 180", "= var.unset"))]);
    let run = |fail_on_unjudged| {
        sqslint::check(&Options {
            paths: vec![directory.path().to_owned()],
            fail_on_unjudged,
            ..Options::default()
        })
    };
    assert_eq!(
        run(true).failing.unjudged.into_iter().collect::<Vec<_>>(),
        [(("handler", "not read"), 1), (("resource", "not judged"), 1)]
    );
    assert!(run(false).failing.unjudged.is_empty());
}

/// The example of the project is judged completely, so its report has no headline on coverage.
#[test]
fn example_is_judged_completely() {
    let outcome = crate::inputs::check(&repository("fixtures/stacks/orders/terraform"));
    assert_eq!(gaps(&outcome), [""; 0]);
}

/// A queue of unknown retention that moves messages after their first receive.
#[test]
fn queue_with_a_finding_is_judged_in_part() {
    let text = TERRAFORM.replace("= 345600", "= var.unset").replace("= 5", "= 1");
    let directory = sqslint::testing::TemporaryDirectory::with_files([("main.tf", &*text)]);
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_sqslint"))
        .args(["check", "--isolated", "."])
        .current_dir(directory.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(run.stderr).unwrap();
    assert!(
        printed.starts_with(
            "sqslint: judged 1 of 2 queues, 1 in part and 1 of 1 mapping
  1 queue: `var.unset` has no value (set it with `--var`, `--var-file` or `--parameters`)
"
        ),
        "{printed}"
    );
}
