//! Values of the abstract interpreter.

use super::calls::Arguments;
use crate::read::syntax::{Class, Clause, Expression, Function, TextRange};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// Set of the records that a value is derived from, one bit each.
pub(super) type Mask = u8;

/// Bit of an unknown value from a file of the repository that was not read.
pub(super) const OWN: Mask = 1 << 7;

/// Mask of all records of a batch.
pub(super) const ALL: Mask = 0b111;

/// Returns the mask of a record.
pub(super) fn bit(record: usize) -> Mask {
    1 << record
}

/// Index of an object in the heap.
pub(super) type Id = usize;

/// A value during the execution of a handler.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Any value; the records that it may contain.
    Unknown(Mask),
    /// `None`, or `undefined`.
    Null,
    /// `null` of JavaScript.
    Nil,
    Bool(bool),
    Number(f64),
    Text(Arc<str>),
    /// Event that Lambda passes to the handler.
    Event,
    /// Callback that Lambda passes to a handler in JavaScript.
    Callback,
    /// Context of the invocation in JavaScript, whose methods end it.
    Context,
    Record(usize),
    MessageId(usize),
    /// Receipt handle of a record, which identifies no message in a response.
    ReceiptHandle(usize),
    /// Exception of the work that fails.
    Failure,
    /// Exception of a conditional write whose record exists.
    Claimed,
    /// Exception that the code creates, with its class.
    Error(Option<Arc<str>>, Mask),
    /// Exception that ends the process.
    Exit,
    /// JSON of an object.
    Json(Id),
    /// Client of an AWS service.
    Client,
    /// Environment variables of the process.
    Environment,
    /// Value of an environment variable.
    Variable(Arc<str>),
    /// `contextlib.suppress` of all exceptions, or of some.
    Suppress(bool),
    /// A list, a tuple or a set.
    List(Id),
    /// A dictionary, an object or an instance of a class.
    Object(Id),
    Function(Id),
    /// A function from elsewhere that Powertools makes idempotent, as an index of calls.
    Idempotent(usize),
    Class(Id),
    /// The members that the bases of a class have, for an instance.
    Super(Id, Box<Value>),
    /// Values that are made when they are used.
    Lazy(Id),
    /// A promise, a coroutine, a task or a future.
    Promise(Id),
    /// The function that fulfils a promise, or with `false` the one that rejects it.
    Settle(Id, bool),
    /// Batch processor of Powertools for AWS Lambda.
    Processor(Id),
}

impl Value {
    /// Returns `true` for a value from a file of the repository that was not read.
    pub(super) fn is_own(&self) -> bool {
        matches!(self, Value::Unknown(mask) if mask & OWN != 0)
    }

    /// Returns the value without what is known of it beyond its records.
    pub(super) fn opaque(self) -> Value {
        match self {
            Value::Variable(_) => Value::Unknown(0),
            other => other,
        }
    }
}

/// An object in the heap.
#[derive(Debug, Clone)]
pub(super) enum Object<'m> {
    List {
        items: Vec<Value>,
        /// `true` if there may be other items.
        is_open: bool,
    },
    /// A dictionary, an object or an instance.
    Entries {
        /// Values with their keys; a computed key is unknown.
        entries: Vec<(Option<Arc<str>>, Value)>,
        /// `true` if there may be other entries.
        is_open: bool,
        class: Option<Id>,
        /// Expression that created it.
        at: TextRange,
    },
    Function(Closure<'m>),
    Class {
        class: &'m Class,
        scope: usize,
        /// Bases; `None` for one of another file.
        bases: Vec<Option<Id>>,
        /// Object with the values that all instances share.
        statics: Id,
    },
    Lazy {
        /// `None` once they were made.
        scheduled: Option<Scheduled<'m>>,
        mask: Mask,
        /// Records that the code works on that created it.
        current: Mask,
    },
    Promise {
        result: Result<Value, Value>,
        /// `true` if some code waits for the result or takes it over.
        is_observed: bool,
        /// `true` if it settles after the code that created it continues.
        is_slow: bool,
        at: TextRange,
    },
    Processor {
        /// Identifiers of failed messages.
        failures: Id,
        is_fifo: bool,
        /// `true` if it raises an exception when all messages failed.
        may_raise: bool,
        at: TextRange,
    },
}

/// A function with the variables around it.
#[derive(Debug, Clone)]
pub(super) struct Closure<'m> {
    pub(super) function: &'m Arc<Function>,
    pub(super) scope: usize,
    pub(super) this: Option<Value>,
    /// Class that defines the method.
    pub(super) home: Option<Id>,
    /// Arguments that precede those of a call.
    pub(super) given: Arguments,
    /// Decorators and wrappers from other files.
    pub(super) around: Vec<&'m Expression>,
    /// Functions that get the failure of a handler of middy.
    pub(super) on_error: Vec<Value>,
}

impl<'m> Closure<'m> {
    pub(super) fn of(function: &'m Arc<Function>) -> Self {
        Closure {
            function,
            scope: 0,
            this: None,
            home: None,
            given: Arguments::default(),
            around: Vec::new(),
            on_error: Vec::new(),
        }
    }
}

/// Values that are made when they are used.
#[derive(Debug, Clone)]
pub(super) enum Scheduled<'m> {
    /// Results of a function for the items of a collection.
    Mapped(Value, Value, &'m Expression),
    /// Items for which a function returns a true value.
    Filtered(Value, Value, &'m Expression),
    /// A generator expression, whose first collection is known.
    Each {
        clauses: &'m [Clause],
        made: &'m Expression,
        first: Value,
        scope: usize,
        this: Option<Value>,
    },
    /// A call of a generator.
    Called(Closure<'m>, Arguments, &'m Expression),
}

/// Variables of a block or function.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope<'m> {
    pub(super) parent: Option<usize>,
    pub(super) names: IndexMap<Arc<str>, Value, FxBuildHasher>,
    /// Function whose body it is; `None` for a block.
    pub(super) function: Option<&'m Function>,
}

/// End of a statement other than its normal one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Flow {
    Raise(Value),
    Return(Value),
    Break(Option<Arc<str>>),
    Continue(Option<Arc<str>>),
    /// The process ends.
    Exit,
    /// The path ends: a loop does not.
    Endless,
    /// The analysis ends.
    Stop,
}

/// Result of an expression.
pub(super) type Evaluated = Result<Value, Flow>;
/// Result of a statement.
pub(super) type Executed = Result<(), Flow>;

/// Decisions about unknown conditions: each run of a handler follows one path, and the next run another one.
#[derive(Debug, Clone, Default)]
pub(super) struct Choices {
    /// Chosen option and number of options, in the order of execution.
    trail: Vec<(usize, usize)>,
    at: usize,
}

impl Choices {
    /// Returns the option to follow.
    pub(super) fn next(&mut self, options: usize) -> usize {
        if self.at == self.trail.len() {
            self.trail.push((0, options));
        }
        self.at += 1;
        self.trail[self.at - 1].0
    }

    /// Selects the next path; returns `false` after the last one.
    pub(super) fn advance(&mut self) -> bool {
        self.trail.truncate(self.at);
        self.at = 0;
        while let Some((chosen, options)) = self.trail.last_mut() {
            *chosen += 1;
            if *chosen < *options {
                return true;
            }
            self.trail.pop();
        }
        false
    }
}
