//! Isolates the programs that tests run from the settings of the machine.

use std::process::Command;

/// Removes the settings of the machine, and of a hook in which these tests may run.
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
        "PRE_COMMIT",
        "PRE_COMMIT_REMOTE_NAME",
        "PRE_COMMIT_FROM_REF",
        "PRE_COMMIT_TO_REF",
    ] {
        command.env_remove(name);
    }
}
