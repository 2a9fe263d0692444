//! Edits a text through its tree: adds entries to mappings and removes them, in YAML and JSON, so that every other line
//! stays unchanged. It knows no property of any resource.
//!
//! Entries from an alias or a merge key are never edited through it, and a value whose anchor is used elsewhere is not
//! edited at all, so that an edit changes only its own resource.

mod insert;
mod lines;
mod remove;

use super::piece::Style;
use source::Span;
use trees::{Entry, Node, Value};

/// A text to edit.
pub(in crate::frontend) struct Editor<'t> {
    pub(in crate::frontend) text: &'t str,
    pub(in crate::frontend) is_json: bool,
    pub(in crate::frontend) style: Style,
}

/// A step from a collection to one of its children.
#[derive(Debug, Clone, Copy)]
pub(in crate::frontend) enum Step<'n> {
    /// An entry of a mapping.
    Entry(&'n Node, &'n Entry),
    /// An item of a list.
    Item(&'n Node),
}

impl<'n> Step<'n> {
    pub(in crate::frontend) fn node(self) -> &'n Node {
        match self {
            Step::Entry(_, entry) => &entry.value,
            Step::Item(item) => item,
        }
    }

    pub(in crate::frontend) fn key(self) -> Option<&'n str> {
        match self {
            Step::Entry(_, entry) => Some(&entry.key),
            Step::Item(_) => None,
        }
    }
}

impl<'t> Editor<'t> {
    /// Creates an editor of `text`, whose tree is `root`.
    pub(in crate::frontend) fn new(text: &'t str, root: &Node, is_json: bool) -> Self {
        let style = Style {
            unit: "  ".to_owned(),
            end: line_end(text),
            deep_items: true,
            colon: ": ".to_owned(),
            has_lines: true,
            quotes_keys: is_json,
        };
        let mut editor = Editor { text, is_json, style };
        editor.learn(root);
        editor
    }

    /// Detects the indentation of the text, and whether it has several lines.
    fn learn(&mut self, root: &Node) {
        let first = written(root).next();
        if self.is_json {
            let own_line = first.and_then(|entry| self.indentation(entry.key_span.start));
            self.style.has_lines = own_line.is_some_and(|_| self.text.trim().contains('\n'));
            self.style.colon = first.map_or_else(|| ": ".to_owned(), |entry| self.colon(entry));
            if let Some(unit) = own_line.filter(|unit| !unit.is_empty()) {
                unit.clone_into(&mut self.style.unit);
            }
            return;
        }
        let nested = written(root).find_map(|entry| {
            let inner = self.indentation(written(&entry.value).next()?.key_span.start)?;
            let outer = self.indentation(entry.key_span.start)?;
            inner.strip_prefix(outer).filter(|unit| !unit.is_empty())
        });
        if let Some(unit) = nested {
            unit.clone_into(&mut self.style.unit);
        }
        self.style.deep_items = self.deep_items(root, 0).unwrap_or(true);
        self.style.quotes_keys = first.is_some_and(|entry| self.is_quoted(entry));
    }

    /// Returns whether the items of the first list in block style are indented more than its key.
    fn deep_items(&self, node: &Node, depth: usize) -> Option<bool> {
        if depth > 64 {
            return None;
        }
        written(node).find_map(|entry| {
            let Some(first) = entry.value.items().and_then(<[Node]>::first) else {
                return self.deep_items(&entry.value, depth + 1);
            };
            let before = self.before(first.span.start as usize)?;
            let dash = before
                .trim_end()
                .strip_suffix('-')
                .filter(|rest| rest.trim().is_empty())?;
            Some(dash.len() > self.indentation(entry.key_span.start)?.len())
        })
    }

    /// Returns the path from `root` to the entry at `span`, which is the span of the entry or its key, or `None` if an
    /// alias refers to a node on the path, so that a change would affect other values.
    pub(in crate::frontend) fn path<'n>(&self, root: &'n Node, span: Span) -> Option<Vec<Step<'n>>> {
        let mut steps = Vec::new();
        let mut node = root;
        loop {
            let step = step_towards(node, span)?;
            if self.is_shared(step) {
                return None;
            }
            steps.push(step);
            match step {
                Step::Entry(_, entry) if entry.key_span == span || entry.span() == span => return Some(steps),
                // The span of the value is that of its only entry or item.
                Step::Entry(_, entry) if entry.value.span == span => {
                    let inner = written(&entry.value).next().filter(|inner| inner.span() == span);
                    steps.extend(inner.map(|inner| Step::Entry(&entry.value, inner)));
                    let items = entry.value.items().unwrap_or_default().first();
                    steps.extend(items.filter(|item| item.span == span).map(Step::Item));
                    return Some(steps);
                }
                Step::Item(item) if item.span == span => return Some(steps),
                _ => node = step.node(),
            }
        }
    }

    /// Returns `true` if the value at `span` occurs once in the tree: no alias refers to it or its parents, and no loop
    /// or macro repeats it.
    pub(in crate::frontend) fn stands_once(&self, root: &Node, span: Span) -> bool {
        let mut node = root;
        while let Some(step) = step_towards(node, span) {
            let is_repeated = step
                .key()
                .is_some_and(|key| key.starts_with("Fn::ForEach") || key == "Fn::Transform");
            if is_repeated || self.is_shared(step) {
                return false;
            }
            node = step.node();
        }
        true
    }

    /// Returns `true` if the value has an anchor that an alias uses.
    fn is_shared(&self, step: Step<'_>) -> bool {
        if self.is_json {
            return false;
        }
        let node = step.node();
        let from = match step {
            Step::Entry(_, entry) => entry.key_span.end as usize,
            Step::Item(item) => self.line_start(item.span.start as usize),
        };
        let inner = match &node.value {
            Value::Mapping(_) => written(node).next().map(|entry| entry.key_span.start),
            Value::Sequence(items) => items.first().map(|item| item.span.start),
            _ => None,
        };
        let to = inner.unwrap_or(node.span.start).max(node.span.start) as usize;
        let gap = self.text.get(from..to).unwrap_or("");
        gap.match_indices('&').any(|(at, _)| {
            let rest = gap.get(at + 1..).unwrap_or("");
            let name = rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}'));
            let alias = format!("*{}", name.take(1).collect::<String>());
            self.text.contains(&alias)
        })
    }
}

/// Returns the line ending of most lines of `text`.
fn line_end(text: &str) -> &'static str {
    let windows = text.matches("\r\n").count();
    if windows * 2 > text.matches('\n').count() {
        "\r\n"
    } else {
        "\n"
    }
}

/// Returns the step from `node` to its child that contains `span`.
fn step_towards(node: &Node, span: Span) -> Option<Step<'_>> {
    match &node.value {
        Value::Mapping(entries) => {
            // Entries are usually in the order of the text, unless some are merged into the mapping.
            let at = entries.partition_point(|entry| entry.value.span.end < span.end);
            let is_it = |entry: &&Entry| entry.span().contains(span);
            let likely = entries.get(at).filter(|entry| node.span.contains(entry.span()));
            let found = likely.filter(is_it).or_else(|| written(node).find(is_it));
            found.map(|entry| Step::Entry(node, entry))
        }
        Value::Sequence(items) => items
            .iter()
            .find(|item| node.span.contains(item.span) && item.span.contains(span))
            .map(Step::Item),
        _ => None,
    }
}

/// Returns the entries that are written in a mapping, not merged into it.
pub(in crate::frontend) fn written(node: &Node) -> impl Iterator<Item = &Entry> {
    let entries = node.entries().unwrap_or_default().iter();
    entries.filter(|entry| node.span.contains(entry.span()))
}
