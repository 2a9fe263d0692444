//! Provides code actions: fixes of findings, all safe fixes of a file, and suppressions.

use super::diagnostics::{shown, text_edits};
use super::names::Names;
use super::position::Lines;
use super::settings::Settings;
use super::worker::Worker;
use crate::diagnostic::{Diagnostic as Finding, Safety};
use crate::fixes::ReservedRanges;
use crate::frontend::insertions;
use crate::pipeline::Outcome;
use crate::rules::{self, Rule};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Placeholder in a suppression for the reason, which the user adds.
const REASON: &str = "<reason>";

type Edits = BTreeMap<PathBuf, Vec<TextEdit>>;

/// Returns the kind of the action that applies all safe fixes of a file, which editors can run on save.
pub(super) fn fix_all_kind() -> CodeActionKind {
    CodeActionKind::new("source.fixAll.sqslint")
}

/// Returns the actions for a range of a file.
pub(super) fn at(worker: &mut Worker, params: &CodeActionParams) -> Option<Vec<CodeActionOrCommand>> {
    let path = worker.path(&params.text_document.uri)?;
    let (settings, names) = (worker.settings.clone(), worker.names.clone());
    let project = worker.projects.iter_mut().find(|project| project.holds(&path))?;
    let outcome = project.look(&path)?;
    let wants = |kind: &CodeActionKind| {
        let only = params.context.only.as_ref();
        // A request for `source.fixAll` includes `source.fixAll.sqslint`.
        let is_requested = |requested: &CodeActionKind| {
            let rest = kind.as_str().strip_prefix(requested.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        only.is_none_or(|only| only.iter().any(is_requested))
    };
    let writer = Writer {
        outcome,
        settings: &settings,
        names: &names,
    };
    let mut actions = Vec::new();
    if wants(&CodeActionKind::QUICKFIX) {
        actions.extend(writer.quick_fixes(&path, params));
    }
    if wants(&fix_all_kind()) {
        actions.extend(writer.fix_all(&path));
    }
    Some(actions.into_iter().map(CodeActionOrCommand::CodeAction).collect())
}

struct Writer<'o> {
    outcome: &'o Outcome,
    settings: &'o Settings,
    names: &'o Names,
}

impl Writer<'_> {
    fn quick_fixes(&self, path: &Path, params: &CodeActionParams) -> Vec<CodeAction> {
        let sources = &self.outcome.sources;
        let mut all = Vec::new();
        for found in self.findings_in(path) {
            let span = found.primary().span;
            let file = sources.file(span.file);
            let lines = Lines::of(&file, self.settings.encoding);
            let range = lines.offset(params.range.start)..=lines.offset(params.range.end);
            // A caret anywhere on the line selects the findings on it.
            let line = file.line_range(file.line_index(span.start as usize));
            let (start, end) = (line.start.min(span.start as usize), line.end.max(span.end as usize));
            if *range.end() < start || *range.start() >= end {
                continue;
            }
            all.extend(self.fixed(found));
            all.extend(self.suppressed(found));
        }
        all
    }

    fn findings_in<'w>(&'w self, path: &'w Path) -> impl Iterator<Item = &'w Finding> {
        let findings = self.outcome.findings.iter();
        findings.filter(move |found| self.outcome.sources.file(found.primary().span.file).path() == path)
    }

    fn action(&self, title: String, kind: CodeActionKind, found: Option<&Finding>, edits: Edits) -> Option<CodeAction> {
        let sources = &self.outcome.sources;
        Some(CodeAction {
            title,
            kind: Some(kind),
            diagnostics: found.map(|found| vec![shown(found, sources, self.names, self.settings)]),
            edit: Some(self.edit(edits)?),
            ..CodeAction::default()
        })
    }

    fn fixed(&self, found: &Finding) -> Option<CodeAction> {
        let fix = found.fix.as_deref()?;
        let (safety, warning) = match fix.safety {
            Safety::Safe => ("safe fix", ""),
            Safety::Unsafe => ("unsafe fix", ": changes what is deployed"),
        };
        let edits = text_edits(&fix.edits, &self.outcome.sources, self.settings.encoding);
        let files = match edits.len() {
            0 | 1 => String::new(),
            several => format!(" in {several} files"),
        };
        let title = format!("{}{files} ({safety}{warning})", capitalised(&fix.title));
        let action = self.action(title, CodeActionKind::QUICKFIX, Some(found), edits)?;
        Some(CodeAction {
            is_preferred: Some(fix.safety == Safety::Safe),
            ..action
        })
    }

    fn suppressed(&self, found: &Finding) -> Option<CodeAction> {
        // Files that cannot be read must not be suppressed.
        if rules::by_id(&found.rule).is_some_and(Rule::is_raised) {
            return None;
        }
        let sources = &self.outcome.sources;
        let span = found.primary().span;
        let (edits, _) = insertions(span.file, &sources.file(span.file), &[(span, &*found.rule)], REASON);
        let edits = text_edits(&edits, sources, self.settings.encoding);
        if edits.is_empty() {
            return None;
        }
        let title = format!("Suppress `{}` here, with a reason", found.rule);
        self.action(title, CodeActionKind::QUICKFIX, Some(found), edits)
    }

    /// Combines all safe fixes of the file that do not overlap.
    fn fix_all(&self, path: &Path) -> Option<CodeAction> {
        let sources = &self.outcome.sources;
        let mut taken = ReservedRanges::default();
        let mut edits = Vec::new();
        let mut count = 0;
        for found in self.findings_in(path) {
            let fix = found.fix.as_deref().filter(|fix| fix.safety == Safety::Safe);
            if let Some(fix) = fix.filter(|fix| taken.take(fix)) {
                count += 1;
                edits.extend(fix.edits.iter().cloned());
            }
        }
        let title = match count {
            0 => return None,
            1 => "Make the safe fix of this file".to_owned(),
            count => format!("Make the {count} safe fixes of this file"),
        };
        let edits = text_edits(&edits, sources, self.settings.encoding);
        self.action(title, fix_all_kind(), None, edits)
    }

    /// Converts the edits for the editor.
    fn edit(&self, edits: Edits) -> Option<WorkspaceEdit> {
        let mut all: Vec<(Uri, Option<i32>, Vec<TextEdit>)> = Vec::new();
        for (path, edits) in edits {
            all.push((self.names.uri(&path)?, self.names.version(&path), edits));
        }
        if self.settings.versioned_edits {
            let all = all.into_iter().map(|(uri, version, edits)| TextDocumentEdit {
                text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
                edits: edits.into_iter().map(OneOf::Left).collect(),
            });
            return Some(WorkspaceEdit {
                document_changes: Some(DocumentChanges::Edits(all.collect())),
                ..WorkspaceEdit::default()
            });
        }
        #[allow(clippy::mutable_key_type)] // required by the protocol's types
        let changes: HashMap<Uri, Vec<TextEdit>> = all.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
        Some(WorkspaceEdit {
            changes: Some(changes),
            ..WorkspaceEdit::default()
        })
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
