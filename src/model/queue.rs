//! SQS: what a queue does with messages, by itself and when it is asked.
//!
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html>,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>

use super::clock::HOUR;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// Messages in flight that a queue has at most, a standard and a FIFO queue alike.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const IN_FLIGHT: usize = 120_000;
/// One receive keeps a message for no longer, however often its visibility timeout is renewed.
pub const VISIBLE_WITHIN: u64 = 12 * HOUR;

/// How a queue is set up. Times are milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueSettings {
    /// How long a message is invisible after a receive.
    pub visibility: u64,
    /// How long it is kept after it was sent.
    pub retention: u64,
    /// How long it is invisible after it was sent.
    pub delay: u64,
    /// Whether messages of one group are handed out in order, and only when the one before is gone.
    pub fifo: bool,
    /// Where messages go that were received too often.
    pub dead_letter: Option<DeadLetter>,
}

/// A redrive policy, with the queue it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeadLetter {
    /// After how many receives a message moves: with the one that would be one too many.
    pub max_receives: u32,
    /// How long the dead-letter queue keeps messages, in milliseconds.
    pub retention: u64,
}

/// What a receive gives: a message, and the right to delete it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    slot: u32,
    /// Which message, from 0 in the order in which they were sent.
    pub message: u64,
    /// Which receive of it.
    pub receive: u32,
    /// Its group.
    pub group: u32,
}

/// A message on its way to the dead-letter queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Which message.
    pub message: u64,
    /// When it was sent first.
    pub sent: u64,
    /// How often it was received.
    pub receives: u32,
    /// Its group.
    pub group: u32,
}

/// What became of a delete. Neither is an error of a standard queue, which is why nobody notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// The message is gone.
    Gone,
    /// It was gone before.
    Before,
    /// Another receive has it, or on a FIFO queue the visibility timeout is over: it stays.
    Ignored,
}

/// Why a visibility timeout is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It would keep the message beyond [`VISIBLE_WITHIN`]; so many milliseconds are left.
    TooLong(u64),
    /// The message is not in flight by this receipt.
    NotInFlight,
}

/// What a queue has done by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// A receive, by number, of this message is over.
    VisibleAgain(u64, u32),
    /// The message has reached the retention period.
    Expired(u64, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No message is here.
    Free,
    Delayed,
    Ready,
    InFlight,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    message: u64,
    sent: u64,
    /// When the last receive was.
    received: u64,
    /// When it is visible, again.
    visible: u64,
    receives: u32,
    group: u32,
    state: State,
}

/// The messages of one group that may be handed out next, and how many of it are in flight.
#[derive(Debug, Default)]
struct Group {
    waiting: BTreeSet<(u64, u32)>,
    in_flight: u32,
}

/// A queue with its messages.
#[derive(Debug)]
pub struct Queue {
    settings: QueueSettings,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The next message's number.
    next: u64,
    in_flight: usize,
    /// How many that may be.
    quota: usize,
    kept: usize,
    /// When messages become visible, with their slots; what has changed since is passed over.
    hidden: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// When messages reach their retention period.
    expiries: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Of a standard queue: what may be handed out.
    ready: VecDeque<(u64, u32)>,
    /// Of a FIFO queue: the groups with messages, and those of them that may be handed out, by their first message.
    groups: BTreeMap<u32, Group>,
    available: BTreeSet<(u64, u32)>,
    pub(super) changes: Vec<Change>,
}

impl Queue {
    /// An empty queue.
    pub fn new(settings: QueueSettings) -> Self {
        Queue {
            settings,
            slots: Vec::new(),
            free: Vec::new(),
            next: 0,
            in_flight: 0,
            quota: IN_FLIGHT,
            kept: 0,
            hidden: BinaryHeap::new(),
            expiries: BinaryHeap::new(),
            ready: VecDeque::new(),
            groups: BTreeMap::new(),
            available: BTreeSet::new(),
            changes: Vec::new(),
        }
    }

    /// The same where each message stands for `count` that fare alike.
    #[must_use]
    pub fn each_for(mut self, count: u32) -> Self {
        self.quota = IN_FLIGHT / count.max(1) as usize;
        self
    }

    /// Takes a new message of `group`, and gives its number.
    pub fn send(&mut self, now: u64, group: u32) -> u64 {
        let message = self.next;
        self.next += 1;
        let visible = now + self.settings.delay;
        self.put(message, now, visible, group);
        message
    }

    /// Takes a message from a queue whose dead-letter queue this is. A standard queue keeps the time at which it was
    /// sent, a FIFO queue counts anew.
    /// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html>
    pub fn take_over(&mut self, now: u64, moved: Moved) {
        let sent = if self.settings.fifo { now } else { moved.sent };
        self.put(moved.message, sent, now, moved.group);
    }

    fn put(&mut self, message: u64, sent: u64, visible: u64, group: u32) {
        let slot = Slot {
            message,
            sent,
            received: 0,
            visible,
            receives: 0,
            group,
            state: State::Delayed,
        };
        let at = self.free.pop().unwrap_or_else(|| {
            let at = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
            self.slots.push(slot);
            at
        });
        if let Some(place) = self.slots.get_mut(at as usize) {
            *place = slot;
        }
        self.kept += 1;
        self.hidden.push(Reverse((visible, message, at)));
        self.expiries
            .push(Reverse((sent.saturating_add(self.settings.retention), message, at)));
    }

    /// How many messages are in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.kept
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept == 0
    }

    /// When something will change by itself.
    pub fn next_change(&mut self) -> Option<u64> {
        while let Some(Reverse((at, message, slot))) = self.hidden.peek().copied() {
            if self.becomes_visible(at, message, slot) {
                break;
            }
            self.hidden.pop();
        }
        while let Some(Reverse((_, message, slot))) = self.expiries.peek().copied() {
            if self.is_here(message, slot) {
                break;
            }
            self.expiries.pop();
        }
        let times = [self.hidden.peek(), self.expiries.peek()];
        times.into_iter().flatten().map(|Reverse((at, ..))| *at).min()
    }

    /// Lets everything happen that is due. What reaches its retention period is gone first.
    pub fn advance(&mut self, now: u64) {
        while let Some(Reverse((at, message, slot))) = self.expiries.peek().copied() {
            let is_here = self.is_here(message, slot);
            if is_here && at > now {
                break;
            }
            self.expiries.pop();
            if is_here {
                let receives = self.slot(slot).receives;
                self.remove(slot);
                self.changes.push(Change::Expired(message, receives));
            }
        }
        while let Some(Reverse((at, message, slot))) = self.hidden.peek().copied() {
            let is_due = self.becomes_visible(at, message, slot);
            if is_due && at > now {
                break;
            }
            self.hidden.pop();
            if is_due {
                self.release(slot);
            }
        }
    }

    /// Up to `most` messages that are visible, and those that move to the dead-letter queue instead. Of a FIFO queue one
    /// call may take several of a group, in their order.
    pub fn receive(&mut self, now: u64, most: u32, moved: &mut Vec<Moved>) -> Vec<Receipt> {
        self.advance(now);
        let mut received: Vec<Receipt> = Vec::new();
        while received.len() < most as usize && self.in_flight < self.quota {
            let Some(at) = self.next_ready(received.last().map(|last| last.group)) else {
                break;
            };
            let slot = self.slot(at);
            let is_too_often = |dead: DeadLetter| slot.receives >= dead.max_receives;
            if self.settings.dead_letter.is_some_and(is_too_often) {
                moved.push(Moved {
                    message: slot.message,
                    sent: slot.sent,
                    receives: slot.receives,
                    group: slot.group,
                });
                self.remove(at);
            } else {
                received.push(self.hand_out(now, at));
            }
        }
        received
    }

    /// The message to hand out next; of the group `open` first, which a call has begun with.
    fn next_ready(&mut self, open: Option<u32>) -> Option<u32> {
        if self.settings.fifo {
            let first = |group: &u32| Some(self.groups.get(group)?.waiting.first()?.1);
            let of_open = open.as_ref().and_then(first);
            return of_open.or_else(|| first(&self.available.first()?.1));
        }
        while let Some((message, slot)) = self.ready.front().copied() {
            if self.is_here(message, slot) && self.slot(slot).state == State::Ready {
                return Some(slot);
            }
            self.ready.pop_front();
        }
        None
    }

    fn hand_out(&mut self, now: u64, at: u32) -> Receipt {
        let visible = now + self.settings.visibility;
        let slot = &mut self.slots[at as usize];
        slot.receives += 1;
        slot.received = now;
        slot.visible = visible;
        slot.state = State::InFlight;
        let receipt = Receipt {
            slot: at,
            message: slot.message,
            receive: slot.receives,
            group: slot.group,
        };
        self.in_flight += 1;
        self.hidden.push(Reverse((visible, receipt.message, at)));
        if self.settings.fifo {
            let group = self.groups.entry(receipt.group).or_default();
            group.waiting.remove(&(receipt.message, at));
            group.in_flight += 1;
            self.available.remove(&(receipt.message, receipt.group));
        } else {
            self.ready.pop_front();
        }
        receipt
    }

    /// Deletes a message by what its receive gave.
    pub fn delete(&mut self, now: u64, receipt: Receipt) -> Deleted {
        self.advance(now);
        if !self.is_here(receipt.message, receipt.slot) {
            return Deleted::Before;
        }
        let slot = self.slot(receipt.slot);
        let is_newest = slot.receives == receipt.receive;
        // A standard queue takes the newest receipt even after the visibility timeout, a FIFO queue does not.
        // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
        if !is_newest || (self.settings.fifo && slot.state != State::InFlight) {
            return Deleted::Ignored;
        }
        self.remove(receipt.slot);
        Deleted::Gone
    }

    /// Lets the visibility timeout end so many milliseconds from now.
    pub fn change_visibility(&mut self, now: u64, receipt: Receipt, timeout: u64) -> Result<(), Refused> {
        self.advance(now);
        if !self.holds(receipt) {
            return Err(Refused::NotInFlight);
        }
        let slot = &mut self.slots[receipt.slot as usize];
        let ceiling = slot.received + VISIBLE_WITHIN;
        if now + timeout > ceiling {
            return Err(Refused::TooLong(ceiling - now));
        }
        slot.visible = now + timeout;
        self.hidden
            .push(Reverse((now + timeout, receipt.message, receipt.slot)));
        Ok(())
    }

    /// Whether the message is in flight by this receipt.
    pub fn holds(&self, receipt: Receipt) -> bool {
        let Some(slot) = self.slots.get(receipt.slot as usize) else {
            return false;
        };
        slot.message == receipt.message && slot.state == State::InFlight && slot.receives == receipt.receive
    }

    fn slot(&self, at: u32) -> Slot {
        self.slots[at as usize]
    }

    fn is_here(&self, message: u64, at: u32) -> bool {
        let slot = self.slot(at);
        slot.message == message && slot.state != State::Free
    }

    fn becomes_visible(&self, at: u64, message: u64, slot: u32) -> bool {
        let slot = self.slot(slot);
        slot.message == message && slot.visible == at && matches!(slot.state, State::Delayed | State::InFlight)
    }

    /// Makes a message visible.
    fn release(&mut self, at: u32) {
        let slot = self.slot(at);
        if slot.state == State::InFlight {
            self.in_flight -= 1;
            self.changes.push(Change::VisibleAgain(slot.message, slot.receives));
        }
        self.slots[at as usize].state = State::Ready;
        if !self.settings.fifo {
            self.ready.push_back((slot.message, at));
            return;
        }
        let group = self.groups.entry(slot.group).or_default();
        if let Some((first, _)) = group.waiting.first() {
            self.available.remove(&(*first, slot.group));
        }
        group.waiting.insert((slot.message, at));
        if slot.state == State::InFlight {
            group.in_flight -= 1;
        }
        self.offer(slot.group);
    }

    /// Lets a group be handed out, where none of it is in flight; a group without messages goes.
    fn offer(&mut self, number: u32) {
        let Some(group) = self.groups.get(&number) else { return };
        match group.waiting.first() {
            Some((first, _)) if group.in_flight == 0 => {
                self.available.insert((*first, number));
            }
            None if group.in_flight == 0 => {
                self.groups.remove(&number);
            }
            _ => {}
        }
    }

    fn remove(&mut self, at: u32) {
        let slot = self.slot(at);
        if slot.state == State::InFlight {
            self.in_flight -= 1;
        }
        self.kept -= 1;
        self.slots[at as usize].state = State::Free;
        self.free.push(at);
        if !self.settings.fifo {
            return;
        }
        if let Some(group) = self.groups.get_mut(&slot.group) {
            if let Some((first, _)) = group.waiting.first() {
                self.available.remove(&(*first, slot.group));
            }
            match slot.state {
                State::InFlight => group.in_flight -= 1,
                State::Ready => {
                    group.waiting.remove(&(slot.message, at));
                }
                State::Delayed | State::Free => {}
            }
        }
        self.offer(slot.group);
    }
}
