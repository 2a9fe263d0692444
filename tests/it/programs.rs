//! Programs that tests run: whether they are there, and what they are not to see. It knows nothing of what they do.
#![allow(dead_code, reason = "not every test that runs programs needs all of it")]
#![allow(clippy::print_stderr, reason = "says why a test is skipped")]

use std::process::Command;

/// Whether a program is there; a test says why it stops.
pub(crate) fn is_there(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: there is no {program} on the PATH");
    }
    found
}

/// Nothing of the machine's settings, nor of a hook that these tests may run in.
pub(crate) fn isolate(command: &mut Command) {
    let settings = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.com"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.com"),
        ("SQSLINT_FORMAT", "concise"),
        ("NO_COLOR", "1"),
    ];
    command.envs(settings);
    for name in [
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_WORK_TREE",
        "PRE_COMMIT_FROM_REF",
        "PRE_COMMIT_TO_REF",
    ] {
        command.env_remove(name);
    }
}
