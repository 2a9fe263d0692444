//! Turns the numbers of findings into scenarios of the model. Every number of a scenario must be known, as the
//! simulation shows exactly these numbers.

use super::consumers::PollingMapping;
use super::operands::Operand;
use super::retries::Retries;
use super::work::ProcessingTime;
use crate::graph::declared::Duration;
use crate::graph::limits::VISIBILITY_TIMEOUT;
use crate::graph::{Attribute, Graph, Queue, Seconds};
use sqs_model::clock::seconds;
use sqs_model::scenario::{Heartbeat, QueueSettings, RedriveTarget, Scenario};

/// Retention period in milliseconds that exceeds that of any queue.
const KEPT: u64 = seconds_of_days(60);

const fn seconds_of_days(days: u64) -> u64 {
    days * 86_400_000
}

/// Returns the number in milliseconds, if known.
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

/// Simulates a function that runs for its full timeout.
pub(crate) fn of_timeout(visibility: &Operand<'_>, timeout: &Operand<'_>) -> Option<Scenario> {
    Some(Scenario::overlap(time(visibility)?, time(timeout)?))
}

/// Simulates a message that waits for its batch before a function that runs for its full timeout.
pub(crate) fn of_window(visibility: &Operand<'_>, timeout: &Operand<'_>, window: &Operand<'_>) -> Option<Scenario> {
    Some(Scenario::Overlap {
        visibility: time(visibility)?,
        work: time(timeout)?,
        retry: time(timeout)?,
        window: time(window)?,
        heartbeat: None,
    })
}

/// Simulates work that takes `length` seconds.
pub(crate) fn of_length(visibility: &Operand<'_>, length: i64) -> Option<Scenario> {
    Some(Scenario::overlap(time(visibility)?, seconds(length)))
}

/// Simulates a declared consumer that takes its declared time.
pub(crate) fn of_work(visibility: &Operand<'_>, work: ProcessingTime) -> Option<Scenario> {
    let (visibility, work) = (time(visibility)?, milliseconds(work.time));
    // Messages beyond a percentile take longer than it: a second longer, if the percentile equals the timeout.
    let longer = if work == visibility { work + 1_000 } else { work };
    Some(Scenario::overlap(visibility, longer))
}

/// Simulates work that exceeds the longest possible visibility of one receive.
pub(crate) fn beyond_ceiling(work: ProcessingTime) -> Scenario {
    Scenario::overlap(seconds(VISIBILITY_TIMEOUT.most), milliseconds(work.time))
}

/// Simulates batches that wait for a function with a single free concurrency slot.
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

/// Simulates a function that times out in the middle of a batch. Returns `None` if the visibility timeout ends earlier,
/// which another rule reports.
pub(crate) fn of_batch(
    graph: &Graph,
    poll: &PollingMapping<'_>,
    timeout: &Operand<'_>,
    [size, parallelism]: [i64; 2],
    work: ProcessingTime,
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

/// Simulates a first renewal that arrives after the initial visibility timeout; `missed` earlier renewals fail.
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

/// Simulates a later renewal that arrives after the extension set by the previous one has ended.
pub(crate) fn of_later_renewal([every, extend_to]: [Duration; 2]) -> Scenario {
    let (every, extend_to) = (milliseconds(every), milliseconds(extend_to));
    // The first renewal is in time; another comparison covers it.
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

/// Simulates a worker that crashes in the middle of its work.
pub(crate) fn of_crash(visibility: &Operand<'_>, work: ProcessingTime) -> Option<Scenario> {
    Some(Scenario::Crash {
        visibility: time(visibility)?,
        after: (milliseconds(work.time) / 2).max(1),
        heartbeat: None,
    })
}

/// Simulates a function that times out, whose message waits for the end of the visibility timeout.
pub(crate) fn of_stop(visibility: &Operand<'_>, timeout: &Operand<'_>) -> Option<Scenario> {
    Some(Scenario::TimedOut {
        visibility: time(visibility)?,
        timeout: time(timeout)?,
    })
}

/// Simulates a function that `queue` invokes and that is stopped after `limit` seconds each time. Returns `None` if the
/// visibility timeout ends earlier, which another rule reports.
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

/// Simulates so many failures per second that the quota of messages in flight is reached.
pub(crate) fn of_failures(visibility: &Operand<'_>, failures: i64) -> Option<Scenario> {
    Some(Scenario::Full {
        visibility: time(visibility)?,
        failures: count(failures)?,
    })
}

/// Simulates attempts that fail until the message moves, or expires after `retention`.
pub(crate) fn of_retries(retries: &Retries<'_>, retention: &Operand<'_>) -> Option<Scenario> {
    failing(retries, time(retention)?, KEPT, false)
}

/// Like [`of_retries`], with a dead-letter queue that keeps messages for `kept`.
pub(crate) fn of_retries_kept(retries: &Retries<'_>, retention: &Operand<'_>, kept: &Operand<'_>) -> Option<Scenario> {
    failing(retries, time(retention)?, time(kept)?, false)
}

/// Simulates attempts that fail until the message moves. Returns `None` if it expires earlier, which another rule
/// reports.
pub(crate) fn of_many_retries(queue: &Queue, receives: &Operand<'_>, visibility: &Operand<'_>) -> Option<Scenario> {
    let (retention, visibility) = (known(&queue.retention)?, time(visibility)?);
    let delay = known(&queue.delay)?;
    let receives = receives.is_known().then_some(receives.value)?;
    let age = delay + visibility.checked_mul(u64::try_from(receives).ok()?)?;
    (age < retention).then_some(Scenario::Failing(QueueSettings {
        visibility,
        retention,
        delay,
        dead_letter: Some(RedriveTarget {
            max_receives: count(receives)?,
            retention: KEPT,
        }),
        fifo: queue.fifo.known().copied()?,
    }))
}

/// Like [`of_retries`], while the rest of the message group waits.
pub(crate) fn of_group(queue: &Queue, retries: &Retries<'_>) -> Option<Scenario> {
    failing(retries, known(&queue.retention)?, KEPT, true)
}

fn failing(retries: &Retries<'_>, retention: u64, kept: u64, fifo: bool) -> Option<Scenario> {
    Some(Scenario::Failing(QueueSettings {
        visibility: time(&retries.visibility)?,
        retention,
        delay: time(&retries.delay)?,
        dead_letter: Some(RedriveTarget {
            max_receives: count(retries.count.value)?,
            retention: kept,
        }),
        fifo,
    }))
}

/// Simulates a message that fails once, or is never received, until `retention` ends.
pub(crate) fn of_one_failure(
    visibility: Option<&Operand<'_>>,
    delay: Option<&Operand<'_>>,
    retention: &Operand<'_>,
) -> Option<Scenario> {
    let value = |operand: Option<&Operand<'_>>| operand.map_or(Some(0), time);
    Some(Scenario::Failing(QueueSettings {
        visibility: value(visibility)?,
        retention: time(retention)?,
        delay: value(delay)?,
        dead_letter: None,
        fifo: false,
    }))
}

/// Simulates a message that uses up its receives without a fault of its own.
pub(crate) fn of_unlucky_receives(queue: &Queue, receives: i64, is_throttled: bool) -> Option<Scenario> {
    Some(Scenario::Unlucky {
        visibility: known(&queue.visibility_timeout).filter(|visibility| *visibility > 0)?,
        receives: count(receives)?,
        is_throttled,
    })
}

/// Simulates a message that is moved when it has almost reached the retention period.
pub(crate) fn of_late_failure(retention: &Operand<'_>, kept: &Operand<'_>) -> Option<Scenario> {
    Some(Scenario::Late {
        retention: time(retention)?,
        dead_letter_retention: time(kept)?,
    })
}

/// Simulates a FIFO dead-letter queue that is not checked for `length` seconds.
pub(crate) fn of_unchecked_queue(retention: &Operand<'_>, length: i64) -> Option<Scenario> {
    Some(Scenario::ExpiresInDeadLetterQueue {
        retention: time(retention)?,
        inspected_at: seconds(length),
    })
}

/// Simulates a queue without a running consumer for `length` seconds.
pub(crate) fn of_outage(retention: &Operand<'_>, length: i64) -> Option<Scenario> {
    Some(Scenario::Outage {
        retention: time(retention)?,
        length: seconds(length),
    })
}
