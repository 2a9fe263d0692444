//! Tests of the graphs of small configurations. Expressions are tested in `crates/terraform/tests/expressions`.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::graph::{Attribute, Link, State, Target};
use crate::testing::TemporaryDirectory;
use std::fmt::Write;

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
        for invocation in graph.invocations.iter().filter(|invocation| !invocation.waits) {
            writeln!(
                text,
                "{} invokes {}",
                invocation.resource,
                attribute(&invocation.function, link)
            )
            .unwrap();
        }
        for passed in &graph.passed_to_missing_code {
            writeln!(text, "handed out {}", link(passed)).unwrap();
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

#[test]
fn module_that_expects_a_call_is_marked() {
    let queue = "resource \"aws_sqs_queue\" \"q\" {}\n";
    let required = format!("variable \"name\" {{}}\n{queue}");
    let provider = format!("provider \"aws\" {{}}\n{required}");
    let call = "module \"q\" {\n  source = \"../modules/q\"\n  name = \"x\"\n}\n";
    for (files, uncalled) in [
        (&[("modules/q/main.tf", queue)][..], Some("modules/q")),
        (&[("q/main.tf", &*required)], Some("q")),
        (&[("q/main.tf", &*provider)], None),
        (
            &[("q/main.tf", &*required), ("q/terraform.tfvars", "name = \"x\"\n")],
            None,
        ),
        (&[("q/main.tf", &*required), ("q/prod.tfvars", "name = \"x\"\n")], None),
        (&[("q/main.tf", queue)], None),
        (&[("modules/q/main.tf", &*required), ("app/main.tf", call)], None),
    ] {
        let scratch = TemporaryDirectory::with_files(files.iter().copied());
        let sources = Sources::new(Some(scratch.path().to_owned()), scratch.path().to_owned());
        let code = files
            .iter()
            .filter(|(path, _)| Path::new(path).extension().is_some_and(|ending| ending == "tf"));
        let directories: Vec<PathBuf> = code
            .map(|(path, _)| scratch.path().join(path).parent().unwrap().canonicalize().unwrap())
            .collect();
        let loaded = load(&directories, &[], &crate::inputs::UnitInputs::default(), &sources);
        let marked = loaded.iter().find(|one| one.graph.unit.is_uncalled);
        assert_eq!(marked.map(|one| &*one.graph.unit.name), uncalled, "{files:?}");
    }
}
