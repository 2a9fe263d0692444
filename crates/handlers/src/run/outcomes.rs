//! Derives the outcome of a handler from its paths.

use super::machine::{Failure, Machine};
use super::scenario::{Explored, Path};
use super::values::{Id, Object, Value};
use crate::facts::{Defect, Outcome};
use crate::read::syntax::{Expression, Term, TextRange};
use std::sync::Arc;

impl Path<'_> {
    pub(super) fn cannot_be_converted(&self) -> Option<(TextRange, &'static str)> {
        // An `async` handler returns a coroutine, whatever is in it.
        let is_certain = |what: &str| what.starts_with("a coroutine") || !self.run.is_uncertain;
        self.unmarshalable.clone().filter(|(_, what)| is_certain(what))
    }
}

/// Returns a generator over the messages that nothing runs, if the handler does no other work.
pub(super) fn never_run(explored: &Explored<'_>) -> Option<(Defect, TextRange)> {
    let is_idle = |path: &Path<'_>| path.has_returned && path.run.used == 0 && !path.run.is_uncertain;
    if outcome_of(explored) != Outcome::NoWork || !explored.0.iter().all(is_idle) {
        return None;
    }
    let at = explored.0.iter().map(|path| path.never_run.clone());
    at.reduce(Option::and)?.map(|at| (Defect::NeverRun, at))
}

/// Returns `true` if code waits for the failed call, or uses what it returns as a task.
pub(super) fn is_awaited(machine: &Machine<'_>) -> bool {
    let is_observed = |id: Id| matches!(machine.heap[id], Object::Promise { is_observed: true, .. });
    machine.run.is_task || machine.run.late.is_some_and(is_observed)
}

/// Returns `true` if a path takes a call of Python for that of a coroutine, although nothing awaits it.
pub(super) fn is_never_awaited(machine: &Machine<'_>) -> bool {
    !machine.module.is_script && machine.run.late.is_some() && !is_awaited(machine)
}

/// Returns the number of records of the batch.
pub(super) fn records(machine: &Machine<'_>) -> Option<usize> {
    machine.items(&Value::List(machine.records)).map(|all| all.len())
}

/// Returns the outcome of all paths.
pub(super) fn outcome_of((paths, is_complete): &(Vec<Path<'_>>, bool)) -> Outcome {
    let mut outcomes = paths.iter().filter_map(|path| path.outcome);
    match outcomes.next() {
        Some(first) if *is_complete && outcomes.all(|other| other == first) => first,
        None if *is_complete && paths.iter().all(|path| !path.run.is_uncertain) => Outcome::NoWork,
        _ => Outcome::Unknown,
    }
}

/// Returns the requests whose failure is caught on every path, if other calls raise exceptions and none of them is a
/// request: the request is what the message is for.
pub(super) fn caught_call(paths: &[Path<'_>]) -> Option<(Arc<str>, TextRange)> {
    let failed = || paths.iter().filter_map(|path| Some((path.outcome?, path.run.failed?)));
    let mut requests = failed().filter(|(_, failure)| failure.is_request);
    let others = || failed().filter(|(_, failure)| !failure.is_request);
    let is_known = failed().all(|(outcome, _)| matches!(outcome, Outcome::Deleted | Outcome::Raised));
    let (first, failure) = requests.next()?;
    let is_lost = first == Outcome::Deleted && requests.all(|(outcome, _)| outcome == Outcome::Deleted);
    let is_raised = others().next().is_some() && others().all(|(outcome, _)| outcome == Outcome::Raised);
    (is_known && is_lost && is_raised).then(|| named_call(failure))?
}

/// Returns the name and the place of a call that fails.
pub(super) fn named_call(failure: Failure<'_>) -> Option<(Arc<str>, TextRange)> {
    let Term::Call { callee, .. } = &failure.call.kind else {
        return None;
    };
    Some((callee.last_name()?.into(), failure.call.at.clone()))
}

/// Returns `true` for names of functions and commands that delete messages: `deleteMessageBatch`, `delete_from_queue`, but
/// not `DeleteQueueCommand`.
pub(super) fn deletes_messages(word: &str) -> bool {
    let lower = word.to_ascii_lowercase().replace('_', "");
    let is_of_queue = ["message", "queue", "sqs"].iter().any(|of| lower.contains(of));
    let is_queue = lower.trim_end_matches("command").ends_with("deletequeue");
    lower.contains("delete") && is_of_queue && !is_queue && !lower.contains(char::is_whitespace)
}

/// Returns `true` if a chain of calls contains that of `use`: `middy().use(…).handler(…)`.
pub(super) fn uses(one: &Expression) -> bool {
    let Term::Call { callee, .. } = &one.kind else {
        return false;
    };
    match &callee.kind {
        Term::Member(of, name) => &**name == "use" || uses(of),
        _ => false,
    }
}

/// Removes the paths on which a call throws at once that returns a promise.
pub(super) fn without_impossible(mut paths: Vec<Path<'_>>) -> Vec<Path<'_>> {
    let awaited = paths.iter().filter(|path| path.is_awaited);
    let awaited: Vec<usize> = awaited.filter_map(|path| Some(path.run.failed?.site)).collect();
    paths.retain(|path| {
        path.run
            .failed
            .is_none_or(|failed| failed.is_late || !awaited.contains(&failed.site))
    });
    paths
}
