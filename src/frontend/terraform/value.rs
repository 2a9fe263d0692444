//! Values as Terraform computes them, with what Terraform does not have: the reason why one is not known, one of
//! several under a condition, a reference in place of an attribute that AWS chooses, and where each came from.
//!
//! It knows no expression and no resource type.

use super::number::Number;
use super::types::{self, Type};
use crate::graph::{Condition, Origin};
use crate::source::Span;
use std::sync::Arc;

/// More cases than this are not worth telling apart.
pub(super) const MAX_CASES: usize = 64;
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
const TOO_LONG: &str = "it is a text of more than a megabyte";
const TOO_MIXED: &str = "it is a text of more than 256 parts that are not known";
/// The value is one of more than [`MAX_CASES`].
pub(super) const TOO_MANY_CASES: &str = "it depends on too many conditions";
/// Reasons that are bounds of ours, of which the user is told.
pub(super) const BOUNDS: [&str; 5] = [TOO_MANY_PARTS, TOO_DEEP, TOO_LONG, TOO_MIXED, TOO_MANY_CASES];

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
    /// One of several: the conditions are disjoint and cover every world.
    Cases(Arc<[(Condition, Value)]>),
}

/// Names one instance of a resource.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResourceId {
    /// The module's place among the instances.
    pub(super) module: usize,
    /// Whether it is a data source.
    pub(super) data: bool,
    pub(super) kind: Arc<str>,
    pub(super) name: Arc<str>,
    pub(super) key: Key,
    pub(super) address: Arc<str>,
}

/// The key of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    None,
    Index(usize),
    Name(Arc<str>),
}

impl Key {
    /// As Terraform prints it after an address.
    pub(super) fn shown(&self) -> String {
        match self {
            Key::None => String::new(),
            Key::Index(index) => format!("[{index}]"),
            Key::Name(name) => format!("[{}]", quoted(name)),
        }
    }
}

/// A text as HCL writes it in quotes.
fn quoted(text: &str) -> String {
    let mut written = String::from("\"");
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '"' | '\\' => written.extend(['\\', letter]),
            '$' | '%' if letters.peek() == Some(&'{') => written.extend([letter, letter]),
            _ if is_printable(letter) => written.push(letter),
            _ if u32::from(letter) < 0x1_0000 => written.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => written.push_str(&format!("\\U{:08x}", u32::from(letter))),
        }
    }
    written.push('"');
    written
}

/// Whether a letter shows; of the marks that do not, the common ones are known.
fn is_printable(letter: char) -> bool {
    let hidden = letter.is_control() || (letter.is_whitespace() && letter != ' ');
    let formats = matches!(u32::from(letter), 0xad | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x2064 | 0xfeff | 0xe000..=0xf8ff);
    !hidden && !formats
}

/// Why a value is not known.
#[derive(Debug, Clone)]
pub(super) struct Unknown {
    /// As a clause: "`var.x` has no value".
    pub(super) reason: Arc<str>,
    /// Identity, where the same unknown thing may be met again.
    pub(super) key: Option<Arc<str>>,
    /// Whether Terraform would refuse the expression (which `try` and `can` notice).
    pub(super) error: bool,
}

/// A chain of origins, nearest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Trail(Option<Arc<(Origin, Trail)>>);

impl Trail {
    /// With a nearer origin in front.
    pub(super) fn before(self, span: Span, what: impl Into<Arc<str>>) -> Trail {
        let what = what.into();
        Trail(Some(Arc::new((Origin { span, what }, self))))
    }

    /// The origins, nearest first; at most eight.
    pub(super) fn list(&self) -> Vec<Origin> {
        let mut all = Vec::new();
        let mut rest = self;
        while let Some(node) = &rest.0 {
            if all.len() == 8 {
                break;
            }
            all.push(node.0.clone());
            rest = &node.1;
        }
        all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The same with its nearest place narrowed to `span`, where that lies within.
    pub(super) fn narrowed(&self, span: Option<Span>) -> Trail {
        match (&self.0, span) {
            (Some(node), Some(span))
                if node.0.span.file == span.file && node.0.span.start <= span.start && span.end <= node.0.span.end =>
            {
                node.1.clone().before(span, node.0.what.clone())
            }
            _ => self.clone(),
        }
    }
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
                reason: bound.into(),
                key: None,
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
            Kind::Cases(cases) => all(&mut cases.iter().map(|(_, value)| value)),
            Kind::Encoded(inner) | Kind::Rendered(inner) => all(&mut std::iter::once(&**inner)),
            _ => (1, 0),
        }
    }
}

impl Value {
    pub(super) fn null() -> Value {
        Kind::Null.into()
    }

    pub(super) fn bool(value: bool) -> Value {
        Kind::Bool(value).into()
    }

    pub(super) fn number(value: i64) -> Value {
        Kind::Number(value.into()).into()
    }

    pub(super) fn exact(value: Number) -> Value {
        Kind::Number(value).into()
    }

    /// What arithmetic gave.
    pub(super) fn computed(value: Option<Number>) -> Value {
        value.map_or_else(|| Value::error("its number cannot be computed"), Value::exact)
    }

    pub(super) fn count(value: usize) -> Value {
        Value::number(i64::try_from(value).unwrap_or(i64::MAX))
    }

    pub(super) fn text(value: impl Into<Arc<str>>) -> Value {
        Kind::Text(value.into()).into()
    }

    pub(super) fn list(items: Vec<Value>) -> Value {
        Kind::List(items.into()).into()
    }

    /// A list of `element`s.
    pub(super) fn list_of(items: Vec<Value>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::List(Arc::new(element.clone())))),
            ..Value::list(items)
        }
    }

    /// A list of texts.
    pub(super) fn texts(items: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Value {
        Value::list_of(items.into_iter().map(Value::text).collect(), &Type::Text)
    }

    /// A set; items of one kind that can be compared.
    pub(super) fn set(mut items: Vec<Value>) -> Value {
        items.sort_by_cached_key(Value::rank);
        items.dedup_by(|a, b| a.equals(b) == Some(true));
        Kind::Set(items.into()).into()
    }

    /// A set of `element`s.
    pub(super) fn set_of(items: Vec<Value>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::Set(Arc::new(element.clone())))),
            ..Value::set(items)
        }
    }

    /// A map of `element`s.
    pub(super) fn map_of(entries: Vec<(Arc<str>, Value)>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::Map(Arc::new(element.clone())))),
            ..Value::map(entries)
        }
    }

    /// A map; the last of equal keys wins.
    pub(super) fn map(mut entries: Vec<(Arc<str>, Value)>) -> Value {
        entries.reverse();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.dedup_by(|a, b| a.0 == b.0);
        Kind::Map(entries.into()).into()
    }

    /// Not known, because of `reason`.
    pub(super) fn unknown(reason: impl Into<Arc<str>>) -> Value {
        Kind::Unknown(Unknown {
            reason: reason.into(),
            key: None,
            error: false,
        })
        .into()
    }

    /// Refused by Terraform, because of `reason`.
    pub(super) fn error(reason: impl Into<Arc<str>>) -> Value {
        Kind::Unknown(Unknown {
            reason: reason.into(),
            key: None,
            error: true,
        })
        .into()
    }

    /// One of several; a single one is itself, equal answers become one.
    pub(super) fn cases(cases: Vec<(Condition, Value)>) -> Value {
        let mut flat: Vec<(Condition, Value)> = Vec::new();
        for (when, value) in cases {
            let inner = match &value.kind {
                Kind::Cases(inner) => inner.iter().map(|(c, v)| (c.and(&when), v.clone())).collect(),
                _ => vec![(when, value)],
            };
            for (when, value) in inner {
                if !when.is_possible() {
                    continue;
                }
                let same = flat.iter_mut().find(|(_, known)| match (&known.kind, &value.kind) {
                    (Kind::Bool(a), Kind::Bool(b)) => a == b,
                    (Kind::Null, Kind::Null) => true,
                    (Kind::Number(a), Kind::Number(b)) => a == b && known.origins.is_empty(),
                    _ => false,
                });
                match same {
                    Some((known, _)) => *known = known.or(&when),
                    None => flat.push((when, value)),
                }
                if flat.len() > MAX_CASES {
                    return Value::unknown(TOO_MANY_CASES);
                }
            }
        }
        match flat.len() {
            0 => Value::unknown("no combination of conditions reaches it"),
            1 => flat.remove(0).1,
            _ => Kind::Cases(flat.into()).into(),
        }
    }

    /// Its cases; one that always holds where there are none.
    pub(super) fn each_case(&self) -> Vec<(Condition, Value)> {
        match &self.kind {
            Kind::Cases(cases) => cases
                .iter()
                .map(|(when, value)| {
                    let mut value = value.clone();
                    value.span = value.span.or(self.span);
                    if value.origins.is_empty() {
                        value.origins = self.origins.clone();
                    }
                    (when.clone(), value)
                })
                .collect(),
            _ => vec![(Condition::always(), self.clone())],
        }
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

    /// The same with the first origins of `from` where it has none.
    pub(super) fn from(mut self, from: &[Value]) -> Value {
        if self.origins.is_empty()
            && let Some(value) = from.iter().find(|value| !value.origins.is_empty())
        {
            self.origins = value.origins.clone();
        }
        self
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

    /// Whether two values are equal, which never converts; `None` where that is not known.
    pub(super) fn equals(&self, other: &Value) -> Option<bool> {
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
    fn rank(&self) -> (u8, Option<Number>, String) {
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
            Kind::Reference(id, attribute) => text.push_str(&format!("?{}.{attribute}", id.address)),
            _ => text.push('?'),
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
                if part
                    .as_unknown()
                    .is_some_and(|unknown| BOUNDS.contains(&&*unknown.reason))
                {
                    return part;
                }
                close(&mut open, &mut all);
                all.push(part);
                continue;
            };
            length += text.len();
            if length > MAX_TEXT {
                return Value::unknown(TOO_LONG);
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
        MAX_PARTS.. => Value::unknown(TOO_MIXED),
        1 if matches!(all[0].kind, Kind::Text(_) | Kind::Reference(..)) => all.remove(0),
        _ => Kind::Template(all.into()).into(),
    }
}
