//! Runs a handler on a batch of three messages along every path, and derives facts from the outcomes.
//!
//! The work on the second message fails in each place where it may. A fact needs all paths: `swallowed` if the failed
//! message is deleted on each of them. A handler with too many paths has no facts.

use super::claims::{pays, unconditional_write, unreleased_claim, unreleased_status};
use super::left;
use super::machine::{Failure, Machine, NOWHERE, Run};
use super::outcomes::{
    caught_call, deletes_messages, is_awaited, is_never_awaited, named_call, never_run, outcome_of, records, uses,
    without_impossible,
};
use super::reads::{HandlerReads, reads};
use super::responses::{
    continues, dropped, failures, first_only, misplaced, never_started, processor, response, unmarshalable,
};
use super::services;
use super::stores;
use super::values::{Choices, Flow, Mask, Object, Value, bit};
use crate::facts::{Defect, Outcome, PolledQueue};
use crate::find::locate::Made;
use crate::limits;
use crate::read::syntax::{Expression, Function, Module, Statement, StatementKind, Term, TextRange};
use crate::words::{FAILURES, MIDDLEWARE, is_transparent};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Functions that return the remaining time of the invocation.
pub(super) const CLOCKS: [&str; 2] = ["getRemainingTimeInMillis", "get_remaining_time_in_millis"];

/// Libraries that delete the messages that were processed.
const DELETES: [&str; 2] = ["PartialSQSProcessor", "sqs_batch_processor"];

/// Code that names failed messages in a form that Lambda does not read, and the reason.
pub(crate) type Malformed = (TextRange, String);

/// Response of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Response {
    Failures(TextRange),
    /// An empty list of failures.
    Empty,
    Nothing,
    Unknown,
}

/// Facts about a handler.
#[derive(Debug)]
pub(crate) struct Facts<'m> {
    pub(crate) function: &'m Arc<Function>,
    pub(crate) outcome: Outcome,
    pub(crate) response: Response,
    pub(crate) malformed: Option<Malformed>,
    /// Failed messages in a place of the response that Lambda does not read.
    pub(crate) misplaced: Option<Malformed>,
    pub(crate) swallowed: Option<TextRange>,
    pub(crate) unawaited: Option<TextRange>,
    pub(crate) first_only: Option<TextRange>,
    pub(crate) continues: Option<(TextRange, Option<&'static str>)>,
    pub(crate) undated: Option<TextRange>,
    pub(crate) unconditional_write: Option<TextRange>,
    /// `true` if a payment or a message to a person is between the read and the write.
    pub(crate) pays_unconditionally: bool,
    pub(crate) unreleased_claim: Option<TextRange>,
    pub(crate) untimed: Option<TextRange>,
    pub(crate) defects: Vec<(Defect, TextRange)>,
    /// Response that Lambda cannot convert to JSON, and what is in it.
    pub(crate) unmarshalable: Option<(TextRange, &'static str)>,
    /// `true` if no path returns another one.
    pub(crate) is_never_converted: bool,
    /// Queues that it sends to, and, with `true`, those that it polls instead of reading its event.
    pub(crate) queues: Vec<(PolledQueue, TextRange, bool)>,
    /// `true` if it deletes processed messages itself.
    pub(crate) deletes: bool,
    /// Imported functions that decide the rest: one gets the event, and its result is returned, or each gets messages.
    pub(crate) delegates: Vec<(Arc<str>, Made)>,
    /// Functions of other files of the repository whose failure decides the outcome.
    pub(crate) own: BTreeSet<Arc<str>>,
    /// Fate of a message that is alone in its batch.
    pub(crate) outcome_alone: Outcome,
    /// Request whose failure is caught, if other work may raise an exception.
    pub(crate) caught_call: Option<(Arc<str>, TextRange)>,
    /// Keys of records and fields of messages that it reads.
    pub(crate) reads: HandlerReads,
}

/// Paths, and whether they are all.
pub(super) type Explored<'m> = (Vec<Path<'m>>, bool);

/// A path.
#[derive(Debug)]
pub(super) struct Path<'m> {
    pub(super) run: Run<'m>,
    /// Fate of the failed message; `None` if nothing failed.
    pub(super) outcome: Option<Outcome>,
    pub(super) response: Option<Response>,
    pub(super) malformed: Option<Malformed>,
    pub(super) misplaced: Option<Malformed>,
    pub(super) unawaited: Option<TextRange>,
    /// Response that Lambda cannot convert to JSON, and what is in it.
    pub(super) unmarshalable: Option<(TextRange, &'static str)>,
    pub(super) processor: Option<TextRange>,
    /// Generator over the messages that nothing has run.
    pub(super) never_run: Option<TextRange>,
    /// `true` if some code waits for the failed call, which therefore returns a promise.
    pub(super) is_awaited: bool,
    /// `true` if the handler returned normally.
    pub(super) has_returned: bool,
    /// Records in the returned value.
    pub(super) returned: Mask,
    /// Records that the response names; `None` if they are unknown.
    pub(super) named: Option<Mask>,
}

/// Analyses the handler called `name`, or made of it; `None` if it is not in the module that is `loaded`.
pub(crate) fn facts<'m>(loaded: &Machine<'m>, name: &str, made: Made, source: &str) -> Option<Facts<'m>> {
    let (mut entry, machine) = match made {
        Made::ByCall => Entry::made_by(loaded, name),
        Made::Here | Made::Wrapped | Made::OfMessage(_) => Entry::of(loaded, name),
    }?;
    match made {
        Made::Wrapped => entry.around.push(&NOWHERE),
        Made::OfMessage(_) => entry.is_of_message = true,
        Made::Here | Made::ByCall => {}
    }
    Some(entry.facts(&machine, source))
}

/// Returns where `handler`, which gets a message of a library, or several, hides a failure of its work on each path. The
/// library then deletes the message, unless the function returns an empty object.
pub(crate) fn hides_failures<'m>(module: &'m Module, handler: &'m Expression, gets_all: bool) -> Option<TextRange> {
    let mut machine = Machine::load(module);
    let value = machine.evaluate(handler).ok()?;
    let (mut entry, machine) = Entry::with(machine, value)?;
    entry.is_of_message = !gets_all;
    entry.is_of_library = true;
    let facts = entry.facts(&machine, "");
    let is_always = facts.caught_call.is_none();
    facts.unawaited.or(facts.swallowed.filter(|_| is_always))
}

/// Returns `true` if every `return` in `all` has no value, or the name `message`.
fn returns_only(all: &[Statement], message: &Arc<str>) -> bool {
    all.iter().all(|one| {
        let is_it = match &one.kind {
            StatementKind::Return(Some(value)) => value.name() == Some(message),
            _ => true,
        };
        is_it && one.bodies().into_iter().all(|body| returns_only(body, message))
    })
}

/// Returns the function `name`, unless it is decorated or wrapped.
pub(crate) fn function<'m>(loaded: &Machine<'m>, name: &str) -> Option<&'m Function> {
    let (entry, _) = Entry::of(loaded, name)?;
    entry.around.is_empty().then_some(entry.function)
}

/// Returns the records that the function `name` uses of an event that it gets, or returns, if it returns on all paths.
pub(crate) fn records_used(loaded: &Machine<'_>, name: &str) -> Option<Mask> {
    let (entry, machine) = Entry::of(loaded, name)?;
    let (paths, is_complete) = entry.explore(&machine, 3, 0);
    let is_known = |path: &Path<'_>| path.has_returned && !path.run.is_uncertain;
    let is_known = is_complete && entry.around.is_empty() && paths.iter().all(is_known);
    is_known.then(|| paths.iter().fold(0, |all, path| all | path.run.used | path.returned))
}

/// Returns `true` if `function` does nothing after it has called `name`, and returns exactly what that returns.
fn returns_result_of(function: &Function, name: &Arc<str>) -> bool {
    let Some((last, before)) = function.body.split_last() else {
        return false;
    };
    let is_plain = |one: &Statement| matches!(one.kind, StatementKind::Expression(_) | StatementKind::Assign { .. });
    let StatementKind::Return(Some(value)) = &last.kind else {
        return false;
    };
    let call = match &value.kind {
        Term::Await(inner) => inner,
        _ => value,
    };
    before.iter().all(is_plain) && matches!(&call.kind, Term::Call { callee, .. } if callee.name() == Some(name))
}

/// The entry point that Lambda calls.
struct Entry<'m> {
    function: &'m Arc<Function>,
    /// Decorators, wrappers and middlewares from other files, outermost last.
    around: Vec<&'m Expression>,
    /// Functions of middy that get its failure, innermost first.
    on_error: Vec<Value>,
    value: Value,
    /// `true` if it gets a message instead of the event.
    is_of_message: bool,
    /// `true` if a library calls it, and deletes the message if it returns.
    is_of_library: bool,
}

impl<'m> Entry<'m> {
    /// Returns the function called `name`, and the machine in which it can be called.
    fn of(loaded: &Machine<'m>, name: &str) -> Option<(Self, Machine<'m>)> {
        let value = loaded.global(name)?;
        Entry::with(loaded.clone(), value)
    }

    /// Returns the function that the one called `name` returns when its module is loaded.
    fn made_by(loaded: &Machine<'m>, name: &str) -> Option<(Self, Machine<'m>)> {
        let mut machine = loaded.clone();
        let factory = machine.global(name)?;
        machine.is_loading = true;
        let made = machine.call(&factory, Vec::new(), Vec::new(), &NOWHERE).ok()?;
        machine.is_loading = false;
        Entry::with(machine, made)
    }

    fn with(mut machine: Machine<'m>, value: Value) -> Option<(Self, Machine<'m>)> {
        let value = match value {
            object @ Value::Object(_) => machine.method(&object, "__call__")?,
            value => value,
        };
        let Value::Function(id) = value else { return None };
        let Object::Function(closure) = &machine.heap[id] else {
            return None;
        };
        let entry = Entry {
            function: closure.function,
            around: closure.around.clone(),
            on_error: closure.on_error.clone(),
            value: Value::Function(id),
            is_of_message: false,
            is_of_library: false,
        };
        Some((entry, machine))
    }

    #[expect(clippy::too_many_lines, reason = "one step per fact")]
    fn facts(&self, loaded: &Machine<'m>, source: &str) -> Facts<'m> {
        let module = loaded.module;
        let (mut paths, mut is_complete) = self.explore(loaded, 3, bit(1));
        let first_only = is_complete.then(|| first_only(&paths)).flatten();
        let response = response(&paths, is_complete, module);
        let queues = services::queues(&paths, is_complete);
        if first_only.is_some() {
            // Its batches have one message, or it loses the others in any case.
            (paths, is_complete) = self.explore(loaded, 1, bit(0));
        }
        let explored = (paths, is_complete);
        let outcome = outcome_of(&explored);
        let defects = self.defects(loaded, &explored, first_only.is_some());
        let (paths, is_complete) = explored;
        let failed = || paths.iter().filter(|path| path.outcome.is_some());
        // A function that gets all messages, and whose result is returned, may report those that failed.
        let is_delegated = response == Response::Unknown
            && failed().all(|path| path.run.failed.as_ref().is_some_and(|failure| failure.has_event));
        let function = failed().find_map(|path| path.run.failed?.function);
        let is_one = failed().all(|path| path.run.failed.is_some_and(|failure| failure.function == function));
        let is_wrapped = !self.around.iter().all(|one| is_transparent(one));
        let is_passed_on = is_delegated && (is_wrapped || outcome == Outcome::Raised);
        let delegate = function.filter(|name| is_one && is_passed_on && returns_result_of(self.function, name));
        let made = if is_wrapped { Made::Wrapped } else { Made::Here };
        let delegate = delegate.map(|name| (name.clone(), made));
        // If the result of a call matters, it changes a path on which nothing fails.
        let is_indifferent = |path: &Path<'_>| {
            let is_silent = matches!(path.response, Some(Response::Nothing | Response::Empty));
            path.run.failed.is_some() || path.has_returned && !path.run.is_uncertain && is_silent
        };
        let has_event = failed().any(|path| path.run.failed.is_some_and(|failure| failure.has_event));
        let is_of_message = matches!(outcome, Outcome::Raised | Outcome::Reported) && !has_event;
        let is_simple = failed().all(|path| path.run.failed.is_some_and(|failure| failure.is_simple));
        let is_only = is_one && is_simple && paths.iter().all(is_indifferent);
        let mut delegates: Vec<_> = delegate.into_iter().collect();
        if delegates.is_empty() && is_of_message {
            let of_message: BTreeSet<&Arc<str>> = failed().filter_map(|path| path.run.failed?.function).collect();
            delegates.extend(
                of_message
                    .into_iter()
                    .map(|name| (name.clone(), Made::OfMessage(is_only))),
            );
        }
        // A function of another file may handle the failure, unless that file is read, too.
        let is_read = |failure: Failure<'_>| {
            let name = failure.function.filter(|_| !failure.has_event || is_delegated);
            name.is_some_and(|name| delegates.iter().any(|(known, _)| known == name))
        };
        let own = failed().filter_map(|path| path.run.failed.filter(|failure| failure.is_own)?.function.cloned());
        let own = own.collect();
        let is_hidden = |path: &Path<'_>| path.run.failed.is_some_and(|one| one.is_own && !is_read(one));
        let outcome = if outcome == Outcome::Raised && failed().any(is_hidden) {
            Outcome::Unknown
        } else {
            outcome
        };
        let outcome_alone = match outcome {
            Outcome::Deleted if first_only.is_none() => outcome_of(&self.explore(loaded, 1, bit(0))),
            outcome => outcome,
        };
        let caught_call = match outcome {
            Outcome::Unknown if is_complete => caught_call(&paths),
            // The handler itself may reject a message, which is not lost then.
            Outcome::Deleted if paths.iter().any(Path::rejects) => {
                failed().find_map(|path| named_call(path.run.failed?))
            }
            _ => None,
        };
        let outcome = if is_passed_on { Outcome::Unknown } else { outcome };
        let is_declared = self.function.returns_failures
            && response == Response::Unknown
            && paths.iter().any(|path| path.response == Some(Response::Unknown));
        let response = if is_declared {
            Response::Failures(self.function.at.clone())
        } else {
            response
        };
        let is_lost = outcome == Outcome::Deleted;
        let misplaced = paths.iter().find_map(|path| path.misplaced.clone());
        let is_caught = |path: &&Path<'_>| caught_call.is_none() || path.outcome == Some(Outcome::Deleted);
        let swallowed = failed().filter(is_caught).find_map(|path| path.run.vanished.clone());
        // The promise of a call that may return none is named if nothing else loses the message.
        let is_named = |path: &&Path<'_>| {
            let is_certain = path.run.is_task || path.run.failed.is_some_and(|failure| !failure.may_be_early);
            is_lost && (is_certain || swallowed.is_none())
        };
        let unawaited = failed().filter(is_named).find_map(|path| path.unawaited.clone());
        let first = |of: fn(&Run<'m>) -> Option<TextRange>| paths.iter().find_map(|path| of(&path.run));
        Facts {
            function: self.function,
            outcome,
            response,
            malformed: paths.iter().find_map(|path| path.malformed.clone()),
            misplaced: misplaced.clone(),
            swallowed: swallowed
                .filter(|_| (is_lost || caught_call.is_some()) && unawaited.is_none() && misplaced.is_none()),
            caught_call,
            outcome_alone,
            reads: reads(&paths, module, outcome, is_complete && !is_wrapped),
            unawaited,
            first_only,
            continues: continues(&paths, module),
            undated: first(|run| run.undated.clone())
                .filter(|_| !module.says(&["register_lambda_context", "registerLambdaContext"])),
            unconditional_write: unconditional_write(&paths, source),
            pays_unconditionally: unconditional_write(&paths, source).is_some() && paths.iter().any(pays),
            unreleased_claim: unreleased_claim(&paths)
                .or_else(|| unreleased_status(&paths, module, source))
                .filter(|_| is_complete && !module.says(&stores::ENDS)),
            untimed: first(|run| run.waits.clone()).filter(|_| !module.says(&CLOCKS)),
            unmarshalable: paths.iter().find_map(Path::cannot_be_converted),
            is_never_converted: is_complete && paths.iter().all(|path| path.unmarshalable.is_some()),
            defects,
            queues,
            delegates,
            own,
            deletes: module.says(&DELETES) || module.words.iter().any(|word| deletes_messages(word)),
        }
    }

    /// Returns the defects of the paths, and those that other batches show.
    fn defects(&self, loaded: &Machine<'m>, explored: &Explored<'m>, is_first_only: bool) -> Vec<(Defect, TextRange)> {
        let mut all = services::repeated(&explored.0, loaded.module);
        all.extend(services::ignored(&explored.0, loaded.module));
        all.extend(never_run(explored));
        if is_first_only {
            return all;
        }
        all.extend(left::left(&explored.0));
        if outcome_of(explored) != Outcome::Reported {
            return all;
        }
        if explored.0.iter().any(|path| path.processor.is_some()) {
            let alone = self.explore(loaded, 1, bit(0));
            let at = alone.0.iter().find_map(|path| path.run.vanished.clone());
            let at = at.filter(|_| outcome_of(&alone) == Outcome::Deleted);
            all.extend(at.map(|at| (Defect::EmptiedFullBatch, at)));
        }
        let mut loaded = loaded.clone();
        loaded.fails_parsing = true;
        let malformed = self.explore(&loaded, 3, bit(1));
        let failed = malformed.0.iter().find_map(|path| path.run.failed);
        let failed = failed.filter(|_| outcome_of(&malformed) == Outcome::Raised);
        all.extend(failed.map(|failed| (Defect::ParsedOutsideTry, failed.call.at.clone())));
        all
    }

    /// Runs the handler on all paths; returns `false` with them if there were too many.
    fn explore(&self, loaded: &Machine<'m>, records: usize, failing: Mask) -> Explored<'m> {
        let (mut paths, mut choices, mut steps) = (Vec::new(), Choices::default(), 0);
        loop {
            let mut machine = loaded.clone();
            machine.choices = std::mem::take(&mut choices);
            machine.failing = failing;
            let batch = (0..records).map(Value::Record).collect();
            machine.records = machine.list_id(batch);
            let result = self.run(&mut machine);
            steps += machine.steps as usize + machine.heap.own_len();
            steps += machine.copied.get() / limits::COPIED_PER_STEP;
            choices = std::mem::take(&mut machine.choices);
            match result {
                _ if machine.run.is_impossible || is_never_awaited(&machine) => {}
                // Work that is repeated until the time is out may fail for the last time after any number of attempts.
                Err(Flow::Endless) if machine.run.failed.is_none() => {}
                Err(Flow::Stop | Flow::Endless) => return (paths, false),
                result => paths.push(self.path(machine, result)),
            }
            if !choices.advance() {
                let has_ended = !paths.is_empty();
                return (without_impossible(paths), has_ended);
            }
            if paths.len() >= limits::MAX_RUNS || steps > limits::MAX_SCENARIO_STEPS {
                return (paths, false);
            }
        }
    }

    fn run(&self, machine: &mut Machine<'m>) -> Result<Value, Flow> {
        let mut failed_batch = None;
        for around in &self.around {
            if let Term::Call { callee, named, .. } = &around.kind
                && callee.last_name().is_some_and(|name| name.ends_with("batch_processor"))
            {
                failed_batch = self.decorated(machine, around, named)?;
            }
        }
        let arguments = if self.is_of_message {
            machine.current = machine.failing;
            vec![Value::Unknown(machine.failing)]
        } else if self.is_of_library {
            vec![Value::List(machine.records)]
        } else if machine.module.is_script {
            vec![Value::Event, Value::Context, Value::Callback]
        } else {
            vec![Value::Event, Value::Unknown(0)]
        };
        let result = machine.call(&self.value, arguments, Vec::new(), &NOWHERE);
        let result = self.after_failure(machine, result);
        match (result, failed_batch) {
            // The decorator of Powertools 1 deletes the other messages and raises.
            (Ok(_), Some(raised)) => Err(Flow::Raise(raised)),
            (result, _) => result,
        }
    }

    /// Passes a failure to the functions of middy, of which one may set or return a response.
    fn after_failure(&self, machine: &mut Machine<'m>, result: Result<Value, Flow>) -> Result<Value, Flow> {
        if self.on_error.is_empty() {
            return result;
        }
        let Err(Flow::Raise(raised)) = result.clone().and_then(|value| machine.awaited(value)) else {
            return result;
        };
        let entries = vec![(Some("error".into()), raised), (Some("event".into()), Value::Event)];
        let request = machine.object(entries, 0..0);
        for function in self.on_error.iter().rev() {
            let returned = machine.call(function, vec![request.clone()], Vec::new(), &NOWHERE)?;
            let returned = machine.awaited(returned)?;
            let response = match returned {
                Value::Null => machine.member(&request, "response")?,
                returned => returned,
            };
            if response != Value::Null {
                if let Value::Function(id) = function
                    && let Object::Function(closure) = &machine.heap[*id]
                {
                    machine.run.vanished = Some(closure.function.at.clone());
                }
                return Ok(machine.promise(Ok(response), false, NOWHERE.at.clone()));
            }
        }
        result
    }

    /// Runs the record handler of a decorator for batches.
    fn decorated(
        &self,
        machine: &mut Machine<'m>,
        around: &'m Expression,
        named: &'m [(Option<Arc<str>>, Expression)],
    ) -> Result<Option<Value>, Flow> {
        let mut arguments = super::calls::Arguments::default();
        for (name, value) in named {
            let value = machine.evaluate(value)?;
            let name = match name.as_deref() {
                Some("record_handler") => Some("handler".into()),
                _ => name.clone(),
            };
            arguments.named.push((name, value));
        }
        let records = Value::List(machine.records);
        arguments.named.push((Some("records".into()), records));
        if let Some(Value::Processor(id)) = arguments.named("processor") {
            machine.process(*id, &arguments, around)?;
            return Ok(None);
        }
        let id = machine.processor(false, true, around);
        machine.process(id, &arguments, around)?;
        let has_failed = machine.run.failed.is_some();
        Ok(has_failed.then_some(Value::Failure))
    }

    /// Determines the outcome of a path.
    fn path(&self, mut machine: Machine<'m>, result: Result<Value, Flow>) -> Path<'m> {
        // What a function keeps in its module, another one may read.
        machine.run.is_uncertain |= self.is_of_message && machine.has_changed_module();
        let is_promise = matches!(result, Ok(Value::Promise(_)));
        let is_script = machine.module.is_script;
        let is_response = !self.is_of_message && !self.is_of_library;
        let unmarshalable = match &result {
            Ok(value) if !is_script && is_response => unmarshalable(&machine, value, 4),
            _ => None,
        };
        let settled = match result {
            Ok(_) if unmarshalable.is_some() => Err(Flow::Raise(Value::Error(None, 0))),
            Ok(value) => machine.awaited(value),
            failed => failed,
        };
        let is_async = is_promise || !machine.module.is_script;
        let settled = match (settled, machine.run.answer.clone()) {
            (Ok(_), Some(answer)) if !is_async => answer.map_err(Flow::Raise),
            (settled, answer) => {
                // The first of both counts.
                machine.run.is_uncertain |= answer.is_some();
                settled
            }
        };
        let dropped = dropped(&machine);
        let has_middleware = self.middleware(machine.module).is_some();
        let is_transparent = has_middleware || self.around.iter().all(|one| is_transparent(one));
        let mut path = Path {
            outcome: None,
            response: None,
            malformed: None,
            misplaced: None,
            unawaited: None,
            unmarshalable: unmarshalable.map(|what| match &machine.run.progress.exit {
                Some(exit) if !is_promise => (exit.clone(), what),
                _ => (self.function.at.clone(), what),
            }),
            processor: processor(&machine),
            never_run: never_started(&machine),
            is_awaited: is_awaited(&machine),
            has_returned: settled.is_ok(),
            returned: settled.as_ref().map_or(0, |value| machine.mask(value)),
            named: settled
                .as_ref()
                .ok()
                .filter(|_| is_transparent && !has_middleware)
                .and_then(|value| machine.named_by(value)),
            run: Run::default(),
        };
        let outcome = match settled {
            Ok(value) => {
                let outcome = self.returned(&machine, &value, &mut path);
                let is_answered = machine.run.answer.is_some();
                match (outcome, dropped) {
                    (Outcome::Deleted, Some((at, is_slow))) if is_async && !is_answered => {
                        if machine.module.is_script || is_slow {
                            path.unawaited = Some(at);
                        } else {
                            machine.run.vanished = Some(at);
                        }
                        // A rejection that is not handled at once ends the process.
                        if is_slow || !machine.module.is_script {
                            Outcome::Deleted
                        } else {
                            Outcome::Unknown
                        }
                    }
                    (_, Some(_)) if is_answered || is_async => Outcome::Unknown,
                    // Lambda waits for all promises, and an unhandled one fails the invocation.
                    (_, Some(_)) => Outcome::Raised,
                    (Outcome::Deleted, None) if !is_transparent && value != Value::Null => Outcome::Unknown,
                    (outcome, None) => outcome,
                }
            }
            // The middleware may name all messages.
            Err(_) if has_middleware => Outcome::Unknown,
            Err(_) if is_transparent => Outcome::Raised,
            Err(_) => Outcome::Unknown,
        };
        if !is_transparent && path.response == Some(Response::Nothing) {
            path.response = Some(Response::Unknown);
        }
        let is_unknown = machine.run.is_uncertain || machine.run.is_parked && outcome == Outcome::Deleted;
        path.run = machine.run;
        if path.run.failed.is_some() {
            path.outcome = Some(if is_unknown { Outcome::Unknown } else { outcome });
        }
        path
    }

    /// Reads the response of a path.
    fn returned(&self, machine: &Machine<'m>, value: &Value, path: &mut Path<'m>) -> Outcome {
        let mut set = |response: Response| path.response = Some(response);
        let is_message = |mask: Mask| {
            let parameter = self.function.parameters.first().and_then(|one| one.pattern.name());
            mask & machine.failing != 0 && parameter.is_some_and(|name| returns_only(&self.function.body, name))
        };
        match value {
            Value::Object(_) | Value::List(_) if self.is_of_library => return Outcome::Unknown,
            Value::Unknown(mask) if self.is_of_library && is_message(*mask) => return Outcome::Deleted,
            _ => {}
        }
        if let Some(middleware) = self.middleware(machine.module) {
            let failures = Response::Failures(middleware.at.clone());
            if let Value::Object(id) = value
                && let (Object::Entries { at, .. }, Some(_)) = (&machine.heap[*id], machine.entry(*id, FAILURES))
            {
                set(failures);
                let why = "the middleware creates the response from settled promises: return `Promise.allSettled(…)`";
                path.misplaced = Some((at.clone(), why.to_owned()));
                return Outcome::Unknown;
            }
            // Without a settled promise for each record, it names all of them.
            let settled = machine.items(value);
            let Some(settled) = settled.filter(|all| Some(all.len()) == records(machine)) else {
                set(failures);
                return Outcome::Unknown;
            };
            let is_rejected = |one: &Value| match one {
                Value::Object(id) => machine.entry(*id, "status") == Some(Value::Text("rejected".into())),
                _ => false,
            };
            let is_reported = settled.iter().any(is_rejected);
            set(if is_reported { failures } else { Response::Empty });
            return if is_reported {
                Outcome::Reported
            } else {
                Outcome::Deleted
            };
        }
        match value {
            Value::Object(id) => {
                let Object::Entries { is_open, at, class, .. } = &machine.heap[*id] else {
                    return Outcome::Unknown;
                };
                match machine.entry(*id, FAILURES) {
                    Some(Value::Null) => set(Response::Nothing),
                    Some(list) => {
                        let (response, outcome, malformed) = failures(machine, &list, at);
                        set(response);
                        path.malformed = malformed;
                        return outcome;
                    }
                    None => {
                        if let Some(why) = misplaced(machine, *id) {
                            path.misplaced = Some((at.clone(), why));
                            set(Response::Unknown);
                        } else if *is_open || class.is_some() {
                            set(Response::Unknown);
                            return Outcome::Unknown;
                        } else {
                            set(Response::Nothing);
                        }
                    }
                }
                Outcome::Deleted
            }
            Value::Json(id) => {
                set(Response::Nothing);
                match (&machine.heap[*id], machine.entry(*id, FAILURES)) {
                    (Object::Entries { at, .. }, Some(_)) => {
                        path.malformed = Some((at.clone(), "Lambda does not accept this response".to_owned()));
                        Outcome::Unknown
                    }
                    _ => Outcome::Deleted,
                }
            }
            // A list alone is not the response that Lambda expects.
            Value::List(_) if failures(machine, value, &NOWHERE.at).1 == Outcome::Reported => {
                set(Response::Unknown);
                Outcome::Unknown
            }
            Value::Unknown(_) | Value::Function(_) | Value::Processor(_) | Value::Client | Value::Event => {
                set(Response::Unknown);
                Outcome::Unknown
            }
            _ => {
                set(Response::Nothing);
                Outcome::Deleted
            }
        }
    }

    /// Returns the middleware that creates the response from the handler's result, if there is one.
    fn middleware(&self, module: &Module) -> Option<&'m Expression> {
        if !module.says(&[MIDDLEWARE]) {
            return None;
        }
        self.around.iter().find(|one| uses(one)).copied()
    }
}
