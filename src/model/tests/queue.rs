//! The queue alone: each test is a sentence of AWS's documentation.

use super::{DAY, S, standard, with_dead_letter};
use crate::model::{Deleted, IN_FLIGHT, Moved, Queue, QueueSettings, Receipt, Refused, VISIBLE_WITHIN};

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
fn a_delay_counts_from_the_sending() {
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
fn the_newest_receipt_deletes_and_no_older_one() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    let first = one(&mut queue, 0);
    // The timeout is over and nobody else has it: a standard queue deletes all the same.
    let mut other = Queue::new(standard(30 * S));
    other.send(0, 0);
    let late = one(&mut other, 0);
    assert_eq!(other.delete(40 * S, late), Deleted::Gone);
    let second = one(&mut queue, 30 * S);
    assert_eq!(queue.delete(35 * S, first), Deleted::Ignored);
    assert_eq!(queue.delete(36 * S, second), Deleted::Gone);
    assert_eq!(queue.delete(37 * S, second), Deleted::Before);
    assert!(queue.is_empty());
}

#[test]
fn a_fifo_queue_takes_no_receipt_after_the_visibility_timeout() {
    let mut queue = Queue::new(QueueSettings {
        fifo: true,
        ..standard(30 * S)
    });
    queue.send(0, 0);
    let first = one(&mut queue, 0);
    assert_eq!(queue.delete(30 * S, first), Deleted::Ignored);
}

#[test]
fn extensions_end_twelve_hours_after_the_receive() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    let receipt = one(&mut queue, 0);
    let mut now = 0;
    while now + 60 * S <= VISIBLE_WITHIN {
        assert_eq!(queue.change_visibility(now, receipt, 60 * S), Ok(()));
        now += 20 * S;
    }
    let left = VISIBLE_WITHIN - now;
    assert_eq!(
        queue.change_visibility(now, receipt, 60 * S),
        Err(Refused::TooLong(left))
    );
    assert_eq!(queue.change_visibility(now, receipt, left), Ok(()));
    assert!(receive(&mut queue, VISIBLE_WITHIN - 1, 1).is_empty());
    assert_eq!(one(&mut queue, VISIBLE_WITHIN).receive, 2);
}

#[test]
fn a_visibility_timeout_of_zero_gives_a_message_back() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    let receipt = one(&mut queue, 0);
    assert_eq!(queue.change_visibility(S, receipt, 0), Ok(()));
    assert_eq!(one(&mut queue, S).receive, 2);
    assert_eq!(queue.change_visibility(2 * S, receipt, 0), Err(Refused::NotInFlight));
}

#[test]
fn a_message_moves_with_the_receive_that_is_one_too_many() {
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
fn a_standard_dead_letter_queue_counts_from_the_first_sending_and_a_fifo_one_anew() {
    let moved = Moved {
        message: 0,
        sent: 0,
        receives: 5,
        group: 0,
    };
    for (fifo, gone) in [(false, 4 * DAY), (true, 7 * DAY)] {
        let mut aside = Queue::new(QueueSettings {
            fifo,
            ..standard(30 * S)
        });
        aside.take_over(3 * DAY, moved);
        aside.advance(gone - 1);
        assert_eq!(aside.len(), 1, "fifo: {fifo}");
        aside.advance(gone);
        assert!(aside.is_empty(), "fifo: {fifo}");
    }
}

#[test]
fn retention_counts_in_flight_as_well() {
    let mut queue = Queue::new(standard(30 * S));
    queue.send(0, 0);
    one(&mut queue, 4 * DAY - S);
    queue.advance(4 * DAY);
    assert!(queue.is_empty());
    assert_eq!(queue.in_flight(), 0);
}

#[test]
fn nothing_is_received_while_the_most_are_in_flight() {
    let mut queue = Queue::new(standard(30 * S));
    for _ in 0..=IN_FLIGHT {
        queue.send(0, 0);
    }
    let most = u32::try_from(IN_FLIGHT + 1).unwrap();
    assert_eq!(receive(&mut queue, 0, most).len(), IN_FLIGHT);
    assert!(receive(&mut queue, S, 1).is_empty());
    assert_eq!(receive(&mut queue, 30 * S, 1).len(), 1);
}

#[test]
fn a_group_waits_for_its_first_message_and_others_do_not() {
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
    // Visible again, it comes before the others of its group.
    assert_eq!(queue.delete(S, other), Deleted::Gone);
    let again = receive(&mut queue, 30 * S, 2);
    assert_eq!(again.iter().map(|one| one.message).collect::<Vec<_>>(), [0, 1]);
    // Both are in flight until both are gone.
    assert_eq!(queue.delete(31 * S, again[0]), Deleted::Gone);
    assert!(receive(&mut queue, 31 * S, 10).is_empty());
    assert_eq!(queue.delete(32 * S, again[1]), Deleted::Gone);
    assert_eq!(one(&mut queue, 32 * S).message, 3);
}

#[test]
fn a_message_that_moves_lets_its_group_go_on() {
    let mut queue = Queue::new(QueueSettings {
        fifo: true,
        ..with_dead_letter(30 * S, 1)
    });
    queue.send(0, 1);
    queue.send(0, 1);
    one(&mut queue, 0);
    assert_eq!(one(&mut queue, 30 * S).message, 1);
}
