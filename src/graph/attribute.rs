//! Values that know how they are known, where they stand, where they came from and how the user spells them.

mod name;
mod origins;

use super::{Bounds, Knowledge, Pattern, Reason};
use crate::conditions::{self, Cases, Condition};
use crate::source::Span;
pub use name::Name;
pub use origins::{Origin, Origins};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// How a value is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State<T> {
    /// The files say so.
    Set(T),
    /// Nothing is written, and this is AWS's or the tool's documented default.
    Default(T),
    /// The files do not settle it.
    Unresolved(Unresolved),
}

/// Why the files do not settle a value, and what they say of it all the same. It reads like its reason. A thin
/// pointer: most attributes are known, and this decides how much room each of them takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved(Arc<Why>);

#[derive(Debug, PartialEq, Eq)]
struct Why {
    reason: Reason,
    knowledge: Option<Knowledge>,
}

impl From<Reason> for Unresolved {
    fn from(reason: Reason) -> Self {
        Unresolved(Arc::new(Why {
            reason,
            knowledge: None,
        }))
    }
}

impl Unresolved {
    /// Unresolved because of `reason`, with what is known of it.
    pub fn knowing(reason: Reason, knowledge: Knowledge) -> Self {
        Unresolved(Arc::new(Why {
            reason,
            knowledge: Some(knowledge),
        }))
    }

    /// Why it is unresolved.
    pub fn reason(&self) -> &Reason {
        &self.0.reason
    }

    /// The numbers that it may be.
    pub fn bounds(&self) -> Bounds {
        match &self.0.knowledge {
            Some(Knowledge::Number(bounds)) => *bounds,
            _ => Bounds::ANY,
        }
    }

    /// The known pieces of the string that it is, where there are any.
    pub fn pattern(&self) -> Option<&Pattern> {
        match &self.0.knowledge {
            Some(Knowledge::Text(pattern)) => Some(pattern),
            _ => None,
        }
    }
}

impl Deref for Unresolved {
    type Target = Reason;

    fn deref(&self) -> &Reason {
        self.reason()
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}

/// A value, and the places that say it.
#[derive(Debug, Clone)]
pub struct Sourced<T> {
    /// The value, or why it is not known.
    pub state: State<T>,
    /// The value as written at the attribute; the resource header where it is absent.
    pub span: Span,
    /// Where the value came from, nearest first; empty where it is written at `span`.
    pub origins: Origins,
}

/// A value that an attribute has under a condition.
pub type Case<T> = conditions::Case<Sourced<T>>;

/// An attribute of a resource: one value in each case.
#[derive(Debug, Clone)]
pub struct Attribute<T> {
    /// As the user spells it: `visibility_timeout_seconds`, `VisibilityTimeout`.
    pub name: Name,
    /// Together they cover every condition under which the resource exists. Never empty.
    pub cases: Cases<Sourced<T>>,
}

impl<T> Attribute<T> {
    /// The same value in every case.
    pub fn single(name: impl Into<Name>, state: State<T>, span: Span) -> Self {
        Attribute {
            name: name.into(),
            cases: Cases::one(Sourced::new(state, span)),
        }
    }

    /// Written at `span`.
    pub fn set(name: impl Into<Name>, value: T, span: Span) -> Self {
        Attribute::single(name, State::Set(value), span)
    }

    /// Absent: the documented default, pointing at the resource `header`.
    pub fn absent(name: impl Into<Name>, default: T, header: Span) -> Self {
        Attribute::single(name, State::Default(default), header)
    }

    /// Not settled by the files, because of `reason`.
    pub fn unresolved(name: impl Into<Name>, reason: impl Into<Unresolved>, span: Span) -> Self {
        Attribute::single(name, State::Unresolved(reason.into()), span)
    }

    /// The value, where it is known and the same in every case.
    pub fn known(&self) -> Option<&T> {
        match &*self.cases {
            [case] => case.value(),
            _ => None,
        }
    }

    /// The known values, each with its case, where `when` holds.
    pub fn known_in(&self, when: &Condition) -> Vec<(Condition, &Case<T>, &T)> {
        let cases = self.cases.iter().filter_map(|case| {
            let both = when.and(&case.when);
            Some((both, case, case.value()?)).filter(|(both, ..)| both.is_possible())
        });
        cases.collect()
    }

    /// Whether any case is unresolved, and why.
    pub fn unresolved_reason(&self) -> Option<(&Case<T>, &Unresolved)> {
        self.cases.iter().find_map(|case| match &case.state {
            State::Unresolved(unresolved) => Some((case, unresolved)),
            _ => None,
        })
    }

    /// Another attribute with each state changed by `change`.
    pub fn map<U>(self, mut change: impl FnMut(State<T>) -> State<U>) -> Attribute<U> {
        Attribute {
            name: self.name,
            cases: self.cases.map(|sourced| sourced.map(&mut change)),
        }
    }

    /// Another attribute with each known value changed by `change`; a refusal makes it unresolved.
    pub fn try_map<U>(self, change: impl Fn(T) -> Result<U, Unresolved>) -> Attribute<U> {
        self.map(|state| match state {
            State::Set(value) => change(value).map_or_else(State::Unresolved, State::Set),
            State::Default(value) => change(value).map_or_else(State::Unresolved, State::Default),
            State::Unresolved(reason) => State::Unresolved(reason),
        })
    }
}

impl<T> Sourced<T> {
    /// Written, or missing, at `span`.
    pub const fn new(state: State<T>, span: Span) -> Self {
        Sourced {
            state,
            span,
            origins: Origins::none(),
        }
    }

    /// The same places with another state.
    pub fn map<U>(self, change: impl FnOnce(State<T>) -> State<U>) -> Sourced<U> {
        Sourced {
            state: change(self.state),
            span: self.span,
            origins: self.origins,
        }
    }

    /// Where the value stands, or what it comes from.
    pub fn cause(&self) -> Span {
        self.origins.last().map_or(self.span, |origin| origin.span)
    }

    /// The value, where it is known.
    pub fn value(&self) -> Option<&T> {
        match &self.state {
            State::Set(value) | State::Default(value) => Some(value),
            State::Unresolved(_) => None,
        }
    }

    /// The same, to be changed in place.
    pub fn value_mut(&mut self) -> Option<&mut T> {
        match &mut self.state {
            State::Set(value) | State::Default(value) => Some(value),
            State::Unresolved(_) => None,
        }
    }

    /// Whether nothing is written and the default applies.
    pub fn is_default(&self) -> bool {
        matches!(self.state, State::Default(_))
    }
}
