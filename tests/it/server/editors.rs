//! Runs the server in real editors, if installed.

use needs::{NEOVIM, NODE, PYTEST_LSP};
use sqslint::testing::TemporaryDirectory;
use std::path::Path;
use std::process::Command;

const QUEUES: &str = "resource \"aws_sqs_queue\" \"orders\" {\n  visibility_timeout_seconds = 300\n}\n";
const FUNCTION: &str = "resource \"aws_lambda_function\" \"worker\" {\n  timeout = 30\n}\n\nresource \"aws_lambda_event_source_mapping\" \"orders\" {\n  event_source_arn = aws_sqs_queue.orders.arn\n  function_name    = aws_lambda_function.worker.arn\n}\n";

/// Runs `command` in a folder with two files of a module, and returns its output.
fn run(command: &mut Command, place: &TemporaryDirectory) -> String {
    command
        .current_dir(place.path())
        .env("SQSLINT", env!("CARGO_BIN_EXE_sqslint"));
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    said
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/server").join(name)
}

#[test]
fn neovim_shows_diagnostics_and_applies_fixes() {
    if !NEOVIM.is_available() {
        return;
    }
    let place = TemporaryDirectory::with_files([("queues.tf", QUEUES), ("function.tf", FUNCTION)]);
    let mut command = Command::new("nvim");
    command.args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"]);
    command.arg(format!("luafile {}", script("neovim.lua").display()));
    let said = run(command.env("HOME", place.path()), &place);
    for part in [
        "queues.tf: visibility-timeout-below-function-timeout",
        "function.tf: batch-item-failures-unreported",
        "hover: visibility_timeout_seconds = 300 s",
        "definition: queues.tf:1",
        "fixed: visibility_timeout_seconds = 2400",
        "done",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

#[test]
fn pytest_lsp_accepts_the_server() {
    let Some(python) = PYTEST_LSP.found() else { return };
    let place = TemporaryDirectory::with_files([("queues.tf", QUEUES), ("function.tf", FUNCTION)]);
    std::fs::copy(script("pytest_lsp.py"), place.path().join("test_server.py")).unwrap();
    let mut command = Command::new(python);
    let said = run(
        command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_server.py"]),
        &place,
    );
    assert!(said.contains(" passed"), "{said}");
}

#[test]
fn extension_client_works_with_the_server() {
    if !NODE.is_available() {
        return;
    }
    let extension = Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/vscode");
    let mut command = Command::new("node");
    command.args(["--test", "test/client.test.mjs"]).current_dir(extension);
    let output = command
        .env("SQSLINT", env!("CARGO_BIN_EXE_sqslint"))
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("pass 8"), "{said}");
}
