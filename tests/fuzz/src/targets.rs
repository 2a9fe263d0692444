//! Bodies of the fuzz targets. For any bytes, a body must return without a panic, and its output must be well-formed.

use super::seeds::{self, Seed};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use sqs_model::traffic::Traffic;
use sqs_model::{Consumer, QueueSettings, RedriveTarget, Share, Work};
use sqslint::diagnostic::{Safety, Severity};
use sqslint::policy::{Definition, Demand, Policy, Target as Of};
use sqslint::published::Published;
use sqslint::report::graph::Marks;
use sqslint::report::graph::topology::{Extent, topologies};
use sqslint::report::{
    Report, Units, checkstyle, concise, github, gitlab, graph, html, human, json as report_json, json_lines, junit,
    markdown, sarif, statistics, summary,
};
use sqslint::suppress::Day;
use sqslint::testing::{TemporaryDirectory, written};
use sqslint::{Options, Outcome, add_ignores, check, config, fix};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Fuzz target.
pub(crate) struct Target {
    /// Name of the target.
    pub(crate) name: &'static str,
    /// Body, which runs one input.
    pub(crate) run: fn(&[u8]),
    /// Initial inputs.
    pub(crate) seeds: fn() -> Vec<Seed>,
}

/// All targets, each with a file in `fuzz_targets/`.
pub(crate) const TARGETS: [Target; 13] = [
    target("terraform", terraform, seeds::terraform),
    target(
        "terraform_expression",
        terraform_expression,
        seeds::terraform_expressions,
    ),
    target("yaml", yaml, seeds::yaml),
    target("json", |data| judge("template.json", data), seeds::json),
    target("plan", |data| judge("plan.json", data), seeds::plans),
    target("configuration", configuration, seeds::configurations),
    target("policy", policy, seeds::policies),
    target("suppressions", suppressions, seeds::suppressions),
    target("source", source, seeds::sources),
    target("variables", variables, seeds::variables),
    target("traffic", traffic, seeds::traffic),
    target("server", server, seeds::sessions),
    target("check", whole, seeds::trees),
];

const fn target(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Seed>) -> Target {
    Target { name, run, seeds }
}

/// Queue with a finding, a function, and their mapping.
const MODULE: &str = r#"variable "open" {}
variable "stage" { default = "dev" }
resource "aws_sqs_queue" "orders" {
  name                       = "${var.stage}-orders"
  visibility_timeout_seconds = 0
  delay_seconds              = var.open
  tags                       = { owner = "shop" }
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.failed.arn, maxReceiveCount = 5 })
}
resource "aws_sqs_queue" "failed" {}
resource "aws_lambda_function" "worker" {
  function_name = "worker"
  timeout       = 30
}
resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn = aws_sqs_queue.orders.arn
  function_name    = aws_lambda_function.worker.arn
}
"#;

const TEMPLATE: &str = "Transform: AWS::Serverless-2016-10-31
Resources:
  Orders:
    Type: AWS::SQS::Queue
    Properties: {VisibilityTimeout: 0}
  Worker:
    Type: AWS::Serverless::Function
    Properties: {Timeout: 30, Events: {Orders: {Type: SQS, Properties: {Queue: !GetAtt Orders.Arn}}}}
";

/// Creates a directory with these files.
fn directory(files: &[(&str, &[u8])]) -> TemporaryDirectory {
    let directory = TemporaryDirectory::with_files([]);
    for (name, bytes) in files {
        put(directory.path(), Path::new(name), bytes);
    }
    directory
}

/// Writes a file, unless its path is blocked.
fn put(directory: &Path, name: &Path, bytes: &[u8]) {
    let path = directory.join(name);
    let parent = path.parent().unwrap_or(directory);
    if std::fs::create_dir_all(parent).is_ok() {
        let _ = std::fs::write(path, bytes);
    }
}

fn options(path: PathBuf) -> Options {
    Options {
        paths: vec![path],
        today: Day::parse("2026-09-01"),
        trace: true,
        ..Options::default()
    }
}

/// Checks, draws and fixes.
fn check_and_fix(options: &Options) -> Outcome {
    let outcome = check(options);
    written(|out| graph::json::write(&outcome.graph, &outcome.sources, out));
    fix(options, Safety::Unsafe).diff();
    outcome
}

fn judge(name: &str, data: &[u8]) {
    let directory = directory(&[(name, data)]);
    check_and_fix(&options(directory.path().join(name)));
}

fn terraform(data: &[u8]) {
    let directory = directory(&[("main.tf", data)]);
    check_and_fix(&options(directory.path().to_owned()));
}

/// Runs an expression as the value of a local that many attributes use.
fn terraform_expression(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let text = format!(
        "variable \"list\" {{ default = [\"a\", \"b\", 3] }}
variable \"map\" {{ default = {{ a = 1, b = [2] }} }}
variable \"open\" {{}}
locals {{
  value = {text}
}}
resource \"aws_sqs_queue\" \"q\" {{
  name                       = \"q-${{local.value}}\"
  visibility_timeout_seconds = local.value
  redrive_policy             = jsonencode({{ maxReceiveCount = local.value, deadLetterTargetArn = aws_sqs_queue.all[\"a\"].arn }})
}}
resource \"aws_sqs_queue\" \"all\" {{
  for_each      = local.value
  name          = each.key
  delay_seconds = each.value
}}
"
    );
    terraform(text.as_bytes());
}

fn yaml(data: &[u8]) {
    let is_service = data.starts_with(b"service:") || data.windows(9).any(|part| part == b"\nservice:");
    judge(if is_service { "serverless.yml" } else { "template.yaml" }, data);
}

fn configuration(data: &[u8]) {
    let files = [("main.tf", MODULE), ("t/template.yaml", TEMPLATE)].map(|(name, text)| (name, text.as_bytes()));
    let directory = directory(&[files[0], files[1], ("sqslint.toml", data)]);
    check_and_fix(&options(directory.path().to_owned()));
}

/// Runs an expression as a policy for every kind of node.
fn policy(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A JSON string is also a TOML string.
    let quoted = Value::from(text).to_string().replace('\u{7f}', "\\u007F");
    let mut lines = Vec::new();
    for of in Of::ALL {
        let id = format!("fuzzed-{}", of.name().replace('_', "-"));
        let definition = Definition {
            id: id.clone(),
            target: of,
            selects: None,
            demand: Demand::Require(text.to_owned()),
            message: "{{address}}".to_owned(),
            severity: Severity::Warning,
            help: None,
            references: Vec::new(),
            examples: Vec::new(),
        };
        if let Err(fault) = Policy::new(definition) {
            assert!(text.get(fault.at.clone()).is_some(), "{:?} {}", fault.at, fault.message);
            continue;
        }
        lines.push(format!(
            "{{id = \"{id}\", for = \"{}\", require = {quoted}, message = \"m\"}}",
            of.name()
        ));
    }
    if lines.is_empty() {
        return;
    }
    let directory = directory(&[("main.tf", MODULE.as_bytes())]);
    let outcome = check(&Options {
        config: config::Source {
            lines: vec![format!("policy = [{}]", lines.join(", "))],
            isolated: true,
            ..config::Source::default()
        },
        ..options(directory.path().to_owned())
    });
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
}

/// Runs a text after `sqslint:` in comments of both kinds and as metadata, then as the reason of new suppressions.
fn suppressions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let said: Vec<&str> = text.lines().collect();
    let comments: String = said.iter().map(|line| format!("# sqslint:{line}\n")).collect();
    let first = said.first().copied().unwrap_or_default();
    let module = MODULE.replace("= 0\n", &format!("= 0 // sqslint:{first}\n"));
    let module = format!("{comments}{module}/* sqslint:{text} */\n");
    let quoted = Value::from(&*text).to_string();
    let metadata = format!(
        "    Metadata: {{sqslint: {{ignore: [{quoted}, {{rule: {quoted}, until: {quoted}, reason: {quoted}}}]}}}}\n    Properties: {{VisibilityTimeout"
    );
    let template = format!(
        "{comments}{}",
        TEMPLATE.replacen("    Properties: {VisibilityTimeout", &metadata, 1)
    );
    let directory = directory(&[("main.tf", module.as_bytes()), ("t/template.yaml", template.as_bytes())]);
    let options = options(directory.path().to_owned());
    let outcome = check_and_fix(&options);
    add_ignores(&options, &outcome, &text);
    check(&options);
}

/// Runs a text as the source of functions in each language, with the names that it seems to define as handlers.
fn source(data: &[u8]) {
    /// Maximum number of functions.
    const FUNCTIONS: usize = 3;
    let text = String::from_utf8_lossy(data);
    let words: Vec<&str> = text
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .collect();
    let is_defined = |pair: &&[&str]| matches!(pair, ["def" | "function" | "const" | "exports" | "func", _]);
    let names = words.windows(2).filter(is_defined).map(|pair| pair[1]);
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).take(FUNCTIONS).collect();
    let names = if names.is_empty() {
        BTreeSet::from(["handler"])
    } else {
        names
    };
    for (file, runtime) in [
        ("app.py", "python3.13"),
        ("app.mjs", "nodejs22.x"),
        ("app.ts", "nodejs22.x"),
        ("main.go", "provided.al2023"),
        ("App.java", "java21"),
    ] {
        let mut template =
            "Transform: AWS::Serverless-2016-10-31\nResources:\n  Orders: {Type: AWS::SQS::Queue}\n".to_owned();
        for (at, name) in names.iter().enumerate() {
            template += &format!(
                "  F{at}:\n    Type: AWS::Serverless::Function\n    Properties: {{Handler: app.{name}, Runtime: {runtime}, \
                 CodeUri: ., Events: {{E: {{Type: SQS, Properties: {{Queue: !GetAtt Orders.Arn}}}}}}}}\n"
            );
        }
        let directory = directory(&[("template.yaml", template.as_bytes()), (file, data)]);
        check(&options(directory.path().to_owned()));
    }
}

/// Runs a text as several values of a service of the Serverless Framework, one of which other values refer to.
fn variables(data: &[u8]) {
    let quoted = Value::from(String::from_utf8_lossy(data)).to_string();
    let service = format!(
        "service: s
custom:
  value: {quoted}
  again: ${{self:custom.value, 30}}
provider: {{name: aws, timeout: \"${{self:custom.again}}\", stage: \"${{opt:stage, self:custom.value}}\"}}
functions:
  work:
    handler: app.handler
    timeout: {quoted}
    events: [{{sqs: {{arn: !GetAtt Orders.Arn, batchSize: {quoted}}}}}]
resources:
  Resources:
    Orders: {{Type: AWS::SQS::Queue, Properties: {{QueueName: {quoted}, VisibilityTimeout: \"${{self:custom.again}}\"}}}}
"
    );
    judge("serverless.yml", service.as_bytes());
}

/// Simulates a week of a queue with the numbers in a text, each within the limits of AWS and of the command line.
fn traffic(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    let numbers: Vec<u64> = numbers.collect();
    let number = |at: usize, most: u64| numbers.get(at).map_or(0, |number| number % (most + 1));
    let small = |at: usize, most: u32| u32::try_from(number(at, most.into())).unwrap_or(most);
    let share = |at: usize| Share(small(at, Share::ALL.0));
    let is_function = number(3, 1) == 1;
    let mut consumer = if is_function {
        Consumer::function(1_000 * (1 + number(4, 899)))
    } else {
        Consumer::workers(1 + small(4, 50))
    };
    consumer.batch = if is_function { 1 + small(5, 9_999) } else { 1 };
    consumer.window = 1_000 * number(6, 300);
    consumer.partial_responses = number(7, 1) == 1;
    let dead_letter = (number(8, 1) == 1).then(|| RedriveTarget {
        max_receives: 1 + small(9, 999),
        retention: 1_000 * (60 + number(10, 1_209_540)),
    });
    let week = Traffic {
        queue: QueueSettings {
            visibility: 1_000 * number(0, 43_200),
            retention: 1_000 * (60 + number(1, 1_209_540)),
            delay: 1_000 * number(2, 900),
            fifo: number(11, 1) == 1,
            dead_letter,
        },
        consumer,
        work: Work::spread(
            number(12, 900_000),
            number(13, 900_000),
            number(14, 86_400_000),
            share(15),
        ),
        failing: share(16),
        crashing: share(17),
        poison: share(18),
        messages: number(19, 2_000),
        groups: 1 + small(20, 99),
        crash_after: number(21, 900_000),
    };
    week.weeks(2, number(22, 99), &|| ());
    week.slow_message();
    week.crash().timeline();
    week.poison_message().timeline();
}

/// Root folder in messages, replaced by the real one.
pub(crate) const ROOT: &str = "file:///root";
/// Maximum time to wait for a response, generous for a busy machine.
const LONG: Duration = Duration::from_mins(1);

/// Runs an editor session with one message per line. Every request must have exactly one response.
fn server(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let directory = directory(&[("main.tf", MODULE.as_bytes()), ("t/template.yaml", TEMPLATE.as_bytes())]);
    let root = format!("file://{}", directory.path().display());
    let text = text.replace(ROOT, &root);
    let (editor, theirs) = Connection::memory();
    let serving = std::thread::spawn(move || sqslint::server::serve(theirs));
    let mut asked: Vec<(RequestId, String)> = Vec::new();
    let mut say = |message: &Value| {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let params = message["params"].clone();
        if message.get("id").is_none() {
            let _ = editor.sender.send(Notification::new(method, params).into());
            return;
        }
        let id = RequestId::from(i32::try_from(asked.len()).unwrap_or(0));
        asked.push((id.clone(), method.clone()));
        let _ = editor.sender.send(Request::new(id, method, params).into());
    };
    let begin = json!({"workspaceFolders": [{"uri": root, "name": "root"}], "capabilities": {}});
    say(&json!({"id": 0, "method": "initialize", "params": begin}));
    say(&json!({"method": "initialized", "params": {}}));
    for line in text.lines() {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        if message["method"].as_str().is_some_and(|method| method != "exit") {
            say(&message);
        }
    }
    while !asked.is_empty() {
        match editor.receiver.recv_timeout(LONG) {
            Ok(Message::Response(response)) => {
                let at = asked.iter().position(|(id, _)| *id == response.id);
                asked.swap_remove(at.expect("each response has one request"));
            }
            Ok(_) => {}
            Err(error) => panic!("{asked:?} is not answered: {error}"),
        }
    }
    let shutdown = Request::new(RequestId::from(-1), "shutdown".to_owned(), Value::Null);
    let _ = editor.sender.send(shutdown.into());
    let _ = editor
        .sender
        .send(Notification::new("exit".to_owned(), Value::Null).into());
    let served = serving.join().expect("it does not panic");
    assert_eq!(served, Ok(true));
}

/// Prefix of a file name in a packed text.
const FILE: &str = "-- ";

/// Packs several files into one text, each after a line with its name.
pub(crate) fn packed(files: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let mut packed = Vec::new();
    for (name, bytes) in files {
        packed.extend(format!("{FILE}{}\n", name.display()).bytes());
        packed.extend(bytes);
        if !bytes.ends_with(b"\n") {
            packed.push(b'\n');
        }
    }
    packed
}

/// Unpacks the files; names that lead out of the directory are skipped.
fn unpacked(data: &[u8]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        let name = line.strip_prefix(FILE.as_bytes());
        if let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok()) {
            files.push((PathBuf::from(name.trim()), Vec::new()));
        } else if let Some((_, bytes)) = files.last_mut() {
            bytes.extend(line);
        }
    }
    let is_within = |name: &PathBuf| name.components().all(|part| matches!(part, Component::Normal(_)));
    files.retain(|(name, _)| is_within(name) && !name.to_string_lossy().contains('\0'));
    files.truncate(16);
    files
}

/// Runs a small tree: checks, fixes, draws, and reports in every format.
fn whole(data: &[u8]) {
    let directory = TemporaryDirectory::with_files([]);
    for (name, bytes) in unpacked(data) {
        put(directory.path(), &name, &bytes);
    }
    let options = options(directory.path().to_owned());
    let outcome = check_and_fix(&options);
    tell(&outcome);
    let topologies = topologies(&outcome.graph, &Marks::new(&outcome.findings), Extent::Queues);
    written(|out| graph::drawing::write_mermaid(&topologies, out));
    written(|out| graph::drawing::write_dot(&topologies, out));
    let drawn = written(|out| graph::svg::write(&topologies, out));
    assert!(
        drawn.is_empty() || roxmltree::Document::parse(&drawn).is_ok(),
        "{drawn}"
    );
    let text = written(|out| graph::text::write(&outcome.graph, &outcome.sources, &Marks::new(&outcome.findings), out));
    assert_harmless(&text);
}

fn tell(outcome: &Outcome) {
    let units = Units::default();
    let suppressed = outcome.suppressed_and_known();
    let report = &Report {
        sources: &outcome.sources,
        findings: &outcome.findings,
        suppressed: &suppressed,
        show_suppressed: true,
        not_evaluated: &outcome.not_evaluated,
        coverage: &outcome.coverage,
        errors: &outcome.errors,
        rules: &outcome.rules,
        units: &units,
        review: None,
        published: Published::HERE,
    };
    for (width, graphics) in [(100, true), (40, false)] {
        let style = human::Style {
            width,
            color: false,
            unicode: graphics,
            graphics,
            links: false,
            infos: true,
        };
        assert_harmless(&written(|out| human::write(report, style, out)));
    }
    assert_harmless(&written(|out| concise::write(report, false, out)));
    assert_harmless(&statistics::render(report));
    assert_harmless(&written(|out| summary::write_not_evaluated(report, out)));
    assert_harmless(&written(|out| github::write(report, out)));
    assert_harmless(&github::step_summary(report));
    for text in [
        written(|out| report_json::write(report, out)),
        written(|out| sarif::write(report, out)),
        written(|out| gitlab::write(report, out)),
        written(|out| graph::json::write(&outcome.graph, &outcome.sources, out)),
    ] {
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    }
    let origin = html::Origin {
        repository: None,
        commit: None,
    };
    let lines = written(|out| json_lines::write(report, &origin, out));
    assert!(
        serde_json::Deserializer::from_str(&lines)
            .into_iter::<Value>()
            .all(|value| value.is_ok()),
        "{lines}"
    );
    for text in [
        written(|out| junit::write(report, out)),
        written(|out| checkstyle::write(report, out)),
    ] {
        assert!(roxmltree::Document::parse(&text).is_ok(), "{text}");
    }
    let drawings = topologies(&outcome.graph, &Marks::new(report.findings), Extent::Queues);
    assert_harmless(&written(|out| markdown::write(report, &drawings, out)));
    written(|out| html::write(report, &drawings, &origin, out));
}

/// Requires that a text contains no control characters and no changes of writing direction.
fn assert_harmless(text: &str) {
    let is_obeyed = |letter: char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t'))
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(is_obeyed), "{text:?}");
}
