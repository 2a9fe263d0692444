//! Constructors of values.

use super::{Arc, Number, TOO_MANY_CASES, Type, Unknown, Value, ValueKind};
use conditions::{Case, Cases};
use icu_normalizer::ComposingNormalizerBorrowed;
use knowledge::{Cause, Reason};
use std::borrow::Cow;

impl Value {
    /// Creates `null`.
    pub fn null() -> Value {
        ValueKind::Null.into()
    }

    /// Creates a boolean.
    pub fn bool(value: bool) -> Value {
        ValueKind::Bool(value).into()
    }

    /// Creates a number.
    pub fn number(value: i64) -> Value {
        ValueKind::Number(value.into()).into()
    }

    /// Creates a number of any precision.
    pub fn exact(value: Number) -> Value {
        ValueKind::Number(value).into()
    }

    /// Returns the result of an arithmetic operation; an error for `None`.
    pub fn computed(value: Option<Number>) -> Value {
        value.map_or_else(|| Value::error("its number cannot be computed"), Value::exact)
    }

    /// Creates a number from a count.
    pub fn count(value: usize) -> Value {
        Value::number(i64::try_from(value).unwrap_or(i64::MAX))
    }

    /// Returns a string, normalized to NFC as in Terraform.
    pub fn text(value: impl Into<Arc<str>>) -> Value {
        let text = value.into();
        if text.is_ascii() {
            return ValueKind::Text(text).into();
        }
        let composed = match ComposingNormalizerBorrowed::new_nfc().normalize(&text) {
            Cow::Owned(composed) => Some(composed),
            Cow::Borrowed(_) => None,
        };
        ValueKind::Text(composed.map_or(text, Arc::from)).into()
    }

    /// Creates a list.
    pub fn list(items: Vec<Value>) -> Value {
        ValueKind::List(items.into()).into()
    }

    /// Returns a list with elements of type `element`.
    pub fn list_of(items: Vec<Value>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::List(Arc::new(element.clone())))),
            ..Value::list(items)
        }
    }

    /// Returns a list of strings.
    pub fn texts(items: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Value {
        Value::list_of(items.into_iter().map(Value::text).collect(), &Type::Text)
    }

    /// Returns a set. All items must be of one type and comparable.
    pub fn set(mut items: Vec<Value>) -> Value {
        items.sort_by_cached_key(Value::rank);
        items.dedup_by(|a, b| a.equals(b) == Some(true));
        ValueKind::Set(items.into()).into()
    }

    /// Returns a set with elements of type `element`.
    pub fn set_of(items: Vec<Value>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::Set(Arc::new(element.clone())))),
            ..Value::set(items)
        }
    }

    /// Returns a map with elements of type `element`.
    pub fn map_of(entries: Vec<(Arc<str>, Value)>, element: &Type) -> Value {
        Value {
            declared: Some(Arc::new(Type::Map(Arc::new(element.clone())))),
            ..Value::map(entries)
        }
    }

    /// Returns a map. The last of equal keys wins.
    pub fn map(mut entries: Vec<(Arc<str>, Value)>) -> Value {
        entries.reverse();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.dedup_by(|a, b| a.0 == b.0);
        ValueKind::Map(entries.into()).into()
    }

    /// Returns a value that is unknown because of `reason`.
    pub fn unknown(reason: Reason) -> Value {
        ValueKind::Unknown(Unknown {
            reason,
            identity: None,
            error: false,
        })
        .into()
    }

    /// Returns a value that is unknown because sqslint's limit `bound` was reached.
    pub fn beyond(bound: &'static str) -> Value {
        Value::unknown(Cause::Limit.because(bound))
    }

    /// Returns a value that Terraform rejects, for the reason `words`.
    pub fn error(words: impl Into<Arc<str>>) -> Value {
        ValueKind::Unknown(Unknown {
            reason: Cause::Invalid.because(words),
            identity: None,
            error: true,
        })
        .into()
    }

    /// Merges cases into one value: equal values are combined, and a single remaining case is returned as itself.
    pub fn cases(cases: impl IntoIterator<Item = Case<Value>>) -> Value {
        let flat = cases.into_iter().flat_map(|case| match &case.kind {
            ValueKind::Cases(inner) => Cases::clone(inner).under(&case.when),
            _ => case.into(),
        });
        let possible = flat.filter(|case| case.when.is_possible());
        let is_same = |known: &Value, value: &Value| match (&known.kind, &value.kind) {
            (ValueKind::Bool(a), ValueKind::Bool(b)) => a == b,
            (ValueKind::Null, ValueKind::Null) => true,
            (ValueKind::Number(a), ValueKind::Number(b)) => a == b && known.origins.is_empty(),
            _ => false,
        };
        let Ok(cases) = Cases::merged(possible, is_same) else {
            return Value::beyond(TOO_MANY_CASES);
        };
        match &*cases {
            [] => Value::unknown(Cause::Derived.because("no combination of conditions reaches it")),
            [only] => only.then.clone(),
            _ => ValueKind::Cases(Arc::new(cases)).into(),
        }
    }
}
