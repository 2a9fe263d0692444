//! A queue, its dead-letter queue and its consumer over time, from one event to the next.
//!
//! What falls on one millisecond happens in this order: work ends; messages expire and become visible; heartbeats are
//! sent and messages arrive; consumers receive. So work that takes exactly as long as the visibility timeout is done in
//! time, which is what AWS requires of both, and a renewal that is sent as the timeout ends comes too late.

mod attempt;

use super::consumer::{Consumer, Recheck};
use super::event::{Event, Kind};
use super::queue::{Change, Moved, Queue, QueueSettings, Receipt, Refused};
use super::random::Random;
use super::tally::Tally;
use super::work::{Act, Labour};
use attempt::Attempt;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// More receives a message than this, on the average, and a run is broken off.
const MOST_RECEIVES: u64 = 20;
/// A run has so many at least.
const LEAST_RECEIVES: u64 = 200_000;

/// What a run begins with.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The queue.
    pub queue: QueueSettings,
    /// Who reads it.
    pub consumer: Consumer,
    /// How the work goes.
    pub labour: Labour,
    /// When messages are sent, in milliseconds, rising.
    pub sends: Vec<u64>,
    /// How many message groups they belong to, on a FIFO queue.
    pub groups: u32,
    /// When the consumer begins to read.
    pub reads_from: u64,
    /// How many messages each of them stands for: the quota of messages in flight is full with so many times fewer.
    pub stands_for: u32,
}

impl Setup {
    /// One message at the beginning, read at once.
    pub fn of_one(queue: QueueSettings, consumer: Consumer, acts: Vec<Act>) -> Self {
        Setup {
            queue,
            consumer,
            labour: Labour::Scripted(acts),
            sends: vec![0],
            groups: 1,
            reads_from: 0,
            stands_for: 1,
        }
    }
}

/// What is known of a message beside what the queue knows.
#[derive(Debug, Default)]
struct Record {
    sent: u64,
    /// How often its work was done.
    done: u32,
    /// How often it began.
    tried: u32,
    /// How many work on it.
    running: u32,
    place: Place,
    has_overlapped: bool,
    is_poison: bool,
    crashed: Option<u64>,
}

/// Where a message is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Queue,
    /// In the dead-letter queue, where people can look at it.
    Aside,
    /// Nowhere.
    Gone,
}

/// What is due, by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// An attempt gets on. First, of what falls on one moment.
    Step(u64),
    /// A heartbeat of an attempt, and which.
    Beat(u64, u32),
    /// The window of a batch closes.
    Close(u64),
    /// The consumer begins to read.
    Read,
}

/// A run.
#[derive(Debug)]
pub struct Simulation<'s> {
    setup: &'s Setup,
    now: u64,
    queue: Queue,
    aside: Option<Queue>,
    seed: u64,
    /// Of the messages themselves.
    random: Random,
    due: BinaryHeap<Reverse<(u64, Due)>>,
    sent: usize,
    records: FxHashMap<u64, Record>,
    attempts: FxHashMap<u64, Attempt>,
    next: u64,
    running: u32,
    /// Batches that are throttled.
    held: VecDeque<Vec<Receipt>>,
    /// The batches that are being collected, with their numbers.
    open: Vec<(u64, Vec<Receipt>)>,
    moved: Vec<Moved>,
    tally: Tally,
    trace: Option<Vec<Event>>,
}

impl<'s> Simulation<'s> {
    /// Before the first event. A trace holds every event, for runs of few.
    pub fn new(setup: &'s Setup, seed: u64, is_traced: bool) -> Self {
        let dead = setup.queue.dead_letter;
        let aside = dead.map(|dead| {
            Queue::new(QueueSettings {
                retention: dead.retention,
                dead_letter: None,
                delay: 0,
                ..setup.queue
            })
        });
        let mut simulation = Simulation {
            setup,
            now: 0,
            queue: Queue::new(setup.queue).each_for(setup.stands_for),
            aside,
            seed,
            random: Random::new(seed),
            due: BinaryHeap::new(),
            sent: 0,
            records: FxHashMap::default(),
            attempts: FxHashMap::default(),
            next: 0,
            running: 0,
            held: VecDeque::new(),
            open: Vec::new(),
            moved: Vec::new(),
            tally: Tally::default(),
            trace: is_traced.then(Vec::new),
        };
        simulation.due.push(Reverse((setup.reads_from, Due::Read)));
        simulation
    }

    /// Runs until nothing is left to happen, and tells what it came to.
    pub fn run(mut self) -> Tally {
        while self.step().is_some() {}
        self.tally
    }

    /// Runs until nothing happens before `end` any more, and tells every event, in order.
    pub fn traced(mut self, end: u64) -> (Tally, Vec<Event>) {
        while self.moment().is_some_and(|at| at < end) {
            self.step();
        }
        (self.tally, self.trace.unwrap_or_default())
    }

    /// When something happens next.
    fn moment(&mut self) -> Option<u64> {
        if self.tally.is_broken_off {
            return None;
        }
        let sends = self.setup.sends.get(self.sent).copied();
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let aside = self.aside.as_mut().and_then(Queue::next_change);
        let times = [sends, due, self.queue.next_change(), aside];
        // What is too old when it arrives has expired before.
        times.into_iter().flatten().min().map(|at| at.max(self.now))
    }

    /// Lets the next moment happen.
    fn step(&mut self) -> Option<u64> {
        let now = self.moment()?;
        self.now = now;
        while let Some(Reverse((at, Due::Step(attempt)))) = self.due.peek().copied() {
            if at > now {
                break;
            }
            self.due.pop();
            self.go_on(now, attempt);
        }
        self.pass(now);
        while let Some(Reverse((at, due))) = self.due.peek().copied() {
            if at > now {
                break;
            }
            self.due.pop();
            match due {
                Due::Step(attempt) => self.go_on(now, attempt),
                Due::Beat(attempt, beat) => self.beat(now, attempt, beat),
                Due::Close(batch) => self.close(now, batch),
                Due::Read => {}
            }
        }
        while self.setup.sends.get(self.sent).is_some_and(|at| *at <= now) {
            self.send(now);
        }
        if now >= self.setup.reads_from {
            self.receive(now);
        }
        self.tally.peak_in_flight = self.tally.peak_in_flight.max(self.queue.in_flight());
        let most = MOST_RECEIVES.saturating_mul(self.setup.sends.len() as u64);
        self.tally.is_broken_off = self.tally.receives > most.max(LEAST_RECEIVES);
        Some(now)
    }

    fn tell(&mut self, at: u64, message: u64, receive: u32, kind: Kind) {
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
        let is_poison = match &self.setup.labour {
            Labour::Drawn { poison, .. } => self.random.happens(*poison),
            Labour::Scripted(_) => false,
        };
        let message = self.queue.send(now, group);
        self.records.insert(
            message,
            Record {
                sent: now,
                is_poison,
                ..Record::default()
            },
        );
        self.tell(now, message, 0, Kind::Sent);
    }

    /// What the queues do by themselves.
    fn pass(&mut self, now: u64) {
        self.queue.advance(now);
        self.note_changes(now);
        self.pass_aside(now);
        // Of a throttled batch Lambda keeps what is still invisible by its receive.
        if !self.held.is_empty() {
            for batch in &mut self.held {
                batch.retain(|receipt| self.queue.holds(*receipt));
            }
            self.held.retain(|batch| !batch.is_empty());
        }
    }

    /// Tells and counts what the queue has done by itself.
    fn note_changes(&mut self, now: u64) {
        let mut changes = std::mem::take(&mut self.queue.changes);
        for change in changes.drain(..) {
            match change {
                Change::VisibleAgain(message, receive) => self.tell(now, message, receive, Kind::VisibleAgain),
                Change::Expired(message, receive) => {
                    self.tell(now, message, receive, Kind::Expired);
                    self.leave(message, Place::Gone);
                }
            }
        }
        self.queue.changes = changes;
    }

    fn pass_aside(&mut self, now: u64) {
        if let Some(aside) = &mut self.aside {
            aside.advance(now);
            let mut changes = std::mem::take(&mut aside.changes);
            for change in changes.drain(..) {
                if let Change::Expired(message, _) = change {
                    self.tell(now, message, 0, Kind::ExpiredAside);
                }
            }
            if let Some(aside) = &mut self.aside {
                aside.changes = changes;
            }
        }
    }

    /// The consumer takes what there is and what it has room for.
    fn receive(&mut self, now: u64) {
        let Consumer { batch, window, .. } = self.setup.consumer;
        self.resume(now);
        while let Some(room) = self.room() {
            let received = self.queue.receive(now, room, &mut self.moved);
            self.note_changes(now);
            self.put_aside(now);
            if received.is_empty() {
                return;
            }
            for receipt in &received {
                self.note_receive(now, *receipt);
            }
            if window == 0 {
                self.place(now, received);
                continue;
            }
            if self.may_open() {
                self.next += 1;
                self.due.push(Reverse((now + window, Due::Close(self.next))));
                self.open.push((self.next, Vec::new()));
            }
            let smallest = self.open.iter_mut().min_by_key(|(_, open)| open.len());
            let Some((number, open)) = smallest else { return };
            open.extend(received);
            let (number, is_full) = (*number, open.len() >= batch as usize);
            if is_full {
                self.close(now, number);
            }
        }
    }

    /// How many messages the consumer may take at once; `None` where it takes none.
    fn room(&self) -> Option<u32> {
        let consumer = &self.setup.consumer;
        if consumer.window == 0 {
            let out = self.running as usize + self.held.len();
            return (out < consumer.pollers as usize).then_some(consumer.batch);
        }
        if self.may_open() {
            return Some(1);
        }
        let smallest = self.open.iter().map(|(_, open)| open.len()).min()?;
        Some(consumer.batch.saturating_sub(u32::try_from(smallest).ok()?))
    }

    /// Whether another batch may be collected.
    fn may_open(&self) -> bool {
        let consumer = &self.setup.consumer;
        let out = self.running as usize + self.held.len() + self.open.len();
        self.open.len() < consumer.collectors as usize && out < consumer.pollers as usize
    }

    fn note_receive(&mut self, now: u64, receipt: Receipt) {
        self.tally.receives += 1;
        if let Some(record) = self.records.get_mut(&receipt.message) {
            if record.running > 0 && !record.has_overlapped {
                record.has_overlapped = true;
                self.tally.overlapping += 1;
            }
            if let Some(crashed) = record.crashed.take() {
                let wait = now - crashed;
                self.tally.recovery += wait;
                self.tally.recoveries += 1;
                self.tally.longest_recovery = self.tally.longest_recovery.max(wait);
            }
        }
        self.tell(now, receipt.message, receipt.receive, Kind::Received);
    }

    /// Takes what a receive has moved into the dead-letter queue.
    fn put_aside(&mut self, now: u64) {
        for moved in std::mem::take(&mut self.moved) {
            self.tell(now, moved.message, moved.receives, Kind::Moved);
            self.tally.dead_lettered += 1;
            let record = self.records.get(&moved.message);
            let (done, tried) = record.map_or((0, 0), |record| (record.done, record.tried));
            self.tally.dead_lettered_done += u64::from(done > 0);
            self.tally.dead_lettered_untried += u64::from(tried == 0);
            let dead = self.setup.queue.dead_letter;
            let is_too_old = dead.is_some_and(|dead| !self.setup.queue.fifo && moved.sent + dead.retention <= now);
            if let Some(aside) = &mut self.aside {
                aside.take_over(now, moved);
            }
            self.leave(moved.message, if is_too_old { Place::Gone } else { Place::Aside });
        }
    }

    /// The window of a batch is over, or the batch is full.
    fn close(&mut self, now: u64, number: u64) {
        if let Some(at) = self.open.iter().position(|(open, _)| *open == number) {
            let (_, batch) = self.open.remove(at);
            self.place(now, batch);
        }
    }

    /// Begins with a batch, or holds it where the function is busy.
    fn place(&mut self, now: u64, batch: Vec<Receipt>) {
        if self.running < self.setup.consumer.concurrency {
            self.begin(now, batch);
            return;
        }
        for receipt in &batch {
            self.tell(now, receipt.message, receipt.receive, Kind::Throttled);
        }
        self.held.push_back(batch);
    }

    /// Begins with batches that were throttled, as far as there is room.
    fn resume(&mut self, now: u64) {
        while self.running < self.setup.consumer.concurrency {
            let Some(batch) = self.held.pop_front() else { return };
            for receipt in &batch {
                self.tell(now, receipt.message, receipt.receive, Kind::Started);
            }
            self.begin(now, batch);
        }
    }

    /// A message is no longer in the queue.
    fn leave(&mut self, message: u64, place: Place) {
        if let Some(record) = self.records.get_mut(&message) {
            record.place = place;
        }
        self.settle(message);
    }

    /// Forgets a message that is neither in the queue nor worked on any more, and counts it if it is lost.
    fn settle(&mut self, message: u64) {
        let Some(record) = self.records.get(&message) else {
            return;
        };
        if record.place == Place::Queue || record.running > 0 {
            return;
        }
        self.tally.lost += u64::from(record.done == 0 && record.place == Place::Gone);
        self.records.remove(&message);
    }

    /// How an attempt goes. Its chance is its own: the same message has the same luck under another configuration.
    fn draw(&self, receipt: Receipt) -> Act {
        let own = receipt.message.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ u64::from(receipt.receive).rotate_left(32);
        let random = &mut Random::new(self.seed.rotate_left(17) ^ own);
        match &self.setup.labour {
            Labour::Scripted(acts) => {
                let at = (receipt.receive as usize).saturating_sub(1);
                acts.get(at).or(acts.last()).copied().unwrap_or(Act::Works(1))
            }
            Labour::Drawn {
                work,
                failing,
                crashing,
                ..
            } => {
                let time = work.draw(random);
                let is_poison = self.records.get(&receipt.message).is_some_and(|one| one.is_poison);
                if random.happens(*crashing) {
                    Act::Crashes(1 + random.below(time))
                } else if is_poison || random.happens(*failing) {
                    Act::Fails(time)
                } else {
                    Act::Works(time)
                }
            }
        }
    }
}
