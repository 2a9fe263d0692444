//! Values that know how they are known, where they stand, where they came from and how the user spells them.

mod cases;

use crate::conditions::Condition;
use crate::source::Span;
pub use cases::{Cases, Name, Origins};
use std::sync::Arc;

/// How a value is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State<T> {
    /// The files say so.
    Set(T),
    /// Nothing is written, and this is AWS's or the tool's documented default.
    Default(T),
    /// The files do not settle it, and this is why, as a clause: "`var.x` has no value".
    Unresolved(Arc<str>),
}

/// A step on the way from where a value is written to where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The place: a variable's default, a line of a tfvars file, a module argument, a local.
    pub span: Span,
    /// What it is, as a noun phrase: "the default of `var.visibility`".
    pub what: Arc<str>,
}

impl Origin {
    /// What to say at its place.
    pub fn shown(&self) -> String {
        format!("the value comes from {}", self.what)
    }
}

/// A value in some worlds.
#[derive(Debug, Clone)]
pub struct Case<T> {
    /// The worlds.
    pub when: Condition,
    /// The value there.
    pub state: State<T>,
    /// The value as written at the attribute; the resource header where it is absent.
    pub span: Span,
    /// Where the value came from, nearest first; empty where it is written at `span`.
    pub origins: Origins,
}

/// An attribute of a resource: one value in each world.
#[derive(Debug, Clone)]
pub struct Attribute<T> {
    /// As the user spells it: `visibility_timeout_seconds`, `VisibilityTimeout`.
    pub name: Name,
    /// Disjoint, and together every world in which the resource exists. Never empty.
    pub cases: Cases<T>,
}

impl<T> Attribute<T> {
    /// The same value in every world.
    pub fn single(name: impl Into<Name>, state: State<T>, span: Span) -> Self {
        Attribute {
            name: name.into(),
            cases: Cases::one(Case {
                when: Condition::always(),
                state,
                span,
                origins: Origins::none(),
            }),
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
    pub fn unresolved(name: impl Into<Name>, reason: impl Into<Arc<str>>, span: Span) -> Self {
        Attribute::single(name, State::Unresolved(reason.into()), span)
    }

    /// The value, where it is known and the same in every world.
    pub fn known(&self) -> Option<&T> {
        match &*self.cases {
            [case] => case.value(),
            _ => None,
        }
    }

    /// The known values, each with its case, in the worlds of `world`.
    pub fn known_in(&self, world: &Condition) -> Vec<(Condition, &Case<T>, &T)> {
        let cases = self.cases.iter().filter_map(|case| {
            let both = world.and(&case.when);
            Some((both, case, case.value()?)).filter(|(both, ..)| both.is_possible())
        });
        cases.collect()
    }

    /// Whether any case is unresolved, and why.
    pub fn unresolved_reason(&self) -> Option<(&Case<T>, &Arc<str>)> {
        self.cases.iter().find_map(|case| match &case.state {
            State::Unresolved(reason) => Some((case, reason)),
            _ => None,
        })
    }

    /// Another attribute with each known value changed by `change`; a refusal makes it unresolved.
    pub fn try_map<U>(self, change: impl Fn(T) -> Result<U, Arc<str>>) -> Attribute<U> {
        let cases = self.cases.into_iter().map(|case| Case {
            when: case.when,
            state: match case.state {
                State::Set(value) => change(value).map_or_else(State::Unresolved, State::Set),
                State::Default(value) => change(value).map_or_else(State::Unresolved, State::Default),
                State::Unresolved(reason) => State::Unresolved(reason),
            },
            span: case.span,
            origins: case.origins,
        });
        Attribute {
            name: self.name,
            cases: cases.collect(),
        }
    }
}

impl<T> Case<T> {
    /// The value, where it is known.
    pub fn value(&self) -> Option<&T> {
        match &self.state {
            State::Set(value) | State::Default(value) => Some(value),
            State::Unresolved(_) => None,
        }
    }

    /// Whether nothing is written and the default applies.
    pub fn is_default(&self) -> bool {
        matches!(self.state, State::Default(_))
    }
}
