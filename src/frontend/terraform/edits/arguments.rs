//! Inserts and removes arguments such that `terraform fmt` has nothing to change if it had nothing to change before.
//!
//! `terraform fmt` aligns the `=` of arguments on consecutive lines. A new argument joins such a group if its name is
//! short enough, and is separated by a blank line if it would move the others.

use super::alignment::{self, groups, is_loose};
use super::document::{Argument, Document, FoundBlock, is_overridden};
use crate::diagnostic::{Edit, Place, REPORT_FAILURES};
use crate::frontend::lower::NodeKind;
use crate::frontend::terraform::lower;
use source::{Sources, Span};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use terraform::module::Source;
use terraform::registry;
use terraform::syntax::{Attribute, Block, ExpressionKind};

/// Returns the edit that inserts the argument at `place`, which is absent.
pub(super) fn insert(document: &Document, place: &Place, value: i64, sources: &Sources) -> Option<Edit> {
    let found = document.block(place.header)?;
    let is_known = match &*found.block.kind {
        "resource" => takes(found.block, &place.name),
        "module" => is_passed_to_resource(found.block, &place.name),
        _ => false,
    };
    if !is_known || is_overridden(document.id, found.block, sources) {
        return None;
    }
    add(document, &found, &place.name, &value.to_string())
}

/// Returns the edit that enables partial batch responses of a mapping, if its response types are absent.
pub(super) fn insert_report(document: &Document, place: &Place, sources: &Sources) -> Option<Edit> {
    let found = document.block(place.header)?;
    let may_be = &*found.block.kind == "resource" && takes_report(found.block, &place.name);
    if !may_be || is_overridden(document.id, found.block, sources) {
        return None;
    }
    add(document, &found, &place.name, &format!("[\"{REPORT_FAILURES}\"]"))
}

/// Returns the edit that makes the resource at `header` depend on `other`.
pub(super) fn depend(document: &Document, header: Span, other: &str, sources: &Sources) -> Option<Edit> {
    let found = document.around(header)?;
    if is_overridden(document.id, found.block, sources) {
        return None;
    }
    match found.block.body.attribute("depends_on").map(|written| &*written.value) {
        None => add(document, &found, "depends_on", &format!("[{other}]")),
        Some(list) => match &list.kind {
            ExpressionKind::Tuple(items) => {
                let span = items.last()?.span;
                Some(Edit::insertion(span, span.end as usize, format!(", {other}")))
            }
            _ => None,
        },
    }
}

/// Returns `true` if the resource has a list of response types with this name.
pub(super) fn takes_report(block: &Block, name: &str) -> bool {
    node_kind(block).and_then(NodeKind::response_types) == Some(name)
}

/// Returns `true` if the resource has a numeric argument with this name.
pub(super) fn takes(block: &Block, name: &str) -> bool {
    node_kind(block).is_some_and(|kind| kind.numbers().contains(&name))
}

fn node_kind(block: &Block) -> Option<NodeKind> {
    block.labels.first().and_then(|kind| lower::kind(kind))
}

/// Returns `true` if the call is of a described module that passes the argument to a resource.
fn is_passed_to_resource(call: &Block, name: &str) -> bool {
    let Some(ExpressionKind::Text(source)) = call.body.attribute("source").map(|source| &source.value.kind) else {
        return false;
    };
    let Source::Described(module) = registry::remote(call, source, Path::new("")) else {
        return false;
    };
    let described = module.described.as_ref();
    described.is_some_and(|described| described.values().any(|spelled| &**spelled == name))
}

/// Returns `true` if a value is a literal. A computed value may differ between environments.
pub(super) fn is_literal(attribute: &Attribute) -> bool {
    let kind = &attribute.value.kind;
    matches!(
        kind,
        ExpressionKind::Null | ExpressionKind::Bool(_) | ExpressionKind::Number(_) | ExpressionKind::Text(_)
    )
}

/// Returns the edit that adds the argument `name` to a block that does not have it. `value` can span several lines,
/// with indentation relative to the argument.
pub(super) fn add(document: &Document, found: &FoundBlock<'_>, name: &str, value: &str) -> Option<Edit> {
    let body = &found.block.body;
    let is_dynamic = |block: &Arc<Block>| block.labels.first().is_some_and(|label| &**label == name);
    if body.attribute(name).is_some() || body.blocks.iter().any(is_dynamic) {
        return None;
    }
    if !document.slice(found.inside.clone()).contains('\n') {
        return expand_block(document, found, name, value);
    }
    let arguments = document.arguments(body)?;
    let addition = Addition {
        document,
        found,
        name,
        value,
        is_line: !value.contains('\n'),
    };
    if arguments.is_empty() {
        return addition.first();
    }
    addition
        .in_group(&arguments)
        .or_else(|| addition.at_the_end(&arguments))
}

/// Returns the edits that remove the argument at `place` if it is a literal.
pub(super) fn remove(document: &Document, place: &Place) -> Option<Vec<Edit>> {
    let found = document.resource(place.header)?;
    let written = place.written?;
    let body = &found.block.body;
    let attribute = body.attribute(&place.name)?;
    if !is_literal(attribute) || !attribute.span.contains(written) {
        return None;
    }
    if !document.slice(found.inside.clone()).contains('\n') {
        let is_alone = body.attributes.len() == 1 && document.comments(found.inside.clone()).next().is_none();
        return is_alone.then(|| vec![Edit::new(Span::new(document.id, found.inside.clone()), String::new())]);
    }
    let arguments = document.arguments(body)?;
    let at = arguments
        .iter()
        .position(|one| std::ptr::eq(one.attribute, attribute))?;
    let removed = arguments.get(at)?;
    let mut edits = alignment::without(document, &arguments, at);
    edits.push(Edit::new(
        Span::new(document.id, with_blank_line(document, &found, removed.lines.clone())),
        String::new(),
    ));
    Some(edits)
}

/// Returns the lines of an argument, including the blank line that would be left over without it.
fn with_blank_line(document: &Document, found: &FoundBlock<'_>, lines: Range<usize>) -> Range<usize> {
    let is_blank = |line: &Range<usize>| document.slice(line.clone()).trim().is_empty();
    let before = document.line(lines.start.saturating_sub(1));
    let after = document.line(lines.end);
    let is_first = before.contains(&found.inside.start.saturating_sub(1));
    let is_last = after.contains(&found.inside.end);
    if is_blank(&after) && (is_first || is_blank(&before)) {
        lines.start..after.end
    } else if is_blank(&before) && is_last {
        before.start..lines.end
    } else {
        lines
    }
}

/// Indents the text from its second line on by `indent`, with the line breaks of `document`.
pub(super) fn indented(document: &Document, text: &str, indent: &str) -> String {
    text.replace('\n', &format!("{}{indent}", document.line_break()))
}

/// Expands a block from one line to several, and adds the argument.
fn expand_block(document: &Document, found: &FoundBlock<'_>, name: &str, value: &str) -> Option<Edit> {
    let inside = document.slice(found.inside.clone());
    let nothing_else = found.block.body.blocks.is_empty() && document.comments(found.inside.clone()).next().is_none();
    let mut lines = Vec::new();
    match found.block.body.attributes.as_slice() {
        [] if inside.trim().is_empty() => {}
        [one] => {
            let (_, written) = inside.split_once('=')?;
            lines.push((&*one.name, written.trim()));
        }
        _ => return None,
    }
    if !nothing_else {
        return None;
    }
    lines.push((name, value));
    let indent = format!("{}{}", found.indent, document.step());
    let line_break = document.line_break();
    let aligned = lines.iter().filter(|(_, value)| !value.contains('\n'));
    let width = aligned.map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut text = line_break.to_owned();
    for (name, value) in lines {
        let width = if value.contains('\n') { 0 } else { width };
        let value = indented(document, value, &indent);
        // Writing to a string cannot fail.
        let _ = write!(text, "{indent}{name:width$} = {value}{line_break}");
    }
    text.push_str(found.indent);
    Some(Edit::new(Span::new(document.id, found.inside.clone()), text))
}

/// An argument to add to a block that spans several lines.
struct Addition<'d> {
    document: &'d Document,
    found: &'d FoundBlock<'d>,
    name: &'d str,
    value: &'d str,
    is_line: bool,
}

impl Addition<'_> {
    /// Returns its lines, with `sign` columns between the start of the name and the `=`.
    fn lines(&self, indent: &str, sign: usize) -> String {
        let width = sign.saturating_sub(1);
        let (name, line_break) = (self.name, self.document.line_break());
        let value = indented(self.document, self.value, indent);
        format!("{indent}{name:width$} = {value}{line_break}")
    }

    fn insertion(&self, at: usize, text: String) -> Edit {
        Edit::insertion(self.found.block.header, at, text)
    }

    /// Inserts the only argument: before the nested blocks, otherwise at the end.
    fn first(&self) -> Option<Edit> {
        let document = self.document;
        let indent = format!("{}{}", self.found.indent, document.step());
        let text = self.lines(&indent, 0);
        if self.found.block.body.blocks.is_empty() {
            document.indent(self.found.inside.end)?;
            return Some(self.insertion(document.line(self.found.inside.end).start, text));
        }
        let first = document.line(self.found.inside.start);
        let rest = document.slice(self.found.inside.start..first.end);
        let mut comments = document.comments(self.found.inside.start..first.end);
        let is_code = !rest.trim().is_empty() && comments.next().is_none_or(|comment| comment.end > first.end);
        let gap = if self.is_blank_or_end(first.end) {
            ""
        } else {
            document.line_break()
        };
        (!is_code).then(|| self.insertion(first.end, format!("{text}{gap}")))
    }

    /// Inserts it at the end of the last group of aligned arguments that it fits into.
    fn in_group(&self, arguments: &[Argument<'_>]) -> Option<Edit> {
        let groups = groups(arguments).into_iter().rev().filter(|_| self.is_line);
        let mut edits = groups.filter_map(|group| {
            let last = group.last()?;
            let sign = last.sign?;
            let is_aligned = group.iter().all(|argument| argument.sign == Some(sign));
            let fits = is_aligned && self.name.chars().count() < sign;
            fits.then(|| self.insertion(last.lines.end, self.lines(last.indent, sign)))
        });
        edits.next()
    }

    /// Inserts it after the last argument, without moving others.
    fn at_the_end(&self, arguments: &[Argument<'_>]) -> Option<Edit> {
        let last = arguments.last()?;
        let (at, line_break) = (last.lines.end, self.document.line_break());
        let text = self.lines(last.indent, 0);
        let is_chained = self.is_line && last.sign.is_some() && !is_loose(arguments);
        if !is_chained && self.is_dense() {
            return Some(self.insertion(at, text));
        }
        let after = if self.is_blank_or_end(at) { "" } else { line_break };
        Some(self.insertion(at, format!("{line_break}{text}{after}")))
    }

    /// Returns `true` if the block contains no blank line.
    fn is_dense(&self) -> bool {
        let inside = self.document.slice(self.found.inside.clone());
        inside.lines().skip(1).all(|line| !line.trim().is_empty()) || inside.trim().is_empty()
    }

    /// Returns `true` if the line at `at` is blank or ends the block.
    fn is_blank_or_end(&self, at: usize) -> bool {
        let line = self.document.line(at);
        line.contains(&self.found.inside.end) || self.document.slice(line).trim().is_empty()
    }
}
