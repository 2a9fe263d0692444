//! Checks the facts that `sqslint explain` collects about a location; its output is tested by the transcripts.

use crate::inputs::{check_files, repository};
use sqslint::Options;
use sqslint::explain::{Conclusion, ExplainedLocation, Explanation, explain, explain_outcome};
use sqslint::rules::{RULES, Verdict};
use sqslint::testing::TemporaryDirectory;
use std::path::Path;

fn at(path: &Path, line: usize, column: Option<usize>) -> Explanation {
    let path = path.canonicalize().unwrap();
    let options = Options {
        paths: vec![path.clone()],
        ..Options::default()
    };
    let asked = ExplainedLocation {
        file: &path,
        line,
        column,
    };
    explain(&options, asked)
}

fn addresses(explained: &Explanation) -> Vec<String> {
    explained.resources().into_iter().map(|told| told.address).collect()
}

const QUEUES: &str = r#"
resource "aws_sqs_queue" "orders" {
  # Slow work.
  visibility_timeout_seconds = 400

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 5
  })
}

resource "aws_sqs_queue" "dead" {
  message_retention_seconds = local.long
}

locals {
  # Two weeks.
  long = 1209600
}
"#;

#[test]
fn line_is_explained_by_its_value_or_its_block() {
    let directory = TemporaryDirectory::with_files([("main.tf", QUEUES)]);
    let file = directory.path().join("main.tf");
    let orders = ["aws_sqs_queue.orders"];
    let dead = ["aws_sqs_queue.dead"];
    let cases: &[(usize, &[&str], usize)] = &[
        (1, &[], 0),
        (2, &orders, 9),
        (3, &orders, 9),
        (4, &orders, 1),
        (5, &orders, 9),
        (8, &orders, 1),
        (9, &orders, 9),
        (10, &orders, 9),
        (11, &[], 0),
        (13, &dead, 2),
        (16, &dead, 1),
        (17, &dead, 1),
        (18, &dead, 1),
        (20, &[], 0),
        (99, &[], 0),
    ];
    for (line, expected, lines) in cases {
        let explained = at(&file, *line, None);
        assert_eq!(addresses(&explained), *expected, "line {line}");
        let told: usize = explained.resources().iter().map(|told| told.lines.len()).sum();
        assert_eq!(told, *lines, "line {line}: {:?}", explained.resources());
    }
    let nearest = at(&file, 11, None);
    let nearest: Vec<&str> = nearest.nearest().iter().map(|(address, _)| &**address).collect();
    assert_eq!(nearest, ["aws_sqs_queue.orders", "aws_sqs_queue.dead"]);
}

#[test]
fn rules_without_a_finding_are_in_catalogue_order() {
    let directory = TemporaryDirectory::with_files([("main.tf", QUEUES)]);
    let explained = at(&directory.path().join("main.tf"), 2, None);
    let places = |id: &str| RULES.iter().position(|rule| rule.id == id);
    let conclusions = explained.conclusions();
    let rules = conclusions
        .iter()
        .filter(|one| !matches!(one.all.first(), Some(Conclusion::Found(_))));
    let rules: Vec<_> = rules.map(|one| places(one.rule.id)).collect();
    assert!(rules.is_sorted_by(|one, next| one < next), "{rules:?}");
    assert!(rules.len() > 5);
}

#[test]
fn unresolved_value_is_the_reason_of_an_unjudged_rule() {
    let text = r#"
variable "age" {}
resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = 30
  message_retention_seconds  = var.age
}
resource "aws_lambda_function" "worker" { timeout = 5 }
resource "aws_lambda_event_source_mapping" "worker" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;
    let directory = TemporaryDirectory::with_files([("main.tf", text)]);
    let explained = at(&directory.path().join("main.tf"), 4, None);
    let conclusions = explained.conclusions();
    let of = |id: &str| conclusions.iter().find(|one| one.rule.id == id).unwrap();
    let [Conclusion::Judged(judged)] = of("visibility-timeout-exceeds-retention").all.as_slice() else {
        panic!("{conclusions:?}");
    };
    let Verdict::NotEvaluated { reason, .. } = &judged.verdict else {
        panic!("{judged:?}");
    };
    assert_eq!(reason, "`var.age` has no value");
}

/// Any line and column must be accepted.
#[test]
fn every_location_can_be_explained() {
    let stacks = repository("fixtures/stacks/orders");
    for name in [
        "terraform/queues.tf",
        "sam/template.yaml",
        "cloudformation-json/template.json",
    ] {
        let file = stacks.join(name);
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        let mut explained = at(&file, 1, None);
        let file = file.canonicalize().unwrap();
        for line in 0..=lines + 1 {
            for column in [None, Some(0), Some(1), Some(7), Some(usize::MAX)] {
                let asked = ExplainedLocation {
                    file: &file,
                    line,
                    column,
                };
                explained = explain_outcome(explained.outcome, asked);
                assert_eq!(explained.lines(), Some(lines));
                let _ = (explained.resources(), explained.conclusions());
            }
        }
    }
}

#[test]
fn unjudged_rule_points_to_the_unresolved_part() {
    const NAMES: &str = r#"
variable "project" {
  default = "orders"
}
variable "stage" {}
locals {
  prefix = "${var.project}-${var.stage}"
}
resource "aws_sqs_queue" "local" {
  name = "queue-${local.prefix}"
}
resource "aws_sqs_queue" "direct" {
  name = "${var.project}-${var.stage}"
}
"#;
    let outcome = check_files([("main.tf", NAMES)]);
    let open = outcome.not_evaluated.iter();
    let open = open.filter(|entry| entry.rule == "fifo-queue-name-suffix");
    let lines: Vec<(String, u32)> = open
        .map(|entry| {
            let start = outcome
                .sources
                .file(entry.span.file)
                .position(entry.span.start as usize);
            (entry.subject.address.clone(), start.line)
        })
        .collect();
    let expected = [("aws_sqs_queue.direct", 13), ("aws_sqs_queue.local", 7)];
    assert_eq!(lines, expected.map(|(address, line)| (address.to_owned(), line)));
}

#[test]
fn origins_of_a_null_value_are_listed() {
    let text = "variable \"redrives\" {\n  default = false\n}\nresource \"aws_sqs_queue\" \"orders\" {\n  redrive_policy = \
                var.redrives ? \"{}\" : null\n}\n";
    let directory = TemporaryDirectory::with_files([("main.tf", text)]);
    let explained = at(&directory.path().join("main.tf"), 5, None);
    let told = explained.resources();
    let line = &told[0].lines[0];
    assert_eq!(line.text, "redrive_policy = none (the default, as null is written)");
    let origins: Vec<&str> = line.origins.iter().map(|(what, _)| &**what).collect();
    assert_eq!(
        origins,
        ["`var.redrives`, which is false", "the default of `var.redrives`"]
    );
}

/// Returns the verdicts of `rule` at the first line of the first file that contains `text`.
fn verdicts(files: &[(&str, &str)], text: &str, rule: &str) -> Vec<Verdict> {
    let directory = TemporaryDirectory::with_files([]);
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let (name, content) = files[0];
    let line = content.lines().position(|line| line.contains(text)).unwrap() + 1;
    let explained = at(&directory.path().join(name), line, None);
    let conclusions = explained.conclusions();
    let of_rule = conclusions.iter().filter(|concluded| concluded.rule.id == rule);
    let all = of_rule.flat_map(|concluded| &concluded.all);
    let judged = all.filter_map(|conclusion| match conclusion {
        Conclusion::Judged(judged) => Some(judged.verdict.clone()),
        _ => None,
    });
    judged.collect()
}

fn is_not_evaluated(verdicts: &[Verdict], why: &str) -> bool {
    matches!(verdicts, [Verdict::NotEvaluated { reason, .. }] if reason.starts_with(why))
}

#[test]
fn rules_on_an_unread_source_are_not_evaluated() {
    let template = "Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {Type: AWS::SQS::Queue}\n  F:\n    \
                    Type: AWS::Serverless::Function\n    Properties:\n      CodeUri: src/\n      \
                    Handler: App::handle\n      Events:\n        E:\n          Type: SQS\n          \
                    Properties: {Queue: !GetAtt Q.Arn}\n";
    let java = "class App {\n  void handle(SQSEvent event) {}\n}\n";
    let only_type = "only the type of a handler in Java, C# or Go is read";
    let missing = "source not found (looked for `";
    for line in ["F:", "E:"] {
        for (file, why) in [("src/App.java", only_type), ("src/Other.java", missing)] {
            let files = [("template.yaml", template), (file, java)];
            for rule in ["handler-swallows-failures", "idempotency-without-deadline"] {
                let verdicts = verdicts(&files, line, rule);
                assert!(is_not_evaluated(&verdicts, why), "{line} {file} {rule}: {verdicts:?}");
            }
        }
    }
    let python = "def handler(event, context):\n    for record in event['Records']:\n        work(record)\n";
    let template = template.replace("App::handle", "app.handler");
    let verdicts = verdicts(
        &[("template.yaml", &*template), ("src/app.py", python)],
        "F:",
        "handler-swallows-failures",
    );
    assert!(matches!(verdicts.as_slice(), [Verdict::Holds(_)]), "{verdicts:?}");
}

#[test]
fn handler_that_may_swallow_a_failure_is_not_evaluated() {
    let template = "Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {Type: AWS::SQS::Queue}\n  F:\n    \
                    Type: AWS::Serverless::Function\n    Properties: {CodeUri: src/, Handler: app.handler, Events: {E: \
                    {Type: SQS, Properties: {Queue: !GetAtt Q.Arn}}}}\n";
    let python = "def handler(event, context):\n    for record in event['Records']:\n        try:\n            \
                  work(record)\n        except Exception as error:\n            if is_fatal(error):\n                raise\n";
    let files = [("template.yaml", template), ("src/app.py", python)];
    let verdicts = verdicts(&files, "F:", "handler-swallows-failures");
    assert!(
        is_not_evaluated(&verdicts, "what becomes of a message that fails"),
        "{verdicts:?}"
    );
}

#[test]
fn role_with_a_possible_denial_is_not_evaluated() {
    let module = |(denied, condition): (&str, &str)| {
        format!(
            "provider \"aws\" {{}}\nresource \"aws_sqs_queue\" \"q\" {{}}\nresource \"aws_iam_role\" \"r\" {{\n  \
             name = \"r\"\n}}\nresource \"aws_iam_role_policy\" \"p\" {{\n  role = aws_iam_role.r.id\n  \
             policy = jsonencode({{ Statement = [\n    {{ Effect = \"Allow\", Action = \"sqs:*\", Resource = \"*\" }},\n    \
             {{ Effect = \"Deny\", Action = \"{denied}\", Resource = \"*\"{condition} }},\n  ] }})\n}}\n\
             resource \"aws_lambda_function\" \"f\" {{\n  role = aws_iam_role.r.arn\n}}\n\
             resource \"aws_lambda_event_source_mapping\" \"m\" {{\n  event_source_arn = aws_sqs_queue.q.arn\n  \
             function_name = aws_lambda_function.f.arn\n}}\n"
        )
    };
    let of = |denied: (&str, &str)| {
        let text = module(denied);
        let role = "role = aws_iam_role.r.arn";
        verdicts(&[("main.tf", &*text)], role, "function-role-missing-queue-permission")
    };
    let over_http = ", Condition = { Bool = { \"aws:SecureTransport\" = \"false\" } }";
    let denied = of(("sqs:DeleteMessage", over_http));
    let why = "a statement may deny it, under a condition or in a part that is not known";
    assert!(is_not_evaluated(&denied, why), "{denied:?}");
    let other = of(("sqs:PurgeQueue", ""));
    assert!(matches!(other.as_slice(), [Verdict::Holds(_)]), "{other:?}");
}

#[test]
fn rules_with_the_worst_findings_are_first() {
    let template = repository("fixtures/stacks/neighbours/cloudformation/template.yaml");
    let lines = std::fs::read_to_string(&template).unwrap();
    let line = lines.lines().position(|line| line.trim() == "Reads:").unwrap() + 1;
    let explained = at(&template, line, None);
    let conclusions = explained.conclusions();
    let severities = conclusions.iter().filter_map(|concluded| match concluded.all.first() {
        Some(Conclusion::Found(found)) => Some(found.severity),
        _ => None,
    });
    let severities: Vec<_> = severities.collect();
    assert!(severities.first() > severities.last(), "{severities:?}");
    assert!(severities.is_sorted_by(|first, next| first >= next), "{severities:?}");
}

/// Lines of resources without values in the graph, and of files that cannot be parsed.
#[test]
fn every_line_with_a_finding_is_explained() {
    let policy = "resource \"aws_sqs_queue\" \"q\" {}\nresource \"aws_sqs_queue_policy\" \"p\" {\n  queue_url = aws_sqs_queue.q.url\n  \
                  policy = jsonencode({ Statement = [{ Effect = \"Allow\", Principal = \"*\", Action = \"sqs:SendMessage\" }] })\n}\n";
    let template = "Transform: AWS::Serverless-2016-10-31\nResources:\n  Q: {Type: AWS::SQS::Queue}\n  P:\n    \
                    Type: AWS::SQS::QueuePolicy\n    Properties:\n      Queues: [!Ref Q]\n      PolicyDocument:\n        \
                    Statement:\n          - {Effect: Allow, Principal: '*', Action: 'sqs:SendMessage'}\n";
    let service = "service: s\nprovider:\n  name: aws\n  iam: {role: {statements: []}}\nresources:\n  Resources:\n    \
                   Q: {Type: AWS::SQS::Queue}\n    P:\n      Type: AWS::SQS::QueuePolicy\n      Properties:\n        \
                   Queues: [!Ref Q]\n        PolicyDocument:\n          \
                   Statement: [{Effect: Allow, Principal: '*', Action: 'sqs:SendMessage'}]\n";
    for (name, text, rule) in [
        ("main.tf", policy, "queue-policy-source-unscoped"),
        ("template.yaml", template, "queue-policy-source-unscoped"),
        ("serverless.yml", service, "queue-policy-source-unscoped"),
        ("main.tf", "resource \"aws_sqs_queue\" {\n", "parse-error"),
        (
            "template.yaml",
            "AWSTemplateFormatVersion: \"2010-09-09\n",
            "parse-error",
        ),
    ] {
        let directory = TemporaryDirectory::with_files([(name, text)]);
        let outcome = crate::inputs::check(directory.path());
        let found = outcome.findings.iter().find(|found| *found.rule == *rule).unwrap();
        let start = outcome.sources.start(found.primary().span);
        let (line, column) = (start.line as usize, start.column as usize);
        for column in [None, Some(column)] {
            let explained = at(&directory.path().join(name), line, column);
            let conclusions = explained.conclusions();
            let is_named = conclusions.iter().any(|one| one.rule.id == rule && !one.all.is_empty());
            assert!(is_named, "{name}:{line}:{column:?}: {rule}");
            let page = explained.text("here", false);
            assert!(page.contains(rule) && !page.contains("nothing here"), "{page}");
        }
    }
}
