//! Tests statements about handlers against what the handlers do: each handler in `tests/handlers/cases` is executed on a batch
//! of three messages of which the second fails, in Python and Node.js, and its outcome is compared with the findings.
//!
//! A section of a data file begins with `#: title · outcome`, and `· silent: cause` follows if there is no statement,
//! `· effect: name` if the handler has a further effect, and `· unstated: name` if no finding states that effect.
//! The outcome is that of the second message:
//!
//! - `retried`: the handler fails, and the whole batch returns to the queue
//! - `partly retried`: the response names the message
//! - `deleted`: the handler returns normally and does not name it
//! - `unread`: the handler returns normally and used another message only
//! - `batch retried`: Lambda does not accept the response
//!
//! Effects are:
//!
//! - `rest unnamed`: the response omits the third message, which is not processed
//! - `rest skipped`: the third message is not processed if the second is of another kind
//! - `feeds own queue`, `polls own queue`: the handler sends to the queue that invokes it, or receives from it instead of
//!   reading its event
//! - `fails on a malformed body`: the handler fails if the second body is no JSON, although it reports failures
//! - `starts again`: a message that is delivered again starts another execution or job

use crate::inputs::{check, entries, name, repository};
use sqslint::testing::TemporaryDirectory;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

/// A handler of the test data.
struct Section {
    title: String,
    outcome: String,
    /// Reason that there is no statement about it.
    silent: Option<String>,
    effects: Vec<String>,
    unstated: Vec<String>,
    text: String,
    ending: String,
}

/// Effects other than the outcome.
const EFFECTS: [&str; 6] = [
    "fails on a malformed body",
    "feeds own queue",
    "polls own queue",
    "starts again",
    "rest unnamed",
    "rest skipped",
];

/// Imports of a handler that contains the word.
const IMPORTS: [(&str, &str, &str); 19] = [
    ("py", "asyncio", "import asyncio"),
    ("py", "boto3", "import boto3, os"),
    ("py", "suppress", "import contextlib\nfrom contextlib import suppress"),
    ("py", "delete_from_queue", "from elsewhere import delete_from_queue"),
    ("py", "json.", "import json"),
    ("py", "sys.", "import sys"),
    ("py", "logger", "import logging\nlogger = logging.getLogger()"),
    (
        "py",
        "Pool",
        "from concurrent.futures import ThreadPoolExecutor, as_completed",
    ),
    (
        "py",
        "Processor",
        "from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, batch_processor, process_partial_response",
    ),
    (
        "py",
        "",
        "from elsewhere import charge, grouped, instrument, is_fatal, park, queue, ship, ship_later, summarize, tell, watched",
    ),
    (
        "js",
        "",
        "const { ship, park, tell, isFatal, instrument, eachOf, logging, read } = require(\"./elsewhere\");",
    ),
    ("js", "middy", "const middy = require(\"@middy/core\");"),
    (
        "js",
        "sqsPartial",
        "const sqsPartialBatchFailure = require(\"@middy/sqs-partial-batch-failure\");",
    ),
    (
        "js",
        "Processor",
        "const { BatchProcessor, EventType, processPartialResponse } = require(\"@aws-lambda-powertools/batch\");",
    ),
    (
        "js",
        "SendMessage",
        "const { SendMessageBatchCommand, SendMessageCommand, SQSClient } = require(\"@aws-sdk/client-sqs\");",
    ),
    (
        "js",
        "StartExecution",
        "const { StartExecutionCommand, SFNClient } = require(\"@aws-sdk/client-sfn\");",
    ),
    (
        "js",
        "SubmitJob",
        "const { SubmitJobCommand, BatchClient } = require(\"@aws-sdk/client-batch\");",
    ),
    ("js", "AWS.", "const AWS = require(\"aws-sdk\");"),
    (
        "js",
        "DeleteMessage",
        "const { DeleteMessageCommand, SQSClient } = require(\"@aws-sdk/client-sqs\");\nconst client = new SQSClient();",
    ),
];

/// Statement that a handler reads a key that records lack, whatever becomes of its messages.
const UNKNOWN_KEY: &str = "unknown key";

fn sections() -> Vec<Section> {
    let mut all = Vec::new();
    for path in entries(&repository("tests/handlers/cases")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let ending = name(&path).rsplit('.').next().unwrap().to_owned();
        let mark = if ending == "py" { "\n#: " } else { "\n//: " };
        let text = format!("\n{text}");
        for section in text.split(mark).skip(1) {
            let (head, body) = section.split_once('\n').unwrap();
            let mut parts = head.split(" · ");
            let mut header = String::new();
            for (language, word, line) in IMPORTS {
                if language == ending && body.contains(word) {
                    header += &format!("{line}\n");
                }
            }
            if ending == "ts" {
                "import { ship } from \"./elsewhere\";\n".clone_into(&mut header);
            }
            let title = format!("{}: {}", name(&path), parts.next().unwrap());
            let outcome = parts.next().unwrap().to_owned();
            let more: Vec<(&str, &str)> = parts.map(|part| part.split_once(": ").unwrap()).collect();
            let all_of = |key: &str| {
                let found = more.iter().filter(|(name, _)| *name == key);
                found.map(|(_, value)| (*value).to_owned()).collect::<Vec<_>>()
            };
            all.push(Section {
                title,
                outcome,
                silent: all_of("silent").pop(),
                effects: all_of("effect"),
                unstated: all_of("unstated"),
                text: header + body,
                ending: ending.clone(),
            });
        }
    }
    all
}

/// Returns a template with a function for each handler, whose mapping has `settings`.
fn template(sections: &[Section], settings: &str) -> String {
    let mut text = "Transform: AWS::Serverless-2016-10-31\nResources:\n  Other: {Type: AWS::SQS::Queue}\n".to_owned();
    for (number, section) in sections.iter().enumerate() {
        let runtime = if section.ending == "py" {
            "python3.13"
        } else {
            "nodejs22.x"
        };
        write!(
            text,
            "  Q{number}: {{Type: AWS::SQS::Queue}}\n  F{number}:\n    Type: AWS::Serverless::Function\n    Properties:\n      \
             CodeUri: h{number}/\n      Handler: app.handler\n      Runtime: {runtime}\n      Environment: {{Variables: \
             {{OWN: !Ref Q{number}, OTHER: !Ref Other}}}}\n      Events: {{E{number}: {{Type: \
             SQS, Properties: {{Queue: !GetAtt Q{number}.Arn{settings}}}}}}}\n"
        )
        .unwrap();
    }
    text
}

/// Returns the outcomes that the findings state, by the number of the handler.
fn statements(directory: &TemporaryDirectory, sections: &[Section]) -> BTreeMap<usize, Vec<&'static str>> {
    let mut all: BTreeMap<usize, Vec<&'static str>> = BTreeMap::new();
    for settings in ["", ", FunctionResponseTypes: [ReportBatchItemFailures]"] {
        std::fs::write(directory.path().join("template.yaml"), template(sections, settings)).unwrap();
        for finding in check(directory.path()).findings {
            let text = &finding.headline;
            let stated = match finding.rule.as_str() {
                "handler-swallows-failures" => "deleted",
                "batch-item-failures-ignored" => "partly retried",
                "handler-reads-first-record-only" => "unread",
                "batch-item-failures-malformed" if text.ends_with("deletes them as processed") => "deleted",
                "batch-item-failures-malformed" => "batch retried",
                "record-key-unknown" => UNKNOWN_KEY,
                "batch-item-failures-incomplete" => "rest unnamed",
                "handler-skips-remaining-records" => "rest skipped",
                "body-parsed-outside-try" => "fails on a malformed body",
                "function-feeds-own-queue" => "feeds own queue",
                "handler-polls-own-queue" => "polls own queue",
                "execution-not-idempotent" => "starts again",
                "batch-item-failures-unreported" if text.starts_with("one failed message") => "retried",
                "batch-item-failures-never-returned" if text.contains("still makes Lambda retry its whole batch") => {
                    "retried"
                }
                _ => continue,
            };
            let number = text.split(['`', ' ', '\'']).find_map(|word| {
                let digits = word.strip_prefix(['F', 'Q', 'E'])?;
                let digits = digits.split(|c: char| !c.is_ascii_digit()).next()?;
                digits.parse::<usize>().ok()
            });
            let number = number.unwrap_or_else(|| panic!("no handler in {text}"));
            let stated_of = all.entry(number).or_default();
            if !stated_of.contains(&stated) {
                stated_of.push(stated);
            }
        }
    }
    all
}

/// Executes handlers; returns the outcomes, or `None` without the interpreter.
fn executed(program: &str, runner: &str, files: &[String]) -> Option<BTreeMap<String, String>> {
    let output = Command::new(program)
        .arg(repository(runner))
        .args(files)
        .output()
        .ok()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let pairs = lines.lines().filter_map(|line| line.split_once('\t'));
    Some(
        pairs
            .map(|(path, outcome)| (path.to_owned(), outcome.to_owned()))
            .collect(),
    )
}

fn sources(directory: &TemporaryDirectory, sections: &[Section], endings: &[&str]) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    for (number, section) in sections.iter().enumerate() {
        if endings.contains(&&*section.ending) {
            let path = directory.path().join(format!("h{number}/app.{}", section.ending));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &section.text).unwrap();
            all.push((number, path.to_str().unwrap().to_owned()));
        }
    }
    all
}

/// Returns the handlers whose outcome is not as recorded.
fn differences(program: &str, runner: &str, endings: &[&str]) -> Vec<String> {
    let sections = sections();
    let directory = TemporaryDirectory::with_files([]);
    let files = sources(&directory, &sections, endings);
    let paths: Vec<String> = files.iter().map(|(_, path)| path.clone()).collect();
    let Some(outcomes) = executed(program, runner, &paths) else {
        println!("skipped: {program} is not installed");
        return Vec::new();
    };
    let differs = files.iter().filter(|(number, path)| {
        let section = &sections[*number];
        let effects = [&section.effects[..], &section.unstated].concat().join(", ");
        // Lambda rejects the response; the interpreter only shows its form.
        outcomes.get(path) != Some(&format!("{}\t{effects}", section.outcome))
    });
    differs
        .map(|(number, path)| format!("{}: {:?}", sections[*number].title, outcomes.get(path)))
        .collect()
}

#[test]
fn handlers_in_python_do_what_the_data_say() {
    assert_eq!(
        differences("python3", "tests/handlers/run.py", &["py"]),
        Vec::<String>::new()
    );
}

#[test]
fn handlers_in_node_do_what_the_data_say() {
    assert_eq!(
        differences("node", "tests/handlers/run.js", &["js", "ts"]),
        Vec::<String>::new()
    );
}

#[test]
fn statements_about_handlers_are_true() {
    let sections = sections();
    assert!(sections.len() >= 250, "{}", sections.len());
    let directory = TemporaryDirectory::with_files([]);
    sources(&directory, &sections, &["py", "js", "ts"]);
    let statements = statements(&directory, &sections);
    let (mut wrong, mut silent) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for (number, section) in sections.iter().enumerate() {
        let stated = statements.get(&number).cloned().unwrap_or_default();
        let (effects, stated): (Vec<_>, Vec<_>) = stated.into_iter().partition(|one| EFFECTS.contains(one));
        if effects != section.effects {
            wrong.push(format!("{}: {effects:?}", section.title));
        }
        let is_true = |one: &&str| match (*one, &*section.outcome) {
            // A response in the wrong form or with other messages is still a response.
            ("partly retried", "batch retried") => true,
            ("partly retried", "deleted") => section.text.contains("itemIdentifier"),
            // Statements about the one message that is used.
            ("retried" | "deleted", "unread") | (UNKNOWN_KEY, _) => true,
            (stated, outcome) => stated == outcome,
        };
        let is_expected = match &section.silent {
            Some(cause) => {
                *silent.entry(cause).or_default() += 1;
                if cause == UNKNOWN_KEY {
                    stated.contains(&UNKNOWN_KEY)
                } else {
                    stated.is_empty()
                }
            }
            None => stated.contains(&&*section.outcome),
        };
        if !is_expected || !stated.iter().all(is_true) {
            wrong.push(format!("{} ({}): {stated:?}", section.title, section.outcome));
        }
    }
    println!("silent: {silent:#?}");
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        sections.len(),
        wrong.join("\n")
    );
}
