//! The runs of scenarios: what is set up, which of its events are told, and what they show.

use super::told::{Teller, ordinal};
use super::{Harm, Timeline};
use crate::model::clock;
use crate::model::consumer::{Consumer, Heartbeat, LEAST_POLLERS};
use crate::model::event::{Event, Kind};
use crate::model::queue::{DeadLetter, QueueSettings, VISIBLE_WITHIN};
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
            Kind::Received if event.receive == 1 && window > 0 => teller.say(event, "received, waits for its batch"),
            Kind::Done if is_overlap && event.receive == 1 => teller.say(event, "first one done"),
            Kind::Done if is_overlap => teller.say(event, "second one done"),
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
                teller.say(event, format!("received behind {others}"));
            }
            Kind::Throttled => {}
            Kind::Started => teller.say(event, "begins"),
            _ => teller.tell(event),
        }
    }
    teller.conclude(match (again, started) {
        (Some(_), Some(_)) if repeated.is_some() => Some((Harm::WorkedOnTwice, "worked on twice".to_owned())),
        (Some(_), None) => Some((Harm::ReceiveUsedUp, "a receive wasted".to_owned())),
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
        teller.say(received, format!("batch of {size} received"));
    }
    let Some(stopped) = stopped else {
        return teller.conclude(None);
    };
    teller.say(stopped, format!("stopped at its timeout, {first} of {size} done"));
    if let Some(again) = all.iter().find(|event| event.kind == Kind::VisibleAgain) {
        teller.say(again, format!("all {size} visible again"));
        let mut latest = all.iter().rev();
        if let Some(last) = latest.find(|event| event.receive == 2 && event.kind == Kind::Done) {
            teller.say(last, format!("{second} done a second time"));
        }
    }
    let harm = if second > 0 {
        (Harm::DoneAgain, "finished work is repeated".to_owned())
    } else {
        (Harm::NeverDone, "no message is ever finished".to_owned())
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
    let all = events(&setup, after + VISIBLE_WITHIN + visibility);
    let died = find(&all, 1, Kind::Crashed);
    let again = find(&all, 2, Kind::Received);
    let mut teller = Teller::default();
    for event in &all {
        let is_later = event.receive > 1 && event.kind != Kind::Received;
        if !is_later {
            teller.tell(event);
        }
    }
    let wait = died.zip(again).map(|(died, again)| again.saturating_sub(died));
    teller.conclude(wait.filter(|wait| *wait > 0).map(|wait| {
        let summary = format!("nobody works on it for {}", clock::span(wait));
        (Harm::Waits(wait), summary)
    }))
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
        (Some(_), None) if tried == 0 => Some((Harm::Lost, "lost, and nobody has seen it".to_owned())),
        (Some(_), None) => Some((Harm::Lost, "lost".to_owned())),
        (_, Some(left)) if aside.is_some_and(|aside| aside <= left) => {
            Some((Harm::Lost, "lost in the dead-letter queue".to_owned()))
        }
        (_, Some(left)) => {
            let wait = next.filter(|_| queue.fifo).map_or(left, |next| next.at);
            let whose = if queue.fifo {
                "its group waits"
            } else {
                "nobody is told"
            };
            Some((Harm::Waits(wait), format!("{whose} for {}", clock::span(wait))))
        }
        (None, None) => None,
    };
    teller.conclude(harm)
}

/// `received`, `received a second time`.
pub(super) fn received(receive: u32) -> String {
    match receive {
        1 => "received".to_owned(),
        more => format!("received a {} time", ordinal(more)),
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
            "given up, and nobody has worked on it"
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
        teller.say(&rounded(gone), "too old for it");
    }
    // A second is no time to look at it.
    let is_lost = kept.is_some_and(|kept| kept < clock::SECOND);
    teller.conclude(is_lost.then(|| (Harm::Lost, "lost".to_owned())))
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
            Kind::Sent => teller.say(event, "sent, and nobody reads"),
            Kind::Expired | Kind::Received => teller.tell(event),
            _ => {}
        }
    }
    let is_lost = all.iter().any(|event| event.kind == Kind::Expired);
    teller.conclude(is_lost.then(|| (Harm::Lost, "lost".to_owned())))
}
