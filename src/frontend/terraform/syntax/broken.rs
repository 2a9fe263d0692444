//! What remains of a place that cannot be read. An argument whose text is broken is not known, which is something
//! else than absent; where nobody can tell which argument it was, none of the block's is known that is not read.
//!
//! It guesses no meaning: only the name before a `=` and the header of a block are taken from a broken line.

use super::{Attribute, Block, Body, Expression, Kind};
use crate::source::Span;
use std::ops::Range;
use std::sync::Arc;

/// Begins no expression that can be written.
const UNREAD: &str = "text that cannot be read";

/// Stands for what could not be read: absent would be something else.
pub(in super::super) fn unread(span: Span) -> Expression {
    Expression {
        kind: Kind::Variable(UNREAD.into()),
        span,
    }
}

impl Expression {
    /// Whether it stands for what could not be read.
    pub(in super::super) fn is_unread(&self) -> bool {
        matches!(&self.kind, Kind::Variable(name) if &**name == UNREAD)
    }
}

/// A line that was left out.
pub(super) struct Line {
    /// Where it stands, without the spaces around it.
    pub(super) span: Span,
    pub(super) text: String,
}

/// Marks in `body`, the blocks of one item, what `line` may have said.
pub(super) fn mark(body: &mut Body, line: &Line) {
    if let Some(attribute) = body.attributes.iter_mut().find(|known| holds(known.span, line.span)) {
        attribute.value = Arc::new(unread(attribute.value.span));
        return;
    }
    match body.blocks.iter_mut().find(|known| holds(known.span, line.span)) {
        Some(block) => mark_inside(&mut Arc::make_mut(block).body, line),
        None => match (header(&line.text, line.span), argument(&line.text)) {
            (Some(block), _) => body.blocks.push(block),
            (None, Some(name)) => body.attributes.push(named(name, line.span)),
            // A bracket too many declares nothing.
            (None, None) => body.lost |= line.text.contains(|c| !matches!(c, '}' | ']' | ')' | ',' | ' ')),
        },
    }
}

fn mark_inside(body: &mut Body, line: &Line) {
    if let Some(attribute) = body.attributes.iter_mut().find(|known| holds(known.span, line.span)) {
        attribute.value = Arc::new(unread(attribute.value.span));
        return;
    }
    if let Some(block) = body.blocks.iter_mut().find(|known| holds(known.span, line.span)) {
        mark_inside(&mut Arc::make_mut(block).body, line);
        return;
    }
    match argument(&line.text) {
        Some(name) => body.attributes.push(named(name, line.span)),
        None => body.broken = Some(anything(line.span)),
    }
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The block that an item of which nothing can be read was meant to be, with nothing known of it.
pub(super) fn lost(text: &str, at: impl Fn(Range<usize>) -> Span) -> Option<Arc<Block>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let from = start + (line.len() - line.trim_start().len());
        start += line.len();
        if !trimmed.is_empty() && !trimmed.starts_with(['#', '/', '*']) {
            return header(trimmed, at(from..from + trimmed.len()));
        }
    }
    None
}

/// The block that a line begins.
fn header(line: &str, span: Span) -> Option<Arc<Block>> {
    let (written, _) = line.split_once('{')?;
    let mut words = written.split_whitespace();
    let kind = words.next()?;
    let labels: Vec<Arc<str>> = words.map(|word| word.trim_matches('"').into()).collect();
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_of_name);
    if !is_name(kind) || !labels.iter().all(|label| is_name(label)) {
        return None;
    }
    Some(Arc::new(Block {
        kind: kind.into(),
        labels,
        body: Body {
            broken: Some(anything(span)),
            ..Body::default()
        },
        header: span,
        span,
    }))
}

/// Stands for every argument that may be written at `span`.
pub(in super::super) fn anything(span: Span) -> Attribute {
    named("", span)
}

/// An argument of which nothing but the name is known.
fn named(name: &str, span: Span) -> Attribute {
    Attribute {
        name: name.into(),
        value: Arc::new(unread(span)),
        span,
    }
}

/// Makes every argument of a block unknown: what changes it cannot be read.
pub(in super::super) fn doubt(block: &mut Block) {
    let span = block.header;
    for attribute in &mut block.body.attributes {
        attribute.value = Arc::new(unread(attribute.value.span));
    }
    block.body.broken = Some(anything(span));
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

/// The argument that a line sets. With a bracket that is not closed in it, more than the line is lost.
fn argument(line: &str) -> Option<&str> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let count = |letters: &[char]| value.matches(letters).count();
    let is_whole = count(&['(', '[', '{']) == count(&[')', ']', '}']) && !value.contains("<<");
    let is_name = !name.is_empty() && name.chars().all(is_of_name);
    (is_name && is_whole).then_some(name)
}
