//! Evaluates an expression in three-valued logic: true, false, or unknown with a reason. Conditions split the result
//! into cases.
//!
//! An unknown value keeps its bounds and pattern, and does not affect a result that other values determine:
//! `false && unknown` is false, and an unknown number of at least 60 is not below 30.

mod lists;
mod operators;

use super::code::{Code, Constant, Function, Root};
use super::context::{Context, too_many_cases};
use super::duration;
use super::objects::Object;
use super::syntax::Operator;
use super::value::{Evaluated, EvaluatedCases, State, UnknownReason, Value, single_case};
use crate::graph::{Bounds, Cause, UnitId};
use conditions::{Case, Condition, MAX_CASES};
use regex::Regex;
use std::cell::Cell;
use std::rc::Rc;

/// Remaining steps of an evaluation.
#[derive(Debug)]
pub(super) struct Budget {
    left: Cell<u64>,
}

impl Budget {
    pub(super) fn new(steps: u64) -> Self {
        Budget { left: Cell::new(steps) }
    }

    pub(super) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Uses up `steps`, and returns `false` if fewer were left.
    fn take(&self, steps: u64) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Evaluator of expressions about one object.
pub(super) struct Evaluator<'w, 'g> {
    pub(super) context: &'w Context<'g>,
    pub(super) object: Object<'g>,
    pub(super) unit: UnitId,
    pub(super) budget: &'w Budget,
    /// Elements bound by the enclosing macros, outermost first.
    locals: Vec<Evaluated<'g>>,
}

impl<'w, 'g> Evaluator<'w, 'g> {
    pub(super) fn new(context: &'w Context<'g>, object: Object<'g>, unit: UnitId, budget: &'w Budget) -> Self {
        Evaluator {
            context,
            object,
            unit,
            budget,
            locals: Vec::new(),
        }
    }

    /// Evaluates `code` under `when`.
    pub(super) fn eval(&mut self, code: &Code, when: &Condition) -> EvaluatedCases<'g> {
        if !self.budget.take(1) {
            return single_case(when, out_of_steps());
        }
        let forks = match code {
            Code::Constant(constant) => single_case(when, Evaluated::known(of_constant(constant))),
            Code::List(elements) => self.list(elements, when),
            Code::Root(root) => single_case(when, Evaluated::known(self.root(*root))),
            Code::Local(at) => single_case(when, self.locals.get(*at).cloned().unwrap_or_else(Evaluated::missing)),
            Code::Field(of, field) => {
                let of = self.eval(of, when);
                self.each(of, |this, when, judged| match &judged.state {
                    State::Known(Value::Object(object)) => {
                        let found = (field.read)(field, this.context, *object, when);
                        this.budget.take(this.context.take_read());
                        with_readings(found, &judged.read)
                    }
                    State::Unknown(gap) => single_case(when, unknown_part(gap, &judged)),
                    State::Known(_) | State::Missing => single_case(when, missing(&judged)),
                })
            }
            Code::Tag(of, key) => self.tag(of, key, when),
            Code::Index(of, index) => self.index(of, index, when),
            Code::Has(of) => {
                let of = self.eval(of, when);
                self.each(of, |_, when, judged| single_case(when, has(judged)))
            }
            Code::Not(of) => {
                let of = self.eval(of, when);
                self.each(of, |_, when, mut judged| {
                    if let Some(truth) = judged.truth() {
                        judged.state = State::Known(Value::Bool(!truth));
                    }
                    single_case(when, judged)
                })
            }
            Code::Minus(of) => {
                let of = self.eval(of, when);
                self.each(of, |_, when, judged| single_case(when, operators::negated(judged)))
            }
            Code::Binary(Operator::And, left, right) => self.logical(false, left, right, when),
            Code::Binary(Operator::Or, left, right) => self.logical(true, left, right, when),
            Code::Binary(operator, left, right) => {
                let left = self.eval(left, when);
                self.each(left, |this, when, left| {
                    let right = this.eval(right, when);
                    this.each(right, |this, when, right| {
                        single_case(when, this.operator(*operator, &left, &right))
                    })
                })
            }
            Code::Choice(condition, yes, no) => {
                let condition = self.eval(condition, when);
                self.each(condition, |this, when, condition| match condition.truth() {
                    Some(truth) => {
                        let chosen = this.eval(if truth { yes } else { no }, when);
                        with_readings(chosen, &condition.read)
                    }
                    None => single_case(when, condition),
                })
            }
            Code::Macro { which, list, body } => self.macro_of(*which, list, body, when),
            Code::Call(function, arguments) => self.call(*function, arguments, when),
            Code::Matches(text, regex) => {
                let text = self.eval(text, when);
                self.each(text, |_, when, text| single_case(when, matches(text, regex)))
            }
        };
        if forks.len() > MAX_CASES {
            return single_case(when, too_many_cases());
        }
        forks
    }

    /// Applies `next` to each of `forks`.
    fn each(
        &mut self,
        forks: EvaluatedCases<'g>,
        mut next: impl FnMut(&mut Self, &Condition, Evaluated<'g>) -> EvaluatedCases<'g>,
    ) -> EvaluatedCases<'g> {
        let mut all = Vec::with_capacity(forks.len());
        for Case { when, then } in forks {
            all.extend(next(self, &when, then));
        }
        all
    }

    fn root(&self, root: Root) -> Value<'g> {
        match root {
            Root::Object => Value::Object(self.object),
            Root::Unit => Value::Object(Object::Unit(self.unit)),
            Root::Environment => self
                .context
                .environment
                .map_or(Value::Null, |name| Value::Text(name.into())),
        }
    }

    /// Evaluates `&&` and `||`, whose result is `decisive` if either side is: false for `&&`, true for `||`.
    fn logical(&mut self, decisive: bool, left: &Code, right: &Code, when: &Condition) -> EvaluatedCases<'g> {
        let left = self.eval(left, when);
        self.each(left, |this, when, left| {
            if left.truth() == Some(decisive) {
                return single_case(when, left);
            }
            let right = this.eval(right, when);
            this.each(right, |_, when, right| {
                let judged = match (left.truth(), right.truth()) {
                    (_, Some(truth)) if truth == decisive => right.and(&left.read),
                    (Some(_), _) => right.and(&left.read),
                    // An unknown side may decide the result, a missing one cannot.
                    (None, None) if right.state.is_unknown() && !left.state.is_unknown() => right,
                    (None, _) => left.clone(),
                };
                single_case(when, judged)
            })
        })
    }

    fn call(&mut self, function: Function, arguments: &[Code], when: &Condition) -> EvaluatedCases<'g> {
        let [first, rest @ ..] = arguments else {
            return single_case(when, Evaluated::missing());
        };
        let first = self.eval(first, when);
        self.each(first, |this, when, first| match rest {
            [] => single_case(when, this.apply_unary(function, first)),
            [second, ..] => {
                let second = this.eval(second, when);
                this.each(second, |_, when, second| {
                    single_case(when, apply_binary(function, &first, &second))
                })
            }
        })
    }

    /// Applies a function of one value.
    fn apply_unary(&mut self, function: Function, judged: Evaluated<'g>) -> Evaluated<'g> {
        let value = match &judged.state {
            State::Known(value) => value,
            State::Missing => return judged,
            State::Unknown(gap) => {
                let bounds = match (function, &gap.pattern) {
                    (Function::Size, Some(pattern)) => {
                        Bounds::at_least(i64::try_from(pattern.min_length()).unwrap_or(i64::MAX))
                    }
                    _ => Bounds::ANY,
                };
                let gap = UnknownReason {
                    bounds,
                    ..UnknownReason::new(gap.reason.clone(), gap.span)
                };
                return Evaluated::unknown(gap).and(&judged.read);
            }
        };
        let found = match (function, value) {
            (Function::Size, Value::List(_) | Value::Tags(..)) => return self.size(&judged),
            (Function::Size, Value::Text(text)) => whole(text.chars().count()),
            (Function::Duration, Value::Duration(time)) => Some(Value::Duration(*time)),
            (Function::Duration, Value::Text(text)) => duration::parse(text).map(Value::Duration),
            (Function::Int, Value::Text(text)) => text.trim().parse().ok().map(Value::Int),
            (Function::Int, Value::Int(number)) => Some(Value::Int(*number)),
            (Function::Int | Function::Seconds, Value::Duration(time)) => Some(Value::Int(time / 1_000)),
            (Function::Minutes, Value::Duration(time)) => Some(Value::Int(time / 60_000)),
            (Function::Hours, Value::Duration(time)) => Some(Value::Int(time / 3_600_000)),
            (Function::String, Value::Text(text)) => Some(Value::Text(text.clone())),
            (Function::String, Value::Int(number)) => Some(Value::Text(number.to_string().into())),
            (Function::String, Value::Bool(truth)) => Some(Value::Text(truth.to_string().into())),
            (Function::String, Value::Duration(time)) => Some(Value::Text(duration::shown(*time).into())),
            (Function::LowerAscii, Value::Text(text)) => Some(Value::Text(text.to_ascii_lowercase().into())),
            (Function::UpperAscii, Value::Text(text)) => Some(Value::Text(text.to_ascii_uppercase().into())),
            _ => None,
        };
        Evaluated {
            state: found.map_or(State::Missing, State::Known),
            read: judged.read,
        }
    }
}

fn whole<'g>(count: usize) -> Option<Value<'g>> {
    i64::try_from(count).ok().map(Value::Int)
}

fn of_constant<'g>(constant: &Constant) -> Value<'g> {
    match constant {
        Constant::Null => Value::Null,
        Constant::Bool(truth) => Value::Bool(*truth),
        Constant::Int(number) => Value::Int(*number),
        Constant::Text(text) => Value::Text(text.clone()),
        Constant::Duration(time) => Value::Duration(*time),
    }
}

/// Adds `read` to the values that `forks` depend on.
fn with_readings<'g>(forks: EvaluatedCases<'g>, read: &[u32]) -> EvaluatedCases<'g> {
    let forks = forks.into_iter();
    forks.map(|fork| Case::new(fork.when, fork.then.and(read))).collect()
}

/// Returns a missing value: a part of `judged` that does not exist.
fn missing<'g>(judged: &Evaluated<'g>) -> Evaluated<'g> {
    Evaluated::missing().and(&judged.read)
}

/// Returns an unknown value: a part of another unknown value, without its bounds.
fn unknown_part<'g>(gap: &Rc<UnknownReason>, judged: &Evaluated<'g>) -> Evaluated<'g> {
    Evaluated::unknown(UnknownReason::new(gap.reason.clone(), gap.span)).and(&judged.read)
}

fn has(judged: Evaluated<'_>) -> Evaluated<'_> {
    let state = match &judged.state {
        State::Missing | State::Known(Value::Null) => State::Known(Value::Bool(false)),
        State::Known(_) => State::Known(Value::Bool(true)),
        State::Unknown(gap) if gap.is_not_null => State::Known(Value::Bool(true)),
        State::Unknown(gap) => State::Unknown(gap.clone()),
    };
    Evaluated { state, ..judged }
}

fn matches<'g>(judged: Evaluated<'g>, regex: &Regex) -> Evaluated<'g> {
    let state = match &judged.state {
        State::Known(Value::Text(text)) => State::Known(Value::Bool(regex.is_match(text))),
        State::Known(_) | State::Missing => State::Missing,
        State::Unknown(gap) => State::Unknown(gap.clone()),
    };
    Evaluated { state, ..judged }
}

/// Applies a function of two texts.
fn apply_binary<'g>(function: Function, one: &Evaluated<'g>, other: &Evaluated<'g>) -> Evaluated<'g> {
    let state = match (&one.state, &other.state) {
        (State::Known(Value::Text(text)), State::Known(Value::Text(part))) => {
            let holds = match function {
                Function::StartsWith => text.starts_with(&**part),
                Function::EndsWith => text.ends_with(&**part),
                _ => text.contains(&**part),
            };
            State::Known(Value::Bool(holds))
        }
        (State::Unknown(gap), State::Known(Value::Text(part))) => {
            let truth = gap.pattern.as_ref().and_then(|pattern| match function {
                Function::StartsWith => pattern.starts_with(part),
                Function::EndsWith => pattern.ends_with(part),
                _ => pattern.contains(part).then_some(true),
            });
            truth.map_or_else(|| State::Unknown(gap.clone()), |truth| State::Known(Value::Bool(truth)))
        }
        (State::Unknown(gap), _) | (_, State::Unknown(gap)) => State::Unknown(gap.clone()),
        _ => State::Missing,
    };
    let judged = Evaluated {
        state,
        read: one.read.clone(),
    };
    judged.and(&other.read)
}

fn out_of_steps<'g>() -> Evaluated<'g> {
    let reason = Cause::Limit.because("the policy takes too many steps");
    Evaluated::unknown(UnknownReason::new(reason, None))
}
