//! Values as Terraform computes them, extended with what static analysis needs: the reason why a value is unknown,
//! cases under conditions, references in place of attributes that AWS chooses, and origins.
//!
//! This module knows no expressions and no resource types.

mod address;
mod comparing;
mod identity;
mod making;
mod trail;

use super::number::Number;
use super::types::{self, Type};
use crate::limits;
pub use address::{Key, ModulePath, ResourceId};
use conditions::Cases;
pub use identity::{Identity, RemoteAttribute, SizeRelation, Unknown};
use knowledge::{Cause, Reason};
use source::Span;
use std::sync::Arc;
pub use trail::Trail;

/// The reason for a value with more than [`limits::MAX_VALUE_WEIGHT`] parts.
const TOO_MANY_PARTS: &str = "it is a value of more than a million parts";
const TOO_DEEP: &str = "it is nested more than 128 levels deep";
const TOO_LONG: &str = "it is a string of more than a megabyte";
const TOO_MIXED: &str = "it is a string of more than 256 unknown parts";
/// The reason for a value with more than [`conditions::MAX_CASES`] cases.
pub const TOO_MANY_CASES: &str = "it depends on too many conditions";

/// Maximum number of elements of a list that are searched for the default of an input.
const MAX_SEARCHED: usize = 64;

/// A value, the span where it is written, and its origins.
#[derive(Debug, Clone)]
pub struct Value {
    /// The value.
    pub kind: ValueKind,
    /// The expression that produced it; for an entry of an object, the whole `key = value`.
    pub span: Option<Span>,
    /// Origins between `span` and the definition of the value, nearest first.
    pub origins: Trail,
    /// Number of values that it consists of, with shared ones counted each time: the cost of walking through it.
    pub weight: u32,
    /// Nesting depth.
    pub depth: u8,
    /// The type, if the parts do not determine it: it distinguishes a list from a tuple, a map from an object, and a
    /// `null` string from other nulls.
    pub declared: Option<Arc<Type>>,
}

/// The content of a value.
#[derive(Debug, Clone)]
pub enum ValueKind {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Arc<str>),
    /// A string with parts that are references or unknown.
    Template(Arc<[Value]>),
    /// A string: this value as JSON. It is kept as a value so that the keys remain readable even if some entries are
    /// unknown.
    Encoded(Arc<Value>),
    /// A string: this value as JSON, in an unknown layout and order.
    Rendered(Arc<Value>),
    /// A list or a tuple.
    List(Arc<[Value]>),
    /// A set, sorted and without duplicates.
    Set(Arc<[Value]>),
    /// A map or an object, sorted by key.
    Map(Arc<[(Arc<str>, Value)]>),
    /// A resource attribute that AWS chooses or that links to the resource: an ARN, a URL, a name.
    Reference(Arc<ResourceId>, Arc<str>),
    /// An instance of a resource.
    Resource(Arc<ResourceId>),
    /// An instance of a resource with an unknown `count` or `for_each`. It represents all instances.
    AnyResource(Arc<ResourceId>),
    /// An instance of a module, by its index in the evaluator's instances.
    Module(usize),
    /// An instance of a module with an unknown `count` or `for_each`. It represents all instances.
    AnyModule(usize),
    /// A value that the files do not determine.
    Unknown(Unknown),
    /// Several values, each under a condition.
    Cases(Arc<Cases<Value>>),
}

impl From<ValueKind> for Value {
    fn from(kind: ValueKind) -> Self {
        let (mut weight, mut depth) = kind.size();
        let mut kind = kind;
        let bound = match () {
            () if weight > limits::MAX_VALUE_WEIGHT => Some(TOO_MANY_PARTS),
            () if depth > limits::MAX_VALUE_DEPTH => Some(TOO_DEEP),
            () if matches!(&kind, ValueKind::Text(text) if text.len() > limits::MAX_TEXT) => Some(TOO_LONG),
            () => None,
        };
        if let Some(bound) = bound {
            (weight, depth) = (1, 0);
            kind = ValueKind::Unknown(Unknown {
                reason: Cause::Limit.because(bound),
                identity: None,
                error: false,
            });
        }
        Value {
            kind,
            weight,
            depth,
            span: None,
            origins: Trail::default(),
            declared: None,
        }
    }
}

impl ValueKind {
    /// Returns the number of values it consists of, and the nesting depth.
    fn size(&self) -> (u32, u8) {
        let all = |values: &mut dyn Iterator<Item = &Value>| {
            values.fold((1u32, 1u8), |(weight, depth), value| {
                let deeper = value.depth.saturating_add(1);
                (weight.saturating_add(value.weight), depth.max(deeper))
            })
        };
        match self {
            ValueKind::Template(items) | ValueKind::List(items) | ValueKind::Set(items) => all(&mut items.iter()),
            ValueKind::Map(entries) => all(&mut entries.iter().map(|(_, value)| value)),
            ValueKind::Cases(cases) => all(&mut cases.iter().map(|case| &case.then)),
            ValueKind::Encoded(inner) | ValueKind::Rendered(inner) => all(&mut std::iter::once(&**inner)),
            _ => (1, 0),
        }
    }
}

impl Value {
    /// Returns `found`, an element of this value, with the origins of the whole value if it has none of its own.
    pub(crate) fn element(&self, found: &Value) -> Value {
        let mut found = found.clone();
        if found.origins.is_empty() {
            found.origins = found.origins.or(&self.origins.narrowed(found.span));
        }
        found
    }

    /// Returns the cases of the value; a value without cases is a single case that always applies.
    pub fn each_case(&self) -> Cases<Value> {
        let ValueKind::Cases(cases) = &self.kind else {
            return Cases::one(self.clone());
        };
        Cases::clone(cases).map(|mut value| {
            value.span = value.span.or(self.span);
            value.origins = value.origins.or(&self.origins);
            value
        })
    }

    /// Returns `true` if it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, ValueKind::Null)
    }

    /// Returns the reason if it is unknown.
    pub fn as_unknown(&self) -> Option<&Unknown> {
        match &self.kind {
            ValueKind::Unknown(unknown) => Some(unknown),
            _ => None,
        }
    }

    /// Returns the reason why it is unknown or, for any other value, `otherwise`.
    pub(crate) fn reason_or(&self, otherwise: &'static str) -> Reason {
        let unknown = self.as_unknown().map(|unknown| unknown.reason.clone());
        unknown.unwrap_or_else(|| Cause::Derived.because(otherwise))
    }

    /// Returns `true` if Terraform would reject the expression.
    pub fn is_refused(&self) -> bool {
        self.as_unknown().is_some_and(|unknown| unknown.error)
    }

    /// Returns `true` if Terraform would reject any part of the value.
    pub fn holds_refused(&self) -> bool {
        match &self.kind {
            ValueKind::List(items) | ValueKind::Set(items) => items.iter().any(Value::holds_refused),
            ValueKind::Map(entries) => entries.iter().any(|(_, value)| value.holds_refused()),
            ValueKind::Encoded(inner) | ValueKind::Rendered(inner) => inner.holds_refused(),
            ValueKind::Template(parts) => parts.iter().any(Value::holds_refused),
            _ => self.is_refused(),
        }
    }

    /// Declares the type of an unknown value; returns any other value unchanged.
    pub(crate) fn of_type(self, declared: Option<Type>) -> Value {
        match self.kind {
            ValueKind::Unknown(_) => Value {
                declared: declared.map(Arc::new),
                ..self
            },
            _ => self,
        }
    }

    /// Returns the elements of a list or set.
    pub fn items(&self) -> Option<&Arc<[Value]>> {
        match &self.kind {
            ValueKind::List(items) | ValueKind::Set(items) => Some(items),
            _ => None,
        }
    }

    /// Returns `true` for a list or map without elements.
    pub fn is_empty(&self) -> bool {
        self.items().is_some_and(|items| items.is_empty()) || self.entries().is_some_and(|entries| entries.is_empty())
    }

    /// Returns the entries of a map.
    pub fn entries(&self) -> Option<&Arc<[(Arc<str>, Value)]>> {
        match &self.kind {
            ValueKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns the entry `key` of a map.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let entries = self.entries()?;
        let at = entries.binary_search_by(|(name, _)| (**name).cmp(key)).ok()?;
        entries.get(at).map(|(_, value)| value)
    }

    /// Returns `other` with the span and origins of this value.
    pub(crate) fn with(&self, other: Value) -> Value {
        Value {
            span: self.span,
            origins: self.origins.clone(),
            ..other
        }
    }

    /// Sets the span.
    pub(crate) fn at(mut self, span: Span) -> Value {
        self.span = Some(span);
        self
    }

    /// Takes the origins of the first of `from` that has any, unless the value already has origins. An unknown value
    /// takes only those of unknown or conditional values, because a known value cannot be the reason why the result is
    /// unknown.
    pub(crate) fn from(mut self, from: &[Value]) -> Value {
        let is_open = self.is_partly_unknown();
        if self.origins.is_empty() {
            let may_be = |value: &&Value| value.is_partly_unknown() || matches!(value.kind, ValueKind::Cases(_));
            let mut from = from.iter().filter(|value| !is_open || may_be(value));
            if let Some(value) = from.find(|value| !value.origins.is_empty()) {
                self.origins = self.origins.or(&value.origins);
            }
        }
        if is_open { self } else { self.decided_by(from) }
    }

    /// Records the default of an input that decides about the value if one of `operands`, or an element of it, depends
    /// on one.
    pub(crate) fn decided_by<'v>(mut self, operands: impl IntoIterator<Item = &'v Value>) -> Value {
        let elements = |value: &'v Value| {
            value
                .items()
                .into_iter()
                .flat_map(|items| items.iter().take(MAX_SEARCHED))
        };
        let mut all = operands
            .into_iter()
            .flat_map(|value| [value].into_iter().chain(elements(value)));
        if let Some(of_input) = all.find(|value| value.origins.has_default()) {
            self.origins = self.origins.decided_by(&of_input.origins);
        }
        self
    }

    /// Returns `true` if the value is unknown or a string with an unknown part.
    fn is_partly_unknown(&self) -> bool {
        match &self.kind {
            ValueKind::Template(parts) => parts.iter().any(|part| part.as_unknown().is_some()),
            _ => self.as_unknown().is_some(),
        }
    }

    /// Returns the string that Terraform converts a primitive to.
    pub fn to_text(&self) -> Option<Arc<str>> {
        match &self.kind {
            ValueKind::Text(text) => Some(text.clone()),
            ValueKind::Bool(value) => Some(value.to_string().into()),
            ValueKind::Number(number) => Some(number.to_string().into()),
            _ => None,
        }
    }

    /// Returns the number that Terraform converts a primitive to.
    pub fn to_exact(&self) -> Option<Number> {
        match &self.kind {
            ValueKind::Number(number) => Some(number.clone()),
            ValueKind::Text(text) => Number::parse(text),
            _ => None,
        }
    }

    /// Returns the integer that Terraform converts a primitive to.
    pub fn to_whole(&self) -> Option<i64> {
        self.to_exact()?.to_i64()
    }

    /// Returns the boolean that Terraform converts a primitive to.
    pub fn to_bool(&self) -> Option<bool> {
        match &self.kind {
            ValueKind::Bool(value) => Some(*value),
            ValueKind::Text(text) => match &**text {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns `true` for null, a boolean, a number or an empty string.
    pub(crate) fn is_brief(&self) -> bool {
        match &self.kind {
            ValueKind::Text(text) => text.is_empty(),
            kind => matches!(kind, ValueKind::Null | ValueKind::Bool(_) | ValueKind::Number(_)),
        }
    }

    /// Returns `true` if nothing in the value is unknown, conditional or a reference.
    pub fn is_plain(&self) -> bool {
        match &self.kind {
            ValueKind::Null | ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::Text(_) => true,
            ValueKind::List(items) | ValueKind::Set(items) => items.iter().all(Value::is_plain),
            ValueKind::Map(entries) => entries.iter().all(|(_, value)| value.is_plain()),
            ValueKind::Encoded(inner) => inner.is_plain(),
            _ => false,
        }
    }
}

/// Concatenates `parts` to a string, or to a template if some of them are not plain.
pub fn joined(parts: Vec<Value>) -> Value {
    let mut all: Vec<Value> = Vec::new();
    // The literal text collected since the last part that is not plain, and its first part.
    let mut open: Option<(String, Value)> = None;
    let mut length = 0;
    let close = |open: &mut Option<(String, Value)>, all: &mut Vec<Value>| {
        if let Some((text, first)) = open.take()
            && !text.is_empty()
        {
            all.push(first.with(Value::text(text)));
        }
    };
    for part in parts {
        let flat = match &part.kind {
            ValueKind::Template(inner) => inner.to_vec(),
            _ => vec![part],
        };
        for part in flat {
            let Some(text) = part.to_text() else {
                if part.as_unknown().is_some_and(Unknown::is_bound) {
                    return part;
                }
                close(&mut open, &mut all);
                all.push(part);
                continue;
            };
            length += text.len();
            if length > limits::MAX_TEXT {
                return Value::beyond(TOO_LONG);
            }
            match &mut open {
                Some((before, _)) => before.push_str(&text),
                None => open = Some((text.to_string(), part)),
            }
        }
    }
    close(&mut open, &mut all);
    match all.len() {
        0 => Value::text(""),
        limits::MAX_TEMPLATE_PARTS.. => Value::unknown(Cause::Unsupported.because(TOO_MIXED)),
        1 if matches!(all[0].kind, ValueKind::Text(_) | ValueKind::Reference(..)) => all.remove(0),
        _ => ValueKind::Template(all.into()).into(),
    }
}
