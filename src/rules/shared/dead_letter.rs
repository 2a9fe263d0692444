//! Builds the fix for a queue without a dead-letter queue.

use super::operands::Known;
use crate::diagnostic::{Change, Destination, MissingDeadLetterQueue, Place};
use crate::graph::{Condition, FailureTarget, Function, Graph, Queue, RedrivePolicy, limits};

/// Failure queue that a function declares without effect: it does not receive the messages that fail in the queue that
/// invokes the function.
pub(crate) struct IneffectiveFailureQueue<'g> {
    /// Setting that refers to the failure queue.
    pub(crate) setting: &'g FailureTarget,
    /// Function with the setting.
    pub(crate) function: &'g Function,
    /// Failure queue that the setting refers to.
    pub(crate) queue: &'g Queue,
}

/// Returns the failure queue of the functions that consume `source`, if they agree on one and nothing else invokes
/// them: it was then meant for the messages of `source`.
pub(crate) fn ineffective_failure_queue<'g>(
    graph: &'g Graph,
    when: &Condition,
    source: &'g Queue,
) -> Option<IneffectiveFailureQueue<'g>> {
    let consumptions = graph.consumptions(source);
    let functions = consumptions.iter().flat_map(|consumption| {
        let assumed = when.and(&consumption.when);
        graph.functions_of(consumption.mapping, &assumed)
    });
    let functions = functions.filter(|(_, function)| graph.asynchronous_invocations_of(function).is_empty());
    let mut named = functions.flat_map(|(assumed, function)| {
        let settings = function.failure_targets.iter();
        settings.flat_map(move |setting| {
            let links = setting.target.known_in(&assumed.and(&setting.when)).into_iter();
            links.map(move |(_, _, link)| (setting, function, graph.queue(function.resource.unit, link)))
        })
    });
    let (setting, function, queue) = named.next()?;
    let queue = queue.filter(|queue| can_be_dead_letter_queue_of(source, queue, when))?;
    let agree = named.all(|(_, _, other)| other.is_some_and(|other| std::ptr::eq(other, queue)));
    agree.then_some(IneffectiveFailureQueue {
        setting,
        function,
        queue,
    })
}

/// Returns `true` if `queue` can be the dead-letter queue of `source`: a different queue of the same unit and type.
fn can_be_dead_letter_queue_of(source: &Queue, queue: &Queue, when: &Condition) -> bool {
    let fifo = |queue: &Queue| match queue.fifo.known_in(when).as_slice() {
        [(_, _, fifo)] => Some(**fifo),
        _ => None,
    };
    !std::ptr::eq(source, queue)
        && source.resource.unit == queue.resource.unit
        && fifo(source).is_some()
        && fifo(source) == fifo(queue)
}

/// Returns the change that adds a dead-letter queue to `source`, if no redrive policy is written and the queue's type
/// is known. The dead-letter queue is the existing one `to`, or else a new one. None if `to` has a retention period that
/// would have to be changed.
pub(crate) fn dead_letter_queue(
    redrive: &Known<'_, Option<Box<RedrivePolicy>>>,
    when: &Condition,
    source: &Queue,
    to: Option<&Queue>,
) -> Option<Change> {
    let is_fit = to.is_none_or(|to| can_be_dead_letter_queue_of(source, to, when));
    if !redrive.is_default || source.implicit.is_some() || !is_fit {
        return None;
    }
    let fifo = source.fifo.known_in(when);
    let [(_, _, fifo)] = fifo.as_slice() else { return None };
    let expires_first = to.filter(|to| !**fifo && expires_first(source, to));
    if expires_first.is_some_and(|to| !to.retention.cases.iter().all(|case| case.is_default())) {
        return None;
    }
    Some(Change::DeadLetterQueue(MissingDeadLetterQueue {
        header: source.resource.header,
        fifo: **fifo,
        max_receive_count: limits::ADVISED_RECEIVES,
        // SQS's maximum: a message keeps its original enqueue time when it is moved.
        retention: limits::RETENTION.most,
        to: to.map(|to| Destination {
            header: to.resource.header,
            shown: to.resource.shown(),
            retention: expires_first.map(|to| Place {
                header: to.resource.header,
                name: to.retention.name.to_string(),
                written: None,
                origins: Vec::new(),
                value: None,
            }),
        }),
    }))
}

/// Returns `true` if `to` certainly keeps messages no longer than `source`, of which they keep the enqueue time.
fn expires_first(source: &Queue, to: &Queue) -> bool {
    let kept = |queue: &Queue| Some(queue.retention.known()?.0);
    let (source, to) = (kept(source), kept(to));
    to.is_some_and(|to| to < limits::RETENTION.most && source.is_some_and(|source| to <= source))
}
