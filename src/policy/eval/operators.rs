//! Evaluates comparisons and arithmetic, over known values and over the bounds of unknown ones.

use super::{Evaluator, out_of_steps};
use crate::graph::{Bounds, Cause};
use crate::policy::duration;
use crate::policy::syntax::Operator;
use crate::policy::value::{Evaluated, List, State, UnknownReason, Value};
use std::cmp::Ordering;
use std::rc::Rc;

/// Maximum length of a concatenated text, in bytes.
const MAX_TEXT: usize = 1 << 16;

/// Negates a number.
pub(super) fn negated(judged: Evaluated<'_>) -> Evaluated<'_> {
    let turned =
        |number: Option<i64>, to: fn(i64) -> Value<'static>| number.map_or(State::Missing, |n| State::Known(to(n)));
    let state = match &judged.state {
        State::Known(Value::Int(number)) => turned(number.checked_neg(), Value::Int),
        State::Known(Value::Duration(time)) => turned(time.checked_neg(), Value::Duration),
        State::Unknown(gap) => State::Unknown(Rc::new(UnknownReason {
            bounds: gap.bounds.negated(),
            ..UnknownReason::new(gap.reason.clone(), gap.span)
        })),
        State::Known(_) | State::Missing => State::Missing,
    };
    Evaluated { state, ..judged }
}

impl<'g> Evaluator<'_, 'g> {
    pub(super) fn operator(
        &mut self,
        operator: Operator,
        left: &Evaluated<'g>,
        right: &Evaluated<'g>,
    ) -> Evaluated<'g> {
        let state = match operator {
            Operator::Equal => self.equal(&left.state, &right.state),
            Operator::Unequal => match self.equal(&left.state, &right.state) {
                State::Known(Value::Bool(truth)) => State::Known(Value::Bool(!truth)),
                other => other,
            },
            Operator::In => self.is_in(&left.state, &right.state),
            Operator::Less | Operator::AtMost | Operator::More | Operator::AtLeast => {
                ordered(operator, &left.state, &right.state)
            }
            _ => arithmetic(operator, &left.state, &right.state),
        };
        let judged = Evaluated {
            state,
            read: left.read.clone(),
        };
        judged.and(&right.read)
    }

    /// Determines if two values are equal. Lists are equal if all their elements are, combined like `&&`.
    pub(super) fn equal(&mut self, left: &State<'g>, right: &State<'g>) -> State<'g> {
        if !self.budget.take(1) {
            return out_of_steps().state;
        }
        let known = |truth: bool| State::Known(Value::Bool(truth));
        match (left, right) {
            (State::Missing, _) | (_, State::Missing) => State::Missing,
            (State::Unknown(gap), State::Known(Value::Null)) | (State::Known(Value::Null), State::Unknown(gap)) => {
                if gap.is_not_null {
                    known(false)
                } else {
                    State::Unknown(gap.clone())
                }
            }
            (State::Unknown(gap), State::Known(value)) | (State::Known(value), State::Unknown(gap)) => {
                if may_be(gap, value) {
                    State::Unknown(gap.clone())
                } else {
                    known(false)
                }
            }
            (State::Unknown(gap), State::Unknown(_)) => State::Unknown(gap.clone()),
            (State::Known(left), State::Known(right)) => match (left, right) {
                (Value::Null, Value::Null) => known(true),
                (Value::Bool(one), Value::Bool(other)) => known(one == other),
                (Value::Int(one), Value::Int(other)) | (Value::Duration(one), Value::Duration(other)) => {
                    known(one == other)
                }
                (Value::Text(one), Value::Text(other)) => known(one == other),
                (Value::Object(one), Value::Object(other)) => known(one.is_same(*other)),
                (Value::Tags(one, _), Value::Tags(other, _)) => known(std::ptr::eq(*one, *other)),
                (Value::List(one), Value::List(other)) => self.equal_lists(one, other),
                _ => known(false),
            },
        }
    }

    fn equal_lists(&mut self, one: &List<'g>, other: &List<'g>) -> State<'g> {
        if let Some(gap) = one.gap().or(other.gap()) {
            return State::Unknown(gap);
        }
        if one.items.len() != other.items.len() {
            return State::Known(Value::Bool(false));
        }
        let mut all = State::Known(Value::Bool(true));
        for (one, other) in one.items.iter().zip(&other.items) {
            match self.equal(&one.value.state, &other.value.state) {
                State::Known(Value::Bool(true)) => {}
                State::Known(_) => return State::Known(Value::Bool(false)),
                open => all = open,
            }
        }
        all
    }
}

/// Returns `true` if an unknown value may be `value`.
fn may_be(gap: &UnknownReason, value: &Value<'_>) -> bool {
    match value {
        Value::Int(number) | Value::Duration(number) => {
            let Bounds { least, most } = gap.bounds;
            least.is_none_or(|least| least <= *number) && most.is_none_or(|most| *number <= most)
        }
        Value::Text(text) => (gap.pattern.as_ref()).is_none_or(|pattern| pattern.may_match(&(&**text).into())),
        _ => true,
    }
}

/// Returns the bounds of a number.
fn bounds(state: &State<'_>) -> Option<Bounds> {
    match state {
        State::Known(Value::Int(number) | Value::Duration(number)) => Some((*number).into()),
        State::Unknown(gap) => Some(gap.bounds),
        _ => None,
    }
}

fn ordered<'g>(operator: Operator, left: &State<'g>, right: &State<'g>) -> State<'g> {
    let holds = |order: Ordering| match operator {
        Operator::Less => order.is_lt(),
        Operator::AtMost => order.is_le(),
        Operator::More => order.is_gt(),
        _ => order.is_ge(),
    };
    if let (State::Known(Value::Text(left)), State::Known(Value::Text(right))) = (left, right) {
        return State::Known(Value::Bool(holds(left.cmp(right))));
    }
    let (Some(one), Some(other)) = (bounds(left), bounds(right)) else {
        return unknown_or_missing(left, right);
    };
    // Decided if one side is less or greater in every case, or if both are the same number.
    let is_surely = |low: Option<i64>, high: Option<i64>| low.zip(high).map(|(low, high)| low.cmp(&high));
    let (most, least) = (is_surely(one.most, other.least), is_surely(one.least, other.most));
    let decided = match (most, least) {
        (Some(Ordering::Less), _) => Some(holds(Ordering::Less)),
        (_, Some(Ordering::Greater)) => Some(holds(Ordering::Greater)),
        (Some(Ordering::Equal), Some(Ordering::Equal)) => Some(holds(Ordering::Equal)),
        // Also decided if the ranges touch, and the operator treats equality like that order.
        (Some(Ordering::Equal), _) if holds(Ordering::Less) == holds(Ordering::Equal) => Some(holds(Ordering::Equal)),
        (_, Some(Ordering::Equal)) if holds(Ordering::Greater) == holds(Ordering::Equal) => {
            Some(holds(Ordering::Equal))
        }
        _ => None,
    };
    decided.map_or_else(
        || unknown_or_missing(left, right),
        |truth| State::Known(Value::Bool(truth)),
    )
}

fn unknown_or_missing<'g>(left: &State<'g>, right: &State<'g>) -> State<'g> {
    match (left, right) {
        (State::Unknown(_), State::Known(Value::Null)) | (State::Known(Value::Null), State::Unknown(_)) => {
            State::Missing
        }
        (State::Unknown(gap), _) | (_, State::Unknown(gap)) => State::Unknown(gap.clone()),
        _ => State::Missing,
    }
}

fn arithmetic<'g>(operator: Operator, left: &State<'g>, right: &State<'g>) -> State<'g> {
    let result = |value: Option<Value<'g>>| value.map_or(State::Missing, State::Known);
    let time = |milliseconds: Option<i64>| result(milliseconds.and_then(duration::within_range).map(Value::Duration));
    match (operator, left, right) {
        (Operator::Plus, State::Known(Value::Text(one)), State::Known(Value::Text(other))) => {
            if one.len() + other.len() > MAX_TEXT {
                let reason = Cause::Limit.because("the policy makes too long a text");
                return State::Unknown(Rc::new(UnknownReason::new(reason, None)));
            }
            State::Known(Value::Text(format!("{one}{other}").into()))
        }
        (Operator::Plus, State::Known(Value::List(one)), State::Known(Value::List(other))) => {
            State::Known(Value::List(one.with(other)))
        }
        (_, State::Known(Value::Int(one)), State::Known(Value::Int(other))) => {
            let number = match operator {
                Operator::Plus => one.checked_add(*other),
                Operator::Minus => one.checked_sub(*other),
                Operator::Times => one.checked_mul(*other),
                Operator::Divided => one.checked_div(*other),
                _ => one.checked_rem(*other),
            };
            result(number.map(Value::Int))
        }
        (Operator::Plus, State::Known(Value::Duration(one)), State::Known(Value::Duration(other))) => {
            time(one.checked_add(*other))
        }
        (Operator::Minus, State::Known(Value::Duration(one)), State::Known(Value::Duration(other))) => {
            time(one.checked_sub(*other))
        }
        (Operator::Times, State::Known(Value::Duration(one)), State::Known(Value::Int(other)))
        | (Operator::Times, State::Known(Value::Int(one)), State::Known(Value::Duration(other))) => {
            time(one.checked_mul(*other))
        }
        (_, State::Unknown(gap), _) | (_, _, State::Unknown(gap)) => {
            let (Some(one), Some(other)) = (bounds(left), bounds(right)) else {
                return unknown_or_missing(left, right);
            };
            let bounds = match operator {
                Operator::Plus => one.plus(other),
                Operator::Minus => one.plus(other.negated()),
                Operator::Times => one.times(other),
                _ => Bounds::ANY,
            };
            State::Unknown(Rc::new(UnknownReason {
                bounds,
                ..UnknownReason::new(gap.reason.clone(), gap.span)
            }))
        }
        _ => State::Missing,
    }
}
