//! Tests the timelines of findings: their texts, and that they show a harm exactly if there is one.

use super::S;
use crate::scenario::runs::filled;
use crate::scenario::{Harm, Scenario, line};
use crate::{Heartbeat, QueueSettings, RedriveTarget};

fn overlap(visibility: u64, work: u64, window: u64, heartbeat: impl Into<Option<Heartbeat>>) -> Scenario {
    Scenario::Overlap {
        visibility: visibility * S,
        work: work * S,
        retry: work * S,
        window: window * S,
        heartbeat: heartbeat.into(),
    }
}

fn renewing(every: u64, extend_to: u64, missed: u32) -> Heartbeat {
    Heartbeat {
        every: every * S,
        extend_to: extend_to * S,
        missed,
    }
}

fn throttled(visibility: u64, window: u64) -> Scenario {
    Scenario::Throttled {
        visibility: visibility * S,
        timeout: 40 * S,
        window: window * S,
        batches: 6,
    }
}

fn batch(work: u64) -> Scenario {
    Scenario::Batch {
        visibility: 360 * S,
        timeout: 60 * S,
        size: 10,
        parallelism: 1,
        work: work * S,
    }
}

fn failing(visibility: u64, retention: u64, receives: u32, dead_letter: u64) -> Scenario {
    Scenario::Failing(QueueSettings {
        visibility: visibility * S,
        retention: retention * S,
        delay: 5 * S,
        dead_letter: Some(RedriveTarget {
            max_receives: receives,
            retention: dead_letter * S,
        }),
        fifo: false,
    })
}

fn late(retention: u64, dead_letter_retention: u64) -> Scenario {
    Scenario::Late {
        retention: retention * S,
        dead_letter_retention: dead_letter_retention * S,
    }
}

#[test]
fn timelines_are_described() {
    let scenarios = [
        overlap(30, 280, 0, None),
        overlap(300, 280, 0, None),
        overlap(30, 280, 20, None),
        overlap(30, 280, 0, renewing(40, 60, 0)),
        overlap(30, 280, 0, renewing(20, 30, 1)),
        overlap(30, 280, 0, renewing(20, 20, 0)),
        overlap(600, 50_000, 0, renewing(300, 600, 0)),
        Scenario::Overlap {
            visibility: 30 * S,
            work: 280 * S,
            retry: 12 * S,
            window: 0,
            heartbeat: None,
        },
        throttled(60, 0),
        throttled(199, 10),
        throttled(200, 0),
        throttled(240, 0),
        throttled(30, 20),
        batch(10),
        batch(70),
        batch(6),
        Scenario::Crash {
            visibility: 43_200 * S,
            after: 1_800 * S,
            heartbeat: None,
        },
        Scenario::Crash {
            visibility: 300 * S,
            after: 1_800 * S,
            heartbeat: Some(renewing(150, 300, 0)),
        },
        failing(30, 100, 5, 1_000),
        failing(30, 1_000, 5, 100),
        Scenario::Failing(QueueSettings {
            visibility: 300 * S,
            retention: 100_000 * S,
            delay: 0,
            dead_letter: Some(RedriveTarget {
                max_receives: 15,
                retention: 100_000 * S,
            }),
            fifo: true,
        }),
        failing(300, 60, 5, 1_000),
        Scenario::Failing(QueueSettings {
            visibility: 30 * S,
            retention: 60 * S,
            delay: 90 * S,
            dead_letter: None,
            fifo: false,
        }),
        Scenario::Unlucky {
            visibility: 30 * S,
            receives: 1,
            is_throttled: false,
        },
        Scenario::Unlucky {
            visibility: 30 * S,
            receives: 3,
            is_throttled: true,
        },
        late(345_600, 345_600),
        late(345_600, 345_601),
        Scenario::Outage {
            retention: 3_600 * S,
            length: 86_400 * S,
        },
        Scenario::ExpiresInDeadLetterQueue {
            retention: 86_400 * S,
            inspected_at: 345_600 * S,
        },
        Scenario::TimedOut {
            visibility: 1_801 * S,
            timeout: 30 * S,
        },
        Scenario::Full {
            visibility: 43_200 * S,
            failures: 3,
        },
        Scenario::Full {
            visibility: 6_000 * S,
            failures: 20,
        },
        // Work that takes an hour, in a function that stops after a quarter of it.
        Scenario::Batch {
            visibility: 5_400 * S,
            timeout: 900 * S,
            size: 1,
            parallelism: 1,
            work: 3_600 * S,
        },
    ];
    let lines: Vec<String> = scenarios.iter().map(|one| line(&one.timeline())).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// A message that represents a thousand others gives the same result as a thousand messages.
#[test]
fn representing_messages_does_not_change_when_the_quota_is_full() {
    for (visibility, failures) in [(6_001, 20), (43_200, 3)] {
        let of = |alike| line(&filled(visibility * S, failures, alike));
        assert_eq!(of(1_000), of(1), "{visibility} {failures}");
    }
}

/// Returns `true` if a timeline shows duplicate or repeated work, wasted receives, or a lost or abandoned message.
fn shows_harm(scenario: &Scenario) -> bool {
    matches!(
        scenario.timeline().harm,
        Some(
            Harm::WorkedOnTwice | Harm::DoneAgain | Harm::NeverDone | Harm::ReceiveUsedUp | Harm::Lost | Harm::GivenUp
        )
    )
}

/// Compares what each timing rule requires with the scenario of its findings.
#[test]
fn harm_is_shown_exactly_if_rules_report() {
    let grid = [1, 2, 3, 5, 6, 9, 10, 30, 59, 60, 61];
    for visibility in grid {
        for time in grid {
            let is_too_short = visibility < time;
            assert_eq!(
                shows_harm(&overlap(visibility, time, 0, None)),
                is_too_short,
                "{visibility} {time}"
            );
            assert_eq!(
                shows_harm(&overlap(visibility, 400, 0, renewing(time, 600, 0))),
                visibility <= time,
                "renewed after {time} s of {visibility} s"
            );
            assert_eq!(
                shows_harm(&overlap(2 * time, 400, 0, renewing(time, visibility, 0))),
                visibility <= time,
                "renewed every {time} s for {visibility} s"
            );
            // One renewal is lost. The rule allows exactly half, which is AWS's example.
            let missed = shows_harm(&overlap(visibility, 400, 0, renewing(time, 600, 1)));
            assert_eq!(missed, visibility <= 2 * time, "{visibility} {time}");
            for window in [0, 1, 5] {
                let scenario = Scenario::Throttled {
                    visibility: visibility * S,
                    timeout: time * S,
                    window: window * S,
                    batches: 6,
                };
                let needed = 6 * time + window;
                assert_eq!(
                    shows_harm(&scenario),
                    visibility < needed,
                    "{visibility} {time} {window}"
                );
            }
            for size in [1, 3, 10] {
                let scenario = Scenario::Batch {
                    visibility: 600 * S,
                    timeout: visibility * S,
                    size,
                    parallelism: 2,
                    work: time * S,
                };
                let rounds = u64::from(size.div_ceil(2));
                assert_eq!(
                    shows_harm(&scenario),
                    visibility < rounds * time,
                    "{visibility} {time} {size}"
                );
            }
            for receives in [1, 2, 5] {
                let age = 5 + u64::from(receives) * visibility;
                let scenario = failing(visibility, time, receives, 1_000);
                assert_eq!(shows_harm(&scenario), time <= age, "{visibility} {time} {receives}");
                let scenario = failing(visibility, 1_000, receives, time);
                assert_eq!(shows_harm(&scenario), time <= age, "{visibility} {time} {receives}");
            }
            let once = Scenario::Failing(QueueSettings {
                visibility: visibility * S,
                retention: time * S,
                delay: 0,
                dead_letter: Some(RedriveTarget {
                    max_receives: 1,
                    retention: 1_000 * S,
                }),
                fifo: false,
            });
            assert_eq!(shows_harm(&once), visibility >= time, "{visibility} {time}");
            assert_eq!(
                shows_harm(&late(visibility, time)),
                time <= visibility,
                "{visibility} {time}"
            );
        }
    }
}
