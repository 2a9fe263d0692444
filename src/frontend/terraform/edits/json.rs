//! Edits of Terraform files in JSON syntax, where a block is an entry and an expression is a template.

use super::arguments::{is_literal, takes, takes_report};
use super::document::is_overridden;
use super::module::Module;
use super::wanted::{ALARM, ArgumentValue, EditedQueue, NewResource, QUEUE, queue_names};
use crate::diagnostic::{Change, Edit, MissingDeadLetterQueue, Place, REPORT_FAILURES};
use crate::frontend::edits::piece::NewValue;
use crate::frontend::edits::tree::{Editor, Step};
use source::{Sources, Span};
use std::sync::Arc;
use terraform::syntax::{Block, Code};
use trees::parsed::Repeating;
use trees::{Entry, Node, Value};

/// Returns the edits that apply `change` to the resource with this header.
pub(super) fn edits(change: &Change, header: Span, sources: &Sources) -> Option<Vec<Edit>> {
    let file = sources.file(header.file);
    let parsed = Repeating::of(header.file, &file);
    let code = Code::of(header.file, &file);
    if !code.is_whole() || !parsed.duplicates.is_empty() || !parsed.comments.is_empty() {
        return None;
    }
    let root = parsed.root()?;
    let block = code.body.blocks.iter().find(|block| block.header == header)?;
    if &*block.kind != "resource" || is_overridden(header.file, block, sources) {
        return None;
    }
    let editor = Editor::new(file.text(), root, true);
    let resource = Resource::of(root, block.clone(), editor, sources)?;
    match change {
        Change::Number { place, value } if place.written.is_none() => resource.insert(place, *value),
        Change::ReportFailures(place) if place.written.is_none() => resource.report(place),
        Change::Remove(place) => resource.remove(place),
        Change::DeadLetterQueue(queue) => resource.dead_letter_queue(queue),
        Change::Alarm(_) => resource.alarm(),
        _ => None,
    }
}

/// A resource with a body that is a single object.
struct Resource<'n> {
    /// The object with all resources, by type.
    all: &'n Node,
    /// The object with the resources of the same type.
    like: &'n Node,
    entry: &'n Entry,
    block: Arc<Block>,
    editor: Editor<'n>,
    sources: &'n Sources,
}

impl<'n> Resource<'n> {
    fn of(root: &'n Node, block: Arc<Block>, editor: Editor<'n>, sources: &'n Sources) -> Option<Self> {
        let path = editor.path(root, block.header)?;
        let [Step::Entry(..), Step::Entry(all, _), Step::Entry(like, entry)] = *path.as_slice() else {
            return None;
        };
        matches!(entry.value.value, Value::Mapping(_)).then_some(Resource {
            all,
            like,
            entry,
            block,
            editor,
            sources,
        })
    }

    fn insert(&self, place: &Place, value: i64) -> Option<Vec<Edit>> {
        let is_known = takes(&self.block, &place.name);
        let edit = is_known.then(|| self.add(&place.name, &NewValue::Number(value)))??;
        Some(vec![edit])
    }

    fn report(&self, place: &Place) -> Option<Vec<Edit>> {
        let types = NewValue::Short(vec![NewValue::text(REPORT_FAILURES)]);
        let edit = takes_report(&self.block, &place.name).then(|| self.add(&place.name, &types))??;
        Some(vec![edit])
    }

    /// Returns the edit that adds an argument, at the end if possible.
    fn add(&self, name: &str, value: &NewValue) -> Option<Edit> {
        let entries = self.entry.value.entries()?;
        let after = entries.iter().rev().find(|entry| self.editor.is_one_line(entry));
        let after = after.map(|entry| &*entry.key);
        self.editor.insert(&self.entry.value, after, name, value)
    }

    fn remove(&self, place: &Place) -> Option<Vec<Edit>> {
        let written = place.written?;
        let attribute = self.block.body.attribute(&place.name)?;
        let entry = self.entry.value.entry(&place.name)?;
        if !is_literal(attribute) || !entry.span().contains(written) {
            return None;
        }
        self.editor.remove(&self.entry.value, entry).map(|edit| vec![edit])
    }

    fn dead_letter_queue(&self, queue: &MissingDeadLetterQueue) -> Option<Vec<Edit>> {
        let module = self.module()?;
        let raw = |name: &str| self.raw(name);
        let wanted = self.source(&raw).dead_letter_queue(queue, &module)?;
        let policy = format!(
            "${{jsonencode({{ deadLetterTargetArn = {}, maxReceiveCount = {} }})}}",
            wanted.target, queue.max_receive_count
        );
        let mut edits = vec![self.add(queue_names()?.redrive, &NewValue::text(policy))?];
        if let Some(queue) = &wanted.queue {
            edits.push(self.declare(queue)?);
        }
        Some(edits)
    }

    fn alarm(&self) -> Option<Vec<Edit>> {
        let module = self.module()?;
        let raw = |name: &str| self.raw(name);
        let alarm = self.source(&raw).alarm(&module)?;
        Some(vec![self.declare(&alarm)?])
    }

    /// Returns its module if it is a queue.
    fn module(&self) -> Option<Module<'n>> {
        let is_queue = self.block.labels.first().is_some_and(|kind| &**kind == QUEUE);
        is_queue.then(|| Module::read(self.block.header.file, self.sources))
    }

    fn source<'s>(&'s self, raw: &'s dyn Fn(&str) -> Option<String>) -> EditedQueue<'s> {
        EditedQueue {
            block: &self.block,
            raw,
            is_json: true,
        }
    }

    fn raw(&self, name: &str) -> Option<String> {
        let node = self.entry.value.get(name)?;
        self.editor.text.get(node.span.range()).map(str::to_owned)
    }

    /// Returns the edit that declares a resource: after this one, or with the others of its type.
    fn declare(&self, wanted: &NewResource) -> Option<Edit> {
        let arguments = wanted.groups.iter().flatten();
        let arguments = arguments.map(|(name, value)| ((*name).to_owned(), piece(value)));
        let body = NewValue::Mapping(arguments.collect());
        if wanted.kind != ALARM {
            return self
                .editor
                .insert(self.like, Some(&self.entry.key), &wanted.label, &body);
        }
        if let Some(alarms) = self.all.get(ALARM) {
            return self.editor.insert(alarms, None, &wanted.label, &body);
        }
        let alarms = NewValue::Mapping(vec![(wanted.label.clone(), body)]);
        self.editor.insert(self.all, Some(QUEUE), ALARM, &alarms)
    }
}

fn piece(value: &ArgumentValue) -> NewValue {
    let reference = |text: &String| NewValue::Text(format!("${{{text}}}"));
    match value {
        ArgumentValue::Number(number) => NewValue::Number(*number),
        ArgumentValue::Flag(flag) => NewValue::Flag(*flag),
        ArgumentValue::Text(content) => NewValue::Text(content.clone()),
        ArgumentValue::Reference(text) => reference(text),
        ArgumentValue::List(references) => NewValue::Short(references.iter().map(reference).collect()),
        ArgumentValue::Object(key, text) => NewValue::Mapping(vec![((*key).to_owned(), reference(text))]),
        ArgumentValue::Copied(text) => NewValue::Verbatim(text.clone()),
    }
}
