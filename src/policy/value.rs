//! Values while an expression is judged: known, not known with what is known all the same, or not there.
//!
//! Each is one of several where conditions decide, with its condition; each remembers which places it rests on.

use super::objects::Object;
use crate::conditions::{Case, Condition};
use crate::graph::{Bounds, Pattern, Reason, Tags};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// What an expression comes to, in each case.
pub(super) type Forks<'g> = Vec<Case<Judged<'g>>>;

/// A value, and the places that it rests on, the one that decides first.
#[derive(Debug, Clone)]
pub(super) struct Judged<'g> {
    pub(super) state: State<'g>,
    pub(super) read: Vec<Place>,
}

/// More places than this show nothing more.
const MAX_PLACES: usize = 32;

/// Something that was read: its number among all.
pub(super) type Place = u32;

#[derive(Debug, Clone)]
pub(super) enum State<'g> {
    Known(Value<'g>),
    /// The files do not settle it.
    Unknown(Rc<Gap>),
    /// Something was asked of what is not there: a tag, a field of a queue that does not exist. What rests on it is not
    /// true.
    Missing,
}

/// Why a value is not known, and what is known of it.
#[derive(Debug, Clone)]
pub(super) struct Gap {
    pub(super) reason: Reason,
    /// The cause's place; `None` for the object that is judged.
    pub(super) span: Option<Span>,
    /// Whether it is something all the same, and not null.
    pub(super) is_there: bool,
    /// Of a number, or of the milliseconds of a duration.
    pub(super) bounds: Bounds,
    /// Of a text.
    pub(super) pattern: Option<Pattern>,
}

#[derive(Debug, Clone)]
pub(super) enum Value<'g> {
    Null,
    Bool(bool),
    Int(i64),
    Text(Arc<str>),
    /// In milliseconds.
    Duration(i64),
    List(Rc<List<'g>>),
    /// With the place of the whole.
    Tags(&'g Tags, Span),
    Object(Object<'g>),
}

/// The elements of a list as far as they are known.
#[derive(Debug, Clone, Default)]
pub(super) struct List<'g> {
    pub(super) items: Vec<Item<'g>>,
    /// Why there may be more.
    pub(super) open: Option<Rc<Gap>>,
}

/// An element of a list.
#[derive(Debug, Clone)]
pub(super) struct Item<'g> {
    pub(super) value: Judged<'g>,
    /// Why it may not be there.
    pub(super) doubt: Option<Rc<Gap>>,
}

impl Gap {
    pub(super) fn new(reason: Reason, span: impl Into<Option<Span>>) -> Self {
        Gap {
            reason,
            span: span.into(),
            is_there: false,
            bounds: Bounds::ANY,
            pattern: None,
        }
    }
}

impl<'g> Judged<'g> {
    pub(super) fn known(value: Value<'g>) -> Self {
        Judged {
            state: State::Known(value),
            read: Vec::new(),
        }
    }

    pub(super) fn unknown(gap: Gap) -> Self {
        Judged {
            state: State::Unknown(Rc::new(gap)),
            read: Vec::new(),
        }
    }

    pub(super) fn missing() -> Self {
        Judged {
            state: State::Missing,
            read: Vec::new(),
        }
    }

    /// The same state, which rests on `first` and then on what it rested on.
    pub(super) fn after(mut self, first: &[Place]) -> Self {
        let then = std::mem::replace(&mut self.read, first.to_vec());
        self.and(&then)
    }

    /// The same state, which also rests on `further`, as far as anybody reads.
    pub(super) fn and(mut self, further: &[Place]) -> Self {
        for place in further {
            if self.read.len() < MAX_PLACES && !self.read.contains(place) {
                self.read.push(*place);
            }
        }
        self
    }

    /// Whether it is true, or false; `None` where it is not known or not there.
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

/// One value under `when`.
pub(super) fn one<'g>(when: &Condition, value: Judged<'g>) -> Forks<'g> {
    vec![Case::new(when.clone(), value)]
}
