//! What teams have told, computed.

use super::{S, standard, with_dead_letter};
use crate::model::scenario::{Harm, Scenario};
use crate::model::traffic::{Traffic, variants};
use crate::model::{Act, Consumer, Heartbeat, Kind, Recheck, Setup, Share, Simulation, Work};

const HOUR: u64 = 3_600 * S;

/// 20,000 orders a week, of which few wait for a slow courier, up to 280 s.
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
fn two_to_four_duplicates_a_week_are_one_slow_order_in_seven_thousand() {
    // The share of orders that take longer than 30 s is the share of duplicates.
    for (millionths, least, most) in [(100, 1.0, 3.0), (150, 2.0, 4.0), (200, 3.0, 5.0)] {
        let slow = Share(millionths);
        let outcome = fulfilment(slow).weeks(8, 1, &|| {});
        let mean = outcome.twice.mean;
        assert!((least..most).contains(&mean), "{slow}: {mean}");
    }
}

#[test]
fn forty_seconds_would_have_been_every_order() {
    let mut one = fulfilment(Share::NONE);
    one.messages = 1_000;
    one.work = Work::between(38 * S, 42 * S);
    // A dead-letter queue brings it to an end.
    one.queue = with_dead_letter(30 * S, 5);
    let tally = one.week(1);
    assert_eq!(tally.twice, 1_000);
    assert_eq!(tally.dead_lettered_done, 1_000);
}

#[test]
fn six_times_the_timeout_and_a_dead_letter_queue_end_it() {
    let mut one = fulfilment(Share(150));
    one.queue = with_dead_letter(1_800 * S, 5);
    let outcome = one.weeks(2, 1, &|| {});
    assert!(!outcome.twice.is_any() && !outcome.lost.is_any() && !outcome.dead_lettered.is_any());
}

#[test]
fn seven_events_before_and_two_moments_after() {
    let story = |visibility| {
        let acts = vec![Act::Works(280 * S), Act::Works(12 * S)];
        let setup = Setup::of_one(standard(visibility), Consumer::function(300 * S), acts);
        let (_, events) = Simulation::new(&setup, 0, true).traced(300 * S);
        let events = events.into_iter().filter(|event| event.kind != Kind::Sent);
        events
            .map(|event| (event.at / S, event.receive, event.kind))
            .collect::<Vec<_>>()
    };
    let before = [
        (0, 1, Kind::Received),
        (30, 1, Kind::VisibleAgain),
        (30, 2, Kind::Received),
        (42, 2, Kind::Done),
        (42, 2, Kind::Deleted),
        (280, 1, Kind::Done),
        (280, 1, Kind::DeleteIgnored),
    ];
    assert_eq!(story(30 * S), before);
    let after = [(0, 1, Kind::Received), (280, 1, Kind::Done), (280, 1, Kind::Deleted)];
    assert_eq!(story(1_800 * S), after);
}

#[test]
fn a_checkout_that_looks_first_charges_every_order_over_the_timeout_twice() {
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
    // Of orders of 20 to 40 s half are over 30 s.
    let tally = checkout(20 * S, 40 * S).week(1);
    assert!((900..1_100).contains(&tally.twice), "{}", tally.twice);
    let mut renewed = checkout(35 * S, 45 * S);
    renewed.consumer = renewed.consumer.renewing(20 * S, 60 * S);
    let tally = renewed.week(1);
    assert_eq!((tally.twice, tally.overlapping, tally.done), (0, 0, 2_000));
}

#[test]
fn an_encoder_that_dies_is_missed_for_eleven_and_a_half_hours() {
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
    // Six hours of work end in time with renewals.
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
fn the_table_of_the_fulfilment_service() {
    let mut one = fulfilment(Share(150));
    one.poison = Share(100);
    let rows = variants(&one).into_iter().map(|variant| {
        let outcome = variant.traffic.weeks(2, 1, &|| {});
        let any = [outcome.twice, outcome.lost, outcome.dead_lettered].map(|figure| figure.is_any());
        (variant.id, any)
    });
    // Twice, lost, dead-lettered: without a dead-letter queue what always fails is lost after four days.
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
