//! Collections that are being read: what they hold so far, what a tag makes of them, and how mappings take nodes in.

use crate::frontend::tree::{Entry, Node, Value};
use crate::source::Span;
use granit_parser::Tag;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Stands for an alias that cannot be written out. No such function exists, so its value is unresolved to readers.
pub(super) const UNKNOWN_ALIAS: &str = "Fn::UnknownAlias";

/// A node with what is needed to bound its copies.
#[derive(Clone)]
pub(super) struct Measured {
    pub(super) node: Node,
    /// The text as written, where it is a scalar: what it means as a key.
    pub(super) text: Option<Arc<str>>,
    /// How many nodes it is made of.
    pub(super) size: usize,
    /// How many levels it has.
    pub(super) height: usize,
}

impl Measured {
    pub(super) fn leaf(node: Node, text: Option<Arc<str>>) -> Self {
        Measured {
            node,
            text,
            size: 1,
            height: 1,
        }
    }
}

/// What a mapping waits for.
pub(super) enum Pending {
    Key,
    Value(Arc<str>, Span),
    Merge,
    /// The value of a key that is no scalar.
    Dropped,
}

pub(super) enum Children {
    Sequence(Vec<Node>),
    Mapping {
        entries: Vec<Entry>,
        merged: Vec<Entry>,
        pending: Pending,
    },
}

/// A tag as far as it matters.
pub(super) enum Meaning {
    /// A short form; this is the long one.
    Function(Arc<str>),
    /// `!!int` and its like.
    Core(String),
    /// `!`: a string.
    Plain,
    None,
}

/// A collection that is being read.
pub(super) struct Frame {
    pub(super) children: Children,
    pub(super) anchor: usize,
    pub(super) meaning: Meaning,
    pub(super) tag: Option<Range<usize>>,
    pub(super) extent: Option<Range<usize>>,
    pub(super) size: usize,
    pub(super) height: usize,
}

impl Frame {
    pub(super) fn cover(&mut self, range: &Range<usize>) {
        let extent = self.extent.get_or_insert_with(|| range.clone());
        extent.start = extent.start.min(range.start);
        extent.end = extent.end.max(range.end);
    }
}

/// Takes a node into a mapping; says why where it does not belong there.
pub(super) fn pair(
    entries: &mut Vec<Entry>,
    merged: &mut Vec<Entry>,
    pending: &mut Pending,
    node: Node,
) -> Option<&'static str> {
    match std::mem::replace(pending, Pending::Key) {
        Pending::Key => {
            *pending = Pending::Dropped;
            Some("a key must be a string")
        }
        Pending::Value(key, key_span) => {
            entries.push(Entry {
                key,
                key_span,
                value: node,
            });
            None
        }
        Pending::Merge => inherit(merged, node),
        Pending::Dropped => None,
    }
}

/// The entries that `<<` brings in: those of a mapping, or of several, the first of which wins.
pub(super) fn inherit(merged: &mut Vec<Entry>, node: Node) -> Option<&'static str> {
    const NO_MAPPING: &str = "`<<` takes a mapping or a list of mappings";
    match node.value {
        Value::Mapping(entries) if entries.iter().any(|entry| &*entry.key == UNKNOWN_ALIAS) => None,
        Value::Mapping(entries) => {
            merged.extend(entries);
            None
        }
        Value::Sequence(items) => {
            let mut refused = None;
            for item in items {
                match item.value {
                    Value::Mapping(entries) => merged.extend(entries),
                    _ => refused = Some(NO_MAPPING),
                }
            }
            refused
        }
        _ => Some(NO_MAPPING),
    }
}

/// Adds what `<<` brought in; the mapping's own keys win, then the first.
pub(super) fn merge(entries: &mut Vec<Entry>, merged: Vec<Entry>) {
    if merged.is_empty() {
        return;
    }
    let mut known: HashSet<Arc<str>> = entries.iter().map(|entry| entry.key.clone()).collect();
    for entry in merged {
        if known.insert(entry.key.clone()) {
            entries.push(entry);
        }
    }
}

/// `!Ref x` as `Ref: x`.
pub(super) fn fold(key: Arc<str>, key_span: Span, span: Span, value: Node) -> Node {
    let entry = Entry { key, key_span, value };
    Node {
        span,
        value: Value::Mapping(vec![entry]),
    }
}

pub(super) fn meaning(tag: Option<&Tag>) -> Meaning {
    let Some(tag) = tag else {
        return Meaning::None;
    };
    if let Some(kind) = tag.suffix_in_namespace("tag:yaml.org,2002:") {
        return Meaning::Core(kind.into_owned());
    }
    let (handle, name) = tag.parts();
    match (handle, name) {
        ("!", "") | ("", "!") => Meaning::Plain,
        ("!", "Ref" | "Condition") => Meaning::Function(Arc::from(name)),
        ("!", name) if name.starts_with("Fn::") => Meaning::Function(Arc::from(name)),
        ("!", name) => Meaning::Function(Arc::from(format!("Fn::{name}"))),
        _ => Meaning::None,
    }
}
