//! Helpers to check rules on inputs that contain the expected findings. Shared with `tests/`, hidden from the
//! documentation.
//!
//! A marker `# expect: <rule-id>` at the end of a line expects a finding whose primary label starts on that line; `#
//! ^^^ <rule-id>` below a line expects a primary label that covers exactly the columns of the carets.

pub mod handlers;
mod stack;
mod table;

pub use stack::{Stack, queue, stack};
pub use table::check_file_cases;

use crate::diagnostic::Diagnostic;
use crate::graph::Graph;
use crate::report::graph::json;
use crate::rules::Rule;
use crate::selection::Selection;
use crate::suppress::Day;
use crate::{Options, Outcome};
use source::Sources;
use source::files::Scratch;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Language of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// A single `main.tf`.
    Terraform,
    /// A single CloudFormation template in YAML; `AWSTemplateFormatVersion` is appended.
    CloudFormation,
    /// A single SAM template in YAML; `Transform` is appended.
    Sam,
    /// A single CloudFormation template in JSON.
    Json,
    /// A single `serverless.yml`.
    Serverless,
}

impl Dialect {
    /// Returns the findings of `rule` in one input.
    pub fn findings(self, rule: &Rule, text: &str) -> Vec<Diagnostic> {
        let (name, text) = file(self, text);
        run_files(rule, &[(name, &text)]).findings
    }

    /// Asserts that the findings of `rule` in one input are those that its markers expect.
    ///
    /// # Panics
    /// If they are not.
    pub fn check(self, rule: &Rule, text: &str) {
        let (name, text) = file(self, text);
        check_files(rule, &[(name, &text)]);
    }

    /// Checks `rule` on one input for each row of `table`, like [`check_file_cases`].
    ///
    /// # Panics
    /// If the findings are not those that the table expects.
    pub fn check_cases(self, rule: &Rule, text: &str, table: &str) {
        let (name, text) = file(self, text);
        check_file_cases(rule, &[(name, &text)], table);
    }
}

/// Current day for rules.
const TODAY: &str = "2026-09-01";

/// Directory that is removed on drop.
#[derive(Debug)]
pub struct TemporaryDirectory(Scratch);

impl TemporaryDirectory {
    /// Creates a directory that contains these files.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn with_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        TemporaryDirectory(Scratch::with_files(files).expect("the temporary directory is writable"))
    }

    /// Returns the real path of the directory.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Checks everything under `path` with `rule` only.
pub fn run(rule: &Rule, path: &Path) -> Outcome {
    crate::check(&Options {
        paths: vec![path.to_owned()],
        selection: Selection::only(rule),
        deployed: Some(path.join("snapshot.json")).filter(|snapshot| snapshot.is_file()),
        today: Day::parse(TODAY),
        ..Options::default()
    })
}

/// Checks `files` with `rule` only.
pub fn run_files(rule: &Rule, files: &[(&str, &str)]) -> Outcome {
    let directory = TemporaryDirectory::with_files(files.iter().copied());
    run(rule, directory.path())
}

/// Asserts that the findings of `rule` in `files` are those that their markers expect.
///
/// # Panics
/// If they are not.
pub fn check_files(rule: &Rule, files: &[(&str, &str)]) {
    marked(rule, files, "");
}

/// Returns the outcome of `rule` for `files`, after [comparing](check_files) it with their markers.
fn marked(rule: &Rule, files: &[(&str, &str)], message: &str) -> Outcome {
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
    let texts = || -> String { files.iter().map(|(name, text)| format!("{name}\n{text}\n")).collect() };
    assert_eq!(found, wanted, "{message}\n{}\n{}", describe(&outcome), texts());
    outcome
}

/// Returns the output of `write`.
///
/// # Panics
/// If the output is not UTF-8.
pub fn written(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("reports are text")
}

/// Returns the graph as the document of `sqslint graph --format json`.
pub fn graph_json(graph: &Graph, sources: &Sources) -> String {
    written(|out| json::write(graph, sources, out))
}

/// Returns the graph as a document for the default value of every condition.
pub fn graph_json_by_default(graph: &Graph, sources: &Sources) -> String {
    written(|out| json::write_by_default(graph, sources, out))
}

/// Describes every finding, for the message of a failed test.
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

pub(crate) fn file(dialect: Dialect, text: &str) -> (&'static str, String) {
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
        Dialect::Serverless => ("serverless.yml", text.to_owned()),
    }
}
