//! Tests the queue alone: each test is a sentence of AWS's documentation.

use super::{DAY, S, standard, with_dead_letter};
use crate::{DeleteResult, MAX_IN_FLIGHT, MAX_IN_FLIGHT_TIME, Moved, Queue, QueueSettings, Receipt, VisibilityError};

fn receive(queue: &mut Queue, now: u64, most: u32) -> Vec<Receipt> {
    queue.receive(now, most, &mut Vec::new())
}

fn one(queue: &mut Queue, now: u64) -> Receipt {
    receive(queue, now, 1).first().copied().expect("a message is visible")
}

#[test]
fn a_message_is_invisible_until_its_visibility_timeout_ends() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    assert_eq!(one(&mut queue, 0).receive, 1);
    assert!(receive(&mut queue, 30 * S - 1, 1).is_empty());
    assert_eq!(one(&mut queue, 30 * S).receive, 2);
}

#[test]
fn delay_counts_from_the_send_time() {
    let mut queue = Queue::new(QueueSettings {
        delay: 5 * S,
        ..standard(30 * S)
    });
    queue.send(10, 0);
    assert!(receive(&mut queue, 10 + 5 * S - 1, 1).is_empty());
    assert_eq!(queue.in_flight(), 0, "a delayed message is not in flight");
    one(&mut queue, 10 + 5 * S);
}

#[test]
fn only_the_newest_receipt_deletes() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    let first = one(&mut queue, 0);
    // The visibility timeout has ended without another receive: a standard queue still accepts the receipt.
    let mut other = Queue::new(standard(30 * S));
    other.send(0, 0);
    let late = one(&mut other, 0);
    assert_eq!(other.delete(40 * S, late), DeleteResult::Gone);
    let second = one(&mut queue, 30 * S);
    assert_eq!(queue.delete(35 * S, first), DeleteResult::Ignored);
    assert_eq!(queue.delete(36 * S, second), DeleteResult::Gone);
    assert_eq!(queue.delete(37 * S, second), DeleteResult::Before);
    assert!(queue.is_empty());
}

#[test]
fn fifo_queue_ignores_receipts_after_the_visibility_timeout() {
    let mut queue = Queue::new(QueueSettings {
        fifo: true,
        ..standard(30 * S)
    });
    queue.send(0, 0);
    let first = one(&mut queue, 0);
    assert_eq!(queue.delete(30 * S, first), DeleteResult::Ignored);
}

#[test]
fn renewals_end_twelve_hours_after_the_receive() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    let receipt = one(&mut queue, 0);
    let mut now = 0;
    while now + 60 * S <= MAX_IN_FLIGHT_TIME {
        assert_eq!(queue.change_visibility(now, receipt, 60 * S), Ok(()));
        now += 20 * S;
    }
    let left = MAX_IN_FLIGHT_TIME - now;
    assert_eq!(
        queue.change_visibility(now, receipt, 60 * S),
        Err(VisibilityError::TooLong(left))
    );
    assert_eq!(queue.change_visibility(now, receipt, left), Ok(()));
    assert!(receive(&mut queue, MAX_IN_FLIGHT_TIME - 1, 1).is_empty());
    assert_eq!(one(&mut queue, MAX_IN_FLIGHT_TIME).receive, 2);
}

#[test]
fn visibility_timeout_of_zero_returns_a_message() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    let receipt = one(&mut queue, 0);
    assert_eq!(queue.change_visibility(S, receipt, 0), Ok(()));
    assert_eq!(one(&mut queue, S).receive, 2);
    assert_eq!(
        queue.change_visibility(2 * S, receipt, 0),
        Err(VisibilityError::NotInFlight)
    );
}

#[test]
fn message_moves_at_the_receive_after_the_maximum() {
    let mut queue = Queue::new(with_dead_letter(30 * S, 2));
    queue.send(7, 3);
    one(&mut queue, 7);
    one(&mut queue, 7 + 30 * S);
    let mut moved = Vec::new();
    assert!(queue.receive(7 + 59 * S, 1, &mut moved).is_empty() && moved.is_empty());
    assert!(queue.receive(7 + 60 * S, 1, &mut moved).is_empty());
    let expected = Moved {
        message: 0,
        sent: 7,
        receives: 2,
        group: 3,
    };
    assert_eq!(moved, [expected]);
    assert!(queue.is_empty());
}

#[test]
fn only_fifo_dead_letter_queues_restart_the_retention_period() {
    let moved = Moved {
        message: 0,
        sent: 0,
        receives: 5,
        group: 0,
    };
    for (fifo, expires) in [(false, 4 * DAY), (true, 7 * DAY)] {
        let mut dead_letter_queue = Queue::new(QueueSettings {
            fifo,
            ..standard(30 * S)
        });
        dead_letter_queue.receive_moved(3 * DAY, moved);
        dead_letter_queue.advance(expires - 1);
        assert_eq!(dead_letter_queue.len(), 1, "fifo: {fifo}");
        dead_letter_queue.advance(expires);
        assert!(dead_letter_queue.is_empty(), "fifo: {fifo}");
    }
}

#[test]
fn messages_in_flight_expire() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    one(&mut queue, 4 * DAY - S);
    queue.advance(4 * DAY);
    assert!(queue.is_empty());
    assert_eq!(queue.in_flight(), 0);
}

#[test]
fn full_in_flight_quota_blocks_receives() {
    let mut queue = Queue::new(standard(30 * S));
    for _ in 0..=MAX_IN_FLIGHT {
        queue.send(0, 0);
    }
    let most = u32::try_from(MAX_IN_FLIGHT + 1).unwrap();
    assert_eq!(receive(&mut queue, 0, most).len(), MAX_IN_FLIGHT);
    assert!(receive(&mut queue, S, 1).is_empty());
    assert_eq!(receive(&mut queue, 30 * S, 1).len(), 1);
}

#[test]
fn group_waits_for_its_first_message() {
    let mut queue = Queue::new(QueueSettings {
        fifo: true,
        ..standard(30 * S)
    });
    for group in [1, 1, 2, 1] {
        queue.send(0, group);
    }
    let first = one(&mut queue, 0);
    assert_eq!((first.message, first.group), (0, 1));
    let other = one(&mut queue, 0);
    assert_eq!((other.message, other.group), (2, 2));
    assert!(receive(&mut queue, S, 10).is_empty());
    // When it is visible again, it is delivered before the others of its group.
    assert_eq!(queue.delete(S, other), DeleteResult::Gone);
    let again = receive(&mut queue, 30 * S, 2);
    assert_eq!(again.iter().map(|one| one.message).collect::<Vec<_>>(), [0, 1]);
    // The group stays blocked until both are gone.
    assert_eq!(queue.delete(31 * S, again[0]), DeleteResult::Gone);
    assert!(receive(&mut queue, 31 * S, 10).is_empty());
    assert_eq!(queue.delete(32 * S, again[1]), DeleteResult::Gone);
    assert_eq!(one(&mut queue, 32 * S).message, 3);
}

#[test]
fn moved_message_unblocks_its_group() {
    let mut queue = Queue::new(QueueSettings {
        fifo: true,
        ..with_dead_letter(30 * S, 1)
    });
    queue.send(0, 1);
    queue.send(0, 1);
    one(&mut queue, 0);
    assert_eq!(one(&mut queue, 30 * S).message, 1);
}
