//! Parses policies in texts: JSON with references and placeholders inside or outside its strings.
//!
//! Each reference or placeholder is replaced by a mark with its number before the text is parsed, and put back
//! afterwards:
//!
//! ```text
//! {"deadLetterTargetArn": "${Dlq.Arn}", "maxReceiveCount": ${Count}}     a text of five parts
//! {"deadLetterTargetArn": "|1|", "maxReceiveCount": "|3|"}               marked, with `|` for U+E000
//! ```

use crate::frontend::lower::Policy;
use crate::graph::{Cause, Reason};
use cloudformation::document::scalar;
use cloudformation::value::{Evaluated, Part};
use source::Span;
use std::sync::Arc;
use trees::json;
use trees::{Node, Value};

/// Delimiter of a part's number in a marked text: it occurs in no template, and JSON permits it.
const MARK: char = '\u{e000}';
/// Maximum depth of a parsed text. Policies that AWS accepts have six levels, a state machine definition four per state
/// that contains others.
const MAX_DEPTH: usize = 64;

/// A parsed text.
#[derive(Clone)]
pub(super) enum Json {
    /// A single value, which may also be absent or unresolved.
    Value(Evaluated<'static>),
    List(Vec<Json>),
    Object(Vec<(Arc<str>, Json)>),
}

static ABSENT: Json = Json::Value(Evaluated::Absent);

impl Json {
    /// Returns the value at `path`.
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

    /// Returns the items of a list, or a single value as a list of one.
    pub(super) fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            other => std::slice::from_ref(other),
        }
    }
}

/// Parses the policy in the text of `parts`.
pub(super) fn policy(parts: &[Part], span: Span) -> Policy<Json> {
    if let [Part::Unresolved { reason, .. }] = parts {
        return Policy::Unresolved(reason.clone());
    }
    let text = marked(parts);
    if text.trim().is_empty() {
        return Policy::Empty;
    }
    let node = match (first_bare(parts), json::parse_value(&text, span)) {
        (Some(UnquotedPart::Arn), _) => {
            return Policy::Malformed(Cause::Invalid.because("an ARN stands in it without quotes"));
        }
        (_, Ok(node)) => node,
        (Some(UnquotedPart::Unresolved(reason, before)), Err(_)) if !json::is_faulty(&before) => {
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

/// A reference or placeholder outside the strings of a JSON text.
enum UnquotedPart {
    /// An ARN, which is not valid JSON.
    Arn,
    /// Any other part: the reason why it is unresolved, and the text before it.
    Unresolved(Reason, String),
}

/// Returns the first such part of `parts`.
fn first_bare(parts: &[Part]) -> Option<UnquotedPart> {
    let mut text = String::new();
    for part in parts {
        let is_inside = json::ends_in_string(&text);
        match part {
            Part::Text(piece) => text.push_str(piece),
            Part::Reference(_) | Part::Unresolved { .. } if is_inside => text.push('?'),
            Part::Reference(reference) if reference.attribute.as_deref() == Some("Arn") => {
                return Some(UnquotedPart::Arn);
            }
            Part::Reference(reference) => {
                let reason =
                    Cause::KnownAfterApply.because(format!("`{}` is known only when it is deployed", reference.id));
                return Some(UnquotedPart::Unresolved(reason, text));
            }
            Part::Unresolved { reason, .. } => return Some(UnquotedPart::Unresolved(reason.clone(), text)),
        }
    }
    None
}

/// Renders `parts` with a mark for each part that is not known text: as a JSON string, or inside one.
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
            Part::Reference(_) | Part::Unresolved { .. } => {
                let quote = if in_string { "" } else { "\"" };
                text.extend([quote, &format!("{MARK}{at}{MARK}"), quote]);
            }
        }
    }
    text
}

/// Replaces the marks in a parsed text by their parts.
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

/// Replaces the marks in a string by their parts.
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
