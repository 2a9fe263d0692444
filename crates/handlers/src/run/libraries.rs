//! Functions of languages and libraries whose effect on failures is known.

use super::calls::Arguments;
use super::evaluate::count;
use super::machine::Machine;
use super::reads;
use super::tasks::TASKS;
use super::values::{Evaluated, Flow, Id, OWN, Object, Scheduled, Value};
use crate::read::syntax::{Expression, Term};
use crate::words::{BATCH_FUNCTIONS, FAILURES, FIFO_PROCESSORS, STANDARD_PROCESSORS};
use std::sync::Arc;

/// Result of a function that may be unknown to the analysis.
pub(super) type Known = Result<Option<Value>, Flow>;

impl<'m> Machine<'m> {
    /// Calls a function by its name, if it is known and the file does not define it.
    #[expect(clippy::too_many_lines, reason = "one arm per function")]
    pub(super) fn library(
        &mut self,
        whole: &'m Expression,
        callee: &'m Expression,
        receiver: Option<&Value>,
        arguments: &Arguments,
    ) -> Known {
        let (root, name) = (
            callee.first_name().unwrap_or_default(),
            callee.last_name().unwrap_or_default(),
        );
        let first = arguments.get(0).cloned().unwrap_or(Value::Null);
        if STANDARD_PROCESSORS.contains(&name) || FIFO_PROCESSORS.contains(&name) {
            let is_fifo = FIFO_PROCESSORS.contains(&name);
            let never_raises = arguments.named("raise_on_entire_batch_failure") == Some(&Value::Bool(false));
            return Ok(Some(Value::Processor(self.processor(is_fifo, !never_raises, whole))));
        }
        if BATCH_FUNCTIONS.contains(&name) && !self.is_loading {
            return self.partial_response(whole, name, arguments).map(Some);
        }
        let is_member = receiver.is_some();
        Ok(Some(match (root, name) {
            ("Promise" | "asyncio" | "void", _)
            | ("loop", "create_task" | "ensure_future")
            | (_, "run_until_complete") => {
                return self.promise_function(whole, name, arguments, first);
            }
            ("threading" | "Thread", "Thread") if !self.is_loading => self.group(arguments.named.clone(), whole),
            (_, "suppress") => {
                let Term::Call { arguments, .. } = &whole.kind else {
                    return Ok(None);
                };
                let is_general = |one: &Expression| matches!(one.last_name(), Some("Exception" | "BaseException"));
                Value::Suppress(arguments.iter().any(is_general))
            }
            (_, "ThreadPoolExecutor" | "ProcessPoolExecutor") => self.pool(whole),
            ("AWSXRay" | "tracer", "captureAsyncFunc" | "captureFunc" | "startActiveSpan" | "trace")
                if let Some(function @ Value::Function(_)) = arguments.values.last() =>
            {
                return self
                    .call(function, vec![Value::Unknown(0)], Vec::new(), whole)
                    .map(Some);
            }
            ("sys" | "exit" | "quit" | "os", "exit" | "quit" | "_exit") => return Err(Flow::Raise(Value::Exit)),
            ("process", "exit" | "abort") => return Err(Flow::Exit),
            _ if reads::parses(root, name) && !self.is_loading => {
                let is_failing = self.mask(&first) & self.failing != 0 && self.run.failed.is_none();
                if is_failing && self.fails_parsing {
                    return Err(self.fail_parsing(whole));
                }
                return Ok(self.parsed(&first, whole));
            }
            ("JSON", "stringify") | ("json", "dumps") => match first {
                Value::Object(id) => Value::Json(id),
                other => Value::Unknown(self.mask(&other)),
            },
            ("Array", "isArray") => match &first {
                Value::Unknown(_) => return Ok(None),
                other => Value::Bool(matches!(other, Value::List(id) if !self.sets.contains(id))),
            },
            ("assert" | "invariant", _) if self.module.is_script && !self.is_loading => {
                let holds = match (name, arguments.get(1)) {
                    ("assert" | "invariant" | "ok", _) => self.truth(&first, whole)?,
                    ("equal" | "strictEqual", Some(other)) => match self.is_equal(&first, other) {
                        Some(known) => known,
                        None => self.choose(whole, 2) == 0,
                    },
                    _ => self.choose(whole, 2) == 0,
                };
                if !holds {
                    let error = Value::Error(Some("AssertionError".into()), self.current);
                    return Err(Flow::Raise(error));
                }
                Value::Null
            }
            ("typeof", _) => {
                self.note_tested(&first);
                match type_of(&first) {
                    Some(name) => Value::Text(name.into()),
                    None => Value::Unknown(self.mask(&first)),
                }
            }
            ("Object", "hasOwn") if first == Value::Event => {
                Value::Bool(arguments.get(1) == Some(&Value::Text("Records".into())))
            }
            ("Object", "fromEntries") => Value::Unknown(self.mask(&first) | OWN),
            ("Object", "assign") => {
                for one in arguments.values.iter().skip(1) {
                    self.update(&first, one);
                }
                first
            }
            ("Object", "keys" | "values" | "entries") => self.parts_of(&first, name),
            ("Reflect", "set") => {
                let key = match arguments.get(1) {
                    Some(Value::Text(key)) => Some(key.clone()),
                    _ => None,
                };
                let value = arguments.get(2).cloned().unwrap_or(Value::Unknown(0));
                self.set_entry(&first, key, value);
                Value::Bool(true)
            }
            ("Reflect" | "Object", "defineProperty" | "defineProperties" | "deleteProperty" | "setPrototypeOf") => {
                self.forget(&first);
                if !matches!(first, Value::Object(_)) {
                    self.doubt();
                }
                first
            }
            ("os" | "getenv", "getenv") => match first {
                Value::Text(key) => Value::Variable(key),
                _ => Value::Unknown(0),
            },
            ("Object", "freeze" | "seal") => first,
            ("Array", "from") => match (self.items(&first), arguments.get(1)) {
                (Some(items), Some(function)) => return self.mapped(items, false, &function.clone(), whole).map(Some),
                (Some(items), None) => self.list(items),
                (None, _) => Value::Unknown(self.mask(&first)),
            },
            (_, "Set" | "set") if !is_member && arguments.values.len() <= 1 => {
                let set = self.with_items(&first, Self::list);
                if let Value::List(id) = set {
                    self.sets.insert(id);
                }
                set
            }
            (_, "Map" | "dict" | "defaultdict" | "OrderedDict") if arguments.values.is_empty() => {
                let entries = arguments.named.clone();
                self.object(entries, whole.at.clone())
            }
            ("Error" | "TypeError" | "RangeError" | "AggregateError", _) if !is_member => {
                let mask = self.masks(&arguments.values);
                Value::Error(Some(name.into()), mask)
            }
            (_, "pLimit") => self.pool(whole),
            (_, "pMap") => return self.each_at_once(whole, arguments, &first).map(Some),
            ("functools", _) => return self.builtin(whole, name, arguments, first),
            _ if is_member => return Ok(None),
            _ => return self.builtin(whole, name, arguments, first),
        }))
    }

    /// Takes the next item of an iterator. Each use of the records of an event is a new one.
    fn next(&mut self, iterator: Id, default: Option<&Value>, whole: &Expression) -> Evaluated {
        let Object::List { items, is_open } = &mut self.heap[iterator] else {
            return Ok(Value::Unknown(0));
        };
        let Some(item) = items.first().cloned() else {
            return match default {
                Some(default) => Ok(default.clone()),
                None if *is_open => Ok(Value::Unknown(0)),
                None => Err(Flow::Raise(Value::Error(Some("StopIteration".into()), 0))),
            };
        };
        if iterator != self.records {
            items.remove(0);
        }
        if matches!(item, Value::Record(_)) {
            self.run.first.get_or_insert(whole.at.clone());
        }
        Ok(item)
    }

    /// Calls a built-in function of Python by its name.
    fn builtin(&mut self, whole: &'m Expression, name: &str, arguments: &Arguments, first: Value) -> Known {
        Ok(Some(match name {
            "len" => self.size(&first),
            "bool" | "Boolean" => match self.known_truth(&first) {
                Some(known) => Value::Bool(known),
                None => Value::Unknown(self.mask(&first)),
            },
            "list" | "tuple" | "sorted" | "reversed" | "iter" | "as_completed" | "frozenset" => {
                let first = self.awaited(first)?;
                self.run.progress.is_sorted |= arguments.named("key").is_some();
                match self.items(&first) {
                    Some(mut items) => {
                        if name == "reversed" {
                            items.reverse();
                        }
                        self.list(items)
                    }
                    None if arguments.values.is_empty() => self.list(Vec::new()),
                    None => Value::Unknown(self.mask(&first)),
                }
            }
            "next" if !self.module.is_script => match &first {
                Value::List(id) => return self.next(*id, arguments.get(1), whole).map(Some),
                _ => return Ok(None),
            },
            "enumerate" => self.numbered(&first),
            "range" => self.range(&first, arguments),
            "partial" => match &first {
                Value::Function(id) => {
                    let made = self.bound(*id, None, arguments.values.get(1..).unwrap_or_default().to_vec());
                    if let Value::Function(id) = &made
                        && let Object::Function(closure) = &mut self.heap[*id]
                    {
                        closure.given.named.extend(arguments.named.iter().cloned());
                    }
                    made
                }
                _ => return Ok(None),
            },
            "setattr" | "delattr" => {
                let value = arguments.get(2).cloned().unwrap_or(Value::Unknown(0));
                match arguments.get(1) {
                    Some(Value::Text(key)) if name == "setattr" => self.set_entry(&first, Some(key.clone()), value),
                    _ => {
                        self.forget(&first);
                        if !matches!(first, Value::Object(_)) {
                            self.doubt();
                        }
                    }
                }
                Value::Null
            }
            "getattr" => match (&first, arguments.get(1)) {
                (Value::Object(_) | Value::Class(_), Some(Value::Text(key))) => match self.member(&first, key)? {
                    Value::Null => arguments.get(2).cloned().unwrap_or(Value::Null),
                    found => found,
                },
                (Value::Object(_), _) => {
                    self.escape(&first, 2);
                    Value::Unknown(self.mask(&first))
                }
                _ => return Ok(None),
            },
            "vars" if matches!(first, Value::Object(_)) => first,
            "type" if arguments.values.len() == 1 => self.member(&first, "__class__")?,
            "eval" | "exec" | "globals" | "locals" => {
                self.doubt();
                Value::Unknown(0)
            }
            "zip" => match (self.items(&first), arguments.get(1).and_then(|right| self.items(right))) {
                (Some(left), Some(right)) => {
                    let pairs = left.into_iter().zip(right);
                    let pairs = pairs.map(|(left, right)| self.list(vec![left, right])).collect();
                    self.list(pairs)
                }
                _ => Value::Unknown(self.masks(&arguments.values)),
            },
            "any" | "all" => self.any_or_all(&first, name == "any"),
            "map" | "filter" if !self.is_loading && arguments.values.len() == 2 => {
                let items = arguments.get(1).cloned().unwrap_or(Value::Null);
                self.lazy(match name {
                    "map" => Scheduled::Mapped(first, items, whole),
                    _ => Scheduled::Filtered(first, items, whole),
                })
            }
            "isinstance" => {
                let Term::Call { arguments: types, .. } = &whole.kind else {
                    return Ok(None);
                };
                let of = arguments.get(1).cloned().unwrap_or(Value::Null);
                match types.get(1).and_then(|class| self.is_instance(&first, class, &of)) {
                    Some(known) => Value::Bool(known),
                    None => Value::Unknown(self.mask(&first)),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Returns the numbers of a `range`, if they are 8 at most.
    fn range(&mut self, first: &Value, arguments: &Arguments) -> Value {
        let step = match arguments.get(2) {
            None => 1.0,
            Some(Value::Number(step)) if *step != 0.0 => *step,
            _ => return Value::Unknown(0),
        };
        let (from, to) = match (first, arguments.get(1)) {
            (Value::Number(to), None) => (0.0, *to),
            (Value::Number(from), Some(Value::Number(to))) => (*from, *to),
            _ => return Value::Unknown(0),
        };
        let numbers = (0..=8).map(|at| from + step * count(at));
        let numbers: Vec<f64> = numbers
            .take_while(|at| if step > 0.0 { *at < to } else { *at > to })
            .collect();
        if numbers.len() > 8 {
            return Value::Unknown(0);
        }
        self.list(numbers.into_iter().map(Value::Number).collect())
    }

    /// Returns `decides` if an item has this truth, and the opposite if all have the other one.
    fn any_or_all(&mut self, of: &Value, decides: bool) -> Value {
        self.with_items(of, |machine, items| {
            let known: Vec<_> = items.iter().map(|item| machine.known_truth(item)).collect();
            if known.contains(&Some(decides)) {
                Value::Bool(decides)
            } else if known.iter().all(Option::is_some) {
                Value::Bool(!decides)
            } else {
                Value::Unknown(machine.mask(of))
            }
        })
    }

    /// Calls a method of a known value.
    pub(super) fn known_method(
        &mut self,
        whole: &'m Expression,
        receiver: &Value,
        name: &str,
        arguments: &Arguments,
    ) -> Known {
        let first = arguments.get(0).cloned().unwrap_or(Value::Null);
        match receiver {
            Value::List(id) => self.list_method(whole, *id, name, arguments, first),
            Value::Object(id) if self.entry(*id, TASKS).is_some() => {
                self.task_method(whole, *id, name, arguments, first)
            }
            Value::Object(id) => self.object_method(whole, *id, name, arguments, &first),
            Value::Promise(id) => self.promise_method(whole, *id, name, arguments, &first),
            Value::Unknown(_) | Value::Client if matches!(name, "then" | "catch" | "finally") => {
                let result = Ok(Value::Unknown(self.mask(receiver)));
                match self.promise(result, true, whole.at.clone()) {
                    Value::Promise(id) => self.promise_method(whole, id, name, arguments, &first),
                    _ => Ok(None),
                }
            }
            Value::Event if name == "hasOwnProperty" => Ok(Some(Value::Bool(first == Value::Text("Records".into())))),
            Value::Event | Value::Record(_) if name == "get" => Ok(Some(match (first, receiver) {
                (Value::Text(key), _) => {
                    self.note_looked_up(receiver, &key, whole);
                    self.member(receiver, &key)?
                }
                (_, Value::Record(_)) => Value::Unknown(self.mask(receiver)),
                _ => Value::Unknown(0),
            })),
            Value::Unknown(mask) if name == "get" && mask & reads::MESSAGE != 0 => Ok(match first {
                Value::Text(key) => {
                    self.note_looked_up(receiver, &key, whole);
                    let found = reads::member(receiver, &key);
                    if arguments.values.len() > 1 {
                        self.note_tested(&found);
                    }
                    Some(found)
                }
                _ => None,
            }),
            Value::Environment if matches!(name, "get" | "getOrThrow") => Ok(match first {
                Value::Text(key) => Some(Value::Variable(key)),
                _ => None,
            }),
            Value::Function(id) if !self.is_loading => match name {
                "call" => {
                    let values = arguments.values.get(1..).unwrap_or_default().to_vec();
                    let bound = self.bound(*id, arguments.get(0), Vec::new());
                    self.call(&bound, values, Vec::new(), whole).map(Some)
                }
                "bind" => {
                    let values = arguments.values.get(1..).unwrap_or_default().to_vec();
                    Ok(Some(self.bound(*id, arguments.get(0), values)))
                }
                "apply" => {
                    let values = arguments.get(1).and_then(|values| self.items(values));
                    match values {
                        Some(values) => self.call(receiver, values, Vec::new(), whole).map(Some),
                        None => Ok(None),
                    }
                }
                _ => Ok(None),
            },
            Value::Processor(id) => match name {
                "response" => {
                    let Object::Processor { failures, .. } = &self.heap[*id] else {
                        return Ok(None);
                    };
                    let failures = Value::List(*failures);
                    Ok(Some(
                        self.object(vec![(Some(FAILURES.into()), failures)], whole.at.clone()),
                    ))
                }
                "register" => self.process(*id, arguments, whole).map(Some),
                "process" | "process_async" | "async_process" | "processSync" => Ok(Some(Value::Unknown(0))),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Calls a function; an exception becomes a result.
    pub(super) fn called(
        &mut self,
        function: &Value,
        values: Vec<Value>,
        named: Vec<(Option<Arc<str>>, Value)>,
        at: &'m Expression,
    ) -> Result<Result<Value, Value>, Flow> {
        match self.call(function, values, named, at) {
            Ok(value) => Ok(Ok(value)),
            Err(Flow::Raise(raised)) => Ok(Err(raised)),
            Err(other) => Err(other),
        }
    }

    /// Calls a function for an item of a collection.
    pub(super) fn called_for(
        &mut self,
        function: &Value,
        item: &Value,
        values: Vec<Value>,
        at: &'m Expression,
    ) -> Result<Result<Value, Value>, Flow> {
        self.on_item(item, |machine| machine.called(function, values, Vec::new(), at))
    }

    pub(super) fn called_with(
        &mut self,
        function: &Value,
        item: Value,
        position: Option<usize>,
        at: &'m Expression,
    ) -> Result<Result<Value, Value>, Flow> {
        let mut values = vec![item.clone()];
        values.extend(position.map(|at| Value::Number(count(at))));
        self.called_for(function, &item, values, at)
    }

    /// Copies the entries of an object to another one.
    fn update(&mut self, of: &Value, with: &Value) {
        let entries = match with {
            Value::Object(id) => match &self.heap[*id] {
                Object::Entries { entries, is_open, .. } if self.counts(entries.len() * entries.len() / 8) => {
                    Some((entries.clone(), *is_open))
                }
                _ => None,
            },
            _ => None,
        };
        match (of, entries) {
            (_, Some((entries, is_open))) => {
                for (key, value) in entries {
                    self.set_entry(of, key, value);
                }
                if let (Value::Object(id), true) = (of, is_open) {
                    self.set_open(*id);
                }
            }
            (Value::Object(id), None) => self.set_open(*id),
            _ => self.note_changed(of),
        }
    }

    pub(super) fn opened(&mut self, value: Value, is_open: bool) -> Value {
        if let (Value::List(id), true) = (&value, is_open) {
            self.set_open(*id);
        }
        value
    }

    fn object_method(&mut self, whole: &Expression, id: Id, name: &str, arguments: &Arguments, first: &Value) -> Known {
        let is_fields = matches!(&whole.kind, Term::Call { callee, .. } if matches!(&callee.kind,
            Term::Member(of, _) if matches!(of.last_name(), Some("__dict__" | "vars")) || matches!(of.kind, Term::Call { .. })));
        let of = Value::Object(id);
        if matches!(&self.heap[id], Object::Entries { class: Some(_), .. }) && !is_fields {
            return Ok(None);
        }
        let key = match first {
            Value::Text(key) => Some(key.clone()),
            _ => None,
        };
        Ok(Some(match name {
            "get" | "pop" => {
                let default = arguments.get(1).cloned().unwrap_or(Value::Null);
                let found = if let Some(key) = &key {
                    match self.member(&of, key)? {
                        Value::Null => default,
                        found => found,
                    }
                } else {
                    let values = self.known_entries(&of).unwrap_or_default();
                    let values: Vec<Value> = values.iter().map(|(_, value)| value.clone()).collect();
                    let unknown = Value::Unknown(self.mask(&of) | self.mask(first));
                    self.any_function(&values, whole).unwrap_or(unknown)
                };
                match (name, &key, &mut self.heap[id]) {
                    ("pop", Some(key), Object::Entries { entries, .. }) => {
                        entries.retain(|(known, _)| known.as_ref() != Some(key));
                    }
                    ("pop", None, _) => self.forget(&of),
                    _ => {}
                }
                found
            }
            "clear" => {
                self.clear(id);
                Value::Null
            }
            "delete" | "popitem" | "__setitem__" | "__delitem__" => {
                self.forget(&of);
                Value::Unknown(self.mask(&of))
            }
            "setdefault" => {
                let found = key.as_deref().and_then(|key| self.entry(id, key));
                if let Some(found) = found {
                    found
                } else {
                    let default = arguments.get(1).cloned().unwrap_or(Value::Null);
                    self.set_entry(&of, key, default.clone());
                    default
                }
            }
            "set" => {
                let value = arguments.get(1).cloned().unwrap_or(Value::Null);
                self.set_entry(&of, key, value);
                of
            }
            "update" => {
                self.update(&of, first);
                for (key, value) in &arguments.named {
                    self.set_entry(&of, key.clone(), value.clone());
                }
                Value::Null
            }
            "keys" | "values" | "items" | "entries" => self.parts_of(&of, name),
            "copy" => {
                let copy = self.object(Vec::new(), 0..0);
                self.update(&copy, &of);
                copy
            }
            _ => return Ok(None),
        }))
    }
}

/// Returns the result of `typeof` for a known value.
fn type_of(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Null => "undefined",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::Text(_) | Value::MessageId(_) | Value::ReceiptHandle(_) | Value::Json(_) => "string",
        Value::Function(_) | Value::Class(_) | Value::Callback => "function",
        Value::Event | Value::Record(_) | Value::List(_) | Value::Object(_) | Value::Nil | Value::Error(..) => "object",
        _ => return None,
    })
}
