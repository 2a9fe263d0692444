//! Shared inputs of the tests: files of this repository, and directories and JSON documents in a fixed order.

use serde_json::Value;
use sqslint::testing::TemporaryDirectory;
use sqslint::{Options, Outcome};
use std::path::{Path, PathBuf};

/// Lists of nodes in recorded graphs: their recorded names, our names, and their fields in both.
pub(crate) const LISTS: [(&str, &str, &[(&str, &str)]); 3] = [
    (
        "queues",
        "queues",
        &[
            ("visibility_timeout", "visibility_timeout"),
            ("retention", "retention"),
            ("fifo", "fifo"),
            ("redrive", "redrive"),
        ],
    ),
    (
        "functions",
        "functions",
        &[("timeout", "timeout"), ("reserved_concurrency", "reserved_concurrency")],
    ),
    (
        "esms",
        "event_source_mappings",
        &[
            ("queue", "queue"),
            ("function", "function"),
            ("batch_size", "batch_size"),
            ("window", "window"),
            ("report_batch_item_failures", "report_batch_item_failures"),
            ("max_concurrency", "maximum_concurrency"),
            ("enabled", "enabled"),
        ],
    ),
];

/// Returns the absolute path of `path`, a path relative to this repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Lists a directory, sorted.
pub(crate) fn entries(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).unwrap();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// Lists the directories in a directory, sorted.
pub(crate) fn directories(path: &Path) -> Vec<PathBuf> {
    let mut all = entries(path);
    all.retain(|path| path.is_dir());
    all
}

/// Returns the last component of a path.
pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap()
}

/// Parses a JSON document.
pub(crate) fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Checks everything under `path` with the default rules.
pub(crate) fn check(path: &Path) -> Outcome {
    sqslint::check(&Options {
        paths: vec![path.to_owned()],
        ..Options::default()
    })
}

/// Checks these files in a new temporary directory.
pub(crate) fn check_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Outcome {
    let directory = TemporaryDirectory::with_files(files);
    check(directory.path())
}
