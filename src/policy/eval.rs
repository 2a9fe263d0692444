//! Judges an expression by three values: true, false, or not known and why; in each case where conditions decide.
//!
//! What is not known is carried along with what is known of it all the same, and decides nothing that another value
//! decides: `false && unknown` is false, and an unknown number of at least 60 is not below 30.

mod lists;
mod operators;

use super::code::{Code, Constant, Function, Root};
use super::context::{Context, too_many_cases};
use super::duration;
use super::objects::Object;
use super::syntax::Operator;
use super::value::{Forks, Gap, Judged, State, Value, one};
use crate::conditions::{Case, Condition, MAX_CASES};
use crate::graph::{Bounds, Cause, UnitId};
use regex::Regex;
use std::cell::Cell;
use std::rc::Rc;

/// What a step of the evaluation may take from.
#[derive(Debug)]
pub(super) struct Budget {
    left: Cell<u64>,
}

impl Budget {
    pub(super) fn new(steps: u64) -> Self {
        Budget { left: Cell::new(steps) }
    }

    /// Whether there are `steps` left, which are gone now.
    fn take(&self, steps: u64) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Judges expressions about one object.
pub(super) struct Evaluator<'w, 'g> {
    pub(super) context: &'w Context<'g>,
    pub(super) object: Object<'g>,
    pub(super) unit: UnitId,
    pub(super) budget: &'w Budget,
    /// The elements that macros are at, the outermost first.
    locals: Vec<Judged<'g>>,
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

    /// What `code` comes to where `when` holds.
    pub(super) fn eval(&mut self, code: &Code, when: &Condition) -> Forks<'g> {
        if !self.budget.take(1) {
            return one(when, out_of_steps());
        }
        let forks = match code {
            Code::Constant(constant) => one(when, Judged::known(of_constant(constant))),
            Code::List(elements) => self.list(elements, when),
            Code::Root(root) => one(when, Judged::known(self.root(*root))),
            Code::Local(at) => one(when, self.locals.get(*at).cloned().unwrap_or_else(Judged::missing)),
            Code::Field(of, field) => {
                let of = self.eval(of, when);
                self.each(of, |this, when, judged| match &judged.state {
                    State::Known(Value::Object(object)) => {
                        let found = (field.read)(this.context, *object, when);
                        resting_on(found, &judged.read)
                    }
                    State::Unknown(gap) => one(when, unknown_part(gap, &judged)),
                    State::Known(_) | State::Missing => one(when, missing(&judged)),
                })
            }
            Code::Tag(of, key) => self.tag(of, key, when),
            Code::Index(of, index) => self.index(of, index, when),
            Code::Has(of) => {
                let of = self.eval(of, when);
                self.each(of, |_, when, judged| one(when, has(judged)))
            }
            Code::Not(of) => {
                let of = self.eval(of, when);
                self.each(of, |_, when, mut judged| {
                    if let Some(truth) = judged.truth() {
                        judged.state = State::Known(Value::Bool(!truth));
                    }
                    one(when, judged)
                })
            }
            Code::Minus(of) => {
                let of = self.eval(of, when);
                self.each(of, |_, when, judged| one(when, operators::negated(judged)))
            }
            Code::Binary(Operator::And, left, right) => self.decided_by(false, left, right, when),
            Code::Binary(Operator::Or, left, right) => self.decided_by(true, left, right, when),
            Code::Binary(operator, left, right) => {
                let left = self.eval(left, when);
                self.each(left, |this, when, left| {
                    let right = this.eval(right, when);
                    this.each(right, |this, when, right| {
                        one(when, this.operator(*operator, &left, &right))
                    })
                })
            }
            Code::Choice(condition, yes, no) => {
                let condition = self.eval(condition, when);
                self.each(condition, |this, when, condition| match condition.truth() {
                    Some(truth) => {
                        let chosen = this.eval(if truth { yes } else { no }, when);
                        resting_on(chosen, &condition.read)
                    }
                    None => one(when, condition),
                })
            }
            Code::Macro { which, list, body } => self.macro_of(*which, list, body, when),
            Code::Call(function, arguments) => self.call(*function, arguments, when),
            Code::Matches(text, regex) => {
                let text = self.eval(text, when);
                self.each(text, |_, when, text| one(when, matches(text, regex)))
            }
        };
        if forks.len() > MAX_CASES {
            return one(when, too_many_cases());
        }
        forks
    }

    /// What `next` makes of each of `forks`.
    fn each(
        &mut self,
        forks: Forks<'g>,
        mut next: impl FnMut(&mut Self, &Condition, Judged<'g>) -> Forks<'g>,
    ) -> Forks<'g> {
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

    /// `&&`, which a side that is `decisive` (false) decides, and `||`, which one that is true does.
    fn decided_by(&mut self, decisive: bool, left: &Code, right: &Code, when: &Condition) -> Forks<'g> {
        let left = self.eval(left, when);
        self.each(left, |this, when, left| {
            if left.truth() == Some(decisive) {
                return one(when, left);
            }
            let right = this.eval(right, when);
            this.each(right, |_, when, right| {
                let judged = match (left.truth(), right.truth()) {
                    (_, Some(truth)) if truth == decisive => right.and(&left.read),
                    (Some(_), _) => right.and(&left.read),
                    // What is not known may decide, what is not there does not.
                    (None, None) if right.state.is_unknown() && !left.state.is_unknown() => right,
                    (None, _) => left.clone(),
                };
                one(when, judged)
            })
        })
    }

    fn call(&mut self, function: Function, arguments: &[Code], when: &Condition) -> Forks<'g> {
        let [first, rest @ ..] = arguments else {
            return one(when, Judged::missing());
        };
        let first = self.eval(first, when);
        self.each(first, |this, when, first| match rest {
            [] => one(when, this.of_one(function, first)),
            [second, ..] => {
                let second = this.eval(second, when);
                this.each(second, |_, when, second| one(when, of_two(function, &first, &second)))
            }
        })
    }

    /// A function of one value.
    fn of_one(&mut self, function: Function, judged: Judged<'g>) -> Judged<'g> {
        let value = match &judged.state {
            State::Known(value) => value,
            State::Missing => return judged,
            State::Unknown(gap) => {
                let bounds = match (function, &gap.pattern) {
                    (Function::Size, Some(pattern)) => {
                        Bounds::at_least(i64::try_from(pattern.least_length()).unwrap_or(i64::MAX))
                    }
                    _ => Bounds::ANY,
                };
                let gap = Gap {
                    bounds,
                    ..Gap::new(gap.reason.clone(), gap.span)
                };
                return Judged::unknown(gap).and(&judged.read);
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
        Judged {
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

/// `forks`, which also rest on `read`.
fn resting_on<'g>(forks: Forks<'g>, read: &[u32]) -> Forks<'g> {
    let forks = forks.into_iter();
    forks.map(|fork| Case::new(fork.when, fork.then.and(read))).collect()
}

/// That a part of `judged` is not there.
fn missing<'g>(judged: &Judged<'g>) -> Judged<'g> {
    Judged::missing().and(&judged.read)
}

/// That a part of what is not known is not known, and nothing else of it.
fn unknown_part<'g>(gap: &Rc<Gap>, judged: &Judged<'g>) -> Judged<'g> {
    Judged::unknown(Gap::new(gap.reason.clone(), gap.span)).and(&judged.read)
}

fn has(judged: Judged<'_>) -> Judged<'_> {
    let state = match &judged.state {
        State::Missing | State::Known(Value::Null) => State::Known(Value::Bool(false)),
        State::Known(_) => State::Known(Value::Bool(true)),
        State::Unknown(gap) if gap.is_there => State::Known(Value::Bool(true)),
        State::Unknown(gap) => State::Unknown(gap.clone()),
    };
    Judged { state, ..judged }
}

fn matches<'g>(judged: Judged<'g>, regex: &Regex) -> Judged<'g> {
    let state = match &judged.state {
        State::Known(Value::Text(text)) => State::Known(Value::Bool(regex.is_match(text))),
        State::Known(_) | State::Missing => State::Missing,
        State::Unknown(gap) => State::Unknown(gap.clone()),
    };
    Judged { state, ..judged }
}

/// A function of two texts.
fn of_two<'g>(function: Function, one: &Judged<'g>, other: &Judged<'g>) -> Judged<'g> {
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
    let judged = Judged {
        state,
        read: one.read.clone(),
    };
    judged.and(&other.read)
}

fn out_of_steps<'g>() -> Judged<'g> {
    let reason = Cause::Limit.because("the policy takes too many steps");
    Judged::unknown(Gap::new(reason, None))
}
