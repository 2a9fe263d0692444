//! Policies in texts: JSON whose references and placeholders may stand inside or outside of its strings.

use super::super::sections::scalar;
use super::super::value::{Evaluated, Part};
use crate::frontend::json;
use crate::frontend::lower::Policy;
use crate::frontend::tree::{Node, Value};
use crate::graph::{Cause, Reason};
use crate::source::Span;
use std::sync::Arc;

/// The mark around a part's number in a policy's text: no template holds it, and it may stand in JSON.
const MARK: char = '\u{e000}';
/// Texts are read this deep. The policies that AWS takes have six levels, a definition of states four for each state
/// that holds others.
const MAX_DEPTH: usize = 64;

/// What such a text holds.
#[derive(Clone)]
pub(super) enum Json {
    /// A single value; also absent or unresolved.
    Value(Evaluated<'static>),
    List(Vec<Json>),
    Object(Vec<(Arc<str>, Json)>),
}

static ABSENT: Json = Json::Value(Evaluated::Absent);

impl Json {
    /// What lies at `path` in it.
    pub(super) fn at(&self, path: &str) -> &Json {
        let keys = path.split('.').filter(|key| !key.is_empty());
        keys.fold(self, |json, key| match json {
            Json::Object(entries) => {
                let mut found = entries.iter().filter(|(name, _)| &**name == key);
                found.next().map_or(&ABSENT, |(_, value)| value)
            }
            Json::Value(_) | Json::List(_) => &ABSENT,
        })
    }

    /// The items of a list; a single value counts as a list of it.
    pub(super) fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            other => std::slice::from_ref(other),
        }
    }
}

/// The policy in the text of `parts`.
pub(super) fn policy(parts: &[Part], span: Span) -> Policy<Json> {
    if let [Part::Open { reason, .. }] = parts {
        return Policy::Unresolved(reason.clone());
    }
    let text = marked(parts);
    if text.trim().is_empty() {
        return Policy::Empty;
    }
    let node = match (first_bare(parts), json::parse_value(&text, span)) {
        (Some(Bare::Arn), _) => {
            return Policy::Malformed(Cause::Invalid.because("an ARN stands in it without quotes"));
        }
        (_, Ok(node)) => node,
        (Some(Bare::Open(reason, before)), Err(_)) if !json::is_faulty(&before) => {
            return Policy::Unresolved(reason);
        }
        (_, Err(_)) => return Policy::Malformed(Cause::Invalid.because("the policy is not JSON")),
    };
    match restored(&node, parts, 0) {
        Json::Object(entries) if entries.is_empty() => Policy::Empty,
        object @ Json::Object(_) => Policy::Object(object),
        Json::Value(_) | Json::List(_) => Policy::Malformed(Cause::Invalid.because("a policy is an object")),
    }
}

/// What stands outside of the strings of a text of JSON, and is no known text.
enum Bare {
    /// An ARN, which is no JSON.
    Arn,
    /// Anything: why it is not known, and the text before it.
    Open(Reason, String),
}

/// The first such thing in the text of `parts`.
fn first_bare(parts: &[Part]) -> Option<Bare> {
    let mut text = String::new();
    for part in parts {
        let is_inside = json::ends_in_string(&text);
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Reference(_) | Part::Open { .. } if is_inside => text.push('?'),
            Part::Reference(reference) if reference.attribute.as_deref() == Some("Arn") => return Some(Bare::Arn),
            Part::Reference(reference) => {
                let reason =
                    Cause::KnownAfterApply.because(format!("`{}` is known only when it is deployed", reference.id));
                return Some(Bare::Open(reason, text));
            }
            Part::Open { reason, .. } => return Some(Bare::Open(reason.clone(), text)),
        }
    }
    None
}

/// The text of `parts` with a mark for each that is not known text: a JSON string, or a piece of one.
fn marked(parts: &[Part]) -> String {
    let mut text = String::new();
    let mut in_string = false;
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Text(piece) => {
                let mut escaped = false;
                for c in piece.chars() {
                    match c {
                        '"' if !escaped => in_string = !in_string,
                        _ => {}
                    }
                    escaped = c == '\\' && !escaped;
                }
                text.push_str(piece);
            }
            Part::Reference(_) | Part::Open { .. } => {
                let quote = if in_string { "" } else { "\"" };
                text.extend([quote, &format!("{MARK}{at}{MARK}"), quote]);
            }
        }
    }
    text
}

/// The parts put back into what a marked text holds.
fn restored(node: &Node, parts: &[Part], depth: usize) -> Json {
    if depth > MAX_DEPTH {
        return Json::Value(Evaluated::Unresolved(
            Cause::Limit.because("the policy is nested too deep"),
        ));
    }
    let inner = |node: &Node| restored(node, parts, depth + 1);
    match &node.value {
        Value::Null => Json::Value(Evaluated::Absent),
        Value::Sequence(items) => Json::List(items.iter().map(inner).collect()),
        Value::Mapping(entries) => {
            let entries = entries.iter();
            Json::Object(entries.map(|entry| (entry.key.clone(), inner(&entry.value))).collect())
        }
        _ => {
            let text = scalar(node).unwrap_or_default();
            Json::Value(Evaluated::Text(unmarked(&text, parts)))
        }
    }
}

/// A text with the parts put back in the place of their marks.
fn unmarked(text: &str, parts: &[Part]) -> Vec<Part> {
    let pieces = text.split(MARK).enumerate();
    let all = pieces.filter(|(_, piece)| !piece.is_empty()).map(|(at, piece)| {
        let marked = piece.parse::<usize>().ok().filter(|_| at % 2 == 1);
        marked
            .and_then(|at| parts.get(at).cloned())
            .unwrap_or_else(|| Part::Text(piece.to_owned()))
    });
    all.collect()
}
