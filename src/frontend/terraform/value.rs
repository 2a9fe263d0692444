//! Values as Terraform computes them, with what Terraform does not have: the reason why one is not known, one of
//! several under a condition, a reference in place of an attribute that AWS chooses, and where each came from.
//!
//! It knows no expression and no resource type.

mod address;
mod comparing;
mod identity;
mod making;
mod trail;

use super::number::Number;
use super::types::{self, Type};
use crate::conditions::Cases;
use crate::graph::Cause;
use crate::source::Span;
pub(super) use address::{Key, ModulePath, ResourceId};
pub(super) use identity::{Identity, Unknown};
use std::sync::Arc;
pub(super) use trail::Trail;

/// Texts longer than this are not computed.
pub(super) const MAX_TEXT: usize = 1 << 20;
/// Values of more parts than this are not computed: lists of lists of themselves double without end.
const MAX_WEIGHT: u32 = 1_000_000;
/// Values nested deeper than this are not computed: whatever walks through them would run out of stack.
const MAX_DEPTH: u8 = 128;
/// Texts of more parts that are not known are not kept.
const MAX_PARTS: usize = 256;

/// The value is of more parts than that.
const TOO_MANY_PARTS: &str = "it is a value of more than a million parts";
const TOO_DEEP: &str = "it is nested more than 128 levels deep";
const TOO_LONG: &str = "it is a string of more than a megabyte";
const TOO_MIXED: &str = "it is a string of more than 256 unknown parts";
/// The value is one of more than [`crate::conditions::MAX_CASES`].
pub(super) const TOO_MANY_CASES: &str = "it depends on too many conditions";

/// A value, where it is written, and where it came from.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) kind: Kind,
    /// The expression that gave it; in an object the whole `key = value`.
    pub(super) span: Option<Span>,
    /// The way from `span` to where it is defined, nearest first.
    pub(super) origins: Trail,
    /// How many values it is made of, shared ones counted each time: what walking through it costs.
    pub(super) weight: u32,
    /// How deep it is nested.
    pub(super) depth: u8,
    /// The type, where the parts do not tell it: a list is no tuple, a map no object, and `null` may be a text.
    pub(super) declared: Option<Arc<Type>>,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(Arc<str>),
    /// A text of which some parts are references or not known.
    Template(Arc<[Value]>),
    /// A text: this value as JSON. Kept as the value, so that keys survive beside what is not known.
    Encoded(Arc<Value>),
    /// A text: this value as JSON, in a layout and an order that are not known.
    Rendered(Arc<Value>),
    /// Lists and tuples.
    List(Arc<[Value]>),
    /// Sorted, without repetitions.
    Set(Arc<[Value]>),
    /// Maps and objects, sorted by key.
    Map(Arc<[(Arc<str>, Value)]>),
    /// An attribute of a resource that AWS chooses, or that links: an ARN, a URL, a name.
    Reference(Arc<ResourceId>, Arc<str>),
    /// One instance of a resource.
    Resource(Arc<ResourceId>),
    /// One instance of a resource whose `count` or `for_each` is not known, standing for all of them.
    AnyResource(Arc<ResourceId>),
    /// One instance of a module, by its place among the instances.
    Module(usize),
    /// As [`Kind::AnyResource`], of a module.
    AnyModule(usize),
    Unknown(Unknown),
    /// One of several.
    Cases(Arc<Cases<Value>>),
}

impl From<Kind> for Value {
    fn from(kind: Kind) -> Self {
        let (mut weight, mut depth) = kind.size();
        let mut kind = kind;
        let bound = match () {
            () if weight > MAX_WEIGHT => Some(TOO_MANY_PARTS),
            () if depth > MAX_DEPTH => Some(TOO_DEEP),
            () if matches!(&kind, Kind::Text(text) if text.len() > MAX_TEXT) => Some(TOO_LONG),
            () => None,
        };
        if let Some(bound) = bound {
            (weight, depth) = (1, 0);
            kind = Kind::Unknown(Unknown {
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

impl Kind {
    /// How many values it is made of, and how deep they are nested.
    fn size(&self) -> (u32, u8) {
        let all = |values: &mut dyn Iterator<Item = &Value>| {
            values.fold((1u32, 1u8), |(weight, depth), value| {
                let deeper = value.depth.saturating_add(1);
                (weight.saturating_add(value.weight), depth.max(deeper))
            })
        };
        match self {
            Kind::Template(items) | Kind::List(items) | Kind::Set(items) => all(&mut items.iter()),
            Kind::Map(entries) => all(&mut entries.iter().map(|(_, value)| value)),
            Kind::Cases(cases) => all(&mut cases.iter().map(|case| &case.then)),
            Kind::Encoded(inner) | Kind::Rendered(inner) => all(&mut std::iter::once(&**inner)),
            _ => (1, 0),
        }
    }
}

impl Value {
    /// An element of it, with the way that the whole came.
    pub(super) fn element(&self, found: &Value) -> Value {
        let mut found = found.clone();
        if found.origins.is_empty() {
            found.origins = self.origins.narrowed(found.span);
        }
        found
    }

    /// Its cases; one that always holds where there are none.
    pub(super) fn each_case(&self) -> Cases<Value> {
        let Kind::Cases(cases) = &self.kind else {
            return Cases::one(self.clone());
        };
        Cases::clone(cases).map(|mut value| {
            value.span = value.span.or(self.span);
            if value.origins.is_empty() {
                value.origins = self.origins.clone();
            }
            value
        })
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    pub(super) fn as_unknown(&self) -> Option<&Unknown> {
        match &self.kind {
            Kind::Unknown(unknown) => Some(unknown),
            _ => None,
        }
    }

    /// Whether Terraform would refuse it.
    pub(super) fn is_refused(&self) -> bool {
        self.as_unknown().is_some_and(|unknown| unknown.error)
    }

    /// Whether Terraform would refuse a part of it.
    pub(super) fn holds_refused(&self) -> bool {
        match &self.kind {
            Kind::List(items) | Kind::Set(items) => items.iter().any(Value::holds_refused),
            Kind::Map(entries) => entries.iter().any(|(_, value)| value.holds_refused()),
            Kind::Encoded(inner) | Kind::Rendered(inner) => inner.holds_refused(),
            Kind::Template(parts) => parts.iter().any(Value::holds_refused),
            _ => self.is_refused(),
        }
    }

    /// What is not known, as a value of `declared`.
    pub(super) fn of_type(self, declared: Option<Type>) -> Value {
        match self.kind {
            Kind::Unknown(_) => Value {
                declared: declared.map(Arc::new),
                ..self
            },
            _ => self,
        }
    }

    /// The elements of a list or set.
    pub(super) fn items(&self) -> Option<&Arc<[Value]>> {
        match &self.kind {
            Kind::List(items) | Kind::Set(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map.
    pub(super) fn entries(&self) -> Option<&Arc<[(Arc<str>, Value)]>> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entry `key` of a map.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let entries = self.entries()?;
        let at = entries.binary_search_by(|(name, _)| (**name).cmp(key)).ok()?;
        entries.get(at).map(|(_, value)| value)
    }

    /// `other`, with the place and the origins of this one.
    pub(super) fn with(&self, other: Value) -> Value {
        Value {
            span: self.span,
            origins: self.origins.clone(),
            ..other
        }
    }

    /// The same with `span` as its place.
    pub(super) fn at(mut self, span: Span) -> Value {
        self.span = Some(span);
        self
    }

    /// The same with the first origins of `from` where it has none. What is known is no cause of what is not.
    pub(super) fn from(mut self, from: &[Value]) -> Value {
        if self.origins.is_empty() {
            let is_open = self.is_open();
            let may_be = |value: &&Value| value.is_open() || matches!(value.kind, Kind::Cases(_));
            let mut from = from.iter().filter(|value| !is_open || may_be(value));
            if let Some(value) = from.find(|value| !value.origins.is_empty()) {
                self.origins = value.origins.clone();
            }
        }
        self
    }

    /// Whether it is unknown, or a text with a part that is.
    fn is_open(&self) -> bool {
        match &self.kind {
            Kind::Template(parts) => parts.iter().any(|part| part.as_unknown().is_some()),
            _ => self.as_unknown().is_some(),
        }
    }

    /// The text that Terraform makes of a primitive.
    pub(super) fn to_text(&self) -> Option<Arc<str>> {
        match &self.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Bool(value) => Some(value.to_string().into()),
            Kind::Number(number) => Some(number.to_string().into()),
            _ => None,
        }
    }

    /// The number that Terraform makes of a primitive.
    pub(super) fn to_exact(&self) -> Option<Number> {
        match &self.kind {
            Kind::Number(number) => Some(number.clone()),
            Kind::Text(text) => Number::parse(text),
            _ => None,
        }
    }

    /// The whole number that Terraform makes of a primitive.
    pub(super) fn to_whole(&self) -> Option<i64> {
        self.to_exact()?.to_i64()
    }

    /// The boolean that Terraform makes of a primitive.
    pub(super) fn to_bool(&self) -> Option<bool> {
        match &self.kind {
            Kind::Bool(value) => Some(*value),
            Kind::Text(text) => match &**text {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether nothing in it is unknown, conditional or a reference.
    pub(super) fn is_plain(&self) -> bool {
        match &self.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) => true,
            Kind::List(items) | Kind::Set(items) => items.iter().all(Value::is_plain),
            Kind::Map(entries) => entries.iter().all(|(_, value)| value.is_plain()),
            Kind::Encoded(inner) => inner.is_plain(),
            _ => false,
        }
    }
}

/// Joins parts into a text; into a template where some are not plain.
pub(super) fn joined(parts: Vec<Value>) -> Value {
    let mut all: Vec<Value> = Vec::new();
    // A text that is still growing, and the first part of it.
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
            Kind::Template(inner) => inner.to_vec(),
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
            if length > MAX_TEXT {
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
        MAX_PARTS.. => Value::unknown(Cause::Unsupported.because(TOO_MIXED)),
        1 if matches!(all[0].kind, Kind::Text(_) | Kind::Reference(..)) => all.remove(0),
        _ => Kind::Template(all.into()).into(),
    }
}
