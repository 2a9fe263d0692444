//! Equality and the order of sets, which never convert.

use super::{Kind, Number, Value, types};

impl Value {
    /// Whether two values are equal, which never converts; `None` where that is not known.
    pub(in super::super) fn equals(&self, other: &Value) -> Option<bool> {
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
            (Kind::Unknown(_) | Kind::Cases(_), _) | (_, Kind::Unknown(_) | Kind::Cases(_)) => None,
            (Kind::Null, Kind::Null) => Some(true),
            // What is written or linked is not null.
            (Kind::Null, _) | (_, Kind::Null) => Some(false),
            (Kind::Bool(a), Kind::Bool(b)) => Some(a == b),
            (Kind::Number(a), Kind::Number(b)) => Some(a == b),
            (Kind::Text(a), Kind::Text(b)) => Some(a == b),
            (Kind::Reference(a, x), Kind::Reference(b, y)) if a == b && x == y => Some(true),
            (Kind::Reference(..), Kind::Text(text)) | (Kind::Text(text), Kind::Reference(..)) if text.is_empty() => {
                Some(false)
            }
            (Kind::Encoded(_) | Kind::Rendered(_), Kind::Text(text))
            | (Kind::Text(text), Kind::Encoded(_) | Kind::Rendered(_))
                if text.is_empty() =>
            {
                Some(false)
            }
            (Kind::Reference(..) | Kind::Template(_) | Kind::Encoded(_) | Kind::Rendered(_), _)
            | (_, Kind::Reference(..) | Kind::Template(_) | Kind::Encoded(_) | Kind::Rendered(_)) => None,
            (Kind::List(_) | Kind::Set(_), Kind::List(_) | Kind::Set(_)) | (Kind::Map(_), Kind::Map(_))
                if !self.is_like(other) =>
            {
                Some(false)
            }
            (Kind::List(a), Kind::List(b)) | (Kind::Set(a), Kind::Set(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                all(&mut a.iter().zip(b.iter()).map(|(a, b)| a.equals(b)))
            }
            (Kind::Map(a), Kind::Map(b)) => {
                if a.len() != b.len() || a.iter().zip(b.iter()).any(|(a, b)| a.0 != b.0) {
                    return Some(false);
                }
                all(&mut a.iter().zip(b.iter()).map(|(a, b)| a.1.equals(&b.1)))
            }
            (Kind::Resource(a), Kind::Resource(b)) => (a == b).then_some(true),
            _ => Some(false),
        }
    }

    /// Whether two collections are of one kind, and empty ones of one type: a tuple never equals a list.
    fn is_like(&self, other: &Value) -> bool {
        let shape = |value: &Value| value.declared.as_deref().map(std::mem::discriminant);
        let is_empty = |value: &Value| value.items().is_some_and(|items| items.is_empty());
        shape(self) == shape(other) && (!(is_empty(self) && is_empty(other)) || types::of(self) == types::of(other))
    }

    /// Orders the elements of a set: numbers and booleans by value, texts by bytes, others as Terraform hashes them.
    pub(super) fn rank(&self) -> (u8, Option<Number>, String) {
        let mut text = String::new();
        match &self.kind {
            Kind::Bool(value) => return (0, Some(i64::from(*value).into()), text),
            Kind::Number(number) => return (0, Some(number.clone()), text),
            Kind::Text(inner) => return (1, None, inner.to_string()),
            _ => self.hash(&mut text),
        }
        (2, None, text)
    }

    fn hash(&self, text: &mut String) {
        match &self.kind {
            Kind::Null => text.push('~'),
            Kind::Bool(value) => text.push(if *value { 'T' } else { 'F' }),
            Kind::Number(number) => text.push_str(&number.general(Some(10), 'e')),
            Kind::Text(inner) => text.push_str(&format!("{inner:?}")),
            Kind::List(items) | Kind::Set(items) => {
                let tuple = self.declared.is_none();
                text.push(if tuple { '<' } else { '[' });
                for item in items.iter() {
                    item.hash(text);
                    text.push(';');
                }
                text.push(if tuple { '>' } else { ']' });
            }
            Kind::Map(entries) => {
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
            Kind::Reference(id, attribute) => text.push_str(&format!("?{}.{attribute}", id.address())),
            _ => text.push('?'),
        }
    }
}
