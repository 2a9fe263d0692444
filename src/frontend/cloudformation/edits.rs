//! Text edits of templates and services: properties, resources, references.
//!
//! The file is parsed again and its nodes are found by span. Nodes that exist in no file — generated resources,
//! iterations of a loop, resources that a CDK app generates — have no span here, so they get no edit.

mod names;
mod properties;
mod references;
mod resources;

use crate::diagnostic::{Change, Edit};
use crate::frontend::edits::piece::Style;
use crate::frontend::edits::tree::{Editor, Step};
use names::OtherNames;
use rustc_hash::FxHashMap;
use source::{Sources, Span};
use std::sync::{Arc, Mutex, PoisonError};
use trees::Node;
use trees::parsed;

/// Type of alarms.
const ALARM: &str = "AWS::CloudWatch::Alarm";

/// Returns the edits that make `change` in a template.
pub(in crate::frontend) fn edits(change: &Change, sources: &Sources) -> Option<Vec<Edit>> {
    match change {
        Change::Number { place, value } => Page::with(place.header, sources, |page| page.number(place, *value)),
        Change::ReportFailures(place) => Page::with(place.header, sources, |page| page.report(place)),
        Change::Remove(place) => {
            let written = place.written.filter(|_| place.origins.is_empty())?;
            Page::with(written, sources, |page| page.removal(written))
        }
        Change::Arn(span) => Page::with(*span, sources, |page| page.arn(*span)),
        Change::After(header, id) => Page::with(*header, sources, |page| page.depend(*header, id)),
        Change::Reference(span, id) => Page::with(*span, sources, |page| page.reference(*span, id)),
        Change::DeadLetterQueue(queue) => Page::with(queue.header, sources, |page| page.dead_letter_queue(queue)),
        // A new alarm copies the actions of an existing one.
        Change::Alarm(header) if !sources.file(header.file).text().contains(ALARM) => None,
        Change::Alarm(header) => Page::with(*header, sources, |page| page.alarm(*header)),
        Change::Dimension { alarm, queue } => Page::with(*alarm, sources, |page| page.dimension(*alarm, *queue)),
        Change::Word { .. } | Change::Unquote(_) | Change::Suppression { .. } => None,
    }
}

/// Returns `true` if only a reference is written at `span`, and it is the only one to its target.
pub(in crate::frontend) fn is_only_use(span: Span, sources: &Sources) -> bool {
    Page::with(span, sources, |page| page.is_only_use(span, sources)).unwrap_or(false)
}

/// Returns `true` if the text at `span` belongs to a single resource.
pub(in crate::frontend) fn stands_once(span: Span, sources: &Sources) -> bool {
    Page::with(span, sources, |page| Some(page.editor.stands_once(page.root, span))).unwrap_or(false)
}

/// Facts about a file that all its edits share. They are determined once, because a file may have thousands of edits.
struct Learned {
    /// Styles of its documents.
    styles: Vec<Style>,
    /// Sections of resources, by span.
    sections: Mutex<FxHashMap<Span, Arc<names::Section>>>,
}

/// A document to edit.
struct Page<'t> {
    editor: Editor<'t>,
    root: &'t Node,
    learned: &'t Learned,
    /// Names in other files with which this one may be merged.
    others: Option<OtherNames>,
}

impl Page<'_> {
    /// Calls `edit` with the document that contains `span`; returns `None` if the document cannot be edited.
    fn with<T>(span: Span, sources: &Sources, edit: impl FnOnce(&Page<'_>) -> Option<T>) -> Option<T> {
        let file = sources.file(span.file);
        let text = file.text();
        let parsed = parsed::tree(span.file, &file);
        let is_whole = parsed.errors.is_empty() && parsed.limits.is_empty() && parsed.duplicates.is_empty();
        if !is_whole {
            return None;
        }
        let mut documents = parsed.documents.iter().enumerate();
        let (at, root) = documents.find(|(_, root)| root.span.contains(span))?;
        let is_json = parsed::is_json(text) && parsed.comments.is_empty();
        let learned = file.derived(|text| Learned {
            styles: (parsed.documents.iter())
                .map(|root| Editor::new(text, root, is_json).style)
                .collect(),
            sections: Mutex::default(),
        });
        let style = learned.styles.get(at)?.clone();
        let editor = Editor { text, is_json, style };
        // A file that declares itself a template is not merged with others.
        let is_whole = ["AWSTemplateFormatVersion", "Transform"]
            .iter()
            .any(|key| root.get(key).is_some());
        let others = (!is_whole).then(|| OtherNames::of(span.file, sources));
        edit(&Page {
            editor,
            root,
            learned: &learned,
            others,
        })
    }

    /// Returns the names in a section of resources.
    fn section(&self, resources: &Node) -> Arc<names::Section> {
        let mut known = self.learned.sections.lock().unwrap_or_else(PoisonError::into_inner);
        let section = known.entry(resources.span);
        section
            .or_insert_with(|| Arc::new(names::Section::of(resources)))
            .clone()
    }

    /// Returns the path to the node at `span`, unless a function of the template processes it.
    fn path(&self, span: Span) -> Option<Vec<Step<'_>>> {
        let path = self.editor.path(self.root, span)?;
        let is_made = |step: &Step<'_>| step.key().is_some_and(|key| key.starts_with("Fn::"));
        (!path.iter().any(is_made)).then_some(path)
    }
}

#[cfg(test)]
mod tests;
