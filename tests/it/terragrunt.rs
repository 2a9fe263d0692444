//! Checks how `terragrunt.hcl` files call modules.

use crate::inputs::check_files;
use sqslint::Outcome;
use sqslint::graph::{Link, Resource, State, UnreadCalls};

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
fn only_local_module_of_a_conditional_source_is_read() {
    let remote = "\"git::https://example.com/modules.git//queue\"";
    let local = "\"../../modules/queue\"";
    for (yes, no, is_read) in [
        (local, remote, true),
        (remote, local, true),
        (local, local, true),
        (remote, remote, false),
        (local, "\"../../modules/other\"", false),
    ] {
        let file = format!(
            "locals {{\n  own = get_env(\"OWN\", \"\") == \"1\"\n}}\nterraform {{\n  source = local.own ? {yes} : {no}\n}}\n"
        );
        let files = [("modules/other/main.tf", MODULE.1), ("live/a/terragrunt.hcl", &*file)];
        let found = queues(&files);
        let is_found = found.iter().any(|queue| queue.starts_with("live/a: "));
        assert_eq!(is_found, is_read, "{file} {found:?}");
    }
}

#[test]
fn configuration_that_several_files_read_has_one_problem() {
    let reads = "locals {\n  root = read_terragrunt_config(\"${get_terragrunt_dir()}/../../root.hcl\")\n}\n\
                 terraform {\n  source = \"../../modules/queue\"\n}\n";
    let outcome = checked(&[
        ("root.hcl", "locals {\n  names = [\"a\"\n  other = 1\n}\n"),
        ("live/a/terragrunt.hcl", reads),
        ("live/b/terragrunt.hcl", reads),
    ]);
    let problems = outcome.findings.iter().filter(|found| found.rule == "parse-error");
    assert_eq!(problems.count(), 1);
}

#[test]
fn module_that_is_not_read_is_noted() {
    let remote = "git::https://example.com/modules.git//queue?ref=";
    let version = format!("{remote}${{get_env(\"VERSION\")}}");
    let unknown = "the source of its module is not known: `get_env` depends on where Terragrunt runs";
    for (source, unread, notes) in [
        (format!("{remote}v1"), format!("{remote}v1"), vec![]),
        ("../modules/none".to_owned(), "../modules/none".to_owned(), vec![]),
        (version, "terraform.source".to_owned(), vec![unknown.to_owned()]),
    ] {
        let file = format!("terraform {{\n  source = \"{source}\"\n}}\n");
        let outcome = checked(&[("live/queue/terragrunt.hcl", &file)]);
        let mut units = outcome.graph.units().iter();
        let unit = units.rfind(|unit| unit.name == "live/queue").unwrap();
        let calls: Vec<_> = unit.unread_modules.iter().collect();
        assert_eq!(calls, [(&unread, &UnreadCalls { all: 1, of_queues: 1 })]);
        assert_eq!(unit.notes, notes);
    }
}

#[test]
fn mutually_including_files_terminate() {
    let file = format!(
        "{CALL}include {{\n  path = \"../b/terragrunt.hcl\"\n}}\nlocals {{\n  x = read_terragrunt_config(\"../b/terragrunt.hcl\")\n}}\n"
    );
    let other = file.replace("../b/", "../a/");
    checked(&[("live/a/terragrunt.hcl", &file), ("live/b/terragrunt.hcl", &other)]);
}

const QUEUE: (&str, &str) = (
    "modules/sqs/main.tf",
    "variable \"name\" {}\nvariable \"visibility\" { default = 30 }\nvariable \"dead_letters\" { default = null }\n\
     resource \"aws_sqs_queue\" \"q\" {\n  name = var.name\n  visibility_timeout_seconds = var.visibility\n  \
     redrive_policy = var.dead_letters == null ? null : jsonencode({ deadLetterTargetArn = var.dead_letters, maxReceiveCount = 5 })\n}\n\
     output \"arn\" { value = aws_sqs_queue.q.arn }\noutput \"seconds\" { value = var.visibility }\n\
     output \"all\" { value = { arns = [aws_sqs_queue.q.arn] } }\n",
);

const WORKER: (&str, &str) = (
    "modules/worker/main.tf",
    "variable \"arn\" {}\nvariable \"timeout\" { default = 5 }\n\
     resource \"aws_lambda_function\" \"f\" {\n  function_name = \"f\"\n  timeout = var.timeout\n}\n\
     resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = var.arn\n  function_name = aws_lambda_function.f.arn\n}\n",
);

/// Returns, for each mapping and each redrive policy, its unit and that of the queue that it refers to.
fn links(files: &[(&str, &str)]) -> Vec<String> {
    let outcome = checked(&[files, &[QUEUE, WORKER]].concat());
    let graph = &outcome.graph;
    let unit = |resource: &Resource| graph.unit(resource.unit).name.clone();
    let target = |from: &Resource, link: &Link| {
        let queue = graph.queue(from.unit, link);
        queue.map_or_else(String::new, |queue| unit(&queue.resource))
    };
    let mappings = graph.mappings().iter().map(|mapping| {
        let link = mapping.queue.cases[0].value();
        let queue = link.map_or_else(String::new, |link| target(&mapping.resource, link));
        format!("{} reads {queue}", unit(&mapping.resource))
    });
    let queues = graph.queues().iter().flat_map(|queue| {
        let policies = queue.redrive.cases.iter().filter_map(|case| case.value()?.as_ref());
        let links = policies.filter_map(|policy| policy.target.cases[0].value());
        links.map(|link| format!("{} moves to {}", unit(&queue.resource), target(&queue.resource, link)))
    });
    mappings.chain(queues).collect()
}

fn calling(module: &str, inputs: &str, dependencies: &[&str]) -> String {
    let blocks = dependencies
        .iter()
        .map(|name| format!("dependency \"{name}\" {{ config_path = \"../{name}\" }}\n"));
    let blocks: String = blocks.collect();
    format!("terraform {{ source = \"../../../modules/{module}\" }}\n{blocks}inputs = {{ {inputs} }}\n")
}

#[test]
fn outputs_of_dependencies_link_to_the_resources_of_their_roots() {
    let queue = |inputs: &str| calling("sqs", &format!("name = \"orders\", {inputs}"), &[]);
    let with_dead_letters = calling(
        "sqs",
        "name = \"orders\", dead_letters = dependency.dlq.outputs.arn",
        &["dlq"],
    );
    let reads = |value: &str| calling("worker", &format!("arn = dependency.queue.outputs.{value}"), &["queue"]);
    let plain = queue("");
    let worker = reads("arn");
    // Both stages have queues of one name: the link is by root, not by name.
    let stages = [
        ("live/dev/queue/terragrunt.hcl", &*plain),
        ("live/dev/worker/terragrunt.hcl", &worker),
        ("live/prod/queue/terragrunt.hcl", &plain),
        ("live/prod/worker/terragrunt.hcl", &worker),
    ];
    let expected = [
        "live/dev/worker reads live/dev/queue",
        "live/prod/worker reads live/prod/queue",
    ];
    assert_eq!(links(&stages), expected);
    let chain = [
        ("live/dev/dlq/terragrunt.hcl", &*plain),
        ("live/dev/queue/terragrunt.hcl", &with_dead_letters),
        ("live/dev/worker/terragrunt.hcl", &worker),
    ];
    let expected = [
        "live/dev/worker reads live/dev/queue",
        "live/dev/queue moves to live/dev/dlq",
    ];
    assert_eq!(links(&chain), expected);
    let nested = reads("all.arns[0]");
    let files = [
        ("live/dev/queue/terragrunt.hcl", &*plain),
        ("live/dev/worker/terragrunt.hcl", &nested),
    ];
    assert_eq!(links(&files), ["live/dev/worker reads live/dev/queue"]);
}

#[test]
fn findings_name_the_roots_of_one_module() {
    let plain = calling("sqs", "name = \"orders\"", &[]);
    let queue = calling(
        "sqs",
        "name = \"orders\", dead_letters = dependency.dlq.outputs.arn",
        &["dlq"],
    );
    let outcome = checked(&[
        ("live/dev/dlq/terragrunt.hcl", &plain),
        ("live/dev/queue/terragrunt.hcl", &queue),
        QUEUE,
    ]);
    let mut found = outcome.findings.iter();
    let found = found.find(|found| found.rule == "dead-letter-queue-retention-too-short");
    let found = found.expect("the dead-letter queue keeps messages no longer");
    let told = "`aws_sqs_queue.q` in `live/dev/dlq` deletes a message 4 days after it was first sent, no later than \
                `aws_sqs_queue.q` in `live/dev/queue`";
    assert!(found.headline.starts_with(told), "{}", found.headline);
    // The labels are in the module, which both roots call.
    assert_eq!(found.root(), Some("live/dev/dlq"));
}

#[test]
fn outputs_that_are_not_known_link_to_nothing() {
    let queue = calling("sqs", "name = \"orders\"", &[]);
    let worker = calling("worker", "arn = dependency.queue.outputs.arn", &["queue"]);
    let skipped = worker.replace("config_path", "skip_outputs = true\n  config_path");
    let composed = worker.replace("dependency.queue.outputs.arn", "\"${dependency.queue.outputs.arn}-x\"");
    let undeclared = worker.replace("outputs.arn", "outputs.other");
    for (name, worker) in [
        ("skipped", &skipped),
        ("composed", &composed),
        ("undeclared", &undeclared),
    ] {
        let files = [
            ("live/dev/queue/terragrunt.hcl", &*queue),
            ("live/dev/worker/terragrunt.hcl", worker),
        ];
        assert_eq!(links(&files), ["live/dev/worker reads "], "{name}");
    }
    // The root of the dependency is not among the files.
    assert_eq!(
        links(&[("live/dev/worker/terragrunt.hcl", &worker)]),
        ["live/dev/worker reads "]
    );
}

#[test]
fn outputs_pass_numbers_and_cycles_of_dependencies_end() {
    let queue = calling("sqs", "name = \"orders\", visibility = 90", &[]);
    let worker = calling(
        "worker",
        "arn = dependency.queue.outputs.arn, timeout = dependency.queue.outputs.seconds",
        &["queue"],
    );
    let outcome = checked(&[
        ("live/dev/queue/terragrunt.hcl", &queue),
        ("live/dev/worker/terragrunt.hcl", &worker),
        QUEUE,
        WORKER,
    ]);
    let timeout = &outcome.graph.functions()[0].timeout;
    assert_eq!(shown(&timeout.cases[0].state, |value| value.0), "90");
    let one = calling(
        "sqs",
        "name = \"a\", visibility = dependency.two.outputs.seconds",
        &["two"],
    );
    let two = calling(
        "sqs",
        "name = \"b\", visibility = dependency.one.outputs.seconds",
        &["one", "two"],
    );
    let outcome = checked(&[
        ("live/dev/one/terragrunt.hcl", &one),
        ("live/dev/two/terragrunt.hcl", &two),
        QUEUE,
    ]);
    let units = outcome.graph.units().iter();
    let live = units.filter(|unit| unit.name.starts_with("live/"));
    assert_eq!(live.count(), 2);
}
