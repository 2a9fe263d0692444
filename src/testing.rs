//! How tests check rules: inputs with the expectation written in them. Shared with `tests/`, hidden from docs.
//!
//! A marker `# expect: <rule-id>` at the end of a line wants a finding whose primary label starts on that line;
//! `#   ^^^ <rule-id>` under a line wants the primary label to cover exactly the columns of the carets.

pub mod handlers;
pub mod needs;

use crate::diagnostic::Diagnostic;
use crate::graph::Graph;
use crate::report::graph::json;
use crate::rules::Rule;
use crate::selection::Selection;
use crate::source::Sources;
use crate::suppress::Day;
use crate::{Options, Outcome};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// In which language an input is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// One `main.tf`.
    Terraform,
    /// One CloudFormation template, YAML; `AWSTemplateFormatVersion` is added behind it.
    CloudFormation,
    /// One SAM template, YAML; `Transform` is added behind it.
    Sam,
    /// One CloudFormation template, JSON.
    Json,
}

/// The day on which rules judge.
const TODAY: &str = "2026-09-01";

/// A directory that is removed when it goes out of scope.
#[derive(Debug)]
pub struct TemporaryDirectory(TempDir);

impl TemporaryDirectory {
    /// A new, empty directory with these files in it.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn with_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        // By its real path, which is what units are named by.
        let parent = std::env::temp_dir()
            .canonicalize()
            .expect("there is a temporary directory");
        let directory = tempfile::Builder::new().prefix("sqslint-").tempdir_in(parent);
        let directory = directory.expect("the temporary directory is writable");
        for (name, text) in files {
            let path = directory.path().join(name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).expect("the temporary directory is writable");
            }
            std::fs::write(path, text).expect("the temporary directory is writable");
        }
        TemporaryDirectory(directory)
    }

    /// Its real path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Checks everything under `path` with `rule` alone.
pub fn run(rule: &Rule, path: &Path) -> Outcome {
    crate::check(&Options {
        paths: vec![path.to_owned()],
        selection: Selection::only(rule),
        today: Day::parse(TODAY),
        ..Options::default()
    })
}

/// Checks `files` with `rule` alone.
pub fn run_files(rule: &Rule, files: &[(&str, &str)]) -> Outcome {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    run(rule, directory.path())
}

/// The findings of `rule` in one input.
pub fn findings(rule: &Rule, dialect: Dialect, text: &str) -> Vec<Diagnostic> {
    let (name, text) = file(dialect, text);
    run_files(rule, &[(name, &text)]).findings
}

/// Asserts that `rule` finds in one input what its markers say, and nothing else.
///
/// # Panics
/// When it does not.
pub fn check(rule: &Rule, dialect: Dialect, text: &str) {
    let (name, text) = file(dialect, text);
    check_files(rule, &[(name, &text)]);
}

/// Asserts that `rule` finds in `files` what their markers say, and nothing else.
///
/// # Panics
/// When it does not.
pub fn check_files(rule: &Rule, files: &[(&str, &str)]) {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    let outcome = run(rule, directory.path());
    let root = directory.path().canonicalize().expect("the directory exists");
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    let mut found: Vec<String> = Vec::new();
    for finding in &outcome.findings {
        let span = finding.primary().span;
        let source = outcome.sources.file(span.file);
        let name = source
            .path()
            .strip_prefix(&root)
            .unwrap_or(source.path())
            .display()
            .to_string();
        let (start, end) = (outcome.sources.start(span), outcome.sources.end(span));
        let exact = format!("{name}:{}:{}-{} {}", start.line, start.column, end.column, finding.rule);
        let line = format!("{name}:{} {}", start.line, finding.rule);
        let wants_exact = files
            .iter()
            .any(|(of, text)| *of == name && carets(of, text).contains(&exact));
        found.push(if wants_exact { exact } else { line });
    }
    let mut wanted: Vec<String> = Vec::new();
    for (name, text) in files {
        wanted.extend(carets(name, text));
        for (at, line) in text.lines().enumerate() {
            if let Some((_, id)) = line.split_once("# expect: ") {
                wanted.push(format!("{name}:{} {}", at + 1, id.trim()));
            }
        }
    }
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted, "\n{}", describe(&outcome));
}

/// What `write` writes.
///
/// # Panics
/// When that is no text.
pub fn written(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory takes everything");
    String::from_utf8(bytes).expect("reports are text")
}

/// The graph as the document of `sqslint graph --format json`.
pub fn graph_json(graph: &Graph, sources: &Sources) -> String {
    written(|out| json::write(graph, sources, out))
}

/// The same where every condition has its default.
pub fn graph_json_by_default(graph: &Graph, sources: &Sources) -> String {
    written(|out| json::write_by_default(graph, sources, out))
}

/// Every finding in words, for the message of a failed test.
pub fn describe(outcome: &Outcome) -> String {
    let mut text = String::new();
    for finding in &outcome.findings {
        let _ = writeln!(text, "{} [{}] {}", finding.severity, finding.rule, finding.headline);
        for label in finding.labels() {
            let file = outcome.sources.file(label.span.file);
            let position = outcome.sources.start(label.span);
            let _ = writeln!(text, "  {}:{} {}", file.shown(), position.line, label.message);
        }
    }
    for open in &outcome.not_evaluated {
        let _ = writeln!(
            text,
            "not evaluated: {} {}: {}",
            open.rule, open.subject.address, open.reason
        );
    }
    text
}

fn carets(name: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let marker = line.trim_start().strip_prefix('#').map(str::trim_start);
        let Some(marker) = marker.filter(|rest| rest.starts_with('^')) else {
            continue;
        };
        let width = marker.chars().take_while(|c| *c == '^').count();
        let start = line.chars().take_while(|c| *c != '^').count() + 1;
        let id = marker.trim_start_matches('^').trim();
        all.push(format!("{name}:{at}:{start}-{} {id}", start + width));
    }
    all
}

fn file(dialect: Dialect, text: &str) -> (&'static str, String) {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match dialect {
        Dialect::Terraform => ("main.tf", text.to_owned()),
        Dialect::CloudFormation => (
            "template.yaml",
            format!("{text}{end}AWSTemplateFormatVersion: 2010-09-09\n"),
        ),
        Dialect::Sam => (
            "template.yaml",
            format!("{text}{end}Transform: AWS::Serverless-2016-10-31\n"),
        ),
        Dialect::Json => ("template.json", text.to_owned()),
    }
}
