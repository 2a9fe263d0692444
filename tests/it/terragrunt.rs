//! Checks how `terragrunt.hcl` files call modules.

use crate::inputs::check_files;
use sqslint::Outcome;
use sqslint::graph::State;

/// Module with a queue whose numbers are variables.
const MODULE: (&str, &str) = (
    "modules/queue/main.tf",
    r#"
variable "visibility" {
  type    = number
  default = 7
}
variable "settings" {
  type    = map(number)
  default = { delay = 1 }
}
resource "aws_sqs_queue" "q" {
  visibility_timeout_seconds = var.visibility
  delay_seconds              = lookup(var.settings, "delay", 0)
  receive_wait_time_seconds  = lookup(var.settings, "wait", 0)
}
"#,
);

const CALL: &str = "terraform {\n  source = \"../../modules//queue\"\n}\n";

fn checked(files: &[(&str, &str)]) -> Outcome {
    let git = [(".git/HEAD", "")];
    let outcome = check_files(files.iter().copied().chain(git).chain([MODULE]));
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    outcome
}

fn shown<T: Copy>(state: &State<T>, number: impl Fn(T) -> i64) -> String {
    match state {
        State::Set(value) => number(*value).to_string(),
        State::Default(value) => format!("default {}", number(*value)),
        State::Unresolved(reason) => reason.to_string(),
    }
}

/// Lists unit, visibility timeout, delay and wait time of each queue.
fn queues(files: &[(&str, &str)]) -> Vec<String> {
    let outcome = checked(files);
    let graph = &outcome.graph;
    let lines = graph.queues().iter().map(|queue| {
        let seconds = [&queue.visibility_timeout, &queue.delay, &queue.receive_wait_time];
        let values = seconds.map(|attribute| shown(&attribute.cases[0].state, |value| value.0));
        format!("{}: {}", graph.unit(queue.resource.unit).name, values.join(", "))
    });
    lines.collect()
}

#[test]
fn called_module_receives_its_inputs_and_is_not_a_unit() {
    let file = format!("{CALL}inputs = {{ visibility = 60 }}\n");
    assert_eq!(
        queues(&[("live/orders/terragrunt.hcl", &file)]),
        ["live/orders: 60, 1, 0"]
    );
}

#[test]
fn each_terragrunt_file_is_a_unit() {
    let file = |seconds: u32| format!("{CALL}inputs = {{ visibility = {seconds} }}\n");
    assert_eq!(
        queues(&[("live/a/terragrunt.hcl", &file(1)), ("live/b/terragrunt.hcl", &file(2))]),
        ["live/a: 1, 1, 0", "live/b: 2, 1, 0"]
    );
}

#[test]
fn inputs_are_merged_with_those_of_included_files() {
    let parent = "inputs = { visibility = 60, settings = { delay = 5 } }\n";
    for (strategy, expected) in [
        ("", "live/a: 60, 0, 9"),
        ("merge_strategy = \"shallow\"", "live/a: 60, 0, 9"),
        ("merge_strategy = \"deep\"", "live/a: 60, 5, 9"),
        ("merge_strategy = \"no_merge\"", "live/a: 7, 0, 9"),
    ] {
        let file = format!(
            "{CALL}include \"root\" {{\n  path = find_in_parent_folders()\n  {strategy}\n}}\ninputs = {{ settings = {{ wait = 9 }} }}\n"
        );
        let files = [("live/terragrunt.hcl", parent), ("live/a/terragrunt.hcl", &*file)];
        assert_eq!(queues(&files), [expected], "{strategy}");
    }
}

#[test]
fn locals_of_other_files_are_evaluated() {
    let parent = "locals {\n  seconds = path_relative_to_include() == \"prod/a\" ? 90 : 1\n}\n";
    let other = "locals {\n  delay = 4\n}\n";
    let file = r#"
include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}
terraform {
  source = "${get_repo_root()}/modules/queue"
}
locals {
  env = read_terragrunt_config(find_in_parent_folders("env.hcl"))
}
inputs = {
  visibility = include.root.locals.seconds
  settings   = { delay = local.env.locals.delay }
}
"#;
    let files = [
        ("live/root.hcl", parent),
        ("live/prod/env.hcl", other),
        ("live/prod/a/terragrunt.hcl", file),
    ];
    assert_eq!(queues(&files), ["live/prod/a: 90, 4, 0"]);
}

#[test]
fn dependency_outputs_and_environment_variables_are_unresolved() {
    let file = format!(
        "{CALL}inputs = {{ visibility = dependency.other.outputs.seconds, settings = {{ delay = get_env(\"DELAY\", 3) }} }}\n"
    );
    assert_eq!(
        queues(&[("live/a/terragrunt.hcl", &file)]),
        ["live/a: outputs of a `dependency` are known only after apply, `get_env` depends on where Terragrunt runs, 0"]
    );
}

#[test]
fn unresolved_inputs_override_defaults() {
    let file = format!("{CALL}inputs = merge(dependency.other.outputs, {{ visibility = 60 }})\n");
    let lines = queues(&[("live/a/terragrunt.hcl", &file)]);
    assert_eq!(lines.len(), 1);
    assert!(
        !lines[0].contains("default") && lines[0].matches("known only after apply").count() == 3,
        "{lines:?}"
    );
}

#[test]
fn variable_files_in_extra_arguments_make_inputs_unresolved() {
    let file = "terraform {\n  source = \"../../modules/queue\"\n  extra_arguments \"vars\" {\n    commands = [\"apply\"]\n    required_var_files = [\"x.tfvars\"]\n  }\n}\ninputs = { visibility = 60 }\n";
    let lines = queues(&[("live/a/terragrunt.hcl", file)]);
    assert!(lines[0].contains("`extra_arguments` `vars` may set it"), "{lines:?}");
}

#[test]
fn variable_files_of_the_module_win() {
    let file = "inputs = { visibility = 60, settings = { delay = 2 } }\n";
    let files = [
        ("live/a/terragrunt.hcl", file),
        ("live/a/main.tf", MODULE.1),
        ("live/a/terraform.tfvars", "visibility = 61\n"),
    ];
    assert_eq!(queues(&files), ["live/a: 61, 2, 0", "modules/queue: 7, 1, 0"]);
}

#[test]
fn remote_module_is_noted() {
    let file = "terraform {\n  source = \"git::https://example.com/modules.git//queue?ref=v1\"\n}\n";
    let outcome = checked(&[("live/a/terragrunt.hcl", file)]);
    let unit = outcome.graph.units().iter().find(|unit| unit.name == "live/a").unwrap();
    assert_eq!(
        unit.notes,
        ["its module is not read (its source is `git::https://example.com/modules.git//queue?ref=v1`)"]
    );
}

#[test]
fn mutually_including_files_terminate() {
    let file = format!(
        "{CALL}include {{\n  path = \"../b/terragrunt.hcl\"\n}}\nlocals {{\n  x = read_terragrunt_config(\"../b/terragrunt.hcl\")\n}}\n"
    );
    let other = file.replace("../b/", "../a/");
    checked(&[("live/a/terragrunt.hcl", &file), ("live/b/terragrunt.hcl", &other)]);
}
