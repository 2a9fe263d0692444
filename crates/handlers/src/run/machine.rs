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
use super::values::{ALL, Choices, Executed, Flow, Id, Mask, Object, Scope, Value, bit};
use crate::limits;
use crate::read::syntax::{Class, Expression, Module, Statement, StatementKind, Term, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::sync::Arc;

/// State of one run.
#[derive(Debug, Clone)]
pub(crate) struct Machine<'m> {
    pub(super) module: &'m Module,
    pub(super) heap: Layers<Object<'m>>,
    pub(super) scopes: Layers<Scope<'m>>,
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
    /// `true` if the code that is called next is of another file of the repository.
    pub(super) calls_own: bool,
    /// Members of unknown objects that the code replaces with functions.
    pub(super) replaced: FxHashSet<Arc<str>>,
    /// Promises that `new Promise(…)` created and nothing has settled.
    pub(super) unsettled: FxHashSet<Id>,
    /// Lists that are sets.
    pub(super) sets: FxHashSet<Id>,
    pub(super) frames: Vec<Frame<'m>>,
    /// Calls that make functions from elsewhere idempotent.
    pub(super) idempotent: Vec<&'m Expression>,
    /// Exceptions that `catch` blocks handle, innermost last.
    pub(super) caught: Vec<Value>,
    pub(super) decided: FxHashMap<(Choice, usize, bool), usize>,
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
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Run<'m> {
    /// Call that failed; it fails again for the same message.
    pub(super) failed: Option<Failure<'m>>,
    /// Promise of a call that fails late.
    pub(super) late: Option<Id>,
    /// `true` if the promise of that call is used as one.
    pub(super) is_task: bool,
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
    /// `true` if it may also raise an exception at once.
    pub(super) may_be_early: bool,
    pub(super) call: &'m Expression,
    /// `true` if it is a request to a service.
    pub(super) is_request: bool,
    /// `true` if code of another file of the repository runs it, which may handle the failure.
    pub(super) is_own: bool,
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
            calls_own: false,
            replaced: FxHashSet::default(),
            unsettled: FxHashSet::default(),
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
            // Lambda sets it.
            Value::Variable(name) if name.starts_with("AWS_LAMBDA_FUNCTION_") => true,
            Value::Unknown(_) | Value::Variable(_) => return None,
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
}
