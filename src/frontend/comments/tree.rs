//! Finds suppressions in templates and the files that belong to them: in YAML comments, and in the `Metadata` of a
//! resource or the template. Metadata also works in JSON, which has no comments, and after packaging, which drops them.

use super::in_comment;
use crate::suppress::{Content, Coverage, RawSuppression, SuppressionFields};
use source::Span;
use trees::{Entry, Node, Parsed, Value};

/// Returns the suppressions of a YAML or JSON file.
pub(super) fn suppressions(parsed: &Parsed, text: &str) -> Vec<RawSuppression> {
    let mut found = comments(parsed, text);
    for document in &parsed.documents {
        if let Some(metadata) = document.get("Metadata") {
            entries(metadata, Coverage::File, &mut found);
        }
        let resources = document.get("Resources").and_then(Node::entries);
        for resource in resources.unwrap_or_default() {
            if let Some(metadata) = resource.value.get("Metadata") {
                entries(metadata, Coverage::Span(resource.span()), &mut found);
            }
        }
    }
    found
}

/// Returns the spans of all entries of mappings and items of sequences, ordered by their start; of those with the same
/// start, the longest comes first.
pub(super) fn elements(parsed: &Parsed) -> Vec<Span> {
    let mut all = Vec::new();
    let mut next: Vec<&Node> = parsed.documents.iter().collect();
    while let Some(node) = next.pop() {
        match &node.value {
            Value::Mapping(entries) => {
                all.extend(entries.iter().map(Entry::span));
                next.extend(entries.iter().map(|entry| &entry.value));
            }
            Value::Sequence(items) => {
                all.extend(items.iter().map(|item| item.span));
                next.extend(items);
            }
            _ => {}
        }
    }
    all.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    // Aliases repeat the elements of their anchors.
    all.dedup();
    all
}

fn comments(parsed: &Parsed, text: &str) -> Vec<RawSuppression> {
    let mut found = Vec::new();
    if parsed.comments.is_empty() {
        return found;
    }
    let elements = elements(parsed);
    let first = parsed.documents.iter().map(|document| document.span.start).min();
    for &comment in &parsed.comments {
        let start = comment.start as usize;
        let line = text.get(..start).unwrap_or("").rfind('\n').map_or(0, |at| at + 1);
        let before = text.get(line..start).unwrap_or("").trim_start_matches('\u{feff}');
        let cover = if before.trim().is_empty() {
            following(&elements, comment.end)
        } else {
            beginning_in(&elements, line, start)
        };
        let leading = first.is_none_or(|first| comment.start < first);
        found.extend(in_comment(text, comment, cover, leading));
    }
    found
}

/// Returns the outermost element that begins next after `after`.
fn following(elements: &[Span], after: u32) -> Option<Span> {
    let at = elements.partition_point(|span| span.start < after);
    elements.get(at).copied()
}

/// Returns the span of all elements that begin between two offsets.
fn beginning_in(elements: &[Span], from: usize, to: usize) -> Option<Span> {
    let reaches = |at: usize| move |span: &Span| (span.start as usize) < at;
    let first = elements.partition_point(reaches(from));
    let last = elements.partition_point(reaches(to));
    let all = elements.get(first..last)?;
    all.iter().copied().reduce(Span::to)
}

/// Collects the list `sqslint.ignore` of `metadata`.
fn entries(metadata: &Node, covers: Coverage, found: &mut Vec<RawSuppression>) {
    let Some(ours) = metadata.get("sqslint") else { return };
    for unknown in others(ours, &["ignore"]) {
        let fields = SuppressionFields {
            unknown: Some((unknown.key.to_string(), &["ignore"])),
            ..SuppressionFields::default()
        };
        found.push(RawSuppression {
            span: unknown.key_span,
            content: Content::Fields(fields),
            covers: Coverage::Nothing,
            leading: false,
        });
    }
    let Some(list) = ours.get("ignore") else { return };
    for entry in list.items().unwrap_or(std::slice::from_ref(list)) {
        found.push(RawSuppression {
            span: entry.span,
            content: Content::Fields(fields(entry)),
            covers,
            leading: false,
        });
    }
}

/// Returns the entries of `node` with keys other than `known`.
fn others<'n>(node: &'n Node, known: &'static [&'static str]) -> impl Iterator<Item = &'n Entry> {
    let entries = node.entries().unwrap_or_default().iter();
    entries.filter(|entry| !known.contains(&&*entry.key))
}

/// Keys of an entry; `rules` is a synonym of `rule`.
const KEYS: [&str; 4] = ["rule", "rules", "reason", "until"];

fn fields(entry: &Node) -> SuppressionFields {
    let text = |node: &Node| match &node.value {
        Value::String(text) => Some(text.to_string()),
        // A year alone is not a date; keeping its text lets it be reported as such.
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    };
    let rules = entry.get("rule").or_else(|| entry.get("rules"));
    let rules = rules.map(|rules| rules.items().unwrap_or(std::slice::from_ref(rules)));
    SuppressionFields {
        rules: rules.unwrap_or_default().iter().filter_map(text).collect(),
        reason: entry.get("reason").and_then(text),
        until: entry.get("until").map(|until| text(until).unwrap_or_default()),
        unknown: others(entry, &KEYS)
            .next()
            .map(|other| (other.key.to_string(), &KEYS[..])),
    }
}
