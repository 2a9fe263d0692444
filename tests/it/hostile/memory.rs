//! Checks configurations whose instances would fill the memory: the program must stay small and fast, report the bound,
//! and still check the rest of the unit.

use sqslint::testing::TemporaryDirectory;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum memory of a run in kB. A hundred thousand queues need most of it, in a debug build.
const MEMORY: u64 = 600_000;
/// Maximum duration of a run, for a debug build on a busy machine.
const TIME: Duration = Duration::from_mins(1);

/// Keys of ten thousand characters for a `for_each`.
const LONG_KEYS: &str = r#"locals {
  keys = { for at in range(8) : "${join("", [for n in range(1000) : "abcdefghij"])}${at}" => at }
}
"#;
/// Queue with a finding.
const QUEUE: &str = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";

fn call(name: &str, source: &str) -> String {
    format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n")
}

fn call_each(name: &str, source: &str) -> String {
    format!("module \"{name}\" {{\n  source = \"{source}\"\n  for_each = local.keys\n}}\n{LONG_KEYS}")
}

/// Runs the program in `directory` within the bounds of time and memory, and returns its output.
fn run(directory: &Path, arguments: &[&str]) -> String {
    let printed = TemporaryDirectory::with_files([]);
    let file = printed.path().join("out");
    let output = File::create(&file).expect("it can be made");
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_sqslint"))
        .args(arguments)
        .current_dir(directory)
        .stdout(Stdio::from(output))
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut peak = 0;
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        // On systems without this file, only the time is bounded.
        let seen = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let seen = seen.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let seen = seen.and_then(|text| text.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(seen.unwrap_or(0));
        let took = begun.elapsed();
        if peak > MEMORY || took > TIME {
            child.kill().and_then(|()| child.wait()).expect("it can be stopped");
            panic!("{arguments:?} takes {peak} kB and {took:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.code().is_some_and(|code| code < 2), "{arguments:?}: {status}");
    std::fs::read_to_string(&file).expect("it can be read")
}

/// Returns the findings of two rules: file, line, rule and message.
fn findings(directory: &Path) -> Vec<String> {
    let document: serde_json::Value =
        serde_json::from_str(&run(directory, &["check", "--format", "json", "."])).expect("it is JSON");
    let findings = document["findings"].as_array().expect("a list").iter();
    let told = findings.map(|finding| {
        let text = |field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        format!(
            "{}:{} {}: {}",
            text("file"),
            finding["line"],
            text("rule"),
            text("message")
        )
    });
    let told = told.filter(|told| told.contains("limit-reached") || told.contains("visibility-timeout-zero"));
    // The keys are long, so the messages are shortened for the output of a failing test.
    let short = |told: String| match told.char_indices().nth(300) {
        Some((at, _)) => told.split_at(at).0.to_owned(),
        None => told,
    };
    told.map(short).collect()
}

#[test]
fn self_calling_module_is_reported_at_the_call() {
    for own in [call("again", "./"), call_each("again", "./")] {
        let directory = TemporaryDirectory::with_files([("main.tf", &*format!("{own}{QUEUE}"))]);
        let told = findings(directory.path());
        let expected = "main.tf:1 limit-reached: `main.tf` is only partly read: module `again` calls itself";
        assert!(told.iter().any(|told| told == expected), "{told:?}");
        assert!(
            told.iter().any(|told| told.contains("visibility-timeout-zero")),
            "{told:?}"
        );
        let explained = run(directory.path(), &["explain", "main.tf:1"]);
        assert!(!explained.is_empty());
    }
}

#[test]
fn indirect_module_cycle_is_reported_at_the_closing_call() {
    let main = call_each("first", "./a") + QUEUE;
    let (a, b, c) = (
        call_each("second", "../b") + QUEUE,
        call_each("third", "../c"),
        call_each("again", "../a"),
    );
    let directory = TemporaryDirectory::with_files([
        ("main.tf", &*main),
        ("a/main.tf", &*a),
        ("b/main.tf", &*b),
        ("c/main.tf", &*c),
    ]);
    let told = findings(directory.path());
    let expected = "c/main.tf:1 limit-reached: `main.tf` is only partly read: \
                    module `again` calls itself through modules `second` and `third`";
    assert!(told.iter().any(|told| told == expected), "{told:?}");
    for queue in ["main.tf", "a/main.tf"] {
        let expected = |told: &String| told.starts_with(queue) && told.contains("visibility-timeout-zero");
        assert!(told.iter().any(expected), "{queue} {told:?}");
    }
    run(directory.path(), &["explain", "a/main.tf:1"]);
}

#[test]
fn ring_of_modules_is_bounded() {
    let ring = |call_next: fn(&str, &str) -> String| {
        let module = |at: usize| {
            let next = format!("../m{}", (at + 1) % 16);
            let text = call("own", "./") + &call_next("next", &next) + QUEUE;
            (format!("m{at}/main.tf"), text)
        };
        let files: Vec<(String, String)> = (0..16).map(module).collect();
        TemporaryDirectory::with_files(files.iter().map(|(name, text)| (&**name, &**text)))
    };
    let once = ring(call);
    let told = findings(once.path());
    let ends = |end: &str| told.iter().filter(|told| told.ends_with(end)).count();
    assert_eq!(ends("module `own` calls itself"), 16, "{told:?}");
    assert_eq!(ends("`next` and `next`"), 1, "{told:?}");
    // Every step multiplies the instances by eight, so a bound applies before the cycle is closed.
    let many = ring(call_each);
    let told = findings(many.path());
    let bound = |told: &String| told.contains("are longer than 8 megabytes");
    assert!(told.iter().any(bound), "{told:?}");
    run(many.path(), &["explain", "m0/main.tf:1"]);
}

#[test]
fn sixteen_self_calling_modules_are_bounded() {
    let files: Vec<(String, String)> = (0..16)
        .map(|at| (format!("m{at}/main.tf"), call_each("again", "./") + QUEUE))
        .collect();
    let files = files.iter().map(|(name, text)| (&**name, &**text));
    let directory = TemporaryDirectory::with_files(files);
    assert_eq!(findings(directory.path()).len(), 32);
    run(directory.path(), &["explain", "m7/main.tf:1"]);
}

#[test]
fn nested_module_instances_with_long_keys_are_bounded() {
    let chain = ["main.tf", "a/main.tf", "b/main.tf", "c/main.tf", "d/main.tf"];
    let next = ["./a", "../b", "../c", "../d"];
    let mut files: Vec<(&str, String)> = chain
        .iter()
        .zip(next)
        .map(|(file, next)| (*file, call_each("next", next) + QUEUE))
        .collect();
    files.push(("d/main.tf", QUEUE.to_owned()));
    let directory = TemporaryDirectory::with_files(files.iter().map(|(name, text)| (*name, &**text)));
    let told = findings(directory.path());
    let bound = |told: &String| told.contains("are longer than 8 megabytes");
    assert!(told.iter().any(bound), "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("main.tf")), "{told:?}");
    run(directory.path(), &["explain", "main.tf:7"]);
}

#[test]
fn resource_instances_in_module_instances_are_bounded() {
    let main = "module \"m\" {\n  source = \"./m\"\n  count = 10000\n}\n".to_owned() + QUEUE;
    let many = "resource \"aws_sqs_queue\" \"many\" {\n  count = 10000\n}\n";
    let directory = TemporaryDirectory::with_files([("main.tf", &*main), ("m/main.tf", many)]);
    let told = findings(directory.path());
    let bound = |told: &String| told.contains("more than 100000 instances of resources and modules");
    assert!(told.iter().any(bound), "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("main.tf")), "{told:?}");
}

#[test]
fn state_with_deeply_nested_modules_uses_little_memory() {
    let state = format!(
        r#"{{"version":4,"terraform_version":"1.9.0","serial":1,"lineage":"x","outputs":{{}},"resources":[{{"module":"{}",
        "mode":"managed","type":"aws_sqs_queue","name":"q","provider":"p","instances":[{{"attributes":{{"name":"q",
        "visibility_timeout_seconds":0}}}}]}}]}}"#,
        vec!["module.a"; 20_000].join(".")
    );
    let directory = TemporaryDirectory::with_files([("terraform.tfstate", &*state)]);
    let output = run(directory.path(), &["check", "--format", "json", "terraform.tfstate"]);
    assert!(output.contains("visibility-timeout-zero"));
}
