//! Snapshots of what is deployed: those of an account that moto imitates, those with other contents than expected, and
//! their comparison with code.

use crate::inputs::repository;
use needs::MOTO_ACCOUNT;
use sqslint::Options;
use sqslint::Outcome;
use sqslint::selection::Selection;
use sqslint::testing::TemporaryDirectory;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPT: &str = "src/cli/snapshot/snapshot.py";
const ORDERS: &str = "fixtures/stacks/orders/cloudformation-yaml/template.yaml";

fn check(path: &Path, deployed: Option<PathBuf>) -> Outcome {
    sqslint::check(&Options {
        paths: vec![path.to_owned()],
        deployed,
        selection: Selection::new(Vec::new(), Vec::new(), true),
        ..Options::default()
    })
}

/// Returns the ids of the rules with findings; those about differences only if `drift` is `true`.
fn rules(outcome: &Outcome, drift: bool) -> Vec<&str> {
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let is_drift = |rule: &str| rule.starts_with("deployed-") || rule.starts_with("declared-");
    let rules = outcome.findings.iter().map(|found| &*found.rule);
    let mut rules: Vec<&str> = rules.filter(|rule| is_drift(rule) == drift).collect();
    rules.sort_unstable();
    rules
}

#[test]
fn deployed_orders_have_the_findings_of_their_template() {
    let Some(python) = MOTO_ACCOUNT.found() else { return };
    let folder = TemporaryDirectory::with_files([("readme", "")]);
    let run = Command::new(python)
        .args([
            repository("tests/it/deployed.py"),
            repository(SCRIPT),
            repository(ORDERS),
        ])
        .arg(folder.path())
        .args(["4"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let (before, after) = (folder.path().join("before.json"), folder.path().join("after.json"));
    let text = std::fs::read_to_string(&before).unwrap();
    assert!(
        text.contains("TOKEN") && !text.contains("hush"),
        "values of environment variables are written"
    );
    assert!(!folder.path().join("before.json.partial").exists());

    let template = check(&repository(ORDERS), None);
    let snapshot = check(&before, None);
    // The template does not have the copies; the addresses of their mappings are random.
    let fulfil = snapshot.graph.mappings().iter().find(|mapping| {
        let function = mapping.function.known().map(|link| link.written().to_owned());
        function.is_some_and(|function| function.ends_with(":fulfil"))
    });
    let fulfil = &*fulfil.unwrap().resource.address;
    let copied = |found: &&sqslint::diagnostic::Diagnostic| {
        let address = &found.subject.address;
        address.contains("copy-") || (address.contains("event-source-mapping") && address != fulfil)
    };
    let of_copies: Vec<&str> = snapshot
        .findings
        .iter()
        .filter(copied)
        .map(|found| &*found.rule)
        .collect();
    let mut own = rules(&snapshot, false);
    for rule in of_copies {
        let at = own.iter().position(|own| *own == rule).unwrap();
        own.remove(at);
    }
    assert_eq!(own, rules(&template, false));
    assert!(
        snapshot.findings.iter().all(|found| found.fix.is_none()),
        "a snapshot is never edited"
    );
    let helps = snapshot.findings.iter().filter_map(|found| found.help.as_deref());
    let command = "aws sqs set-queue-attributes --region eu-west-1 --queue-url \
                   https://sqs.eu-west-1.amazonaws.com/123456789012/orders --attributes VisibilityTimeout=1680";
    assert!(helps.into_iter().any(|help| help.contains(command)));

    let denied = folder.path().join("denied.json");
    let unread = check(&denied, None);
    let names = unread.not_evaluated.iter().map(|unread| &*unread.subject.address);
    let names: BTreeSet<&str> = names
        .filter(|name| name.contains("fulfil") || name.contains("orders"))
        .collect();
    for name in ["/orders-dlq", ":orders#tags", ":role/fulfil"] {
        assert!(names.iter().any(|address| address.ends_with(name)), "{name}: {names:?}");
    }
    assert!(!rules(&check(&repository(ORDERS), Some(denied.clone())), true).contains(&"declared-not-deployed"));
    assert!(!folder.path().join("denied.json.partial").exists());
    #[cfg(unix)]
    for file in [&before, &denied] {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }

    let same = check(&repository(ORDERS), Some(before));
    let drift = check(&repository(ORDERS), Some(after));
    let undeclared = ["deployed-not-declared"; 6];
    assert_eq!(rules(&same, true), undeclared);
    let differs: Vec<&str> = undeclared.into_iter().chain(["deployed-value-differs"]).collect();
    assert_eq!(rules(&drift, true), differs);
}

/// Returns the name of an operation, such as `ListQueues`.
fn operation(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .chain(letters)
            .collect::<String>()
    });
    words.collect()
}

#[test]
fn script_only_reads_and_the_policy_permits_all_that_it_calls() {
    let script = std::fs::read_to_string(repository(SCRIPT)).unwrap();
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = script.split(|c: char| !is_of_name(c));
    let called = words.filter(|word| ["get_", "list_", "describe_"].iter().any(|verb| word.starts_with(verb)));
    assert!(
        script.contains("PageSize"),
        "SQS returns only the first 1,000 queues without a page size"
    );
    // Functions of boto3, and the one call that needs no permission.
    let free = ["get_paginator", "get_caller_identity", "list_"];
    let called: BTreeSet<String> = called.filter(|word| !free.contains(word)).map(operation).collect();
    assert!(called.len() > 15, "{called:?}");
    for verb in [
        "create_", "delete_", "put_", "set_", "update_", "remove_", "send_", "receive_", "purge_",
    ] {
        assert!(!script.contains(&format!(".{verb}")), "the script calls {verb}…");
    }
    let page = std::fs::read_to_string(repository("docs/deployed.md")).unwrap();
    let policy = page
        .split("```json\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let policy: serde_json::Value = serde_json::from_str(policy).unwrap();
    let actions = policy["Statement"][0]["Action"].as_array().unwrap();
    let actions = actions.iter().filter_map(|action| action.as_str()?.split_once(':'));
    let permitted: BTreeSet<String> = actions.map(|(_, action)| action.to_owned()).collect();
    assert_eq!(permitted, called);
}

/// Returns the outcome for a text as `snapshot.json`.
fn outcome(text: &str) -> Outcome {
    let folder = TemporaryDirectory::with_files([("snapshot.json", text)]);
    check(&folder.path().join("snapshot.json"), None)
}

#[test]
fn hostile_snapshots_are_reported_or_skipped() {
    let head = r#""sqslint_snapshot": 1, "account": "1", "time": "now""#;
    let queue = |properties: &str| {
        format!(
            r#"{{{head}, "resources": [{{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:e:1:q", "Properties": {properties}}}]}}"#
        )
    };
    let deep = format!("{{\"QueueName\": {}{}}}", "[".repeat(600), "]".repeat(600));
    for (text, expected) in [
        (format!("{{{head}}}"), None),
        (format!(r#"{{{head}, "resources": 3}}"#), None),
        (format!(r#"{{{head}, "resources": [3, null, {{}}]}}"#), Some("parse-error")),
        (r#"{"sqslint_snapshot": 2, "resources": []}"#.to_owned(), Some("parse-error")),
        (r#"{"sqslint_snapshot": 1, "resources": [}"#.to_owned(), Some("parse-error")),
        (queue("3"), Some("parse-error")),
        (queue(&deep), Some("limit-reached")),
        (queue(r#"{"QueueName": 7, "VisibilityTimeout": "x", "RedrivePolicy": [], "Tags": 1}"#), None),
        (queue("{\"QueueName\": \"\\u001b[31m\\u0000\", \"Fn::If\": [1]}"), None),
        (queue(r#"{"Ref": "arn:aws:sqs:e:1:q"}"#), None),
        (r#"{"TypeName": "AWS::SQS::Queue", "ResourceDescriptions": [{"Identifier": "u", "Properties": "{"}]}"#.to_owned(), Some("parse-error")),
        (r#"{"TypeName": "AWS::SQS::Queue", "ResourceDescriptions": [{"Identifier": "u", "Properties": "{\"QueueUrl\": \"u\"}"}]}"#.to_owned(), None),
    ] {
        let outcome = outcome(&text);
        assert!(outcome.errors.is_empty(), "{text:.200}: {:?}", outcome.errors);
        let raised = outcome.findings.iter().map(|found| &*found.rule);
        let mut raised = raised.filter(|rule| matches!(*rule, "parse-error" | "limit-reached"));
        assert_eq!(raised.next(), expected, "{text:.200}");
    }
}

#[test]
fn command_lines_contain_no_text_that_a_shell_interprets() {
    for id in [
        "arn:aws:sqs:evil.example/:1:q",
        "arn:aws:sqs:--debug:1:q",
        "arn:aws:sqs:e:a/b:q",
        "arn:aws:sqs:e:1:q;reboot",
        "arn:aws:sqs:e:1:$(reboot)",
        "arn:aws:sqs:e:1:`a`",
        "arn:aws:sqs:e:1:q q",
    ] {
        let text = format!(
            r#"{{"sqslint_snapshot": 1, "resources": [
{{"Type": "AWS::SQS::Queue", "Id": "{id}", "Properties": {{"QueueName": "q", "VisibilityTimeout": 1}}}},
{{"Type": "AWS::Lambda::Function", "Id": "arn:aws:lambda:e:1:function:f", "Properties": {{"FunctionName": "f", "Timeout": 9}}}},
{{"Type": "AWS::Lambda::EventSourceMapping", "Id": "arn:aws:lambda:e:1:event-source-mapping:1", "Properties": {{"EventSourceArn": "arn:aws:sqs:e:1:q", "FunctionName": "f"}}}}]}}"#
        );
        let outcome = outcome(&text);
        assert!(!outcome.findings.is_empty());
        let mut helps = outcome.findings.iter().filter_map(|found| found.help.as_deref());
        assert!(!helps.any(|help| help.contains("aws sqs")), "{id}");
    }
}

#[test]
fn cloud_control_describes_the_same_queue() {
    let text = r#"{"TypeName": "AWS::SQS::Queue", "ResourceDescription": {"Identifier": "https://sqs.eu-west-1.amazonaws.com/1/q",
        "Properties": "{\"QueueName\": \"q\", \"Arn\": \"arn:aws:sqs:eu-west-1:1:q\", \"VisibilityTimeout\": 50000}"}}"#;
    let outcome = outcome(text);
    let found: Vec<_> = outcome
        .findings
        .iter()
        .map(|found| (&*found.rule, &*found.subject.address))
        .collect();
    assert!(
        found.contains(&("queue-attribute-out-of-range", "arn:aws:sqs:eu-west-1:1:q")),
        "{found:?}"
    );
}

const DEPLOYED: &str = r#"{"sqslint_snapshot": 1, "account": "1", "time": "2026-11-23T10:00:00Z", "resources": [
{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:eu-west-1:1:orders", "Properties": {"QueueName": "orders", "VisibilityTimeout": 30}}]}"#;

/// Returns the differences that a run over `files` finds, with the file `named`, if any.
fn differences(files: &[(&str, &str)], named: Option<&str>) -> usize {
    let all = files.iter().copied().chain([("snapshot.json", DEPLOYED)]);
    let folder = TemporaryDirectory::with_files(all);
    let paths = std::iter::once(folder.path().join("main.tf")).filter(|path| path.exists());
    let outcome = sqslint::check(&Options {
        paths: paths.chain(named.map(|name| folder.path().join(name))).collect(),
        deployed: Some(folder.path().join("snapshot.json")),
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    outcome
        .findings
        .iter()
        .filter(|found| found.rule == "deployed-value-differs")
        .count()
}

#[test]
fn roles_and_queues_are_linked_by_their_arns() {
    let role = |actions: &str| {
        format!(
            r#"{{"sqslint_snapshot": 1, "resources": [
{{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:e:1:q", "Properties": {{"QueueName": "q", "VisibilityTimeout": 360}}}},
{{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:f:1:q", "Properties": {{"QueueName": "q", "VisibilityTimeout": 1}}}},
{{"Type": "AWS::Lambda::Function", "Id": "arn:aws:lambda:e:1:function:f", "Properties": {{"FunctionName": "f", "Timeout": 60, "Role": "arn:aws:iam::1:role/path/r"}}}},
{{"Type": "AWS::IAM::Role", "Id": "arn:aws:iam::1:role/path/r", "Properties": {{"RoleName": "r", "Policies": [{{"PolicyName": "p", "PolicyDocument": {{"Version": "2012-10-17", "Statement": [{{"Effect": "Allow", "Action": {actions}, "Resource": "arn:aws:sqs:e:1:q"}}]}}}}]}}}},
{{"Type": "AWS::Lambda::EventSourceMapping", "Id": "arn:aws:lambda:e:1:event-source-mapping:1", "Properties": {{"EventSourceArn": "arn:aws:sqs:e:1:q", "FunctionName": "arn:aws:lambda:e:1:function:f:live"}}}}]}}"#
        )
    };
    let reports = |actions: &str| {
        let outcome = outcome(&role(actions));
        assert!(
            outcome.findings.iter().all(|found| found.calls.is_empty()),
            "Regions are not calls"
        );
        assert!(!rules(&outcome, false).contains(&"visibility-timeout-below-function-timeout"));
        rules(&outcome, false).contains(&"function-role-missing-queue-permission")
    };
    assert!(reports(r#"["sqs:ReceiveMessage"]"#));
    assert!(!reports(
        r#"["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]"#
    ));
}

#[test]
fn deployed_queues_that_name_each_other_are_no_cycle() {
    let text = r#"{"sqslint_snapshot": 1, "resources": [
{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:e:1:q", "Properties": {"QueueName": "q", "RedrivePolicy": {"deadLetterTargetArn": "arn:aws:sqs:e:1:d", "maxReceiveCount": 5}}},
{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:e:1:d", "Properties": {"QueueName": "d", "RedriveAllowPolicy": {"redrivePermission": "byQueue", "sourceQueueArns": ["arn:aws:sqs:e:1:q"]}}}]}"#;
    let outcome = outcome(text);
    let found = rules(&outcome, false);
    assert!(
        !found.iter().any(|rule| rule.starts_with("redrive-allow-policy")),
        "{found:?}"
    );
}

#[test]
fn number_of_regions_is_limited() {
    let queues = (0..3000)
        .map(|at| format!(r#"{{"Type": "AWS::SQS::Queue", "Id": "arn:aws:sqs:r{at}:1:q", "Properties": {{}}}}"#));
    let roles = (0..3000)
        .map(|at| format!(r#"{{"Type": "AWS::IAM::Role", "Id": "arn:aws:iam::1:role/{at}", "Properties": {{}}}}"#));
    let all: Vec<String> = queues.chain(roles).collect();
    let outcome = outcome(&format!(
        r#"{{"sqslint_snapshot": 1, "resources": [{}]}}"#,
        all.join(",\n")
    ));
    assert!(rules(&outcome, false).contains(&"limit-reached"));
    assert!(outcome.graph.queues().len() <= 100);
}

/// Returns the findings about existence that a run over `files` has.
fn existence(files: &[(&str, &str)]) -> Vec<String> {
    let all = files.iter().copied().chain([("snapshot.json", DEPLOYED)]);
    let folder = TemporaryDirectory::with_files(all);
    let outcome = check(folder.path(), Some(folder.path().join("snapshot.json")));
    let found = rules(&outcome, true).into_iter().map(str::to_owned);
    found.collect()
}

#[test]
fn existence_is_judged_only_if_all_names_are_known() {
    let queue = |name: &str| {
        format!("variable \"env\" {{\n  default = \"dev\"\n}}\nresource \"aws_sqs_queue\" \"q\" {{\n  {name}\n}}\n")
    };
    let both = ["declared-not-deployed", "deployed-not-declared"];
    assert_eq!(existence(&[("main.tf", &queue("name = \"others\""))]), both);
    assert_eq!(existence(&[("main.tf", &queue("name = \"orders\""))]), [""; 0]);
    // Another environment may have the deployed queue, and this one may be elsewhere.
    assert_eq!(
        existence(&[("main.tf", &queue("name = \"orders-${var.env}\""))]),
        [""; 0]
    );
    assert_eq!(existence(&[("main.tf", &queue(""))]), [""; 0]);
    let call = "module \"more\" {\n  source = \"git::https://example.com/queues.git\"\n}\n";
    let files = [("main.tf", queue("name = \"others\"")), ("more.tf", call.to_owned())];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_eq!(existence(&files), ["declared-not-deployed"]);
}

#[test]
fn state_gives_names_to_one_root_only() {
    let main = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 360\n}\n";
    let state = r#"{"version": 4, "terraform_version": "1.11.0", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
{"mode": "managed", "type": "aws_sqs_queue", "name": "q", "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
 "instances": [{"schema_version": 0, "attributes": {"name": "orders", "visibility_timeout_seconds": 30}}]}]}"#;
    let files = [
        ("a/main.tf", main),
        ("b/main.tf", main),
        ("b/terraform.tfstate", state),
        ("snapshot.json", DEPLOYED),
    ];
    let folder = TemporaryDirectory::with_files(files);
    let differences = |paths: &[&str]| {
        let outcome = sqslint::check(&Options {
            paths: paths.iter().map(|path| folder.path().join(path)).collect(),
            deployed: Some(folder.path().join("snapshot.json")),
            ..Options::default()
        });
        outcome
            .findings
            .iter()
            .filter(|found| found.rule == "deployed-value-differs")
            .count()
    };
    assert_eq!(differences(&["b", "b/terraform.tfstate"]), 1);
    assert_eq!(differences(&["a", "b", "b/terraform.tfstate"]), 0);
}

#[test]
fn plans_and_names_in_states_are_compared() {
    let plan = |seconds: i64| {
        format!(
            r#"{{"format_version": "1.2", "terraform_version": "1.11.0", "planned_values": {{"root_module": {{"resources": [
{{"address": "aws_sqs_queue.q", "mode": "managed", "type": "aws_sqs_queue", "name": "q", "values": {{"name": "orders", "visibility_timeout_seconds": {seconds}}}}}]}}}}}}"#
        )
    };
    assert_eq!(differences(&[("plan.json", &plan(360))], Some("plan.json")), 1);
    assert_eq!(differences(&[("plan.json", &plan(30))], Some("plan.json")), 0);
    let main = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 360\n}\n";
    assert_eq!(differences(&[("main.tf", main)], None), 0);
    let state = r#"{"version": 4, "terraform_version": "1.11.0", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
{"mode": "managed", "type": "aws_sqs_queue", "name": "q", "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
 "instances": [{"schema_version": 0, "attributes": {"name": "orders", "visibility_timeout_seconds": 30}}]}]}"#;
    let files = [("main.tf", main), ("terraform.tfstate", state)];
    assert_eq!(differences(&files, Some("terraform.tfstate")), 1);
}
