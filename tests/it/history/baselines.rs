//! Checks baselines: creating, updating and pruning them, and hiding known findings.

use super::repository::{FUNCTION, OLD_QUEUE, QUEUE, REDRIVE, Repository, VISIBILITY};

#[test]
fn baseline_hides_known_findings() {
    let files = [
        ("queue.tf", OLD_QUEUE),
        ("main.tf", FUNCTION),
        ("terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let check = ["check", VISIBILITY];
    let old = "queue.tf visibility-timeout-below-function-timeout";
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    repository.sqslint(&check).is(0, &[]).says("1 more in the baseline");
    repository
        .sqslint(&[&check[..], &["--no-baseline"]].concat())
        .is(1, &[old]);
    repository
        .sqslint(&["baseline", "create"])
        .is(2, &[])
        .says("already exists");
    // A moved and reformatted resource has the same fingerprint; a second one is new.
    repository.write("queue.tf", &format!("\n\n{}", OLD_QUEUE.replace("= 10", "=   20")));
    repository.sqslint(&check).is(0, &[]);
    repository.write("more.tf", &OLD_QUEUE.replace("old", "more"));
    repository
        .sqslint(&check)
        .is(1, &["more.tf visibility-timeout-below-function-timeout"]);
    // `baseline update` keeps a reason.
    let file = repository.path().join(".sqslint-baseline.json");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let marked = text.replacen("\n    }", ",\n      \"reason\": \"we know\"\n    }", 1);
    std::fs::write(&file, marked).expect("it is writable");
    repository.sqslint(&["baseline", "update"]).is(0, &[]);
    repository.sqslint(&check).is(0, &[]).says("2 more in the baseline");
    assert!(std::fs::read_to_string(&file).expect("it is there").contains("we know"));
    // Stale entries are reported, and `baseline prune` removes them.
    repository.remove("queue.tf");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let stale = repository.sqslint(&check);
    stale
        .is(0, &[])
        .says("1 entry is stale in `.sqslint-baseline.json`; `sqslint baseline prune`");
    repository.sqslint(&["baseline", "prune"]).is(0, &[]);
    let pruned = std::fs::read_to_string(&file).expect("it is there");
    assert!(pruned.len() < text.len());
    assert!(!repository.sqslint(&check).is(0, &[]).errors.contains("stale"));
    repository.sqslint(&["baseline", "update"]).is(0, &[]);
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), pruned);
}

#[test]
fn baseline_applies_after_a_directory_is_renamed() {
    let files = [
        ("infra/queue.tf", OLD_QUEUE),
        ("infra/main.tf", FUNCTION),
        ("infra/terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let check = ["check", VISIBILITY];
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    for (file, text) in files {
        repository.write(&file.replace("infra", "deploy"), text);
        repository.remove(file);
    }
    std::fs::remove_dir(repository.path().join("infra")).expect("it is empty");
    repository.sqslint(&check).is(0, &[]).says("1 more in the baseline");
    // A finding with a different message is new.
    repository.write("deploy/terraform.tfvars", "timeout = 60\n");
    repository
        .sqslint(&check)
        .is(1, &["deploy/queue.tf visibility-timeout-below-function-timeout"]);
}

#[test]
fn entries_are_not_stale_if_only_some_rules_or_files_are_checked() {
    let files = [
        ("a/queue.tf", OLD_QUEUE),
        ("a/main.tf", FUNCTION),
        ("a/terraform.tfvars", "timeout = 50\n"),
        ("b/queue.tf", QUEUE),
        ("sqslint.toml", "baseline = \"known.json\"\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let run = repository.sqslint(&["check", VISIBILITY, "a"]);
    run.is(2, &["a/queue.tf visibility-timeout-below-function-timeout"])
        .says("there is no baseline");
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    assert!(repository.path().join("known.json").is_file());
    for part in [&["check", REDRIVE][..], &["check", "b"], &["check", "b/queue.tf"]] {
        let run = repository.sqslint(part);
        assert!(!run.is(0, &[]).errors.contains("stale"), "{part:?}: {}", run.errors);
    }
    std::fs::remove_dir_all(repository.path().join("a")).expect("it is there");
    assert!(!repository.sqslint(&["check", "b"]).errors.contains("stale"));
    repository.sqslint(&["check", VISIBILITY]).is(0, &[]).says("stale");
}

#[test]
fn invalid_baseline_is_an_error_with_its_location() {
    let files = [
        ("queue.tf", QUEUE),
        ("b.json", "{\"version\": 1,\n  \"entries\": [{]}\n"),
        ("c.json", "{\"version\": 9, \"entries\": []}"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let run = |file: &str| repository.sqslint(&["check", VISIBILITY, "--baseline", file, "queue.tf"]);
    run("b.json").is(2, &[]).says("b.json:2:16: not a baseline");
    run("c.json").is(2, &[]).says("version 9");
    run("d.json").is(2, &[]).says("there is no baseline");
}

#[test]
fn parse_errors_are_not_added_to_a_baseline() {
    let Some(repository) = Repository::new(&[("queue.tf", "resource {{")]) else {
        return;
    };
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    repository.sqslint(&["check"]).is(1, &["queue.tf parse-error"]);
    repository
        .sqslint(&["check", "--since", "main"])
        .is(1, &["queue.tf parse-error"]);
}

#[test]
fn hidden_findings_are_shown_with_show_suppressed() {
    let queue = "resource \"aws_sqs_queue\" \"q\" {\n  visibility_timeout_seconds = 0\n}\n";
    let Some(repository) = Repository::new(&[("main.tf", queue)]) else {
        return;
    };
    repository.branch();
    let shown = |arguments: &[&str]| -> serde_json::Value {
        let mut command = repository.command(env!("CARGO_BIN_EXE_sqslint"));
        let check = [
            "check",
            "--select",
            "visibility",
            "--format",
            "json",
            "--show-suppressed",
        ];
        let output = command
            .args(check)
            .args(arguments)
            .output()
            .expect("the program is built");
        serde_json::from_slice(&output.stdout).expect("it is JSON")
    };
    let since = shown(&["--since", "main"]);
    assert_eq!(since["suppressed"][0]["since"], "main");
    assert_eq!(since["suppressed"][0]["baseline"], serde_json::Value::Null);
    repository.sqslint(&["baseline", "create"]).is(0, &[]);
    let path = repository.path().join(".sqslint-baseline.json");
    let entry = std::fs::read_to_string(&path).expect("it is written");
    let with_reason = entry.replace("\"fingerprint\"", "\"reason\": \"polled by hand\", \"fingerprint\"");
    std::fs::write(path, with_reason).expect("it is writable");
    // A finding that both hide is attributed to the baseline, since that file is maintained.
    let baseline = shown(&["--since", "main"]);
    assert_eq!(baseline["suppressed"].as_array().map(Vec::len), Some(1), "{baseline}");
    assert_eq!(baseline["suppressed"][0]["baseline"], ".sqslint-baseline.json");
    assert_eq!(baseline["suppressed"][0]["reason"], "polled by hand");
    assert_eq!(baseline["suppressed"][0]["suppression"], serde_json::Value::Null);
    repository
        .sqslint(&["check", "--select", "visibility"])
        .is(0, &[])
        .says("1 more in the baseline");
}
