//! What rules ask for where a queue has no dead-letter queue.

use crate::diagnostic::{Change, Remedy, Undelivered};
use crate::graph::{Condition, Queue, RedrivePolicy, limits};
use crate::rules::Known;
use crate::rules::max_receive_count_low_for_poller::RECOMMENDED;

/// A dead-letter queue for `queue`, which in `world` has none, if nothing at all is written and its type is known.
pub(crate) fn dead_letter_queue(
    redrive: &Known<'_, Option<Box<RedrivePolicy>>>,
    world: &Condition,
    queue: &Queue,
) -> Option<Remedy> {
    if !redrive.case.is_default() || queue.implicit.is_some() {
        return None;
    }
    let fifo = queue.fifo.known_in(world);
    let [(_, _, fifo)] = fifo.as_slice() else { return None };
    Some(Remedy::not_safe(Change::DeadLetterQueue(Undelivered {
        header: queue.resource.header,
        fifo: **fifo,
        max_receive_count: RECOMMENDED,
        // As long as SQS can: a message keeps its age on the move.
        retention: *limits::RETENTION.end(),
    })))
}
