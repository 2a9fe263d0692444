//! Checks that a run works with few additional threads, or with none, if the system does not allow more.
#![cfg(target_os = "linux")]

use sqslint::testing::TemporaryDirectory;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// User id of `nobody`, who has no other process.
const NOBODY: &str = "65534";

/// Runs `program` with a limit of `most` threads for the user, including those of `program`. The limit does not apply
/// to root, who therefore becomes the user `nobody`; any other user already has more processes than that.
fn with_at_most(most: usize, program: &str, arguments: &[&str], directory: &Path) -> Option<Output> {
    let is_root = std::fs::metadata("/proc/self").ok()?.uid() == 0;
    let user = format!("--reuid={NOBODY}");
    let group = format!("--regid={NOBODY}");
    let as_nobody = ["setpriv", &user, &group, "--clear-groups"];
    let bound = format!("--nproc={most}");
    let mut words: Vec<&str> = if is_root { as_nobody.to_vec() } else { Vec::new() };
    words.extend(["prlimit", &bound, program]);
    words.extend(arguments);
    let mut command = Command::new(words.first()?);
    command.args(words.get(1..)?).current_dir(directory);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().ok()?;
    let begun = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if begun.elapsed() > Duration::from_mins(1) {
            child.kill().ok()?;
            panic!("with {most} threads {arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().ok()
}

#[test]
fn run_needs_only_its_main_thread() {
    if !needs::PRLIMIT.is_available() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_sqslint");
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";
    let template = "Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      VisibilityTimeout: 0\n";
    let nested = format!("locals {{\n  deep = {}{}\n}}\n", "[".repeat(60), "]".repeat(60));
    let directory = TemporaryDirectory::with_files([
        ("infra/main.tf", queue),
        ("infra/deep.tf", &nested),
        ("services/a/b/template.yaml", template),
    ]);
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open).unwrap();
    // If a shell cannot fork, the limit is in effect.
    let forks = with_at_most(1, "/bin/sh", &["-c", "(exit 7); exit $?"], directory.path());
    let runs = with_at_most(1, program, &["--version"], directory.path());
    let is_bounded = forks.is_some_and(|output| output.status.code() != Some(7));
    if !is_bounded || !runs.is_some_and(|output| output.status.success()) {
        println!("skipped: the number of threads cannot be bounded here");
        return;
    }
    for command in [&["check", "."][..], &["explain", "infra/main.tf:2"]] {
        let told = |most| {
            let output = with_at_most(most, program, command, directory.path()).expect("it runs");
            (
                output.status.code(),
                String::from_utf8_lossy(&output.stdout).into_owned(),
                output.stderr,
            )
        };
        let usual = told(1000);
        assert!(usual.0.is_some_and(|code| code < 2), "{usual:?}");
        for most in 1..8 {
            let bounded = told(most);
            assert!(
                bounded == usual,
                "{command:?} with {most} threads: {}",
                String::from_utf8_lossy(&bounded.2)
            );
        }
    }
}
