//! The numbers of findings as scenarios of the model. Where a number is not known there is none: a story tells of these
//! very numbers.

use super::consumers::Poll;
use super::operands::Operand;
use super::retries::Retries;
use super::work::Work;
use crate::graph::declared::Duration;
use crate::graph::limits::VISIBILITY_TIMEOUT;
use crate::graph::{Attribute, Graph, Queue, Seconds};
use crate::model::clock::seconds;
use crate::model::scenario::{DeadLetter, Heartbeat, Scenario};

/// Longer than any queue keeps a message.
const KEPT: u64 = seconds_of_days(60);

const fn seconds_of_days(days: u64) -> u64 {
    days * 86_400_000
}

/// In milliseconds, where it is known.
fn time(operand: &Operand<'_>) -> Option<u64> {
    operand.is_known().then(|| seconds(operand.value))
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.milliseconds).unwrap_or(0)
}

fn known(attribute: &Attribute<Seconds>) -> Option<u64> {
    attribute.known().map(|time| seconds(time.0))
}

fn count(number: i64) -> Option<u32> {
    u32::try_from(number).ok()
}

/// A function works for as long as it may.
pub(crate) fn of_timeout(visibility: &Operand<'_>, timeout: &Operand<'_>) -> Option<Scenario> {
    Some(Scenario::overlap(time(visibility)?, time(timeout)?))
}

/// Work goes on for `length` seconds.
pub(crate) fn of_length(visibility: &Operand<'_>, length: i64) -> Option<Scenario> {
    Some(Scenario::overlap(time(visibility)?, seconds(length)))
}

/// A declared consumer works for as long as declared.
pub(crate) fn of_work(visibility: &Operand<'_>, work: Work) -> Option<Scenario> {
    Some(Scenario::overlap(time(visibility)?, milliseconds(work.time)))
}

/// Work goes on for longer than one receive may keep its message.
pub(crate) fn beyond_ceiling(work: Work) -> Scenario {
    Scenario::overlap(seconds(VISIBILITY_TIMEOUT.most), milliseconds(work.time))
}

/// Batches wait for a function with one free place.
pub(crate) fn of_throttling(
    visibility: &Operand<'_>,
    timeout: &Operand<'_>,
    window: &Operand<'_>,
    batches: i64,
) -> Option<Scenario> {
    Some(Scenario::Throttled {
        visibility: time(visibility)?,
        timeout: time(timeout)?,
        window: time(window)?,
        batches: count(batches)?,
    })
}

/// A function is stopped in the middle of a batch. Where the visibility timeout ends before that, another rule speaks.
pub(crate) fn of_batch(
    graph: &Graph,
    poll: &Poll<'_>,
    timeout: &Operand<'_>,
    [size, parallelism]: [i64; 2],
    work: Work,
) -> Option<Scenario> {
    let mapping = poll.mapping;
    let queue = graph.queue(mapping.resource.unit, mapping.queue.known()?)?;
    let visibility = known(&queue.visibility_timeout)?;
    let timeout = time(timeout)?;
    (timeout <= visibility).then_some(Scenario::Batch {
        visibility,
        timeout,
        size: count(size)?,
        parallelism: count(parallelism)?,
        work: milliseconds(work.time),
    })
}

/// The first renewal comes after the first visibility timeout; `missed` of the renewals before do not arrive.
pub(crate) fn of_first_renewal(visibility: &Operand<'_>, heartbeat: [Duration; 2], missed: u32) -> Option<Scenario> {
    let visibility = time(visibility)?;
    let [every, extend_to] = heartbeat.map(milliseconds);
    Some(renewed(
        visibility,
        visibility + (1 + u64::from(missed)) * every,
        every,
        extend_to,
        missed,
    ))
}

/// A later renewal comes after the end of what the one before has set.
pub(crate) fn of_later_renewal([every, extend_to]: [Duration; 2]) -> Scenario {
    let (every, extend_to) = (milliseconds(every), milliseconds(extend_to));
    // The first renewal is in time, which a judgement of its own is about.
    renewed(2 * every, 2 * every + extend_to, every, extend_to, 0)
}

fn renewed(visibility: u64, work: u64, every: u64, extend_to: u64, missed: u32) -> Scenario {
    Scenario::Overlap {
        visibility,
        work,
        retry: work,
        window: 0,
        heartbeat: Some(Heartbeat {
            every: every.max(1),
            extend_to,
            missed,
        }),
    }
}

/// A worker dies in the middle of its work.
pub(crate) fn of_crash(visibility: &Operand<'_>, work: Work) -> Option<Scenario> {
    Some(Scenario::Crash {
        visibility: time(visibility)?,
        after: (milliseconds(work.time) / 2).max(1),
        heartbeat: None,
    })
}

/// A function is stopped at its timeout, and its message waits for the end of the visibility timeout.
pub(crate) fn of_stop(visibility: &Operand<'_>, timeout: &Operand<'_>) -> Option<Scenario> {
    Some(Scenario::TimedOut {
        visibility: time(visibility)?,
        timeout: time(timeout)?,
    })
}

/// A function that `queue` invokes is stopped after `limit` seconds each time. Where the visibility timeout ends before
/// that, another rule speaks.
pub(crate) fn of_limit(queue: &Queue, limit: i64, length: &Operand<'_>) -> Option<Scenario> {
    let (visibility, limit) = (known(&queue.visibility_timeout)?, seconds(limit));
    (limit <= visibility).then_some(Scenario::Batch {
        visibility,
        timeout: limit,
        size: 1,
        parallelism: 1,
        work: time(length)?,
    })
}

/// So many messages fail in a second that the quota of messages in flight is full.
pub(crate) fn of_failures(visibility: &Operand<'_>, failures: i64) -> Option<Scenario> {
    Some(Scenario::Full {
        visibility: time(visibility)?,
        failures: count(failures)?,
    })
}

/// Every attempt fails until the message moves, or expires after `retention`.
pub(crate) fn of_retries(retries: &Retries<'_>, retention: &Operand<'_>) -> Option<Scenario> {
    failing(retries, time(retention)?, KEPT, false)
}

/// The same with a dead-letter queue that keeps messages for `kept`.
pub(crate) fn of_retries_kept(retries: &Retries<'_>, retention: &Operand<'_>, kept: &Operand<'_>) -> Option<Scenario> {
    failing(retries, time(retention)?, time(kept)?, false)
}

/// Every attempt fails until the message moves; where it expires before, another rule speaks.
pub(crate) fn of_many_retries(queue: &Queue, receives: &Operand<'_>, visibility: &Operand<'_>) -> Option<Scenario> {
    let (retention, visibility) = (known(&queue.retention)?, time(visibility)?);
    let delay = known(&queue.delay)?;
    let receives = receives.is_known().then_some(receives.value)?;
    let age = delay + visibility.checked_mul(u64::try_from(receives).ok()?)?;
    (age < retention).then_some(Scenario::Failing {
        visibility,
        retention,
        delay,
        dead_letter: Some(DeadLetter {
            max_receives: count(receives)?,
            retention: KEPT,
        }),
        fifo: queue.fifo.known().copied()?,
    })
}

/// The same, while a message group waits.
pub(crate) fn of_group(queue: &Queue, retries: &Retries<'_>) -> Option<Scenario> {
    failing(retries, known(&queue.retention)?, KEPT, true)
}

fn failing(retries: &Retries<'_>, retention: u64, kept: u64, fifo: bool) -> Option<Scenario> {
    Some(Scenario::Failing {
        visibility: time(&retries.visibility)?,
        retention,
        delay: time(&retries.delay)?,
        dead_letter: Some(DeadLetter {
            max_receives: count(retries.count.value)?,
            retention: kept,
        }),
        fifo,
    })
}

/// A message fails once, or is never received, before `retention` ends.
pub(crate) fn of_one_failure(
    visibility: Option<&Operand<'_>>,
    delay: Option<&Operand<'_>>,
    retention: &Operand<'_>,
) -> Option<Scenario> {
    let value = |operand: Option<&Operand<'_>>| operand.map_or(Some(0), time);
    Some(Scenario::Failing {
        visibility: value(visibility)?,
        retention: time(retention)?,
        delay: value(delay)?,
        dead_letter: None,
        fifo: false,
    })
}

/// As many receives fail as a message has, by no fault of its own.
pub(crate) fn of_bad_luck(queue: &Queue, receives: i64, is_throttled: bool) -> Option<Scenario> {
    Some(Scenario::Unlucky {
        visibility: known(&queue.visibility_timeout).filter(|visibility| *visibility > 0)?,
        receives: count(receives)?,
        is_throttled,
    })
}

/// A message is as old as its queue lets it become, and then it moves.
pub(crate) fn of_late_failure(retention: &Operand<'_>, kept: &Operand<'_>) -> Option<Scenario> {
    Some(Scenario::Late {
        retention: time(retention)?,
        dead_letter_retention: time(kept)?,
    })
}

/// Nobody looks at a FIFO dead-letter queue for `length` seconds.
pub(crate) fn of_absence(retention: &Operand<'_>, length: i64) -> Option<Scenario> {
    Some(Scenario::Aside {
        retention: time(retention)?,
        looked_at: seconds(length),
    })
}

/// Nobody reads the queue for `length` seconds.
pub(crate) fn of_outage(retention: &Operand<'_>, length: i64) -> Option<Scenario> {
    Some(Scenario::Outage {
        retention: time(retention)?,
        length: seconds(length),
    })
}
