//! Values that are made when they are used: generators, generator expressions, `map` and `filter` of Python, and the
//! generators of context managers.

use super::calls::Arguments;
use super::machine::Machine;
use super::values::{Closure, Evaluated, Executed, Flow, Id, Mask, Object, Scheduled, Value};
use crate::read::syntax::{Clause, Declares, Expression, Statement, StatementKind};

/// Managers of a `with`, with their targets.
type Managers<'m> = &'m [(Expression, Option<Expression>)];

/// The statements of a `with` whose manager is a generator; they run where it yields.
#[derive(Debug, Clone)]
pub(super) struct Within<'m> {
    target: Option<&'m Expression>,
    rest: Managers<'m>,
    body: &'m [Statement],
    scope: usize,
    this: Option<Value>,
    home: Option<Id>,
}

impl<'m> Machine<'m> {
    pub(super) fn lazy(&mut self, scheduled: Scheduled<'m>) -> Value {
        let (mask, current) = (self.scheduled_mask(&scheduled), self.current);
        Value::Lazy(self.add(Object::Lazy {
            scheduled: Some(scheduled),
            mask: mask | current,
            current,
        }))
    }

    fn scheduled_mask(&self, scheduled: &Scheduled<'m>) -> Mask {
        match scheduled {
            Scheduled::Mapped(_, items, _) | Scheduled::Filtered(_, items, _) => self.mask(items),
            Scheduled::Each { first, .. } => self.mask(first),
            Scheduled::Called(_, arguments, _) => self.masks(&arguments.all().cloned().collect::<Vec<_>>()),
        }
    }

    pub(super) fn each_later(&mut self, clauses: &'m [Clause], made: &'m Expression) -> Evaluated {
        let first = match clauses.first() {
            Some(first) => self.evaluate(&first.over)?,
            None => Value::Null,
        };
        Ok(self.lazy(Scheduled::Each {
            clauses,
            made,
            first,
            scope: self.scope,
            this: self.this.clone(),
        }))
    }

    /// Returns a collection that can be used several times: the values of a lazy one are made.
    pub(super) fn forced(&mut self, value: Value) -> Evaluated {
        let Value::Lazy(id) = value else { return Ok(value) };
        let Object::Lazy { scheduled, current, .. } = &mut self.heap[id] else {
            return Ok(Value::Unknown(0));
        };
        let current = *current;
        let Some(scheduled) = scheduled.take() else {
            return Ok(self.list(Vec::new()));
        };
        self.enter()?;
        let outer = std::mem::replace(&mut self.current, current);
        let made = self.made(scheduled);
        self.current = outer;
        self.leave();
        made
    }

    fn made(&mut self, scheduled: Scheduled<'m>) -> Evaluated {
        match scheduled {
            Scheduled::Mapped(function, items, at) => {
                let items = self.forced(items)?;
                if let Some(items) = self.items(&items) {
                    self.mapped(items, false, &function, at)
                } else {
                    let items = self.unknown_items(&items, at);
                    let made = self.mapped(items, false, &function, at)?;
                    Ok(self.opened(made, true))
                }
            }
            Scheduled::Filtered(function, items, at) => {
                let items = self.forced(items)?;
                match self.items(&items) {
                    Some(items) => self.filtered(items, false, &function, at),
                    None => Ok(Value::Unknown(self.mask(&items))),
                }
            }
            Scheduled::Each {
                clauses,
                made,
                first,
                scope,
                this,
            } => {
                let mut items = Vec::new();
                let outer = std::mem::replace(&mut self.this, this);
                let done = self.scoped(scope, None, |machine| {
                    machine.each(clauses, made, Some(first), &mut items)
                });
                self.this = outer;
                done?;
                Ok(self.list(items))
            }
            Scheduled::Called(closure, arguments, at) => {
                if may_raise(&closure.function.body) {
                    // Its values are made before their user changes what it looks at.
                    self.doubt();
                }
                self.yielded.push(Vec::new());
                let done = self.run_closure(&closure, arguments, at);
                let items = self.yielded.pop().unwrap_or_default();
                done?;
                Ok(self.list(items))
            }
        }
    }

    /// Passes a value to the user of a generator.
    pub(super) fn yielded(&mut self, value: Option<&'m Expression>, is_each: bool) -> Evaluated {
        let value = value.map_or(Ok(Value::Null), |value| self.evaluate(value))?;
        if let Some(within) = self.frames.last_mut().and_then(|frame| frame.within.take()) {
            return self.run_within(*within, value);
        }
        let values = if is_each {
            let value = self.forced(value)?;
            match self.items(&value) {
                Some(items) => items,
                None => vec![Value::Unknown(self.mask(&value))],
            }
        } else {
            vec![value]
        };
        if let (Some(all), true) = (self.yielded.len().checked_sub(1), self.counts(values.len())) {
            self.yielded[all].extend(values);
        }
        Ok(Value::Unknown(0))
    }

    /// Runs the statements of a `with` where its manager yields.
    fn run_within(&mut self, within: Within<'m>, value: Value) -> Evaluated {
        let this = std::mem::replace(&mut self.this, within.this);
        let home = std::mem::replace(&mut self.home, within.home);
        let done = self.within(within.scope, |machine| {
            if let Some(target) = within.target {
                machine.bind(target, value, Declares::No)?;
            }
            machine.with(within.rest, within.body)
        });
        self.this = this;
        self.home = home;
        match done {
            Ok(()) => {}
            // The generator continues, and what ended the statements follows.
            Err(ended @ (Flow::Return(_) | Flow::Break(_) | Flow::Continue(_))) => self.pending = Some(ended),
            Err(other) => return Err(other),
        }
        Ok(Value::Null)
    }

    pub(super) fn with(&mut self, managers: Managers<'m>, body: &'m [Statement]) -> Executed {
        let Some(((item, target), rest)) = managers.split_first() else {
            return self.block(body);
        };
        let value = self.evaluate(item)?;
        if let Some((closure, arguments)) = self.managing_generator(&value) {
            let within = Within {
                target: target.as_ref(),
                rest,
                body,
                scope: self.scope,
                this: self.this.clone(),
                home: self.home,
            };
            self.next_within = Some(Box::new(within));
            let had_failed = self.run.failed.is_some();
            self.run_closure(&closure, arguments, item)?;
            if self.run.failed.is_some() && !had_failed && self.run.vanished.is_none() {
                self.run.vanished = Some(item.at.clone());
            }
            return self.pending.take().map_or(Ok(()), Err);
        }
        let entered = match &value {
            Value::Object(_) => match self
                .method(&value, "__enter__")
                .or_else(|| self.method(&value, "__aenter__"))
            {
                Some(enter) => {
                    let entered = self.invoke(&enter, Arguments::default(), item)?;
                    self.awaited(entered)?
                }
                None => value.clone(),
            },
            _ => value.clone(),
        };
        if let Some(target) = target {
            self.bind(target, entered, Declares::No)?;
        }
        let done = self.with(rest, body);
        let done = self.leave_group(&value, done);
        self.exited(&value, done, item)
    }

    fn managing_generator(&mut self, value: &Value) -> Option<(Closure<'m>, Arguments)> {
        let Value::Lazy(id) = value else { return None };
        let Object::Lazy { scheduled, .. } = &mut self.heap[*id] else {
            return None;
        };
        match scheduled.take()? {
            Scheduled::Called(closure, arguments, _) => Some((closure, arguments)),
            _ => None,
        }
    }

    /// Leaves a `with`: its manager may handle an exception, and raise one in any case.
    fn exited(&mut self, manager: &Value, done: Executed, item: &'m Expression) -> Executed {
        if matches!(done, Err(Flow::Stop | Flow::Endless | Flow::Exit)) {
            return done;
        }
        let raised = match &done {
            Err(Flow::Raise(raised)) => Some(raised.clone()),
            _ => None,
        };
        let is_caught = match manager {
            Value::Suppress(is_general) => raised.is_some() && (*is_general || self.choose(item, 2) == 0),
            Value::Object(_) => match self
                .method(manager, "__exit__")
                .or_else(|| self.method(manager, "__aexit__"))
            {
                Some(exit) => {
                    let values = match &raised {
                        Some(raised) => vec![Value::Unknown(0), raised.clone(), Value::Unknown(0)],
                        None => vec![Value::Null, Value::Null, Value::Null],
                    };
                    let result = self.invoke(&exit, Arguments::of(values), item)?;
                    let result = self.awaited(result)?;
                    raised.is_some() && self.truth(&result, item)?
                }
                None => false,
            },
            _ => false,
        };
        if !is_caught {
            return done;
        }
        if raised.is_some_and(|raised| self.is_failure(&raised)) {
            self.run.vanished = Some(item.at.clone());
        }
        Ok(())
    }
}

fn may_raise(body: &[Statement]) -> bool {
    body.iter()
        .any(|one| matches!(one.kind, StatementKind::Raise(_)) || one.bodies().into_iter().any(may_raise))
}
