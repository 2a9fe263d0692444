//! How templates and services write what is to change: properties, resources, references.
//!
//! The file is read again and found by place; what the frontend made that nobody wrote — implicit resources, turns of
//! a loop, what a CDK app generates — has no place here, and gets no edit.

mod names;
mod properties;
mod references;
mod resources;

use super::super::comments::tree;
use super::super::edits::tree::{Editor, Step};
use super::super::tree::Node;
use crate::diagnostic::{Change, Edit};
use crate::source::{Sources, Span};

/// What the CDK writes into each resource that it generates.
const CDK_PATH: &str = "aws:cdk:path";

/// The edits that make `change` in a template.
pub(in crate::frontend) fn edits(change: &Change, sources: &Sources) -> Option<Vec<Edit>> {
    match change {
        Change::Number { place, value } => Page::with(place.header, sources, |page| page.number(place, *value)),
        Change::Remove(place) => {
            let written = place.written.filter(|_| place.origins.is_empty())?;
            Page::with(written, sources, |page| page.removal(written))
        }
        Change::Arn(span) => Page::with(*span, sources, |page| page.arn(*span)),
        Change::DeadLetterQueue(queue) => Page::with(queue.header, sources, |page| page.dead_letter_queue(queue)),
        Change::Alarm(header) => Page::with(*header, sources, |page| page.alarm(*header)),
        Change::Unquote(_) | Change::Suppression { .. } => None,
    }
}

/// Whether what is written at `span` is a reference and nothing else, and the only one to what it names.
pub(in crate::frontend) fn is_only_use(span: Span, sources: &Sources) -> bool {
    Page::with(span, sources, |page| page.is_only_use(span, sources)).unwrap_or(false)
}

/// A document of a file that is to be edited.
struct Page<'t> {
    editor: Editor<'t>,
    root: Node,
}

impl Page<'_> {
    /// What `edit` makes of the document that `span` lies in; `None` where it cannot be edited.
    fn with<T>(span: Span, sources: &Sources, edit: impl FnOnce(&Page<'_>) -> Option<T>) -> Option<T> {
        let file = sources.file(span.file);
        let text = file.text();
        let parsed = tree::parse(text, span.file);
        let is_whole = parsed.errors.is_empty() && parsed.limits.is_empty() && parsed.duplicates.is_empty();
        if !is_whole || text.contains(CDK_PATH) {
            return None;
        }
        let root = parsed.documents.into_iter().find(|root| root.span.contains(span))?;
        let is_json = tree::is_json(text) && parsed.comments.is_empty();
        let editor = Editor::new(text, &root, is_json);
        edit(&Page { editor, root })
    }

    /// The steps to what stands at `span`, unless a function of the template makes something of it.
    fn path(&self, span: Span) -> Option<Vec<Step<'_>>> {
        let path = self.editor.path(&self.root, span)?;
        let is_made = |step: &Step<'_>| step.key().is_some_and(|key| key.starts_with("Fn::"));
        (!path.iter().any(is_made)).then_some(path)
    }
}

#[cfg(test)]
mod tests;
