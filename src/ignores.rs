//! `--add-ignore`: writes a suppression for every finding there is, so that a project can begin with none.

use crate::config::Configs;
use crate::diagnostic::Diagnostic;
use crate::files::write::{Change, replace_all};
use crate::frontend::insertions;
use crate::pipeline::{Options, Outcome, Place};
use crate::rules;
use crate::source::{FileId, SourceFile, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What was written.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Added {
    /// Findings that are silenced now.
    pub findings: usize,
    /// Files that were changed.
    pub files: usize,
    /// Findings that nothing could be written for, as `path:line: rule`.
    pub refused: Vec<String>,
    /// Files that could not be written, with the reason.
    pub errors: Vec<String>,
}

/// Writes suppressions for the findings of `outcome`, which `options` gave, with `reason`.
pub fn add_ignores(options: &Options, outcome: &Outcome, reason: &str) -> Added {
    let sources = &outcome.sources;
    let configs = Place::of(options).configs(options);
    let reason = one_line(reason);
    let mut added = Added::default();
    let mut wanted: BTreeMap<FileId, BTreeSet<(Span, &str)>> = BTreeMap::new();
    for found in &outcome.findings {
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

/// Where a suppression of `found` belongs: at its primary label, or at the call of a module that others wrote.
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
            .of(file.path())
            .is_ok_and(|config| config.may_suppress(&found.rule))
}

fn named(span: Span, rule: &str, sources: &Sources) -> String {
    format!(
        "{}:{}: {rule}",
        sources.file(span.file).shown(),
        sources.start(span).line
    )
}

/// A comment ends with its line.
fn one_line(reason: &str) -> String {
    let words: Vec<&str> = reason.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    words
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
