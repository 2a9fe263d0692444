//! Execution of statements: blocks, branches, loops, and what catches a failure.

use super::calls::Arguments;
use super::machine::Machine;
use super::values::{Closure, Evaluated, Executed, Flow, Id, OWN, Object, Value, bit};
use crate::limits;
use crate::read::syntax::{
    Case, Catch, Declares, Expression, Function, Loop, Operator, Statement, StatementKind, Term, TextRange,
};
use std::sync::Arc;

impl<'m> Machine<'m> {
    pub(super) fn hoist(&mut self, body: &'m [Statement]) {
        if !self.module.is_script {
            return;
        }
        for statement in body {
            if let StatementKind::Function(function) = &statement.kind
                && let Some(name) = &function.name
            {
                let value = self.closure(function);
                self.declare(name, value);
            }
        }
    }

    /// Executes statements, in a scope of their own if the language has such.
    pub(super) fn block(&mut self, body: &'m [Statement]) -> Executed {
        if body.is_empty() {
            return Ok(());
        }
        if self.module.is_script {
            let parent = self.scope;
            return self.scoped(parent, None, |machine| machine.statements(body));
        }
        self.statements(body)
    }

    pub(super) fn statements(&mut self, body: &'m [Statement]) -> Executed {
        self.hoist(body);
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    pub(super) fn statement(&mut self, statement: &'m Statement) -> Executed {
        self.enter()?;
        let done = self.entered(statement);
        self.leave();
        done
    }

    fn entered(&mut self, statement: &'m Statement) -> Executed {
        match &statement.kind {
            StatementKind::Expression(value) => self.evaluate(value).map(|_| ()),
            StatementKind::Assign {
                target,
                value,
                declares,
            } => {
                let value = self.evaluate(value)?;
                self.bind(target, value, *declares)
            }
            StatementKind::Return(value) => {
                let value = value.as_ref().map_or(Ok(Value::Null), |value| self.evaluate(value))?;
                self.run.progress.exit = Some(statement.at.clone());
                Err(Flow::Return(value))
            }
            StatementKind::Raise(value) => {
                let value = match value {
                    Some(value) => match self.evaluate(value)? {
                        Value::Class(id) => Value::Error(self.class_name(id), self.current),
                        unknown @ (Value::Unknown(_) | Value::Variable(_)) => {
                            Value::Error(value.last_name().map(Into::into), self.mask(&unknown))
                        }
                        value => value,
                    },
                    None => self.caught.last().cloned().unwrap_or(Value::Error(None, 0)),
                };
                Err(Flow::Raise(value))
            }
            StatementKind::Loop(one) => self.looped(one, &statement.at),
            StatementKind::If { test, yes, no } => {
                let value = self.evaluate(test)?.opaque();
                if self.is_loading && self.known_truth(&value).is_none() {
                    self.block(yes)?;
                    return self.block(no);
                }
                if matches!(value, Value::Unknown(_)) && self.is_idle(yes) && self.is_idle(no) {
                    return Ok(());
                }
                let arm = if self.truth(&value, test)? { yes } else { no };
                self.block(arm)
            }
            StatementKind::Switch {
                subject,
                cases,
                falls_through,
            } => self.switch(subject, cases, *falls_through),
            StatementKind::Try {
                body,
                catches,
                otherwise,
                last,
            } => self.tried(body, catches, otherwise, last),
            StatementKind::With(items, body) => self.with(items, body),
            StatementKind::Block(body) => self.block(body),
            StatementKind::Break(label) => {
                self.run.progress.exit = Some(statement.at.clone());
                Err(Flow::Break(label.clone()))
            }
            StatementKind::Continue(label) => Err(Flow::Continue(label.clone())),
            StatementKind::Function(function) => self.define(function),
            StatementKind::Class(class) => {
                let value = self.class(class)?;
                if let Some(name) = &class.name {
                    self.declare(name, value);
                }
                Ok(())
            }
            StatementKind::Import(names) => {
                for name in names {
                    let from = self.module.imports.get(name);
                    let is_own = from.is_some_and(|from| self.module.own.contains(from));
                    let value = match &**name {
                        "environ" => Value::Environment,
                        _ if is_own => Value::Unknown(OWN),
                        _ => Value::Unknown(0),
                    };
                    self.declare(name, value);
                }
                Ok(())
            }
            StatementKind::Nothing | StatementKind::Field(_) => Ok(()),
        }
    }

    fn define(&mut self, function: &'m Arc<Function>) -> Executed {
        let is_hoisted = self.module.is_script && function.decorators.is_empty();
        if let Some(name) = &function.name
            && !(is_hoisted && self.variable(name).is_some())
        {
            let value = self.closure(function);
            let value = self.decorated(value, &function.decorators)?;
            self.assign(name, value, Declares::Block);
        }
        Ok(())
    }

    fn switch(&mut self, subject: &'m Expression, cases: &'m [Case], falls_through: bool) -> Executed {
        let subject = self.evaluate(subject)?;
        let (mut matched, mut default) = (None, None);
        for (at, case) in cases.iter().enumerate() {
            if matched.is_some() {
                break;
            }
            let Some(tests) = &case.tests else {
                default = default.or(Some(at));
                continue;
            };
            for test in tests {
                let is_equal = if let Term::Binary(Operator::InstanceOf, parts) = &test.kind {
                    let class = self.evaluate(&parts[1])?;
                    self.is_instance(&subject, &parts[1], &class)
                } else {
                    let value = self.evaluate(test)?;
                    self.note_compared(&subject, &value);
                    self.is_equal(&subject, &value)
                };
                if is_equal.unwrap_or_else(|| self.choose(test, 2) == 0) {
                    matched = Some(at);
                }
            }
        }
        self.run.progress.decided = self.mask(&subject);
        let Some(from) = matched.or(default) else { return Ok(()) };
        let upto = if falls_through { cases.len() } else { from + 1 };
        for case in &cases[from..upto] {
            match self.block(&case.body) {
                Err(Flow::Break(None)) if falls_through => break,
                done => done?,
            }
        }
        Ok(())
    }

    fn looped(&mut self, one: &'m Loop, at: &TextRange) -> Executed {
        if let Some(over) = &one.over {
            let value = self.evaluate(over)?;
            let value = self.awaited(value)?;
            let value = self.forced(value)?;
            if self.instance_method(&value, "__iter__").is_some() {
                self.doubt();
            }
            let items = match self.items(&value) {
                Some(items) => items,
                None => self.unknown_items(&value, over),
            };
            let is_of_records = items.iter().any(|item| self.mask(item) != 0);
            if is_of_records {
                self.loops.push(at.clone());
            }
            let ended = self.iterate(one, &items, at);
            if is_of_records {
                self.loops.pop();
            }
            return if ended? { self.block(&one.otherwise) } else { Ok(()) };
        }
        self.repeat(one)
    }

    /// Runs a loop with a test, or without an end.
    fn repeat(&mut self, one: &'m Loop) -> Executed {
        let mut before = None;
        for iteration in 0.. {
            let is_last = iteration == limits::MAX_ITERATIONS;
            if let (Some(before), true) = (&before, is_last) {
                self.widen(before);
            }
            if let Some(test) = &one.test
                && (iteration > 0 || !one.is_tested_last)
            {
                let value = self.evaluate(test)?;
                match self.known_truth(&value) {
                    Some(false) => break,
                    Some(true) => {}
                    // An unknown test is passed at most once, in the first iteration or in the last.
                    None => {
                        self.run.progress.is_open = true;
                        if !is_last && (iteration > 0 || self.choose(test, 2) != 0) {
                            break;
                        }
                    }
                }
            }
            if iteration > limits::MAX_ITERATIONS {
                // Work on another message that never ends says nothing about the one that failed.
                self.run.is_impossible |= self.current != 0 && self.current & self.failing == 0;
                return Err(Flow::Endless);
            }
            if iteration + 1 == limits::MAX_ITERATIONS {
                before = Some(self.state());
            }
            let done = self.block(&one.body);
            if let Err(flow) = &done {
                self.leave_loop(flow, &[], &[]);
            }
            match done {
                Err(Flow::Break(label)) if label.is_none() || label == one.label => return Ok(()),
                Err(Flow::Continue(label)) if label.is_none() || label == one.label => {}
                done => done?,
            }
            if let Some(step) = &one.step {
                self.evaluate(step)?;
            }
        }
        self.block(&one.otherwise)
    }

    /// Runs a loop for each item; returns `false` if a `break` left it.
    fn iterate(&mut self, one: &'m Loop, items: &[Value], at: &TextRange) -> Result<bool, Flow> {
        for (number, item) in items.iter().enumerate() {
            if matches!(item, Value::Record(_)) {
                self.run.first.get_or_insert(at.clone());
            }
            let done = self.on_item(item, |machine| {
                let item = if one.is_awaited {
                    machine.awaited(item.clone())?
                } else {
                    item.clone()
                };
                machine.in_block(one.target.as_ref(), item, |machine| machine.statements(&one.body))
            });
            if let Err(flow) = &done {
                self.leave_loop(flow, &items[..=number], &items[number + 1..]);
            }
            match done {
                Err(Flow::Break(label)) if label.is_none() || label == one.label => return Ok(false),
                Err(Flow::Continue(label)) if label.is_none() || label == one.label => {}
                done => done?,
            }
        }
        Ok(true)
    }

    /// Returns the items of an unknown collection: one for each record in it, or none or one.
    pub(super) fn unknown_items(&mut self, value: &Value, site: &Expression) -> Vec<Value> {
        self.note_needed(value, site);
        let mask = self.mask(value);
        if mask == 0 {
            let count = self.choose(site, 2);
            return vec![Value::Unknown(0); 1 - count];
        }
        let records = (0..8).filter(|record| mask & bit(*record) != 0);
        records.map(|record| Value::Unknown(bit(record))).collect()
    }

    fn tried(
        &mut self,
        body: &'m [Statement],
        catches: &'m [Catch],
        otherwise: &'m [Statement],
        last: &'m [Statement],
    ) -> Executed {
        if !catches.is_empty() {
            self.run.reads.tries.push(body.as_ptr() as usize);
        }
        let mut done = self.block(body);
        if !catches.is_empty() {
            self.run.reads.tries.pop();
        }
        if done.is_ok() {
            done = self.block(otherwise);
        } else if let Err(Flow::Raise(raised)) = &done {
            let raised = raised.clone();
            for catch in catches {
                if self.catches(catch, &raised) {
                    done = self.caught_by(catch, raised);
                    break;
                }
            }
        }
        if last.is_empty() || matches!(done, Err(Flow::Stop | Flow::Endless | Flow::Exit)) {
            return done;
        }
        match self.block(last) {
            Ok(()) => done,
            // It replaces an exception, too.
            ended => {
                if matches!(&done, Err(Flow::Raise(raised)) if self.is_failure(raised)) {
                    self.run.vanished = last.first().map(|first| first.at.clone());
                }
                ended
            }
        }
    }

    fn caught_by(&mut self, catch: &'m Catch, raised: Value) -> Executed {
        if self.is_failure(&raised) {
            self.run.vanished = Some(catch.at.clone());
        }
        self.caught.push(raised.clone());
        let done = self.in_block(catch.target.as_ref(), raised, |machine| machine.statements(&catch.body));
        self.caught.pop();
        done
    }

    /// Returns `true` for the failure of the message, or an exception made from it.
    pub(super) fn is_failure(&self, raised: &Value) -> bool {
        self.run.failed.is_some() && !matches!(raised, Value::Claimed)
    }

    fn catches(&mut self, catch: &'m Catch, raised: &Value) -> bool {
        let Some(types) = &catch.types else { return true };
        types.iter().any(|one| {
            let name = one.last_name().unwrap_or_default();
            match (name, raised) {
                ("BaseException", _) => true,
                (_, Value::Exit) => name == "SystemExit",
                ("Exception", _) => true,
                (_, Value::Claimed) => {
                    matches!(name, "ClientError" | "BotoCoreError") || name.contains("ConditionalCheckFailed")
                }
                (_, Value::Error(Some(own), _)) if **own == *name => true,
                // Code elsewhere does not raise a class of this file.
                (_, Value::Failure) if matches!(self.variable(name), Some(Value::Class(_))) => false,
                _ => self.choose(one, 2) == 0,
            }
        })
    }

    pub(super) fn class_name(&self, id: Id) -> Option<Arc<str>> {
        match &self.heap[id] {
            Object::Class { class, .. } => class.name.clone(),
            _ => None,
        }
    }

    /// Applies decorators, innermost first.
    pub(super) fn decorated(&mut self, function: Value, decorators: &'m [Expression]) -> Evaluated {
        let mut value = function;
        for decorator in decorators.iter().rev() {
            let wrapper = self.evaluate(decorator)?;
            value = match (&wrapper, &value) {
                (Value::Class(_), Value::Function(_)) => self.call(&wrapper, vec![value], Vec::new(), decorator)?,
                (Value::Function(id), _) if matches!(&self.heap[*id], Object::Function(one) if replaces(one)) => {
                    match self.call(&wrapper, vec![value.clone()], Vec::new(), decorator)? {
                        // A decorator of JavaScript that returns nothing keeps the method.
                        Value::Null if self.module.is_script => value,
                        made => made,
                    }
                }
                (_, Value::Function(id)) => self.around(*id, decorator),
                _ => value,
            };
        }
        Ok(value)
    }

    /// Returns a handler of middy with a middleware, whose functions before and after the handler may do anything.
    pub(super) fn with_middleware(&mut self, id: Id, name: &str, arguments: &Arguments, at: &'m Expression) -> Value {
        let on_error = match (name, arguments.get(0)) {
            ("onError", Some(function)) => Some(function.clone()),
            (_, Some(Value::Object(used))) => match self.known_entries(&Value::Object(*used)) {
                Some([(Some(key), function)]) if &**key == "onError" => Some(function.clone()),
                _ => None,
            },
            _ => None,
        };
        let Some(function @ Value::Function(_)) = on_error else {
            return self.around(id, at);
        };
        let handler = self.bound(id, None, Vec::new());
        if let Value::Function(id) = handler
            && let Object::Function(closure) = &mut self.heap[id]
        {
            closure.on_error.push(function);
        }
        handler
    }

    /// Returns a function with another wrapper around it.
    pub(super) fn around(&mut self, id: Id, wrapper: &'m Expression) -> Value {
        let Object::Function(closure) = &self.heap[id] else {
            return Value::Unknown(0);
        };
        let mut closure = closure.clone();
        closure.around.push(wrapper);
        Value::Function(self.add(Object::Function(closure)))
    }
}

/// Returns `true` for decorators that return what replaces a function. The older ones of TypeScript change a descriptor,
/// their third argument.
fn replaces(decorator: &Closure<'_>) -> bool {
    decorator.around.is_empty() && decorator.function.parameters.len() < 3
}
