//! Damages samples: each is cut off at every byte, has single bytes changed, or parts replaced by other types. The
//! result passes through its frontend, the graph, every rule and its fixes.

use super::on_large_stack;
use source::Sources;
use sqslint::diagnostic::{Diagnostic, Fix};
use sqslint::discover::Input;
use sqslint::frontend;
use sqslint::graph::Graph;
use sqslint::rules::{self, Judge, RULES, Settings};
use sqslint::testing::{TemporaryDirectory, graph_json};
use std::path::Path;

/// Number of single-byte changes per sample.
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
locals {
  wait   = { for n in var.names : n => length(n) * 30 }
  policy = jsonencode({ maxReceiveCount = 3 })
}
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

const PLAN: &str = r#"{"format_version":"1.2","terraform_version":"1.11.4","planned_values":{"root_module":{"resources":[
{"address":"aws_lambda_function.f","mode":"managed","type":"aws_lambda_function","name":"f","values":{"timeout":9,"dead_letter_config":[{}],"environment":[{"variables":{"A":"b"}}]},"sensitive_values":{"environment":[{"variables":true}]}},
{"address":"aws_lambda_event_source_mapping.m[\"a\"]","mode":"managed","type":"aws_lambda_event_source_mapping","name":"m","index":"a","values":{"scaling_config":[{"maximum_concurrency":2}]}}],
"child_modules":[{"address":"module.q[\"a\"]","resources":[{"address":"module.q[\"a\"].aws_sqs_queue.q[0]","mode":"managed","type":"aws_sqs_queue","name":"q","index":0,"values":{"name":"q\u00e9","visibility_timeout_seconds":30}}]}]}},
"resource_changes":[{"address":"module.q[\"a\"].aws_sqs_queue.q[0]","mode":"managed","change":{"after_unknown":{"arn":true,"redrive_policy":true}}},
{"address":"aws_lambda_function.f","mode":"managed","change":{"after_unknown":{"arn":true,"dead_letter_config":[{"target_arn":true}]}}},
{"address":"aws_lambda_event_source_mapping.m[\"a\"]","mode":"managed","change":{"after_unknown":{"event_source_arn":true,"function_name":true}}}],
"configuration":{"root_module":{"resources":[
{"mode":"managed","type":"aws_lambda_function","name":"f","expressions":{"timeout":{"constant_value":9},"dead_letter_config":[{"target_arn":{"references":["local.x"]}}]}},
{"mode":"managed","type":"aws_lambda_event_source_mapping","name":"m","expressions":{"event_source_arn":{"references":["each.value.arn","each.value"]},"function_name":{"references":["aws_lambda_function.f.arn","aws_lambda_function.f"]}},"for_each_expression":{"references":["module.q"]}}],
"module_calls":{"q":{"source":"./q","expressions":{"p":{"references":["each.value"]}},"for_each_expression":{"references":["module.q"]},"module":{"outputs":{"arn":{"expression":{"references":["aws_sqs_queue.q[0].arn","var.p","module.q.arn"]}}},
"resources":[{"mode":"managed","type":"aws_sqs_queue","name":"q","expressions":{"name":{"references":["var.p"]},"redrive_policy":{"references":["var.p"]}}}],
"module_calls":{"q":{"expressions":{"p":{"references":["module.q.arn"]}},"module":{"outputs":{"arn":{"expression":{"references":["var.p"]}}}}}}}}}}}}"#;

const STATE: &str = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","resources":[
{"module":"module.q[\"a\"]","mode":"managed","type":"aws_sqs_queue","name":"q","instances":[{"index_key":0,"attributes":{"arn":"arn:aws:sqs:eu-west-1:1:q","url":"https://sqs/1/q","visibility_timeout_seconds":30,"redrive_policy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:1:q\",\"maxReceiveCount\":3}"},"sensitive_attributes":[[{"type":"get_attr","value":"policy"}]]}]},
{"mode":"managed","type":"aws_lambda_event_source_mapping","name":"m","instances":[{"deposed":"x"},{"attributes":{"event_source_arn":"arn:aws:sqs:eu-west-1:1:q","function_name":"f"}}]}]}"#;

const TERRAGRUNT: &str = r#"include "root" {
  path   = find_in_parent_folders("terragrunt.hcl", "./terragrunt.hcl")
  expose = true
}
locals {
  a = read_terragrunt_config("./terragrunt.hcl")
  b = include.root.locals.a
}
terraform { source = ".//${path_relative_to_include()}" }
inputs = merge(local.a.inputs, { v = dependency.x.outputs.y, w = get_env("W") })
"#;

/// Loads, checks and fixes `input` as the library does.
fn judge(input: &Input, directory: &Path) {
    let sources = Sources::new(None, directory.to_owned());
    let parts = frontend::load(
        std::slice::from_ref(input),
        &sqslint::inputs::UnitInputs::default(),
        &sources,
    );
    let graph = Graph::assemble(parts.into_iter().map(|loaded| loaded.graph).collect());
    let settings = Settings::default();
    let judges: Vec<Judge<'_>> = RULES.iter().map(|rule| Judge::of(rule)).collect();
    let settled = rules::run(&judges, &[(&graph, &settings)], false).into_iter().flatten();
    let mut findings: Vec<Diagnostic> = settled.flat_map(|of_rule| of_rule.findings).collect();
    frontend::add_fixes(&mut findings, &sources);
    for fix in findings.iter().filter_map(|found| found.fix.as_deref()) {
        can_be_made(fix, &sources);
    }
    graph_json(&graph, &sources);
}

/// Requires that the edits of a fix do not split a character or overlap: each ends before the next begins.
fn can_be_made(fix: &Fix, sources: &Sources) {
    for edit in &fix.edits {
        let file = sources.file(edit.span.file);
        assert!(file.text().get(edit.span.range()).is_some(), "{fix:?}\n{}", file.text());
    }
    for pair in fix.edits.windows(2) {
        let [one, next] = [pair[0].span, pair[1].span];
        let is_before = one.file < next.file || (one.file == next.file && one.end <= next.start && one != next);
        assert!(is_before, "{fix:?}\n{}", sources.file(one.file).text());
    }
}

fn try_all(name: &str, text: &str) {
    let directory = TemporaryDirectory::with_files([]);
    let directory = directory.path().canonicalize().expect("it exists");
    let file = directory.join(name);
    let input = match name {
        "main.tf" => Input::TerraformModule(directory.clone()),
        "serverless.yml" => Input::ServerlessService(file.clone()),
        "manifest.json" => Input::CdkApp(directory.clone()),
        "plan.json" | "terraform.tfstate" => Input::Plan(file.clone()),
        "terragrunt.hcl" => Input::Terragrunt(file.clone()),
        _ => Input::Template(file.clone()),
    };
    let attempt = |bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("the temporary directory is writable");
        judge(&input, &directory);
    };
    let bytes = text.as_bytes();
    // In a long sample, some of the bytes are skipped.
    for end in (0..=bytes.len()).step_by(1 + bytes.len() / 1500) {
        attempt(&bytes[..end]);
    }
    // A linear congruential generator makes the same changes in every run.
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

#[test]
fn damaged_sam_templates_do_not_panic() {
    on_large_stack(|| try_all("template.yaml", SAM));
}

#[test]
fn damaged_json_templates_do_not_panic() {
    let text = include_str!("../../../fixtures/stacks/orders/cloudformation-json/template.json");
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
    let text = include_str!("../../../fixtures/cdk/orders/cdk.out/assembly-Prod/manifest.json");
    on_large_stack(|| try_all("manifest.json", text));
}

#[test]
fn damaged_plans_do_not_panic() {
    on_large_stack(|| try_all("plan.json", PLAN));
}

#[test]
fn damaged_states_do_not_panic() {
    on_large_stack(|| try_all("terraform.tfstate", STATE));
}

#[test]
fn damaged_terragrunt_files_do_not_panic() {
    on_large_stack(|| try_all("terragrunt.hcl", TERRAGRUNT));
}

/// Each part of the plan is replaced by values of every other type; no replacement may cause a panic or an infinite
/// recursion.
#[test]
fn plans_of_wrong_types_do_not_panic() {
    let parts: serde_json::Value = serde_json::from_str(PLAN).expect("the sample is JSON");
    let mut pointers = Vec::new();
    walk(&parts, String::new(), &mut pointers);
    let long = "a[".repeat(5000);
    let deep: serde_json::Value =
        serde_json::from_str(&format!("{}1{}", "[".repeat(100), "]".repeat(100))).expect("it is within the limit");
    let others = [
        serde_json::json!(null),
        serde_json::json!(true),
        serde_json::json!(1e300),
        serde_json::json!(long),
        serde_json::json!([{}]),
        serde_json::json!({"module.x": {"references": ["module.q", "var.p", "each.value", "x", "[", ""]}}),
        deep,
    ];
    on_large_stack(|| {
        let directory = TemporaryDirectory::with_files([]);
        let directory = directory.path().canonicalize().expect("it exists");
        let file = directory.join("plan.json");
        for pointer in &pointers {
            for other in &others {
                let mut changed = parts.clone();
                if let Some(part) = changed.pointer_mut(pointer) {
                    *part = other.clone();
                }
                std::fs::write(&file, changed.to_string()).expect("the temporary directory is writable");
                judge(&Input::Plan(file.clone()), &directory);
            }
        }
    });
}

fn walk(value: &serde_json::Value, at: String, pointers: &mut Vec<String>) {
    match value {
        serde_json::Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, format!("{at}/{index}"), pointers);
            }
        }
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                walk(
                    field,
                    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
                    pointers,
                );
            }
        }
        _ => {}
    }
    pointers.push(at);
}
