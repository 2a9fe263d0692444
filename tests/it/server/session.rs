//! Checks the diagnostics that an editor receives while a user types, saves, and moves files and folders.

use super::client::{Client, modern_capabilities, uri};
use serde_json::json;
use sqslint::testing::TemporaryDirectory;

const QUEUES: &str = "resource \"aws_sqs_queue\" \"orders\" {\n  visibility_timeout_seconds = 300\n  redrive_policy             = jsonencode({ deadLetterTargetArn = \"arn:aws:sqs:eu-west-1:1:dlq\", maxReceiveCount = 5 })\n}\n";
const FUNCTION: &str = "resource \"aws_lambda_function\" \"worker\" {\n  timeout = 30\n}\n\nresource \"aws_lambda_event_source_mapping\" \"orders\" {\n  event_source_arn        = aws_sqs_queue.orders.arn\n  function_name           = aws_lambda_function.worker.arn\n  function_response_types = [\"ReportBatchItemFailures\"]\n}\n";
const BELOW: &str = "visibility-timeout-below-function-timeout";

fn two_files() -> TemporaryDirectory {
    TemporaryDirectory::with_files([("queues.tf", QUEUES), ("function.tf", FUNCTION)])
}

#[test]
fn edit_in_one_file_marks_the_queue_in_another() {
    let place = two_files();
    let mut client = Client::new(place.path());
    client.open("function.tf", FUNCTION);
    client.wait_for("function.tf", &[]);
    // `30` becomes `300`.
    client.edit(
        "function.tf",
        json!([{"range": {"start": {"line": 1, "character": 14}, "end": {"line": 1, "character": 14}}, "text": "0"}]),
    );
    client.wait_for("queues.tf", &["visibility-timeout-too-short"]);
    let found = &client.diagnostics["queues.tf"][0];
    let places = found["relatedInformation"].as_array().unwrap();
    assert!(
        places
            .iter()
            .all(|place| place["location"]["uri"] == client.address("function.tf")),
        "{found:#}"
    );
    assert_eq!(found["range"]["start"]["line"], 1);
    client.change("function.tf", FUNCTION);
    client.wait_for("queues.tf", &[]);
    client.shut_down();
}

#[test]
fn watched_file_changes_are_applied() {
    let place = two_files();
    let mut client = Client::new(place.path());
    client.wait("files are watched", |client| {
        client
            .received
            .iter()
            .any(|(method, _)| method == "client/registerCapability")
    });
    std::fs::write(place.path().join("function.tf"), FUNCTION.replace("30", "400")).unwrap();
    client.notify_file_changes(&[("function.tf", 2)]);
    client.wait_for("queues.tf", &[BELOW]);
    std::fs::remove_file(place.path().join("function.tf")).unwrap();
    client.notify_file_changes(&[("function.tf", 3)]);
    client.wait_for("queues.tf", &[]);
    std::fs::write(place.path().join("more.tf"), FUNCTION.replace("30", "400")).unwrap();
    client.notify_file_changes(&[("more.tf", 1)]);
    client.wait_for("queues.tf", &[BELOW]);
}

#[test]
fn source_of_a_function_is_found_once_it_is_created() {
    let function = FUNCTION.replace(
        "  timeout = 30",
        "  handler = \"app.handler\"\n  runtime = \"python3.12\"\n  s3_key  = \"app.zip\"\n  timeout = 30",
    );
    let place = TemporaryDirectory::with_files([("queues.tf", QUEUES), ("function.tf", &*function)]);
    let mut client = Client::new(place.path());
    client.open("function.tf", &function);
    client.change("function.tf", &format!("{function}\n"));
    client.wait_for("function.tf", &[]);
    let source = "def handler(event, context):\n    for record in event[\"Records\"]:\n        try:\n            work(record)\n        except Exception:\n            continue\n";
    std::fs::write(place.path().join("app.py"), source).unwrap();
    client.notify_file_changes(&[("app.py", 1)]);
    client.wait_for("app.py", &["handler-swallows-failures"]);
    client.shut_down();
}

#[test]
fn saving_refreshes_without_file_watching() {
    let place = two_files();
    let mut client = Client::with(place.path(), &json!({}), &json!({}));
    client.open("queues.tf", QUEUES);
    client.wait_for("queues.tf", &[]);
    std::fs::write(place.path().join("function.tf"), FUNCTION.replace("30", "400")).unwrap();
    client.notify(
        "textDocument/didSave",
        json!({"textDocument": {"uri": client.address("queues.tf")}}),
    );
    client.wait_for("queues.tf", &[BELOW]);
    // Without support for related information, the message itself lists the other locations.
    let message = client.diagnostics["queues.tf"][0]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(message.contains("function.tf:2: "), "{message}");
}

#[test]
fn changed_configuration_is_applied() {
    let place = two_files();
    let config = place.path().join("sqslint.toml");
    let mut client = Client::new(place.path());
    client.open("function.tf", FUNCTION);
    client.change("function.tf", &FUNCTION.replace("30", "400"));
    client.wait_for("queues.tf", &[BELOW]);
    std::fs::write(&config, "ignore = [\"visibility\"]\n").unwrap();
    client.notify_file_changes(&[("sqslint.toml", 1)]);
    client.wait_for("queues.tf", &[]);
    // An invalid configuration is marked itself, and nothing is checked.
    std::fs::write(&config, "ignore = [\"visibilty\"]\n").unwrap();
    client.notify_file_changes(&[("sqslint.toml", 2)]);
    client.wait("the slip is marked", |client| {
        !client.diagnostics.get("sqslint.toml").is_none_or(Vec::is_empty)
    });
    let found = &client.diagnostics["sqslint.toml"][0];
    assert!(
        found["message"].as_str().unwrap().contains("did you mean `visibility`"),
        "{found:#}"
    );
    assert_eq!(found["range"]["start"], json!({"line": 0, "character": 10}));
    // Typed text applies before it is saved.
    client.open_as("sqslint.toml", "toml", "ignore = [\"visibilty\"]\n");
    client.change("sqslint.toml", "\n");
    client.wait_for("queues.tf", &[BELOW]);
    client.wait_for("sqslint.toml", &[]);
}

#[test]
fn unsaved_configuration_is_applied() {
    let place = two_files();
    std::fs::write(place.path().join("function.tf"), FUNCTION.replace("30", "400")).unwrap();
    let mut client = Client::new(place.path());
    client.wait_for("queues.tf", &[BELOW]);
    let ignored = format!("ignore = [\"{BELOW}\"]\n");
    client.open("sqslint.toml", &ignored);
    client.wait_for("queues.tf", &[]);
    client.change("sqslint.toml", "ignore = []\n");
    client.wait_for("queues.tf", &[BELOW]);
    // The file is saved, deleted by another program, and still open.
    std::fs::write(place.path().join("sqslint.toml"), "ignore = []\n").unwrap();
    client.notify_file_changes(&[("sqslint.toml", 1)]);
    std::fs::remove_file(place.path().join("sqslint.toml")).unwrap();
    client.notify_file_changes(&[("sqslint.toml", 3)]);
    client.change("sqslint.toml", &ignored);
    client.wait_for("queues.tf", &[]);
    client.close("sqslint.toml");
    client.wait_for("queues.tf", &[BELOW]);
}

#[test]
fn options_select_ignore_and_name_a_configuration() {
    let place = TemporaryDirectory::with_files([
        ("queues.tf", QUEUES),
        ("function.tf", &FUNCTION.replace("30", "400")),
        ("elsewhere/other.toml", "ignore = [\"visibility\"]\n"),
    ]);
    let found = |options: serde_json::Value| {
        let mut client = Client::with(place.path(), &modern_capabilities(), &options);
        client.found()
    };
    assert_eq!(found(json!({})).len(), 1);
    assert!(found(json!({"ignore": ["visibility"]})).is_empty());
    assert!(found(json!({"select": ["redrive"]})).is_empty());
    let configuration = place.path().join("elsewhere/other.toml");
    assert!(found(json!({"configuration": configuration})).is_empty());
    let mut client = Client::with(place.path(), &modern_capabilities(), &json!({"select": ["redrve"]}));
    client.wait("the slip is shown", |client| {
        client.received.iter().any(|(method, _)| method == "window/showMessage")
    });
}

#[test]
fn only_requested_environments_are_checked() {
    let place = TemporaryDirectory::with_files([
        ("queues.tf", QUEUES),
        ("function.tf", &FUNCTION.replace("30", "var.timeout")),
        ("variables.tf", "variable \"timeout\" {\n  type = number\n}\n"),
        ("env/prod.tfvars", "timeout = 400\n"),
        ("env/dev.tfvars", "timeout = 3\n"),
    ]);
    let found = |names: &[&str]| {
        Client::with(place.path(), &modern_capabilities(), &json!({"environment": names}))
            .found()
            .len()
    };
    assert_eq!((found(&[]), found(&["prod"]), found(&["dev"])), (1, 1, 0));
}

#[test]
fn workspace_folders_may_be_added_and_removed() {
    let (one, other) = (two_files(), two_files());
    std::fs::write(other.path().join("function.tf"), FUNCTION.replace("30", "400")).unwrap();
    let mut client = Client::new(one.path());
    let folder = json!({"uri": uri(other.path()), "name": "other"});
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({"event": {"added": [folder], "removed": []}}),
    );
    let queues = uri(&other.path().join("queues.tf"));
    client.wait_for(&queues, &[BELOW]);
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({"event": {"added": [], "removed": [folder]}}),
    );
    client.wait_for(&queues, &[]);
}

#[test]
fn untitled_texts_are_checked_separately() {
    let place = two_files();
    let mut client = Client::new(place.path());
    let queue = QUEUES.replace("300", "3") + FUNCTION;
    client.open_as("untitled:Untitled-1", "terraform", &queue);
    client.wait_for("untitled:Untitled-1", &[BELOW]);
    client.open_as(
        "untitled:Untitled-2",
        "yaml",
        "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      VisibilityTimeout: 99999\n",
    );
    client.wait_for("untitled:Untitled-2", &["queue-attribute-out-of-range"]);
    client.close("untitled:Untitled-1");
    client.wait_for("untitled:Untitled-1", &[]);
    // The same applies to a file outside every folder.
    let elsewhere = TemporaryDirectory::with_files([("main.tf", queue.as_str())]);
    let main = uri(&elsewhere.path().join("main.tf"));
    client.open_as(&main, "terraform", &queue);
    client.wait_for(&main, &[BELOW]);
}

#[test]
fn unsaved_file_is_part_of_its_module() {
    let place = TemporaryDirectory::with_files([("queues.tf", QUEUES)]);
    let mut client = Client::new(place.path());
    client.open("function.tf", &FUNCTION.replace("30", "400"));
    client.wait_for("queues.tf", &[BELOW]);
    client.close("function.tf");
    client.wait_for("queues.tf", &[]);
}

#[test]
fn positions_use_the_negotiated_encoding() {
    let text = "resource \"aws_sqs_queue\" \"q\" {\n  /* 𝄞ö */ visibility_timeout_seconds = 99999\n}\n";
    let place = TemporaryDirectory::with_files([("main.tf", text)]);
    let column = |offered: &[&str]| {
        let able = json!({"general": {"positionEncodings": offered}});
        let mut client = Client::with(
            place.path(),
            &able,
            &json!({"select": ["queue-attribute-out-of-range"]}),
        );
        client.wait("it is found", |client| client.diagnostics.contains_key("main.tf"));
        let start = client.diagnostics["main.tf"][0]["range"]["start"]["character"]
            .as_u64()
            .unwrap();
        let end = text.lines().nth(1).unwrap();
        // Edits use the same encoding: removing three digits makes the number valid.
        let (before, agreed) = (
            end.split("99999").next().unwrap(),
            client.capabilities["positionEncoding"].clone(),
        );
        let at = match agreed.as_str().unwrap() {
            "utf-8" => before.len(),
            "utf-16" => before.encode_utf16().count(),
            _ => before.chars().count(),
        };
        client.open("main.tf", text);
        let range = json!({"start": {"line": 1, "character": at}, "end": {"line": 1, "character": at + 3}});
        client.edit("main.tf", json!([{"range": range, "text": ""}]));
        client.wait_for("main.tf", &[]);
        (agreed, start)
    };
    let line = text.lines().nth(1).unwrap();
    let before = line.split("visibility").next().unwrap();
    let (utf_8, utf_16, utf_32) = (before.len(), before.encode_utf16().count(), before.chars().count());
    assert_eq!(column(&["utf-16", "utf-8"]), (json!("utf-8"), utf_8 as u64));
    assert_eq!(column(&[]), (json!("utf-16"), utf_16 as u64));
    assert_eq!(column(&["utf-32"]), (json!("utf-32"), utf_32 as u64));
}

#[test]
fn diagnostics_can_be_pulled() {
    let place = two_files();
    let mut client = Client::with(place.path(), &modern_capabilities(), &json!({"pullDiagnostics": true}));
    assert_eq!(client.capabilities["diagnosticProvider"]["interFileDependencies"], true);
    client.open("function.tf", &FUNCTION.replace("30", "400"));
    let document = json!({"textDocument": {"uri": client.address("queues.tf")}});
    let report = client.request("textDocument/diagnostic", document.clone());
    assert_eq!(report["kind"], "full");
    assert_eq!(report["items"][0]["code"], BELOW);
    let mut again = document.clone();
    again["previousResultId"] = report["resultId"].clone();
    assert_eq!(client.request("textDocument/diagnostic", again)["kind"], "unchanged");
    client.change("function.tf", FUNCTION);
    assert_eq!(client.request("textDocument/diagnostic", document)["items"], json!([]));
    assert!(client.diagnostics.is_empty(), "nothing is sent unasked");
}

#[test]
fn long_load_reports_progress() {
    let files: Vec<(String, String)> = (0..200)
        .map(|at| (format!("{at}/main.tf"), QUEUES.to_owned()))
        .collect();
    let place = TemporaryDirectory::with_files(files.iter().map(|(name, text)| (&**name, &**text)));
    let mut client = Client::new(place.path());
    client.wait("the load ends", |client| {
        let mut steps = client.received.iter().filter(|(method, _)| method == "$/progress");
        steps.any(|(_, params)| params["value"]["kind"] == "end")
    });
    let received: Vec<&str> = client.received.iter().map(|(method, _)| method.as_str()).collect();
    assert!(received.contains(&"window/workDoneProgress/create"));
}

#[test]
fn cancelled_request_gets_a_response() {
    let place = two_files();
    let mut client = Client::new(place.path());
    let params = client.place("queues.tf", 0, 0);
    let ids: Vec<_> = (0..50)
        .map(|_| client.send_request("textDocument/hover", params.clone()))
        .collect();
    let last = ids.last().unwrap();
    client.notify("$/cancelRequest", json!({"id": 51}));
    assert_eq!(last.to_string(), "51");
    for id in &ids {
        // The request may be complete before it is cancelled, but there must be a response.
        assert!(
            client
                .wait_for_response(id)
                .map_or_else(|code| code == -32800, |_| true)
        );
    }
    let id = client.send_request("textDocument/prepareRename", params);
    assert_eq!(client.wait_for_response(&id), Err(-32601));
    let id = client.send_request("textDocument/hover", json!({"nothing": 1}));
    assert_eq!(client.wait_for_response(&id), Err(-32602));
    client.shut_down();
}
