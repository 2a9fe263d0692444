//! The runs of the scenarios: their configuration, the events that they show, and the harm.

use super::timeline::{DELIVERED, RECEIVED, TimelineBuilder, ordinal, shown_times};
use super::{Harm, Timeline};
use crate::clock;
use crate::consumer::{Consumer, Heartbeat, MIN_POLLERS};
use crate::event::{Event, EventKind};
use crate::queue::{MAX_IN_FLIGHT, MAX_IN_FLIGHT_TIME, QueueSettings, RedriveTarget};
use crate::simulation::{Setup, Simulation};
use crate::work::AttemptOutcome;

/// Longer than any scenario, and far from overflowing.
const LONG: u64 = 60 * clock::DAY;
/// Duration of a failure that takes practically no time.
const INSTANT: u64 = 1;

/// Returns the settings of a queue without a dead-letter queue that keeps messages longer than any scenario lasts.
fn lasting(visibility: u64) -> QueueSettings {
    QueueSettings {
        visibility,
        retention: LONG,
        delay: 0,
        fifo: false,
        dead_letter: None,
    }
}

/// Returns the events of `setup` before `end`.
fn events(setup: &Setup, end: u64) -> Vec<Event> {
    Simulation::new(setup, 0, true).traced(end).1
}

fn find(events: &[Event], receive: u32, kind: EventKind) -> Option<u64> {
    let found = events
        .iter()
        .find(|event| event.receive == receive && event.kind == kind);
    found.map(|event| event.at)
}

pub(super) fn overlap(visibility: u64, [work, retry]: [u64; 2], window: u64, heartbeat: Option<Heartbeat>) -> Timeline {
    let consumer = Consumer {
        heartbeat,
        window,
        // A batch that never fills up waits for the whole batching window.
        batch: if window > 0 { 2 } else { 1 },
        ..Consumer::workers(2)
    };
    overlap_of(lasting(visibility), consumer, [work, retry])
}

/// Runs one message until its first attempt is done.
fn overlap_of(queue: QueueSettings, consumer: Consumer, [work, retry]: [u64; 2]) -> Timeline {
    let window = if consumer.batch > 1 { consumer.window } else { 0 };
    let outcomes = vec![AttemptOutcome::Works(work), AttemptOutcome::Works(retry)];
    let setup = Setup::of_one_message(queue, consumer, outcomes);
    let all = events(&setup, queue.delay + window + work + INSTANT);
    let again = find(&all, 2, EventKind::Received);
    let is_overlap = again.is_some_and(|again| again < queue.delay + window + work);
    let first_done = find(&all, 1, EventKind::Done).filter(|_| is_overlap);
    let mut timeline = TimelineBuilder::default();
    for event in all.iter().filter(|event| event.receive <= 2) {
        match event.kind {
            // The harm has been shown.
            _ if event.receive > 1 && first_done.is_some_and(|done| event.at >= done) => {}
            EventKind::VisibleAgain | EventKind::RenewalMissed | EventKind::RenewalRefused if event.receive > 1 => {}
            EventKind::Renewed | EventKind::RenewedToCeiling if event.receive > 1 => {}
            // It comes after the harm.
            EventKind::RenewalRefused if again.is_some() => {}
            EventKind::Received if event.receive == 1 && window > 0 => {
                timeline.push_with_text(event, "received, waits for more messages");
            }
            EventKind::Done if is_overlap && event.receive == 1 => timeline.push_with_text(event, "first attempt done"),
            EventKind::Done if is_overlap => timeline.push_with_text(event, "second attempt done"),
            _ => timeline.push(event),
        }
    }
    timeline.finish(is_overlap.then(|| (Harm::WorkedOnTwice, "processed twice".to_owned())))
}

/// Runs one slow message under the actual configuration. If its retries are slow, too, none of their deletes takes
/// effect, and the run ends when the message leaves the queue.
pub(crate) fn slowest(queue: QueueSettings, consumer: Consumer, [work, retry]: [u64; 2]) -> Timeline {
    if retry <= queue.visibility || consumer.heartbeat.is_some() {
        return overlap_of(queue, consumer, [work, retry]);
    }
    let outcomes = vec![AttemptOutcome::Works(work), AttemptOutcome::Works(retry)];
    let setup = Setup::of_one_message(queue, consumer, outcomes);
    let (tally, all) = Simulation::new(&setup, 0, true).traced(LONG);
    let mut timeline = TimelineBuilder::default();
    for event in &all {
        match event.kind {
            EventKind::Received if event.receive > 1 => {
                timeline.push_repeated(event, DELIVERED, "delivered", event.receive);
            }
            EventKind::Received | EventKind::Throttled | EventKind::Moved | EventKind::Expired => timeline.push(event),
            EventKind::DeleteResult => timeline.push(event),
            _ => {}
        }
    }
    let times = tally.repeats + tally.done;
    let at_least = if tally.is_aborted { "at least " } else { "" };
    let harm = (tally.repeats > 0).then(|| {
        (
            Harm::WorkedOnTwice,
            format!("processed {at_least}{}", shown_times(times)),
        )
    });
    timeline.finish(harm)
}

pub(super) fn throttled(visibility: u64, timeout: u64, window: u64, batches: u32) -> Timeline {
    // The smallest number of batches of which the last cannot be processed in time: fewer do no harm.
    let room = visibility.saturating_sub(window) / timeout.max(1);
    let count = u32::try_from(room).unwrap_or(u32::MAX).saturating_add(1);
    let count = count.clamp(1, batches.max(1));
    if count == 1 {
        return overlap(visibility, [timeout; 2], window, None);
    }
    let consumer = Consumer {
        window,
        batch: if window > 0 { 2 } else { 1 },
        collectors: count,
        pollers: count.max(MIN_POLLERS),
        // All batches are received at the same time.
        first_pollers: count.max(MIN_POLLERS),
        ..Consumer::function(timeout).reserved(1)
    };
    let setup = Setup {
        sends: vec![0; count as usize],
        ..Setup::of_one_message(lasting(visibility), consumer, vec![AttemptOutcome::Works(timeout)])
    };
    let (last, end) = (u64::from(count) - 1, window + u64::from(count) * timeout);
    // Long enough for a second attempt to end.
    let all = events(&setup, end.max(visibility) + window + 2 * timeout + INSTANT);
    let own: Vec<Event> = all.into_iter().filter(|event| event.message == last).collect();
    let again = find(&own, 1, EventKind::VisibleAgain);
    let started = find(&own, 1, EventKind::Started);
    let repeated = find(&own, 2, EventKind::Done);
    let mut timeline = TimelineBuilder::default();
    let others = match count - 1 {
        1 => "another batch runs".to_owned(),
        others => format!("{others} other batches run"),
    };
    let is_shown = |event: &&Event| event.receive == 1 || (event.receive == 2 && event.kind == EventKind::Received);
    for event in own.iter().filter(is_shown) {
        match event.kind {
            EventKind::Received if event.receive == 1 => {
                timeline.push_with_text(event, format!("received, no free concurrency ({others})"));
            }
            EventKind::Throttled => {}
            _ => timeline.push(event),
        }
    }
    timeline.finish(match (again, started) {
        (Some(_), Some(_)) if repeated.is_some() => Some((Harm::WorkedOnTwice, "processed twice".to_owned())),
        (Some(_), None) => Some((
            Harm::ReceiveUsedUp,
            "counts as a receive, the function never ran".to_owned(),
        )),
        _ => None,
    })
}

pub(super) fn batch(visibility: u64, timeout: u64, size: u32, parallelism: u32, work: u64) -> Timeline {
    let consumer = Consumer {
        batch: size,
        parallelism,
        ..Consumer::function(timeout).reserved(1)
    };
    let setup = Setup {
        sends: vec![0; size as usize],
        ..Setup::of_one_message(lasting(visibility), consumer, vec![AttemptOutcome::Works(work)])
    };
    // Long enough for two attempts in succession, but not for a third.
    let all = events(&setup, visibility.max(timeout) + timeout + INSTANT);
    let count = |kind, receive| {
        let of = |event: &&Event| event.kind == kind && event.receive == receive;
        all.iter().filter(of).count()
    };
    let stopped = all.iter().find(|event| event.kind == EventKind::TimedOut);
    let (first, second) = (count(EventKind::Done, 1), count(EventKind::Done, 2));
    let mut timeline = TimelineBuilder::default();
    let received = all.iter().find(|event| event.kind == EventKind::Received);
    if let Some(received) = received {
        let what = if size == 1 {
            "received".to_owned()
        } else {
            format!("batch of {size} received")
        };
        timeline.push_with_text(received, what);
    }
    let Some(stopped) = stopped else {
        return timeline.finish(None);
    };
    if size == 1 {
        timeline.push(stopped);
    } else {
        timeline.push_with_text(stopped, format!("the function times out, {first} of {size} done"));
    }
    if let Some(again) = all.iter().find(|event| event.kind == EventKind::VisibleAgain) {
        if size == 1 {
            timeline.push(again);
        } else {
            timeline.push_with_text(again, format!("all {size} visible again"));
        }
        let mut latest = all.iter().rev();
        if let Some(last) = latest.find(|event| event.receive == 2 && event.kind == EventKind::Done) {
            timeline.push_with_text(last, format!("{second} done a second time"));
        }
    }
    let harm = if second > 0 {
        (Harm::DoneAgain, "finished work is repeated".to_owned())
    } else {
        let what = if size == 1 {
            "never finished"
        } else {
            "no message is ever finished"
        };
        (Harm::NeverDone, what.to_owned())
    };
    timeline.finish(Some(harm))
}

pub(super) fn crash(visibility: u64, after: u64, heartbeat: Option<Heartbeat>) -> Timeline {
    let consumer = Consumer {
        heartbeat,
        ..Consumer::workers(2)
    };
    let outcomes = vec![AttemptOutcome::Crashes(after), AttemptOutcome::Works(INSTANT)];
    let setup = Setup::of_one_message(lasting(visibility), consumer, outcomes);
    waits(
        &events(&setup, after + MAX_IN_FLIGHT_TIME + visibility),
        EventKind::Crashed,
    )
}

pub(super) fn timed_out(visibility: u64, timeout: u64) -> Timeline {
    let outcomes = vec![AttemptOutcome::Works(LONG), AttemptOutcome::Works(INSTANT)];
    let setup = Setup::of_one_message(lasting(visibility), Consumer::function(timeout), outcomes);
    waits(&events(&setup, timeout + visibility + INSTANT), EventKind::TimedOut)
}

/// Describes how long a message waits whose first attempt ends with `end`.
fn waits(all: &[Event], end: EventKind) -> Timeline {
    let ended = find(all, 1, end);
    let again = find(all, 2, EventKind::Received);
    let mut timeline = TimelineBuilder::default();
    for event in all {
        let is_later = event.receive > 1 && event.kind != EventKind::Received;
        if !is_later {
            timeline.push(event);
        }
    }
    let wait = ended.zip(again).map(|(ended, again)| again.saturating_sub(ended));
    timeline.finish(wait.filter(|wait| *wait > 0).map(|wait| {
        let summary = format!("not processed for {}", clock::span(wait));
        (Harm::Waits(wait), summary)
    }))
}

/// Number of messages that one message represents in [`full`]: a run with 120,000 messages would take a second.
const MESSAGES_PER_STAND_IN: u32 = 1_000;

pub(super) fn full(visibility: u64, failures: u32) -> Timeline {
    filled(visibility, failures, MESSAGES_PER_STAND_IN)
}

/// Simulates a queue whose messages all fail, each representing `messages_each` messages.
pub(crate) fn filled(visibility: u64, failures: u32, messages_each: u32) -> Timeline {
    let each = u64::from(messages_each.max(1));
    let quota = MAX_IN_FLIGHT as u64 / each;
    let sends = (0..=quota).map(|number| number * each * clock::SECOND / u64::from(failures.max(1)));
    // There is always a free worker, so that only the queue's quota can delay a receive.
    let workers = Consumer::workers(u32::try_from(quota).unwrap_or(u32::MAX));
    let setup = Setup {
        sends: sends.collect(),
        stands_for: messages_each,
        ..Setup::of_one_message(lasting(visibility), workers, vec![AttemptOutcome::Fails(INSTANT)])
    };
    let full = setup.sends.last().copied().unwrap_or(0);
    let all = events(&setup, full.max(visibility) + 2 * INSTANT);
    let of = |message, kind| all.iter().find(|event| event.message == message && event.kind == kind);
    let (sent, received) = (of(quota, EventKind::Sent), of(quota, EventKind::Received));
    let wait = sent.zip(received).map(|(sent, received)| received.at - sent.at);
    let mut timeline = TimelineBuilder::default();
    if let Some(first) = of(0, EventKind::Received) {
        timeline.push_with_text(first, format!("{failures} failures per second begin"));
    }
    if let Some(sent) = sent {
        timeline.push_with_text(
            sent,
            format!("{} messages in flight, the maximum", grouped(MAX_IN_FLIGHT)),
        );
    }
    if let Some(again) = of(0, EventKind::VisibleAgain) {
        timeline.push_with_text(again, "the first are visible again");
    }
    timeline.finish(wait.filter(|wait| *wait > 0).map(|wait| {
        let summary = format!("nothing was received for {}", clock::span(wait));
        (Harm::Waits(wait), summary)
    }))
}

/// Formats with a thousands separator: `120,000`.
fn grouped(number: usize) -> String {
    format!("{},{:03}", number / 1_000, number % 1_000)
}

pub(super) fn failing(queue: QueueSettings) -> Timeline {
    let receives = queue.dead_letter.map_or(1, |dead| u64::from(dead.max_receives));
    let moves = queue.delay + receives.saturating_mul(queue.visibility.max(INSTANT));
    // Without a dead-letter queue the run ends after the second receive, if there is one.
    let end = moves.saturating_add(queue.visibility).max(queue.retention.min(moves)) + INSTANT;
    let setup = Setup {
        sends: if queue.fifo { vec![0, 0] } else { vec![0] },
        ..Setup::of_one_message(queue, Consumer::workers(1), vec![AttemptOutcome::Fails(INSTANT)])
    };
    let all = events(&setup, end.max(queue.delay + queue.retention.min(LONG) + INSTANT));
    let own: Vec<Event> = all.iter().filter(|event| event.message == 0).copied().collect();
    let mut timeline = TimelineBuilder::default();
    let mut is_over = false;
    for event in &own {
        match event.kind {
            _ if is_over => {}
            EventKind::Sent if queue.delay > 0 => timeline.push_with_text(event, "sent"),
            EventKind::Received => attempt(&mut timeline, event, "fails"),
            EventKind::Expired | EventKind::Moved => {
                timeline.push(event);
                // An expiry in the dead-letter queue is part of the run only if it happens at the move.
                let at_once = |next: &Event| next.kind == EventKind::ExpiredInDeadLetterQueue && next.at <= event.at;
                if let Some(next) = own.iter().find(|next| at_once(next)) {
                    timeline.push(next);
                }
                is_over = true;
            }
            _ => {}
        }
    }
    let at = |kind| own.iter().find(|event| event.kind == kind).map(|event| event.at);
    let (expired, left, expired_there) = (
        at(EventKind::Expired),
        at(EventKind::Moved),
        at(EventKind::ExpiredInDeadLetterQueue),
    );
    let next = all
        .iter()
        .find(|event| event.message == 1 && event.kind == EventKind::Received);
    let tried = own.iter().filter(|event| event.kind == EventKind::Received).count();
    let harm = match (expired, left) {
        (Some(_), None) if tried == 0 => Some((Harm::Lost, "lost, and never received".to_owned())),
        (Some(_), None) => Some((Harm::Lost, "lost".to_owned())),
        (_, Some(left)) if expired_there.is_some_and(|expired_there| expired_there <= left) => {
            Some((Harm::Lost, "lost".to_owned()))
        }
        (_, Some(left)) => {
            let wait = next.filter(|_| queue.fifo).map_or(left, |next| next.at);
            let whose = if queue.fifo { "its group waits" } else { "retried" };
            Some((Harm::Waits(wait), format!("{whose} for {}", clock::span(wait))))
        }
        (None, None) => None,
    };
    timeline.finish(harm)
}

/// Describes a receive: `received`, `received again`, `received for the third time`.
pub(super) fn received(receive: u32) -> String {
    match receive {
        1 => "received".to_owned(),
        2 => RECEIVED.to_owned(),
        more => format!("received for the {} time", ordinal(more)),
    }
}

/// Describes a failed attempt: `received, fails`, `fails again`, `fails for the 5th time`.
fn attempt(timeline: &mut TimelineBuilder, event: &Event, then: &str) {
    match event.receive {
        1 => timeline.push_with_text(event, format!("received, {then}")),
        receive => timeline.push_repeated(event, &format!("{then} again"), then, receive),
    }
}

pub(super) fn unlucky(visibility: u64, receives: u32, is_throttled: bool) -> Timeline {
    let queue = QueueSettings {
        dead_letter: Some(RedriveTarget {
            max_receives: receives,
            retention: LONG,
        }),
        ..lasting(visibility)
    };
    let visibility = visibility.max(INSTANT);
    let end = u64::from(receives) * visibility + INSTANT;
    let (setup, message) = if is_throttled {
        // Another message occupies the only invocation the whole time.
        let consumer = Consumer::function(LONG).reserved(1);
        let setup = Setup {
            sends: vec![0, 0],
            ..Setup::of_one_message(
                queue,
                consumer.renewing(visibility.div_ceil(2), visibility),
                vec![AttemptOutcome::Works(LONG)],
            )
        };
        (setup, 1)
    } else {
        let outcomes = vec![AttemptOutcome::Fails(INSTANT)];
        (Setup::of_one_message(queue, Consumer::workers(1), outcomes), 0)
    };
    let all = events(&setup, end + 2 * INSTANT);
    let own: Vec<Event> = all.into_iter().filter(|event| event.message == message).collect();
    let mut timeline = TimelineBuilder::default();
    for event in &own {
        let then = if is_throttled { "throttled" } else { "fails" };
        match event.kind {
            EventKind::Received => attempt(&mut timeline, event, then),
            EventKind::Moved => timeline.push(event),
            _ => {}
        }
    }
    let is_moved = own.iter().any(|event| event.kind == EventKind::Moved);
    let was_tried = own
        .iter()
        .any(|event| matches!(event.kind, EventKind::Failed | EventKind::Started));
    timeline.finish(is_moved.then(|| {
        let summary = if was_tried {
            "a good message is dead-lettered"
        } else {
            "it was never processed"
        };
        (Harm::GivenUp, summary.to_owned())
    }))
}

pub(super) fn late(retention: u64, dead_letter_retention: u64) -> Timeline {
    let queue = QueueSettings {
        visibility: INSTANT,
        retention,
        delay: 0,
        fifo: false,
        dead_letter: Some(RedriveTarget {
            max_receives: 1,
            retention: dead_letter_retention,
        }),
    };
    // It fails two milliseconds before the end of the retention period, and moves just before it.
    let setup = Setup {
        polls_from: retention.saturating_sub(2 * INSTANT),
        ..Setup::of_one_message(queue, Consumer::workers(1), vec![AttemptOutcome::Fails(INSTANT)])
    };
    let all = events(&setup, retention.max(dead_letter_retention) + 2 * INSTANT);
    let at = |kind| all.iter().find(|event| event.kind == kind);
    let mut timeline = TimelineBuilder::default();
    if let Some(sent) = at(EventKind::Sent) {
        timeline.push_with_text(sent, "sent");
    }
    let (moved, expired) = (at(EventKind::Moved), at(EventKind::ExpiredInDeadLetterQueue));
    // The last milliseconds before the end of the retention period are shown as its end.
    let rounded = |event: &Event| Event {
        at: event.at.div_ceil(clock::SECOND) * clock::SECOND,
        ..*event
    };
    if let Some(moved) = moved {
        timeline.push_with_text(&rounded(moved), "fails and moves to the dead-letter queue");
    }
    let kept = moved
        .zip(expired)
        .map(|(moved, expired)| expired.at.saturating_sub(moved.at));
    if let Some(expired) = expired {
        timeline.push(&rounded(expired));
    }
    // Less than a second is not enough to inspect the message.
    let is_lost = kept.is_some_and(|kept| kept < clock::SECOND);
    timeline.finish(is_lost.then(|| (Harm::Lost, "lost".to_owned())))
}

pub(super) fn expires_in_dead_letter_queue(retention: u64, inspected_at: u64) -> Timeline {
    let queue = QueueSettings {
        fifo: true,
        dead_letter: Some(RedriveTarget {
            max_receives: 1,
            retention,
        }),
        ..lasting(INSTANT)
    };
    let setup = Setup::of_one_message(queue, Consumer::workers(1), vec![AttemptOutcome::Fails(INSTANT)]);
    let all = events(&setup, retention + 3 * INSTANT);
    let moved = all.iter().find(|event| event.kind == EventKind::Moved);
    let expired = all
        .iter()
        .find(|event| event.kind == EventKind::ExpiredInDeadLetterQueue);
    let mut timeline = TimelineBuilder::default();
    // Times count from the move.
    let since = |event: &Event| Event {
        at: event.at.saturating_sub(moved.map_or(0, |moved| moved.at)),
        ..*event
    };
    if let Some(moved) = moved {
        timeline.push(&since(moved));
    }
    let expired = expired.map(since);
    if let Some(expired) = &expired {
        timeline.push_with_text(expired, "deleted there at the end of its retention period");
    }
    let lost = expired.filter(|expired| expired.at < inspected_at);
    timeline.finish(lost.map(|expired| {
        let summary = format!("lost unless someone looks within {}", clock::span(expired.at));
        (Harm::Lost, summary)
    }))
}

pub(super) fn outage(retention: u64, length: u64) -> Timeline {
    let queue = QueueSettings {
        retention,
        ..lasting(clock::SECOND)
    };
    let setup = Setup {
        polls_from: length,
        ..Setup::of_one_message(queue, Consumer::workers(1), vec![AttemptOutcome::Works(INSTANT)])
    };
    let all = events(&setup, length.max(retention) + 2 * INSTANT);
    let mut timeline = TimelineBuilder::default();
    for event in &all {
        match event.kind {
            EventKind::Sent => timeline.push_with_text(event, "sent, nothing reads the queue"),
            EventKind::Expired | EventKind::Received => timeline.push(event),
            _ => {}
        }
    }
    // A receive at exactly the end of the retention period succeeds.
    let expired = all.iter().find(|event| event.kind == EventKind::Expired);
    let is_lost = expired.is_some_and(|expired| expired.at < length);
    timeline.finish(is_lost.then(|| (Harm::Lost, "lost".to_owned())))
}
