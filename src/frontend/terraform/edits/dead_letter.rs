//! Dead-letter queues, and alarms on them, as blocks that follow the block of the queue.

use super::arguments::add;
use super::document::{Document, FoundBlock, is_overridden};
use super::module::Module;
use super::wanted::{ArgumentValue, EditedQueue, NewResource, PLACEMENT, QUEUE, queue_names};
use crate::diagnostic::{Edit, MissingDeadLetterQueue};
use source::{Sources, Span};
use std::fmt::Write as _;

/// Returns the edits that give a queue a redrive policy, and declare the dead-letter queue if it does not exist.
pub(super) fn queue(document: &Document, queue: &MissingDeadLetterQueue, sources: &Sources) -> Option<Vec<Edit>> {
    let found = queue_at(document, queue.header, sources)?;
    let module = Module::read(document.id, sources);
    let raw = |name: &str| raw(document, &found, name);
    let wanted = source(&found, &raw).dead_letter_queue(queue, &module)?;
    let step = document.step();
    let policy = format!(
        "jsonencode({{\n{step}deadLetterTargetArn = {}\n{step}maxReceiveCount     = {}\n}})",
        wanted.target, queue.max_receive_count
    );
    let mut edits = vec![add(document, &found, queue_names()?.redrive, &policy)?];
    if let Some(queue) = &wanted.queue {
        edits.push(insertion_after(document, &found, queue)?);
    }
    Some(edits)
}

/// Returns the edit that declares an alarm on the dead-letter queue with this header.
pub(super) fn alarm(document: &Document, header: Span, sources: &Sources) -> Option<Edit> {
    let found = queue_at(document, header, sources)?;
    let raw = |name: &str| raw(document, &found, name);
    let alarm = source(&found, &raw).alarm(&Module::read(document.id, sources))?;
    insertion_after(document, &found, &alarm)
}

/// Returns the edit that adds the dimension of the queue at `queue` to the alarm at `alarm`.
pub(super) fn dimension(document: &Document, alarm: Span, queue: Span, sources: &Sources) -> Option<Edit> {
    let found = document.resource(alarm)?;
    let module = Module::read(document.id, sources);
    let label = module.placed_like(found.block, &PLACEMENT, queue)?;
    let name = source(&found, &|_| None).reference(label, "name");
    let step = document.step();
    add(
        document,
        &found,
        "dimensions",
        &format!("{{\n{step}QueueName = {name}\n}}"),
    )
}

fn queue_at<'d>(document: &'d Document, header: Span, sources: &Sources) -> Option<FoundBlock<'d>> {
    let found = document.resource(header)?;
    let is_queue = found.block.labels.first().is_some_and(|kind| &**kind == QUEUE);
    (is_queue && !is_overridden(document.id, found.block, sources)).then_some(found)
}

fn raw(document: &Document, found: &FoundBlock<'_>, name: &str) -> Option<String> {
    document.value(found.block.body.attribute(name)?).map(str::to_owned)
}

fn source<'d>(found: &FoundBlock<'d>, raw: &'d dyn Fn(&str) -> Option<String>) -> EditedQueue<'d> {
    EditedQueue {
        block: found.block,
        raw,
        is_json: false,
    }
}

/// Returns the edit that adds a resource after a block.
fn insertion_after(document: &Document, found: &FoundBlock<'_>, wanted: &NewResource) -> Option<Edit> {
    let at = document.after(found.block)?;
    let line_break = document.line_break();
    let mut text = String::new();
    if document.text().get(..at).is_some_and(|before| !before.ends_with('\n')) {
        text.push_str(line_break);
    }
    text.push_str(line_break);
    text.push_str(&block(wanted, document));
    let next = document.slice(document.line(at));
    if at < document.text().len() && !next.trim().is_empty() {
        text.push_str(line_break);
    }
    Some(Edit::insertion(found.block.header, at, text))
}

/// Returns the lines of a resource as `terraform fmt` formats them, with a blank line between its groups of arguments.
fn block(wanted: &NewResource, document: &Document) -> String {
    let (step, line_break) = (document.step(), document.line_break());
    let mut text = format!("resource \"{}\" \"{}\" {{{line_break}", wanted.kind, wanted.label);
    let groups = wanted.groups.iter().filter(|group| !group.is_empty());
    for (at, group) in groups.enumerate() {
        if at > 0 {
            text.push_str(line_break);
        }
        let arguments = group.iter().map(|(name, value)| (*name, spelled(value, document)));
        let arguments: Vec<(&str, String)> = arguments.collect();
        let is_line = |(_, value): &(&str, String)| !value.contains('\n');
        for part in arguments.chunk_by(|a, b| is_line(a) && is_line(b)) {
            let names = part
                .iter()
                .filter(|argument| is_line(argument))
                .map(|(name, _)| name.len());
            let width = names.max().unwrap_or(0);
            for (name, value) in part {
                // Writing to a string cannot fail.
                let _ = write!(text, "{step}{name:width$} = {value}{line_break}");
            }
        }
    }
    text + "}" + line_break
}

fn spelled(value: &ArgumentValue, document: &Document) -> String {
    match value {
        ArgumentValue::Number(number) => number.to_string(),
        ArgumentValue::Flag(flag) => flag.to_string(),
        ArgumentValue::Text(content) => format!("\"{content}\""),
        ArgumentValue::Reference(text) | ArgumentValue::Copied(text) => text.clone(),
        ArgumentValue::List(references) => format!("[{}]", references.join(", ")),
        ArgumentValue::Object(key, reference) => {
            let (step, line_break) = (document.step(), document.line_break());
            format!("{{{line_break}{step}{step}{key} = {reference}{line_break}{step}}}")
        }
    }
}
