//! What a baseline holds.

use super::repository::{FUNCTION, OLD_QUEUE, QUEUE, REDRIVE, Repository, VISIBILITY};

#[test]
fn a_baseline_holds_what_was_found() {
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
    // Moved and reformatted, it is the same; a second one is new.
    repository.write("queue.tf", &format!("\n\n{}", OLD_QUEUE.replace("= 10", "=   20")));
    repository.sqslint(&check).is(0, &[]);
    repository.write("more.tf", &OLD_QUEUE.replace("old", "more"));
    repository
        .sqslint(&check)
        .is(1, &["more.tf visibility-timeout-below-function-timeout"]);
    // A reason stays.
    let file = repository.path().join(".sqslint-baseline.json");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let marked = text.replacen("\n    }", ",\n      \"reason\": \"we know\"\n    }", 1);
    std::fs::write(&file, marked).expect("it is writable");
    repository.sqslint(&["baseline", "update"]).is(0, &[]);
    repository.sqslint(&check).is(0, &[]).says("2 more in the baseline");
    assert!(std::fs::read_to_string(&file).expect("it is there").contains("we know"));
    // What is gone is told, and goes.
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
fn a_renamed_directory_brings_nothing_back() {
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
    // With other words it is another finding.
    repository.write("deploy/terraform.tfvars", "timeout = 60\n");
    repository
        .sqslint(&check)
        .is(1, &["deploy/queue.tf visibility-timeout-below-function-timeout"]);
}

#[test]
fn a_part_of_the_rules_or_of_the_files_makes_no_entry_stale() {
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
fn a_broken_baseline_is_a_failure_with_its_place() {
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
fn what_cannot_be_parsed_is_in_no_baseline() {
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
fn what_is_known_is_shown_on_request() {
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
    // What is in both is said of the file that somebody looks after.
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
