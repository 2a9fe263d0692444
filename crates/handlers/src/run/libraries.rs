//! Functions of languages and libraries whose effect on failures is known.

use super::calls::Arguments;
use super::evaluate::count;
use super::machine::Machine;
use super::values::{Evaluated, Flow, Id, Object, Scheduled, Value};
use crate::read::syntax::{Expression, Term};
use crate::words::{BATCH_FUNCTIONS, FAILURES, FIFO_PROCESSORS, STANDARD_PROCESSORS};
use std::sync::Arc;

/// Result of a function that may be unknown to the analysis.
pub(super) type Known = Result<Option<Value>, Flow>;

impl<'m> Machine<'m> {
    /// Calls a function by its name, if it is known and the file does not define it.
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
            ("Promise" | "asyncio", _) | ("loop", "create_task" | "ensure_future") | (_, "run_until_complete") => {
                return self.promise_function(whole, name, arguments, first);
            }
            ("contextlib" | "suppress", "suppress") => {
                let Term::Call { arguments, .. } = &whole.kind else {
                    return Ok(None);
                };
                let is_general = |one: &Expression| matches!(one.last_name(), Some("Exception" | "BaseException"));
                Value::Suppress(arguments.iter().any(is_general))
            }
            (_, "ThreadPoolExecutor" | "ProcessPoolExecutor") => Value::Pool,
            ("AWSXRay" | "tracer", "captureAsyncFunc" | "captureFunc" | "startActiveSpan" | "trace")
                if let Some(function @ Value::Function(_)) = arguments.values.last() =>
            {
                return self
                    .call(function, vec![Value::Unknown(0)], Vec::new(), whole)
                    .map(Some);
            }
            ("sys" | "exit" | "quit" | "os", "exit" | "quit" | "_exit") => return Err(Flow::Raise(Value::Exit)),
            ("process", "exit" | "abort") => return Err(Flow::Exit),
            ("JSON", "stringify") | ("json", "dumps") => match first {
                Value::Object(id) => Value::Json(id),
                other => Value::Unknown(self.mask(&other)),
            },
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
            ("Object", "freeze" | "seal") => first,
            ("Array", "from") => match (self.items(&first), arguments.get(1)) {
                (Some(items), Some(function)) => return self.mapped(items, false, &function.clone(), whole).map(Some),
                (Some(items), None) => self.list(items),
                (None, _) => Value::Unknown(self.mask(&first)),
            },
            (_, "Set" | "set") if !is_member && arguments.values.len() <= 1 => self.with_items(&first, Self::list),
            (_, "Map" | "dict" | "defaultdict" | "OrderedDict") if arguments.values.is_empty() => {
                let entries = arguments.named.clone();
                self.object(entries, whole.at.clone())
            }
            ("Error" | "TypeError" | "RangeError" | "AggregateError", _) if !is_member => {
                let mask = self.masks(&arguments.values);
                Value::Error(Some(name.into()), mask)
            }
            ("functools", _) => return self.builtin(whole, name, arguments, first),
            _ if is_member => return Ok(None),
            _ => return self.builtin(whole, name, arguments, first),
        }))
    }

    /// Calls a function of `Promise` or `asyncio`.
    fn promise_function(&mut self, whole: &'m Expression, name: &str, arguments: &Arguments, first: Value) -> Known {
        Ok(Some(match name {
            "all" => self.all(whole, &first),
            "allSettled" => self.settled(whole, &first),
            "race" | "any" => {
                self.run.is_uncertain |= !self.is_loading;
                Value::Unknown(self.mask(&first))
            }
            "resolve" => self.promise(Ok(first), false, whole.at.clone()),
            "reject" => self.promise(Err(first), false, whole.at.clone()),
            "gather" => {
                let is_settled = arguments.named("return_exceptions") == Some(&Value::Bool(true));
                let all = self.list(arguments.values.clone());
                if is_settled {
                    self.settled(whole, &all)
                } else {
                    self.all(whole, &all)
                }
            }
            "run" | "run_until_complete" => self.awaited(first)?,
            "wait_for" | "shield" => first,
            "create_task" | "ensure_future" if matches!(first, Value::Promise(_)) => first,
            _ => return Ok(None),
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
            Value::Object(id) => self.object_method(whole, *id, name, arguments, &first),
            Value::Promise(id) => self.promise_method(whole, *id, name, arguments, &first),
            Value::Unknown(_) | Value::Client if matches!(name, "then" | "catch" | "finally") => {
                let result = Ok(Value::Unknown(self.mask(receiver)));
                match self.promise(result, true, whole.at.clone()) {
                    Value::Promise(id) => self.promise_method(whole, id, name, arguments, &first),
                    _ => Ok(None),
                }
            }
            Value::Event | Value::Record(_) if name == "get" => Ok(Some(match (first, receiver) {
                (Value::Text(key), _) => self.member(receiver, &key)?,
                (_, Value::Record(_)) => Value::Unknown(self.mask(receiver)),
                _ => Value::Unknown(0),
            })),
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
            Value::Pool => match name {
                "submit" => {
                    let values = arguments.values.get(1..).unwrap_or_default().to_vec();
                    let result = self.called(&first, values, arguments.named.clone(), whole)?;
                    Ok(Some(self.promise(result, true, whole.at.clone())))
                }
                "map" => {
                    let Some(items) = arguments.get(1).and_then(|items| self.items(items)) else {
                        return Ok(None);
                    };
                    let mut results = Vec::new();
                    for item in items {
                        let result = self.called_with(&first, item, None, whole)?;
                        results.push(self.promise(result, true, whole.at.clone()));
                    }
                    // Iterating over the results raises the first failure.
                    let results = self.list(results);
                    Ok(Some(self.all(whole, &results)))
                }
                _ => Ok(Some(Value::Unknown(0))),
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
    fn called_for(
        &mut self,
        function: &Value,
        item: &Value,
        values: Vec<Value>,
        at: &'m Expression,
    ) -> Result<Result<Value, Value>, Flow> {
        self.on_item(item, |machine| machine.called(function, values, Vec::new(), at))
    }

    fn called_with(
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

    /// Returns a list with the items of the lists in another one.
    fn flat(&mut self, of: &Value) -> Value {
        let flat = self.list_id(Vec::new());
        for item in self.items(of).unwrap_or_default() {
            match &item {
                Value::List(_) | Value::Unknown(_) => self.extend(flat, &item),
                _ => {
                    if let Object::List { items, .. } = &mut self.heap[flat] {
                        items.push(item);
                    }
                }
            }
        }
        Value::List(flat)
    }

    /// Calls a function for each item, also with its position in the list if `has_positions`.
    pub(super) fn mapped(
        &mut self,
        items: Vec<Value>,
        has_positions: bool,
        function: &Value,
        at: &'m Expression,
    ) -> Evaluated {
        let mut results = Vec::new();
        for (position, item) in items.into_iter().enumerate() {
            let position = has_positions.then_some(position);
            results.push(self.called_with(function, item, position, at)?.map_err(Flow::Raise)?);
        }
        Ok(self.list(results))
    }

    pub(super) fn filtered(
        &mut self,
        items: Vec<Value>,
        has_positions: bool,
        function: &Value,
        at: &'m Expression,
    ) -> Evaluated {
        let mut kept = Vec::new();
        for (position, item) in items.into_iter().enumerate() {
            let position = has_positions.then_some(position);
            let result = match function {
                Value::Null => item.clone(),
                function => self
                    .called_with(function, item.clone(), position, at)?
                    .map_err(Flow::Raise)?,
            };
            if self.truth(&result, at)? {
                kept.push(item);
            }
        }
        Ok(self.list(kept))
    }

    /// Returns what `make` makes of the items of `of`, if they are known.
    fn with_items(&mut self, of: &Value, make: impl FnOnce(&mut Self, Vec<Value>) -> Value) -> Value {
        match self.items(of) {
            Some(items) => make(self, items),
            None => Value::Unknown(self.mask(of)),
        }
    }

    fn numbered(&mut self, of: &Value) -> Value {
        self.with_items(of, |machine, items| {
            let pairs = items.into_iter().enumerate();
            let pairs = pairs
                .map(|(at, item)| machine.list(vec![Value::Number(count(at)), item]))
                .collect();
            machine.list(pairs)
        })
    }

    fn parts_of(&mut self, of: &Value, parts: &str) -> Value {
        let entries = self.known_entries(of).filter(|entries| self.counts(entries.len()));
        let Some(entries) = entries.map(<[_]>::to_vec) else {
            return Value::Unknown(self.mask(of));
        };
        let parts: Vec<Value> = entries
            .into_iter()
            .map(|(key, value)| {
                let key = match key {
                    Some(key) => Value::Text(key),
                    None => Value::Unknown(self.mask(&value)),
                };
                match parts {
                    "keys" => key,
                    "values" => value,
                    _ => self.list(vec![key, value]),
                }
            })
            .collect();
        self.list(parts)
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
            _ => {}
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm per method")]
    fn list_method(&mut self, whole: &'m Expression, id: Id, name: &str, arguments: &Arguments, first: Value) -> Known {
        let list = Value::List(id);
        let is_open = matches!(&self.heap[id], Object::List { is_open: true, .. });
        let has_positions = self.module.is_script && !is_open;
        Ok(Some(match name {
            "push" | "append" | "add" | "insert" | "unshift" => {
                let added = match name {
                    "insert" => arguments.values.get(1..).unwrap_or_default(),
                    _ => &arguments.values,
                };
                self.add_items(id, added, whole);
                Value::Null
            }
            "extend" => {
                self.extend(id, &first);
                Value::Null
            }
            "forEach" => {
                self.mapped(self.known_items(id), has_positions, &first, whole)?;
                Value::Null
            }
            "map" | "flatMap" => {
                let mut made = self.mapped(self.known_items(id), has_positions, &first, whole)?;
                if name == "flatMap" {
                    made = self.flat(&made);
                }
                self.opened(made, is_open)
            }
            "reduce" => {
                let mut items = self.known_items(id).into_iter();
                let start = arguments.get(1).cloned().or_else(|| items.next());
                self.run.is_uncertain |= is_open && !self.is_loading;
                items.try_fold(start.unwrap_or(Value::Null), |made, item| {
                    let values = vec![made, item.clone()];
                    self.called_for(&first, &item, values, whole)?.map_err(Flow::Raise)
                })?
            }
            "filter" => {
                let is_boolean = matches!(&whole.kind, Term::Call { arguments, .. }
                    if arguments.first().and_then(Expression::name).is_some_and(|name| &**name == "Boolean"));
                let test = if is_boolean { Value::Null } else { first };
                let kept = self.filtered(self.known_items(id), has_positions, &test, whole)?;
                self.opened(kept, is_open)
            }
            "some" | "every" | "find" => {
                let decides = name != "every";
                let found = self.first_with(self.known_items(id), &first, decides, whole)?;
                match (name, found) {
                    (_, None) if is_open => Value::Unknown(self.mask(&list)),
                    ("find", found) => found.unwrap_or(Value::Null),
                    (_, found) => Value::Bool(decides == found.is_some()),
                }
            }
            "includes" | "has" | "__contains__" => match self.contains(&list, &first) {
                Some(known) => Value::Bool(known),
                None => Value::Unknown(0),
            },
            "slice" | "copy" | "concat" | "sort" | "reverse" | "toSorted" | "values" | "flat" | "keys" | "entries" => {
                self.list_part(whole, id, name, arguments, &first)
            }
            "pop" | "shift" | "at" => {
                if self.is_records(&list) {
                    self.run.first.get_or_insert(whole.at.clone());
                }
                let is_last = name == "pop" && first == Value::Null || name == "at" && first == Value::Number(-1.0);
                let is_first =
                    name != "pop" && matches!(first, Value::Null | Value::Number(0.0)) || first == Value::Number(0.0);
                if !is_last && !is_first {
                    // An item at an unknown place.
                    let mask = self.mask(&list);
                    if name == "pop" {
                        self.forget(&list);
                    }
                    return Ok(Some(Value::Unknown(mask)));
                }
                let item = self.take(id, is_last, name != "at");
                item.unwrap_or(if is_open { Value::Unknown(0) } else { Value::Null })
            }
            "clear" => {
                self.clear(id);
                Value::Null
            }
            "remove" | "discard" | "delete" => {
                let known = self.known_items(id);
                let at = known.iter().position(|one| self.is_equal(one, &first) == Some(true));
                let differs = |one: &Value| self.is_equal(one, &first) == Some(false);
                match at {
                    Some(at) if known[..at].iter().all(differs) => {
                        if let Object::List { items, .. } = &mut self.heap[id] {
                            items.remove(at);
                        }
                    }
                    None if !is_open && known.iter().all(differs) => {}
                    _ => self.forget(&list),
                }
                Value::Unknown(0)
            }
            "splice"
            | "difference_update"
            | "intersection_update"
            | "symmetric_difference_update"
            | "copyWithin"
            | "fill"
            | "__delitem__"
            | "__setitem__"
            | "popleft"
            | "rotate" => {
                let mask = self.mask(&list);
                self.forget(&list);
                Value::Unknown(mask)
            }
            _ => {
                let mask = self.mask(&list) | self.masks(&arguments.values);
                self.run.is_uncertain |=
                    arguments.all().any(|one| matches!(one, Value::Function(_))) && !self.is_loading;
                Value::Unknown(mask)
            }
        }))
    }

    /// Adds values to a list, which may be the records that failed.
    fn add_items(&mut self, id: Id, added: &[Value], whole: &Expression) {
        let is_record = added.iter().any(|value| self.mask(value) & self.failing != 0);
        if is_record && self.run.failed.is_some() {
            let at = self.loops.last().cloned().unwrap_or(whole.at.clone());
            self.run.collects.get_or_insert(at);
        }
        if let Object::List { items, .. } = &mut self.heap[id] {
            items.extend(added.iter().cloned());
        }
    }

    /// Returns the first item or the last one of a list, which may lose it.
    fn take(&mut self, id: Id, is_last: bool, is_removed: bool) -> Option<Value> {
        let Object::List { items, .. } = &mut self.heap[id] else {
            return None;
        };
        let at = if is_last { items.len().checked_sub(1)? } else { 0 };
        let item = items.get(at).cloned()?;
        if is_removed {
            items.remove(at);
        }
        Some(item)
    }

    /// Returns the first item for which the function returns a value with this truth.
    fn first_with(
        &mut self,
        items: Vec<Value>,
        function: &Value,
        truth: bool,
        at: &'m Expression,
    ) -> Result<Option<Value>, Flow> {
        for item in items {
            let result = self
                .called_with(function, item.clone(), None, at)?
                .map_err(Flow::Raise)?;
            if self.truth(&result, at)? == truth {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// Returns a list with the items of another one, or some of them.
    fn list_part(&mut self, whole: &Expression, id: Id, name: &str, arguments: &Arguments, first: &Value) -> Value {
        let list = Value::List(id);
        let is_open = matches!(&self.heap[id], Object::List { is_open: true, .. });
        let mut items = self.known_items(id);
        match (name, first, arguments.get(1)) {
            ("slice", Value::Number(from), _) if *from < 0.0 => return Value::Unknown(self.mask(&list)),
            ("slice", Value::Number(from), to) => {
                let is_before = |at: usize| match to {
                    Some(Value::Number(to)) if *to >= 0.0 => count(at) < *to,
                    _ => true,
                };
                let all = items.into_iter().enumerate();
                let kept = all.filter(|(at, _)| count(*at) >= *from && is_before(*at));
                items = kept.map(|(_, item)| item).collect();
                if self.is_records(&list) && items.len() < 2 {
                    self.run.first.get_or_insert(whole.at.clone());
                }
            }
            ("keys", ..) => return Value::Unknown(self.mask(&list)),
            _ => {}
        }
        let copy = self.list(items);
        let copy = match name {
            "entries" => self.numbered(&copy),
            "flat" => self.flat(&copy),
            _ => copy,
        };
        if let (Value::List(copy), "concat") = (&copy, name) {
            self.extend(*copy, first);
        }
        self.opened(copy, is_open)
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
                let found = match &key {
                    Some(key) => match self.member(&of, key)? {
                        Value::Null => default,
                        found => found,
                    },
                    None => Value::Unknown(self.mask(&of)),
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
