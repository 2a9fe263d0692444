//! Executes a handler on a batch with one message whose work fails, without any of its effects.
//!
//! Values that the source does not determine are unknown. Wherever an unknown value decides, and wherever work on the
//! message may fail, a run chooses one option; [`scenario`](super::scenario) repeats it with the others. Variables and
//! objects are here, statements in [`statements`](super::statements), expressions in [`evaluate`](super::evaluate), calls
//! in [`calls`](super::calls).

use super::calls::Arguments;
use super::layers::Layers;
use super::lazy::Within;
use super::left::Progress;
use super::reads::Reads;
use super::services::Request;
use super::values::{ALL, Choices, Closure, Executed, Flow, Id, Mask, Object, Scope, Value, bit};
use crate::limits;
use crate::read::syntax::{Class, Declares, Expression, Function, Module, Statement, StatementKind, Term, TextRange};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::sync::Arc;

/// State of one run.
#[derive(Debug, Clone)]
pub(crate) struct Machine<'m> {
    pub(super) module: &'m Module,
    pub(super) heap: Layers<Object<'m>>,
    scopes: Layers<Scope<'m>>,
    pub(super) scope: usize,
    pub(super) this: Option<Value>,
    /// Class of the method that runs.
    pub(super) home: Option<Id>,
    /// Values that the running generators have made, innermost last.
    pub(super) yielded: Vec<Vec<Value>>,
    /// Statements that the next generator runs where it yields.
    pub(super) next_within: Option<Box<Within<'m>>>,
    /// End of such statements, which follows that of the generator.
    pub(super) pending: Option<Flow>,
    /// Lists that are sets.
    pub(super) sets: FxHashSet<Id>,
    pub(super) frames: Vec<Frame<'m>>,
    /// Calls that make functions from elsewhere idempotent.
    pub(super) idempotent: Vec<&'m Expression>,
    /// Exceptions that `catch` blocks handle, innermost last.
    pub(super) caught: Vec<Value>,
    decided: FxHashMap<(Choice, usize, bool), usize>,
    pub(super) choices: Choices,
    /// `true` while the statements outside of functions run.
    pub(super) is_loading: bool,
    pub(super) steps: u32,
    /// Number of items that were copied, or looked through.
    pub(super) copied: Cell<usize>,
    depth: u32,
    /// Records that the current iteration or call works on.
    pub(super) current: Mask,
    /// Records of the batch, as a list.
    pub(super) records: Id,
    /// `true` if only the parsing of the message fails, and no work on it.
    pub(super) fails_parsing: bool,
    /// Mask of the message whose work fails.
    pub(super) failing: Mask,
    /// Address of a call whose method `promise` is called.
    pub(super) promised: usize,
    /// Loops over records that run, innermost last.
    pub(super) loops: Vec<TextRange>,
    pub(super) run: Run<'m>,
}

/// Facts of one run.
#[derive(Debug, Clone, Default)]
pub(super) struct Run<'m> {
    /// Call that failed; it fails again for the same message.
    pub(super) failed: Option<Failure<'m>>,
    /// Promise of a call that fails late.
    pub(super) late: Option<Id>,
    /// `true` if the promise of that call is used as another value, so that the call returns none.
    pub(super) is_impossible: bool,
    /// Last code that caught or dropped the failure.
    pub(super) vanished: Option<TextRange>,
    /// `true` if the failed message, or its failure, was passed to other code after it failed.
    pub(super) is_parked: bool,
    /// `true` if the outcome depends on code in other files.
    pub(super) is_uncertain: bool,
    /// Records that other code got.
    pub(super) used: Mask,
    /// Records whose bodies were read.
    pub(super) read: Mask,
    /// Records that other code got after the failure.
    pub(super) used_after: Mask,
    /// Code that read a single record.
    pub(super) first: Option<TextRange>,
    /// Result that the handler passed to its callback.
    pub(super) answer: Option<Result<Value, Value>>,
    /// Loop over records that waits for other machines.
    pub(super) waits: Option<TextRange>,
    /// Loop or function that collects failures.
    pub(super) collects: Option<TextRange>,
    /// Idempotency that is not informed of the end of the invocation.
    pub(super) undated: Option<TextRange>,
    /// Texts that an unknown value was compared with.
    pub(super) compared: Vec<Arc<str>>,
    /// Texts in the requests of writes.
    pub(super) written: Vec<(&'m Expression, Arc<str>)>,
    /// Texts in the command that was created last.
    pub(super) command: Vec<Arc<str>>,
    pub(super) progress: Progress,
    pub(super) requests: Vec<Request>,
    /// Reads and writes of stores, and work, in order.
    pub(super) events: Vec<Event<'m>>,
    /// Keys of records and fields of messages that were read.
    pub(super) reads: Reads,
}

/// The call whose work fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one call")]
pub(super) struct Failure<'m> {
    /// Address of its expression.
    pub(super) site: usize,
    /// `true` if it returns a promise that is rejected later.
    pub(super) is_late: bool,
    pub(super) call: &'m Expression,
    /// `true` if it is a request to a service.
    pub(super) is_request: bool,
    /// `true` if it got the whole event.
    pub(super) has_event: bool,
    /// `true` if it got nothing but the message.
    pub(super) is_simple: bool,
    /// Function of another file, if it got the event or the message first.
    pub(super) function: Option<&'m Arc<str>>,
}

/// Variables and objects.
pub(super) type State<'m> = (Layers<Scope<'m>>, Layers<Object<'m>>);

/// Kinds of choices, since one expression may need several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Choice {
    /// An unknown condition.
    Branch,
    /// Failure of work.
    Fail,
    /// Existence of the record of a conditional write.
    Claim,
}

/// An access to a store, or other work on the message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Event<'m> {
    pub(super) kind: EventKind,
    pub(super) call: &'m Expression,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Expression {}

/// Kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    Read,
    Write,
    /// A conditional write that succeeded.
    Claim,
    /// A conditional write whose record exists.
    ClaimExists,
    Work,
}

/// A call of an asynchronous function, or the handler.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame<'m> {
    pub(super) is_async: bool,
    /// `true` once it waited for something.
    pub(super) is_slow: bool,
    /// Address of the function.
    pub(super) function: usize,
    /// Statements that it runs where it yields.
    pub(super) within: Option<Box<Within<'m>>>,
}

/// Place that is not in the source.
pub(super) static NOWHERE: Expression = Expression {
    kind: Term::Null,
    at: 0..0,
};

impl<'m> Machine<'m> {
    /// Executes the statements of a module outside of functions.
    pub(crate) fn load(module: &'m Module) -> Self {
        let mut machine = Machine {
            module,
            heap: Vec::new().into(),
            scopes: vec![Scope::default()].into(),
            scope: 0,
            this: None,
            home: None,
            yielded: Vec::new(),
            next_within: None,
            pending: None,
            sets: FxHashSet::default(),
            frames: vec![Frame::default()],
            idempotent: Vec::new(),
            caught: Vec::new(),
            decided: FxHashMap::default(),
            choices: Choices::default(),
            is_loading: true,
            steps: 0,
            copied: Cell::new(0),
            depth: 0,
            current: 0,
            records: 0,
            fails_parsing: false,
            failing: 0,
            promised: 0,
            loops: Vec::new(),
            run: Run::default(),
        };
        let exports = machine.object(Vec::new(), 0..0);
        let exported = vec![(Some("exports".into()), exports.clone())];
        let holder = machine.object(exported, 0..0);
        machine.declare("exports", exports);
        machine.declare("module", holder);
        machine.hoist(&module.body);
        for statement in &module.body {
            // A statement that fails leaves its names unknown.
            if machine.statement(statement).is_err() {
                machine.forget_statement(statement);
            }
            machine.steps = 0;
        }
        machine.is_loading = false;
        machine.copied.set(0);
        machine.heap = machine.heap.shared();
        machine.scopes = machine.scopes.shared();
        machine
    }

    fn forget_statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, .. } => {
                if let Some(name) = target.name() {
                    self.declare(name, Value::Unknown(0));
                }
            }
            StatementKind::Class(class) => {
                if let Some(name) = &class.name {
                    self.declare(name, Value::Unknown(0));
                }
            }
            _ => {}
        }
    }

    /// Returns the value of a variable of the module, or of an export.
    pub(super) fn global(&self, name: &str) -> Option<Value> {
        let names = &self.scopes[0].names;
        let exported = names.get("module").and_then(|holder| match holder {
            Value::Object(holder) => match self.entry(*holder, "exports") {
                Some(Value::Object(exports)) => self.entry(exports, name),
                // `module.exports = handler`
                Some(function @ Value::Function(_)) if name == "default" => Some(function),
                _ => None,
            },
            _ => None,
        });
        exported
            .or_else(|| match names.get("exports") {
                Some(Value::Object(exports)) => self.entry(*exports, name),
                _ => None,
            })
            .or_else(|| names.get(name).cloned())
    }

    /// Notes that code which is not understood may decide the path.
    pub(super) fn doubt(&mut self) {
        self.run.is_uncertain |= !self.is_loading;
    }

    /// Returns `true` if a run may have changed variables or objects of the module.
    pub(super) fn has_changed_module(&self) -> bool {
        self.scopes.has_changed() || self.heap.has_changed()
    }

    /// Returns the scope of the code that runs.
    pub(super) fn scope(&self) -> usize {
        self.scope
    }

    /// Runs `body` in an existing scope.
    pub(super) fn within<T>(&mut self, scope: usize, body: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = body(self);
        self.scope = outer;
        result
    }

    /// Counts items that are copied or looked through. Returns `false` if they are too many: the run ends with its next
    /// step, so that the result does not matter.
    pub(super) fn counts(&self, items: usize) -> bool {
        let copied = self.copied.get().saturating_add(items);
        self.copied.set(copied);
        copied <= limits::MAX_COPIED
    }

    /// Creates an object. Equal keys replace each other.
    pub(super) fn add(&mut self, mut object: Object<'m>) -> Id {
        match &mut object {
            Object::List { items, .. } if !self.counts(items.len()) => items.clear(),
            Object::Entries { entries, .. } if !self.counts(entries.len()) => entries.clear(),
            Object::Entries { entries, .. } if entries.len() > 1 => {
                let mut seen = FxHashSet::default();
                let mut at = entries.len();
                let mut is_last = vec![true; at];
                for (key, _) in entries.iter().rev() {
                    at -= 1;
                    is_last[at] = key.is_none() || seen.insert(key.clone());
                }
                let mut kept = is_last.into_iter();
                entries.retain(|_| kept.next().unwrap_or(true));
            }
            _ => {}
        }
        self.heap.push(object);
        self.heap.len() - 1
    }

    pub(super) fn list_id(&mut self, items: Vec<Value>) -> Id {
        let is_open = false;
        self.add(Object::List { items, is_open })
    }

    pub(super) fn list(&mut self, items: Vec<Value>) -> Value {
        Value::List(self.list_id(items))
    }

    pub(super) fn object(&mut self, entries: Vec<(Option<Arc<str>>, Value)>, at: TextRange) -> Value {
        Value::Object(self.add(Object::Entries {
            entries,
            is_open: false,
            class: None,
            at,
        }))
    }

    /// Returns the last value with this key.
    pub(super) fn entry(&self, id: Id, key: &str) -> Option<Value> {
        match &self.heap[id] {
            Object::Entries { entries, .. } => {
                let at = entries.iter().rposition(|(known, _)| known.as_deref() == Some(key))?;
                // An unknown key after it may be the same.
                match entries[at..].iter().find(|(known, _)| known.is_none()) {
                    Some((_, other)) => Some(Value::Unknown(self.mask(&entries[at].1) | self.mask(other))),
                    None => Some(entries[at].1.clone()),
                }
            }
            _ => None,
        }
    }

    /// Returns the records that a value is derived from.
    pub(super) fn mask(&self, value: &Value) -> Mask {
        self.mask_within(value, 4)
    }

    fn mask_within(&self, value: &Value, depth: usize) -> Mask {
        if !self.counts(1) {
            return 0;
        }
        match value {
            Value::Unknown(mask) | Value::Error(_, mask) => *mask & ALL,
            Value::Event => ALL,
            Value::Record(record) | Value::MessageId(record) | Value::ReceiptHandle(record) => bit(*record),
            Value::Failure => self.failing,
            Value::Lazy(id) => match &self.heap[*id] {
                Object::Lazy { mask, .. } => *mask,
                _ => 0,
            },
            _ if depth == 0 => 0,
            Value::List(id) | Value::Object(id) | Value::Json(id) | Value::Promise(id) => {
                let deeper = |value: &Value| self.mask_within(value, depth - 1);
                match &self.heap[*id] {
                    Object::List { items, .. } => items.iter().map(deeper).fold(0, |all, one| all | one),
                    Object::Entries { entries, .. } => {
                        let values = entries.iter().map(|(_, value)| deeper(value));
                        values.fold(0, |all, one| all | one)
                    }
                    Object::Promise { result, .. } => match result {
                        Ok(value) | Err(value) => deeper(value),
                    },
                    _ => 0,
                }
            }
            _ => 0,
        }
    }

    pub(super) fn masks(&self, values: &[Value]) -> Mask {
        values
            .iter()
            .map(|value| self.mask(value))
            .fold(0, |all, one| all | one)
    }

    /// Counts a step and enters a nested construct. [`leave`](Self::leave) follows if it succeeds.
    pub(super) fn enter(&mut self) -> Executed {
        self.steps += 1;
        if self.steps > limits::MAX_RUN_STEPS || !self.counts(0) || self.depth >= limits::MAX_EXECUTION_DEPTH {
            return Err(Flow::Stop);
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Chooses an option for an unknown condition: once for the messages before the failure, and once after it.
    pub(super) fn choose(&mut self, site: &Expression, options: usize) -> usize {
        self.chosen(Choice::Branch, site, options)
    }

    pub(super) fn chosen(&mut self, choice: Choice, site: &Expression, options: usize) -> usize {
        if self.is_loading {
            return 0;
        }
        let is_after = choice == Choice::Branch && self.run.failed.is_some();
        let site = (choice, std::ptr::from_ref(site) as usize, is_after);
        if let Some(chosen) = self.decided.get(&site) {
            return *chosen;
        }
        let chosen = self.choices.next(options);
        self.decided.insert(site, chosen);
        chosen
    }

    /// Returns the value as a condition, or `None` if it is unknown.
    pub(super) fn known_truth(&self, value: &Value) -> Option<bool> {
        Some(match value {
            Value::Unknown(_) | Value::Variable(_) | Value::Event => return None,
            Value::Null | Value::Nil => false,
            Value::Bool(value) => *value,
            Value::Number(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(id) => match &self.heap[*id] {
                Object::List { .. } if self.module.is_script => true,
                Object::List { items, is_open: false } => !items.is_empty(),
                // The items that are not known may be none.
                Object::List { items, .. } if items.iter().any(|item| !matches!(item, Value::Unknown(_))) => true,
                _ => return None,
            },
            Value::Object(id) => match &self.heap[*id] {
                _ if self.module.is_script => true,
                Object::Entries { class: Some(class), .. } => {
                    return (!self.has_own_truth(*class)).then_some(true);
                }
                Object::Entries { entries, .. } if !entries.is_empty() => true,
                Object::Entries { is_open: false, .. } => false,
                _ => return None,
            },
            _ => true,
        })
    }

    /// Returns `true` if instances of a class of Python may be false.
    fn has_own_truth(&self, class: Id) -> bool {
        let decides = |class: &Class| {
            class.body.iter().any(|member| {
                matches!(&member.kind, StatementKind::Function(function)
                    if matches!(function.name.as_deref(), Some("__bool__" | "__len__")))
            })
        };
        self.has_unknown_base(class) || self.any_class(class, &decides)
    }

    /// Returns the truth of a value as a condition.
    pub(super) fn truth(&mut self, value: &Value, site: &'m Expression) -> Result<bool, Flow> {
        self.run.is_impossible |= self.is_late(value);
        self.note_tested(value);
        if let Some(known) = self.known_truth(value) {
            return Ok(known);
        }
        self.run.progress.decided = self.mask(value);
        for name in ["__bool__", "__len__"] {
            if let Some(method) = self.instance_method(value, name) {
                let result = self.invoke(&method, Arguments::default(), site)?;
                return Ok(match self.known_truth(&result) {
                    Some(known) => known,
                    None => self.choose(site, 2) == 0,
                });
            }
        }
        Ok(self.choose(site, 2) == 0)
    }

    // Variables

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
                self.note_changed(of);
                self.run.used |= mask;
                self.run.is_parked |= self.run.failed.is_some() && mask & self.failing != 0;
            }
        }
    }
}
