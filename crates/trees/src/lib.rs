#![doc = include_str!("../README.md")]

pub mod base64;
pub mod json;
pub mod parsed;
pub mod toml;
pub mod yaml;

use source::Span;
use source::reading::Problem;
use std::collections::HashMap;
use std::sync::Arc;

/// A value and its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value as written, including quotes and a tag; for a collection, from its first entry to its last.
    pub span: Span,
    /// The value, decoded.
    pub value: Value,
}

/// A decoded value, by the rules of YAML 1.1 or JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `~`, or an empty scalar.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer that fits into an `i64`.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A decoded string.
    String(Arc<str>),
    /// A list.
    Sequence(Vec<Node>),
    /// Entries in the order written, merge keys resolved, earlier values of repeated keys dropped.
    Mapping(Vec<Entry>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key, decoded.
    pub key: Arc<str>,
    /// The key as written.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Entry {
    /// Creates an entry.
    pub fn new(key: impl Into<Arc<str>>, key_span: Span, value: Node) -> Self {
        let key = key.into();
        Entry { key, key_span, value }
    }

    /// Returns the span from the key to the end of the value.
    pub fn span(&self) -> Span {
        self.key_span.to(self.value.span)
    }
}

impl Node {
    /// Creates a node.
    pub fn new(span: Span, value: Value) -> Self {
        Node { span, value }
    }

    /// Returns the entries, if the node is a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the items, if the node is a sequence.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the text, if the node is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the entry with key `key`, if the node is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries()?.iter().find(|entry| &*entry.key == key)
    }

    /// Returns the value of `key`, if the node is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }
}

/// A syntax error or an exceeded bound, with its location.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntaxError {
    /// The position at which the parser stopped.
    pub span: Span,
    /// The parser's message, without a final full stop.
    pub message: String,
}

/// The result of parsing a text.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The documents that could be parsed; JSON has one.
    pub documents: Vec<Node>,
    /// Syntax errors of the other documents.
    pub errors: Vec<SyntaxError>,
    /// Exceeded bounds: depth, or number of nodes after the expansion of aliases.
    pub limits: Vec<SyntaxError>,
    /// Keys that the same key replaces later, each with the last one.
    pub duplicates: Vec<[Span; 2]>,
    /// Comments, including their signs; JSON has none.
    pub comments: Vec<Span>,
}

impl Parsed {
    /// Returns the syntax errors and the exceeded bounds.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        let errors = self.errors.iter();
        let errors = errors.map(|error| Problem::invalid(error.span, error.message.as_str()));
        let limits = self.limits.iter();
        errors.chain(limits.map(|limit| Problem::limit(limit.span, limit.message.as_str())))
    }
}

/// Number of keys up to which comparing them pairwise is faster than a hash table.
const FEW: usize = 16;

/// Returns the index of the last entry of each key, or `None` if no key is repeated.
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

/// Records every key that is repeated later.
pub fn note_repeated(entries: &[Entry], duplicates: &mut Vec<[Span; 2]>) {
    let Some(last) = last_of(entries) else { return };
    let last = |entry: &Entry| last.get(&entry.key).and_then(|at| entries.get(*at));
    let pairs = entries
        .iter()
        .filter_map(|entry| Some([entry.key_span, last(entry)?.key_span]));
    duplicates.extend(pairs.filter(|[one, last]| one != last));
}

/// Drops every entry whose key is repeated later, as CloudFormation's tools do, and records its key.
pub fn keep_last(entries: Vec<Entry>, duplicates: &mut Vec<[Span; 2]>) -> Vec<Entry> {
    let Some(last) = last_of(&entries) else {
        return entries;
    };
    note_repeated(&entries, duplicates);
    let kept = entries
        .into_iter()
        .enumerate()
        .filter(|(at, entry)| last.get(&entry.key) == Some(at));
    kept.map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod hostile {
    //! Damages texts, to test that no parser panics or returns spans outside the text.
    use super::*;
    use source::FileId;

    const MARKS: &[u8] = b" \t\n\r:-{}[]'\"|>&*!#%@`,\0\xff\xc3aZ0~?<";

    /// Cuts `text` at every byte, changes single bytes, and checks the result of `parse` for each.
    pub(crate) fn maul(text: &str, file: FileId, parse: fn(&str, FileId) -> Parsed) {
        let bytes = text.as_bytes();
        for end in 0..=bytes.len() {
            sound(&String::from_utf8_lossy(&bytes[..end]), file, parse);
        }
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..400 {
            // Xorshift: random enough, and identical in every run.
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
