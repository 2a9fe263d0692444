//! Functions of lists: what each adds, removes, orders or passes on.

use super::calls::Arguments;
use super::evaluate::count;
use super::libraries::Known;
use super::machine::Machine;
use super::values::{Evaluated, Flow, Id, Object, Value};
use crate::read::syntax::{Expression, Term};

impl<'m> Machine<'m> {
    /// Returns a list with the items of the lists in another one.
    pub(super) fn flat(&mut self, of: &Value) -> Value {
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
    pub(super) fn with_items(&mut self, of: &Value, make: impl FnOnce(&mut Self, Vec<Value>) -> Value) -> Value {
        match self.items(of) {
            Some(items) => make(self, items),
            None => Value::Unknown(self.mask(of)),
        }
    }

    pub(super) fn numbered(&mut self, of: &Value) -> Value {
        self.with_items(of, |machine, items| {
            let pairs = items.into_iter().enumerate();
            let pairs = pairs
                .map(|(at, item)| machine.list(vec![Value::Number(count(at)), item]))
                .collect();
            machine.list(pairs)
        })
    }

    pub(super) fn parts_of(&mut self, of: &Value, parts: &str) -> Value {
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

    #[expect(clippy::too_many_lines, reason = "one arm per method")]
    pub(super) fn list_method(
        &mut self,
        whole: &'m Expression,
        id: Id,
        name: &str,
        arguments: &Arguments,
        first: Value,
    ) -> Known {
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
            "reduce" | "reduceRight" => {
                let mut items = self.known_items(id);
                if name == "reduceRight" {
                    items.reverse();
                }
                let mut items = items.into_iter();
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
    pub(super) fn add_items(&mut self, id: Id, added: &[Value], whole: &Expression) {
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
    pub(super) fn take(&mut self, id: Id, is_last: bool, is_removed: bool) -> Option<Value> {
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
    pub(super) fn first_with(
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
    pub(super) fn list_part(
        &mut self,
        whole: &Expression,
        id: Id,
        name: &str,
        arguments: &Arguments,
        first: &Value,
    ) -> Value {
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
            for added in &arguments.values {
                match added {
                    Value::List(_) | Value::Unknown(_) => self.extend(*copy, added),
                    one => self.add_items(*copy, std::slice::from_ref(one), whole),
                }
            }
        }
        self.opened(copy, is_open)
    }
}
