//! SQS: changes of a queue over time, and its API.
//!
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html>,
//! <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html>

use super::clock::HOUR;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// Maximum number of messages in flight, for standard and FIFO queues.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>
pub const MAX_IN_FLIGHT: usize = 120_000;
/// Maximum time that a receive keeps a message invisible, however often its visibility timeout is renewed.
pub const MAX_IN_FLIGHT_TIME: u64 = 12 * HOUR;

/// Settings of a queue. Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueSettings {
    /// Visibility timeout: how long a message is invisible after a receive.
    pub visibility: u64,
    /// Retention period: how long a message is kept after it was sent.
    pub retention: u64,
    /// Delay: how long a message is invisible after it was sent.
    pub delay: u64,
    /// `true` for a FIFO queue: messages of a group are delivered in order, the next one once the previous one is gone.
    pub fifo: bool,
    /// Redrive policy, if the queue has one.
    pub dead_letter: Option<RedriveTarget>,
}

/// A redrive policy and the retention period of its dead-letter queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RedriveTarget {
    /// Maximum receive count. The receive after that moves the message instead.
    pub max_receives: u32,
    /// Retention period of the dead-letter queue, in milliseconds.
    pub retention: u64,
}

/// A received message with the right to delete it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    slot: u32,
    /// Index of the message, in the order of sending.
    pub message: u64,
    /// Number of this receive of the message, from 1.
    pub receive: u32,
    /// Message group.
    pub group: u32,
}

/// A message on its way to the dead-letter queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Index of the message.
    pub message: u64,
    /// Time at which it was first sent.
    pub sent: u64,
    /// Receive count.
    pub receives: u32,
    /// Message group.
    pub group: u32,
}

/// Result of a delete. SQS reports none of these as an error for a standard queue, so a consumer does not notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteResult {
    /// The message was deleted.
    Gone,
    /// The message was already gone.
    Before,
    /// The message stays: there was a later receive, or on a FIFO queue the visibility timeout has ended.
    Ignored,
}

/// Reason why a visibility timeout cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisibilityError {
    /// The change would keep the message invisible for longer than [`MAX_IN_FLIGHT_TIME`]; with the milliseconds left
    /// until then.
    TooLong(u64),
    /// The message is not in flight under this receipt.
    NotInFlight,
}

/// A change of the queue without a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Message and receive number: the visibility timeout of that receive ended.
    VisibleAgain(u64, u32),
    /// Message and its receive count: the message reached the retention period.
    Expired(u64, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The slot is unused.
    Free,
    Delayed,
    Ready,
    InFlight,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    message: u64,
    sent: u64,
    /// Time of the last receive.
    received: u64,
    /// Time at which the message becomes visible.
    visible: u64,
    receives: u32,
    group: u32,
    state: State,
}

/// The visible messages of a message group, in order, and how many others of it are in flight.
#[derive(Debug, Default)]
struct Group {
    waiting: VecDeque<(u64, u32)>,
    in_flight: u32,
}

impl Group {
    /// Returns the index of `message` among the visible messages, or the one at which it belongs. It is usually one of
    /// the first or of the last.
    fn place(&self, message: (u64, u32)) -> Result<usize, usize> {
        match (self.waiting.front(), self.waiting.back()) {
            (Some(first), _) if message == *first => Ok(0),
            (Some(first), _) if message < *first => Err(0),
            (_, Some(last)) if message > *last => Err(self.waiting.len()),
            _ => self.waiting.binary_search(&message),
        }
    }

    fn add(&mut self, message: (u64, u32)) {
        if let Err(at) = self.place(message) {
            self.waiting.insert(at, message);
        }
    }

    fn drop(&mut self, message: (u64, u32)) {
        if let Ok(at) = self.place(message) {
            self.waiting.remove(at);
        }
    }
}

/// A time, and the message and slot whose state changes then.
type Entry = (u64, u64, u32);

/// Entries in ascending order. Nearly all are added in that order, because visibility timeout and retention period are
/// the same for every message; the others are kept in a heap.
#[derive(Debug, Default)]
struct Schedule {
    in_order: VecDeque<Entry>,
    early: BinaryHeap<Reverse<Entry>>,
}

impl Schedule {
    fn push(&mut self, entry: Entry) {
        if self.in_order.back().is_none_or(|last| *last <= entry) {
            self.in_order.push_back(entry);
        } else {
            self.early.push(Reverse(entry));
        }
    }

    fn first(&self) -> Option<Entry> {
        match (self.in_order.front(), self.early.peek()) {
            (Some(first), Some(Reverse(early))) => Some(*first.min(early)),
            (first, early) => first.or(early.map(|Reverse(early)| early)).copied(),
        }
    }

    fn pop(&mut self) {
        match (self.in_order.front(), self.early.peek()) {
            (Some(first), early) if early.is_none_or(|Reverse(early)| first <= early) => {
                self.in_order.pop_front();
            }
            _ => {
                self.early.pop();
            }
        }
    }
}

/// A queue and its messages.
#[derive(Debug)]
pub struct Queue {
    settings: QueueSettings,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Index of the next message.
    next: u64,
    in_flight: usize,
    /// Maximum of `in_flight`.
    quota: usize,
    kept: usize,
    /// Times at which messages become visible. Outdated entries are skipped.
    hidden: Schedule,
    /// Times at which messages reach their retention period.
    expiries: Schedule,
    /// Time before which nothing in `hidden` and `expiries` is due.
    idle_until: u64,
    /// Visible messages of a standard queue.
    ready: VecDeque<(u64, u32)>,
    /// Groups of a FIFO queue; `available` has those that can be delivered from, by their first message.
    groups: FxHashMap<u32, Group>,
    available: BTreeSet<(u64, u32)>,
    pub(super) changes: Vec<Change>,
}

impl Queue {
    /// Creates an empty queue.
    pub fn new(settings: QueueSettings) -> Self {
        Queue {
            settings,
            slots: Vec::new(),
            free: Vec::new(),
            next: 0,
            in_flight: 0,
            quota: MAX_IN_FLIGHT,
            kept: 0,
            hidden: Schedule::default(),
            expiries: Schedule::default(),
            idle_until: u64::MAX,
            ready: VecDeque::new(),
            groups: FxHashMap::default(),
            available: BTreeSet::new(),
            changes: Vec::new(),
        }
    }

    /// Makes each message represent `count` messages with the same fate, by dividing the quota of messages in flight.
    #[must_use]
    pub fn representing(mut self, count: u32) -> Self {
        self.quota = MAX_IN_FLIGHT / count.max(1) as usize;
        self
    }

    /// Adds a message of `group` and returns its index.
    pub fn send(&mut self, now: u64, group: u32) -> u64 {
        let message = self.next;
        self.next += 1;
        let visible = now + self.settings.delay;
        self.put(now, [now, visible], message, group);
        message
    }

    /// Adds a message that the source queue moved here. A standard queue keeps the original send time, a FIFO queue
    /// resets it.
    /// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html>
    pub fn receive_moved(&mut self, now: u64, moved: Moved) {
        let sent = if self.settings.fifo { now } else { moved.sent };
        self.put(now, [sent, now], moved.message, moved.group);
    }

    fn put(&mut self, now: u64, [sent, visible]: [u64; 2], message: u64, group: u32) {
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
        let expiry = sent.saturating_add(self.settings.retention);
        self.expiries.push((expiry, message, at));
        self.idle_until = self.idle_until.min(expiry);
        if visible > now {
            self.hide((visible, message, at));
        } else {
            self.release(at);
        }
    }

    fn hide(&mut self, entry: Entry) {
        self.idle_until = self.idle_until.min(entry.0);
        self.hidden.push(entry);
    }

    /// Returns the number of messages in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.kept
    }

    /// Returns `true` if the queue has no messages.
    pub fn is_empty(&self) -> bool {
        self.kept == 0
    }

    /// Returns a time before which nothing changes without a call. It costs less than [`Queue::next_change`].
    pub(super) fn idle_until(&self) -> u64 {
        self.idle_until
    }

    /// Returns `true` if there is nothing to receive at `now` for certain.
    pub(super) fn is_idle(&self, now: u64) -> bool {
        now < self.idle_until && self.ready.is_empty() && self.available.is_empty()
    }

    /// Returns the time of the next change without a call.
    pub fn next_change(&mut self) -> Option<u64> {
        let times = [self.next_visible(), self.next_expiry()].map(|entry| entry.map_or(u64::MAX, |(at, ..)| at));
        self.idle_until = times[0].min(times[1]);
        (self.idle_until < u64::MAX).then_some(self.idle_until)
    }

    /// Returns the next message that becomes visible, and forgets outdated entries.
    fn next_visible(&mut self) -> Option<Entry> {
        loop {
            let first = self.hidden.first()?;
            if self.becomes_visible(first) {
                return Some(first);
            }
            self.hidden.pop();
        }
    }

    /// Returns the next message that reaches its retention period, and forgets those that were deleted before.
    fn next_expiry(&mut self) -> Option<Entry> {
        loop {
            let first = self.expiries.first()?;
            if self.is_here(first.1, first.2) {
                return Some(first);
            }
            self.expiries.pop();
        }
    }

    /// Returns `true` if a message can be received.
    pub(super) fn has_visible(&mut self) -> bool {
        self.next_ready(None).is_some()
    }

    /// Applies all changes up to `now`. Messages expire before others become visible.
    pub fn advance(&mut self, now: u64) {
        if now < self.idle_until {
            return;
        }
        while let Some((at, message, slot)) = self.next_expiry()
            && at <= now
        {
            let receives = self.slot(slot).receives;
            self.remove(slot);
            self.changes.push(Change::Expired(message, receives));
        }
        while let Some((at, _, slot)) = self.next_visible()
            && at <= now
        {
            self.hidden.pop();
            self.release(slot);
        }
        self.next_change();
    }

    /// Receives up to `most` visible messages, and appends to `moved` those that go to the dead-letter queue instead. A
    /// receive from a FIFO queue can return several messages of a group, in order.
    pub fn receive(&mut self, now: u64, most: u32, moved: &mut Vec<Moved>) -> Vec<Receipt> {
        self.advance(now);
        let mut received: Vec<Receipt> = Vec::new();
        while received.len() < most as usize && self.in_flight < self.quota {
            let Some(at) = self.next_ready(received.last().map(|last| last.group)) else {
                break;
            };
            let slot = self.slot(at);
            let is_too_often = |dead: RedriveTarget| slot.receives >= dead.max_receives;
            if self.settings.dead_letter.is_some_and(is_too_often) {
                moved.push(Moved {
                    message: slot.message,
                    sent: slot.sent,
                    receives: slot.receives,
                    group: slot.group,
                });
                self.remove(at);
            } else {
                received.push(self.deliver(now, at));
            }
        }
        received
    }

    /// Returns the slot of the next message to deliver. A call continues with the group `current_group` that it began
    /// with, as long as that has messages.
    fn next_ready(&mut self, current_group: Option<u32>) -> Option<u32> {
        if self.settings.fifo {
            let first = |group: &u32| Some(self.groups.get(group)?.waiting.front()?.1);
            let of_current_group = current_group.as_ref().and_then(first);
            return of_current_group.or_else(|| first(&self.available.first()?.1));
        }
        while let Some((message, slot)) = self.ready.front().copied() {
            if self.is_here(message, slot) && self.slot(slot).state == State::Ready {
                return Some(slot);
            }
            self.ready.pop_front();
        }
        None
    }

    fn deliver(&mut self, now: u64, at: u32) -> Receipt {
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
        self.hide((visible, receipt.message, at));
        if self.settings.fifo {
            let group = self.groups.entry(receipt.group).or_default();
            group.drop((receipt.message, at));
            group.in_flight += 1;
            self.available.remove(&(receipt.message, receipt.group));
        } else {
            self.ready.pop_front();
        }
        receipt
    }

    /// Deletes a message by its receipt.
    pub fn delete(&mut self, now: u64, receipt: Receipt) -> DeleteResult {
        self.advance(now);
        if !self.is_here(receipt.message, receipt.slot) {
            return DeleteResult::Before;
        }
        let slot = self.slot(receipt.slot);
        let is_newest = slot.receives == receipt.receive;
        // A standard queue accepts the newest receipt even after the visibility timeout, a FIFO queue does not.
        // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
        if !is_newest || (self.settings.fifo && slot.state != State::InFlight) {
            return DeleteResult::Ignored;
        }
        self.remove(receipt.slot);
        DeleteResult::Gone
    }

    /// Sets the visibility timeout to end `timeout` milliseconds from now.
    pub fn change_visibility(&mut self, now: u64, receipt: Receipt, timeout: u64) -> Result<(), VisibilityError> {
        self.advance(now);
        if !self.holds(receipt) {
            return Err(VisibilityError::NotInFlight);
        }
        let slot = &mut self.slots[receipt.slot as usize];
        let ceiling = slot.received + MAX_IN_FLIGHT_TIME;
        if now + timeout > ceiling {
            return Err(VisibilityError::TooLong(ceiling - now));
        }
        slot.visible = now + timeout;
        self.hide((now + timeout, receipt.message, receipt.slot));
        Ok(())
    }

    /// Returns `true` if the message is in flight under this receipt.
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

    fn becomes_visible(&self, (at, message, slot): Entry) -> bool {
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
        if let Some((first, _)) = group.waiting.front() {
            self.available.remove(&(*first, slot.group));
        }
        group.add((slot.message, at));
        if slot.state == State::InFlight {
            group.in_flight -= 1;
        }
        self.offer(slot.group);
    }

    /// Makes a group available if none of its messages is in flight, and removes it if it has no messages.
    fn offer(&mut self, number: u32) {
        let Some(group) = self.groups.get(&number) else { return };
        match group.waiting.front() {
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
            if let Some((first, _)) = group.waiting.front() {
                self.available.remove(&(*first, slot.group));
            }
            match slot.state {
                State::InFlight => group.in_flight -= 1,
                State::Ready => {
                    group.drop((slot.message, at));
                }
                State::Delayed | State::Free => {}
            }
        }
        self.offer(slot.group);
    }
}
