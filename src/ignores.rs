//! Implements `--add-ignore`: writes a suppression for every finding that the run prints, so that a project can start
//! without any.

use crate::config::Configs;
use crate::diagnostic::Diagnostic;
use crate::frontend::insertions;
use crate::pipeline::{Options, Outcome, RunContext};
use crate::rules;
use source::files::write::{Change, replace_all};
use source::{FileId, SourceFile, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Summary of the suppressions written.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Added {
    /// Number of findings that are now suppressed.
    pub findings: usize,
    /// Number of changed files.
    pub files: usize,
    /// Findings that cannot be suppressed, as `path:line: rule`.
    pub refused: Vec<String>,
    /// Errors for files that could not be written.
    pub errors: Vec<String>,
}

/// Writes suppressions with `reason` for the findings of `outcome`, the result of a run with `options`.
pub fn add_ignores(options: &Options, outcome: &Outcome, reason: &str) -> Added {
    let sources = &outcome.sources;
    let configs = RunContext::of(options).configs(options);
    let reason = one_line(reason);
    let mut added = Added::default();
    let mut wanted: BTreeMap<FileId, BTreeSet<(Span, &str)>> = BTreeMap::new();
    let chosen = outcome
        .findings
        .iter()
        .filter(|found| found.severity >= options.edit_severity);
    for found in chosen {
        match place(found, sources).filter(|_| may_be_silenced(found, &configs, sources)) {
            Some(span) => {
                wanted.entry(span.file).or_default().insert((span, &*found.rule));
            }
            None => added.refused.push(named(found.primary().span, &found.rule, sources)),
        }
    }
    let mut texts: Vec<(Arc<SourceFile>, String)> = Vec::new();
    for (id, wanted) in wanted {
        let wanted: Vec<_> = wanted.into_iter().collect();
        let file = sources.file(id);
        let (edits, refused) = insertions(id, &file, &wanted, &reason);
        let refused = refused.into_iter().map(|(span, rule)| named(span, rule, sources));
        let before = added.refused.len();
        added.refused.extend(refused);
        let silenced = wanted.len() - (added.refused.len() - before);
        if edits.is_empty() {
            continue;
        }
        let mut text = file.text().to_owned();
        for edit in edits.iter().rev() {
            edit.apply(&mut text);
        }
        added.findings += silenced;
        texts.push((file, text));
    }
    let changes: Vec<Change<'_>> = texts.iter().map(|(file, text)| change(file, text)).collect();
    match replace_all(&changes, sources.files()) {
        Ok(()) => added.files = changes.len(),
        Err(failure) => {
            added.findings = 0;
            let shown = sources.shown_of(&failure.path);
            added.errors.push(format!("cannot write `{shown}`: {}", failure.error));
        }
    }
    added
}

fn change<'c>(file: &'c SourceFile, text: &'c str) -> Change<'c> {
    Change {
        path: file.path(),
        before: file.text(),
        after: text,
    }
}

/// Returns the location for a suppression of `found`: its primary label or, if that is in a third-party module, the
/// call of the module.
fn place(found: &Diagnostic, sources: &Sources) -> Option<Span> {
    let is_ours = |span: &Span| {
        let file = sources.file(span.file);
        let mut parts = file.path().components();
        !file.is_guarded() && !parts.any(|part| part.as_os_str() == ".terraform")
    };
    let labels = std::iter::once(found.primary().span);
    let calls = found.through.iter().rev().copied();
    labels.chain(calls).find(is_ours)
}

fn may_be_silenced(found: &Diagnostic, configs: &Configs, sources: &Sources) -> bool {
    let file = sources.file(found.primary().span.file);
    let is_raised = rules::by_id(&found.rule).is_some_and(rules::Rule::is_raised);
    !is_raised
        && configs
            .for_path(file.path())
            .is_ok_and(|config| config.may_suppress(&found.rule))
}

fn named(span: Span, rule: &str, sources: &Sources) -> String {
    format!(
        "{}:{}: {rule}",
        sources.file(span.file).shown(),
        sources.start(span).line
    )
}

/// Joins the lines of a reason, since a comment ends with its line.
fn one_line(reason: &str) -> String {
    let words: Vec<&str> = reason.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    words
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
