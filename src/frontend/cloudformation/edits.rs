//! How templates and services write what is to change: properties, resources, references.
//!
//! The file is read again and found by place; what the frontend made that nobody wrote — implicit resources, turns of
//! a loop, what a CDK app generates — has no place here, and gets no edit.

mod names;
mod properties;
mod references;
mod resources;

use super::super::edits::tree::{Editor, Step};
use super::super::parsed;
use super::super::tree::Node;
use crate::diagnostic::{Change, Edit};
use crate::source::{SourceFile, Sources, Span};
use std::sync::Arc;

/// The type of alarms.
const ALARM: &str = "AWS::CloudWatch::Alarm";

/// The edits that make `change` in a template.
pub(in crate::frontend) fn edits(change: &Change, sources: &Sources) -> Option<Vec<Edit>> {
    match change {
        Change::Number { place, value } => Page::with(place.header, sources, |page| page.number(place, *value)),
        Change::ReportFailures(place) => Page::with(place.header, sources, |page| page.report(place)),
        Change::Remove(place) => {
            let written = place.written.filter(|_| place.origins.is_empty())?;
            Page::with(written, sources, |page| page.removal(written))
        }
        Change::Arn(span) => Page::with(*span, sources, |page| page.arn(*span)),
        Change::DeadLetterQueue(queue) => Page::with(queue.header, sources, |page| page.dead_letter_queue(queue)),
        // An alarm tells whom another one tells.
        Change::Alarm(header) if !sources.file(header.file).text().contains(ALARM) => None,
        Change::Alarm(header) => Page::with(*header, sources, |page| page.alarm(*header)),
        Change::Unquote(_) | Change::Suppression { .. } => None,
    }
}

/// Whether what is written at `span` is a reference and nothing else, and the only one to what it names.
pub(in crate::frontend) fn is_only_use(span: Span, sources: &Sources) -> bool {
    Page::with(span, sources, |page| page.is_only_use(span, sources)).unwrap_or(false)
}

/// Whether what is written at `span` is there for one resource alone.
pub(in crate::frontend) fn stands_once(span: Span, sources: &Sources) -> bool {
    Page::with(span, sources, |page| Some(page.editor.stands_once(page.root, span))).unwrap_or(false)
}

/// A document of a file that is to be edited.
struct Page<'t> {
    editor: Editor<'t>,
    root: &'t Node,
    /// The other files, where this one may be merged with some of them.
    others: Vec<Arc<SourceFile>>,
}

impl Page<'_> {
    /// What `edit` makes of the document that `span` lies in; `None` where it cannot be edited.
    fn with<T>(span: Span, sources: &Sources, edit: impl FnOnce(&Page<'_>) -> Option<T>) -> Option<T> {
        let file = sources.file(span.file);
        let text = file.text();
        let parsed = parsed::tree(span.file, &file);
        let is_whole = parsed.errors.is_empty() && parsed.limits.is_empty() && parsed.duplicates.is_empty();
        if !is_whole {
            return None;
        }
        let root = parsed.documents.iter().find(|root| root.span.contains(span))?;
        let is_json = parsed::is_json(text) && parsed.comments.is_empty();
        let editor = Editor::new(text, root, is_json);
        // What says that it is a template is one of its own.
        let is_whole = ["AWSTemplateFormatVersion", "Transform"]
            .iter()
            .any(|key| root.get(key).is_some());
        let all = if is_whole { Vec::new() } else { sources.all() };
        let others = all.into_iter().filter(|(id, _)| *id != span.file);
        let others = others.map(|(_, file)| file).collect();
        edit(&Page { editor, root, others })
    }

    /// The steps to what stands at `span`, unless a function of the template makes something of it.
    fn path(&self, span: Span) -> Option<Vec<Step<'_>>> {
        let path = self.editor.path(self.root, span)?;
        let is_made = |step: &Step<'_>| step.key().is_some_and(|key| key.starts_with("Fn::"));
        (!path.iter().any(is_made)).then_some(path)
    }
}

#[cfg(test)]
mod tests;
