//! The fix where a queue has no dead-letter queue.

use super::operands::Known;
use crate::diagnostic::{Change, Undelivered};
use crate::graph::{Condition, Queue, RedrivePolicy, limits};

/// A dead-letter queue for `queue`, which has none under the condition `when`, if nothing at all is written and its
/// type is known.
pub(crate) fn dead_letter_queue(
    redrive: &Known<'_, Option<Box<RedrivePolicy>>>,
    when: &Condition,
    queue: &Queue,
) -> Option<Change> {
    if !redrive.is_default || queue.implicit.is_some() {
        return None;
    }
    let fifo = queue.fifo.known_in(when);
    let [(_, _, fifo)] = fifo.as_slice() else { return None };
    Some(Change::DeadLetterQueue(Undelivered {
        header: queue.resource.header,
        fifo: **fifo,
        max_receive_count: limits::ADVISED_RECEIVES,
        // As long as SQS can: a message keeps its original enqueue time when it is moved.
        retention: limits::RETENTION.most,
    }))
}
