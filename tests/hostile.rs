//! No panic, whatever the bytes: each sample cut off at every byte, and with single bytes changed, goes through
//! its frontend, the graph and every rule. A panic fails the test; a hang fails the run.

use sqslint::diagnostic::{Diagnostic, Fix};
use sqslint::discover::Input;
use sqslint::graph::Graph;
use sqslint::rules::{Findings, RULES, Settings};
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
locals { a = read_terragrunt_config("./terragrunt.hcl"), b = include.root.locals.a }
terraform { source = ".//${path_relative_to_include()}" }
inputs = merge(local.a.inputs, { v = dependency.x.outputs.y, w = get_env("W") })
"#;

/// Reads, judges and mends `input` as the library does.
fn judge(input: &Input, directory: &Path) {
    let sources = Sources::new(None, directory.to_owned());
    let parts = frontend::load(std::slice::from_ref(input), &sqslint::given::Given::default(), &sources);
    let graph = Graph::assemble(parts.into_iter().map(|loaded| loaded.graph).collect());
    let settings = Settings::default();
    let judged = RULES.iter().map(|rule| Findings::new(&graph, rule, &settings).run());
    let mut findings: Vec<Diagnostic> = judged.flat_map(|(found, _)| found).collect();
    frontend::add_fixes(&mut findings, &sources);
    for fix in findings.iter().filter_map(|found| found.fix.as_ref()) {
        can_be_made(fix, &sources);
    }
    graph::json::render(&graph, &sources);
}

/// No edit cuts a character or meets another: each ends before the next begins.
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
    // Of a long sample not every byte.
    for end in (0..=bytes.len()).step_by(1 + bytes.len() / 1500) {
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

/// The rules of the findings in `text`, which is read within a second or so on any machine.
fn tool_findings(name: &str, text: &str) -> Vec<&'static str> {
    let directory = TemporaryDirectory::with_files([(name, text)]);
    let started = std::time::Instant::now();
    let outcome = sqslint::check(&sqslint::Options {
        paths: vec![directory.path().join(name)],
        ..sqslint::Options::default()
    });
    // Hours, if something is not bounded; debug builds on a busy machine take seconds.
    assert!(
        started.elapsed() < std::time::Duration::from_mins(1),
        "{:?}",
        started.elapsed()
    );
    let found = outcome.findings.iter().map(|found| found.rule);
    found
        .filter(|rule| matches!(*rule, "parse-error" | "limit-reached"))
        .collect()
}

const EXTENDED: &str = "AWSTemplateFormatVersion: '2010-09-09'\nTransform: AWS::LanguageExtensions\n";

#[test]
fn aliases_of_a_billion_nodes_are_a_limit() {
    let mut text = EXTENDED.to_owned();
    text.push_str("Metadata:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let below = vec![format!("*a{}", level - 1); 9].join(", ");
        text.push_str(&format!("  a{level}: &a{level} [{below}]\n"));
    }
    text.push_str("Resources: {Q: {Type: AWS::SQS::Queue}}\n");
    assert_eq!(tool_findings("t.yaml", &text), ["limit-reached"]);
}

#[test]
fn ten_thousand_levels_are_a_limit() {
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    let text = format!("{EXTENDED}Metadata: {open}{close}\nResources: {{Q: {{Type: AWS::SQS::Queue}}}}\n");
    assert_eq!(tool_findings("t.yaml", &text), ["limit-reached"]);
    let text = format!(
        r#"{{"AWSTemplateFormatVersion": "2010-09-09", "Metadata": {open}{close}, "Resources": {{"Q": {{"Type": "AWS::SQS::Queue"}}}}}}"#
    );
    assert_eq!(tool_findings("t.json", &text), ["limit-reached"]);
    let mut text = EXTENDED.to_owned();
    for level in 0..3_000 {
        text.push_str(&format!("{:level$}a:\n", ""));
    }
    assert_eq!(tool_findings("t.yaml", &text), ["limit-reached"]);
}

#[test]
fn loops_of_too_many_rounds_are_a_limit() {
    let items = |count: usize| (0..count).map(|at| format!("i{at}")).collect::<Vec<_>>().join(", ");
    let one = format!(
        "{EXTENDED}Resources:\n  Fn::ForEach::Q: [N, [{}], {{'Q${{N}}': {{Type: AWS::SQS::Queue}}}}]\n",
        items(10_000)
    );
    assert_eq!(tool_findings("t.yaml", &one), ["limit-reached"]);
    let inner = format!(
        "Fn::ForEach::I: [J, [{}], {{'Q${{N}}${{J}}': {{Type: AWS::SQS::Queue}}}}]",
        items(300)
    );
    let product = format!(
        "{EXTENDED}Resources:\n  Fn::ForEach::Q: [N, [{}], {{{inner}}}]\n",
        items(300)
    );
    assert_eq!(tool_findings("t.yaml", &product), ["limit-reached"]);
    let mut deep = "'Q${A}': {Type: AWS::SQS::Queue}".to_owned();
    for level in 0..40 {
        deep = format!("Fn::ForEach::L{level}: [V{level}, [a, b], {{{deep}}}]");
    }
    assert_eq!(
        tool_findings("t.yaml", &format!("{EXTENDED}Resources:\n  {deep}\n")),
        ["limit-reached"]
    );
}

#[test]
fn texts_that_double_a_hundred_times_are_a_limit() {
    // A hundred levels of `Fn::Sub` are more than a document may have.
    let nested = |levels: usize, mentions: &str| {
        let mut text = "!Ref A".to_owned();
        for _ in 0..levels {
            text = format!("!Sub ['{mentions}', {{a: {text}}}]");
        }
        format!(
            "{EXTENDED}Parameters: {{A: {{Type: String, Default: xy}}}}\nResources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {text}}}}}}}\n"
        )
    };
    assert_eq!(tool_findings("t.yaml", &nested(60, "${a}")), [""; 0]);
    assert_eq!(tool_findings("t.yaml", &nested(60, "${a}${a}")), ["limit-reached"]);
    assert_eq!(tool_findings("t.yaml", &nested(100, "${a}${a}")), ["limit-reached"]);
    let mut json = "!Ref A".to_owned();
    for _ in 0..40 {
        json = format!("!Join ['', [{{Fn::ToJsonString: [{json}, 1]}}, '\"\\\"']]");
    }
    let json = format!(
        "{EXTENDED}Parameters: {{A: {{Type: String, Default: '\"'}}}}\nResources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {json}}}}}}}\n"
    );
    assert_eq!(tool_findings("t.yaml", &json), ["limit-reached"]);
}

#[test]
fn what_refers_to_itself_ends() {
    for text in [
        "Mappings: {M: {a: {b: !FindInMap [M, a, b], c: [!FindInMap [M, a, c]]}}}\nResources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !FindInMap [M, a, b], DelaySeconds: !Join ['', !FindInMap [M, a, c]]}}}\n",
        "Parameters: {P: {Type: String, Default: !Ref P}}\nResources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !Ref P}}}\n",
        "Resources: {Q: {Type: AWS::SQS::Queue, Properties: {QueueName: !GetAtt Q.QueueName, RedrivePolicy: {deadLetterTargetArn: !GetAtt Q.Arn, maxReceiveCount: 1}}}}\n",
        "Resources:\n  A: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref B}}\n  B: {Type: AWS::Lambda::Alias, Properties: {FunctionName: !Ref A}}\n  M: {Type: AWS::Lambda::EventSourceMapping, Properties: {FunctionName: !Ref A, EventSourceArn: !Sub '${M}'}}\n",
        "Parameters: {L: {Type: CommaDelimitedList, Default: a}}\nResources:\n  Fn::ForEach::X: [N, !Ref N, {'Q${N}': {Type: AWS::SQS::Queue}}]\n",
    ] {
        assert_eq!(tool_findings("t.yaml", &format!("{EXTENDED}{text}")), [""; 0], "{text}");
    }
    // Conditions that refer to each other.
    let text = format!(
        "{EXTENDED}Conditions: {{A: !Not [!Condition B], B: !Not [!Condition A]}}\nResources: {{Q: {{Type: AWS::SQS::Queue, Condition: A}}}}\n"
    );
    tool_findings("t.yaml", &text);
}

#[test]
fn wide_templates_take_linear_time() {
    // A text with very many names of one long value, and very many texts of it.
    let value = "v".repeat(4_000);
    let names = "${A}".repeat(20_000);
    let text = format!(
        "{EXTENDED}Parameters: {{A: {{Type: String, Default: {value}}}}}\nResources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: !Sub '{names}'}}}}}}\n"
    );
    assert_eq!(tool_findings("t.yaml", &text), ["limit-reached"]);
    let mut many = format!("{EXTENDED}Parameters: {{A: {{Type: String, Default: {value}}}}}\nResources:\n");
    for at in 0..2_000 {
        many.push_str(&format!(
            "  Q{at}: {{Type: AWS::SQS::Queue, Properties: {{QueueName: !Sub '{at}-{}'}}}}\n",
            "${A}".repeat(100)
        ));
    }
    tool_findings("t.yaml", &many);
}

#[test]
fn look_ups_in_look_ups_end() {
    let keys: Vec<String> = (0..8).map(|at| format!("k{at}")).collect();
    let row = |value: &str| {
        keys.iter()
            .map(|key| format!("{key}: {value}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mapping = format!("{{{}}}", row(&format!("{{{}}}", row("k1"))));
    let mut text = EXTENDED.to_owned();
    text.push_str(&format!("Mappings: {{M: {mapping}}}\nParameters:\n"));
    let mut look_up = "k1".to_owned();
    for at in 0..12 {
        text.push_str(&format!("  P{at}: {{Type: String}}\n"));
        look_up = format!("!FindInMap [M, !Ref P{at}, {look_up}]");
    }
    text.push_str(&format!(
        "Resources: {{Q: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {look_up}}}}}}}\n"
    ));
    tool_findings("t.yaml", &text);
    let sides: String = (0..40).map(|at| format!("${{P{at}}}")).collect();
    let mut text = EXTENDED.to_owned();
    text.push_str("Parameters:\n");
    for at in 0..40 {
        text.push_str(&format!("  P{at}: {{Type: String, AllowedValues: [a, b, c, d]}}\n"));
    }
    text.push_str("Resources:\n");
    for at in 0..40 {
        text.push_str(&format!(
            "  Q{at}: {{Type: AWS::SQS::Queue, Properties: {{QueueName: !Sub '{sides}'}}}}\n"
        ));
    }
    tool_findings("t.yaml", &text);
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

/// Every part of the plan replaced by values of every other type: nothing panics, nothing recurses without end.
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

#[test]
fn modules_nested_without_end_are_a_limit() {
    on_large_stack(|| {
        let depth = 5000;
        let text = format!(
            r#"{{"format_version":"1.2","terraform_version":"1","planned_values":{{"root_module":{}{}}}}}"#,
            r#"{"address":"module.a","child_modules":["#.repeat(depth),
            "]}".repeat(depth)
        );
        let directory = TemporaryDirectory::with_files([("plan.json", &*text)]);
        let outcome = sqslint::check(&sqslint::Options {
            paths: vec![directory.path().join("plan.json")],
            ..sqslint::Options::default()
        });
        let rules: Vec<_> = outcome.findings.iter().map(|found| found.rule).collect();
        assert_eq!(rules, ["limit-reached"]);
    });
}

/// Configurations that would grow without end, each with what it asks for.
#[allow(clippy::too_many_lines, reason = "a list")]
fn growing() -> Vec<(&'static str, String)> {
    let chain = |count: usize, step: &dyn Fn(usize) -> String| (1..count).map(step).collect::<String>();
    let locals = |first: &str, steps: String, last: &str| {
        format!(
            "locals {{\n  x0 = {first}\n{steps}}}\nresource \"aws_sqs_queue\" \"q\" {{\n  name = jsonencode({last})\n}}\n"
        )
    };
    let ranges = "range(1024)";
    vec![
        (
            "texts that double",
            locals(
                "\"xxxxxxxx\"",
                chain(60, &|at| {
                    format!("  x{at} = \"${{local.x{p}}}${{local.x{p}}}\"\n", p = at - 1)
                }),
                "local.x59",
            ),
        ),
        (
            "lists that double",
            locals(
                "[1]",
                chain(60, &|at| format!("  x{at} = [local.x{p}, local.x{p}]\n", p = at - 1)),
                "local.x59",
            ),
        ),
        (
            "lists joined to themselves",
            locals(
                "[1]",
                chain(60, &|at| {
                    format!("  x{at} = concat(local.x{p}, local.x{p})\n", p = at - 1)
                }),
                "local.x59",
            ),
        ),
        (
            "encodings of encodings",
            locals(
                "\"<>\"",
                chain(60, &|at| format!("  x{at} = upper(jsonencode(local.x{}))\n", at - 1)),
                "local.x59",
            ),
        ),
        (
            "replacements",
            locals(
                "\"aaaa\"",
                chain(40, &|at| {
                    format!("  x{at} = replace(local.x{}, \"a\", \"aaaa\")\n", at - 1)
                }),
                "local.x39",
            ),
        ),
        (
            "a deep list",
            locals(
                "[]",
                chain(2000, &|at| format!("  x{at} = [local.x{}]\n", at - 1))
                    + &chain(2000, &|at| format!("  y{at} = length(local.x{at})\n")),
                "[local.x250, local.x500, local.x1999]",
            ),
        ),
        (
            "loops in loops",
            locals(
                &format!("[for a in {ranges} : [for b in {ranges} : [for c in {ranges} : a]]]"),
                String::new(),
                "local.x0",
            ),
        ),
        (
            "a product",
            locals(
                &format!("setproduct({ranges}, {ranges}, {ranges})"),
                String::new(),
                "local.x0",
            ),
        ),
        (
            "loops in templates",
            locals(
                &format!(
                    "\"%{{ for a in {ranges} }}%{{ for b in {ranges} }}%{{ for c in {ranges} }}x%{{ endfor }}%{{ endfor }}%{{ endfor }}\""
                ),
                String::new(),
                "local.x0",
            ),
        ),
        (
            "a cycle",
            locals("local.x1", "  x1 = local.x0\n".to_owned(), "local.x0"),
        ),
        (
            "a chain",
            locals(
                "1",
                chain(3000, &|at| format!("  x{at} = local.x{} + 1\n", at - 1)),
                "local.x2999",
            ),
        ),
        (
            "long numbers",
            locals(
                &format!("[for a in {ranges} : [for b in {ranges} : \"${{1e-500 * 3}}\"]]"),
                String::new(),
                "local.x0",
            ),
        ),
        (
            "patterns",
            locals(
                &format!(
                    "[for a in {ranges} : [for b in {ranges} : regexall(\"(a*)*b\", \"{}\")]]",
                    "a".repeat(2000)
                ),
                String::new(),
                "local.x0",
            ),
        ),
    ]
}

#[test]
fn what_grows_without_end_is_bounded_and_told() {
    on_large_stack(|| {
        for (what, text) in growing() {
            let directory = TemporaryDirectory::with_files([("main.tf", text.as_str())]);
            let directory = directory.path().canonicalize().expect("it exists");
            let sources = Sources::new(None, directory.clone());
            let begun = std::time::Instant::now();
            let input = [Input::TerraformModule(directory.clone())];
            let parts = frontend::load(&input, &sqslint::given::Given::default(), &sources);
            let took = begun.elapsed();
            let told = parts
                .iter()
                .flat_map(|part| &part.diagnostics)
                .any(|diagnostic| diagnostic.rule == "limit-reached");
            assert!(told, "{what}: nothing is said");
            // A debug build on a busy machine; without a bound it would be hours.
            assert!(took.as_secs() < 60, "{what} took {took:?}");
            eprintln!("{what}: {took:?}");
        }
    });
}

/// How long reading and judging the Terraform files takes.
fn time(files: &[(&str, &str)]) -> (std::time::Duration, usize) {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let start = std::time::Instant::now();
    let outcome = sqslint::check(&sqslint::Options {
        paths: vec![directory.path().to_owned()],
        ..sqslint::Options::default()
    });
    (start.elapsed(), outcome.graph.queues().len())
}

/// Four times as many instances may take so many times as long: twice what is linear, for a busy machine.
const LINEAR: u32 = 8;

#[test]
fn instances_of_modules_and_resources_cost_the_same_each() {
    let module = r#"
variable "name" {}
resource "aws_sqs_queue" "dlq" { name = "${var.name}-dlq" }
resource "aws_sqs_queue" "q" {
  name           = var.name
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dlq.arn, maxReceiveCount = 5 })
}
resource "aws_lambda_function" "f" {
  function_name = var.name
  dead_letter_config { target_arn = aws_sqs_queue.dlq.arn }
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = aws_sqs_queue.q.arn
  function_name    = aws_lambda_function.f.arn
}
output "arn" { value = aws_sqs_queue.q.arn }
"#;
    let calls = |count: usize| {
        let main = format!(
            "module \"q\" {{\n  source = \"./m\"\n  for_each = toset([for n in range({count}) : \"n${{n}}\"])\n  name = each.key\n}}\n\
             resource \"aws_sqs_queue\" \"after\" {{\n  for_each = module.q\n  name = \"after-${{each.key}}\"\n}}\n"
        );
        time(&[("main.tf", &main), ("m/main.tf", module)])
    };
    let keys = |count: usize| {
        let main = format!(
            "locals {{\n  names = toset([for n in setproduct(range({}), range(100)) : join(\"-\", n)])\n}}\n\
             resource \"aws_sqs_queue\" \"dlq\" {{\n  for_each = local.names\n  name = \"${{each.key}}-dlq\"\n}}\n\
             resource \"aws_sqs_queue\" \"q\" {{\n  for_each = local.names\n  name = each.key\n}}\n\
             resource \"aws_sqs_queue_redrive_policy\" \"p\" {{\n  for_each = local.names\n  queue_url = aws_sqs_queue.q[each.key].url\n  \
             redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.dlq[each.key].arn, maxReceiveCount = 5 }})\n}}\n",
            count / 100
        );
        time(&[("main.tf", &main)])
    };
    on_large_stack(|| {
        for (few, many, queues) in [(calls(250), calls(1000), 3000), (keys(2500), keys(10_000), 20_000)] {
            assert_eq!(many.1, queues);
            assert!(many.0 < few.0 * LINEAR, "{few:?} {many:?}");
        }
    });
}

#[test]
fn a_chain_of_modules_is_followed_and_recursion_is_told() {
    let mut files = vec![(
        "main.tf".to_owned(),
        "module \"m\" {\n  source = \"./m0\"\n  wait = 7\n}\n".to_owned(),
    )];
    for at in 0..30 {
        let next = format!(
            "module \"m\" {{\n  source = \"../m{}\"\n  wait = var.wait + 1\n}}\n",
            at + 1
        );
        let own = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = var.wait\n}\n".to_owned();
        let body = if at < 29 { next } else { own };
        files.push((format!("m{at}/main.tf"), format!("variable \"wait\" {{}}\n{body}")));
    }
    files.push((
        "again/main.tf".to_owned(),
        "module \"again\" {\n  source = \"./\"\n}\n".to_owned(),
    ));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let directory = TemporaryDirectory::with_files(files);
    let outcome = sqslint::check(&sqslint::Options {
        paths: vec![directory.path().to_owned()],
        ..sqslint::Options::default()
    });
    let known = outcome
        .graph
        .queues()
        .iter()
        .filter_map(|queue| queue.visibility_timeout.known());
    assert_eq!(known.map(|seconds| seconds.0).collect::<Vec<_>>(), [36]);
    assert!(outcome.findings.iter().any(|found| found.rule == "limit-reached"));
}
