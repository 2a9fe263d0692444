//! Tests statements on queues, modules and sources, in each dialect.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::rules;
use crate::testing::{TemporaryDirectory, run_files};
use crate::{Options, Outcome};

/// References to `arn:aws:sqs:eu-west-1:111122223333:orders`, which no file declares, by a function of 60 s.
const UNITS: [(&str, &str); 4] = [
    (
        "main.tf",
        r#"
resource "aws_lambda_function" "f" {
  function_name = "f"
  timeout       = 60
}
resource "aws_lambda_event_source_mapping" "m" {
  event_source_arn = "arn:aws:sqs:eu-west-1:111122223333:orders"
  function_name    = aws_lambda_function.f.arn
}
"#,
    ),
    (
        "template.yaml",
        "
AWSTemplateFormatVersion: '2010-09-09'
Resources:
  F: {Type: AWS::Lambda::Function, Properties: {Timeout: 60}}
  M:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !Sub arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:orders
      FunctionName: !Ref F
",
    ),
    (
        "template.yaml",
        "
Transform: AWS::Serverless-2016-10-31
Resources:
  F:
    Type: AWS::Serverless::Function
    Properties:
      Timeout: 60
      Events: {E: {Type: SQS, Properties: {Queue: !Sub 'arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:orders'}}}
",
    ),
    (
        "serverless.yml",
        "
service: s
provider: {name: aws, region: eu-west-1}
functions:
  f:
    handler: f.handler
    timeout: 60
    events: [{sqs: {arn: 'arn:aws:sqs:eu-west-1:111122223333:orders'}}]
",
    ),
];

fn run(rule: &str, files: &[(&str, &str)]) -> Outcome {
    run_files(rules::by_id(rule).unwrap(), files)
}

/// Returns the number of unjudged mappings.
fn gaps(outcome: &Outcome) -> usize {
    outcome.coverage.gaps.iter().filter(|gap| gap.is_mapping).count()
}

#[test]
fn stated_queue_is_judged() {
    for (name, text) in UNITS {
        let judge = |entry: &str| {
            let config = format!("[[external]]\n{entry}\nreason = \"owned by others\"\n");
            run(
                "visibility-timeout-below-function-timeout",
                &[(name, text), ("sqslint.toml", &config)],
            )
        };
        assert_eq!(gaps(&run("visibility-timeout-zero", &[(name, text)])), 1, "{name}");
        for (entry, found) in [
            ("queue = \"orders\"\nvisibility-timeout = \"59s\"", 1),
            ("queue = \"orders\"\nvisibility-timeout = \"60s\"", 0),
            ("queue = \"ord*\"\nvisibility-timeout = \"30s\"", 1),
            ("queue = \"orders\"", 0),
        ] {
            let outcome = judge(entry);
            assert!(
                outcome.errors.is_empty() && outcome.unmatched.is_empty(),
                "{name} {entry}: {:?}",
                outcome.errors
            );
            assert_eq!((outcome.findings.len(), gaps(&outcome)), (found, 0), "{name} {entry}");
            assert_eq!(
                (outcome.coverage.queues, outcome.not_evaluated.len()),
                (0, 0),
                "{name} {entry}"
            );
            for one in &outcome.findings {
                let file = outcome.sources.file(one.primary().span.file);
                assert!(file.path().ends_with(name) && one.remedy.is_none(), "{name} {entry}");
            }
        }
        let outcome = judge("queue = \"invoices\"\nvisibility-timeout = \"30s\"");
        assert_eq!((gaps(&outcome), outcome.unmatched.len()), (1, 1), "{name}");
    }
}

#[test]
fn statement_on_a_declared_queue_is_reported() {
    let declared = "resource \"aws_sqs_queue\" \"q\" {\n  name = \"orders\"\n}\n";
    let config = "[[external]]\nqueue = \"orders\"\nreason = \"owned by others\"\n";
    let outcome = run(
        "visibility-timeout-zero",
        &[("main.tf", declared), ("sqslint.toml", config)],
    );
    assert!(
        outcome.unmatched[0].contains("a file declares the queue `orders`"),
        "{:?}",
        outcome.unmatched
    );
}

#[test]
fn nothing_is_reported_for_the_owners_of_a_queue_alone() {
    let (name, text) = UNITS[0];
    let config = "[[external]]\nqueue = \"orders\"\nvisibility-timeout = \"6h\"\nretention = \"60s\"\ndead-letter = true\nreason = \"x\"\n";
    for rule in rules::RULES.iter().filter(|rule| rule.check.is_some()) {
        let outcome = run_files(rule, &[(name, text), ("sqslint.toml", config)]);
        for found in &outcome.findings {
            let file = outcome.sources.file(found.primary().span.file);
            assert!(file.path().ends_with(name), "{}: {}", rule.id, found.headline);
        }
    }
}

#[test]
fn module_is_acknowledged_or_read() {
    let call = "module \"q\" {\n  source = \"git::https://example.com/modules.git//queue?ref=v1\"\n}\n\
                resource \"aws_lambda_event_source_mapping\" \"m\" {\n  event_source_arn = module.q.arn\n  function_name = \"f\"\n}\n";
    let module = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\noutput \"arn\" {\n  value = aws_sqs_queue.q.arn\n}\n";
    for (config, address, unread, unjudged) in [
        ("", "aws_sqs_queue.q", 1, 1),
        (
            "[[external]]\nmodule = \"git::https://example.com/*\"\nreason = \"of the platform team\"\n",
            "aws_sqs_queue.q",
            0,
            0,
        ),
        (
            "[[external]]\nmodule = \"git::https://example.com/*\"\npath = \"local\"\n",
            "module.q.aws_sqs_queue.q",
            0,
            1,
        ),
        (
            "[[external]]\nmodule = \"git::https://example.org/*\"\nreason = \"of the platform team\"\n",
            "aws_sqs_queue.q",
            1,
            1,
        ),
    ] {
        let files = [("main.tf", call), ("local/main.tf", module), ("sqslint.toml", config)];
        let outcome = run("visibility-timeout-zero", &files);
        let units = outcome.graph.units().iter();
        let unread_modules: usize = units.map(|unit| unit.unread_modules.len()).sum();
        let addresses: Vec<&str> = outcome.findings.iter().map(|found| &*found.subject.address).collect();
        assert_eq!(
            (&*addresses, unread_modules, gaps(&outcome)),
            (&[address][..], unread, unjudged),
            "{config}"
        );
        assert_eq!(outcome.unmatched.len(), usize::from(config.contains("org")), "{config}");
    }
}

#[test]
fn source_of_a_function_is_stated() {
    let handler = "def run(event, context):\n    return None\n";
    for (name, text) in UNITS {
        let text = match name {
            "main.tf" => text.replace(
                "timeout       = 60",
                "timeout = 60\n  handler = \"dist.run\"\n  runtime = \"python3.13\"",
            ),
            "serverless.yml" => text.replace("f.handler", "dist.run"),
            _ => text
                .replace("Timeout: 60", "Timeout: 60, Handler: dist.run, Runtime: python3.13")
                .replace(
                    "      Timeout: 60, Handler: dist.run, Runtime: python3.13\n",
                    "      Timeout: 60\n      Handler: dist.run\n      Runtime: python3.13\n",
                ),
        };
        for (source, read, counted) in [
            ("path = \"services/orders.py\"", 1, 1),
            ("path = \"services/nowhere.py\"", 0, 1),
            ("elsewhere = true\nreason = \"in another repository\"", 0, 0),
        ] {
            let config = format!("[[source]]\nfunction = \"*\"\n{source}\n");
            let files = [
                (name, &*text),
                ("services/orders.py", handler),
                ("sqslint.toml", &*config),
            ];
            let outcome = run("batch-item-failures-ignored", &files);
            assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
            let counts = (outcome.coverage.read_handlers(), outcome.coverage.handlers.len());
            assert_eq!(
                counts,
                (read, counted),
                "{name} {source}: {:?}",
                outcome.coverage.handlers
            );
        }
    }
}

#[test]
fn incomplete_statement_is_an_error() {
    for (entry, message) in [
        ("[[external]]\nqueue = \"q\"\n", "a reason is missing"),
        ("[[external]]\nqueue = \"q\"\nreason = \" \"\n", "a reason is missing"),
        ("[[external]]\nreason = \"x\"\n", "name either"),
        (
            "[[external]]\nqueue = \"q\"\nmodule = \"m\"\nreason = \"x\"\n",
            "name either",
        ),
        (
            "[[external]]\nqueue = \"q\"\npath = \"p\"\nreason = \"x\"\n",
            "`path` is for a module",
        ),
        (
            "[[external]]\nmodule = \"m\"\nfifo = true\nreason = \"x\"\n",
            "no attributes of a queue",
        ),
        (
            "[[external]]\nqueue = \"q\"\nretention = \"4\"\nreason = \"x\"\n",
            "not a duration",
        ),
        (
            "[[external]]\nqueue = \"q\"\ndead-letter = 3\nreason = \"x\"\n",
            "write `true`, `false`",
        ),
        ("[[source]]\nfunction = \"f\"\n", "set either `path`"),
        (
            "[[source]]\nfunction = \"f\"\nelsewhere = true\n",
            "a reason is missing",
        ),
        (
            "[[source]]\nfunction = \"f\"\npath = \"a.py\"\nelsewhere = true\nreason = \"x\"\n",
            "set either `path`",
        ),
    ] {
        let files = TemporaryDirectory::with_files([UNITS[0], ("sqslint.toml", entry)]);
        let outcome = crate::check(&Options {
            paths: vec![files.path().to_owned()],
            ..Options::default()
        });
        assert!(
            outcome.errors.iter().any(|error| error.contains(message)),
            "{entry}: {:?}",
            outcome.errors
        );
    }
}
