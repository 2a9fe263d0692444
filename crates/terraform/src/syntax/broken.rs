//! Recovers what is certain from a part that cannot be read. The value of a broken argument is unknown, which differs
//! from absent. If the name of the argument cannot be determined, every argument of the block that was not read is
//! unknown.
//!
//! Nothing is guessed: only the name in front of a `=` and the header of a block are taken from a broken line.

use super::{Attribute, Block, Body, Expression, ExpressionKind};
use source::Span;
use std::ops::Range;
use std::sync::Arc;

/// A variable name that no valid expression has.
const UNREAD: &str = "text that cannot be read";

/// Returns an expression that represents unreadable text, which is not the same as absent.
pub fn unread(span: Span) -> Expression {
    Expression::new(ExpressionKind::Variable(UNREAD.into()), span)
}

impl Expression {
    /// Returns `true` if the expression represents unreadable text.
    pub(crate) fn is_unread(&self) -> bool {
        matches!(&self.kind, ExpressionKind::Variable(name) if &**name == UNREAD)
    }
}

/// A line that was omitted.
pub(crate) struct Line {
    /// Span of the line without surrounding whitespace.
    pub(crate) span: Span,
    pub(crate) text: String,
}

/// Marks in `body`, the content of one item, what `line` may have declared.
pub(crate) fn mark(body: &mut Body, line: &Line) {
    if let Some(attribute) = body.attributes.iter_mut().find(|known| holds(known.span, line.span)) {
        attribute.value = Arc::new(unread(attribute.value.span));
        return;
    }
    match body.blocks.iter_mut().find(|known| holds(known.span, line.span)) {
        Some(block) => mark_inside(&mut Arc::make_mut(block).body, line),
        None => match (header(&line.text, line.span), argument(&line.text)) {
            (Some(block), _) => body.blocks.push(block),
            (None, Some(name)) => body.attributes.push(named(name, line.span)),
            // A surplus bracket declares nothing.
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

/// Returns the block that an unreadable item declares, with unknown content.
pub(crate) fn lost(text: &str, at: impl Fn(Range<usize>) -> Span) -> Option<Arc<Block>> {
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

/// Parses the header of the block that begins on a line.
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

/// Returns an attribute that represents every argument that may be written at `span`.
pub fn anything(span: Span) -> Attribute {
    named("", span)
}

/// Returns an argument with an unknown value.
fn named(name: &str, span: Span) -> Attribute {
    Attribute {
        name: name.into(),
        value: Arc::new(unread(span)),
        span,
    }
}

/// Makes every argument of a block unknown, because a file that overrides it cannot be read.
pub fn doubt(block: &mut Block) {
    let span = block.header;
    for attribute in &mut block.body.attributes {
        attribute.value = Arc::new(unread(attribute.value.span));
    }
    block.body.broken = Some(anything(span));
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

/// Returns the name of the argument that a line sets; `None` if an unclosed bracket makes the value extend beyond the
/// line.
fn argument(line: &str) -> Option<&str> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let count = |letters: &[char]| value.matches(letters).count();
    let is_whole = count(&['(', '[', '{']) == count(&[')', ']', '}']) && !value.contains("<<");
    let is_name = !name.is_empty() && name.chars().all(is_of_name);
    (is_name && is_whole).then_some(name)
}
