//! Checks policies in every dialect, and that they are treated like rules everywhere.

mod documented;
mod errors;
mod fields;

use source::files::Files;
use sqslint::config::{Configs, Source};
use sqslint::diagnostic::Severity;
use sqslint::policy::Policy;
use sqslint::selection::Selection;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome};
use std::path::Path;
use std::sync::Arc;

/// Parses the policies in `text`.
fn policies(text: &str) -> Vec<Arc<Policy>> {
    let source = Source {
        lines: vec![text.to_owned()],
        isolated: true,
        ..Source::default()
    };
    let configs = Configs::new(source, Vec::new(), &Files::default());
    configs
        .for_path(Path::new("/"))
        .unwrap_or_else(|error| panic!("{error}"))
        .policies
        .clone()
}

/// Checks `path` with only `policies`, a TOML text, as configuration.
fn judge(path: &Path, policies: &str, select: &[&str]) -> Outcome {
    let outcome = sqslint::check(&Options {
        paths: vec![path.to_owned()],
        selection: Selection::new(
            select.iter().map(|name| (*name).to_owned()).collect(),
            Vec::new(),
            false,
        ),
        config: Source {
            lines: vec![policies.to_owned()],
            isolated: true,
            ..Source::default()
        },
        ..Options::default()
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    outcome
}

fn judge_files(files: &[(&str, &str)], policies: &str) -> Outcome {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    judge(directory.path(), policies, &["policy"])
}

const KEEPS: &str = r#"
[[policy]]
id = "orders-keep-fourteen-days"
for = "queue"
where = 'queue.name.startsWith("orders")'
require = 'queue.retention >= duration("14d")'
message = "order queues keep messages for 14 days"
"#;

fn headlines(outcome: &Outcome) -> Vec<&str> {
    outcome.findings.iter().map(|found| &*found.headline).collect()
}

#[test]
fn policy_findings_agree_across_dialects() {
    let terraform = r#"
resource "aws_sqs_queue" "orders" {
  name = "orders"
}
resource "aws_sqs_queue" "other" {
  name = "other"
}
"#;
    let template = |transform: &str| {
        format!(
            "{transform}\nResources:\n  Orders:\n    Type: AWS::SQS::Queue\n    Properties: {{QueueName: orders}}\n  \
             Other:\n    Type: AWS::SQS::Queue\n    Properties: {{QueueName: other}}\n"
        )
    };
    let plan = r#"{
      "format_version": "1.2", "terraform_version": "1.9.0",
      "planned_values": {"root_module": {"resources": [
        {"address": "aws_sqs_queue.orders", "mode": "managed", "type": "aws_sqs_queue", "name": "orders",
         "values": {"name": "orders", "message_retention_seconds": 345600}},
        {"address": "aws_sqs_queue.other", "mode": "managed", "type": "aws_sqs_queue", "name": "other",
         "values": {"name": "other", "message_retention_seconds": 345600}}]}},
      "resource_changes": [], "configuration": {"root_module": {}}
    }"#;
    let serverless = format!(
        "service: shop\nprovider: {{name: aws}}\nresources:\n  {}",
        template("").trim_start().replace('\n', "\n  ")
    );
    for (name, text) in [
        ("main.tf", terraform.to_owned()),
        ("template.yaml", template("AWSTemplateFormatVersion: '2010-09-09'")),
        ("template.yaml", template("Transform: AWS::Serverless-2016-10-31")),
        ("plan.json", plan.to_owned()),
        ("serverless.yml", serverless),
    ] {
        let directory = TemporaryDirectory::with_files([(name, text.as_str())]);
        let outcome = judge(&directory.path().join(name), KEEPS, &["policy"]);
        let said: Vec<&str> = outcome.findings.iter().map(|found| found.headline.as_str()).collect();
        assert_eq!(said.len(), 1, "{name}: {said:?}");
        assert!(
            said[0]
                .to_lowercase()
                .contains("orders`: order queues keep messages for 14 days"),
            "{said:?}"
        );
        let places = outcome.findings[0].labels().iter().map(|label| &label.message);
        assert!(places.into_iter().any(|message| message.contains("`orders`")), "{name}");
    }
}

#[test]
fn unresolved_value_is_counted_and_not_reported() {
    let text = "variable \"keep\" {}\nresource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n  \
                message_retention_seconds = var.keep\n}\n";
    let outcome = judge_files(&[("main.tf", text)], KEEPS);
    assert!(outcome.findings.is_empty());
    let [open] = outcome.not_evaluated.as_slice() else {
        panic!("{:?}", outcome.not_evaluated)
    };
    assert_eq!(
        (&*open.rule, open.reason.as_str()),
        ("orders-keep-fourteen-days", "`var.keep` has no value")
    );
}

#[test]
fn policies_share_their_steps_with_those_that_run_only() {
    let queues: String = (0..300)
        .map(|at| format!("resource \"aws_sqs_queue\" \"q{at}\" {{}}\n"))
        .collect();
    let directory = TemporaryDirectory::with_files([("main.tf", queues.as_str())]);
    let policy = |id: &str, require: &str| {
        format!("[[policy]]\nid = \"{id}\"\nfor = \"queue\"\nrequire = '{require}'\nmessage = \"is refused\"\n")
    };
    let trivial: String = (0..250)
        .map(|at| policy(&format!("trivial-{at}"), "queue.fifo"))
        .collect();
    let terms: Vec<String> = (1..20)
        .map(|at| format!("queue.delay == duration(\"{at}s\")"))
        .collect();
    let broad = policy("broad", &terms.join(" || "));
    let outcome = judge(directory.path(), &(trivial + &broad), &["broad"]);
    assert_eq!((outcome.findings.len(), outcome.notes.as_slice()), (300, [].as_slice()));
    // A policy that takes all steps does not keep others from their own.
    let ten = "[1,2,3,4,5,6,7,8,9,10]";
    let costly = policy(
        "costly",
        &format!("{ten}.all(a, {ten}.all(b, {ten}.all(c, {ten}.all(d, a + b + c + d > 0))))"),
    );
    let outcome = judge(
        directory.path(),
        &(costly + &broad + &policy("cheap", "queue.fifo")),
        &["policy"],
    );
    let cheap = outcome.findings.iter().filter(|found| &*found.rule == "cheap");
    assert_eq!(cheap.count(), 300);
    let [of_broad, of_costly] = outcome.notes.as_slice() else {
        panic!("{:?}", outcome.notes)
    };
    assert!(
        of_broad.starts_with("a limit kept the policy `broad` from judging "),
        "{of_broad}"
    );
    assert!(
        of_costly.starts_with("a limit kept the policy `costly` from judging "),
        "{of_costly}"
    );
}

#[test]
fn policy_finding_names_its_condition() {
    let text = "
Parameters: {Stage: {Type: String, AllowedValues: [dev, prod]}}
Conditions: {IsProd: !Equals [!Ref Stage, prod]}
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {QueueName: orders, MessageRetentionPeriod: !If [IsProd, 1209600, 3600]}
";
    let outcome = judge_files(&[("template.yaml", text)], KEEPS);
    let [found] = outcome.findings.as_slice() else {
        panic!("{:?}", outcome.findings)
    };
    assert_eq!(found.when.as_deref(), Some("not IsProd"));
    assert!(
        found
            .labels()
            .iter()
            .any(|label| &*label.message == "`MessageRetentionPeriod` is 3600 s (1 hour)")
    );
}

#[test]
fn environment_is_named_and_available_in_policies() {
    let files = [
        (
            "main.tf",
            "variable \"keep\" { type = number }\nresource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n  \
             message_retention_seconds = var.keep\n}\n",
        ),
        ("env/dev.tfvars", "keep = 3600\n"),
        ("env/prod.tfvars", "keep = 1209600\n"),
    ];
    let outcome = judge_files(&files, KEEPS);
    let [found] = outcome.findings.as_slice() else {
        panic!("{:?}", outcome.findings)
    };
    assert_eq!(found.when.as_deref(), Some("the environment is `dev`"));
    let in_prod = KEEPS.replace("where = 'queue", "where = 'environment == \"prod\" && queue");
    assert!(judge_files(&files, &in_prod).findings.is_empty());
}

#[test]
fn policies_are_found_in_a_large_repository() {
    let others = (0..20_001).map(|at| (format!("src/{at}.txt"), String::new()));
    let policies = ["policies/orders.toml", "a/.b/c/orders.toml"].map(|path| (path.to_owned(), KEEPS.to_owned()));
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n}\n";
    let main = ("infra/main.tf".to_owned(), queue.to_owned());
    let all: Vec<_> = others.chain(policies).chain([main]).collect();
    let directory = TemporaryDirectory::with_files(all.iter().map(|(path, text)| (&**path, &**text)));
    let run = |glob: &str| {
        std::fs::write(
            directory.path().join("sqslint.toml"),
            format!("policies = [\"{glob}\"]\n"),
        )
        .unwrap();
        let options = Options {
            paths: vec![directory.path().to_owned()],
            selection: Selection::new(vec!["orders-keep-fourteen-days".to_owned()], Vec::new(), false),
            ..Options::default()
        };
        let outcome = sqslint::check(&options);
        (outcome.findings.len(), outcome.errors.join(""))
    };
    for glob in [
        "policies/*.toml",
        "./policies/*.toml",
        "policies/orders.toml",
        "policies/[o]rders.toml",
        "a/.b/**/orders.toml",
    ] {
        assert_eq!(run(glob), (1, String::new()), "{glob}");
    }
    let (found, error) = run("**/orders.toml");
    assert_eq!(found, 0);
    assert!(error.contains("more than 20000 files and directories"), "{error}");
    assert!(
        run("policies/none.toml")
            .1
            .contains("no file matches `policies/none.toml`")
    );
}

#[test]
fn policy_is_configured_and_suppressed_like_a_rule() {
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n}\n";
    let suppressed = format!("# sqslint: ignore[orders-keep-fourteen-days] agreed\n{queue}");
    let config = "policies = [\"./policies/*.toml\"]\n[rules.orders-keep-fourteen-days]\nseverity = \"error\"\n[[override]]\n\
                  paths = [\"sandbox/**\"]\nignore = [\"policy\"]\n";
    let directory = TemporaryDirectory::with_files([
        ("sqslint.toml", config),
        ("policies/orders.toml", KEEPS),
        ("plain/main.tf", queue),
        ("agreed/main.tf", &suppressed),
        ("sandbox/main.tf", queue),
    ]);
    let run = |select: &[&str], ignore: &[&str]| {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        sqslint::check(&Options {
            paths: vec![directory.path().to_owned()],
            selection: Selection::new(names(select), names(ignore), false),
            ..Options::default()
        })
    };
    let outcome = run(&["orders-keep-fourteen-days"], &[]);
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let [found] = outcome.findings.as_slice() else {
        panic!("{:?}", outcome.findings)
    };
    assert_eq!(found.severity, Severity::Error);
    assert!(found.subject.unit.ends_with("plain"), "{:?}", found.subject);
    assert_eq!(outcome.suppressed.len(), 1);
    assert!(
        outcome
            .rules
            .by_id("orders-keep-fourteen-days")
            .is_some_and(|rule| rule.page.contains("14d"))
    );
    assert!(run(&["policy"], &["orders-keep-fourteen-days"]).findings.is_empty());
    let errors = run(&["orders-keep-fourten-days"], &[]).errors;
    assert!(
        errors[0].contains("did you mean `orders-keep-fourteen-days`?"),
        "{errors:?}"
    );
}

#[test]
fn rules_command_lists_policies_of_the_named_configuration() {
    let directory = TemporaryDirectory::with_files([
        (
            "own.toml",
            "[[policy]]\nid = \"no-delay\"\nfor = \"queue\"\nforbid = 'queue.delay > duration(\"0s\")'\nmessage = \"delays\"\n",
        ),
        ("main.tf", "resource \"aws_sqs_queue\" \"q\" {}\n"),
    ]);
    let has_it = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sqslint"));
        command.args(arguments).current_dir(directory.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap().contains("no-delay")
    };
    assert!(has_it(&["rules", "--config", "own.toml"]));
    assert!(has_it(&["rules", "--config", "own.toml", "--exclude", "drafts"]));
    assert!(!has_it(&["rules", "--config", "own.toml", "--isolated"]));
    assert!(!has_it(&["rules"]));
}
