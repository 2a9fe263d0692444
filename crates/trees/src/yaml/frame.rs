//! Collections during parsing: their children so far, the effect of tags, and the way mappings pair keys with values.

use crate::{Entry, Node, Value};
use granit_parser::Tag;
use source::Span;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Function that replaces an alias that cannot be expanded. No such function exists, so the value is unresolved.
pub(super) const UNKNOWN_ALIAS: &str = "Fn::UnknownAlias";

/// A node with the figures that bound its copies.
#[derive(Clone)]
pub(super) struct Measured {
    pub(super) node: Node,
    /// The text as written, if the node is a scalar; used when an alias to it is a key.
    pub(super) text: Option<Arc<str>>,
    /// Number of nodes in the tree.
    pub(super) size: usize,
    /// Number of levels of the tree.
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

/// The role of the next node in a mapping.
pub(super) enum Pending {
    Key,
    Value(Arc<str>, Span),
    Merge,
    /// Value of a key that is not a scalar; it is dropped.
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

/// Effect of a tag.
pub(super) enum Meaning {
    /// Short form of an intrinsic, with its long name.
    Function(Arc<str>),
    /// A standard tag such as `!!int`.
    Core(String),
    /// `!`, which makes a string.
    Plain,
    None,
}

/// A collection whose end has not been reached.
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

/// Adds a node to a mapping, as key or value; returns a message if the mapping cannot have it.
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
            entries.push(Entry::new(key, key_span, node));
            None
        }
        Pending::Merge => inherit(merged, node),
        Pending::Dropped => None,
    }
}

/// Collects the entries that `<<` merges: those of one mapping, or of several, the first of which wins.
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

/// Adds the entries that `<<` merges; the mapping's own keys win, then the first.
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

/// Turns `!Ref x` into `Ref: x`.
pub(super) fn fold(key: Arc<str>, key_span: Span, span: Span, value: Node) -> Node {
    let entry = Entry { key, key_span, value };
    Node::new(span, Value::Mapping(vec![entry]))
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
