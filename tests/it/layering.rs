//! Which module may use which, where privacy cannot say it: the table below against the `use crate::…` lines and
//! paths of the sources. Tests inside the files may use what they like.

use crate::inputs::repository;
use std::path::{Path, PathBuf};

/// What the sources below a path may name of `crate::`. The first entry that fits a file counts.
const ALLOWED: &[(&str, &[&str])] = &[
    ("source.rs", &["files::Files"]),
    ("diagnostic.rs", &["source"]),
    ("conditions", &["conditions"]),
    ("graph", &["conditions", "graph", "source"]),
    ("discover", &["files", "source", "diagnostic"]),
    (
        "suppress",
        &[
            "source",
            "diagnostic",
            "suppress",
            "rules::RULES",
            "rules::Rule",
            "selection",
        ],
    ),
    // Only the entrance knows the units; a dialect knows neither rules nor reports nor another dialect.
    (
        "frontend.rs",
        &[
            "conditions",
            "diagnostic",
            "discover",
            "files",
            "frontend",
            "given",
            "graph",
            "source",
        ],
    ),
    // Where a suppression stands is syntax; what it says is none.
    (
        "frontend/comments",
        &["diagnostic::Edit", "frontend", "source", "suppress"],
    ),
    (
        "frontend/",
        &[
            "conditions",
            "diagnostic",
            "files",
            "given",
            "graph",
            "source",
            "frontend",
        ],
    ),
    ("rules", &["diagnostic", "graph", "rules", "source::Span"]),
    (
        "report",
        &[
            "conditions",
            "diagnostic",
            "graph",
            "report",
            "rules::by_id",
            "rules::Rule",
            "rules::RULES",
            "source",
        ],
    ),
    ("selection.rs", &["config::Config", "rules"]),
    (
        "config",
        &[
            "config",
            "diagnostic::Severity",
            "discover::files_named",
            "files",
            "given",
            "rules",
            "selection",
        ],
    ),
    ("given.rs", &[]),
    (
        "judge.rs",
        &["config", "diagnostic", "graph", "rules", "selection", "source"],
    ),
];

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// Every path after `crate::` in `text`, groups taken apart: `crate::a::{b, c::D}` names `a::b` and `a::c::D`.
fn crate_paths(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (at, prefix) in text.match_indices("crate::") {
        let rest = &text[at + prefix.len()..];
        let is_part_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let end = rest.find(|c| !is_part_of_path(c)).unwrap_or(rest.len());
        let path = &rest[..end];
        match rest[end..].strip_prefix('{') {
            None => all.push(path.to_owned()),
            Some(group) => {
                for item in members(group) {
                    all.push(format!("{path}{item}"));
                }
            }
        }
    }
    all
}

/// The members of a group whose opening brace is behind us; of nested groups their first segments.
fn members(group: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut depth = 0_usize;
    for character in group.chars().filter(|c| !c.is_whitespace()) {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => all.push(String::new()),
            other if depth == 0 => all.last_mut().unwrap().push(other),
            _ => {}
        }
    }
    all.retain(|member| !member.is_empty());
    all
}

/// The code of a file: no comments, and nothing from its tests on, which end the file.
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

fn is_allowed(path: &str, allowed: &[&str]) -> bool {
    let below = |of: &&str| {
        path.strip_prefix(*of)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    allowed.iter().any(below)
}

#[test]
fn modules_import_downwards_only() {
    let sources = repository("src");
    let mut wrong = Vec::new();
    for file in rust_files(&sources) {
        let name = file
            .strip_prefix(&sources)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        let Some((_, allowed)) = ALLOWED.iter().find(|(start, _)| name.starts_with(start)) else {
            continue;
        };
        // Tests in a file of their own are free, like those that end a file.
        if name.ends_with("/tests.rs") || name.contains("/tests/") {
            continue;
        }
        for path in crate_paths(&code(&std::fs::read_to_string(&file).unwrap())) {
            if !is_allowed(&path, allowed) {
                wrong.push(format!("src/{name} uses crate::{path}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn groups_are_taken_apart() {
    let text = "use crate::graph::{Graph, attribute::{Case, State}};\nuse crate::source::Span;\npub(crate) mod a;";
    assert_eq!(
        crate_paths(text),
        ["graph::Graph", "graph::attribute::", "source::Span"]
    );
}

#[test]
fn no_dialect_knows_another() {
    let root = repository("src/frontend");
    for (dialect, other) in [("terraform", "cloudformation::"), ("cloudformation", "terraform::")] {
        let mut files = rust_files(&root.join(dialect));
        files.push(root.join(format!("{dialect}.rs")));
        assert!(files.len() > 1, "{dialect} has files");
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains(other), "{} names {other}", file.display());
        }
    }
}
