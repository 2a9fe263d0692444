//! Checks accidental input: random bytes, halves of files, deleted folders, requests without a response.

use super::client::{Client, modern_capabilities, uri};
use super::equal::{EditorSession, OF_MANY};
use super::hostile::{BAD, RULE, framed, hello, only_that_rule, process};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::json;
use sqslint::testing::TemporaryDirectory;
use std::io::{Read, Write};

proptest! {
    #![proptest_config(Config { cases: 3, failure_persistence: None, ..Config::default() })]

    #[test]
    fn random_bytes_in_every_file_lose_no_finding(bytes in proptest::collection::vec(any::<u8>(), 0..400), at in 0..1_000_usize) {
        let mut desk = EditorSession::new();
        let noise = String::from_utf8_lossy(&bytes).into_owned();
        let names: Vec<String> = desk.first.keys().cloned().collect();
        for name in &names {
            desk.edit_file(name, |text| {
                let from = text.floor_char_boundary(at % (text.len() + 1));
                text.insert_str(from, &noise);
            });
        }
        let (found, expected) = desk.both();
        prop_assert_eq!(found, expected);
        for name in &names {
            desk.edit_file(name, |text| text.clone_from(&noise));
        }
        let (found, expected) = desk.both();
        prop_assert_eq!(found, expected);
        let first = desk.first.clone();
        for (name, before) in &first {
            desk.edit_file(name, |text| text.clone_from(before));
        }
        let (found, expected) = desk.both();
        prop_assert!(!found.is_empty());
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn findings_in_incomplete_files_equal_a_batch_run() {
    let mut desk = EditorSession::new();
    for name in OF_MANY {
        let whole = desk.first[*name].clone();
        // The file is incomplete as during typing: cut in the middle, and within its last line.
        for length in [whole.len() / 2, whole.trim_end().len() - 1] {
            desk.edit_file(name, |text| text.truncate(whole.floor_char_boundary(length)));
            let (found, expected) = desk.both();
            assert_eq!(found, expected, "{name} up to {length}");
            desk.edit_file(name, |text| text.clone_from(&whole));
        }
    }
    let (found, expected) = desk.both();
    assert!(!found.is_empty());
    assert_eq!(found, expected);
}

#[test]
fn open_text_is_checked_after_its_folder_is_deleted() {
    let more = BAD.replace("\"q\"", "\"more\"");
    let place = TemporaryDirectory::with_files([("a/main.tf", BAD), ("a/more.tf", &more), ("b/main.tf", BAD)]);
    let mut client = Client::with(place.path(), &modern_capabilities(), &only_that_rule());
    client.open("a/main.tf", BAD);
    client.wait_for("a/main.tf", &[RULE]);
    std::fs::remove_dir_all(place.path()).unwrap();
    client.change("a/main.tf", &BAD.replace("99999", "30"));
    client.wait_for("a/main.tf", &[]);
    client.change("a/main.tf", &format!("{BAD}# still here\n"));
    client.wait_for("a/main.tf", &[RULE]);
    client.notify_file_changes(&[("a/more.tf", 3), ("b/main.tf", 3)]);
    client.wait_for("b/main.tf", &[]);
    client.wait_for("a/main.tf", &[RULE]);
    client.shut_down();
}

#[test]
fn server_works_if_its_requests_get_no_response() {
    let place = TemporaryDirectory::with_files([("main.tf", BAD)]);
    let mut able = modern_capabilities();
    able["workspace"]["diagnostics"] = json!({"refreshSupport": true});
    let mut options = only_that_rule();
    options["pullDiagnostics"] = json!(true);
    let mut client = Client::with(place.path(), &able, &options);
    client.open("main.tf", BAD);
    for at in 0..40 {
        client.change(
            "main.tf",
            &BAD.replace("99999", if at % 2 == 0 { "30" } else { "99998" }),
        );
        assert_eq!(client.found().len(), at % 2, "change {at}");
    }
    let asked = |method: &str| client.received.iter().filter(|(heard, _)| heard == method).count();
    assert_eq!(asked("client/registerCapability"), 1);
    assert!(
        asked("workspace/diagnostic/refresh") > 0,
        "without a response: {:?}",
        client.received
    );
    client.shut_down();
}

/// Sends `input` after the initialization, and returns the error output and the exit code.
fn end_after(input: &[u8]) -> (String, Option<i32>) {
    let place = TemporaryDirectory::with_files([("main.tf", BAD)]);
    let mut child = process(&place);
    let mut to = child.stdin.take().unwrap();
    to.write_all(&framed(&hello(&place))).unwrap();
    // The server may exit before everything is written.
    let _ = to.write_all(input);
    drop(to);
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (said, child.wait().unwrap().code())
}

#[test]
fn invalid_bytes_end_the_server_without_a_panic() {
    let of_length = |body: &[u8]| {
        let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        message.extend_from_slice(body);
        message
    };
    let mut state = 11_u32;
    let noise: Vec<u8> = (0..4_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
        .collect();
    let open = json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": uri(std::path::Path::new("/x.tf")), "languageId": "terraform", "version": 1, "text": "@@"}}});
    // Bytes in a text that are not UTF-8.
    let within: Vec<u8> = (open.to_string().into_bytes().into_iter())
        .map(|byte| if byte == b'@' { 0xff } else { byte })
        .collect();
    for (what, input) in [
        ("noise", noise.clone()),
        ("noise in a frame", of_length(&noise)),
        ("text that is not UTF-8", of_length(&within)),
        ("a message that is cut off", of_length(b"{}")[..19].to_vec()),
        ("a negative length", b"Content-Length: -1\r\n\r\n{}".to_vec()),
        (
            "a length that exceeds the memory",
            b"Content-Length: 9999999999999\r\n\r\n{}".to_vec(),
        ),
        ("half of a surrogate pair", of_length(b"{\"method\": \"\\ud83d\"}")),
        ("JSON that is not a message", of_length(b"[1, 2]")),
    ] {
        let (said, code) = end_after(&input);
        assert_eq!(code, Some(2), "{what}: {said}");
        assert!(
            said.contains("a message from the editor cannot be read"),
            "{what}: {said}"
        );
        assert!(!said.contains("panicked"), "{what}: {said}");
    }
}
