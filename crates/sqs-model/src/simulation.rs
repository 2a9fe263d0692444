//! Advances a queue, its dead-letter queue and its consumer from one event to the next.
//!
//! Events of the same millisecond happen in this order: work ends; messages expire and become visible; heartbeats are
//! sent and messages arrive; consumers receive. So work that takes exactly as long as the visibility timeout ends in
//! time, in agreement with AWS's requirement on the two, and a renewal sent as the timeout ends comes too late.

mod attempt;

use super::consumer::{Consumer, POLLER_INTERVAL, Recheck};
use super::event::{Event, EventKind};
use super::queue::{Change, Moved, Queue, QueueSettings, Receipt, VisibilityError};
use super::random::Random;
use super::tally::Tally;
use super::work::{AttemptOutcome, Outcomes};
use attempt::Attempt;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Maximum average number of receives per message; a run that exceeds it is aborted.
const MAX_RECEIVES_PER_MESSAGE: u64 = 20;
/// Number of receives below which a run is never aborted.
const MIN_RECEIVES: u64 = 200_000;
/// Number of receives above which a run is always aborted.
const MAX_RECEIVES: u64 = 10_000_000;

/// Configuration of a run.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Settings of the queue.
    pub queue: QueueSettings,
    /// Consumer of the queue.
    pub consumer: Consumer,
    /// Durations and results of attempts.
    pub outcomes: Outcomes,
    /// Times at which messages are sent, in milliseconds, ascending.
    pub sends: Vec<u64>,
    /// Number of message groups, for FIFO queues.
    pub groups: u32,
    /// Time at which the consumer begins to poll.
    pub polls_from: u64,
    /// Number of messages that each message represents; the quota of messages in flight is divided by it.
    pub stands_for: u32,
}

impl Setup {
    /// Creates a run with one message, sent and polled for at time 0.
    pub fn of_one_message(queue: QueueSettings, consumer: Consumer, outcomes: Vec<AttemptOutcome>) -> Self {
        Setup {
            queue,
            consumer,
            outcomes: Outcomes::Scripted(outcomes),
            sends: vec![0],
            groups: 1,
            polls_from: 0,
            stands_for: 1,
        }
    }
}

/// State of a message that the queue does not know.
#[derive(Debug, Default)]
struct Record {
    /// Number of completed attempts.
    done: u32,
    /// Number of attempts in progress.
    running: u32,
    location: MessageLocation,
    has_overlapped: bool,
    is_poison: bool,
    /// `true` if nothing more happens to the message.
    is_finished: bool,
}

/// Records by the index of the message, from the first one that is not finished on. Messages are sent in the order of
/// their indexes, and nearly all of them are finished in that order.
#[derive(Debug, Default)]
struct Records {
    first: u64,
    records: VecDeque<Record>,
}

impl Records {
    fn get(&mut self, message: u64) -> Option<&mut Record> {
        let at = usize::try_from(message.checked_sub(self.first)?).ok()?;
        self.records.get_mut(at).filter(|record| !record.is_finished)
    }

    /// Drops the records of finished messages.
    fn forget_finished(&mut self) {
        while self.records.front().is_some_and(|record| record.is_finished) {
            self.records.pop_front();
            self.first += 1;
        }
    }
}

/// Location of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum MessageLocation {
    #[default]
    Queue,
    /// Dead-letter queue, where people can inspect the message.
    DeadLetterQueue,
    /// Deleted, from either queue.
    Deleted,
}

/// A scheduled event. The order of variants is the order of events at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// Next step of an attempt, by its number and its index.
    Step(u64, u32),
    /// Heartbeat of an attempt, by its number and its index, and the number of the heartbeat.
    Beat(u64, u32, u32),
    /// End of a batching window.
    Close(u64),
    /// First poll of the consumer.
    Read,
    /// Lambda may add a poller.
    Grow,
}

/// A run.
#[derive(Debug)]
pub struct Simulation<'s> {
    setup: &'s Setup,
    now: u64,
    queue: Queue,
    dead_letter_queue: Option<Queue>,
    seed: u64,
    /// Generator for messages; attempts have their own.
    random: Random,
    due: BinaryHeap<Reverse<(u64, Due)>>,
    sent: usize,
    records: Records,
    /// Times at which consumers of messages crashed that were not received since.
    crashed: FxHashMap<u64, u64>,
    /// Attempts in progress, and others, whose indexes and memory are reused.
    attempts: Vec<Attempt>,
    idle_attempts: Vec<u32>,
    next: u64,
    running: u32,
    /// Number of batches that are received concurrently, at the moment.
    pollers: u32,
    /// `true` if a poller may be added soon.
    is_growing: bool,
    /// Batches that are throttled.
    throttled: VecDeque<Vec<Receipt>>,
    /// Batches being collected, with their numbers.
    collecting: Vec<(u64, Vec<Receipt>)>,
    moved: Vec<Moved>,
    /// Times at which the parallel parts of a consumer are free; its memory is reused.
    lanes: Vec<u64>,
    tally: Tally,
    /// Number of receives above which the run is aborted.
    max_receives: u64,
    trace: Option<Vec<Event>>,
}

impl<'s> Simulation<'s> {
    /// Creates a run at the time before its first event. A traced run records every event, which suits short runs only.
    pub fn new(setup: &'s Setup, seed: u64, is_traced: bool) -> Self {
        let dead = setup.queue.dead_letter;
        let dead_letter_queue = dead.map(|dead| {
            Queue::new(QueueSettings {
                retention: dead.retention,
                dead_letter: None,
                delay: 0,
                ..setup.queue
            })
        });
        let messages = setup.sends.len() as u64;
        let max_receives = MAX_RECEIVES_PER_MESSAGE.saturating_mul(messages);
        let mut simulation = Simulation {
            setup,
            now: 0,
            queue: Queue::new(setup.queue).representing(setup.stands_for),
            dead_letter_queue,
            seed,
            random: Random::new(seed),
            due: BinaryHeap::new(),
            sent: 0,
            records: Records::default(),
            crashed: FxHashMap::default(),
            attempts: Vec::new(),
            idle_attempts: Vec::new(),
            next: 0,
            running: 0,
            pollers: setup.consumer.first_pollers.min(setup.consumer.pollers),
            is_growing: false,
            throttled: VecDeque::new(),
            collecting: Vec::new(),
            moved: Vec::new(),
            lanes: Vec::new(),
            tally: Tally::default(),
            max_receives: max_receives.clamp(MIN_RECEIVES, MAX_RECEIVES.max(2 * messages)),
            trace: is_traced.then(Vec::new),
        };
        simulation.due.push(Reverse((setup.polls_from, Due::Read)));
        simulation
    }

    /// Runs until no event is left and returns the counts.
    pub fn run(mut self) -> Tally {
        while self.step().is_some() {}
        self.tally
    }

    /// Runs up to `end` and returns the counts and all events, in order.
    pub fn traced(mut self, end: u64) -> (Tally, Vec<Event>) {
        while self.next_time().is_some_and(|at| at < end) {
            self.step();
        }
        (self.tally, self.trace.unwrap_or_default())
    }

    /// Returns the time of the next event.
    fn next_time(&mut self) -> Option<u64> {
        if self.tally.is_aborted {
            return None;
        }
        let send = self.setup.sends.get(self.sent).copied();
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let mut next = send.unwrap_or(u64::MAX).min(due.unwrap_or(u64::MAX));
        for queue in [Some(&mut self.queue), self.dead_letter_queue.as_mut()] {
            if let Some(queue) = queue.filter(|queue| queue.idle_until() < next) {
                next = next.min(queue.next_change().unwrap_or(u64::MAX));
            }
        }
        // A message too old for the dead-letter queue has an expiry in the past.
        (next < u64::MAX).then_some(next.max(self.now))
    }

    /// Advances to the next event and processes everything that is due then.
    fn step(&mut self) -> Option<u64> {
        let now = self.next_time()?;
        self.now = now;
        while let Some(Reverse((at, Due::Step(_, attempt)))) = self.due.peek().copied() {
            if at > now {
                break;
            }
            self.due.pop();
            self.step_attempt(now, attempt);
        }
        self.advance(now);
        while let Some(Reverse((at, due))) = self.due.peek().copied() {
            if at > now {
                break;
            }
            self.due.pop();
            match due {
                Due::Step(_, attempt) => self.step_attempt(now, attempt),
                Due::Beat(number, attempt, beat) => self.beat(now, number, attempt, beat),
                Due::Close(batch) => self.close(now, batch),
                Due::Read => {}
                Due::Grow => {
                    self.is_growing = false;
                    self.pollers = (self.pollers + 1).min(self.setup.consumer.pollers);
                }
            }
        }
        while self.setup.sends.get(self.sent).is_some_and(|at| *at <= now) {
            self.send(now);
        }
        if now >= self.setup.polls_from {
            self.receive(now);
            self.scale(now);
        }
        self.tally.peak_in_flight = self.tally.peak_in_flight.max(self.queue.in_flight());
        self.tally.is_aborted = self.tally.receives > self.max_receives;
        Some(now)
    }

    fn trace(&mut self, at: u64, message: u64, receive: u32, kind: EventKind) {
        if let Some(trace) = &mut self.trace {
            trace.push(Event {
                at,
                message,
                receive,
                kind,
            });
        }
    }

    fn send(&mut self, now: u64) {
        self.sent += 1;
        self.tally.sent += 1;
        let group = self.random.below(u64::from(self.setup.groups.max(1)));
        let group = u32::try_from(group).unwrap_or(0);
        let is_poison = match &self.setup.outcomes {
            Outcomes::Random { poison, .. } => self.random.happens(*poison),
            Outcomes::Scripted(_) => false,
        };
        let message = self.queue.send(now, group);
        self.records.records.push_back(Record {
            is_poison,
            ..Record::default()
        });
        self.trace(now, message, 0, EventKind::Sent);
    }

    /// Applies the changes of both queues up to `now`.
    fn advance(&mut self, now: u64) {
        self.queue.advance(now);
        if !self.queue.changes.is_empty() {
            self.note_changes(now);
            // A throttled batch keeps only messages that are still invisible by their receive.
            for batch in &mut self.throttled {
                batch.retain(|receipt| self.queue.holds(*receipt));
            }
            self.throttled.retain(|batch| !batch.is_empty());
        }
        self.advance_dead_letter_queue(now);
    }

    /// Records the changes of the queue.
    fn note_changes(&mut self, now: u64) {
        let mut changes = std::mem::take(&mut self.queue.changes);
        for change in changes.drain(..) {
            match change {
                Change::VisibleAgain(message, receive) => self.trace(now, message, receive, EventKind::VisibleAgain),
                Change::Expired(message, receive) => {
                    self.trace(now, message, receive, EventKind::Expired);
                    self.leave(message, MessageLocation::Deleted);
                }
            }
        }
        self.queue.changes = changes;
    }

    fn advance_dead_letter_queue(&mut self, now: u64) {
        let Some(dead_letter_queue) = &mut self.dead_letter_queue else {
            return;
        };
        dead_letter_queue.advance(now);
        for change in std::mem::take(&mut dead_letter_queue.changes) {
            if let Change::Expired(message, _) = change {
                self.trace(now, message, 0, EventKind::ExpiredInDeadLetterQueue);
            }
        }
    }

    /// Receives as many messages as the consumer has room for.
    fn receive(&mut self, now: u64) {
        let Consumer { batch, window, .. } = self.setup.consumer;
        self.resume(now);
        while !self.queue.is_idle(now)
            && let Some(room) = self.room()
        {
            let received = self.queue.receive(now, room, &mut self.moved);
            self.note_changes(now);
            self.move_to_dead_letter_queue(now);
            if received.is_empty() {
                return;
            }
            for receipt in &received {
                self.note_receive(now, *receipt);
            }
            if window == 0 {
                self.start_or_throttle(now, received);
                continue;
            }
            if self.may_collect() {
                self.next += 1;
                self.due.push(Reverse((now + window, Due::Close(self.next))));
                self.collecting.push((self.next, Vec::new()));
            }
            let smallest = self
                .collecting
                .iter_mut()
                .min_by_key(|(_, batch_so_far)| batch_so_far.len());
            let Some((number, batch_so_far)) = smallest else { return };
            batch_so_far.extend(received);
            let (number, is_full) = (*number, batch_so_far.len() >= batch as usize);
            if is_full {
                self.close(now, number);
            }
        }
    }

    /// Lets Lambda add a poller soon if all are busy and messages wait, and start again with the first ones if there is nothing to do.
    fn scale(&mut self, now: u64) {
        let consumer = &self.setup.consumer;
        match self.batches() {
            0 => self.pollers = consumer.first_pollers.min(consumer.pollers),
            all if all < self.pollers as usize || self.pollers >= consumer.pollers || self.is_growing => {}
            _ if self.queue.has_visible() => {
                self.is_growing = true;
                self.due.push(Reverse((now + POLLER_INTERVAL, Due::Grow)));
            }
            _ => {}
        }
    }

    /// Returns the number of batches that have been received and are not finished.
    fn batches(&self) -> usize {
        self.running as usize + self.throttled.len() + self.collecting.len()
    }

    /// Returns how many messages the next receive may return, or `None` if the consumer has no room.
    fn room(&self) -> Option<u32> {
        let consumer = &self.setup.consumer;
        if consumer.window == 0 {
            return (self.batches() < self.pollers as usize).then_some(consumer.batch);
        }
        if self.may_collect() {
            return Some(1);
        }
        let smallest = self
            .collecting
            .iter()
            .map(|(_, batch_so_far)| batch_so_far.len())
            .min()?;
        Some(consumer.batch.saturating_sub(u32::try_from(smallest).ok()?))
    }

    /// Returns `true` if another batch may be collected.
    fn may_collect(&self) -> bool {
        let consumer = &self.setup.consumer;
        self.collecting.len() < consumer.collectors as usize && self.batches() < self.pollers as usize
    }

    fn note_receive(&mut self, now: u64, receipt: Receipt) {
        self.tally.receives += 1;
        if let Some(record) = self.records.get(receipt.message)
            && record.running > 0
            && !record.has_overlapped
        {
            record.has_overlapped = true;
            self.tally.overlapping += 1;
        }
        if let Some(crashed) = self.crashed.remove(&receipt.message) {
            let wait = now - crashed;
            self.tally.recovery += wait;
            self.tally.longest_recovery = self.tally.longest_recovery.max(wait);
        }
        self.trace(now, receipt.message, receipt.receive, EventKind::Received);
    }

    /// Puts messages moved by a receive into the dead-letter queue.
    fn move_to_dead_letter_queue(&mut self, now: u64) {
        for moved in std::mem::take(&mut self.moved) {
            self.trace(now, moved.message, moved.receives, EventKind::Moved);
            self.tally.dead_lettered += 1;
            let record = self.records.get(moved.message);
            self.tally.dead_lettered_done += u64::from(record.is_some_and(|record| record.done > 0));
            let dead = self.setup.queue.dead_letter;
            let is_too_old = dead.is_some_and(|dead| !self.setup.queue.fifo && moved.sent + dead.retention <= now);
            if let Some(dead_letter_queue) = &mut self.dead_letter_queue {
                dead_letter_queue.receive_moved(now, moved);
            }
            self.leave(
                moved.message,
                if is_too_old {
                    MessageLocation::Deleted
                } else {
                    MessageLocation::DeadLetterQueue
                },
            );
        }
    }

    /// Starts a batch that is full or whose batching window has ended.
    fn close(&mut self, now: u64, number: u64) {
        if let Some(at) = self.collecting.iter().position(|(open, _)| *open == number) {
            let (_, batch) = self.collecting.remove(at);
            self.start_or_throttle(now, batch);
        }
    }

    /// Starts a batch, or throttles it if the function is at its concurrency.
    fn start_or_throttle(&mut self, now: u64, batch: Vec<Receipt>) {
        if self.running < self.setup.consumer.concurrency {
            self.begin(now, &batch);
            return;
        }
        for receipt in &batch {
            self.trace(now, receipt.message, receipt.receive, EventKind::Throttled);
        }
        self.throttled.push_back(batch);
    }

    /// Starts throttled batches while there is room.
    fn resume(&mut self, now: u64) {
        while self.running < self.setup.consumer.concurrency {
            let Some(batch) = self.throttled.pop_front() else {
                return;
            };
            for receipt in &batch {
                self.trace(now, receipt.message, receipt.receive, EventKind::Started);
            }
            self.begin(now, &batch);
        }
    }

    /// Returns the time at which a message was sent.
    fn sent_at(&self, message: u64) -> u64 {
        let at = usize::try_from(message).unwrap_or(usize::MAX);
        self.setup.sends.get(at).copied().unwrap_or(self.now)
    }

    /// Records that a message has left the queue.
    fn leave(&mut self, message: u64, location: MessageLocation) {
        if let Some(record) = self.records.get(message) {
            record.location = location;
        }
        self.drop_if_finished(message);
    }

    /// Drops the record of a message that has left the queue and has no attempt in progress; counts it if it is lost.
    fn drop_if_finished(&mut self, message: u64) {
        let Some(record) = self.records.get(message) else {
            return;
        };
        if record.location == MessageLocation::Queue || record.running > 0 {
            return;
        }
        self.tally.lost += u64::from(record.done == 0 && record.location == MessageLocation::Deleted);
        record.is_finished = true;
        self.records.forget_finished();
    }

    /// Determines the result of an attempt. Its generator depends only on the seed, the message and the receive, so a
    /// message fares alike under different configurations.
    fn draw(&self, receipt: Receipt, is_poison: bool) -> AttemptOutcome {
        let own = receipt.message.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ u64::from(receipt.receive).rotate_left(32);
        let random = &mut Random::new(self.seed.rotate_left(17) ^ own);
        match &self.setup.outcomes {
            Outcomes::Scripted(outcomes) => {
                let at = (receipt.receive as usize).saturating_sub(1);
                outcomes
                    .get(at)
                    .or(outcomes.last())
                    .copied()
                    .unwrap_or(AttemptOutcome::Works(1))
            }
            Outcomes::Random {
                work,
                failing,
                crashing,
                ..
            } => {
                let time = work.draw(random);
                if random.happens(*crashing) {
                    AttemptOutcome::Crashes(1 + random.below(time))
                } else if is_poison || random.happens(*failing) {
                    AttemptOutcome::Fails(time)
                } else {
                    AttemptOutcome::Works(time)
                }
            }
        }
    }
}
