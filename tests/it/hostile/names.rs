//! Checks names that terminals, logs and pages would interpret: no command and no format may print them unescaped.

use serde_json::Value;
use sqslint::testing::TemporaryDirectory;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

const NAMES: [&str; 30] = [
    // Terminals.
    "a\u{1b}[2Jb",
    "a\u{1b}]8;;http://x\u{7}b",
    "a\u{9b}31mb",
    "a\u{90}b",
    "a\u{0}b",
    "a\u{7}b",
    "a\u{8}b",
    "a\u{7f}b",
    "a\rb",
    "a\u{85}b",
    "a\u{202e}b",
    "a\u{2066}b",
    "a\u{200f}b",
    "a\u{61c}b",
    // Build logs.
    "::error::pwned",
    "a\n::error file=a,line=1::pwned",
    "a\r\n  ::add-mask::b",
    "a ::stop-commands::b",
    "\t::warning::b",
    "a\u{2028}::group::b",
    "a##[error]b",
    "a##vso[task.complete]b",
    "##teamcity[message]",
    "%0A::error::b",
    // Pages.
    "a]]><script>alert(1)</script>",
    "a\"><img src=x>",
    "a`|@team [x](y)",
    "a%%{init}%% #quot; -->",
    "a\\\"]; b [label=\"c",
    "a\u{fffe}日本",
];

/// Quotes a text as JSON, which is also valid YAML and, except for `${`, a valid HCL string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '..='~' => quoted.push(character),
            _ => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
        }
    }
    quoted + "\""
}

/// Returns a template with each name as a logical id, a queue name, a condition and an unresolved value.
fn template() -> String {
    let mut text = "Parameters:\n".to_owned();
    for (at, name) in NAMES.iter().enumerate() {
        let _ = writeln!(text, "  {}: {{Type: String}}", quoted(&format!("{name}{at}")));
    }
    text += "Conditions:\n";
    for (at, name) in NAMES.iter().enumerate() {
        let (condition, parameter) = (quoted(name), quoted(&format!("{name}{at}")));
        let _ = writeln!(text, "  {condition}: {{\"Fn::Equals\": [{{Ref: {parameter}}}, prod]}}");
    }
    text += "Resources:\n";
    for (at, name) in NAMES.iter().enumerate() {
        let (quoted, next) = (quoted(name), quoted(NAMES[(at + 1) % NAMES.len()]));
        let _ = write!(
            text,
            "  {quoted}:
    Type: AWS::SQS::Queue
    Condition: {quoted}
    Properties:
      QueueName: {quoted}
      VisibilityTimeout: {{\"Fn::If\": [{next}, 0, 50000]}}
      RedrivePolicy: {{deadLetterTargetArn: {quoted}, maxReceiveCount: 1}}
"
        );
    }
    text
}

/// Returns a module with each name as a key, a queue name, and the address of a consumer.
fn module() -> String {
    let names: Vec<String> = NAMES.iter().map(|name| quoted(name).replace("%{", "%%{")).collect();
    format!(
        "locals {{
  names = toset([{}])
}}
resource \"aws_sqs_queue\" \"q\" {{
  for_each                   = local.names
  name                       = each.key
  visibility_timeout_seconds = 1
}}
resource \"aws_lambda_function\" \"f\" {{
  for_each      = local.names
  function_name = each.key
  timeout       = 900
}}
resource \"aws_lambda_event_source_mapping\" \"m\" {{
  for_each         = local.names
  event_source_arn = aws_sqs_queue.q[each.key].arn
  function_name    = aws_lambda_function.f[each.key].arn
  batch_size       = 10001
}}
",
        names.join(", ")
    )
}

/// Creates a project with both, and with broken files in directories and files of these names.
fn project() -> TemporaryDirectory {
    let directory = TemporaryDirectory::with_files([("module/main.tf", &*module()), ("template.yaml", &template())]);
    for name in NAMES.iter().filter(|name| is_file_name(name)) {
        let unit = directory.path().join(name);
        std::fs::create_dir_all(&unit).unwrap();
        let queue = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 50000\n}\n";
        std::fs::write(unit.join(format!("{name}.tf")), queue).unwrap();
        std::fs::write(unit.join("broken.tf"), "resource {\n\u{1b}[2J ##[error]x\n::error::x\n").unwrap();
    }
    directory
}

fn is_file_name(name: &str) -> bool {
    cfg!(unix) && !name.contains(['/', '\0'])
}

fn run(directory: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
    for name in [
        "GITHUB_ACTIONS",
        "GITHUB_STEP_SUMMARY",
        "SQSLINT_FORMAT",
        "SQSLINT_CONFIG",
        "CLICOLOR_FORCE",
    ] {
        command.env_remove(name);
    }
    let Output { status, stdout, stderr } = command
        .args(arguments)
        .current_dir(directory)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(stdout), text(stderr));
    assert!(
        [Some(0), Some(1)].contains(&status.code()),
        "{arguments:?} {status}\n{err}"
    );
    (out, err)
}

/// Requires that a text contains nothing that terminals or build logs interpret.
fn assert_harmless(what: &str, text: &str) {
    let obeyed = |c: char| {
        c != '\n' && c.is_control()
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    for line in text.lines() {
        assert!(!line.contains(obeyed), "{what}: {line:?}");
        let command = line.trim_start().strip_prefix("::");
        let is_command = command.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        assert!(!is_command, "{what}: {line:?}");
        for start in ["##[", "##vso[", "##teamcity["] {
            assert!(!line.contains(start), "{what}: {line:?}");
        }
    }
}

/// Collects the strings of a document.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        _ => {}
    }
}

/// Requires that machine-readable output contains every name unchanged.
fn assert_whole(what: &str, text: &str) {
    let documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut found = Vec::new();
    documents.for_each(|document| strings(&document.unwrap(), &mut found));
    for name in NAMES {
        assert!(
            found.iter().any(|text| text.contains(name)),
            "{what}: {name:?} is missing"
        );
    }
}

#[test]
fn check_escapes_names_in_every_format() {
    let directory = project();
    for format in super::super::formats::FORMATS {
        let arguments = [
            "check",
            "--format",
            format,
            "--verbose",
            "--statistics",
            "--select",
            "all",
        ];
        let (out, err) = run(directory.path(), &arguments);
        assert_harmless(&format!("{format}, errors"), &err);
        assert!(out.contains("pwned"), "{format}: {out}");
        match format {
            "github" => {
                for line in out.lines() {
                    let ours = ["::error file=", "::warning file=", "::notice file="];
                    assert!(ours.iter().any(|start| line.starts_with(start)), "{line:?}");
                    assert_harmless(format, &line[2..]);
                }
            }
            "json" | "json-lines" => assert_whole(format, &out),
            _ => {}
        }
        if format != "github" {
            assert_harmless(format, &out);
        }
    }
}

#[test]
fn graph_escapes_names_in_every_format() {
    let directory = project();
    for format in ["text", "mermaid", "dot", "svg", "json"] {
        let (out, err) = run(directory.path(), &["graph", "--format", format]);
        assert!(out.contains("pwned"), "{format}: {out}");
        assert_harmless(format, &out);
        assert_harmless(&format!("{format}, errors"), &err);
        if format == "json" {
            assert_whole(format, &out);
        }
    }
}

#[test]
fn explain_escapes_names() {
    let directory = project();
    let template = template();
    let lines = template.lines().enumerate();
    let queues = lines.filter(|(_, line)| line.contains("AWS::SQS::Queue") || line.contains("VisibilityTimeout"));
    let mut places: Vec<String> = queues.map(|(at, _)| format!("template.yaml:{}", at + 1)).collect();
    places.extend([4, 5, 10, 15].map(|line| format!("module/main.tf:{line}")));
    places.extend(
        NAMES
            .iter()
            .filter(|name| is_file_name(name))
            .map(|name| format!("{name}/{name}.tf:2")),
    );
    for place in places {
        let (out, err) = run(directory.path(), &["explain", &place]);
        assert!(!out.is_empty(), "{place}: {err}");
        assert_harmless(&place, &out);
        assert_harmless(&format!("{place}, errors"), &err);
    }
}

#[test]
fn error_messages_escape_names() {
    let directory = TemporaryDirectory::with_files([]);
    for name in NAMES.iter().filter(|name| !name.contains('\0')) {
        for arguments in [
            &["check", name][..],
            &["graph", name],
            &["explain", name],
            &["explain", &format!("{name}:1")],
            &["check", "--select", name],
            &["check", "--config", name],
            &["check", "--report", &format!("json={name}/x")],
            &["baseline", "create", name],
            &["config", "show", name],
        ] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
            command.env_remove("GITHUB_ACTIONS");
            let Output { stdout, stderr, .. } = command.args(arguments).current_dir(directory.path()).output().unwrap();
            for text in [stdout, stderr] {
                assert_harmless(&format!("{arguments:?}"), &String::from_utf8(text).unwrap());
            }
        }
    }
}
