//! Values from what they are made of.

use super::{Arc, Kind, Number, TOO_MANY_CASES, Type, Unknown, Value};
use crate::conditions::{Case, Cases};
use crate::graph::{Cause, Reason};
use icu_normalizer::ComposingNormalizerBorrowed;
use std::borrow::Cow;

impl Value {
    pub(in super::super) fn null() -> Value {
        Kind::Null.into()
    }

    pub(in super::super) fn bool(value: bool) -> Value {
        Kind::Bool(value).into()
    }

    pub(in super::super) fn number(value: i64) -> Value {
        Kind::Number(value.into()).into()
    }

    pub(in super::super) fn exact(value: Number) -> Value {
        Kind::Number(value).into()
    }

    /// What arithmetic gave.
    pub(in super::super) fn computed(value: Option<Number>) -> Value {
        value.map_or_else(|| Value::error("its number cannot be computed"), Value::exact)
    }

    pub(in super::super) fn count(value: usize) -> Value {
        Value::number(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// A text, whose characters are composed as Terraform composes them.
    pub(in super::super) fn text(value: impl Into<Arc<str>>) -> Value {
        let text = value.into();
        if text.is_ascii() {
            return Kind::Text(text).into();
        }
        let composed = match ComposingNormalizerBorrowed::new_nfc().normalize(&text) {
            Cow::Owned(composed) => Some(composed),
            Cow::Borrowed(_) => None,
        };
        Kind::Text(composed.map_or(text, Arc::from)).into()
    }

    pub(in super::super) fn list(items: Vec<Value>) -> Value {
        Kind::List(items.into()).into()
    }

    /// A list of `element`s.
    pub(in super::super) fn list_of(items: Vec<Value>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::List(Arc::new(element.clone())))),
            ..Value::list(items)
        }
    }

    /// A list of texts.
    pub(in super::super) fn texts(items: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Value {
        Value::list_of(items.into_iter().map(Value::text).collect(), &Type::Text)
    }

    /// A set; items of one kind that can be compared.
    pub(in super::super) fn set(mut items: Vec<Value>) -> Value {
        items.sort_by_cached_key(Value::rank);
        items.dedup_by(|a, b| a.equals(b) == Some(true));
        Kind::Set(items.into()).into()
    }

    /// A set of `element`s.
    pub(in super::super) fn set_of(items: Vec<Value>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::Set(Arc::new(element.clone())))),
            ..Value::set(items)
        }
    }

    /// A map of `element`s.
    pub(in super::super) fn map_of(entries: Vec<(Arc<str>, Value)>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::Map(Arc::new(element.clone())))),
            ..Value::map(entries)
        }
    }

    /// A map; the last of equal keys wins.
    pub(in super::super) fn map(mut entries: Vec<(Arc<str>, Value)>) -> Value {
        entries.reverse();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.dedup_by(|a, b| a.0 == b.0);
        Kind::Map(entries.into()).into()
    }

    /// Not known, because of `reason`.
    pub(in super::super) fn unknown(reason: Reason) -> Value {
        Kind::Unknown(Unknown {
            reason,
            identity: None,
            error: false,
        })
        .into()
    }

    /// Not known, because `bound` of ours is reached.
    pub(in super::super) fn beyond(bound: &'static str) -> Value {
        Value::unknown(Cause::Limit.because(bound))
    }

    /// Refused by Terraform, because of `words`.
    pub(in super::super) fn error(words: impl Into<Arc<str>>) -> Value {
        Kind::Unknown(Unknown {
            reason: Cause::Invalid.because(words),
            identity: None,
            error: true,
        })
        .into()
    }

    /// One of several; a single one is itself, equal answers become one.
    pub(in super::super) fn cases(cases: impl IntoIterator<Item = Case<Value>>) -> Value {
        let flat = cases.into_iter().flat_map(|case| match &case.kind {
            Kind::Cases(inner) => Cases::clone(inner).under(&case.when),
            _ => case.into(),
        });
        let possible = flat.filter(|case| case.when.is_possible());
        let is_same = |known: &Value, value: &Value| match (&known.kind, &value.kind) {
            (Kind::Bool(a), Kind::Bool(b)) => a == b,
            (Kind::Null, Kind::Null) => true,
            (Kind::Number(a), Kind::Number(b)) => a == b && known.origins.is_empty(),
            _ => false,
        };
        let Ok(cases) = Cases::merged(possible, is_same) else {
            return Value::beyond(TOO_MANY_CASES);
        };
        match &*cases {
            [] => Value::unknown(Cause::Derived.because("no combination of conditions reaches it")),
            [only] => only.then.clone(),
            _ => Kind::Cases(Arc::new(cases)).into(),
        }
    }
}
