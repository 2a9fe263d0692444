//! Checks the answers to requests: code actions, hover, definitions and references, completion, inlay hints, commands.

use super::client::{Client, applied, modern_capabilities};
use serde_json::{Value, json};
use sqslint::testing::TemporaryDirectory;

const MODULE: &str = r#"resource "aws_sqs_queue" "orders" {
  visibility_timeout_seconds = var.visibility
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dlq.arn
    maxReceiveCount     = "5"
  })
}

resource "aws_sqs_queue" "dlq" {
  message_retention_seconds = 1209600
}

# sqslint: ignore[visibility-timeout-zero] never met
resource "aws_lambda_function" "worker" {
  timeout = 60
}

resource "aws_lambda_event_source_mapping" "orders" {
  event_source_arn        = aws_sqs_queue.orders.arn
  function_name           = aws_lambda_function.worker.arn
  function_response_types = ["ReportBatchItemFailures"]
}
"#;
const VALUES: &str = "variable \"visibility\" {\n  type    = number\n  default = 30\n}\n";

fn module() -> TemporaryDirectory {
    TemporaryDirectory::with_files([("main.tf", MODULE), ("variables.tf", VALUES)])
}

fn opened(place: &TemporaryDirectory, options: &Value) -> Client {
    let mut client = Client::with(place.path(), &modern_capabilities(), options);
    client.open("main.tf", MODULE);
    client.wait("it is checked", |client| client.diagnostics.contains_key("main.tf"));
    client
}

/// Returns the position of `word` in the module.
fn place_of(client: &Client, word: &str) -> Value {
    let at = MODULE.find(word).unwrap_or_else(|| panic!("{word}"));
    let before = &MODULE[..at];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap().len();
    client.place(
        "main.tf",
        u32::try_from(line).unwrap(),
        u32::try_from(column + 1).unwrap(),
    )
}

fn titles(actions: &[Value]) -> Vec<&str> {
    actions.iter().map(|action| action["title"].as_str().unwrap()).collect()
}

#[test]
fn a_fix_may_be_in_another_file() {
    let place = module();
    let mut client = opened(&place, &json!({}));
    let actions = client.actions("main.tf", 1);
    let expected = "Set `visibility_timeout_seconds` to 360 (unsafe fix: changes what is deployed)";
    let fix = actions.iter().find(|action| action["title"] == expected);
    let fix = fix.unwrap_or_else(|| panic!("{:?}", titles(&actions)));
    assert_eq!(
        (fix["kind"].as_str(), fix["isPreferred"].as_bool()),
        (Some("quickfix"), Some(false))
    );
    let address = client.address("variables.tf");
    let text = applied(VALUES, fix, &address);
    assert_eq!(text, VALUES.replace("30", "360"));
    client.open("variables.tf", &text);
    client.wait("the finding is gone", |client| {
        !client
            .rules("main.tf")
            .contains(&"visibility-timeout-below-function-timeout")
    });
}

#[test]
fn code_action_suppresses_a_finding_at_its_line() {
    let place = module();
    let mut client = opened(&place, &json!({}));
    let rule = "visibility-timeout-below-function-timeout";
    assert!(client.rules("main.tf").contains(&rule));
    let actions = client.actions("main.tf", 1);
    let title = format!("Suppress `{rule}` here, with a reason");
    let action = actions.iter().find(|action| action["title"] == title.as_str());
    let action = action.unwrap_or_else(|| panic!("{:?}", titles(&actions)));
    let text = applied(MODULE, action, &client.address("main.tf"));
    assert!(
        text.contains(&format!("# sqslint: ignore[{rule}] <reason>\n")),
        "{text}"
    );
    client.change("main.tf", &text);
    client.wait("it is suppressed", |client| !client.rules("main.tf").contains(&rule));
}

#[test]
fn fix_all_applies_every_safe_fix_of_a_file() {
    let place = module();
    let mut client = opened(&place, &json!({}));
    let unused = client.diagnostics["main.tf"]
        .iter()
        .find(|found| found["code"] == "unused-suppression");
    assert_eq!(unused.unwrap()["tags"], json!([1]));
    let params = |only: &str| {
        let at = json!({"line": 0, "character": 0});
        json!({
            "textDocument": {"uri": client.address("main.tf")},
            "range": {"start": at, "end": at},
            "context": {"diagnostics": [], "only": [only]},
        })
    };
    let (all, own, other) = (
        params("source.fixAll"),
        params("source.fixAll.sqslint"),
        params("source.organizeImports"),
    );
    assert_eq!(client.request("textDocument/codeAction", other), json!([]));
    let actions = client.request("textDocument/codeAction", all);
    assert_eq!(actions, client.request("textDocument/codeAction", own));
    let text = applied(MODULE, &actions[0], &client.address("main.tf"));
    assert!(!text.contains("never met"), "{text}");
    client.change("main.tf", &text);
    client.wait("no safe fix is left", |client| {
        !client.rules("main.tf").contains(&"unused-suppression")
    });
    assert!(text.contains("timeout = 60"), "unsafe fixes are not made");
}

#[test]
fn hover_explains_attributes_variables_and_rules() {
    let place = module();
    let mut client = opened(&place, &json!({}));
    let at = place_of(&client, "visibility_timeout_seconds");
    let hover = client.request("textDocument/hover", at.clone());
    let text = hover["contents"]["value"].as_str().unwrap();
    for part in [
        "visibility_timeout_seconds = 30 s",
        "variables.tf:3",
        "6 × 60 s",
        "read by",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The command returns the same text as the command line.
    let argument = json!({"uri": at["textDocument"]["uri"], "position": at["position"]});
    let said = client.request(
        "workspace/executeCommand",
        json!({"command": "sqslint.explain", "arguments": [argument]}),
    );
    assert!(text.contains(said.as_str().unwrap()));
    // A variable is explained by the attributes that it sets, a rule by its page.
    let at = client.place("variables.tf", 2, 3);
    let hover = client.request("textDocument/hover", at);
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("visibility_timeout_seconds = 30 s")
    );
    let at = place_of(&client, "visibility-timeout-zero");
    let hover = client.request("textDocument/hover", at);
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .starts_with("# visibility-timeout-zero\n")
    );
    let at = client.place("main.tf", 7, 0);
    assert_eq!(client.request("textDocument/hover", at), Value::Null);
}

#[test]
fn definitions_and_references_follow_links() {
    let place = module();
    let mut client = opened(&place, &json!({}));
    let mut lines = |method: &str, word: &str| -> Vec<u64> {
        let mut params = place_of(&client, word);
        params["context"] = json!({"includeDeclaration": true});
        let found = client.request(method, params);
        let found = found.as_array().cloned().unwrap_or_default();
        found
            .iter()
            .map(|one| one["range"]["start"]["line"].as_u64().unwrap())
            .collect()
    };
    let definition = "textDocument/definition";
    assert_eq!(lines(definition, "aws_sqs_queue.orders.arn"), [0]);
    assert_eq!(lines(definition, "aws_lambda_function.worker.arn"), [13]);
    assert_eq!(lines(definition, "aws_sqs_queue.dlq.arn"), [8]);
    // A mapping leads to both of its ends, a dead-letter queue to its source queue.
    assert_eq!(lines(definition, "\"aws_lambda_event_source_mapping\""), [0, 13]);
    assert_eq!(lines(definition, "\"dlq\""), [0]);
    assert_eq!(lines("textDocument/references", "\"aws_lambda_function\""), [13, 19]);
    assert_eq!(lines("textDocument/references", "aws_sqs_queue.orders.arn"), [0, 18]);
}

#[test]
fn rule_names_are_completed() {
    let place = module();
    let mut client = opened(&place, &json!({}));
    let labels = |found: Value| -> Vec<String> {
        let items = found.as_array().cloned().unwrap_or_default();
        items
            .iter()
            .map(|item| item["label"].as_str().unwrap().to_owned())
            .collect()
    };
    let at = place_of(&client, "visibility-timeout-zero");
    let names = labels(client.request("textDocument/completion", at));
    assert!(names.iter().any(|name| name == "redrive-policy-missing") && names.iter().any(|name| name == "redrive"));
    let at = place_of(&client, "timeout = 60");
    assert!(labels(client.request("textDocument/completion", at)).is_empty());
    client.open_as("sqslint.toml", "toml", "select = [\"\"]\n");
    let at = client.place("sqslint.toml", 0, 11);
    assert!(
        labels(client.request("textDocument/completion", at))
            .iter()
            .any(|name| name == "pedantic")
    );
}

#[test]
fn policy_names_are_completed() {
    const POLICY: &str = "[[policy]]\nid = \"no-delay\"\nfor = \"queue\"\nforbid = 'queue.delay > duration(\"0s\")'\nmessage = \"delays\"\n";
    const QUEUE: &str = "# sqslint: ignore[\nresource \"aws_sqs_queue\" \"q\" {}\n";
    const NAMES_THEM: &str = "policies = [\"policies/*.toml\"]\n";
    let place = TemporaryDirectory::with_files([
        ("main.tf", QUEUE),
        ("sqslint.toml", NAMES_THEM),
        ("policies/delay.toml", POLICY),
    ]);
    let mut client = Client::new(place.path());
    client.open("main.tf", QUEUE);
    let knows = |client: &mut Client, file: &str, line: u32, column: u32, id: &str| {
        let at = client.place(file, line, column);
        let items = client
            .request("textDocument/completion", at)
            .as_array()
            .cloned()
            .unwrap_or_default();
        items.iter().any(|item| item["label"] == id)
    };
    assert!(knows(&mut client, "main.tf", 0, 18, "no-delay"));
    // While the configuration is invalid, the last valid one applies.
    let unfinished = format!("{NAMES_THEM}select = [\"\"]\n[rules.no-delay]\n\n");
    client.open_as("sqslint.toml", "toml", &unfinished);
    assert!(knows(&mut client, "sqslint.toml", 1, 11, "no-delay"));
    assert!(knows(&mut client, "sqslint.toml", 3, 0, "severity"));
    // A changed policy file makes the configuration stale.
    client.open_as("policies/delay.toml", "toml", &POLICY.replace("no-delay", "no-delays"));
    client.change("sqslint.toml", NAMES_THEM);
    assert!(knows(&mut client, "main.tf", 0, 18, "no-delays"));
    assert!(!knows(&mut client, "main.tf", 0, 18, "no-delay"));
}

#[test]
fn inlay_hints_are_off_by_default() {
    let place = module();
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let client = opened(&place, &json!({}));
    assert_eq!(client.capabilities["inlayHintProvider"], Value::Null);
    client.shut_down();
    let mut client = opened(&place, &json!({"inlayHints": true}));
    let params = json!({"textDocument": {"uri": client.address("main.tf")}, "range": range});
    let hints = client.request("textDocument/inlayHint", params);
    let labels: Vec<(u64, &str)> = (hints.as_array().unwrap().iter())
        .map(|hint| {
            (
                hint["position"]["line"].as_u64().unwrap(),
                hint["label"].as_str().unwrap(),
            )
        })
        .collect();
    assert!(labels.contains(&(1, "= 30 s")), "{labels:?}");
    assert!(
        labels.contains(&(8, "visibility_timeout_seconds 30 s, the default")),
        "{labels:?}"
    );
}

#[test]
fn inlay_hint_for_a_default_is_at_the_end_of_the_line() {
    let text = "resource \"aws_sqs_queue\" \"q\" {\n}\n";
    let place = TemporaryDirectory::with_files([("main.tf", text)]);
    let mut client = Client::with(place.path(), &modern_capabilities(), &json!({"inlayHints": true}));
    client.open("main.tf", text);
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let params = json!({"textDocument": {"uri": client.address("main.tf")}, "range": range});
    let hints = client.request("textDocument/inlayHint", params);
    let end = text.lines().next().unwrap().len();
    assert_eq!(hints[0]["position"], json!({"line": 0, "character": end}));
}

#[test]
fn hover_on_a_suppression_shows_the_suppressed_finding() {
    let text = "resource \"aws_sqs_queue\" \"q\" {\n  # sqslint: ignore[queue-attribute-out-of-range] agreed\n  visibility_timeout_seconds = 50000\n}\n";
    let place = TemporaryDirectory::with_files([("main.tf", text)]);
    let mut client = Client::with(place.path(), &modern_capabilities(), &json!({}));
    client.open("main.tf", text);
    let at = client.place("main.tf", 1, 5);
    let hover = client.request("textDocument/hover", at);
    let told = hover["contents"]["value"].as_str().unwrap();
    assert!(
        told.contains("suppressed[queue-attribute-out-of-range] on line 3"),
        "{told}"
    );
    assert!(told.contains("reason: agreed"), "{told}");
}

#[test]
fn graph_command_draws_a_unit() {
    let place = module();
    let mut client = opened(&place, &json!({}));
    for (format, part) in [
        ("svg", "<svg"),
        ("mermaid", "flowchart"),
        ("dot", "digraph"),
        ("text", "queue aws_sqs_queue.orders"),
    ] {
        let argument = json!({"uri": client.address("main.tf"), "format": format});
        let drawn = client.request(
            "workspace/executeCommand",
            json!({"command": "sqslint.graph", "arguments": [argument]}),
        );
        assert!(drawn.as_str().unwrap().contains(part), "{format}: {drawn}");
    }
    let id = client.send_request(
        "workspace/executeCommand",
        json!({"command": "sqslint.other", "arguments": [{"uri": "a:b"}]}),
    );
    assert!(client.wait_for_response(&id).is_err());
}
