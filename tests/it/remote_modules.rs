//! Checks remote modules that sqslint knows by a description. Their graphs are compared with those that Terraform made
//! from the modules' own code, with one recording per version in `fixtures/remote-modules`; `VERSION` in a
//! configuration is replaced by the version of the recording. Also checks the findings in described modules, and in
//! modules that `terraform init` fetched.

use crate::inputs::{LISTS, check, entries, repository};
use serde_json::Value;
use sqslint::testing::{TemporaryDirectory, describe, graph_json_by_default};
use std::fmt::Write as _;
use std::path::Path;

/// Converts our value to the form of the recording.
fn recorded_form(field: &str, ours: &Value) -> Value {
    match field {
        "queue" | "function" | "target" if ours.is_object() && ours.get("unresolved").is_none() => {
            ours["address"].clone()
        }
        "redrive" if ours.get("target").is_some() => serde_json::json!({
            "target": recorded_form("target", &ours["target"]),
            "maxReceiveCount": ours["max_receive_count"],
        }),
        _ => ours.clone(),
    }
}

fn address(node: &Value) -> &str {
    node["address"].as_str().unwrap()
}

/// Lists all differences between our graph and the recorded one.
fn differences(recorded: &Value, ours: &Value) -> String {
    let mut text = String::new();
    for (recorded_list, our_list, fields) in LISTS {
        let (recorded, ours) = (
            recorded[recorded_list].as_array().unwrap(),
            ours[our_list].as_array().unwrap(),
        );
        for node in ours {
            if !recorded.iter().any(|known| address(known) == address(node)) {
                writeln!(text, "{} is not recorded", address(node)).unwrap();
            }
        }
        for known in recorded {
            let Some(node) = ours.iter().find(|node| address(node) == address(known)) else {
                writeln!(text, "{} is missing", address(known)).unwrap();
                continue;
            };
            for (theirs, field) in fields {
                let form = recorded_form(field, &node[field]);
                if known[theirs] != form {
                    writeln!(
                        text,
                        "{}.{field}: recorded {}, ours {form}",
                        address(known),
                        known[theirs]
                    )
                    .unwrap();
                }
            }
        }
    }
    text
}

#[test]
fn described_modules_have_the_recorded_graph() {
    let fixtures = repository("fixtures/remote-modules");
    let mut wrong = String::new();
    let mut compared = 0;
    for fixture in entries(&fixtures) {
        if !fixture.join("expected").is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(fixture.join("main.tf")).unwrap();
        for file in entries(&fixture.join("expected")) {
            let version = file.file_stem().unwrap().to_str().unwrap();
            let text = text.replace("VERSION", version);
            let directory = TemporaryDirectory::with_files([("main.tf", text.as_str())]);
            let outcome = check(directory.path());
            let ours = serde_json::from_str(&graph_json_by_default(&outcome.graph, &outcome.sources)).unwrap();
            let recorded = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let found = differences(&recorded, &ours);
            compared += 1;
            if !found.is_empty() {
                let name = fixture.file_name().unwrap().to_str().unwrap();
                writeln!(wrong, "{name} {version}:\n{found}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(compared > 5, "only {compared} recordings");
}

/// Formats the findings, unjudged resources, notes and queues of a project.
fn formatted_outcome(files: &[(&str, &str)]) -> String {
    let directory = TemporaryDirectory::with_files(files.iter().copied().chain([(".git/HEAD", "")]));
    let root = directory.path().canonicalize().unwrap();
    let outcome = check(&root);
    let mut text = describe(&outcome);
    for unit in outcome.graph.units() {
        for note in &unit.notes {
            writeln!(text, "note: {note}").unwrap();
        }
        for (source, calls) in &unit.unread_modules {
            writeln!(text, "unread: {} × {source}", calls.all).unwrap();
        }
    }
    for queue in outcome.graph.queues() {
        writeln!(text, "queue {}", queue.resource.address).unwrap();
    }
    let shown = root.display().to_string();
    let shown = shown.trim_start_matches('/');
    text.lines()
        .map(|line| match line.find(shown) {
            Some(at) => format!(
                "{}{}\n",
                line[..at].trim_end_matches("../").trim_end_matches('/'),
                &line[at + shown.len() + 1..]
            ),
            None => format!("{line}\n"),
        })
        .collect()
}

/// Formats the findings in a fixture.
fn findings(fixture: &str) -> String {
    describe(&check(Path::new("fixtures/remote-modules").join(fixture).as_path()))
}

#[test]
fn findings_in_a_described_module_point_to_its_call() {
    insta::assert_snapshot!(findings("described"), @r#"
error [visibility-timeout-below-function-timeout] `module.orders.aws_sqs_queue.this[0]` has a visibility timeout of 20 s, but `aws_lambda_function.worker` may run for 60 s, so a message may be processed twice
  fixtures/remote-modules/described/main.tf:11 the message becomes visible again after 20 s (the default of `var.visibility`)
  fixtures/remote-modules/described/main.tf:2 the value comes from the default of `var.visibility`
  fixtures/remote-modules/described/main.tf:29 `aws_lambda_function.worker` may run for 60 s
  fixtures/remote-modules/described/main.tf:32 `aws_lambda_event_source_mapping.orders` reads the queue
  fixtures/remote-modules/described/main.tf:10 exactly-once covers sending only: a FIFO queue, too, delivers a message again when its visibility timeout ends
warning [max-receive-count-too-low] `module.orders.aws_sqs_queue.this[0]` moves a message to its dead-letter queue after 1 receive: one throttle or lost response dead-letters a good message
  fixtures/remote-modules/described/main.tf:14 moved to the dead-letter queue after 1 receive
warning [dead-letter-queue-retention-too-short] `module.mails.aws_sqs_queue.dlq[0]` deletes a message 4 days after it was first sent, no later than `module.mails.aws_sqs_queue.this[0]`: one that fails late has little time left there
  fixtures/remote-modules/described/main.tf:18 `dlq_message_retention_seconds` is not set: SQS's default of 4 days applies
  fixtures/remote-modules/described/main.tf:18 `message_retention_seconds` is not set: SQS's default of 4 days applies
info [dead-letter-queue-unalarmed] no alarm reports messages in `module.mails.aws_sqs_queue.dlq[0]` or in 1 other dead-letter queue
  fixtures/remote-modules/described/main.tf:18 a message here is deleted after 4 days, whether or not anyone looked
  fixtures/remote-modules/described/main.tf:18 `module.mails.aws_sqs_queue.this[0]` moves failed messages to `module.mails.aws_sqs_queue.dlq[0]`
  fixtures/remote-modules/described/main.tf:5 nor in `module.orders.aws_sqs_queue.dlq[0]`
"#);
}

#[test]
fn findings_in_a_fetched_module_point_to_its_caller_and_its_code() {
    insta::assert_snapshot!(findings("fetched"), @r#"
error [visibility-timeout-below-function-timeout] `module.orders.module.queue.aws_sqs_queue.this` has a visibility timeout of 20 s, but `aws_lambda_function.worker` may run for 60 s, so a message may be processed twice
  fixtures/remote-modules/fetched/main.tf:2 the value comes from the default of `var.visibility`
  fixtures/remote-modules/fetched/.terraform/modules/orders/queue/main.tf:8 the message becomes visible again after 20 s (the default of `var.visibility`)
  fixtures/remote-modules/fetched/main.tf:29 `aws_lambda_function.worker` may run for 60 s
  fixtures/remote-modules/fetched/main.tf:32 `aws_lambda_event_source_mapping.orders` reads the queue
  fixtures/remote-modules/fetched/.terraform/modules/orders/queue/main.tf:7 exactly-once covers sending only: a FIFO queue, too, delivers a message again when its visibility timeout ends
warning [max-receive-count-too-low] `module.orders.module.queue.aws_sqs_queue.this` moves a message to its dead-letter queue after 1 receive: one throttle or lost response dead-letters a good message
  fixtures/remote-modules/fetched/main.tf:14 moved to the dead-letter queue after 1 receive
warning [dead-letter-queue-retention-too-short] `module.mails.aws_sqs_queue.dlq[0]` deletes a message 4 days after it was first sent, no later than `module.mails.aws_sqs_queue.this[0]`: one that fails late has little time left there
  fixtures/remote-modules/fetched/main.tf:18 `dlq_message_retention_seconds` is not set: SQS's default of 4 days applies
  fixtures/remote-modules/fetched/main.tf:18 `message_retention_seconds` is not set: SQS's default of 4 days applies
info [dead-letter-queue-unalarmed] no alarm reports messages in `module.mails.aws_sqs_queue.dlq[0]` or in 1 other dead-letter queue
  fixtures/remote-modules/fetched/main.tf:18 a message here is deleted after 4 days, whether or not anyone looked
  fixtures/remote-modules/fetched/main.tf:18 `module.mails.aws_sqs_queue.this[0]` moves failed messages to `module.mails.aws_sqs_queue.dlq[0]`
  fixtures/remote-modules/fetched/.terraform/modules/orders/main.tf:34 nor in `module.orders.aws_sqs_queue.failed[0]`
"#);
}

/// A value that the module sets is located at the header of the call; the label names the module's variable.
#[test]
fn default_of_a_described_module_is_labelled_as_such() {
    let text = "module \"orders\" {\n  source  = \"terraform-aws-modules/sqs/aws\"\n  version = \"3.5.0\"\n}\n\
                resource \"aws_lambda_function\" \"f\" {\n  timeout = 60\n}\n\
                resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = module.orders.sqs_queue_arn\n  \
                function_name = aws_lambda_function.f.arn\n}\n";
    let outcome = formatted_outcome(&[("main.tf", text)]);
    let place = "main.tf:1 the message becomes visible again after 30 s (the default of the module's \
                 `visibility_timeout_seconds`)";
    assert!(outcome.contains(place), "{outcome}");
}

/// Covers the deliveries of the modules for events and topics, which no recording contains.
#[test]
fn described_pipes_targets_and_subscriptions_are_linked() {
    let outcome = check(Path::new("fixtures/remote-modules/deliveries"));
    let ours: Value = serde_json::from_str(&graph_json_by_default(&outcome.graph, &outcome.sources)).unwrap();
    let ends: Vec<String> = ["pipes", "subscriptions", "targets"]
        .iter()
        .flat_map(|list| ours[list].as_array().unwrap())
        .map(|node| {
            let fields = ["source", "target", "endpoint", "dead_letter", "batch_size", "window"];
            let known = fields.iter().filter(|field| !node[field].is_null());
            let known: Vec<String> = known.map(|field| format!("{field} {}", node[field])).collect();
            format!("{}: {}", address(node), known.join(", "))
        })
        .collect();
    insta::assert_snapshot!(ends.join("\n"), @r#"
module.rules.aws_pipes_pipe.this["p"]: source "aws_sqs_queue.orders", target "arn:aws:lambda:us-east-1:123456789012:function:f", batch_size 7, window 3
module.topic.aws_sns_topic_subscription.this["sqs"]: endpoint "aws_sqs_queue.orders", dead_letter "aws_sqs_queue.failed"
module.rules.aws_cloudwatch_event_target.this["queue"]: source "orders-rule", target "aws_sqs_queue.orders", dead_letter "aws_sqs_queue.failed"
module.rules.aws_scheduler_schedule.this["nightly"]: source "module.rules.aws_scheduler_schedule.this[\"nightly\"]", target "aws_sqs_queue.orders"
"#);
}

const CALL: &str = "module \"orders\" {\n  source = \"terraform-aws-modules/sqs/aws\"\n  name = \"orders\"\n}\n";
const CODE: &str = "variable \"name\" {}\nresource \"aws_sqs_queue\" \"own\" {\n  name = var.name\n}\n";

fn manifest(source: &str, version: &str, directory: &str) -> String {
    format!(
        r#"{{"Modules":[{{"Key":"","Dir":"."}},{{"Key":"orders","Source":"{source}","Version":"{version}","Dir":"{directory}"}}]}}"#
    )
}

/// Lists the queues with this manifest. The fetched code declares `aws_sqs_queue.own`.
fn queues(call: &str, manifest: &str) -> String {
    let text = formatted_outcome(&[
        ("root/main.tf", call),
        ("root/.terraform/modules/modules.json", manifest),
        ("root/.terraform/modules/orders/main.tf", CODE),
    ]);
    let queues = text.lines().filter_map(|line| line.strip_prefix("queue "));
    queues.collect::<Vec<_>>().join(" ")
}

#[test]
fn fetched_code_is_used_only_if_it_matches_the_call() {
    let (source, here) = (
        "registry.terraform.io/terraform-aws-modules/sqs/aws",
        ".terraform/modules/orders",
    );
    let (own, described) = ("module.orders.aws_sqs_queue.own", "module.orders.aws_sqs_queue.this[0]");
    let versioned = CALL.replace("name =", "version = \"~> 4.0\"\n  name =");
    let table = [
        (CALL, manifest(source, "4.2.0", here), own),
        (CALL, manifest("terraform-aws-modules/sqs/aws", "4.2.0", here), own),
        (&versioned, manifest(source, "4.2.0", here), own),
        // The version or source differs from the call: the module was not fetched again after a change.
        (&versioned, manifest(source, "3.5.0", here), described),
        (
            CALL,
            manifest("registry.terraform.io/acme/sqs/aws", "4.2.0", here),
            described,
        ),
        // The directory does not exist, or is outside the repository.
        (CALL, manifest(source, "4.2.0", ".terraform/modules/gone"), described),
        (CALL, manifest(source, "4.2.0", "../../../../../../.."), described),
        (CALL, manifest(source, "4.2.0", "/"), described),
        // The root module as its own child, which would call itself.
        (CALL, manifest(source, "4.2.0", "."), ""),
        (CALL, "{}".to_owned(), described),
        (
            CALL,
            r#"{"Modules":[1,{"Key":2},{"Key":"orders"},{"Dir":"."}]}"#.to_owned(),
            described,
        ),
    ];
    for (call, manifest, expected) in table {
        assert_eq!(queues(call, &manifest), expected, "{manifest}");
    }
}

#[test]
fn invalid_module_manifest_is_a_finding() {
    for text in ["{\"Modules\": [", "", "[]", "{\"Modules\": {}}"] {
        let outcome = formatted_outcome(&[("main.tf", CALL), (".terraform/modules/modules.json", text)]);
        let first = outcome.lines().next().unwrap();
        assert!(
            first.starts_with("error [parse-error] `") && first.contains("modules.json"),
            "{text}: {outcome}"
        );
        assert!(
            outcome.contains("queue module.orders.aws_sqs_queue.this[0]"),
            "{outcome}"
        );
    }
}

#[test]
fn module_without_description_is_unresolved_and_noted() {
    let mapping = |call: &str| {
        let text = format!(
            "{call}resource \"aws_lambda_event_source_mapping\" \"m\" {{\n  event_source_arn = module.orders.queue_arn\n  \
             function_name = \"f\"\n  batch_size = 100\n}}\n"
        );
        let outcome = formatted_outcome(&[("main.tf", &text)]);
        assert!(!outcome.contains("queue module"), "{outcome}");
        let first = |start: &str| outcome.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(first("unread: ").starts_with("unread: 1 × "), "{outcome}");
        first("not evaluated: batch-size-without-window")
            .rsplit_once("m: ")
            .unwrap()
            .1
            .to_owned()
    };
    let with = |argument: &str| CALL.replace("  name", &format!("  {argument}\n  name"));
    let table = [
        (
            with("version = \"6.0.0\""),
            "version `6.0.0` of `terraform-aws-modules/sqs/aws` is not one that is described",
        ),
        (
            with("version = \"4.x\""),
            "`4.x` does not state which versions of `terraform-aws-modules/sqs/aws` it allows",
        ),
        (with("version = var.v"), "its `version` is not a literal"),
        (
            with("dead_letters = true"),
            "the description of `terraform-aws-modules/sqs/aws` has no variable `dead_letters`",
        ),
        (
            CALL.replace("terraform-aws-modules", "acme"),
            "its source is `acme/sqs/aws`",
        ),
        (
            CALL.replace("terraform-aws-modules/sqs/aws", "s3::https://b/m.zip"),
            "its source is `s3::https://b/m.zip`",
        ),
    ];
    for (call, reason) in table {
        assert_eq!(mapping(&call), format!("module `orders` is not read ({reason})"));
    }
}
