//! Equality, and the order of set elements. Neither converts its operands.

use super::{Number, Value, ValueKind, types};
use crate::provider;
use std::sync::Arc;

impl Value {
    /// Returns whether two values are equal, without conversion; `None` if that is unknown.
    pub fn equals(&self, other: &Value) -> Option<bool> {
        let all = |pairs: &mut dyn Iterator<Item = Option<bool>>| {
            let mut known = Some(true);
            for pair in pairs {
                match pair {
                    Some(false) => return Some(false),
                    None => known = None,
                    Some(true) => {}
                }
            }
            known
        };
        match (&self.kind, &other.kind) {
            (ValueKind::Unknown(_) | ValueKind::Cases(_), _) | (_, ValueKind::Unknown(_) | ValueKind::Cases(_)) => None,
            (ValueKind::Null, ValueKind::Null) => Some(true),
            // A written value or a link is never null.
            (ValueKind::Null, _) | (_, ValueKind::Null) => Some(false),
            (ValueKind::Bool(a), ValueKind::Bool(b)) => Some(a == b),
            (ValueKind::Number(a), ValueKind::Number(b)) => Some(a == b),
            (ValueKind::Text(a), ValueKind::Text(b)) => Some(a == b),
            (ValueKind::Reference(a, x), ValueKind::Reference(b, y)) if a == b && x == y => Some(true),
            (ValueKind::Reference(..), ValueKind::Text(text)) | (ValueKind::Text(text), ValueKind::Reference(..))
                if text.is_empty() =>
            {
                Some(false)
            }
            (ValueKind::Template(a), ValueKind::Template(b)) => same_but_for_text(a, b),
            (_, ValueKind::Text(text)) if text.is_empty() && self.has_characters() => Some(false),
            (ValueKind::Text(text), _) if text.is_empty() && other.has_characters() => Some(false),
            (ValueKind::Reference(..) | ValueKind::Template(_) | ValueKind::Encoded(_) | ValueKind::Rendered(_), _)
            | (_, ValueKind::Reference(..) | ValueKind::Template(_) | ValueKind::Encoded(_) | ValueKind::Rendered(_)) => {
                None
            }
            (ValueKind::List(_) | ValueKind::Set(_), ValueKind::List(_) | ValueKind::Set(_))
            | (ValueKind::Map(_), ValueKind::Map(_))
                if !self.is_like(other) =>
            {
                Some(false)
            }
            (ValueKind::List(a), ValueKind::List(b)) | (ValueKind::Set(a), ValueKind::Set(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                all(&mut a.iter().zip(b.iter()).map(|(a, b)| a.equals(b)))
            }
            (ValueKind::Map(a), ValueKind::Map(b)) => {
                if a.len() != b.len() || a.iter().zip(b.iter()).any(|(a, b)| a.0 != b.0) {
                    return Some(false);
                }
                all(&mut a.iter().zip(b.iter()).map(|(a, b)| a.1.equals(&b.1)))
            }
            (ValueKind::Resource(a), ValueKind::Resource(b)) => (a == b).then_some(true),
            _ => Some(false),
        }
    }

    /// Returns `true` for a string that is not empty, even if parts of it are unknown.
    pub(crate) fn has_characters(&self) -> bool {
        match &self.kind {
            ValueKind::Text(text) => !text.is_empty(),
            ValueKind::Template(parts) => parts.iter().any(Value::has_characters),
            ValueKind::Reference(id, attribute) => provider::form(&id.kind, attribute).is_some(),
            ValueKind::Encoded(_) | ValueKind::Rendered(_) => true,
            _ => false,
        }
    }

    /// Returns `true` if two collections have the same kind and, if both are empty, the same type. A tuple never equals
    /// a list.
    fn is_like(&self, other: &Value) -> bool {
        let shape = |value: &Value| value.declared.as_deref().map(std::mem::discriminant);
        let is_empty = |value: &Value| value.items().is_some_and(|items| items.is_empty());
        shape(self) == shape(other) && (!(is_empty(self) && is_empty(other)) || types::of(self) == types::of(other))
    }

    /// Returns the sort key of a set element: numbers and booleans sort by value, strings by bytes, and other values by
    /// Terraform's hash.
    pub fn rank(&self) -> (u8, Option<Number>, String) {
        let mut text = String::new();
        match &self.kind {
            ValueKind::Bool(value) => return (0, Some(i64::from(*value).into()), text),
            ValueKind::Number(number) => return (0, Some(number.clone()), text),
            ValueKind::Text(inner) => return (1, None, inner.to_string()),
            _ => self.hash(&mut text),
        }
        (2, None, text)
    }

    fn hash(&self, text: &mut String) {
        match &self.kind {
            ValueKind::Null => text.push('~'),
            ValueKind::Bool(value) => text.push(if *value { 'T' } else { 'F' }),
            ValueKind::Number(number) => text.push_str(&number.general(Some(10), 'e')),
            ValueKind::Text(inner) => text.push_str(&format!("{inner:?}")),
            ValueKind::List(items) | ValueKind::Set(items) => {
                let tuple = self.declared.is_none();
                text.push(if tuple { '<' } else { '[' });
                for item in items.iter() {
                    item.hash(text);
                    text.push(';');
                }
                text.push(if tuple { '>' } else { ']' });
            }
            ValueKind::Map(entries) => {
                let object = self.declared.is_none();
                text.push(if object { '<' } else { '{' });
                for (key, value) in entries.iter() {
                    if !object {
                        text.push_str(&format!("{key:?}:"));
                    }
                    value.hash(text);
                    text.push(';');
                }
                text.push(if object { '>' } else { '}' });
            }
            ValueKind::Reference(id, attribute) => text.push_str(&format!("?{}.{attribute}", id.address())),
            _ => text.push('?'),
        }
    }
}

/// Returns whether two templates are equal if they differ in known text only: `${var.prefix}-orders` is not
/// `${var.prefix}-mails`, whatever the prefix.
fn same_but_for_text(one: &[Value], other: &[Value]) -> Option<bool> {
    let is_same = |(a, b): &(&Value, &Value)| a.identity().is_some_and(|identity| Some(identity) == b.identity());
    let from_start = one.iter().zip(other).take_while(is_same).count();
    let (one, other) = (&one[from_start..], &other[from_start..]);
    let from_end = one.iter().rev().zip(other.iter().rev()).take_while(is_same).count();
    let text = |parts: &[Value]| match &parts[..parts.len() - from_end] {
        [] => Some(Arc::from("")),
        [only] => match &only.kind {
            ValueKind::Text(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    Some(text(one)? == text(other)?)
}
