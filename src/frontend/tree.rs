//! The syntax tree of YAML and JSON documents, with byte spans: what `yaml.rs` and `json.rs` build and the
//! template frontends read. It knows no intrinsic's meaning; short tags are folded into their long form.

use crate::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    /// The value as written; quotes and a tag are part of it. For a collection: from its first entry to its last.
    pub(super) span: Span,
    /// What it is.
    pub(super) value: Value,
}

/// What a node is, by the rules of YAML 1.1 or JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// `null`, `~`, or nothing at all.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number that fits.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text, decoded.
    String(Arc<str>),
    /// A list.
    Sequence(Vec<Node>),
    /// Pairs in the order written, merge keys resolved, a repeated key's earlier values dropped.
    Mapping(Vec<Entry>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// The key's text.
    pub(super) key: Arc<str>,
    /// The key's place.
    pub(super) key_span: Span,
    /// The value.
    pub(super) value: Node,
}

impl Entry {
    /// From the key to the end of the value.
    pub(super) fn span(&self) -> Span {
        self.key_span.to(self.value.span)
    }
}

impl Node {
    /// The entries, where it is a mapping.
    pub(super) fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, where it is a sequence.
    pub(super) fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// The text, where it is a string.
    pub(super) fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The entry of `key`, where it is a mapping that has it.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| &*entry.key == key)
    }

    /// The value of `key`, where it is a mapping that has it.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }
}

/// Why a document could not be read, and where.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SyntaxError {
    /// The place the parser stopped at.
    pub(super) span: Span,
    /// What it expected or met, without a final full stop.
    pub(super) message: String,
}

/// What a text holds.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    /// The documents that could be read; JSON has one.
    pub(super) documents: Vec<Node>,
    /// Why others could not.
    pub(super) errors: Vec<SyntaxError>,
    /// Bounds that were reached: depth, or nodes that aliases stand for.
    pub(super) limits: Vec<SyntaxError>,
    /// Keys that a later one of the same name replaces.
    pub(super) duplicates: Vec<Span>,
    /// Comments with their signs; JSON has none.
    pub(super) comments: Vec<Span>,
}

/// So many keys are compared faster with each other than through a table.
const FEW: usize = 16;

/// Where each key stands last; `None` where none is repeated.
fn last_of(entries: &[Entry]) -> Option<HashMap<Arc<str>, usize>> {
    let repeats = |(at, entry): (usize, &Entry)| entries.iter().take(at).any(|other| other.key == entry.key);
    if entries.len() <= FEW && !entries.iter().enumerate().any(repeats) {
        return None;
    }
    let mut last: HashMap<Arc<str>, usize> = HashMap::with_capacity(entries.len());
    for (at, entry) in entries.iter().enumerate() {
        last.insert(entry.key.clone(), at);
    }
    (last.len() < entries.len()).then_some(last)
}

/// Notes every key that is written again later.
pub(super) fn note_repeated(entries: &[Entry], duplicates: &mut Vec<Span>) {
    let Some(last) = last_of(entries) else { return };
    let repeated = (entries.iter().enumerate()).filter(|(at, entry)| last.get(&entry.key) != Some(at));
    duplicates.extend(repeated.map(|(_, entry)| entry.key_span));
}

/// Drops every entry whose key is written again later, as CloudFormation's tools do, and notes its key.
pub(super) fn keep_last(entries: Vec<Entry>, duplicates: &mut Vec<Span>) -> Vec<Entry> {
    let Some(last) = last_of(&entries) else {
        return entries;
    };
    let mut kept = Vec::with_capacity(last.len());
    for (at, entry) in entries.into_iter().enumerate() {
        if last.get(&entry.key) == Some(&at) {
            kept.push(entry);
        } else {
            duplicates.push(entry.key_span);
        }
    }
    kept
}

#[cfg(test)]
pub(super) mod hostile {
    //! What both readers must stand.
    use super::*;
    use crate::source::FileId;

    const MARKS: &[u8] = b" \t\n\r:-{}[]'\"|>&*!#%@`,\0\xff\xc3aZ0~?<";

    /// Cuts `text` at every byte and changes single bytes, and checks what `parse` makes of each.
    pub(in crate::frontend) fn maul(text: &str, file: FileId, parse: fn(&str, FileId) -> Parsed) {
        let bytes = text.as_bytes();
        for end in 0..=bytes.len() {
            sound(&String::from_utf8_lossy(&bytes[..end]), file, parse);
        }
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..400 {
            // xorshift: random enough, and the same in every run
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let mut changed = bytes.to_vec();
            let at = usize::try_from(state >> 8).unwrap_or(0) % changed.len();
            changed[at] = MARKS[usize::from((state & 0xff) as u8) % MARKS.len()];
            sound(&String::from_utf8_lossy(&changed), file, parse);
        }
    }

    fn sound(text: &str, file: FileId, parse: fn(&str, FileId) -> Parsed) {
        let parsed = parse(text, file);
        for node in &parsed.documents {
            within(text, node);
        }
        for problem in parsed.errors.iter().chain(&parsed.limits) {
            assert!(problem.span.end as usize <= text.len(), "{text:?}: {problem:?}");
        }
    }

    fn within(text: &str, node: &Node) {
        assert!(text.get(node.span.range()).is_some(), "{text:?}: {node:?}");
        for item in node.items().unwrap_or_default() {
            within(text, item);
        }
        for entry in node.entries().unwrap_or_default() {
            assert!(text.get(entry.key_span.range()).is_some(), "{text:?}: {entry:?}");
            within(text, &entry.value);
        }
    }
}
