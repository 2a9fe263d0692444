//! Values with their state (known, default or unresolved), span, origins, and name as written.

use super::{Cause, Name, Origins, Reason, Unresolved};
use conditions::{self, Cases, Condition};
use source::Span;

/// State of a value: known, default or unresolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State<T> {
    /// Value written in the files.
    Set(T),
    /// Documented default of AWS or the tool, because the attribute is absent.
    Default(T),
    /// Value that the files do not determine.
    Unresolved(Unresolved),
}

/// A value with its span and origins.
#[derive(Debug, Clone)]
pub struct SourcedValue<T> {
    /// The value, or the reason why it is unresolved.
    pub state: State<T>,
    /// Span of the value at the attribute, or of the resource header if the attribute is absent.
    pub span: Span,
    /// Origins of the value, nearest first; empty if it is written at `span`.
    pub origins: Origins,
}

/// A value of an attribute under a condition.
pub type Case<T> = conditions::Case<SourcedValue<T>>;

/// An attribute of a resource, with one value per case.
#[derive(Debug, Clone)]
pub struct Attribute<T> {
    /// Name as written: `visibility_timeout_seconds`, `VisibilityTimeout`.
    pub name: Name,
    /// Values by case. Together the cases cover every condition under which the resource exists. Never empty.
    pub cases: Cases<SourcedValue<T>>,
}

impl<T> Attribute<T> {
    /// Creates an attribute with the same value in every case.
    pub fn single(name: impl Into<Name>, state: State<T>, span: Span) -> Self {
        Attribute {
            name: name.into(),
            cases: Cases::one(SourcedValue::new(state, span)),
        }
    }

    /// Creates an attribute that is written at `span`.
    pub fn set(name: impl Into<Name>, value: T, span: Span) -> Self {
        Attribute::single(name, State::Set(value), span)
    }

    /// Creates an absent attribute with its documented default, pointing at the resource header.
    pub fn absent(name: impl Into<Name>, default: T, header: Span) -> Self {
        Attribute::single(name, State::Default(default), header)
    }

    /// Creates an unresolved attribute.
    pub fn unresolved(name: impl Into<Name>, reason: impl Into<Unresolved>, span: Span) -> Self {
        Attribute::single(name, State::Unresolved(reason.into()), span)
    }

    /// Returns the value if it is known and the same in every case.
    pub fn known(&self) -> Option<&T> {
        match &*self.cases {
            [case] => case.value(),
            _ => None,
        }
    }

    /// Returns the known values that are possible under `when`, each with its condition and case.
    pub fn known_in(&self, when: &Condition) -> Vec<(Condition, &Case<T>, &T)> {
        let cases = self.cases.iter().filter_map(|case| {
            let both = when.and(&case.when);
            Some((both, case, case.value()?)).filter(|(both, ..)| both.is_possible())
        });
        cases.collect()
    }

    /// Makes each known value unresolved if `doubt` returns a reason for it.
    pub(super) fn doubt(&mut self, doubt: impl Fn(&T) -> Option<Reason>) {
        for case in &mut self.cases {
            if let Some(mut reason) = case.value().and_then(&doubt) {
                // A deployment sets such an input to an actual value.
                if let Some(input) = case.origins.iter().find(|origin| origin.is_input_default) {
                    reason = Cause::InputWithoutValue.because(format!("{} is not an ARN", input.what));
                }
                case.state = State::Unresolved(reason.into());
            }
        }
    }

    /// Returns the first unresolved case, if any.
    pub fn unresolved_reason(&self) -> Option<(&Case<T>, &Unresolved)> {
        self.cases.iter().find_map(|case| match &case.state {
            State::Unresolved(unresolved) => Some((case, unresolved)),
            _ => None,
        })
    }

    /// Applies `change` to each state.
    pub fn map<U>(self, mut change: impl FnMut(State<T>) -> State<U>) -> Attribute<U> {
        Attribute {
            name: self.name,
            cases: self.cases.map(|sourced| sourced.map(&mut change)),
        }
    }

    /// Applies `change` to each known value; an error makes it unresolved.
    pub fn try_map<U>(self, change: impl Fn(T) -> Result<U, Unresolved>) -> Attribute<U> {
        self.map(|state| match state {
            State::Set(value) => change(value).map_or_else(State::Unresolved, State::Set),
            State::Default(value) => change(value).map_or_else(State::Unresolved, State::Default),
            State::Unresolved(reason) => State::Unresolved(reason),
        })
    }
}

impl<T> SourcedValue<T> {
    /// Creates a value that is written, or missing, at `span`.
    pub const fn new(state: State<T>, span: Span) -> Self {
        SourcedValue {
            state,
            span,
            origins: Origins::none(),
        }
    }

    /// Applies `change` to the state.
    pub fn map<U>(self, change: impl FnOnce(State<T>) -> State<U>) -> SourcedValue<U> {
        SourcedValue {
            state: change(self.state),
            span: self.span,
            origins: self.origins,
        }
    }

    /// Returns the span of the last origin, or else of the value.
    pub fn source_span(&self) -> Span {
        self.origins.last().map_or(self.span, |origin| origin.span)
    }

    /// Returns the value if it is known.
    pub fn value(&self) -> Option<&T> {
        match &self.state {
            State::Set(value) | State::Default(value) => Some(value),
            State::Unresolved(_) => None,
        }
    }

    /// Returns the value for modification if it is known.
    pub fn value_mut(&mut self) -> Option<&mut T> {
        match &mut self.state {
            State::Set(value) | State::Default(value) => Some(value),
            State::Unresolved(_) => None,
        }
    }

    /// Returns `true` if the attribute is absent and its default applies.
    pub fn is_default(&self) -> bool {
        matches!(self.state, State::Default(_))
    }
}
