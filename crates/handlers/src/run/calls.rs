//! Calls: of functions in the file, and of code elsewhere, which may fail.

use super::machine::{Frame, Machine};
use super::values::{ALL, Closure, Evaluated, Flow, Id, OWN, Object, Scheduled, Value};
use crate::limits;
use crate::read::syntax::{Declares, Expression, Function, Role, StatementKind, Takes, Term, TextRange};
use crate::words::{PROMISE_MEMBERS, is_transparent};
use std::sync::Arc;

/// Methods of a list that call a function with its items.
const ITERATES: [&str; 8] = ["every", "filter", "find", "flatMap", "forEach", "map", "some", "sort"];

/// Functions of Python that use all items of a collection at once.
const CONSUMES: [&str; 20] = [
    "Counter",
    "all",
    "any",
    "deque",
    "dict",
    "extend",
    "frozenset",
    "from",
    "gather",
    "join",
    "len",
    "list",
    "max",
    "min",
    "next",
    "set",
    "sorted",
    "sum",
    "tuple",
    "update",
];

/// Arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    pub(super) values: Vec<Value>,
    pub(super) named: Vec<(Option<Arc<str>>, Value)>,
    /// `true` if there may be others.
    pub(super) is_open: bool,
}

impl Arguments {
    /// Returns arguments by position.
    pub(super) fn of(values: Vec<Value>) -> Self {
        Arguments {
            values,
            ..Arguments::default()
        }
    }

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
    #[expect(clippy::too_many_lines, reason = "one arm per kind of callee")]
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
                self.note_member_of(&receiver, of);
                self.run.is_impossible |= self.is_late(&receiver) && !PROMISE_MEMBERS.contains(&&**name);
                Some(receiver)
            }
            _ => None,
        };
        let called = match (&receiver, &callee.kind) {
            (Some(receiver), Term::Member(_, name)) => match receiver {
                Value::Object(id) => match self.method(receiver, name) {
                    Some(function) if self.is_getter(&function) => Some(self.member(receiver, name)?),
                    // A function in an object of JavaScript gets the object.
                    Some(Value::Function(function)) if self.module.is_script && !self.is_arrow(function) => {
                        Some(self.bound(function, Some(receiver), Vec::new()))
                    }
                    None if matches!(&self.heap[*id], Object::Entries { class: Some(_), .. })
                        && !self.is_fields(callee) =>
                    {
                        // It comes from a base class elsewhere, which may change the object.
                        self.forget(receiver);
                        None
                    }
                    found => found,
                },
                Value::Class(id) => match self.class_member(*id, name, receiver) {
                    // `Base.run(self)` gets its object as an argument.
                    Some(Value::Function(function)) if !self.module.is_script => Some(self.unbound(function, *id)),
                    found => found,
                },
                Value::Super(home, this) => self.inherited(*home, name, this),
                _ => None,
            },
            (_, Term::Name(name)) if &**name == "super" => match (self.home, &self.this) {
                (Some(home), Some(this)) => Some(Value::Super(home, Box::new(this.clone()))),
                _ => None,
            },
            (_, Term::Name(name)) => self.variable(name),
            _ => Some(self.evaluate(callee)?),
        };
        let (values, is_open) = self.arguments(arguments)?;
        let mut arguments = Arguments {
            is_open,
            ..Arguments::of(values)
        };
        for (name, value) in named {
            let value = self.evaluate(value)?;
            match (name, self.known_entries(&value).map(<[_]>::to_vec)) {
                // `**options`
                (None, Some(entries)) if self.counts(entries.len()) => {
                    arguments.is_open |= entries.iter().any(|(key, _)| key.is_none());
                    arguments.named.extend(entries);
                }
                (None, _) => {
                    arguments.is_open = true;
                    arguments.named.push((None, value));
                }
                _ => arguments.named.push((name.clone(), value)),
            }
        }
        if let Some(Value::Super(..)) = &called
            && !self.module.is_script
        {
            // `super()` of Python is an object whose members are those of the bases.
            return Ok(called.unwrap_or(Value::Null));
        }
        if arguments.all().any(|one| *one == Value::Event) {
            self.run.read = ALL;
        }
        match called.clone() {
            Some(
                function @ (Value::Function(_)
                | Value::Class(_)
                | Value::Object(_)
                | Value::Idempotent(_)
                | Value::Settle(..)),
            ) => {
                if arguments.is_open {
                    self.doubt();
                }
                return self.invoke(&function, arguments, whole);
            }
            Some(base @ Value::Super(..)) => return self.invoke(&base, arguments, whole),
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
        if let (Some(Value::Super(home, this)), Some("__init__")) = (&receiver, callee.last_name()) {
            self.construct_base(*home, this, arguments, whole)?;
            return Ok(Value::Null);
        }
        self.force_arguments(callee, &mut arguments)?;
        if let (Term::Name(name), Some(function @ Value::Function(_)), true) = (&callee.kind, arguments.get(0), *is_new)
            && &**name == "Promise"
        {
            return self.new_promise(whole, &function.clone());
        }
        if let (Some("setTimeout" | "setImmediate"), Some(later @ (Value::Settle(..) | Value::Function(_)))) =
            (callee.last_name(), arguments.get(0))
            && !self.unsettled.is_empty()
        {
            // A promise waits for it.
            let values = arguments.values.get(2..).unwrap_or_default().to_vec();
            return self.call(&later.clone(), values, Vec::new(), whole);
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
        let from = match (&callee.kind, arguments.get(0)) {
            (Term::Name(name), Some(Value::Text(from))) if matches!(&**name, "require" | "import") => Some(from),
            _ => None,
        };
        let is_own = receiver.is_own()
            || called.is_some_and(|called| called.is_own())
            || from.is_some_and(|from| self.module.own.contains(from));
        self.calls_own = is_own;
        let result = self.elsewhere(whole, callee, &receiver, &arguments, *is_new, is_awaited);
        self.calls_own = false;
        Ok(match result? {
            Value::Unknown(mask) if is_own => Value::Unknown(mask | OWN),
            result => result,
        })
    }

    /// Makes the lazy values among the arguments of code elsewhere.
    fn force_arguments(&mut self, callee: &Expression, arguments: &mut Arguments) -> Result<(), Flow> {
        let name = callee.last_name().unwrap_or_default();
        for value in &mut arguments.values {
            if matches!(value, Value::Lazy(_)) && !matches!(name, "map" | "filter") {
                if !CONSUMES.contains(&name) {
                    self.doubt();
                }
                *value = self.forced(std::mem::replace(value, Value::Null))?;
            }
        }
        Ok(())
    }

    /// Returns `true` for `object.__dict__.update`.
    fn is_fields(&self, callee: &Expression) -> bool {
        matches!(&callee.kind, Term::Member(of, _) if of.last_name() == Some("__dict__"))
    }

    fn is_arrow(&self, id: Id) -> bool {
        matches!(&self.heap[id], Object::Function(closure) if closure.function.is_arrow)
    }

    /// Returns `true` for a function that a read of its member calls.
    pub(super) fn is_getter(&self, function: &Value) -> bool {
        matches!(function, Value::Function(id)
            if matches!(&self.heap[*id], Object::Function(closure) if closure.function.role == Role::Get))
    }

    /// Returns a method of a class in Python that gets its object as an argument, unless it gets the class.
    fn unbound(&mut self, id: Id, class: Id) -> Value {
        let Object::Function(closure) = &self.heap[id] else {
            return Value::Unknown(0);
        };
        let mut closure = closure.clone();
        let first = closure
            .function
            .parameters
            .first()
            .and_then(|first| first.pattern.name());
        if closure.this == Some(Value::Class(class)) && first.is_none_or(|first| &**first != "cls") {
            closure.this = None;
        }
        self.function_value(closure)
    }

    /// Returns an unknown value that gets a function of this file for its items as a list.
    fn iterated(&mut self, receiver: Value, function: Option<&Value>) -> Value {
        match (&receiver, function) {
            (Value::Unknown(_), Some(Value::Function(_))) if !self.is_loading => {
                let list = self.list(vec![Value::Unknown(self.mask(&receiver))]);
                self.opened(list, true)
            }
            _ => receiver,
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
    }

    pub(super) fn promise(&mut self, result: Result<Value, Value>, is_slow: bool, at: TextRange) -> Value {
        Value::Promise(self.add(Object::Promise {
            result,
            is_observed: false,
            is_slow,
            at,
        }))
    }

    /// Returns a function with its object, and with the first arguments of its calls.
    pub(super) fn bound(&mut self, id: Id, this: Option<&Value>, values: Vec<Value>) -> Value {
        let Object::Function(closure) = &self.heap[id] else {
            return Value::Unknown(0);
        };
        let mut closure = closure.clone();
        closure.this = closure.this.or_else(|| this.cloned());
        closure.given.values.extend(values);
        self.function_value(closure)
    }

    /// Calls a function, class or callable object.
    pub(super) fn call(
        &mut self,
        callee: &Value,
        values: Vec<Value>,
        named: Vec<(Option<Arc<str>>, Value)>,
        at: &'m Expression,
    ) -> Evaluated {
        let is_open = false;
        self.invoke(callee, Arguments { values, named, is_open }, at)
    }

    /// Calls a function, class or callable object.
    pub(super) fn invoke(&mut self, callee: &Value, arguments: Arguments, at: &'m Expression) -> Evaluated {
        match callee {
            Value::Function(id) => {
                let Object::Function(closure) = &self.heap[*id] else {
                    return Ok(Value::Unknown(0));
                };
                let closure = closure.clone();
                self.call_closure(&closure, arguments, at)
            }
            Value::Class(id) => self.instance(*id, arguments, at),
            Value::Super(home, this) => {
                self.construct_base(*home, this, arguments, at)?;
                Ok(Value::Null)
            }
            Value::Object(id) => {
                if let Some(method) = self.method(callee, "__call__") {
                    return self.invoke(&method, arguments, at);
                }
                let first = arguments.get(0).cloned().unwrap_or(Value::Null);
                let task = self.task_method(at, *id, "", &arguments, first)?;
                Ok(task.unwrap_or(Value::Unknown(0)))
            }
            Value::Settle(id, is_fulfilled) => {
                let value = arguments.get(0).cloned().unwrap_or(Value::Null);
                let result = if *is_fulfilled { self.settle(value) } else { Err(value) };
                self.settle_as(*id, result);
                Ok(Value::Null)
            }
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
                    self.calls_own = callee.is_own();
                    let done = self.work(at, given, record, false);
                    self.calls_own = false;
                    done
                }
            }
        }
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
        let is_unknown = !all.is_empty()
            && all
                .iter()
                .all(|one| matches!(one, Value::Unknown(_) | Value::Variable(_)));
        if is_unknown && !self.is_loading && self.classifies(function) {
            self.note_shared(at, &Value::Null, &all);
            return Ok(Value::Unknown(self.masks(&all)));
        }
        if self.frames.len() > limits::MAX_CALL_DEPTH {
            return Err(Flow::Stop);
        }
        self.check_idempotency(&closure.around, &arguments);
        let mut arguments = arguments;
        if !closure.given.values.is_empty() {
            arguments.values.splice(0..0, closure.given.values.iter().cloned());
        }
        for (name, value) in &closure.given.named {
            if !arguments.named.iter().any(|(known, _)| known == name) {
                arguments.named.push((name.clone(), value.clone()));
            }
        }
        if function.is_generator {
            let closure = Closure {
                given: Arguments::default(),
                ..closure.clone()
            };
            return Ok(self.lazy(Scheduled::Called(closure, arguments, at)));
        }
        self.run_closure(closure, arguments, at)
    }

    /// Executes the body of a function.
    pub(super) fn run_closure(
        &mut self,
        closure: &Closure<'m>,
        mut arguments: Arguments,
        at: &'m Expression,
    ) -> Evaluated {
        let function = closure.function;
        let own = std::ptr::from_ref::<Function>(function) as usize;
        let (outer_this, outer_home) = (self.this.clone(), self.home);
        if !function.is_arrow || closure.this.is_some() {
            self.this.clone_from(&closure.this);
        }
        self.home = closure.home;
        if let (Some(this), false) = (&closure.this, self.module.is_script) {
            arguments.values.insert(0, this.clone());
        }
        let within = self.next_within.take();
        self.frames.push(Frame {
            is_async: function.is_async,
            is_slow: false,
            function: own,
            within,
        });
        let (current, loops) = (self.current, self.loops.len());
        let done = self.scoped(closure.scope, Some(function), |machine| {
            machine.parameters(function, arguments)?;
            machine.statements(&function.body)
        });
        self.loops.truncate(loops);
        self.current = current;
        self.this = outer_this;
        self.home = outer_home;
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
            return result.map_err(Flow::Raise);
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

    fn parameters(&mut self, function: &'m Function, arguments: Arguments) -> Result<(), Flow> {
        let (mut values, mut named) = (arguments.values.into_iter(), arguments.named);
        for parameter in &function.parameters {
            let value = match parameter.takes {
                Takes::Rest => {
                    let rest = values.by_ref().collect();
                    let rest = self.list(rest);
                    self.opened(rest, arguments.is_open)
                }
                Takes::Named => {
                    let all = self.object(std::mem::take(&mut named), 0..0);
                    if let (Value::Object(id), true) = (&all, arguments.is_open) {
                        self.set_open(*id);
                    }
                    all
                }
                Takes::One | Takes::Positional => {
                    let by_name = parameter
                        .pattern
                        .name()
                        .filter(|_| parameter.takes == Takes::One)
                        .and_then(|name| {
                            let found = named.iter().rposition(|(known, _)| known.as_ref() == Some(name));
                            found.map(|at| named.remove(at).1)
                        });
                    match (by_name.or_else(|| values.next()), &parameter.default) {
                        (Some(Value::Null), Some(default)) if self.module.is_script => self.evaluate(default)?,
                        (Some(value), _) => value,
                        (None, _) if arguments.is_open => Value::Unknown(0),
                        (None, Some(default)) => self.evaluate(default)?,
                        (None, None) if self.module.is_script => Value::Null,
                        // Python would raise an exception.
                        (None, None) => Value::Unknown(0),
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
