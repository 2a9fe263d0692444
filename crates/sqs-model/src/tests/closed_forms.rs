//! Compares the model with closed formulas, for random numbers.

use super::{S, standard, with_dead_letter};
use crate::traffic::Traffic;
use crate::{
    AttemptOutcome, Consumer, EventKind, Outcomes, QueueSettings, Random, Recheck, Setup, Share, Simulation, Tally,
    Work,
};
use proptest::prelude::*;

fn run(queue: QueueSettings, consumer: Consumer, outcomes: Vec<AttemptOutcome>) -> Tally {
    Simulation::new(&Setup::of_one_message(queue, consumer, outcomes), 0, false).run()
}

/// Returns a week of messages with as many workers as it takes.
fn traffic(queue: QueueSettings, work: Work, messages: u64) -> Traffic {
    Traffic {
        queue,
        consumer: Consumer::workers(1_000),
        work,
        failing: Share::NONE,
        crashing: Share::NONE,
        poison: Share::NONE,
        messages,
        groups: 1,
        crash_after: S,
    }
}

/// Returns `true` if `count` of `all` is within five standard deviations of the probability `share`. Four more are
/// allowed, because counts of rare events are not distributed normally.
fn is_likely(count: u64, all: u64, share: f64) -> bool {
    #[allow(clippy::cast_precision_loss)]
    let (count, expected) = (count as f64, all as f64 * share);
    (count - expected).abs() <= 5.0 * (expected * (1.0 - share)).sqrt() + 4.0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// A message is received once if the work on it ends within the visibility timeout. Otherwise it is received every
    /// `visibility` for as long as it is kept, because each delete has an outdated receipt handle.
    #[test]
    fn receives_of_one_message_match_the_formula(visibility in 1_u64..500, work in 1_u64..2_000) {
        let queue = QueueSettings { retention: 20_000, ..standard(visibility) };
        let tally = run(queue, Consumer::workers(10_000), vec![AttemptOutcome::Works(work)]);
        if work <= visibility {
            prop_assert_eq!((tally.receives, tally.twice, tally.done), (1, 0, 1));
        } else {
            prop_assert_eq!(tally.receives, 20_000_u64.div_ceil(visibility));
            prop_assert_eq!((tally.twice, tally.repeats), (1, tally.receives - 1));
        }
        prop_assert_eq!(tally.lost, 0);
    }

    /// A message that always fails moves `delay + receives × visibility` after it was sent, unless its retention period
    /// ends first.
    #[test]
    fn failing_message_moves_unless_it_expires_first(
        visibility in 1_u64..500, receives in 1_u32..10, delay in 0_u64..300, retention in 1_u64..3_000,
        dead_letter in 1_u64..3_000,
    ) {
        let mut queue = QueueSettings { retention, delay, ..with_dead_letter(visibility, receives) };
        queue.dead_letter.as_mut().unwrap().retention = dead_letter;
        let tally = run(queue, Consumer::workers(1), vec![AttemptOutcome::Fails(1)]);
        let age = delay + u64::from(receives) * visibility;
        prop_assert_eq!(tally.dead_lettered, u64::from(age < retention));
        prop_assert_eq!(tally.lost, u64::from(age >= retention || age >= dead_letter));
    }

    /// Exactly the messages whose first attempt outlasts the visibility timeout are processed twice.
    #[test]
    fn duplicates_match_the_share_of_slow_messages(visibility in 20_u64..60, seed in 0_u64..1_000) {
        let work = Work::spread(15 * S, 40 * S, 90 * S, Share(10_000));
        let share = work.share_above(visibility * S);
        // The other durations are short enough that a second attempt always ends in time.
        let mut one = traffic(standard(visibility * S), work, 2_000);
        one.consumer = one.consumer.rechecking(Recheck::Never);
        let tally = one.week(seed);
        prop_assert!(is_likely(tally.twice, 2_000, share), "{} of 2000 at {share}", tally.twice);
        prop_assert_eq!((tally.done, tally.lost, tally.sent), (2_000, 0, 2_000));
    }

    /// A message moves to the dead-letter queue if as many consecutive attempts fail as the redrive policy allows.
    #[test]
    fn dead_lettered_messages_match_the_chance_of_consecutive_failures(
        failing in 1_u32..60, receives in 1_u32..4, seed in 0_u64..1_000,
    ) {
        let share = Share(failing * 10_000);
        let mut one = traffic(with_dead_letter(30 * S, receives), Work::between(S, 2 * S), 2_000);
        one.failing = share;
        let tally = one.week(seed);
        let exponent = i32::try_from(receives).unwrap();
        prop_assert!(is_likely(tally.dead_lettered, 2_000, (f64::from(failing) / 100.0).powi(exponent)));
        prop_assert_eq!(tally.done + tally.dead_lettered, 2_000);
        prop_assert_eq!((tally.twice, tally.lost), (0, 0));
    }

    /// A batch that is stopped at the timeout has completed the work that fits into it.
    #[test]
    fn stopped_batch_has_done_the_work_that_fits(
        size in 1_u32..10, work in 1_u64..50, timeout in 1_u64..200, lanes in 1_u32..4,
    ) {
        let consumer = Consumer { batch: size, parallelism: lanes, ..Consumer::function(timeout) };
        let setup = Setup {
            sends: vec![0; size as usize],
            ..Setup::of_one_message(standard(1_000), consumer, vec![AttemptOutcome::Works(work)])
        };
        let (tally, events) = Simulation::new(&setup, 0, true).traced(1_000);
        let done = events.iter().filter(|event| event.kind == EventKind::Done).count() as u64;
        let rounds = u64::from(size.div_ceil(lanes));
        let fitting = (timeout / work).min(rounds) * u64::from(lanes);
        prop_assert_eq!(done, fitting.min(u64::from(size)));
        prop_assert_eq!(tally.done, done);
        let deleted = events.iter().filter(|event| event.kind == EventKind::DeleteResult).count() as u64;
        prop_assert_eq!(deleted, if rounds * work <= timeout { u64::from(size) } else { 0 });
    }

    /// Durations are drawn according to their distribution.
    #[test]
    fn durations_follow_their_distribution(time in 1_u64..120, seed in 0_u64..1_000) {
        let work = Work::spread(20 * S, 50 * S, 100 * S, Share(10_000));
        let mut random = Random::new(seed);
        let above = (0..5_000).filter(|_| work.draw(&mut random) > time * S).count() as u64;
        prop_assert!(is_likely(above, 5_000, work.share_above(time * S)), "{above} of 5000 above {time} s");
    }
}

#[test]
fn equal_seeds_give_equal_runs() {
    let mut one = traffic(
        with_dead_letter(30 * S, 3),
        Work::spread(15 * S, 40 * S, 90 * S, Share(10_000)),
        3_000,
    );
    (one.failing, one.crashing, one.poison) = (Share(100_000), Share(10_000), Share(1_000));
    assert_eq!(one.week(7), one.week(7));
    assert_ne!(one.week(7), one.week(8));
}

#[test]
fn six_times_the_timeout_suffices_for_six_batches_in_turn() {
    // Six batches wait for a concurrency of 1: six times the timeout is enough, and one millisecond less is not.
    for (visibility, twice) in [(6 * 40 * S, 0), (6 * 40 * S - 1, 1)] {
        let consumer = Consumer {
            pollers: 6,
            first_pollers: 6,
            ..Consumer::function(40 * S).reserved(1)
        };
        let setup = Setup {
            sends: vec![0; 6],
            ..Setup::of_one_message(standard(visibility), consumer, vec![AttemptOutcome::Works(40 * S)])
        };
        let tally = Simulation::new(&setup, 0, false).run();
        assert_eq!((tally.twice, tally.done), (twice, 6), "{visibility}");
    }
}

#[test]
fn partial_responses_return_only_failed_messages() {
    for (partial, twice) in [(false, 1), (true, 0)] {
        let consumer = Consumer {
            batch: 2,
            partial_responses: partial,
            ..Consumer::function(60 * S)
        };
        // The second message of the batch fails once. A script cannot fail a single message of a batch, so chance does.
        let outcomes = Outcomes::Random {
            work: Work::fixed(S),
            failing: Share::NONE,
            crashing: Share::NONE,
            poison: Share(500_000),
        };
        let setup = (0..64)
            .map(|seed| {
                let setup = Setup {
                    outcomes: outcomes.clone(),
                    sends: vec![0; 2],
                    ..Setup::of_one_message(with_dead_letter(90 * S, 2), consumer.clone(), Vec::new())
                };
                Simulation::new(&setup, seed, false).run()
            })
            .find(|tally| tally.dead_lettered >= 1 && tally.done == 1);
        let tally = setup.expect("one of two messages is poison for some seed");
        assert_eq!(tally.twice, twice, "partial: {partial}");
    }
}

#[test]
fn endless_run_is_aborted() {
    let mut one = traffic(standard(1), Work::fixed(S), 1_000);
    one.poison = Share::ALL;
    one.consumer = Consumer::workers(500);
    assert!(one.week(0).is_aborted);
}

#[test]
fn few_messages_are_in_flight_with_fast_workers() {
    let one = traffic(standard(60 * S), Work::between(S, 30 * S), 30_000);
    let tally = one.week(1);
    assert_eq!((tally.done, tally.twice), (30_000, 0));
    assert!(tally.peak_in_flight < 30, "{}", tally.peak_in_flight);
}

#[test]
fn times_between_percentiles_have_one_hump() {
    for [median, slow, most] in [
        [12, 25, 280],
        [30, 150, 300],
        [1, 30, 900],
        [20, 50, 50],
        [90, 540, 900],
    ] {
        for tail in [150, 1_000, 10_000, 50_000].map(Share) {
            let work = Work::spread(median * S, slow * S, most * S, tail);
            let case = format!("{median} {slow} {most} {tail}");
            assert_eq!((work.median(), work.max()), (median * S, most * S), "{case}");
            let above = work.share_above(slow * S) * 1e6;
            let expected = if most > slow { f64::from(tail.0) } else { 0.0 };
            assert!((above - expected).abs() < 1e-3, "{case}: {above}");
            // Classes that grow by a half, from the fastest on: their shares rise, and then fall.
            let (mut shares, mut from) = (Vec::new(), work.min());
            while from < work.max() {
                shares.push(work.share_from(from) - work.share_from(from * 3 / 2 + 1));
                from = from * 3 / 2 + 1;
            }
            let top = shares.iter().copied().fold(0.0, f64::max);
            let at = shares.iter().position(|share| *share >= top).unwrap();
            // A share of three millionths is below the resolution of the distribution. Between two of its points it is
            // uniform, so the classes of one part may rise by a tenth.
            assert!(
                shares[..at].is_sorted_by(|one, next| *one <= next * 1.1 + 3e-6),
                "{case}: {shares:?}"
            );
            assert!(
                shares[at..].is_sorted_by(|one, next| *one * 1.1 + 3e-6 >= *next),
                "{case}: {shares:?}"
            );
        }
    }
}
