//! Collects the calls of a file with the loops and timers that contain them, and reads their arguments.

use super::constants::{Constant, Constants, Undetermined, entry};
use super::{PolledQueue, Time, milliseconds, queue_of};
use crate::read::syntax::{Class, Expression, Function, Module, Statement, StatementKind, Term, TextRange};
use crate::words::{is_harmless, says_log};
use rustc_hash::FxHashSet;

/// Calls that receive messages, by their last name.
pub(super) const RECEIVES: [&str; 4] = [
    "ReceiveMessageCommand",
    "receiveMessage",
    "receive_message",
    "receive_messages",
];
/// Calls that change a message's visibility timeout.
const RENEWALS: [&str; 4] = [
    "ChangeMessageVisibilityCommand",
    "changeMessageVisibility",
    "change_message_visibility",
    "change_visibility",
];
const MANY_RENEWALS: [&str; 3] = [
    "ChangeMessageVisibilityBatchCommand",
    "changeMessageVisibilityBatch",
    "change_message_visibility_batch",
];
/// Calls that delete messages.
pub(super) const DELETIONS: [&str; 8] = [
    "DeleteMessageBatchCommand",
    "DeleteMessageCommand",
    "delete",
    "deleteMessage",
    "deleteMessageBatch",
    "delete_message",
    "delete_message_batch",
    "delete_messages",
];
/// Calls, in addition to the harmless ones, that take no time.
const IMMEDIATE: [&str; 8] = [
    "add", "append", "client", "exit", "extend", "getenv", "push", "resource",
];
/// Calls that only move a message to another queue.
pub(super) const SENDS: [&str; 6] = [
    "SendMessageBatchCommand",
    "SendMessageCommand",
    "sendMessage",
    "sendMessageBatch",
    "send_message",
    "send_message_batch",
];

/// A call and its context.
pub(crate) struct Call<'m> {
    pub(crate) expression: &'m Expression,
    /// Innermost named function that contains it.
    pub(super) function: Option<&'m str>,
    /// Innermost loop or timer that contains it.
    period: Option<usize>,
}

impl Call<'_> {
    pub(super) fn name(&self) -> &str {
        match &self.expression.kind {
            Term::Call { callee, .. } => callee.last_name().unwrap_or_default(),
            _ => "",
        }
    }

    /// Returns `true` unless the call is known to return at once.
    fn takes_time(&self) -> bool {
        match &self.expression.kind {
            Term::Call { callee, .. } => takes_time(callee, self.expression),
            _ => false,
        }
    }
}

/// Returns `true` unless the call of `callee` is known to return at once.
pub(super) fn takes_time(callee: &Expression, call: &Expression) -> bool {
    let name = callee.last_name().unwrap_or_default();
    let is_failure = name.ends_with("Error") || name.ends_with("Exception");
    !is_failure && !IMMEDIATE.contains(&name) && !is_harmless(callee) && !call.says(&SENDS)
}

/// Returns `true` if `call` is a request to SQS, other than a `delete` that may be any other.
pub(super) fn is_of_sqs(call: &Expression) -> bool {
    let deletions = DELETIONS.iter().filter(|name| **name != "delete");
    let all = RECEIVES.iter().chain(&RENEWALS).chain(&MANY_RENEWALS).chain(deletions);
    let all: Vec<&str> = all.copied().collect();
    call.says(&all)
}

/// A loop without items, or the callback of a timer.
#[derive(Default)]
struct Period<'m> {
    /// Pauses; a timer has one.
    pauses: Vec<&'m Expression>,
    /// Last names of the functions that it calls.
    called: Vec<&'m str>,
}

/// The calls and constants of a file.
#[derive(Default)]
pub(crate) struct Calls<'m> {
    pub(crate) constants: Constants<'m>,
    pub(crate) all: Vec<Call<'m>>,
    /// Ranges of the awaited expressions.
    awaited: FxHashSet<TextRange>,
    /// Assignments of settings, with the last name of their targets.
    pub(crate) settings: Vec<(&'m str, &'m Expression)>,
    /// Calls whose results are dropped or assigned, with the variable.
    results: Vec<(&'m Expression, Option<&'m str>)>,
    /// Names that other code than a log reads.
    used: FxHashSet<&'m str>,
    periods: Vec<Period<'m>>,
    function: Option<&'m str>,
    period: Option<usize>,
}

/// Renewal of visibility timeouts in a file.
pub(crate) enum FileRenewal {
    Never,
    Heartbeat(Time, Time),
    Unknown,
}

impl<'m> Calls<'m> {
    pub(crate) fn of(module: &'m Module) -> Self {
        let mut calls = Calls::default();
        calls.statements(&module.body);
        calls
    }

    fn statements(&mut self, all: &'m [Statement]) {
        for statement in all {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'m Statement) {
        match &statement.kind {
            StatementKind::Expression(value) => {
                self.results.push((call_of(value), None));
                self.expression(value);
            }
            StatementKind::Return(value) | StatementKind::Raise(value) => self.optional(value.as_ref()),
            StatementKind::Assign { target, value, .. } => {
                self.assign(target, value);
                if let Some(name) = target.name() {
                    self.results.push((call_of(value), Some(&**name)));
                } else {
                    self.expression(target);
                }
                self.expression_named(target.last_name(), value);
            }
            StatementKind::Loop(one) => {
                if let Some(target) = &one.target {
                    self.constants.bind(target, None);
                }
                self.optional(one.over.as_ref());
                let outer = self.period;
                if one.over.is_none() {
                    self.period = Some(self.periods.len());
                    self.periods.push(Period::default());
                }
                self.optional(one.test.as_ref());
                self.optional(one.step.as_ref());
                self.statements(&one.body);
                self.period = outer;
                self.statements(&one.otherwise);
            }
            StatementKind::If { test, yes, no } => {
                self.expression(test);
                self.statements(yes);
                self.statements(no);
            }
            StatementKind::Switch { subject, cases, .. } => {
                self.expression(subject);
                for case in cases {
                    case.tests.iter().flatten().for_each(|test| self.expression(test));
                    self.statements(&case.body);
                }
            }
            StatementKind::Try {
                body,
                catches,
                otherwise,
                last,
            } => {
                self.statements(body);
                for catch in catches {
                    if let Some(target) = &catch.target {
                        self.constants.bind(target, None);
                    }
                    self.statements(&catch.body);
                }
                self.statements(otherwise);
                self.statements(last);
            }
            StatementKind::With(values, body) => {
                for (value, target) in values {
                    self.expression(value);
                    if let Some(target) = target {
                        self.constants.bind(target, None);
                    }
                }
                self.statements(body);
            }
            StatementKind::Block(body) => self.statements(body),
            StatementKind::Function(function) => self.function(function),
            StatementKind::Class(class) => self.class(class),
            StatementKind::Import(names) => names.iter().for_each(|name| self.constants.bind_name(name)),
            StatementKind::Break(_) | StatementKind::Continue(_) | StatementKind::Field(_) | StatementKind::Nothing => {
            }
        }
    }

    fn assign(&mut self, target: &'m Expression, value: &'m Expression) {
        self.constants.bind(target, Some(value));
        if let Some(name) = target.last_name() {
            self.settings.push((name, value));
        }
    }

    fn optional(&mut self, value: Option<&'m Expression>) {
        if let Some(value) = value {
            self.expression(value);
        }
    }

    /// Enters `value`, which is bound to `name`: a function gets that name.
    fn expression_named(&mut self, name: Option<&'m str>, value: &'m Expression) {
        match &value.kind {
            Term::Function(function) if function.name.is_none() => self.body(name, function),
            _ => self.expression(value),
        }
    }

    fn expression(&mut self, value: &'m Expression) {
        match &value.kind {
            Term::Function(function) => self.function(function),
            Term::Class(class) => self.class(class),
            Term::Object(entries) => {
                for (key, value) in entries {
                    self.expression_named(key.as_deref(), value);
                }
            }
            Term::Name(name) => _ = self.used.insert(name),
            Term::Call { callee, arguments, .. } if says_log(callee) || callee.last_name() == Some("print") => {
                let used = std::mem::take(&mut self.used);
                self.call(value, callee, arguments);
                value.parts().into_iter().for_each(|part| self.expression(part));
                self.used = used;
            }
            Term::Call { callee, arguments, .. } => {
                self.call(value, callee, arguments);
                let timer = (callee.last_name() == Some("setInterval"))
                    .then(|| arguments.get(1))
                    .flatten();
                let Some(every) = timer else {
                    value.parts().into_iter().for_each(|part| self.expression(part));
                    return;
                };
                let outer = self.period.replace(self.periods.len());
                let called = arguments.first().and_then(Expression::last_name).into_iter().collect();
                self.periods.push(Period {
                    pauses: vec![every],
                    called,
                });
                for part in arguments {
                    self.expression(part);
                }
                self.period = outer;
            }
            Term::Await(inner) => {
                self.awaited.insert(inner.at.clone());
                self.expression(inner);
            }
            Term::Assign { target, .. } => {
                self.constants.bind(target, None);
                value.parts().into_iter().for_each(|part| self.expression(part));
            }
            _ => value.parts().into_iter().for_each(|part| self.expression(part)),
        }
    }

    fn call(&mut self, call: &'m Expression, callee: &'m Expression, arguments: &'m [Expression]) {
        self.all.push(Call {
            expression: call,
            function: self.function,
            period: self.period,
        });
        let (Some(name), Some(period)) = (callee.last_name(), self.period) else {
            return;
        };
        let period = &mut self.periods[period];
        period.called.push(name);
        if matches!(name, "sleep" | "wait") {
            let pause = arguments.first().or_else(|| named(call, "timeout"));
            period.pauses.push(pause.unwrap_or(call));
        }
    }

    fn function(&mut self, function: &'m Function) {
        self.body(function.name.as_deref(), function);
    }

    fn body(&mut self, name: Option<&'m str>, function: &'m Function) {
        let outer = self.function;
        self.function = name.or(outer);
        function.decorators.iter().for_each(|one| self.expression(one));
        for parameter in &function.parameters {
            self.constants.bind(&parameter.pattern, None);
            self.optional(parameter.default.as_ref());
        }
        // A named function runs when it is called, not in the loop that defines it.
        let period = if name.is_some() {
            self.period.take()
        } else {
            self.period
        };
        self.statements(&function.body);
        if name.is_some() {
            self.period = period;
        }
        self.function = outer;
    }

    fn class(&mut self, class: &'m Class) {
        self.statements(&class.body);
    }

    /// Returns `true` if a function receives messages, outside of a loop without items, then works, and then deletes a
    /// message. In JavaScript, work is awaited.
    pub(crate) fn works_before_deletion(&self, is_script: bool) -> bool {
        let mut receives = self
            .all
            .iter()
            .filter(|call| RECEIVES.contains(&call.name()) && call.period.is_none());
        receives.any(|receive| {
            let later = |call: &&Call<'m>| {
                call.function == receive.function && call.expression.at.start >= receive.expression.at.end
            };
            let mut deletions = self
                .all
                .iter()
                .filter(later)
                .filter(|call| DELETIONS.contains(&call.name()));
            let works = |call: &Call<'m>, end| {
                let at = &call.expression.at;
                at.end <= end && call.takes_time() && (!is_script || self.awaited.contains(at))
            };
            deletions.next().is_some_and(|deletion| {
                let end = deletion.expression.at.start;
                self.all.iter().filter(later).any(|call| works(call, end))
            })
        })
    }

    /// Returns the calls whose results nothing but a log reads.
    pub(crate) fn unused_results(self) -> Vec<&'m Expression> {
        let is_unused = |name: Option<&str>| name.is_none_or(|name| !self.used.contains(name));
        let unused = self.results.iter().filter(|(_, name)| is_unused(*name));
        unused.map(|(call, _)| *call).collect()
    }

    pub(super) fn is_awaited(&self, call: &Expression) -> bool {
        self.awaited.contains(&call.at)
    }

    /// Returns how the file renews visibility timeouts. Setting 0 only returns a message.
    pub(crate) fn heartbeat(&self, is_script: bool) -> FileRenewal {
        let mut known: Option<(Time, Time)> = None;
        for call in &self.all {
            let Term::Call { callee, .. } = &call.expression.kind else {
                continue;
            };
            let name = callee.last_name().unwrap_or_default();
            if MANY_RENEWALS.contains(&name) {
                return FileRenewal::Unknown;
            }
            if !RENEWALS.contains(&name) {
                continue;
            }
            let value = Options::of(&self.constants, call.expression)
                .and_then(|options| options.any("VisibilityTimeout").ok()?);
            let number = value.and_then(|value| Some((self.constants.number(value)?, value)));
            let Some((seconds, value)) = number else {
                return FileRenewal::Unknown;
            };
            if seconds == 0.0 {
                continue;
            }
            let renewed = self.every(call, is_script).zip(time(seconds, 1000.0, &value.at));
            match renewed {
                Some(renewed) if known.is_none() => known = Some(renewed),
                _ => return FileRenewal::Unknown,
            }
        }
        known.map_or(FileRenewal::Never, |(every, extend_to)| {
            FileRenewal::Heartbeat(every, extend_to)
        })
    }

    /// Returns the time between two executions of `call`, if it is in a timer, in a loop with one pause that receives
    /// nothing, or in a function that only one of these calls.
    fn every(&self, call: &Call<'m>, is_script: bool) -> Option<Time> {
        let period = match (call.period, call.function) {
            (Some(at), _) => &self.periods[at],
            (None, Some(function)) => {
                let mut callers = self.periods.iter().filter(|period| period.called.contains(&function));
                callers.next().filter(|_| callers.next().is_none())?
            }
            (None, None) => return None,
        };
        let [pause] = period.pauses.as_slice() else { return None };
        if period.called.iter().any(|name| RECEIVES.contains(name)) {
            return None;
        }
        let unit = if is_script { 1.0 } else { 1000.0 };
        time(self.constants.number(pause)?, unit, &pause.at)
    }
}

/// Returns the call in `await call` or `call.promise()`.
fn call_of(value: &Expression) -> &Expression {
    match &value.kind {
        Term::Await(inner) => call_of(inner),
        Term::Call { callee, .. } => match &callee.kind {
            Term::Member(of, name) if &**name == "promise" => of,
            _ => value,
        },
        _ => value,
    }
}

fn time(number: f64, unit: f64, at: &TextRange) -> Option<Time> {
    Some((milliseconds(number, unit)?, at.clone()))
}

pub(super) fn named<'m>(call: &'m Expression, key: &str) -> Option<&'m Expression> {
    match &call.kind {
        Term::Call { named, .. } => entry(named, key).ok().flatten(),
        _ => None,
    }
}

/// The named arguments of a call, or the object that is its only argument.
pub(crate) struct Options<'c, 'm> {
    constants: &'c Constants<'m>,
    entries: &'m [(Option<std::sync::Arc<str>>, Expression)],
}

impl<'c, 'm> Options<'c, 'm> {
    pub(crate) fn of(constants: &'c Constants<'m>, call: &'m Expression) -> Option<Self> {
        let Term::Call { arguments, named, .. } = &call.kind else {
            return None;
        };
        let entries = match (arguments.as_slice(), named.as_slice()) {
            ([], named) => named,
            ([first, ..], []) => match constants.resolve(first) {
                Constant::Compound(Expression {
                    kind: Term::Object(entries),
                    ..
                }) => entries,
                _ => return None,
            },
            _ => return None,
        };
        Some(Options { constants, entries })
    }

    /// Returns the value of `key`, `Some(None)` if it is absent, and `None` if it is unknown.
    pub(crate) fn any(&self, key: &str) -> Result<Option<&'m Expression>, Undetermined> {
        entry(self.entries, key)
    }

    pub(crate) fn queue(&self, key: &str) -> Option<PolledQueue> {
        queue_of(self.constants.resolve(self.any(key).ok()??))
    }

    /// Returns the duration `key` in milliseconds, `None` if it is absent, or an error if it is unknown.
    pub(crate) fn time(&self, key: &str, unit: f64) -> Result<Option<Time>, Undetermined> {
        if self.constants.is_assigned(key) {
            return Err(Undetermined);
        }
        let Some(value) = self.any(key)? else {
            return Ok(None);
        };
        let number = self.constants.number(value).ok_or(Undetermined)?;
        time(number, unit, &value.at).map(Some).ok_or(Undetermined)
    }
}

/// Returns the options of `call` if `is_it` accepts its callee.
pub(crate) fn options_of<'c, 'm>(
    constants: &'c Constants<'m>,
    call: &'m Expression,
    is_it: impl Fn(&Expression, bool) -> bool,
) -> Option<Options<'c, 'm>> {
    let Term::Call { callee, is_new, .. } = &call.kind else {
        return None;
    };
    is_it(callee, *is_new).then(|| Options::of(constants, call)).flatten()
}

/// A receive of messages.
pub(crate) struct Receive {
    pub(crate) queue: PolledQueue,
    pub(crate) at: TextRange,
    /// Visibility timeout that it sets.
    pub(crate) visibility: Result<Option<Time>, Undetermined>,
    /// Largest number of messages; `None` if it is unknown.
    pub(crate) most: Option<(i64, TextRange)>,
}

/// Returns the receive that `call` performs: `None` if it performs none, and an error if it is unknown.
pub(crate) fn receive(constants: &Constants<'_>, call: &Expression) -> Option<Result<Receive, Undetermined>> {
    let Term::Call { callee, .. } = &call.kind else {
        return None;
    };
    let name = callee.last_name().filter(|name| RECEIVES.contains(name))?;
    let read = || {
        let options = Options::of(constants, call)?;
        let queue = if name == "receive_messages" {
            queue_resource(constants, callee)?
        } else {
            options.queue("QueueUrl")?
        };
        let most = options.any("MaxNumberOfMessages").ok().flatten();
        Some(Receive {
            queue,
            at: call.at.clone(),
            visibility: options.time("VisibilityTimeout", 1000.0),
            most: most.and_then(|most| Some((milliseconds(constants.number(most)?, 1.0)?, most.at.clone()))),
        })
    };
    Some(read().ok_or(Undetermined))
}

/// Returns the queue of boto3's resource: `sqs.Queue(url).receive_messages()`.
fn queue_resource(constants: &Constants<'_>, callee: &Expression) -> Option<PolledQueue> {
    let Term::Member(of, _) = &callee.kind else { return None };
    let Constant::Compound(made) = constants.resolve(of) else {
        return None;
    };
    let Term::Call { callee, arguments, .. } = &made.kind else {
        return None;
    };
    let value = match callee.last_name()? {
        "Queue" => arguments.first().or_else(|| named(made, "url"))?,
        "get_queue_by_name" => named(made, "QueueName")?,
        _ => return None,
    };
    queue_of(constants.resolve(value))
}
