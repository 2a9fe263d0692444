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
    let input = if Path::new(name).extension().is_some_and(|ending| ending == "tf") {
        Input::TerraformModule(directory.clone())
    } else {
        Input::Template(file.clone())
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

/// Configurations that would grow without end, each with what it asks for.
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
