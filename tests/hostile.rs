//! No panic, whatever the bytes: each sample cut off at every byte, and with single bytes changed, goes through
//! its frontend, the graph and every rule. A panic fails the test; a hang fails the run.

use sqslint::discover::Input;
use sqslint::graph::Graph;
use sqslint::rules::{Findings, RULES};
use sqslint::source::Sources;
use sqslint::testing::TemporaryDirectory;
use sqslint::{frontend, graph};
use std::path::Path;

/// Single-byte changes tried on each sample.
const CHANGES: usize = 200;

const SAM: &str = r#"Transform: AWS::Serverless-2016-10-31
Parameters: {Env: {Type: String, AllowedValues: [dev, prod], Default: dev}, T: {Type: Number, Default: 60}}
Mappings: {M: {prod: {V: 030}, dev: {V: 0x1F}}}
Conditions: {P: !Equals [!Ref Env, prod], N: !Not [!Condition P]}
Globals: {Function: {Timeout: !Ref T}}
Resources:
  Q: &q
    Type: AWS::SQS::Queue
    Properties:
      VisibilityTimeout: !If [P, !FindInMap [M, !Ref Env, V], !Ref "AWS::NoValue"]
      RedrivePolicy: !Sub |
        {"deadLetterTargetArn": "${D.Arn}", "maxReceiveCount": "3"}
  D: {<<: *q, Condition: N, Properties: {QueueName: !Join ["-", [a, !Select [0, !Split [",", "b,c"]]]]}}
  F:
    Type: AWS::Serverless::Function
    Properties:
      AutoPublishAlias: live
      DeadLetterQueue: {Type: SQS, TargetArn: !GetAtt [D, Arn]}
      Events:
        E: {Type: SQS, Properties: {Queue: !GetAtt Q.Arn, BatchSize: 100}}
        S: {Type: SNS, Properties: {Topic: !Ref T, SqsSubscription: true}}
"#;

const TERRAFORM: &str = r#"
variable "names" { default = ["a", "b"] }
locals { wait = { for n in var.names : n => length(n) * 30 }, policy = jsonencode({ maxReceiveCount = 3 }) }
resource "aws_sqs_queue" "q" {
  for_each                   = toset(var.names)
  name                       = "q-${each.key}.fifo"
  visibility_timeout_seconds = var.long ? 60 : local.wait[each.key]
  redrive_policy             = <<-EOT
    {"deadLetterTargetArn": "${aws_sqs_queue.d[0].arn}", "maxReceiveCount": %{if true}5%{endif}}
  EOT
}
resource "aws_sqs_queue" "d" { count = var.long ? 1 : 0 }
resource "aws_lambda_function" "f" {
  timeout = try(local.missing, 7 + 2)
  dead_letter_config { target_arn = one(aws_sqs_queue.d[*].arn) }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q["a"].arn /* the first */
  function_name    = aws_lambda_function.f.arn
}
"#;

const SERVICE: &str = r#"service: orders
provider: {name: aws, stage: "${opt:stage, 'dev'}", timeout: 20, iam: {role: R}}
plugins: [serverless-lift]
params: {default: {n: 3}}
custom: {t: "${self:custom.s.${sls:stage}, 4}", s: {dev: "${strToBool('1')}"}, f: "${file(serverless.yml):service}"}
constructs:
  jobs: {type: queue, worker: {handler: a.b, timeout: 9}, alarm: a@b.c, extensions: {dlq: {Properties: {DelaySeconds: 1}}}}
functions:
  a-b:
    handler: x.y
    destinations: {onFailure: c}
    events:
      - sqs: {arn: !GetAtt Q.Arn, batchSize: "${param:n}", filterPatterns: [{body: {a: [1, null]}}]}
      - sns: {topicName: t, redrivePolicy: {deadLetterTargetRef: Q}}
      - schedule: rate(1 hour)
  c: {handler: x.z, onError: "arn:aws:sns:eu-west-1:1:${env:T}", events: [{sqs: "${construct:jobs.dlqArn}"}]}
resources:
  - Resources:
      Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub "${AWS::Region}-${self:service}", DelaySeconds: "${self:custom.t}"}}
    extensions: {Q: {Properties: {DelaySeconds: 4}}}
"#;

/// Reads and judges `input` as the library does.
fn judge(input: &Input, directory: &Path) {
    let sources = Sources::new(None, directory.to_owned());
    let parts = frontend::load(std::slice::from_ref(input), &sqslint::given::Given::default(), &sources);
    let graph = Graph::assemble(parts.into_iter().map(|loaded| loaded.graph).collect());
    for rule in RULES {
        Findings::new(&graph, rule).run();
    }
    graph::json::render(&graph, &sources);
}

fn try_all(name: &str, text: &str) {
    let directory = TemporaryDirectory::with_files([]);
    let directory = directory.path().canonicalize().expect("it exists");
    let file = directory.join(name);
    let input = match name {
        "main.tf" => Input::TerraformModule(directory.clone()),
        "serverless.yml" => Input::ServerlessService(file.clone()),
        "manifest.json" => Input::CdkApp(directory.clone()),
        _ => Input::Template(file.clone()),
    };
    let attempt = |bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("the temporary directory is writable");
        judge(&input, &directory);
    };
    let bytes = text.as_bytes();
    for end in 0..=bytes.len() {
        attempt(&bytes[..end]);
    }
    // A linear congruential generator: the same changes in every run.
    let mut state: u64 = 20_261_121;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below
    };
    for _ in 0..CHANGES {
        let mut changed = bytes.to_vec();
        let at = random(changed.len());
        changed[at] = u8::try_from(random(256)).unwrap_or(0);
        attempt(&changed);
    }
    std::fs::remove_dir_all(&directory).expect("it can be removed");
}

/// On threads with as much stack as the library's own.
fn on_large_stack(work: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new()
        .stack_size(8 << 20)
        .build()
        .expect("threads can be made");
    pool.install(work);
}

#[test]
fn damaged_sam_templates_do_not_panic() {
    on_large_stack(|| try_all("template.yaml", SAM));
}

#[test]
fn damaged_json_templates_do_not_panic() {
    let text = include_str!("../fixtures/stacks/orders/cloudformation-json/template.json");
    on_large_stack(|| try_all("template.json", text));
}

#[test]
fn damaged_terraform_files_do_not_panic() {
    on_large_stack(|| try_all("main.tf", TERRAFORM));
}

#[test]
fn damaged_services_do_not_panic() {
    on_large_stack(|| try_all("serverless.yml", SERVICE));
}

#[test]
fn damaged_cdk_manifests_do_not_panic() {
    let text = include_str!("../fixtures/cdk/orders/cdk.out/assembly-Prod/manifest.json");
    on_large_stack(|| try_all("manifest.json", text));
}
