//! The runs of scenarios: what is set up, which of its events are told, and what they show.

use super::told::{RECEIVED, Teller, ordinal};
use super::{Harm, Timeline};
use crate::model::clock;
use crate::model::consumer::{Consumer, Heartbeat, LEAST_POLLERS};
use crate::model::event::{Event, Kind};
use crate::model::queue::{DeadLetter, IN_FLIGHT, QueueSettings, VISIBLE_WITHIN};
use crate::model::simulation::{Setup, Simulation};
use crate::model::work::Act;

/// Longer than anything in a scenario, and not yet the end of numbers.
const LONG: u64 = 60 * clock::DAY;
/// How long a failure takes that takes no time.
const INSTANT: u64 = 1;

/// A queue without a dead-letter queue that keeps messages for longer than a scenario lasts.
fn lasting(visibility: u64) -> QueueSettings {
    QueueSettings {
        visibility,
        retention: LONG,
        delay: 0,
        fifo: false,
        dead_letter: None,
    }
}

/// The events of `setup` before `end`.
fn events(setup: &Setup, end: u64) -> Vec<Event> {
    Simulation::new(setup, 0, true).traced(end).1
}

fn find(events: &[Event], receive: u32, kind: Kind) -> Option<u64> {
    let found = events
        .iter()
        .find(|event| event.receive == receive && event.kind == kind);
    found.map(|event| event.at)
}

pub(super) fn overlap(visibility: u64, [work, retry]: [u64; 2], window: u64, heartbeat: Option<Heartbeat>) -> Timeline {
    let consumer = Consumer {
        heartbeat,
        window,
        // A batch that is never full waits for its window.
        batch: if window > 0 { 2 } else { 1 },
        ..Consumer::workers(2)
    };
    let setup = Setup::of_one(lasting(visibility), consumer, vec![Act::Works(work), Act::Works(retry)]);
    let all = events(&setup, window + work + INSTANT);
    let again = find(&all, 2, Kind::Received);
    let is_overlap = again.is_some_and(|again| again < window + work);
    let first_done = find(&all, 1, Kind::Done).filter(|_| is_overlap);
    let mut teller = Teller::default();
    for event in all.iter().filter(|event| event.receive <= 2) {
        match event.kind {
            // The harm is done.
            _ if event.receive > 1 && first_done.is_some_and(|done| event.at >= done) => {}
            Kind::VisibleAgain | Kind::RenewalMissed | Kind::RenewalRefused if event.receive > 1 => {}
            Kind::Renewed | Kind::RenewedToCeiling if event.receive > 1 => {}
            // It comes after the harm.
            Kind::RenewalRefused if again.is_some() => {}
            Kind::Received if event.receive == 1 && window > 0 => {
                teller.say(event, "received, waits for more messages");
            }
            Kind::Done if is_overlap && event.receive == 1 => teller.say(event, "first attempt done"),
            Kind::Done if is_overlap => teller.say(event, "second attempt done"),
            _ => teller.tell(event),
        }
    }
    teller.conclude(is_overlap.then(|| (Harm::WorkedOnTwice, "worked on twice".to_owned())))
}

pub(super) fn throttled(visibility: u64, timeout: u64, window: u64, batches: u32) -> Timeline {
    // The first batch that cannot be done in time: with fewer there is no harm.
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
        pollers: count.max(LEAST_POLLERS),
        ..Consumer::function(timeout).reserved(1)
    };
    let setup = Setup {
        sends: vec![0; count as usize],
        ..Setup::of_one(lasting(visibility), consumer, vec![Act::Works(timeout)])
    };
    let (last, end) = (u64::from(count) - 1, window + u64::from(count) * timeout);
    // Long enough for a second attempt to end.
    let all = events(&setup, end.max(visibility) + window + 2 * timeout + INSTANT);
    let own: Vec<Event> = all.into_iter().filter(|event| event.message == last).collect();
    let again = find(&own, 1, Kind::VisibleAgain);
    let started = find(&own, 1, Kind::Started);
    let repeated = find(&own, 2, Kind::Done);
    let mut teller = Teller::default();
    let others = match count - 1 {
        1 => "another batch".to_owned(),
        others => format!("{others} other batches"),
    };
    let is_shown = |event: &&Event| event.receive == 1 || (event.receive == 2 && event.kind == Kind::Received);
    for event in own.iter().filter(is_shown) {
        match event.kind {
            Kind::Received if event.receive == 1 => {
                teller.say(event, format!("received, throttled by {others}"));
            }
            Kind::Throttled => {}
            _ => teller.tell(event),
        }
    }
    teller.conclude(match (again, started) {
        (Some(_), Some(_)) if repeated.is_some() => Some((Harm::WorkedOnTwice, "worked on twice".to_owned())),
        (Some(_), None) => Some((Harm::ReceiveUsedUp, "a receive is wasted".to_owned())),
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
        ..Setup::of_one(lasting(visibility), consumer, vec![Act::Works(work)])
    };
    // Two attempts, one after the other, and not a third.
    let all = events(&setup, visibility.max(timeout) + timeout + INSTANT);
    let count = |kind, receive| {
        let of = |event: &&Event| event.kind == kind && event.receive == receive;
        all.iter().filter(of).count()
    };
    let stopped = all.iter().find(|event| event.kind == Kind::TimedOut);
    let (first, second) = (count(Kind::Done, 1), count(Kind::Done, 2));
    let mut teller = Teller::default();
    let received = all.iter().find(|event| event.kind == Kind::Received);
    if let Some(received) = received {
        let what = if size == 1 {
            "received".to_owned()
        } else {
            format!("batch of {size} received")
        };
        teller.say(received, what);
    }
    let Some(stopped) = stopped else {
        return teller.conclude(None);
    };
    if size == 1 {
        teller.tell(stopped);
    } else {
        teller.say(stopped, format!("the function times out, {first} of {size} done"));
    }
    if let Some(again) = all.iter().find(|event| event.kind == Kind::VisibleAgain) {
        if size == 1 {
            teller.tell(again);
        } else {
            teller.say(again, format!("all {size} visible again"));
        }
        let mut latest = all.iter().rev();
        if let Some(last) = latest.find(|event| event.receive == 2 && event.kind == Kind::Done) {
            teller.say(last, format!("{second} done a second time"));
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
    teller.conclude(Some(harm))
}

pub(super) fn crash(visibility: u64, after: u64, heartbeat: Option<Heartbeat>) -> Timeline {
    let consumer = Consumer {
        heartbeat,
        ..Consumer::workers(2)
    };
    let acts = vec![Act::Crashes(after), Act::Works(INSTANT)];
    let setup = Setup::of_one(lasting(visibility), consumer, acts);
    waits(&events(&setup, after + VISIBLE_WITHIN + visibility), Kind::Crashed)
}

pub(super) fn timed_out(visibility: u64, timeout: u64) -> Timeline {
    let acts = vec![Act::Works(LONG), Act::Works(INSTANT)];
    let setup = Setup::of_one(lasting(visibility), Consumer::function(timeout), acts);
    waits(&events(&setup, timeout + visibility + INSTANT), Kind::TimedOut)
}

/// How long nobody works on a message of which the first attempt ends in `end`.
fn waits(all: &[Event], end: Kind) -> Timeline {
    let ended = find(all, 1, end);
    let again = find(all, 2, Kind::Received);
    let mut teller = Teller::default();
    for event in all {
        let is_later = event.receive > 1 && event.kind != Kind::Received;
        if !is_later {
            teller.tell(event);
        }
    }
    let wait = ended.zip(again).map(|(ended, again)| again.saturating_sub(ended));
    teller.conclude(wait.filter(|wait| *wait > 0).map(|wait| {
        let summary = format!("nobody works on it for {}", clock::span(wait));
        (Harm::Waits(wait), summary)
    }))
}

/// In [`full`] one message stands for so many: a run of as many as fill the quota takes a second.
const ALIKE: u32 = 1_000;

pub(super) fn full(visibility: u64, failures: u32) -> Timeline {
    filled(visibility, failures, ALIKE)
}

/// A queue all of whose messages fail, each of which stands for `alike`.
pub(in crate::model) fn filled(visibility: u64, failures: u32, alike: u32) -> Timeline {
    let each = u64::from(alike.max(1));
    let quota = IN_FLIGHT as u64 / each;
    let sends = (0..=quota).map(|number| number * each * clock::SECOND / u64::from(failures.max(1)));
    // There is always a worker for one more message: it is the queue that holds it back.
    let workers = Consumer::workers(u32::try_from(quota).unwrap_or(u32::MAX));
    let setup = Setup {
        sends: sends.collect(),
        stands_for: alike,
        ..Setup::of_one(lasting(visibility), workers, vec![Act::Fails(INSTANT)])
    };
    let full = setup.sends.last().copied().unwrap_or(0);
    let all = events(&setup, full.max(visibility) + 2 * INSTANT);
    let of = |message, kind| all.iter().find(|event| event.message == message && event.kind == kind);
    let (sent, received) = (of(quota, Kind::Sent), of(quota, Kind::Received));
    let wait = sent.zip(received).map(|(sent, received)| received.at - sent.at);
    let mut teller = Teller::default();
    if let Some(first) = of(0, Kind::Received) {
        teller.say(first, format!("{failures} failures per second begin"));
    }
    if let Some(sent) = sent {
        teller.say(
            sent,
            format!("{} messages in flight, the most there may be", grouped(IN_FLIGHT)),
        );
    }
    if let Some(again) = of(0, Kind::VisibleAgain) {
        teller.say(again, "the first are visible again");
    }
    teller.conclude(wait.filter(|wait| *wait > 0).map(|wait| {
        let summary = format!("nothing was received for {}", clock::span(wait));
        (Harm::Waits(wait), summary)
    }))
}

/// `120,000`.
fn grouped(number: usize) -> String {
    format!("{},{:03}", number / 1_000, number % 1_000)
}

pub(super) fn failing(queue: QueueSettings) -> Timeline {
    let receives = queue.dead_letter.map_or(1, |dead| u64::from(dead.max_receives));
    let moves = queue.delay + receives.saturating_mul(queue.visibility.max(INSTANT));
    // Without a dead-letter queue the second receive, if there is one, is all there is to see.
    let end = moves.saturating_add(queue.visibility).max(queue.retention.min(moves)) + INSTANT;
    let setup = Setup {
        sends: if queue.fifo { vec![0, 0] } else { vec![0] },
        ..Setup::of_one(queue, Consumer::workers(1), vec![Act::Fails(INSTANT)])
    };
    let all = events(&setup, end.max(queue.delay + queue.retention.min(LONG) + INSTANT));
    let own: Vec<Event> = all.iter().filter(|event| event.message == 0).copied().collect();
    let mut teller = Teller::default();
    let mut is_over = false;
    for event in &own {
        match event.kind {
            _ if is_over => {}
            Kind::Sent if queue.delay > 0 => teller.say(event, "sent"),
            Kind::Received => attempt(&mut teller, event, "fails"),
            Kind::Expired | Kind::Moved => {
                teller.tell(event);
                // What happens in the dead-letter queue belongs to the run only where it happens at once.
                let at_once = |next: &Event| next.kind == Kind::ExpiredAside && next.at <= event.at;
                if let Some(next) = own.iter().find(|next| at_once(next)) {
                    teller.tell(next);
                }
                is_over = true;
            }
            _ => {}
        }
    }
    let at = |kind| own.iter().find(|event| event.kind == kind).map(|event| event.at);
    let (gone, left, aside) = (at(Kind::Expired), at(Kind::Moved), at(Kind::ExpiredAside));
    let next = all
        .iter()
        .find(|event| event.message == 1 && event.kind == Kind::Received);
    let tried = own.iter().filter(|event| event.kind == Kind::Received).count();
    let harm = match (gone, left) {
        (Some(_), None) if tried == 0 => Some((Harm::Lost, "lost, and never received".to_owned())),
        (Some(_), None) => Some((Harm::Lost, "lost".to_owned())),
        (_, Some(left)) if aside.is_some_and(|aside| aside <= left) => Some((Harm::Lost, "lost".to_owned())),
        (_, Some(left)) => {
            let wait = next.filter(|_| queue.fifo).map_or(left, |next| next.at);
            let whose = if queue.fifo { "its group waits" } else { "retried" };
            Some((Harm::Waits(wait), format!("{whose} for {}", clock::span(wait))))
        }
        (None, None) => None,
    };
    teller.conclude(harm)
}

/// `received`, `received again`, `received for the third time`.
pub(super) fn received(receive: u32) -> String {
    match receive {
        1 => "received".to_owned(),
        2 => RECEIVED.to_owned(),
        more => format!("received for the {} time", ordinal(more)),
    }
}

/// `received, fails`, `fails again`, `fails for the 5th time`.
fn attempt(teller: &mut Teller, event: &Event, then: &str) {
    match event.receive {
        1 => teller.say(event, format!("received, {then}")),
        receive => teller.repeat(event, &format!("{then} again"), then, receive),
    }
}

pub(super) fn unlucky(visibility: u64, receives: u32, is_throttled: bool) -> Timeline {
    let queue = QueueSettings {
        dead_letter: Some(DeadLetter {
            max_receives: receives,
            retention: LONG,
        }),
        ..lasting(visibility)
    };
    let visibility = visibility.max(INSTANT);
    let end = u64::from(receives) * visibility + INSTANT;
    let (setup, message) = if is_throttled {
        // Another message keeps the only place for as long as it takes.
        let consumer = Consumer::function(LONG).reserved(1);
        let setup = Setup {
            sends: vec![0, 0],
            ..Setup::of_one(
                queue,
                consumer.renewing(visibility.div_ceil(2), visibility),
                vec![Act::Works(LONG)],
            )
        };
        (setup, 1)
    } else {
        let acts = vec![Act::Fails(INSTANT)];
        (Setup::of_one(queue, Consumer::workers(1), acts), 0)
    };
    let all = events(&setup, end + 2 * INSTANT);
    let own: Vec<Event> = all.into_iter().filter(|event| event.message == message).collect();
    let mut teller = Teller::default();
    for event in &own {
        let then = if is_throttled { "throttled" } else { "fails" };
        match event.kind {
            Kind::Received => attempt(&mut teller, event, then),
            Kind::Moved => teller.tell(event),
            _ => {}
        }
    }
    let is_moved = own.iter().any(|event| event.kind == Kind::Moved);
    let was_tried = own
        .iter()
        .any(|event| matches!(event.kind, Kind::Failed | Kind::Started));
    teller.conclude(is_moved.then(|| {
        let summary = if was_tried {
            "a good message is given up"
        } else {
            "nobody has worked on it"
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
        dead_letter: Some(DeadLetter {
            max_receives: 1,
            retention: dead_letter_retention,
        }),
    };
    // It fails at the last moment but one, and moves at the last.
    let setup = Setup {
        reads_from: retention.saturating_sub(2 * INSTANT),
        ..Setup::of_one(queue, Consumer::workers(1), vec![Act::Fails(INSTANT)])
    };
    let all = events(&setup, retention.max(dead_letter_retention) + 2 * INSTANT);
    let at = |kind| all.iter().find(|event| event.kind == kind);
    let mut teller = Teller::default();
    if let Some(sent) = at(Kind::Sent) {
        teller.say(sent, "sent");
    }
    let (moved, gone) = (at(Kind::Moved), at(Kind::ExpiredAside));
    // The last moment before the end of the retention is told as the end.
    let rounded = |event: &Event| Event {
        at: event.at.div_ceil(clock::SECOND) * clock::SECOND,
        ..*event
    };
    if let Some(moved) = moved {
        teller.say(&rounded(moved), "fails and moves to the dead-letter queue");
    }
    let kept = moved.zip(gone).map(|(moved, gone)| gone.at.saturating_sub(moved.at));
    if let Some(gone) = gone {
        teller.tell(&rounded(gone));
    }
    // A second is no time to look at it.
    let is_lost = kept.is_some_and(|kept| kept < clock::SECOND);
    teller.conclude(is_lost.then(|| (Harm::Lost, "lost".to_owned())))
}

pub(super) fn aside(retention: u64, looked_at: u64) -> Timeline {
    let queue = QueueSettings {
        fifo: true,
        dead_letter: Some(DeadLetter {
            max_receives: 1,
            retention,
        }),
        ..lasting(INSTANT)
    };
    let setup = Setup::of_one(queue, Consumer::workers(1), vec![Act::Fails(INSTANT)]);
    let all = events(&setup, retention + 3 * INSTANT);
    let moved = all.iter().find(|event| event.kind == Kind::Moved);
    let gone = all.iter().find(|event| event.kind == Kind::ExpiredAside);
    let mut teller = Teller::default();
    // Time counts from the move.
    let since = |event: &Event| Event {
        at: event.at.saturating_sub(moved.map_or(0, |moved| moved.at)),
        ..*event
    };
    if let Some(moved) = moved {
        teller.tell(&since(moved));
    }
    let gone = gone.map(since);
    if let Some(gone) = &gone {
        teller.say(gone, "deleted there at the end of its retention period");
    }
    let lost = gone.filter(|gone| gone.at < looked_at);
    teller.conclude(lost.map(|gone| {
        let summary = format!("lost unless somebody looks within {}", clock::span(gone.at));
        (Harm::Lost, summary)
    }))
}

pub(super) fn outage(retention: u64, length: u64) -> Timeline {
    let queue = QueueSettings {
        retention,
        ..lasting(clock::SECOND)
    };
    let setup = Setup {
        reads_from: length,
        ..Setup::of_one(queue, Consumer::workers(1), vec![Act::Works(INSTANT)])
    };
    let all = events(&setup, length.max(retention) + 2 * INSTANT);
    let mut teller = Teller::default();
    for event in &all {
        match event.kind {
            Kind::Sent => teller.say(event, "sent, nobody reads the queue"),
            Kind::Expired | Kind::Received => teller.tell(event),
            _ => {}
        }
    }
    // Who reads at the very end of the retention period is told to be in time.
    let gone = all.iter().find(|event| event.kind == Kind::Expired);
    let is_lost = gone.is_some_and(|gone| gone.at < length);
    teller.conclude(is_lost.then(|| (Harm::Lost, "lost".to_owned())))
}
