//! Values during the evaluation of an expression: known, unknown with bounds, or missing.
//!
//! Conditions split a result into several values, each with its condition. Every value records the readings that it
//! depends on.

use super::objects::Object;
use crate::graph::{Bounds, Pattern, Reason, Tags};
use conditions::{Case, Condition};
use source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Result of an expression, in each case.
pub(super) type EvaluatedCases<'g> = Vec<Case<Evaluated<'g>>>;

/// A value and the readings that it depends on, starting with the decisive one.
#[derive(Debug, Clone)]
pub(super) struct Evaluated<'g> {
    pub(super) state: State<'g>,
    pub(super) read: Vec<ReadingIndex>,
}

/// Maximum number of readings per value; more would not add to an explanation.
const MAX_PLACES: usize = 32;

/// Index of a reading.
pub(super) type ReadingIndex = u32;

#[derive(Debug, Clone)]
pub(super) enum State<'g> {
    Known(Value<'g>),
    /// The files do not determine the value.
    Unknown(Rc<UnknownReason>),
    /// The expression reads something that does not exist: a tag, or a field of a queue that is null. A condition that
    /// depends on it is not true.
    Missing,
}

/// Reason why a value is unknown, and the known facts about it.
#[derive(Debug, Clone)]
pub(super) struct UnknownReason {
    pub(super) reason: Reason,
    /// Span of the cause; `None` for the object of the policy.
    pub(super) span: Option<Span>,
    /// `true` if the value is known not to be null.
    pub(super) is_not_null: bool,
    /// Bounds of a number, or of the milliseconds of a duration.
    pub(super) bounds: Bounds,
    /// Pattern of a string.
    pub(super) pattern: Option<Pattern>,
}

#[derive(Debug, Clone)]
pub(super) enum Value<'g> {
    Null,
    Bool(bool),
    Int(i64),
    Text(Arc<str>),
    /// Duration in milliseconds.
    Duration(i64),
    List(Rc<List<'g>>),
    /// Tags, with the span of the whole map.
    Tags(&'g Tags, Span),
    Object(Object<'g>),
}

/// Known elements of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct List<'g> {
    pub(super) items: Vec<ListElement<'g>>,
    /// Reason why there may be more elements.
    pub(super) incomplete: Option<Rc<UnknownReason>>,
}

/// An element of a list.
#[derive(Debug, Clone)]
pub(super) struct ListElement<'g> {
    pub(super) value: Evaluated<'g>,
    /// Reason why the element may not exist.
    pub(super) doubt: Option<Rc<UnknownReason>>,
}

impl<'g> ListElement<'g> {
    /// Creates an element that exists for certain.
    pub(super) fn certain(value: Evaluated<'g>) -> Self {
        ListElement { value, doubt: None }
    }
}

impl UnknownReason {
    pub(super) fn new(reason: Reason, span: impl Into<Option<Span>>) -> Self {
        UnknownReason {
            reason,
            span: span.into(),
            is_not_null: false,
            bounds: Bounds::ANY,
            pattern: None,
        }
    }

    pub(super) fn shared(reason: Reason, span: impl Into<Option<Span>>) -> Rc<Self> {
        Rc::new(UnknownReason::new(reason, span))
    }
}

impl<'g> Evaluated<'g> {
    pub(super) fn known(value: Value<'g>) -> Self {
        Evaluated {
            state: State::Known(value),
            read: Vec::new(),
        }
    }

    pub(super) fn unknown(gap: UnknownReason) -> Self {
        Evaluated {
            state: State::Unknown(Rc::new(gap)),
            read: Vec::new(),
        }
    }

    pub(super) fn missing() -> Self {
        Evaluated {
            state: State::Missing,
            read: Vec::new(),
        }
    }

    /// Returns the value with `first` preceding the readings that it depends on.
    pub(super) fn after(mut self, first: &[ReadingIndex]) -> Self {
        let then = std::mem::replace(&mut self.read, first.to_vec());
        self.and(&then)
    }

    /// Returns the value with `further` added to the readings that it depends on, up to the maximum.
    pub(super) fn and(mut self, further: &[ReadingIndex]) -> Self {
        for place in further {
            if self.read.len() < MAX_PLACES && !self.read.contains(place) {
                self.read.push(*place);
            }
        }
        self
    }

    /// Returns whether the value is true or false; `None` if it is unknown or missing.
    pub(super) fn truth(&self) -> Option<bool> {
        match self.state {
            State::Known(Value::Bool(truth)) => Some(truth),
            _ => None,
        }
    }
}

impl State<'_> {
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, State::Unknown(_))
    }
}

/// Returns a single value under `when`.
pub(super) fn single_case<'g>(when: &Condition, value: Evaluated<'g>) -> EvaluatedCases<'g> {
    vec![Case::new(when.clone(), value)]
}
