//! Reproduces incidents that teams have reported.

use super::{S, standard, with_dead_letter};
use crate::scenario::{Harm, Scenario};
use crate::traffic::{Traffic, variants};
use crate::{AttemptOutcome, Consumer, EventKind, Heartbeat, Recheck, Setup, Share, Simulation, Work};

const HOUR: u64 = 3_600 * S;

/// Returns 20,000 orders per week, of which the fraction `slow` waits for a slow courier, up to 280 s.
fn fulfilment(slow: Share) -> Traffic {
    Traffic {
        queue: standard(30 * S),
        consumer: Consumer::function(300 * S),
        work: Work::spread(12 * S, 25 * S, 280 * S, slow),
        failing: Share::NONE,
        crashing: Share::NONE,
        poison: Share::NONE,
        messages: 20_000,
        groups: 1_000,
        crash_after: 6 * S,
    }
}

#[test]
fn share_of_slow_orders_explains_two_to_four_duplicates_per_week() {
    // The fraction of orders that take longer than 30 s is the fraction of duplicates.
    for slow in [150, 200, 250].map(Share) {
        let traffic = fulfilment(slow);
        let expected = traffic.work.share_above(30 * S) * 20_000.0;
        assert!((1.9..4.1).contains(&expected), "{slow}: {expected}");
        let mean = traffic.weeks(8, 1, &|| {}).twice.mean;
        let error = (expected / 8.0).sqrt();
        assert!(
            (mean - expected).abs() < 4.0 * error,
            "{slow}: {mean} instead of {expected}"
        );
    }
}

#[test]
fn work_of_forty_seconds_duplicates_every_order() {
    let mut one = fulfilment(Share::NONE);
    one.messages = 1_000;
    one.work = Work::between(38 * S, 42 * S);
    // Without a dead-letter queue the run would not end.
    one.queue = with_dead_letter(30 * S, 5);
    let tally = one.week(1);
    assert_eq!(tally.twice, 1_000);
    assert_eq!(tally.dead_lettered_done, 1_000);
}

#[test]
fn six_times_the_timeout_and_a_dead_letter_queue_prevent_all_harm() {
    let mut one = fulfilment(Share(150));
    one.queue = with_dead_letter(1_800 * S, 5);
    let outcome = one.weeks(2, 1, &|| {});
    assert!(!outcome.twice.is_any() && !outcome.lost.is_any() && !outcome.dead_lettered.is_any());
}

#[test]
fn longer_visibility_timeout_removes_the_second_attempt() {
    let story = |visibility| {
        let outcomes = vec![AttemptOutcome::Works(280 * S), AttemptOutcome::Works(12 * S)];
        let setup = Setup::of_one_message(standard(visibility), Consumer::function(300 * S), outcomes);
        let (_, events) = Simulation::new(&setup, 0, true).traced(300 * S);
        let events = events.into_iter().filter(|event| event.kind != EventKind::Sent);
        events
            .map(|event| (event.at / S, event.receive, event.kind))
            .collect::<Vec<_>>()
    };
    let before = [
        (0, 1, EventKind::Received),
        (30, 1, EventKind::VisibleAgain),
        (30, 2, EventKind::Received),
        (42, 2, EventKind::Done),
        (42, 2, EventKind::DeleteResult),
        (280, 1, EventKind::Done),
        (280, 1, EventKind::DeleteIgnored),
    ];
    assert_eq!(story(30 * S), before);
    let after = [
        (0, 1, EventKind::Received),
        (280, 1, EventKind::Done),
        (280, 1, EventKind::DeleteResult),
    ];
    assert_eq!(story(1_800 * S), after);
}

#[test]
fn check_before_the_work_does_not_prevent_duplicates() {
    let checkout = |least, most| Traffic {
        consumer: Consumer::workers(200).rechecking(Recheck::First),
        work: Work::between(least, most),
        messages: 2_000,
        ..fulfilment(Share::NONE)
    };
    let tally = checkout(35 * S, 45 * S).week(1);
    assert_eq!(
        (tally.twice, tally.repeats),
        (2_000, 2_000),
        "each twice, none three times"
    );
    // Half of the orders of 20 to 40 s take more than 30 s.
    let tally = checkout(20 * S, 40 * S).week(1);
    assert!((900..1_100).contains(&tally.twice), "{}", tally.twice);
    let mut renewed = checkout(35 * S, 45 * S);
    renewed.consumer = renewed.consumer.renewing(20 * S, 60 * S);
    let tally = renewed.week(1);
    assert_eq!((tally.twice, tally.overlapping, tally.done), (0, 0, 2_000));
}

#[test]
fn message_of_a_crashed_encoder_waits_for_the_visibility_timeout() {
    let wait = |visibility, heartbeat| {
        let scenario = Scenario::Crash {
            visibility,
            after: HOUR / 2,
            heartbeat,
        };
        match scenario.timeline().harm {
            Some(Harm::Waits(wait)) => wait,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(wait(12 * HOUR, None), 11 * HOUR + HOUR / 2);
    for minutes in [2, 5, 15, 30] {
        let extend_to = minutes * 60 * S;
        let heartbeat = Heartbeat {
            every: extend_to / 2,
            extend_to,
            missed: 0,
        };
        assert!(wait(extend_to, Some(heartbeat)) <= HOUR / 2, "{minutes} min");
    }
    // With renewals six hours of work end in time.
    let six_hours = Scenario::Overlap {
        visibility: HOUR / 2,
        work: 6 * HOUR,
        retry: 6 * HOUR,
        window: 0,
        heartbeat: Some(Heartbeat {
            every: HOUR / 4,
            extend_to: HOUR / 2,
            missed: 0,
        }),
    };
    assert_eq!(six_hours.timeline().harm, None);
}

#[test]
fn variants_of_the_fulfilment_service_show_the_expected_harm() {
    let mut one = fulfilment(Share(150));
    one.poison = Share(100);
    let rows = variants(&one).into_iter().map(|variant| {
        let outcome = variant.traffic.weeks(2, 1, &|| {});
        let any = [outcome.twice, outcome.lost, outcome.dead_lettered].map(|figure| figure.is_any());
        (variant.id, any)
    });
    // Processed twice, lost, dead-lettered: without a dead-letter queue a message that always fails is lost after four
    // days.
    let expected = [
        ("as-it-is", [true, true, false]),
        ("aws-defaults", [true, true, false]),
        ("heartbeat", [false, true, false]),
        ("fifo", [true, true, false]),
        ("six-times", [false, true, false]),
        ("six-times-dead-letter", [false, false, true]),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}
