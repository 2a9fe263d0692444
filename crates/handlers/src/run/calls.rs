//! Calls: of functions in the file, and of code elsewhere, which may fail.

use super::machine::{Frame, Machine};
use super::values::{ALL, Closure, Evaluated, Flow, Id, Object, Value};
use crate::limits;
use crate::read::syntax::{Declares, Expression, Function, StatementKind, Takes, Term, TextRange};
use crate::words::{PROMISE_MEMBERS, is_transparent};
use std::sync::Arc;

/// Methods of a list that call a function with its items.
const ITERATES: [&str; 8] = ["every", "filter", "find", "flatMap", "forEach", "map", "some", "sort"];

/// Arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    pub(super) values: Vec<Value>,
    pub(super) named: Vec<(Option<Arc<str>>, Value)>,
}

impl Arguments {
    pub(super) fn get(&self, at: usize) -> Option<&Value> {
        self.values.get(at)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        let found = self.named.iter().find(|(known, _)| known.as_deref() == Some(name));
        found.map(|(_, value)| value)
    }

    /// Returns the argument with this name or position.
    pub(super) fn either(&self, name: &str, at: usize) -> Option<&Value> {
        self.named(name).or_else(|| self.get(at))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().chain(self.named.iter().map(|(_, value)| value))
    }
}

impl<'m> Machine<'m> {
    /// Evaluates a call; `is_awaited` if an `await` is directly in front of it.
    pub(super) fn call_expression(&mut self, whole: &'m Expression, is_awaited: bool) -> Evaluated {
        let Term::Call {
            callee,
            arguments,
            named,
            is_new,
        } = &whole.kind
        else {
            return self.evaluate(whole);
        };
        let receiver = match &callee.kind {
            Term::Member(of, name) => {
                if &**name == "promise" {
                    self.promised = std::ptr::from_ref(&**of) as usize;
                }
                let receiver = self.evaluate(of)?;
                self.run.is_impossible |= self.is_late(&receiver) && !PROMISE_MEMBERS.contains(&&**name);
                Some(receiver)
            }
            _ => None,
        };
        let called = match (&receiver, &callee.kind) {
            (Some(receiver), Term::Member(_, name)) => match receiver {
                Value::Object(_) => self.method(receiver, name),
                Value::Class(id) => self.class_member(*id, name, receiver, 0),
                _ => None,
            },
            (_, Term::Name(name)) => self.variable(name),
            _ => Some(self.evaluate(callee)?),
        };
        let (values, is_open) = self.arguments(arguments)?;
        let mut arguments = Arguments {
            values,
            named: Vec::new(),
        };
        for (name, value) in named {
            let value = self.evaluate(value)?;
            arguments.named.push((name.clone(), value));
        }
        if arguments.all().any(|one| *one == Value::Event) {
            self.run.read = ALL;
        }
        match called {
            Some(function @ (Value::Function(_) | Value::Class(_) | Value::Object(_) | Value::Idempotent(_))) => {
                if is_open {
                    self.run.is_uncertain |= !self.is_loading;
                }
                return self.call(&function, arguments.values, arguments.named, whole);
            }
            Some(Value::Callback) => {
                self.answer(&arguments);
                return Ok(Value::Null);
            }
            Some(Value::Processor(id)) => return self.process(id, &arguments, whole),
            _ => {}
        }
        if let (Some(Value::Context), Some(name @ ("done" | "fail" | "succeed"))) = (&receiver, callee.last_name()) {
            self.end(name, &arguments);
            return Ok(Value::Null);
        }
        if let Some(known) = self.library(whole, callee, receiver.as_ref(), &arguments)? {
            return Ok(known);
        }
        let mut receiver = receiver.unwrap_or(Value::Unknown(0));
        if !is_awaited && ITERATES.contains(&callee.last_name().unwrap_or_default()) {
            receiver = self.iterated(receiver, arguments.get(0));
        }
        if let Term::Member(_, name) = &callee.kind
            && let Some(known) = self.known_method(whole, &receiver, name, &arguments)?
        {
            return Ok(known);
        }
        self.elsewhere(whole, callee, &receiver, &arguments, *is_new, is_awaited)
    }

    /// Returns an unknown value that gets a function of this file for its items as a list.
    fn iterated(&mut self, receiver: Value, function: Option<&Value>) -> Value {
        match (receiver, function) {
            (Value::Unknown(mask), Some(Value::Function(_))) if !self.is_loading => {
                let list = self.list(vec![Value::Unknown(mask)]);
                self.opened(list, true)
            }
            (receiver, _) => receiver,
        }
    }

    /// Stores what the handler passes to its callback; only the first call counts.
    fn answer(&mut self, arguments: &Arguments) {
        let error = arguments.get(0).cloned().unwrap_or(Value::Null);
        let result = arguments.get(1).cloned().unwrap_or(Value::Null);
        let answer = match self.known_truth(&error) {
            Some(false) => Ok(result),
            Some(true) => Err(error),
            None => Ok(Value::Unknown(self.mask(&error))),
        };
        self.run.answer.get_or_insert(answer);
    }

    /// Ends the invocation with a method of its context, as old code does.
    fn end(&mut self, name: &str, arguments: &Arguments) {
        let first = arguments.get(0).cloned().unwrap_or(Value::Null);
        match name {
            "done" => self.answer(arguments),
            "fail" => self.run.answer = self.run.answer.take().or(Some(Err(first))),
            _ => self.run.answer = self.run.answer.take().or(Some(Ok(first))),
        }
        // An asynchronous handler goes on, and its result may be the first.
        self.run.is_uncertain |= self.frames.first().is_some_and(|frame| frame.is_async);
    }

    pub(super) fn promise(&mut self, result: Result<Value, Value>, is_slow: bool, at: TextRange) -> Value {
        Value::Promise(self.add(Object::Promise {
            result,
            is_observed: false,
            is_slow,
            at,
        }))
    }

    /// Returns a method of a class or its bases, bound to `this`.
    pub(super) fn class_member(&mut self, id: Id, name: &str, this: &Value, depth: usize) -> Option<Value> {
        let Object::Class { class, scope } = self.heap[id] else {
            return None;
        };
        if depth > limits::MAX_CALL_DEPTH {
            return None;
        }
        let is_it = |of: &Arc<Function>| of.name.as_deref() == Some(name);
        for member in &class.body {
            match &member.kind {
                StatementKind::Function(function) if is_it(function) => {
                    let mut around: Vec<&'m Expression> = function.decorators.iter().collect();
                    let is_static = around
                        .iter()
                        .any(|one| one.name().is_some_and(|name| &**name == "staticmethod"));
                    around.retain(|one| {
                        one.name()
                            .is_none_or(|name| !matches!(&**name, "classmethod" | "staticmethod"))
                    });
                    let this = (!is_static).then(|| this.clone());
                    return Some(Value::Function(self.add(Object::Function(Closure {
                        function,
                        scope,
                        this,
                        around,
                    }))));
                }
                StatementKind::Assign { target, value, .. } if target.name().is_some_and(|own| **own == *name) => {
                    let outer = self.this.replace(this.clone());
                    let value = self.within(scope, |machine| machine.evaluate(value));
                    self.this = outer;
                    return value.ok();
                }
                _ => {}
            }
        }
        class.bases.iter().find_map(|base| {
            let base = base.name().and_then(|base| self.variable(base));
            match base {
                Some(Value::Class(base)) => self.class_member(base, name, this, depth + 1),
                _ => None,
            }
        })
    }

    pub(super) fn bound(&mut self, id: Id, this: Option<&Value>) -> Value {
        let Object::Function(closure) = &self.heap[id] else {
            return Value::Unknown(0);
        };
        let mut closure = closure.clone();
        closure.this = closure.this.or_else(|| this.cloned());
        Value::Function(self.add(Object::Function(closure)))
    }

    /// Calls a function, class or callable object.
    pub(super) fn call(
        &mut self,
        callee: &Value,
        values: Vec<Value>,
        named: Vec<(Option<Arc<str>>, Value)>,
        at: &'m Expression,
    ) -> Evaluated {
        let mut arguments = Arguments { values, named };
        match callee {
            Value::Function(id) => {
                let Object::Function(closure) = &self.heap[*id] else {
                    return Ok(Value::Unknown(0));
                };
                let closure = closure.clone();
                self.call_closure(&closure, arguments, at)
            }
            Value::Class(id) => {
                let instance = self.object(Vec::new(), at.at.clone());
                if let Value::Object(made) = instance
                    && let Object::Entries { class, .. } = &mut self.heap[made]
                {
                    *class = Some(*id);
                }
                self.fields(*id, &instance, 0)?;
                let mask = self.masks(&arguments.all().cloned().collect::<Vec<_>>());
                let constructor = if self.module.is_script {
                    "constructor"
                } else {
                    "__init__"
                };
                if let Some(constructor) = self.class_member(*id, constructor, &instance, 0) {
                    self.call(&constructor, arguments.values, arguments.named, at)?;
                }
                let Object::Class { class, .. } = self.heap[*id] else {
                    return Ok(instance);
                };
                let is_error = |base: &Expression| {
                    let name = base.last_name().unwrap_or_default();
                    name.ends_with("Error") || name.ends_with("Exception")
                };
                if class.bases.iter().any(is_error) {
                    return Ok(Value::Error(class.name.clone(), mask));
                }
                Ok(instance)
            }
            Value::Object(_) => match self.method(callee, "__call__") {
                Some(method) => {
                    let values = std::mem::take(&mut arguments.values);
                    self.call(&method, values, arguments.named, at)
                }
                None => Ok(Value::Unknown(0)),
            },
            Value::Callback => {
                self.answer(&arguments);
                Ok(Value::Null)
            }
            _ => {
                if let Value::Idempotent(index) = callee {
                    let call = self.idempotent[*index];
                    self.check_idempotency(&[call], &arguments);
                }
                let all: Vec<Value> = arguments.all().cloned().collect();
                let given = self.masks(&all);
                self.run.used |= given;
                let record = if given == 0 { self.current } else { given };
                if self.is_loading {
                    Ok(Value::Unknown(0))
                } else {
                    self.work(at, given, record, false)
                }
            }
        }
    }

    /// Sets the fields of a new instance, those of base classes first.
    fn fields(&mut self, class: Id, instance: &Value, depth: usize) -> Result<(), Flow> {
        let Object::Class { class, scope } = self.heap[class] else {
            return Ok(());
        };
        for base in class.bases.iter().filter_map(Expression::name) {
            if let (Some(Value::Class(base)), true) = (self.variable(base), depth < limits::MAX_CALL_DEPTH) {
                self.fields(base, instance, depth + 1)?;
            }
        }
        for member in &class.body {
            if let StatementKind::Assign { target, value, .. } = &member.kind
                && let Some(name) = target.name()
            {
                let outer = self.this.replace(instance.clone());
                let value = self.within(scope, |machine| machine.evaluate(value));
                self.this = outer;
                self.set_entry(instance, Some(name.clone()), value?);
            }
        }
        Ok(())
    }

    fn call_closure(&mut self, closure: &Closure<'m>, arguments: Arguments, at: &'m Expression) -> Evaluated {
        let function = closure.function;
        let own = std::ptr::from_ref::<Function>(function) as usize;
        let is_own = |frame: &&Frame| frame.function == own;
        // Not after a failure, which a known number of calls may follow.
        let is_other = self.current != 0 && self.current & self.failing == 0;
        let may_end = self.run.failed.is_none() || is_other;
        if may_end && self.frames.iter().filter(is_own).count() > limits::MAX_RECURSION {
            return Ok(self.repeated(function, &arguments, at));
        }
        let all: Vec<Value> = arguments.all().cloned().collect();
        let is_unknown = !all.is_empty() && all.iter().all(|one| matches!(one, Value::Unknown(_)));
        if is_unknown && !self.is_loading && self.classifies(function) {
            return Ok(Value::Unknown(self.masks(&all)));
        }
        if self.frames.len() > limits::MAX_CALL_DEPTH {
            return Err(Flow::Stop);
        }
        self.check_idempotency(&closure.around, &arguments);
        let outer_this = self.this.clone();
        let mut values = arguments.values;
        if self.module.is_script {
            if !function.is_arrow || closure.this.is_some() {
                self.this.clone_from(&closure.this);
            }
        } else if let Some(this) = &closure.this
            && !function.is_arrow
        {
            values.insert(0, this.clone());
        }
        self.frames.push(Frame {
            is_async: function.is_async,
            is_slow: false,
            function: own,
        });
        let (current, loops) = (self.current, self.loops.len());
        let done = self.scoped(closure.scope, Some(function), |machine| {
            machine.parameters(function, values, arguments.named)?;
            machine.statements(&function.body)
        });
        self.loops.truncate(loops);
        self.current = current;
        self.this = outer_this;
        let frame = self.frames.pop().unwrap_or_default();
        let result = match done {
            Ok(()) => Ok(Value::Null),
            Err(Flow::Return(value)) => Ok(value),
            Err(Flow::Raise(raised)) => Err(raised),
            Err(other) => return Err(other),
        };
        if !closure.around.iter().all(|one| is_transparent(one)) && result.is_err() {
            // A wrapper from elsewhere may catch it.
            self.run.is_uncertain = true;
        }
        if function.is_generator {
            self.run.is_uncertain |= !self.is_loading;
            let mask = result.as_ref().map_or(0, |value| self.mask(value));
            return Ok(Value::Unknown(mask | self.current));
        }
        if !function.is_async {
            return result.map_err(Flow::Raise);
        }
        // What an asynchronous function returns is awaited.
        let is_late = match &result {
            Ok(Value::Promise(id)) => matches!(self.heap[*id], Object::Promise { is_slow: true, .. }),
            _ => false,
        };
        let result = result.and_then(|value| self.settle(value));
        let is_slow = frame.is_slow || is_late || !self.module.is_script;
        Ok(self.promise(result, is_slow, at.at.clone()))
    }

    /// Returns the result of a function that has called itself several times: it does the same again.
    fn repeated(&mut self, function: &Function, arguments: &Arguments, at: &Expression) -> Value {
        let all: Vec<Value> = arguments.all().cloned().collect();
        for value in &all {
            self.escape(value, 2);
        }
        let result = Value::Unknown(self.masks(&all) | self.current);
        if function.is_async {
            self.promise(Ok(result), true, at.at.clone())
        } else {
            result
        }
    }

    fn parameters(
        &mut self,
        function: &'m Function,
        values: Vec<Value>,
        named: Vec<(Option<Arc<str>>, Value)>,
    ) -> Result<(), Flow> {
        let mut values = values.into_iter();
        for parameter in &function.parameters {
            let value = match parameter.takes {
                Takes::Rest => {
                    let rest = values.by_ref().collect();
                    self.list(rest)
                }
                Takes::Named => self.object(named.clone(), 0..0),
                Takes::One => {
                    let by_name = parameter.pattern.name().and_then(|name| {
                        let found = named.iter().find(|(known, _)| known.as_ref() == Some(name));
                        found.map(|(_, value)| value.clone())
                    });
                    match (by_name.or_else(|| values.next()), &parameter.default) {
                        (Some(value), _) => value,
                        (None, Some(default)) => self.evaluate(default)?,
                        (None, None) => Value::Null,
                    }
                }
            };
            self.bind(&parameter.pattern, value, Declares::Block)?;
        }
        Ok(())
    }

    /// Checks a call of a function with idempotency of Powertools for AWS Lambda.
    fn check_idempotency(&mut self, around: &[&'m Expression], arguments: &Arguments) {
        if self.is_loading || self.current == 0 {
            return;
        }
        for one in around {
            let name = match &one.kind {
                Term::Call { callee, .. } => callee.last_name(),
                _ => one.last_name(),
            };
            let is_undated = match name {
                Some("idempotent_function") => true,
                // The second argument may be the context.
                Some("makeIdempotent") => arguments.values.len() < 2,
                _ => false,
            };
            if is_undated && self.is_configured_here(one) {
                self.run.undated.get_or_insert(one.at.clone());
            }
        }
    }

    /// Returns `true` unless the configuration among the arguments of a call comes from another file.
    fn is_configured_here(&self, call: &Expression) -> bool {
        let Term::Call { arguments, named, .. } = &call.kind else {
            return true;
        };
        let entries = arguments.iter().flat_map(|argument| match &argument.kind {
            Term::Object(entries) => entries.as_slice(),
            _ => &[],
        });
        entries.chain(named).all(|(key, value)| match value.name() {
            Some(name) if key.as_deref().is_some_and(|key| key.contains("onfig")) => {
                let is_import =
                    |one: &StatementKind| matches!(one, StatementKind::Import(names) if names.contains(name));
                !self.module.body.iter().any(|one| is_import(&one.kind))
            }
            _ => true,
        })
    }
}
