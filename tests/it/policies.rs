//! Checks policies: the documented ones, in every dialect, on real projects, and treated like rules everywhere.

mod fields;

use crate::inputs::{directories, repository};
use needs::{PROJECTS, REGOPY};
use source::files::Files;
use sqslint::config::{Configs, Source, packs};
use sqslint::diagnostic::Severity;
use sqslint::policy::Policy;
use sqslint::selection::Selection;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome, try_policy};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Returns the code blocks of `docs/policies.md` with tested `[[policy]]` tables; the first one introduces the format.
fn documented() -> Vec<String> {
    let page = std::fs::read_to_string(repository("docs/policies.md")).unwrap();
    let fences = page.split("```toml\n").skip(1);
    let fences = fences.map(|fence| fence.split("\n```\n").next().unwrap_or_default().to_owned());
    fences.filter(|fence| fence.contains("[[policy.tests]]")).collect()
}

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

#[test]
fn documented_policies_pass_their_tests() {
    let documented = documented();
    assert_eq!(documented.len(), 10);
    for text in &documented {
        for policy in policies(text) {
            let trials = try_policy(&policy).unwrap();
            for trial in &trials {
                assert!(trial.is_as_expected(), "{}: {trial:?}", policy.rule().id);
            }
            let fires = trials.iter().any(|trial| !trial.findings.is_empty());
            let is_silent = trials.iter().any(|trial| trial.findings.is_empty());
            assert!(fires && is_silent, "{}", policy.rule().id);
        }
    }
}

#[test]
fn packs_are_the_documented_policies() {
    let packs: Vec<_> = packs::all().collect();
    let names: Vec<&str> = packs.iter().map(|pack| pack.name).collect();
    let expected = [
        "ownership",
        "naming",
        "encryption",
        "access",
        "retention",
        "consumers",
        "alarms",
        "retries",
    ];
    assert_eq!(names, expected);
    for pack in packs {
        let own = pack.policies().unwrap();
        assert!(!own.is_empty(), "{}", pack.name);
        for policy in own {
            for trial in try_policy(&policy).unwrap() {
                assert!(trial.is_as_expected(), "{}: {trial:?}", pack.name);
            }
        }
    }
    let ids = |text: &str| -> Vec<String> {
        policies(text)
            .iter()
            .map(|policy| policy.rule().id.to_owned())
            .collect()
    };
    assert_eq!(
        ids("packs = ['encryption', 'ownership']"),
        ["queue-has-its-own-key", "queue-has-an-owner"]
    );
    // A policy with the same id replaces that of the pack.
    let text = "packs = ['ownership']\npolicy = [{id = 'queue-has-an-owner', for = 'queue', require = 'queue.fifo', message = 'm'}]";
    assert_eq!(policies(text)[0].definition().message, "m");
    assert_eq!(policies(text).len(), 1);
    let refused = Configs::new(
        Source {
            lines: vec!["packs = ['encrypton']".to_owned()],
            isolated: true,
            ..Source::default()
        },
        Vec::new(),
        &Files::default(),
    );
    let message = refused.for_path(Path::new("/")).unwrap_err().message;
    assert_eq!(message, "unknown pack `encrypton`; did you mean `encryption`?");
}

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
            .any(|label| label.message == "`MessageRetentionPeriod` is 3600 s (1 hour)")
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

/// Returns the error for a configuration with the content `text`.
fn refusal(text: &str) -> String {
    let directory = TemporaryDirectory::with_files([("sqslint.toml", text), ("main.tf", "")]);
    let outcome = sqslint::check(&Options {
        paths: vec![directory.path().to_owned()],
        ..Options::default()
    });
    let [error] = outcome.errors.as_slice() else {
        panic!("{:?}", outcome.errors)
    };
    error
        .split_once("sqslint.toml:")
        .map_or(error.clone(), |(_, rest)| rest.lines().next().unwrap_or("").to_owned())
}

#[test]
fn unknown_name_is_underlined_at_its_key() {
    let text = "# [rules.tpyo]\nignore = []\n[rules.tpyo]\nseverity = \"eror\"\n";
    let said = refusal(text);
    assert!(said.starts_with("3:8: "), "{said}");
}

#[test]
fn policy_file_replaces_the_policy_of_a_pack() {
    let policy =
        "[[policy]]\nid = \"queue-has-an-owner\"\nfor = \"queue\"\nrequire = \"true\"\nmessage = \"is refused\"\n";
    let check = |files: &[(&str, &str)]| {
        let directory = TemporaryDirectory::with_files(files.iter().copied());
        let outcome = sqslint::check(&Options {
            paths: vec![directory.path().to_owned()],
            ..Options::default()
        });
        let own = outcome
            .findings
            .iter()
            .filter(|found| &*found.rule == "queue-has-an-owner");
        (own.count(), outcome.errors)
    };
    let queue = ("main.tf", "resource \"aws_sqs_queue\" \"q\" {}\n");
    let config = "packs = [\"ownership\"]\n";
    assert_eq!(check(&[queue, ("sqslint.toml", config)]), (1, Vec::new()));
    let with_files = format!("{config}policies = [\"rules/*.toml\"]\n");
    let config = ("sqslint.toml", with_files.as_str());
    assert_eq!(check(&[queue, config, ("rules/own.toml", policy)]), (0, Vec::new()));
    let (_, errors) = check(&[queue, config, ("rules/a.toml", policy), ("rules/own.toml", policy)]);
    let [error] = errors.as_slice() else {
        panic!("{errors:?}")
    };
    assert!(
        error.contains("there are two policies called `queue-has-an-owner`"),
        "{error}"
    );
}

#[test]
fn typo_in_a_policy_is_reported_with_its_span() {
    for (from, to, expected) in [
        (
            "queue.retention",
            "queue.retenton",
            "6:18: a queue has no field `retenton`; did you mean `retention`?",
        ),
        (
            "'queue.name",
            "'que.name",
            "5:10: unknown name `que`; did you mean `queue`?",
        ),
        (
            "duration(\"14d\")",
            "14",
            "6:12: a duration cannot be compared with a whole number; write durations as `duration(\"14d\")`, `duration(\"90s\")`",
        ),
        (
            "for = \"queue\"",
            "for = \"queu\"",
            "4:7: unknown value `queu`; did you mean `queue`?",
        ),
        (
            "require",
            "requires",
            "6:1: unknown key `requires`; did you mean `require`?",
        ),
        (
            "orders-keep-fourteen-days",
            "fifo-queue-false",
            "3:6: `fifo-queue-false` is already the name of a rule, a category or a set",
        ),
        (
            "orders-keep-fourteen-days",
            "Orders",
            "3:6: an id is in kebab-case, as in `orders-keep-fourteen-days`, of 64 characters at most",
        ),
        (
            "message = \"order queues keep messages for 14 days\"",
            "message = \"\"",
            "7:11: say what is wrong where the policy is not met",
        ),
    ] {
        assert_eq!(refusal(&KEEPS.replace(from, to)), expected, "{to}");
    }
    assert_eq!(
        refusal(&format!("ignore = [\"orders-keep-fourten-days\"]{KEEPS}")),
        "1:11: unknown rule `orders-keep-fourten-days`; did you mean `orders-keep-fourteen-days`?"
    );
    assert!(refusal("policies = [\"policies/*.toml\"]").ends_with("no file matches `policies/*.toml`"));
    for outside in ["../policies/*.toml", "a/../../policies.toml", "/etc/policies/*.toml"] {
        assert_eq!(
            refusal(&format!("policies = [\"{outside}\"]")),
            "1:13: policies lie below the directory of this file; `extend` takes over those of a configuration elsewhere"
        );
    }
    let hostile = KEEPS.replace("queue.retention >=", &("(".repeat(1_000) + "queue.retention >="));
    assert!(refusal(&hostile).contains("nests 32 levels deep at most"));
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

/// Three built-in rules, each with an equivalent policy.
const SAME: [(&str, &str, &str); 3] = [
    (
        "max-receive-count-too-low",
        "own-max-receive-count",
        r#"
        for = "queue"
        where = 'queue.max_receive_count >= 1 && queue.max_receive_count <= 1000'
        require = 'queue.max_receive_count >= 2'
        "#,
    ),
    (
        "queue-delay-exceeds-retention",
        "own-delay",
        r#"
        for = "queue"
        where = '''
        queue.delay >= duration("0s") && queue.delay <= duration("900s")
          && queue.retention >= duration("60s") && queue.retention <= duration("14d")
        '''
        require = 'queue.delay < queue.retention'
        "#,
    ),
    (
        "reserved-concurrency-zero",
        "own-concurrency",
        r#"
        for = "function"
        where = 'function.reserved_concurrency <= 0'
        forbid = 'function.mappings.exists(mapping, mapping.enabled)'
        "#,
    ),
];

#[test]
fn rules_rewritten_as_policies_have_the_same_findings() {
    let text: String = SAME
        .iter()
        .map(|(_, id, text)| format!("[[policy]]\nid = \"{id}\"\nmessage = \"is wrong\"\n{text}\n"))
        .collect();
    let select: Vec<&str> = SAME.iter().flat_map(|(ours, own, _)| [*ours, *own]).collect();
    let found = |outcome: &Outcome, id: &str| -> BTreeSet<(String, String, Option<String>)> {
        let all = outcome.findings.iter().filter(|found| found.rule == id);
        all.map(|found| {
            (
                found.subject.unit.clone(),
                found.subject.address.clone(),
                found.when.clone(),
            )
        })
        .collect()
    };
    let compare = |path: &Path| {
        let outcome = judge(path, &text, &select);
        let each = SAME.iter().map(|(ours, own, _)| {
            let (ours, own) = (found(&outcome, ours), found(&outcome, own));
            assert_eq!(ours, own, "{}", path.display());
            ours.len()
        });
        each.sum::<usize>()
    };
    let small = TemporaryDirectory::with_files([(
        "main.tf",
        r#"
variable "open" {}
resource "aws_sqs_queue" "failed" { delay_seconds = var.open }
resource "aws_sqs_queue" "low" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 1 })
}
resource "aws_sqs_queue" "right" {
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 2 })
}
resource "aws_sqs_queue" "late" {
  delay_seconds             = 60
  message_retention_seconds = 60
}
resource "aws_lambda_function" "off" {
  function_name                  = "off"
  reserved_concurrent_executions = 0
}
resource "aws_lambda_event_source_mapping" "off" {
  event_source_arn = aws_sqs_queue.right.arn
  function_name    = aws_lambda_function.off.arn
}
"#,
    )]);
    assert_eq!(compare(small.path()), 3);
    let Some(shared) = PROJECTS.found() else { return };
    let all: usize = directories(&shared.join("corpus/dev"))
        .iter()
        .map(|project| compare(project))
        .sum();
    assert!(all > 0, "the projects have some");
}

/// Prints the findings of the ten policies in real projects, for review with `--nocapture`.
#[test]
fn documented_policies_run_on_real_projects() {
    let Some(shared) = PROJECTS.found() else { return };
    let text = documented().join("\n");
    let ids: Vec<String> = policies(&text)
        .iter()
        .map(|policy| policy.rule().id.to_owned())
        .collect();
    let started = Instant::now();
    let mut counts = vec![(0, 0); ids.len()];
    for project in directories(&shared.join("corpus/dev")) {
        let outcome = judge(&project, &text, &["policy"]);
        for (count, id) in counts.iter_mut().zip(&ids) {
            count.0 += outcome
                .findings
                .iter()
                .filter(|found| found.rule == id.as_str())
                .count();
            count.1 += outcome
                .not_evaluated
                .iter()
                .filter(|open| open.rule == id.as_str())
                .count();
        }
        for found in &outcome.findings {
            assert!(!found.labels().is_empty() && found.help.is_some());
            println!(
                "{} {} {:?}",
                found.rule,
                found.headline,
                found.labels().iter().map(|l| &l.message).collect::<Vec<_>>()
            );
        }
    }
    println!(
        "{:?} {:?}",
        ids.iter().zip(counts).collect::<Vec<_>>(),
        started.elapsed()
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

/// Python program that reads `{"module": …, "input": …}` and prints the messages that the module denies with.
const DENIED: &str = r#"
import json, sys, regopy
asked = json.load(sys.stdin)
rego = regopy.Interpreter()
rego.add_module("policy", asked["module"])
rego.set_input(asked["input"])
print(rego.query("denied = [each | some each in data.main.deny]"))
"#;

#[test]
fn documented_rego_module_denies_the_expected_queues() {
    let Some(python) = REGOPY.found() else { return };
    let page = std::fs::read_to_string(repository("docs/policies.md")).unwrap();
    let module = page.split("```rego\n").nth(1).unwrap().split("```").next().unwrap();
    let directory = TemporaryDirectory::with_files([(
        "main.tf",
        r#"
variable "keep" {}
variable "more" {}
resource "aws_sqs_queue" "short" {
  name = "orders-short"
  tags = { owner = "shop" }
}
resource "aws_sqs_queue" "long" {
  name                      = "orders-long"
  message_retention_seconds = 1209600
}
resource "aws_sqs_queue" "open" {
  name                      = "orders-open"
  message_retention_seconds = var.keep
  tags                      = var.more
}
"#,
    )]);
    let mut graph = std::process::Command::new(env!("CARGO_BIN_EXE_sqslint"));
    graph
        .args(["graph", ".", "--format", "json"])
        .current_dir(directory.path());
    let graph: serde_json::Value = serde_json::from_slice(&graph.output().unwrap().stdout).unwrap();
    let asked = serde_json::json!({ "module": module, "input": graph }).to_string();
    let mut child = std::process::Command::new(python)
        .args(["-c", DENIED])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), asked.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let denied = answer["bindings"]["denied"].as_array().unwrap().iter();
    let denied: BTreeSet<&str> = denied.filter_map(|message| message.as_str()).collect();
    let expected = [
        "aws_sqs_queue.short keeps messages for 345600 s",
        "aws_sqs_queue.long has no owner",
    ];
    assert_eq!(denied, expected.into());
}
