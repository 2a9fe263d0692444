//! The environment of programs that tests run: nothing of the machine's settings.

use std::process::Command;

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
