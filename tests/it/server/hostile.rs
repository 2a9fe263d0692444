//! Checks that the server keeps answering and loses no finding, whatever an editor or a project does.

use super::client::{Client, modern_capabilities};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};
use sqslint::testing::TemporaryDirectory;
use std::io::{BufReader, Write};
use std::process::{Command, Stdio};

pub(super) const BAD: &str = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 99999\n}\n";
const GOOD: &str = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 30\n}\n";
pub(super) const RULE: &str = "queue-attribute-out-of-range";

pub(super) fn only_that_rule() -> Value {
    json!({"select": [RULE]})
}

#[test]
fn last_of_thousands_of_changes_applies() {
    let place = TemporaryDirectory::with_files([("main.tf", GOOD)]);
    let mut client = Client::with(place.path(), &modern_capabilities(), &only_that_rule());
    client.open("main.tf", GOOD);
    for at in 0..2000 {
        client.change("main.tf", if at % 2 == 0 { BAD } else { GOOD });
        if at % 100 == 0 {
            let place = client.place("main.tf", 1, 4);
            client.send_request("textDocument/hover", place);
        }
    }
    client.change("main.tf", BAD);
    client.wait_for("main.tf", &[RULE]);
    client.change("main.tf", GOOD);
    client.wait_for("main.tf", &[]);
}

#[test]
fn incomplete_file_does_not_affect_others() {
    let other = GOOD.replace("\"q\"", "\"other\"");
    let place = TemporaryDirectory::with_files([
        ("main.tf", BAD),
        ("other.tf", &other),
        ("t/template.yaml", "Resources:\n"),
    ]);
    let mut client = Client::with(place.path(), &modern_capabilities(), &only_that_rule());
    client.open("other.tf", &other);
    for length in 0..other.len() {
        client.change("other.tf", &other[..length]);
    }
    client.change("other.tf", &other[..other.len() - 2]);
    client.wait("the end is missed", |client| {
        client.rules("other.tf").contains(&"parse-error")
    });
    assert_eq!(client.rules("main.tf"), [RULE]);
    // A text becomes a template while it is typed.
    client.open("t/template.yaml", "Resources:\n");
    client.change(
        "t/template.yaml",
        "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties: {VisibilityTimeout: 99999}\n",
    );
    client.wait_for("t/template.yaml", &[RULE]);
    client.change("t/template.yaml", "kind: other\n");
    client.wait_for("t/template.yaml", &[]);
}

#[test]
fn folder_may_be_deleted_and_restored() {
    let place = TemporaryDirectory::with_files([("a/main.tf", BAD), ("b/main.tf", BAD)]);
    let mut client = Client::with(place.path(), &modern_capabilities(), &only_that_rule());
    client.wait_for("a/main.tf", &[RULE]);
    std::fs::remove_dir_all(place.path().join("a")).unwrap();
    // If a folder is deleted with its contents, only one event is sent.
    client.notify_file_changes(&[("a", 3)]);
    client.wait_for("a/main.tf", &[]);
    client.wait_for("b/main.tf", &[RULE]);
    std::fs::remove_dir_all(place.path()).unwrap();
    client.notify_file_changes(&[("b/main.tf", 3)]);
    client.wait_for("b/main.tf", &[]);
    std::fs::create_dir_all(place.path().join("b")).unwrap();
    std::fs::write(place.path().join("b/main.tf"), BAD).unwrap();
    client.notify_file_changes(&[("b/main.tf", 1)]);
    client.wait_for("b/main.tf", &[RULE]);
}

proptest! {
    #![proptest_config(Config { cases: 8, failure_persistence: None, ..Config::default() })]

    #[test]
    fn random_edits_and_requests_are_handled(edits in proptest::collection::vec((0..40_u32, 0..90_u32, 0..40_u32, 0..90_u32, ".{0,20}"), 1..30)) {
        let text = BAD.repeat(3);
        let place = TemporaryDirectory::with_files([("main.tf", &*text)]);
        let mut client = Client::with(place.path(), &modern_capabilities(), &json!({"inlayHints": true}));
        client.open("main.tf", &text);
        for (line, column, last, end, new) in edits {
            let range = json!({"start": {"line": line, "character": column}, "end": {"line": last, "character": end}});
            client.edit("main.tf", json!([{"range": range, "text": new}]));
            for method in ["hover", "definition", "completion"] {
                let place = client.place("main.tf", line, column);
                client.request(&format!("textDocument/{method}"), place);
            }
            client.actions("main.tf", line);
            let document = json!({"textDocument": {"uri": client.address("main.tf")}, "range": range});
            client.request("textDocument/inlayHint", document);
        }
        client.change("main.tf", GOOD);
        client.wait("it is read again", |client| !client.rules("main.tf").contains(&"parse-error"));
    }
}

#[test]
fn malformed_messages_are_ignored() {
    let place = TemporaryDirectory::with_files([("main.tf", BAD)]);
    let mut client = Client::with(place.path(), &modern_capabilities(), &only_that_rule());
    for params in [
        json!(null),
        json!([1]),
        json!({"textDocument": 7}),
        json!({"textDocument": {"uri": "not a uri %%"}}),
    ] {
        for method in ["didOpen", "didChange", "didClose", "didSave"] {
            client.notify(&format!("textDocument/{method}"), params.clone());
        }
        client.notify("workspace/didChangeWatchedFiles", params.clone());
        client.notify("workspace/didChangeWorkspaceFolders", params.clone());
        client.notify("$/cancelRequest", params.clone());
    }
    // The text was never opened.
    client.edit("other.tf", json!([{"text": "x"}]));
    client.wait_for("main.tf", &[RULE]);
}

/// Starts a server process with pipes.
pub(super) fn process(place: &TemporaryDirectory) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqslint"));
    command.args(["server", "--stdio"]).current_dir(place.path());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

pub(super) fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

pub(super) fn hello(place: &TemporaryDirectory) -> Value {
    let root = super::client::uri(place.path());
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}, "rootUri": root}})
}

#[test]
fn server_exits_if_the_editor_never_reads() {
    let place = TemporaryDirectory::with_files([("main.tf", BAD)]);
    let mut child = process(&place);
    let mut input = child.stdin.take().unwrap();
    input.write_all(&framed(&hello(&place))).unwrap();
    input
        .write_all(&framed(
            &json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}),
        ))
        .unwrap();
    let uri = super::client::uri(&place.path().join("main.tf"));
    let document = json!({"uri": uri, "languageId": "terraform", "version": 1, "text": BAD});
    let open = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}});
    input.write_all(&framed(&open)).unwrap();
    // The answers exceed the capacity of a pipe, and are never read.
    for id in 2..3000 {
        let params = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 4}});
        let hover = json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": params});
        input.write_all(&framed(&hover)).unwrap();
    }
    input
        .write_all(&framed(&json!({"jsonrpc": "2.0", "id": 9999, "method": "shutdown"})))
        .unwrap();
    input
        .write_all(&framed(&json!({"jsonrpc": "2.0", "method": "exit"})))
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn exit_code_reports_a_missing_shutdown() {
    let place = TemporaryDirectory::with_files([("main.tf", BAD)]);
    let mut child = process(&place);
    let mut input = child.stdin.take().unwrap();
    input.write_all(&framed(&hello(&place))).unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let answer = lsp_server::Message::read(&mut output).unwrap();
    assert!(matches!(answer, Some(lsp_server::Message::Response(_))));
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    // The next one never initializes the session.
    let mut child = process(&place);
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let mut child = process(&place);
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"GET / HTTP/1.1\r\n\r\n")
        .unwrap();
    assert_ne!(child.wait().unwrap().code(), Some(0));
}

/// Returns the peak memory use of a process, in kB.
#[cfg(target_os = "linux")]
fn peak(child: &std::process::Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.unwrap().trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded_for_any_edits() {
    let callers = (0..20).map(|at| {
        (
            format!("live/{at}/main.tf"),
            "module \"q\" {\n  source = \"../../\"\n}\n".to_owned(),
        )
    });
    let files: Vec<(String, String)> = callers.chain([("main.tf".to_owned(), BAD.to_owned())]).collect();
    let place = TemporaryDirectory::with_files(files.iter().map(|(name, text)| (&**name, &**text)));
    // The limit includes the reserved stacks of the threads.
    let mut child = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 1500000; exec \"$0\" server",
            env!("CARGO_BIN_EXE_sqslint"),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut send = |message: Value| input.write_all(&framed(&message)).unwrap();
    let tell = |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
    send(hello(&place));
    send(tell("initialized", json!({})));
    let uri = super::client::uri(&place.path().join("main.tf"));
    let document = json!({"uri": uri, "languageId": "terraform", "version": 0, "text": BAD});
    send(tell("textDocument/didOpen", json!({"textDocument": document})));
    // The output is never read. The texts are 20 kB of random characters, each followed by a request.
    let mut state = 7_u32;
    for version in 1..1_500 {
        let noise: String = (0..20_000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from_u32(state >> 20).unwrap_or('{')
            })
            .collect();
        let text = if version % 3 == 0 {
            format!("{BAD}{noise}")
        } else {
            BAD.repeat(300).replace("\"q\"", &format!("\"q{version}\""))
        };
        let document = json!({"uri": uri, "version": version});
        send(tell(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [{"text": text}]}),
        ));
        let at = json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 4}});
        send(json!({"jsonrpc": "2.0", "id": version + 1, "method": "textDocument/hover", "params": at}));
    }
    let peak = peak(&child);
    send(json!({"jsonrpc": "2.0", "id": 9_999, "method": "shutdown"}));
    send(json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(peak < 300_000, "{peak} kB");
}
