//! Tests of expressions, as tables, and of the graphs of small configurations.
#![allow(clippy::unwrap_used, reason = "tests")]

mod corners;
mod differential;
mod evaluation;

use super::*;
use crate::graph::{Attribute, Link, State, Target};
use crate::testing::TemporaryDirectory;
use crate::testing::needs::EXPRESSIONS;
use std::fmt::Write;
use std::path::Path;
use terraform::value::{Value, ValueKind};
use terraform::{inputs, json, syntax};

/// Evaluates each expression in a module with the text `prelude`.
fn evaluate(prelude: &str, expressions: Vec<String>) -> Vec<Value> {
    evaluate_in(&[("main.tf", prelude)], expressions)
}

/// Evaluates each expression in a module with `files`, on a thread with the stack size of a run.
fn evaluate_in(files: &[(&str, &str)], expressions: Vec<String>) -> Vec<Value> {
    let scratch = TemporaryDirectory::with_files(files.iter().copied());
    let root = scratch.path().to_owned();
    let work = move || evaluate_at(&root, expressions);
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(work).unwrap();
    thread.join().unwrap()
}

/// Evaluates each expression in the module at `root`.
fn evaluate_at(root: &Path, expressions: Vec<String>) -> Vec<Value> {
    let sources = Sources::new(None, root.to_owned());
    let (modules, _) = module::read_all(&[root.to_owned()], &inputs::RootInputs::default(), &sources);
    let module = modules[root].clone();
    let mut evaluator = Evaluator::new(&sources, &modules, module, "u");
    let scope = evaluator.scope(0);
    let mut values = Vec::new();
    for (at, expression) in expressions.iter().enumerate() {
        let text = format!("x = {expression}\n");
        let file = sources.add(Path::new(&format!("{at}.tf")), text.as_str());
        let (body, _) = syntax::parse(file, &text);
        values.push(match body.attribute("x") {
            Some(attribute) => evaluator.eval(&attribute.value, &scope),
            None => Value::error("it is no HCL"),
        });
    }
    values
}

fn shown(value: &Value) -> String {
    match &value.kind {
        ValueKind::Unknown(unknown) => format!("? {}", unknown.reason),
        ValueKind::Cases(cases) => {
            let cases: Vec<String> = cases
                .iter()
                .map(|case| format!("{} if {}", shown(case), case.when.describe().unwrap_or_default()))
                .collect();
            cases.join(" | ")
        }
        ValueKind::Reference(id, attribute) => format!("<{}.{attribute}>", id.address()),
        _ => match json::encode(value).kind {
            ValueKind::Text(text) => text.to_string(),
            ValueKind::Template(parts) => parts
                .iter()
                .map(|part| part.to_text().map_or_else(|| shown(part), |text| text.to_string()))
                .collect(),
            other => format!("{other:?}"),
        },
    }
}

#[test]
fn expressions_evaluate_as_in_terraform() {
    let prelude = "variable \"create\" {}\nvariable \"env\" {}\nlocals {\n a = local.b\n b = local.a\n}\n\
                   resource \"aws_sqs_queue\" \"q\" {\n name = \"orders\"\n}\n";
    let table = [
        ("\"5\" + 1", "6"),
        ("\"5\" == 5", "false"),
        ("\"10\" > \"9\"", "true"),
        ("0.1 + 0.2", "0.3"),
        ("var.create ? 1 : 2", "1 if var.create | 2 if not var.create"),
        ("var.create ? 5 : 5", "5"),
        ("!var.create", "false if var.create | true if not var.create"),
        ("var.create && !var.create", "false"),
        ("var.env == \"prod\" && var.env == \"dev\"", "false"),
        (
            "var.env != \"prod\"",
            "true if var.env != prod | false if var.env = prod",
        ),
        ("var.env", "? `var.env` has no value"),
        ("local.a", "? a value refers to itself"),
        ("aws_sqs_queue.q.arn", "<aws_sqs_queue.q.arn>"),
        ("aws_sqs_queue.q.visibility_timeout_seconds * 6", "180"),
        ("\"${aws_sqs_queue.q.name}-dlq\"", "\"orders-dlq\""),
        ("jsonencode({ a = aws_sqs_queue.q.arn, n = 5 })", "\"<encoded>\""),
        ("jsondecode(jsonencode({ a = aws_sqs_queue.q.arn, n = 5 })).n", "5"),
        (
            "jsondecode(\"{\\\"a\\\": \\\"${aws_sqs_queue.q.arn}\\\", \\\"n\\\": 5}\").a",
            "<aws_sqs_queue.q.arn>",
        ),
        ("try([][0], 7)", "7"),
        ("can([][0])", "false"),
        ("[for k, v in { b = 2, a = 1 } : \"${k}${v}\"]", "[\"a1\",\"b2\"]"),
        ("{ for v in [\"x\", \"x\"] : v => 1... }", "{\"x\":[1,1]}"),
        ("one([aws_sqs_queue.q.arn])", "<aws_sqs_queue.q.arn>"),
        ("length(range(1e9))", "? `range` refuses its arguments"),
        ("frobnicate(1)", "? the function `frobnicate` is not supported yet"),
    ];
    let values = evaluate(prelude, table.iter().map(|(text, _)| (*text).to_owned()).collect());
    for ((text, expected), value) in table.iter().zip(&values) {
        if *expected == "\"<encoded>\"" {
            assert!(matches!(value.kind, ValueKind::Encoded(_)), "{text}");
        } else {
            assert_eq!(shown(value), *expected, "{text}");
        }
    }
}

/// Compares with values that Terraform recorded for several hundred expressions: known values must be equal, and few
/// may be unknown.
#[test]
fn values_equal_those_recorded_by_terraform() {
    let Some(shared) = EXPRESSIONS.found() else {
        return;
    };
    let folder = shared.join("terraform");
    let prelude = std::fs::read_to_string(folder.join("prelude.tf")).unwrap();
    let hello = std::fs::read_to_string(folder.join("data/hello.txt")).unwrap();
    let greet = std::fs::read_to_string(folder.join("data/greet.tftpl")).unwrap();
    let text = std::fs::read_to_string(folder.join("expressions.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expressions = lines
        .iter()
        .map(|line| line["expr"].as_str().unwrap().to_owned())
        .collect();
    let files = [
        ("main.tf", &*prelude),
        ("data/hello.txt", &*hello),
        ("data/greet.tftpl", &*greet),
    ];
    let values = evaluate_in(&files, expressions);
    let (mut wrong, mut open, mut with_value) = (String::new(), String::new(), 0);
    for (line, value) in lines.iter().zip(&values) {
        let theirs = line.get("value");
        with_value += usize::from(theirs.is_some());
        let mine = encoded(value);
        match (theirs, mine) {
            (Some(theirs), Some(mine)) if same(theirs, &serde_json::from_str(&mine).unwrap()) => {}
            (None, None) => {}
            (Some(_), None) => writeln!(open, "{}: {}", line["expr"], shown(value)).unwrap(),
            // More is known than in Terraform 1.11: later versions do not evaluate the other operand either, and an
            // entry next to an unknown one has the same value whatever that will be.
            (None, Some(mine))
                if line.get("unknown").is_some() && BETTER_KNOWN.contains(&(line["expr"].as_str().unwrap(), &mine)) => {
            }
            (_, Some(mine)) => writeln!(wrong, "{}: {mine}, not {theirs:?}", line["expr"]).unwrap(),
        }
    }
    eprintln!(
        "{} of {with_value} with a value are not known:\n{open}",
        open.lines().count()
    );
    assert_eq!(wrong, "");
    assert!(open.lines().count() * 100 <= with_value * 3, "{open}");
}

/// Results that every apply yields, although Terraform 1.11 does not know them before.
const BETTER_KNOWN: &[(&str, &str)] = &[
    ("timestamp() == \"\" || true", "true"),
    ("false && timestamp() == \"\"", "false"),
    ("jsondecode(jsonencode({ a = timestamp(), b = 2 })).b", "2"),
    ("try(jsondecode(jsonencode({ a = timestamp(), b = 2 })).b, 9)", "2"),
    ("length(timestamp()) >= 0", "true"),
    ("can(timestamp())", "true"),
];

/// Compares with a tolerance, because the recording rounded numbers to 53 bits.
fn same(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    match (a, b) {
        (serde_json::Value::Number(a), serde_json::Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-15 * a.abs()
        }
        (serde_json::Value::Array(a), serde_json::Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (serde_json::Value::Object(a), serde_json::Value::Object(b)) => {
            a.keys().eq(b.keys()) && a.iter().zip(b).all(|(a, b)| same(a.1, b.1))
        }
        _ => a == b,
    }
}

/// Returns the result of `jsonencode` for a known value.
fn encoded(value: &Value) -> Option<String> {
    let value = json::settled(value.clone());
    if !value.is_plain() || !json::is_finite(&value) {
        return None;
    }
    json::encode(&value).to_text().map(|text| text.to_string())
}

fn attribute<T>(attribute: &Attribute<T>, show: impl Fn(&T) -> String) -> String {
    let cases = attribute.cases.iter().map(|case| {
        let value = match &case.state {
            State::Set(value) => show(value),
            State::Default(value) => format!("({})", show(value)),
            State::Unresolved(reason) => format!("? {reason}"),
        };
        match case.when.describe() {
            Some(when) => format!("{value} if {when}"),
            None => value,
        }
    });
    cases.collect::<Vec<_>>().join(" | ")
}

fn link(link: &Link) -> String {
    match &link.target {
        Target::Resource(address) => address.to_string(),
        Target::OtherUnit { unit, address } => format!("{unit}: {address}"),
        Target::External(text) => format!("external {text}"),
        Target::Dangling(text) => format!("dangling {text}"),
    }
}

/// Returns the graph of the root module `root` as readable lines.
fn dump(files: &[(&str, &str)], root: &str) -> String {
    let scratch = TemporaryDirectory::with_files(files.iter().copied());
    let sources = Sources::new(Some(scratch.path().to_owned()), scratch.path().to_owned());
    let directory = scratch.path().join(root).canonicalize().unwrap();
    let loaded = load(&[directory], &[], &crate::inputs::UnitInputs::default(), &sources);
    let mut text = String::new();
    for unit in &loaded {
        let graph = &unit.graph;
        for queue in &graph.queues {
            let when = queue
                .resource
                .when
                .describe()
                .map_or_else(String::new, |when| format!(" when {when}"));
            let uncertain = queue
                .resource
                .uncertain
                .as_ref()
                .map_or_else(String::new, |why| format!(" perhaps: {why}"));
            let visibility = attribute(&queue.visibility_timeout, |value| value.0.to_string());
            let redrive = attribute(&queue.redrive, |policy| match policy {
                None => "none".to_owned(),
                Some(policy) => format!(
                    "{} × {}",
                    attribute(&policy.target, link),
                    attribute(&policy.max_receive_count, ToString::to_string)
                ),
            });
            writeln!(
                text,
                "{}{when}{uncertain}: {visibility}; {redrive}",
                queue.resource.address
            )
            .unwrap();
        }
        for mapping in &graph.mappings {
            let (queue, function) = (attribute(&mapping.queue, link), attribute(&mapping.function, link));
            writeln!(text, "{}: {queue} -> {function}", mapping.resource.address).unwrap();
        }
        for function in &graph.functions {
            let timeout = attribute(&function.timeout, |value| value.0.to_string());
            writeln!(
                text,
                "{}: {timeout}, {}",
                function.resource.address,
                function.failure_targets.len()
            )
            .unwrap();
        }
        for alarm in &graph.alarms {
            let metrics: Vec<String> = alarm
                .metrics
                .iter()
                .map(|metric| attribute(&metric.queue, link))
                .collect();
            writeln!(text, "{}: {}", alarm.resource.address, metrics.join(", ")).unwrap();
        }
        for used in &graph.dead_letter_uses {
            writeln!(text, "failures of {}: {}", used.resource, attribute(&used.target, link)).unwrap();
        }
        for invocation in &graph.invocations {
            writeln!(
                text,
                "{} invokes {}",
                invocation.resource,
                attribute(&invocation.function, link)
            )
            .unwrap();
        }
        for handed in &graph.passed_to_missing_code {
            writeln!(text, "handed out {}", link(handed)).unwrap();
        }
        for diagnostic in &unit.diagnostics {
            writeln!(text, "{}: {}", diagnostic.rule, diagnostic.headline).unwrap();
        }
    }
    text
}

#[test]
fn links_are_resolved_through_modules_policies_and_conditions() {
    let root = r#"
variable "create_dlq" { type = bool }
resource "aws_sqs_queue" "dlq" {
  count = var.create_dlq ? 1 : 0
}
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = aws_lambda_function.f.timeout * 6
  redrive_policy = var.create_dlq ? jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dlq[0].arn
    maxReceiveCount     = "4"
  }) : null
}
resource "aws_sqs_queue" "text" {
  redrive_policy = <<-EOT
    {"deadLetterTargetArn": "${aws_sqs_queue.gone.arn}", "maxReceiveCount": 3}
  EOT
}
resource "aws_lambda_function" "f" {
  timeout = 20
  dead_letter_config { target_arn = aws_sqs_queue.q.arn }
}
resource "aws_lambda_alias" "live" { function_name = aws_lambda_function.f.function_name }
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = module.orders["a"].arn
  function_name    = aws_lambda_alias.live.arn
}
resource "aws_lambda_event_source_mapping" "stream" {
  event_source_arn  = var.stream
  function_name     = "f"
  starting_position = "LATEST"
}
module "orders" {
  for_each = toset(["a"])
  source   = "./orders"
  create   = var.create_dlq
  seconds  = 90
}
module "away" {
  source        = "acme/alarms/aws"
  queue         = aws_sqs_queue.q.name
  dlq_arn       = aws_sqs_queue.text.arn
}
resource "aws_cloudwatch_metric_alarm" "a" {
  metric_name = "ApproximateNumberOfMessagesVisible"
  dimensions  = { QueueName = aws_sqs_queue.q.name }
}
resource "aws_lambda_permission" "p" { function_name = aws_lambda_function.f.function_name }
"#;
    let orders = r#"
variable "create" {}
variable "seconds" { default = 30 }
resource "aws_sqs_queue" "this" { visibility_timeout_seconds = var.create ? var.seconds : 30 }
resource "aws_sqs_queue_redrive_policy" "this" {
  queue_url      = aws_sqs_queue.this.id
  redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:1:dead", maxReceiveCount = 7 })
}
output "arn" { value = aws_sqs_queue.this.arn }
"#;
    insta::assert_snapshot!(dump(&[("main.tf", root), ("orders/main.tf", orders)], "."), @r#"
aws_sqs_queue.dlq[0] when var.create_dlq: (30); (none)
aws_sqs_queue.q: 120; aws_sqs_queue.dlq[0] × 4 if var.create_dlq | (none) if not var.create_dlq
aws_sqs_queue.text: (30); dangling aws_sqs_queue.gone × 3
module.orders["a"].aws_sqs_queue.this: 90 if var.create_dlq | 30 if not var.create_dlq; external arn:aws:sqs:eu-west-1:1:dead × 7
aws_lambda_event_source_mapping.m: module.orders["a"].aws_sqs_queue.this -> aws_lambda_function.f
aws_lambda_function.f: 20, 1
aws_cloudwatch_metric_alarm.a: aws_sqs_queue.q
failures of aws_lambda_function.f: aws_sqs_queue.q
failures of module.away: aws_sqs_queue.text
aws_lambda_permission.p invokes aws_lambda_function.f
handed out aws_sqs_queue.q
handed out aws_sqs_queue.text
"#);
}

#[test]
fn override_and_variable_files_win_as_in_terraform() {
    let files = [
        (
            "main.tf",
            "variable \"t\" { default = 1 }\nresource \"aws_sqs_queue\" \"q\" {\n visibility_timeout_seconds = 5\n}\nresource \"aws_sqs_queue\" \"v\" {\n visibility_timeout_seconds = var.t\n}\n",
        ),
        (
            "q_override.tf",
            "resource \"aws_sqs_queue\" \"q\" {\n visibility_timeout_seconds = 6\n}\n",
        ),
        ("terraform.tfvars", "t = 2\n"),
        ("b.auto.tfvars", "t = \"4\"\n"),
        ("a.auto.tfvars", "t = 3\n"),
    ];
    assert_eq!(
        dump(&files, "."),
        "aws_sqs_queue.q: 6; (none)\naws_sqs_queue.v: 4; (none)\n"
    );
}

#[test]
fn hostile_configurations_reach_a_limit() {
    let doubling: String = (1..60)
        .map(|at| format!("  s{at} = \"${{local.s{}}}${{local.s{}}}\"\n", at - 1, at - 1))
        .collect();
    let chain: String = (1..2000).map(|at| format!("  c{at} = local.c{}\n", at - 1)).collect();
    let files = format!(
        "locals {{\n  s0 = \"xxxxxxxxxxxxxxxx\"\n{doubling}  c0 = 1\n{chain}  p = [for a in range(1000) : [for b in range(1000) : [for c in range(1000) : a]]]\n}}\n\
         module \"again\" {{\n  source = \"./\"\n}}\n\
         resource \"aws_sqs_queue\" \"q\" {{\n  name = local.s59\n  visibility_timeout_seconds = local.c1999\n  delay_seconds = length(local.p)\n  count = 1e12\n}}\n"
    );
    let work = move || dump(&[("main.tf", &files)], ".");
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(work).unwrap();
    let text = thread.join().unwrap();
    assert!(text.contains("limit-reached"), "{text}");
}

#[test]
fn separate_policies_of_unresolved_queues_leave_redrives_unresolved() {
    let text = r#"
variable "names" { type = list(string) }
variable "key" {}
variable "url" {}
variable "names2" {}
resource "aws_sqs_queue" "one" { for_each = toset(["a", "b"]) }
resource "aws_sqs_queue" "two" {}
resource "aws_sqs_queue" "three" { count = length(var.names) }
resource "aws_sqs_queue" "four" {}
resource "aws_sqs_queue" "five" { name = "five" }
resource "aws_sqs_queue_redrive_policy" "one" {
  queue_url      = aws_sqs_queue.one[var.key].id
  redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:1:dead", maxReceiveCount = 1 })
}
resource "aws_sqs_queue_redrive_policy" "three" {
  count          = length(var.names)
  queue_url      = aws_sqs_queue.three[count.index].id
  redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:1:dead", maxReceiveCount = 3 })
}
resource "aws_sqs_queue_redrive_policy" "four" {
  count          = length(var.names2)
  queue_url      = aws_sqs_queue.four.id
  redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:1:dead", maxReceiveCount = 4 })
}
resource "aws_sqs_queue_redrive_policy" "five" {
  queue_url      = "https://sqs.${var.key}.amazonaws.com/${var.url}/five"
  redrive_policy = jsonencode({ deadLetterTargetArn = "arn:aws:sqs:eu-west-1:1:dead", maxReceiveCount = 5 })
}
"#;
    insta::assert_snapshot!(dump(&[("main.tf", text)], "."), @r#"
aws_sqs_queue.five: (30); external arn:aws:sqs:eu-west-1:1:dead × 5
aws_sqs_queue.four: (30); external arn:aws:sqs:eu-west-1:1:dead × 4 if aws_sqs_queue_redrive_policy.four | ? `var.names2` has no value if not aws_sqs_queue_redrive_policy.four
aws_sqs_queue.one["a"]: (30); external arn:aws:sqs:eu-west-1:1:dead × 1 if var.key = a | ? `var.key` has no value if var.key != a
aws_sqs_queue.one["b"]: (30); external arn:aws:sqs:eu-west-1:1:dead × 1 if var.key = b | ? `var.key` has no value if var.key != b
aws_sqs_queue.three when length(var.names) > 0 perhaps: `var.names` has no value: (30); external arn:aws:sqs:eu-west-1:1:dead × 3 if length(var.names) > 0 | ? `count.index` is not known if length(var.names) = 0
aws_sqs_queue.two: (30); (none)
"#);
}

#[test]
fn condition_and_its_negation_share_a_variable() {
    let text = r#"
variable "a" {}
variable "b" {}
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = length(var.a) == length(var.b) ? 1 : length(var.a)  !=  length(var.b) ? 2 : 3
  delay_seconds              = "x != y" == "x" ? 1 : 2
}
"#;
    insta::assert_snapshot!(dump(&[("main.tf", text)], "."), @r"
aws_sqs_queue.q: 1 if length(var.a) == length(var.b) | 2 if not length(var.a) == length(var.b); (none)
");
}

#[test]
fn diagnostics_belong_to_the_unit_that_calls_the_module() {
    let files = [
        ("a/main.tf", "resource \"aws_sqs_queue\" \"a\" {}\n"),
        ("b/main.tf", "module \"m\" {\n  source = \"../m\"\n}\n"),
        ("m/main.tf", "resource \"aws_sqs_queue\" \"m\" {\n  x = \n}\n"),
        ("x/main.tf", "module \"y\" {\n  source = \"../y\"\n}\n"),
        (
            "y/main.tf",
            "module \"x\" {\n  source = \"../x\"\n}\nlocals { broken = }\n",
        ),
    ];
    let scratch = TemporaryDirectory::with_files(files);
    let sources = Sources::new(Some(scratch.path().to_owned()), scratch.path().to_owned());
    let directories: Vec<PathBuf> = ["a", "b", "m", "x", "y"]
        .iter()
        .map(|name| scratch.path().join(name))
        .collect();
    let loaded = load(&directories, &[], &crate::inputs::UnitInputs::default(), &sources);
    let shown: Vec<String> = loaded
        .iter()
        .map(|unit| {
            let units: Vec<&str> = unit
                .diagnostics
                .iter()
                .map(|found| found.subject.unit.as_str())
                .collect();
            format!("{}: {}", unit.graph.unit.name, units.join(" "))
        })
        .collect();
    assert_eq!(shown, ["a: ", "b: b", "x: x x"]);
}
