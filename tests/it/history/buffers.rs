//! Checks texts on standard input, and files that git ignores.

use super::repository::{FUNCTION, OLD_QUEUE, QUEUE, Repository, VISIBILITY};

#[test]
fn buffer_replaces_a_file_of_its_module() {
    let files = [
        ("queue.tf", QUEUE),
        ("main.tf", FUNCTION),
        ("terraform.tfvars", "timeout = 50\n"),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    let buffer =
        |name: &str, text: &str| repository.sqslint_with(&["check", VISIBILITY, "--stdin-filename", name, "-"], text);
    buffer("queue.tf", QUEUE).is(0, &[]);
    buffer("queue.tf", &QUEUE.replace("60", "40")).is(1, &["queue.tf visibility-timeout-below-function-timeout"]);
    buffer("terraform.tfvars", "timeout = 90\n").is(1, &["queue.tf visibility-timeout-below-function-timeout"]);
    // The file does not exist on disk.
    buffer("new.tf", OLD_QUEUE).is(1, &["new.tf visibility-timeout-below-function-timeout"]);
    buffer("nowhere/new.tf", OLD_QUEUE)
        .is(2, &[])
        .says("its directory does not exist");
    buffer("notes.md", "x")
        .is(2, &[])
        .says("is not something sqslint can check");
    repository
        .sqslint(&["check", "--stdin-filename", "queue.tf", "."])
        .is(2, &[])
        .says("needs `-`");
}

#[test]
fn unnamed_text_is_recognized_by_its_content() {
    let Some(repository) = Repository::new(&[("queue.tf", QUEUE)]) else {
        return;
    };
    let run = |text: &str| repository.sqslint_with(&["check", VISIBILITY, "-"], text);
    let whole = format!("{OLD_QUEUE}{}", FUNCTION.replace("var.timeout", "50"));
    run(&whole).is(1, &["<stdin>/main.tf visibility-timeout-below-function-timeout"]);
    run("Resources:\n  Q:\n    Type: AWS::SQS::Queue\n").is(0, &[]);
    run("hello\n")
        .is(2, &[])
        .says("standard input is not something sqslint can check");
}

#[test]
fn ignored_files_are_checked_with_no_gitignore() {
    let whole = format!("{OLD_QUEUE}{}", FUNCTION.replace("var.timeout", "50"));
    let files = [
        ("out/main.tf", whole.as_str()),
        (".gitignore", "out/\n"),
        ("queue.tf", QUEUE),
    ];
    let Some(repository) = Repository::new(&files) else {
        return;
    };
    repository.sqslint(&["check", VISIBILITY]).is(0, &[]);
    repository
        .sqslint(&["check", VISIBILITY, "--no-gitignore"])
        .is(1, &["out/main.tf visibility-timeout-below-function-timeout"]);
}
