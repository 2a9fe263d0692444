//! Variables and objects: their scopes, assignments and changes.

use super::calls::Arguments;
use super::machine::{Choice, Machine, State};
use super::values::{Closure, Executed, Flow, Id, Object, Scope, Value};
use crate::read::syntax::{Declares, Expression, Function, Term};
use indexmap::IndexMap;
use std::sync::Arc;

impl<'m> Machine<'m> {
    /// Returns the variables and objects. The copy counts as steps, because nested loops make many of them.
    pub(super) fn state(&mut self) -> State<'m> {
        let copied = u32::try_from((self.scopes.own_len() + self.heap.own_len()) / 8);
        self.steps = self.steps.saturating_add(copied.unwrap_or(u32::MAX));
        (self.scopes.clone(), self.heap.clone())
    }

    /// Makes unknown what a loop changes: everything that differs from the state one iteration `before`, and all
    /// conditions.
    pub(super) fn widen(&mut self, (scopes, heap): &State<'m>) {
        self.decided.retain(|(choice, ..), _| *choice != Choice::Branch);
        let existed = |len: usize| move |at: &usize| *at < len;
        for at in self.scopes.own().into_iter().filter(existed(scopes.len())) {
            for (name, before) in scopes[at].names.values().enumerate() {
                let now = &self.scopes[at].names[name];
                if now != before {
                    self.scopes[at].names[name] = Value::Unknown(self.mask(now));
                }
            }
        }
        for id in self.heap.own().into_iter().filter(existed(heap.len())) {
            let changed = match (&heap[id], &self.heap[id]) {
                (Object::List { items: before, .. }, Object::List { items, .. }) if before != items => Vec::new(),
                (Object::Entries { entries: before, .. }, Object::Entries { entries, .. }) if before != entries => {
                    let unknown =
                        |(key, value): &(Option<Arc<str>>, Value)| (key.clone(), Value::Unknown(self.mask(value)));
                    let widened = |(at, entry): (usize, &(Option<Arc<str>>, Value))| match before.get(at) {
                        Some(before) if before == entry => entry.clone(),
                        _ => unknown(entry),
                    };
                    entries.iter().enumerate().map(widened).collect()
                }
                _ => continue,
            };
            if let Object::Entries { entries, .. } = &mut self.heap[id] {
                *entries = changed;
            }
            self.set_open(id);
        }
    }

    pub(super) fn declare(&mut self, name: &str, value: Value) {
        let scope = self.scope;
        self.set_in(scope, name, value);
    }

    fn set_in(&mut self, scope: usize, name: &str, value: Value) {
        let names = &mut self.scopes[scope].names;
        match names.get_mut(name) {
            Some(known) => *known = value,
            None => _ = names.insert(name.into(), value),
        }
    }

    /// Returns the innermost scope with the variable `name`, from `scope` outwards.
    fn scope_of(&self, name: &str, mut scope: Option<usize>) -> Option<usize> {
        while let Some(at) = scope {
            if self.scopes[at].names.contains_key(name) {
                return Some(at);
            }
            scope = self.scopes[at].parent;
        }
        None
    }

    pub(super) fn variable(&self, name: &str) -> Option<Value> {
        let scope = self.scope_of(name, Some(self.scope))?;
        self.scopes[scope].names.get(name).cloned()
    }

    /// Returns the scope of the function that runs.
    fn function_scope(&self) -> usize {
        let mut scope = self.scope;
        while self.scopes[scope].function.is_none() {
            match self.scopes[scope].parent {
                Some(parent) => scope = parent,
                None => break,
            }
        }
        scope
    }

    pub(super) fn assign(&mut self, name: &str, value: Value, declares: Declares) {
        let scope = match declares {
            Declares::Block => self.scope,
            Declares::Function => self.function_scope(),
            Declares::No if self.module.is_script => self.scope_of(name, Some(self.scope)).unwrap_or(0),
            Declares::No => {
                let own = self.function_scope();
                let is_outer = |function: &Function| function.outer.iter().any(|outer| **outer == *name);
                if self.scopes[own].function.is_some_and(is_outer) {
                    self.scope_of(name, self.scopes[own].parent).unwrap_or(0)
                } else {
                    own
                }
            }
        };
        self.set_in(scope, name, value);
    }

    /// Runs `body` in the scope of a block, and declares the names in `target` there.
    pub(super) fn in_block(
        &mut self,
        target: Option<&'m Expression>,
        value: Value,
        body: impl FnOnce(&mut Self) -> Executed,
    ) -> Executed {
        let is_script = self.module.is_script;
        let run = |machine: &mut Self| {
            if let Some(target) = target {
                let declares = if is_script { Declares::Block } else { Declares::No };
                machine.bind(target, value, declares)?;
            }
            body(machine)
        };
        if is_script {
            self.scoped(self.scope, None, run)
        } else {
            run(self)
        }
    }

    /// Runs `body` for an item of a collection: on the records that it is derived from.
    pub(super) fn on_item<T>(&mut self, item: &Value, body: impl FnOnce(&mut Self) -> T) -> T {
        let mask = self.mask(item);
        self.reach(mask);
        let current = if mask == 0 { self.current } else { mask };
        let outer = std::mem::replace(&mut self.current, current);
        let done = body(self);
        self.current = outer;
        done
    }

    /// Runs `body` in a new scope.
    pub(super) fn scoped<T>(
        &mut self,
        parent: usize,
        function: Option<&'m Function>,
        body: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let scope = Scope {
            parent: Some(parent),
            names: IndexMap::default(),
            function,
        };
        self.scopes.push(scope);
        let outer = std::mem::replace(&mut self.scope, self.scopes.len() - 1);
        let result = body(self);
        self.scope = outer;
        result
    }

    pub(super) fn closure(&mut self, function: &'m Arc<Function>) -> Value {
        let this = self.this.clone().filter(|_| function.is_arrow && self.module.is_script);
        self.function_value(Closure {
            scope: self.scope,
            this,
            home: self.home,
            ..Closure::of(function)
        })
    }

    pub(super) fn function_value(&mut self, closure: Closure<'m>) -> Value {
        Value::Function(self.add(Object::Function(closure)))
    }

    /// Assigns a value to a pattern.
    pub(super) fn bind(&mut self, target: &'m Expression, value: Value, declares: Declares) -> Executed {
        match &target.kind {
            Term::Name(name) => self.assign(name, value, declares),
            Term::Member(of, name) => {
                let of = self.evaluate(of)?;
                if let Some(setter) = self.setter(&of, name) {
                    self.invoke(&setter, Arguments::of(vec![value]), target)?;
                } else if let (Value::List(id), "length", false) = (&of, &**name, value == Value::Number(0.0)) {
                    self.forget(&Value::List(*id));
                } else if let (Value::List(id), "length") = (&of, &**name) {
                    self.clear(*id);
                } else {
                    self.set_entry(&of, Some(name.clone()), value);
                }
            }
            // A part of a list.
            Term::Call { callee, .. } => {
                if let Term::Member(of, _) = &callee.kind {
                    let of = self.evaluate(of)?;
                    self.forget(&of);
                }
            }
            Term::Index(of, key) => {
                let of = self.evaluate(of)?;
                let key = match self.evaluate(key)? {
                    Value::Text(key) => Some(key),
                    _ => None,
                };
                self.set_entry(&of, key, value);
            }
            Term::Assign {
                target, value: default, ..
            } => {
                self.note_tested(&value);
                let value = match value {
                    Value::Null => self.evaluate(default)?,
                    value => value,
                };
                self.bind(target, value, declares)?;
            }
            Term::List(targets) => {
                let value = self.forced(value)?;
                let items = match self.items(&value) {
                    Some(items) => {
                        let is_rest = |one: &Expression| matches!(one.kind, Term::Spread(_));
                        let rest = targets.iter().filter(|one| is_rest(one)).count();
                        let is_other = if rest == 0 {
                            items.len() != targets.len()
                        } else {
                            items.len() + rest < targets.len()
                        };
                        if is_other && !self.module.is_script {
                            // Too many values to unpack, or too few.
                            return Err(Flow::Raise(Value::Error(Some("ValueError".into()), self.mask(&value))));
                        }
                        items
                    }
                    None => vec![Value::Unknown(self.mask(&value)); targets.len()],
                };
                if self.is_records(&value) && targets.len() < items.len() {
                    self.run.first.get_or_insert(target.at.clone());
                }
                let mut shift = 1;
                for (at, target) in targets.iter().enumerate() {
                    if let Term::Spread(rest) = &target.kind {
                        // `first, *rest, last = items`
                        let end = items.len().saturating_sub(targets.len() - at - 1);
                        shift = (end + 1).saturating_sub(at + 1);
                        let rest_items = items.get(at..end).unwrap_or_default().to_vec();
                        let rest_value = self.list(rest_items);
                        self.bind(rest, rest_value, declares)?;
                    } else {
                        let item = items
                            .get((at + shift).saturating_sub(1))
                            .cloned()
                            .unwrap_or(Value::Null);
                        self.bind(target, item, declares)?;
                    }
                }
            }
            Term::Object(entries) => {
                for (key, target) in entries {
                    let item = match (key, &target.kind) {
                        (Some(key), _) => {
                            self.note_read(&value, key, &target.at)?;
                            self.member(&value, key)?
                        }
                        _ => Value::Unknown(self.mask(&value)),
                    };
                    let target = match &target.kind {
                        Term::Spread(inner) => inner,
                        _ => target,
                    };
                    self.bind(target, item, declares)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Removes the items of a list, or the entries of an object.
    pub(super) fn clear(&mut self, id: Id) {
        match &mut self.heap[id] {
            Object::List { items, is_open } => {
                items.clear();
                *is_open = false;
            }
            Object::Entries { entries, is_open, .. } => {
                entries.clear();
                *is_open = false;
            }
            _ => {}
        }
    }

    /// Makes the contents of a list or an object unknown.
    pub(super) fn forget(&mut self, value: &Value) {
        let mask = self.mask(value);
        let (Value::List(id) | Value::Object(id)) = value else {
            return;
        };
        match &mut self.heap[*id] {
            Object::List { items, is_open } => {
                *items = vec![Value::Unknown(mask)];
                *is_open = true;
            }
            Object::Entries { entries, is_open, .. } => {
                entries.push((None, Value::Unknown(mask)));
                *is_open = true;
            }
            _ => {}
        }
    }

    pub(super) fn is_records(&self, value: &Value) -> bool {
        matches!(value, Value::List(id) if *id == self.records) && !self.is_loading
    }

    /// Sets an entry of an object. Other code may read what an unknown object contains.
    pub(super) fn set_entry(&mut self, of: &Value, key: Option<Arc<str>>, value: Value) {
        let mask = self.mask(&value);
        match of {
            Value::Object(id) => {
                let may_grow = matches!(&self.heap[*id], Object::Entries { entries, .. } if self.counts(entries.len()));
                if let (Object::Entries { entries, .. }, true) = (&mut self.heap[*id], may_grow) {
                    match entries.iter().position(|(known, _)| key.is_some() && *known == key) {
                        // An unknown key after it may be the same.
                        Some(at) if entries[at..].iter().all(|(known, _)| known.is_some()) => entries[at].1 = value,
                        Some(at) => {
                            entries.remove(at);
                            entries.push((key, value));
                        }
                        None => entries.push((key, value)),
                    }
                }
            }
            Value::List(id) => {
                if let Object::List { items, is_open } = &mut self.heap[*id] {
                    *is_open = true;
                    items.push(value);
                }
            }
            Value::Class(id) => {
                if let Object::Class { statics, .. } = self.heap[*id] {
                    self.set_entry(&Value::Object(statics), key, value);
                }
            }
            Value::Function(_) | Value::Super(..) => self.doubt(),
            _ => {
                if let (Value::Function(_), Some(key)) = (&value, key) {
                    self.replaced.insert(key);
                }
                self.note_changed(of);
                self.run.used |= mask;
                self.run.is_parked |= self.run.failed.is_some() && mask & self.failing != 0;
            }
        }
    }
}
