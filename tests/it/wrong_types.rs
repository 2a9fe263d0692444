//! Checks literals whose type differs from that of the attribute, in each dialect: a rejected value is a finding on its
//! line, and a converted one is accepted.
//!
//! Terraform converts `"30"` to a number and takes null as absent; the provider schemas reject the rest during
//! planning. CloudFormation converts scalars and rejects null anywhere in a template.

use crate::inputs::check_files;
use sqslint::testing::describe;
use std::fmt::Write;

/// File of a dialect, with a placeholder per attribute.
struct Dialect {
    file: &'static str,
    template: &'static str,
    /// Templates reject null.
    is_template: bool,
    attributes: &'static [(&'static str, &'static str)],
}

/// Literals in Terraform and in YAML, and whether every dialect rejects them.
const LITERALS: [(&str, &str, bool); 9] = [
    ("\"30s\"", "30s", true),
    ("\"abc\"", "abc", true),
    ("60.5", "60.5", true),
    ("true", "true", true),
    ("[60]", "[60]", true),
    ("{ a = 60 }", "{a: 60}", true),
    ("\"60\"", "\"60\"", false),
    ("60.0", "60.0", false),
    ("60", "60", false),
];

/// Rules that report the attributes; the placeholders are in [`ALL`].
const QUEUE: &str = "queue-attribute-out-of-range";
const COUNT: &str = "max-receive-count-out-of-range";
const FUNCTION: &str = "function-timeout-out-of-range";
const RESERVED: &str = "reserved-concurrency-too-low";
const BATCH: &str = "batch-size-out-of-range";
const WINDOW: &str = "batching-window-out-of-range";
const CONCURRENCY: &str = "maximum-concurrency-out-of-range";
const POLLERS: &str = "provisioned-pollers-out-of-range";

const ALL: &[(&str, &str)] = &[
    ("VISIBILITY", QUEUE),
    ("RETENTION", QUEUE),
    ("COUNT", COUNT),
    ("TIMEOUT", FUNCTION),
    ("RESERVED", RESERVED),
    ("BATCH", BATCH),
    ("WINDOW", WINDOW),
    ("CONCURRENCY", CONCURRENCY),
    ("POLLERS", POLLERS),
];

const TERRAFORM: Dialect = Dialect {
    file: "main.tf",
    template: r#"resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = VISIBILITY
  message_retention_seconds  = RETENTION
  redrive_policy = jsonencode({
    deadLetterTargetArn = "arn:aws:sqs:eu-west-1:111122223333:failed"
    maxReceiveCount     = COUNT
  })
}
resource "aws_lambda_function" "f" {
  function_name                  = "f"
  timeout                        = TIMEOUT
  reserved_concurrent_executions = RESERVED
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn                   = aws_sqs_queue.q.arn
  function_name                      = aws_lambda_function.f.arn
  batch_size                         = BATCH
  maximum_batching_window_in_seconds = WINDOW
  scaling_config {
    maximum_concurrency = CONCURRENCY
  }
  provisioned_poller_config {
    minimum_pollers = POLLERS
  }
}
"#,
    is_template: false,
    attributes: ALL,
};

const CLOUDFORMATION: Dialect = Dialect {
    file: "template.yaml",
    template: r"Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: VISIBILITY
      MessageRetentionPeriod: RETENTION
      RedrivePolicy:
        deadLetterTargetArn: arn:aws:sqs:eu-west-1:111122223333:failed
        maxReceiveCount: COUNT
  F:
    Type: AWS::Lambda::Function
    Properties:
      Timeout: TIMEOUT
      ReservedConcurrentExecutions: RESERVED
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Q.Arn
      FunctionName: !Ref F
      BatchSize: BATCH
      MaximumBatchingWindowInSeconds: WINDOW
      ScalingConfig:
        MaximumConcurrency: CONCURRENCY
      ProvisionedPollerConfig:
        MinimumPollers: POLLERS
",
    is_template: true,
    attributes: ALL,
};

const SAM: Dialect = Dialect {
    file: "template.yaml",
    template: r"Transform: AWS::Serverless-2016-10-31
Resources:
  Q:
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: VISIBILITY
      MessageRetentionPeriod: RETENTION
      RedrivePolicy:
        deadLetterTargetArn: arn:aws:sqs:eu-west-1:111122223333:failed
        maxReceiveCount: COUNT
  F:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: TIMEOUT
      ReservedConcurrentExecutions: RESERVED
      Events:
        M:
          Type: SQS
          Properties:
            Queue: !GetAtt Q.Arn
            BatchSize: BATCH
            MaximumBatchingWindowInSeconds: WINDOW
            ScalingConfig:
              MaximumConcurrency: CONCURRENCY
            ProvisionedPollerConfig:
              MinimumPollers: POLLERS
",
    is_template: true,
    attributes: ALL,
};

const SERVERLESS: Dialect = Dialect {
    file: "serverless.yml",
    template: r"service: orders
provider:
  name: aws
functions:
  f:
    handler: index.handler
    timeout: TIMEOUT
    reservedConcurrency: RESERVED
    events:
      - sqs:
          arn: !GetAtt Q.Arn
          batchSize: BATCH
          maximumBatchingWindow: WINDOW
          maximumConcurrency: CONCURRENCY
resources:
  Resources:
    Q:
      Type: AWS::SQS::Queue
      Properties:
        VisibilityTimeout: VISIBILITY
        MessageRetentionPeriod: RETENTION
        RedrivePolicy:
          deadLetterTargetArn: arn:aws:sqs:eu-west-1:111122223333:failed
          maxReceiveCount: COUNT
",
    is_template: true,
    attributes: ALL.split_at(8).0,
};

const DIALECTS: [&Dialect; 4] = [&TERRAFORM, &CLOUDFORMATION, &SAM, &SERVERLESS];

/// Returns the template with `literal` for `attribute`, and 60 for the others.
fn written(dialect: &Dialect, attribute: &str, literal: &str) -> String {
    let fill = |text: String, (name, _): &(&str, &str)| {
        let value = if *name == attribute { literal } else { "60" };
        text.replace(name, value)
    };
    ALL.iter().fold(dialect.template.to_owned(), fill)
}

/// Lists the rules that report a rejected value.
fn refused(dialect: &Dialect, attribute: &str, literal: &str) -> Vec<String> {
    let text = written(dialect, attribute, literal);
    let outcome = check_files([(dialect.file, text.as_str())]);
    assert!(outcome.errors.is_empty(), "{text}\n{}", describe(&outcome));
    let says = |headline: &str| headline.contains("rejects") || headline.contains("not a whole number");
    let found = outcome.findings.iter().filter(|found| says(&found.headline));
    found.map(|found| found.rule.to_string()).collect()
}

#[test]
fn rejected_types_are_found_in_every_dialect() {
    let mut wrong = String::new();
    for dialect in DIALECTS {
        for (attribute, rule) in dialect.attributes {
            for (hcl, yaml, is_refused) in LITERALS {
                let literal = if dialect.is_template { yaml } else { hcl };
                let found = refused(dialect, attribute, literal);
                let expected = if is_refused {
                    vec![(*rule).to_owned()]
                } else {
                    Vec::new()
                };
                if found != expected {
                    let file = dialect.file;
                    writeln!(wrong, "{file}: {attribute} = {literal}: {found:?}, not {expected:?}").unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn null_is_absent_in_terraform_and_rejected_in_templates() {
    // An absent count of a redrive policy is reported by `redrive-policy-malformed`.
    for dialect in [&TERRAFORM, &CLOUDFORMATION, &SAM] {
        for (attribute, rule) in dialect.attributes.iter().filter(|(name, _)| *name != "COUNT") {
            let expected: &[&str] = if dialect.is_template { &[rule] } else { &[] };
            let found = refused(dialect, attribute, "null");
            assert_eq!(found, expected, "{} {attribute}", dialect.file);
        }
    }
}
