//! Derives from the paths of a handler what it returns, and to which records that applies.

use super::machine::Machine;
use super::scenario::{Malformed, Path, Response};
use super::values::{ALL, Object, Scheduled, Value, bit};
use crate::facts::Outcome;
use crate::read::syntax::{Module, TextRange};
use crate::words::{FAILURES, FIFO_PROCESSORS, STANDARD_PROCESSORS};

/// Returns what Lambda cannot convert to JSON in a response of Python:
///
/// ```python
/// return {"batchItemFailures": failed, "errors": [error]}  # `failed` is a set, and `error` an exception
/// ```
pub(super) fn unmarshalable(machine: &Machine<'_>, value: &Value, depth: usize) -> Option<&'static str> {
    let parts = match value {
        Value::Promise(_) => return Some("a coroutine, which nothing awaits"),
        Value::Failure | Value::Error(..) | Value::Claimed => return Some("an exception"),
        Value::Function(_) | Value::Class(_) => return Some("a function or a class"),
        Value::Lazy(_) => return Some("a generator"),
        Value::List(id) if machine.sets.contains(id) => return Some("a set"),
        Value::List(id) => machine.known_items(*id),
        Value::Object(id) => match &machine.heap[*id] {
            Object::Entries { class: Some(class), .. }
                if machine.is_plain_class(*class) && !machine.module.says(&["__dict__", "vars"]) =>
            {
                return Some("an object of a class");
            }
            Object::Entries {
                class: None, entries, ..
            } => entries.iter().map(|(_, value)| value.clone()).collect(),
            _ => return None,
        },
        _ => return None,
    };
    let depth = depth.checked_sub(1)?;
    parts.iter().find_map(|part| unmarshalable(machine, part, depth))
}

/// Returns the reason that Lambda does not read the failed messages in a response: their key, or the one around it.
pub(super) fn misplaced(machine: &Machine<'_>, id: usize) -> Option<String> {
    let Object::Entries { entries, .. } = &machine.heap[id] else {
        return None;
    };
    entries.iter().find_map(|(key, value)| {
        let key = key.as_deref()?;
        let plain = key.to_ascii_lowercase().replace(['_', '-'], "");
        let has_failed = |list: &Value| machine.mask(list) & machine.failing != 0;
        if matches!(
            &*plain,
            "batchitemfailures" | "batchitemfailure" | "batchfailures" | "itemfailures"
        ) {
            return has_failed(value).then(|| format!("Lambda reads `{FAILURES}`; this is `{key}`"));
        }
        let (Value::Json(inner) | Value::Object(inner)) = value else {
            return None;
        };
        let list = machine.entry(*inner, FAILURES)?;
        has_failed(&list).then(|| format!("Lambda reads `{FAILURES}` of the response itself; this is in `{key}`"))
    })
}

/// Reads a list of failed messages.
pub(super) fn failures(machine: &Machine<'_>, list: &Value, at: &TextRange) -> (Response, Outcome, Option<Malformed>) {
    let unknown = (Response::Failures(at.clone()), Outcome::Unknown, None);
    let Value::List(id) = list else { return unknown };
    let Object::List { items, is_open } = &machine.heap[*id] else {
        return unknown;
    };
    let identifier = |item: &Value| match item {
        Value::Object(id) => match (&machine.heap[*id], machine.entry(*id, "itemIdentifier")) {
            (_, Some(Value::ReceiptHandle(_))) => Err(()),
            (_, Some(found)) => Ok(Some(found)),
            (
                Object::Entries {
                    is_open: false,
                    class: None,
                    entries,
                    ..
                },
                None,
            ) if entries.iter().all(|(key, _)| key.is_some()) => Err(()),
            _ => Ok(None),
        },
        Value::MessageId(_) | Value::Text(_) | Value::Record(_) => Err(()),
        _ => Ok(None),
    };
    let known: Vec<_> = items.iter().map(identifier).collect();
    if known.contains(&Err(())) {
        let keys = items.iter().find_map(|item| match item {
            Value::Object(id) => match &machine.heap[*id] {
                Object::Entries { entries, .. } => entries.iter().find_map(|(key, _)| key.clone()),
                _ => None,
            },
            _ => None,
        });
        let why = match keys.filter(|key| &**key != "itemIdentifier") {
            Some(key) => format!("Lambda reads `itemIdentifier` of each failure; this is `{key}`"),
            None => "Lambda does not accept this response".to_owned(),
        };
        return (
            Response::Failures(at.clone()),
            Outcome::Unknown,
            Some((at.clone(), why)),
        );
    }
    let reports = |one: &Result<Option<Value>, ()>| match one {
        Ok(Some(Value::MessageId(record))) => bit(*record) & machine.failing != 0,
        _ => false,
    };
    let is_known = |one: &Result<Option<Value>, ()>| matches!(one, Ok(Some(Value::MessageId(_))));
    if known.iter().any(reports) {
        (Response::Failures(at.clone()), Outcome::Reported, None)
    } else if *is_open || !known.iter().all(is_known) {
        unknown
    } else if known.is_empty() {
        (Response::Empty, Outcome::Deleted, None)
    } else {
        (Response::Failures(at.clone()), Outcome::Deleted, None)
    }
}

/// Returns a promise with the failure that no code waits for, and whether it fails after the handler returned.
pub(super) fn dropped(machine: &Machine<'_>) -> Option<(TextRange, bool)> {
    machine.run.failed?;
    machine.heap.iter().find_map(|object| match object {
        Object::Promise {
            result: Err(raised),
            is_observed: false,
            is_slow,
            at,
        } if machine.is_failure(raised) => Some((at.clone(), *is_slow)),
        _ => None,
    })
}

/// Returns a generator over records whose values nothing asked for: `store(event["Records"])` with a `yield` in `store`.
pub(super) fn never_started(machine: &Machine<'_>) -> Option<TextRange> {
    machine.heap.iter().find_map(|object| match object {
        Object::Lazy {
            scheduled: Some(scheduled),
            mask,
            ..
        } if *mask & ALL != 0 => Some(match scheduled {
            Scheduled::Mapped(.., at) | Scheduled::Filtered(.., at) | Scheduled::Called(.., at) => at.at.clone(),
            Scheduled::Each { made, .. } => made.at.clone(),
        }),
        _ => None,
    })
}

pub(super) fn processor(machine: &Machine<'_>) -> Option<TextRange> {
    machine.heap.iter().find_map(|object| match object {
        Object::Processor { at, .. } => Some(at.clone()),
        _ => None,
    })
}

pub(super) fn response(paths: &[Path<'_>], is_complete: bool, module: &Module) -> Response {
    let is_of_stream = module.says(&["SequenceNumber", "sequenceNumber", "sequence_number"])
        && !module.says(&["messageId", "message_id"]);
    let all = || paths.iter().filter_map(|path| path.response.as_ref());
    if let Some(failures) = all().find(|one| matches!(one, Response::Failures(_))) {
        return if is_of_stream {
            Response::Unknown
        } else {
            failures.clone()
        };
    }
    let is_nothing = is_complete && all().all(|one| *one == Response::Nothing);
    if is_nothing {
        Response::Nothing
    } else {
        Response::Unknown
    }
}

/// Returns the code that reads one record, if no path reads another one.
pub(super) fn first_only(paths: &[Path<'_>]) -> Option<TextRange> {
    let done = || {
        paths
            .iter()
            .filter(|path| path.run.failed.is_none() && path.has_returned)
    };
    let is_known = paths
        .iter()
        .all(|path| !path.run.is_uncertain && !path.run.progress.is_open);
    // Records that the response returns as failed are delivered again.
    let is_single = |path: &Path<'_>| {
        let returned = match path.response {
            Some(Response::Failures(_)) => path.returned,
            _ => 0,
        };
        (path.run.used | returned).count_ones() <= 1
    };
    let used = done().fold(0, |all, path| all | path.run.used);
    // Code that only logs the records uses those whose bodies it reads.
    let used_or_read = if used == 0 {
        done().fold(0, |all, path| all | path.run.read)
    } else {
        used
    };
    if !is_known || used_or_read.count_ones() != 1 || !done().all(is_single) {
        return None;
    }
    done()
        .filter(|path| used == 0 || path.run.used != 0)
        .find_map(|path| path.run.first.clone())
}

/// Returns the code that continues with later records after one failed, if it reports failures.
pub(super) fn continues(paths: &[Path<'_>], module: &Module) -> Option<(TextRange, Option<&'static str>)> {
    if module.says(&["MessageGroupId", "messageGroupId", "message_group_id"]) || module.says(&FIFO_PROCESSORS) {
        return None;
    }
    let reported = || paths.iter().filter(|path| path.outcome == Some(Outcome::Reported));
    if module.says(&STANDARD_PROCESSORS) {
        let at = paths.iter().find_map(|path| path.processor.clone())?;
        let instead = if module.says(&["processPartialResponse"]) && module.says(&["BatchProcessor"]) {
            "SqsFifoPartialProcessorAsync"
        } else {
            "SqsFifoPartialProcessor"
        };
        return Some((at, Some(instead)));
    }
    let mut continuing = reported().filter(|path| path.run.used_after != 0);
    continuing
        .find_map(|path| path.run.collects.clone())
        .map(|at| (at, None))
}
