//! Checks links that cross units: each writer of a value with each reader of it.

use sqslint::graph::State;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome};

/// A file of a unit: its name and text.
type File = (&'static str, &'static str);

/// Units that write the ARN of their queue to the parameter `/jobs/dev/arn`.
const WRITERS: [File; 5] = [
    (
        "infra/main.tf",
        r#"
variable "env" { default = "dev" }
resource "aws_sqs_queue" "jobs" { visibility_timeout_seconds = 30 }
resource "aws_ssm_parameter" "jobs" {
  name  = "/jobs/${var.env}/arn"
  type  = "String"
  value = aws_sqs_queue.jobs.arn
}
"#,
    ),
    (
        "infra/main.tf",
        r#"
resource "aws_sqs_queue" "jobs" { visibility_timeout_seconds = 30 }
resource "aws_ssm_parameter" "all" {
  for_each       = { arn = aws_sqs_queue.jobs.arn, url = aws_sqs_queue.jobs.url }
  name           = "/jobs/dev/${each.key}"
  type           = "String"
  insecure_value = each.value
}
"#,
    ),
    (
        "stack/template.yaml",
        r"
Parameters: {Stage: {Type: String, Default: dev}}
Resources:
  Jobs: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}
  Written:
    Type: AWS::SSM::Parameter
    Properties: {Type: String, Name: !Sub '/jobs/${Stage}/arn', Value: !GetAtt Jobs.Arn}
",
    ),
    (
        "queues/serverless.yml",
        r"
service: queues
provider: {name: aws, runtime: nodejs20.x}
resources:
  Resources:
    Jobs: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 30}}
    Written:
      Type: AWS::SSM::Parameter
      Properties: {Type: String, Name: '/jobs/${sls:stage}/arn', Value: !GetAtt Jobs.Arn}
",
    ),
    (
        "infra/main.tf",
        r#"
resource "awscc_sqs_queue" "jobs" { visibility_timeout = 30 }
resource "awscc_ssm_parameter" "jobs" {
  name  = "/jobs/dev/arn"
  type  = "String"
  value = awscc_sqs_queue.jobs.arn
}
"#,
    ),
];

/// Units with a function that polls the queue in that parameter.
const READERS: [File; 9] = [
    (
        "app/main.tf",
        r#"
variable "stage" { default = "dev" }
data "aws_ssm_parameter" "jobs" { name = "/jobs/${var.stage}/arn" }
resource "aws_lambda_function" "work" {
  function_name = "work"
  timeout       = 120
}
resource "aws_lambda_event_source_mapping" "work" {
  event_source_arn = nonsensitive(data.aws_ssm_parameter.jobs.value)
  function_name    = aws_lambda_function.work.arn
}
"#,
    ),
    (
        "app/main.tf",
        r#"
data "aws_ssm_parameters_by_path" "all" { path = "/jobs/dev" }
locals { values = zipmap(data.aws_ssm_parameters_by_path.all.names, data.aws_ssm_parameters_by_path.all.values) }
resource "aws_lambda_function" "work" {
  function_name = "work"
  timeout       = 120
}
resource "aws_lambda_event_source_mapping" "work" {
  event_source_arn = local.values["/jobs/dev/arn"]
  function_name    = aws_lambda_function.work.arn
}
"#,
    ),
    (
        "app/main.tf",
        r#"
data "aws_ssm_parameters_by_path" "all" { path = "/jobs/dev" }
locals {
  values = { for at, name in data.aws_ssm_parameters_by_path.all.names : name => data.aws_ssm_parameters_by_path.all.values[at] }
}
resource "aws_lambda_function" "work" {
  function_name = "work"
  timeout       = 120
}
resource "aws_lambda_event_source_mapping" "work" {
  event_source_arn = local.values["/jobs/dev/arn"]
  function_name    = aws_lambda_function.work.arn
}
"#,
    ),
    (
        "app/template.yaml",
        r"
Parameters: {Jobs: {Type: 'AWS::SSM::Parameter::Value<String>', Default: /jobs/dev/arn}}
Resources:
  Work: {Type: AWS::Lambda::Function, Properties: {Timeout: 120, Handler: a.b, Runtime: python3.13, Role: r, Code: {S3Bucket: b, S3Key: k}}}
  Poll: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !Ref Jobs, FunctionName: !Ref Work}}
",
    ),
    (
        "app/template.yaml",
        r"
Transform: AWS::Serverless-2016-10-31
Parameters: {Stage: {Type: String, Default: dev}}
Resources:
  Work:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 120
      Handler: a.b
      Runtime: python3.13
      InlineCode: x
      Events: {Poll: {Type: SQS, Properties: {Queue: !Sub '{{resolve:ssm:/jobs/${Stage}/arn}}'}}}
",
    ),
    (
        "app/serverless.yml",
        r"
service: app
provider: {name: aws, runtime: nodejs20.x, timeout: 120, stage: '${opt:stage, ''dev''}'}
custom: {arn: '${ssm:/jobs/${self:provider.stage}/arn}'}
functions:
  work: {handler: a.b, events: [{sqs: {arn: '${self:custom.arn}'}}]}
",
    ),
    (
        "app/serverless.yml",
        r"
service: app
provider: {name: aws, runtime: nodejs20.x, timeout: 120}
functions:
  work: {handler: a.b, events: [{sqs: '${ssm(eu-west-1):/jobs/dev/arn~true}'}]}
",
    ),
    (
        "app/serverless.yml",
        r"
service: app
provider: {name: aws, runtime: nodejs20.x, timeout: 120}
functions:
  work: {handler: a.b, events: [{sqs: {arn: '{{resolve:ssm:/jobs/dev/arn}}'}}]}
",
    ),
    (
        "app/template.yaml",
        r"
Resources:
  Work: {Type: AWS::Lambda::Function, Properties: {Timeout: 120, Handler: a.b, Runtime: python3.13, Role: r, Code: {S3Bucket: b, S3Key: k}}}
  Nested: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: poll.yaml, Parameters: {Work: !Ref Work, Jobs: '{{resolve:ssm:/jobs/dev/arn}}'}}}
",
    ),
];

/// The nested stack of the last reader.
const NESTED: File = (
    "app/poll.yaml",
    r"
Parameters: {Work: {Type: String}, Jobs: {Type: String}}
Resources:
  Poll: {Type: AWS::Lambda::EventSourceMapping, Properties: {EventSourceArn: !Ref Jobs, FunctionName: !Ref Work}}
",
);

fn check(files: &[File]) -> Outcome {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    })
}

/// Returns the queues that the mappings poll, or the reasons why they are unknown.
fn polled(outcome: &Outcome) -> Vec<String> {
    let graph = &outcome.graph;
    let mappings = graph.mappings().iter().flat_map(|mapping| {
        let unit = mapping.resource.unit;
        mapping.queue.cases.iter().map(move |case| match &case.state {
            State::Unresolved(reason) => reason.to_string(),
            State::Set(link) | State::Default(link) => match graph.queue(unit, link) {
                Some(queue) => queue.resource.address.to_string(),
                None => format!("undeclared {}", link.written()),
            },
        })
    });
    mappings.collect()
}

/// Returns the files of a reader.
fn with_nested(reader: File) -> Vec<File> {
    let nested = reader.1.contains(NESTED.0.trim_start_matches("app/")).then_some(NESTED);
    [reader].into_iter().chain(nested).collect()
}

/// Returns `true` if the only mapping of `outcome` polls the queue of a writer.
fn is_linked(outcome: &Outcome) -> bool {
    matches!(
        &*polled(outcome).join(" "),
        "Jobs" | "aws_sqs_queue.jobs" | "awscc_sqs_queue.jobs"
    )
}

#[test]
fn parameter_links_a_queue_in_every_direction() {
    for writer in WRITERS {
        for reader in READERS {
            let mut files = with_nested(reader);
            files.push(writer);
            let outcome = check(&files);
            assert!(
                is_linked(&outcome),
                "{:?}\n{}\n{}",
                polled(&outcome),
                writer.1,
                reader.1
            );
            let mut rules = outcome.findings.iter().map(|found| &*found.rule);
            assert!(rules.any(|rule| rule == "visibility-timeout-below-function-timeout"));
        }
    }
}

#[test]
fn parameter_of_another_name_links_nothing() {
    for reader in READERS {
        let mut files = with_nested(reader);
        files.push((
            "infra/main.tf",
            "resource \"aws_sqs_queue\" \"jobs\" {}\n\
             resource \"aws_ssm_parameter\" \"jobs\" {\n  name = \"/jobs/prod/arn\"\n  type = \"String\"\n  value = aws_sqs_queue.jobs.arn\n}\n",
        ));
        let outcome = check(&files);
        assert!(!is_linked(&outcome), "{}", reader.1);
    }
}

#[test]
fn parameter_with_several_writers_is_unresolved_unless_they_agree() {
    let second = |value: &'static str| -> Vec<File> {
        let writer = WRITERS[2].1.replacen("!GetAtt Jobs.Arn", value, 1);
        let file: File = ("second/template.yaml", Box::leak(writer.into_boxed_str()));
        vec![WRITERS[0], READERS[5], file]
    };
    let outcome = check(&second("!GetAtt Jobs.Arn"));
    let reason = "the parameter `/jobs/dev/arn` is written in several places with different values";
    assert_eq!(polled(&outcome), [reason]);
    // Both write the queue of another unit.
    let arn = "arn:aws:sqs:eu-west-1:123456789012:shared";
    let writer = |directory: &'static str| -> File {
        let text = "resource \"aws_ssm_parameter\" \"p\" {\n  name = \"/jobs/dev/arn\"\n  type = \"String\"\n  value = \"ARN\"\n}\n";
        (directory, Box::leak(text.replace("ARN", arn).into_boxed_str()))
    };
    let queue: File = (
        "q/main.tf",
        "resource \"aws_sqs_queue\" \"jobs\" {\n  name = \"shared\"\n}\n",
    );
    let outcome = check(&[writer("a/main.tf"), writer("b/main.tf"), queue, READERS[5]]);
    assert!(is_linked(&outcome), "{:?}", polled(&outcome));
}

/// A reader in Terraform of an expression.
fn reading(declarations: &str, expression: &str) -> File {
    let text = format!(
        "{declarations}\nresource \"aws_lambda_function\" \"work\" {{\n  function_name = \"work\"\n  timeout = 120\n}}\n\
         resource \"aws_lambda_event_source_mapping\" \"work\" {{\n  event_source_arn = {expression}\n  \
         function_name = aws_lambda_function.work.arn\n}}\n"
    );
    ("app/main.tf", Box::leak(text.into_boxed_str()))
}

/// A writer in Terraform of a parameter or secret.
fn writing(declarations: &'static str) -> File {
    let text = format!("resource \"aws_sqs_queue\" \"jobs\" {{}}\n{declarations}");
    ("infra/main.tf", Box::leak(text.into_boxed_str()))
}

#[test]
fn forms_of_parameters_and_secrets_are_understood() {
    let parameter = "data \"aws_ssm_parameter\" \"p\" { name = \"/jobs\" }";
    let secret = "data \"aws_secretsmanager_secret\" \"s\" { name = \"jobs\" }\n\
                  data \"aws_secretsmanager_secret_version\" \"p\" { secret_id = data.aws_secretsmanager_secret.s.id }";
    let written =
        "resource \"aws_ssm_parameter\" \"p\" {\n  name = \"/jobs\"\n  type = \"String\"\n  value = VALUE\n}\n";
    let secret_written = "resource \"aws_secretsmanager_secret\" \"s\" { name = \"jobs\" }\n\
        resource \"aws_secretsmanager_secret_version\" \"p\" {\n  secret_id = aws_secretsmanager_secret.s.id\n  secret_string = VALUE\n}\n";
    let value = "data.aws_ssm_parameter.p.value";
    let object = "jsonencode({ arn = aws_sqs_queue.jobs.arn, n = 5 })";
    let arn = "arn:aws:sqs:eu-west-1:123456789012:";
    let composed = format!("\"{arn}${{{value}}}\"");
    let not_a_link = "the parameter `/jobs` is not a link to a queue, a function or a topic";
    let rows: [(&str, &str, &str, &str, &str); 8] = [
        (
            parameter,
            value,
            written,
            "aws_sqs_queue.jobs.arn",
            "aws_sqs_queue.jobs",
        ),
        (
            parameter,
            "jsondecode(data.aws_ssm_parameter.p.value).arn",
            written,
            object,
            "aws_sqs_queue.jobs",
        ),
        // The name of the queue, within an ARN.
        (
            parameter,
            &composed,
            written,
            "aws_sqs_queue.jobs.name",
            "aws_sqs_queue.jobs",
        ),
        (parameter, &composed, written, "aws_sqs_queue.jobs.arn", not_a_link),
        (
            parameter,
            value,
            written,
            "aws_kinesis_stream.s.arn\n}\nresource \"aws_kinesis_stream\" \"s\" {\n  name = \"s\"",
            not_a_link,
        ),
        (
            parameter,
            value,
            written,
            "\"arn:aws:kinesis:eu-west-1:1:stream/s\"",
            not_a_link,
        ),
        (
            parameter,
            value,
            written,
            "var.unknown\n}\nvariable \"unknown\" {",
            "`var.unknown` has no value",
        ),
        (
            secret,
            "jsondecode(data.aws_secretsmanager_secret_version.p.secret_string)[\"arn\"]",
            secret_written,
            object,
            "aws_sqs_queue.jobs",
        ),
    ];
    for (declared, expression, writer, value, expected) in rows {
        let writer = writing(Box::leak(writer.replace("VALUE", value).into_boxed_str()));
        let outcome = check(&[reading(declared, expression), writer]);
        assert_eq!(polled(&outcome), [expected], "{expression}: {value}");
    }
}

const QUEUE: &str = "resource \"aws_sqs_queue\" \"jobs\" {}\n";
const OUTPUTS: &str =
    "output \"arn\" { value = aws_sqs_queue.jobs.arn }\noutput \"queues\" { value = { jobs = aws_sqs_queue.jobs } }\n";
const S3: &str =
    "terraform {\n  backend \"s3\" {\n    bucket = \"states\"\n    key = \"net/terraform.tfstate\"\n  }\n}\n";

#[test]
fn state_is_read_by_roots_with_equal_settings() {
    let gcs = "terraform {\n  backend \"gcs\" {\n    bucket = \"b\"\n    prefix = \"p\"\n  }\n}\n";
    let cloud = "terraform {\n  cloud {\n    organization = \"o\"\n    workspaces { name = \"net\" }\n  }\n}\n";
    let partial = S3.replace("bucket = \"states\"", "");
    let same = "bucket = \"states\", key = \"net/terraform.tfstate\"";
    let rows: [(&str, &str, &str, &str, bool); 16] = [
        (S3, "s3", same, "arn", true),
        (S3, "s3", same, "queues[\"jobs\"].arn", true),
        (S3, "s3", same, "another", false),
        (
            S3,
            "s3",
            "bucket = \"others\", key = \"net/terraform.tfstate\"",
            "arn",
            false,
        ),
        (
            S3,
            "s3",
            "bucket = \"states\", key = \"other/terraform.tfstate\"",
            "arn",
            false,
        ),
        (
            S3,
            "s3",
            "bucket = var.unknown, key = \"net/terraform.tfstate\"",
            "arn",
            false,
        ),
        (&partial, "s3", same, "arn", false),
        (
            S3,
            "s3",
            "bucket = \"states\", key = \"net/terraform.tfstate\" }\n  workspace = terraform.workspace\n  defaults = {",
            "arn",
            true,
        ),
        (
            S3,
            "s3",
            "bucket = \"states\", key = \"net/terraform.tfstate\" }\n  workspace = \"prod\"\n  defaults = {",
            "arn",
            false,
        ),
        (
            S3,
            "s3",
            "bucket = \"states\", key = \"env:/prod/net/terraform.tfstate\"",
            "arn",
            false,
        ),
        (S3, "gcs", "bucket = \"states\", prefix = \"net\"", "arn", false),
        (gcs, "gcs", "bucket = \"b\", prefix = \"p\"", "arn", true),
        (
            cloud,
            "remote",
            "organization = \"o\", workspaces = { name = \"net\" }",
            "arn",
            true,
        ),
        (
            cloud,
            "remote",
            "organization = \"o\", workspaces = { name = \"app\" }",
            "arn",
            false,
        ),
        ("", "local", "path = \"../infra/terraform.tfstate\"", "arn", true),
        ("", "local", "path = \"../other/terraform.tfstate\"", "arn", false),
    ];
    for (backend, kind, config, output, expected) in rows {
        let data = format!(
            "data \"terraform_remote_state\" \"n\" {{\n  backend = \"{kind}\"\n  config = {{ {config} }}\n}}\n"
        );
        let reader = reading(&data, &format!("data.terraform_remote_state.n.outputs.{output}"));
        let writer = format!("{backend}{QUEUE}{OUTPUTS}");
        let outcome = check(&[reader, ("infra/main.tf", Box::leak(writer.into_boxed_str()))]);
        assert_eq!(
            is_linked(&outcome),
            expected,
            "{config} {output}: {:?}",
            polled(&outcome)
        );
    }
}

/// A service with a queue and an exported output.
const QUEUES: File = (
    "queues/serverless.yml",
    r"
service: queues
provider: {name: aws, runtime: nodejs20.x, region: eu-west-1}
resources:
  Resources: {Jobs: {Type: AWS::SQS::Queue}}
  Outputs: {JobsArn: {Value: !GetAtt Jobs.Arn, Export: {Name: jobs-arn}}}
",
);

#[test]
fn outputs_of_stacks_are_read_in_every_dialect() {
    let service = |arn: &str| -> File {
        let text = format!(
            "service: app\nprovider: {{name: aws, runtime: nodejs20.x}}\nfunctions:\n  work: {{handler: a.b, events: [{{sqs: {{arn: {arn}}}}}]}}\n"
        );
        ("app/serverless.yml", Box::leak(text.into_boxed_str()))
    };
    let stack = "data \"aws_cloudformation_stack\" \"s\" { name = \"queues-dev\" }";
    let export = "data \"aws_cloudformation_export\" \"e\" { name = \"jobs-arn\" }";
    let import = READERS[4]
        .1
        .replace("!Sub '{{resolve:ssm:/jobs/${Stage}/arn}}'", "!ImportValue jobs-arn");
    let rows: [(File, bool); 11] = [
        (service("'${cf:queues-dev.JobsArn}'"), true),
        (service("'${cf:queues-${sls:stage}.JobsArn}'"), true),
        (service("'${cf(eu-west-1):queues-dev.JobsArn}'"), true),
        (service("'${cf.eu-west-1:queues-dev.JobsArn}'"), true),
        (service("'${cf(us-east-1):queues-dev.JobsArn}'"), false),
        (service("'${cf:queues-prod.JobsArn}'"), false),
        (service("'${cf:queues-dev.JobsArn, ''none''}'"), false),
        (service("!ImportValue jobs-arn"), true),
        (
            reading(stack, "data.aws_cloudformation_stack.s.outputs[\"JobsArn\"]"),
            true,
        ),
        (reading(export, "data.aws_cloudformation_export.e.value"), true),
        (("app/template.yaml", Box::leak(import.into_boxed_str())), true),
    ];
    for (reader, expected) in rows {
        let outcome = check(&[QUEUES, reader]);
        assert_eq!(is_linked(&outcome), expected, "{}\n{:?}", reader.1, polled(&outcome));
    }
}

#[test]
fn stack_that_terraform_deploys_from_a_template_of_the_project_is_read() {
    let template: File = (
        "app/queues.yaml",
        "Resources: {Jobs: {Type: AWS::SQS::Queue}}\nOutputs: {JobsArn: {Value: !GetAtt Jobs.Arn}}\n",
    );
    let rows = [
        ("template_body = file(\"${path.module}/queues.yaml\")", "JobsArn", true),
        ("template_body = templatefile(\"queues.yaml\", {})", "JobsArn", true),
        ("template_body = file(\"queues.yaml\")", "Other", false),
        ("template_body = file(\"others.yaml\")", "JobsArn", false),
        (
            "template_url = \"https://bucket.s3.amazonaws.com/queues.yaml\"",
            "JobsArn",
            false,
        ),
    ];
    for (body, output, expected) in rows {
        let stack = format!("resource \"aws_cloudformation_stack\" \"s\" {{\n  name = \"s\"\n  {body}\n}}\n");
        let expression = format!("aws_cloudformation_stack.s.outputs[\"{output}\"]");
        let outcome = check(&[template, reading(&stack, &expression)]);
        assert_eq!(is_linked(&outcome), expected, "{body}: {:?}", polled(&outcome));
    }
}

#[test]
fn outputs_of_a_workspace_are_read() {
    let cloud = "terraform {\n  cloud {\n    organization = \"o\"\n    workspaces { name = \"net\" }\n  }\n}\n";
    let writer = format!("{cloud}{QUEUE}{OUTPUTS}");
    let writer: File = ("infra/main.tf", Box::leak(writer.into_boxed_str()));
    for (workspace, output, expected) in [
        ("net", "values.arn", true),
        ("net", "nonsensitive_values.queues[\"jobs\"].arn", true),
        ("net", "values.other", false),
        ("app", "values.arn", false),
    ] {
        let data =
            format!("data \"tfe_outputs\" \"n\" {{\n  organization = \"o\"\n  workspace = \"{workspace}\"\n}}\n");
        let outcome = check(&[reading(&data, &format!("data.tfe_outputs.n.{output}")), writer]);
        assert_eq!(
            is_linked(&outcome),
            expected,
            "{workspace} {output}: {:?}",
            polled(&outcome)
        );
    }
}

#[test]
fn compose_file_passes_outputs_to_services() {
    let compose: File = (
        "serverless-compose.yml",
        "services:\n  queues: {path: queues}\n  app: {path: app, params: {jobs: '${queues.JobsArn}', other: '${queues.None}'}}\n",
    );
    for (parameter, expected) in [("jobs", true), ("other", false), ("unset", false)] {
        let text = READERS[6].1.replace(
            "${ssm(eu-west-1):/jobs/dev/arn~true}",
            &format!("${{param:{parameter}}}"),
        );
        let outcome = check(&[
            QUEUES,
            compose,
            ("app/serverless.yml", Box::leak(text.into_boxed_str())),
        ]);
        assert_eq!(is_linked(&outcome), expected, "{parameter}: {:?}", polled(&outcome));
    }
}
