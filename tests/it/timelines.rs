//! Checks that the timing rules agree with the simulation model: over a grid of values, a rule reports exactly if the
//! model shows the harm that the rule warns about, and every finding has a timeline that shows it.
//!
//! | rule | harm |
//! | --- | --- |
//! | `visibility-timeout-below-function-timeout` | a second invocation receives the message during the first |
//! | `visibility-timeout-too-short` | the same, or a used receive, when six batches wait for one free invocation |
//! | `consumer-visibility-timeout-too-short` | a second worker receives the message while the first processes it |
//! | `consumer-heartbeat-too-slow` | the same, because the renewal is too late |
//! | `consumer-processing-exceeds-maximum` | the same, 12 hours after the receive |
//! | `batch-exceeds-function-timeout`, `latency-budget-exceeds-function-timeout` | work is repeated or never finished |
//! | `visibility-timeout-zero` | two consumers process the message at the same time |
//! | `visibility-timeout-exceeds-retention` | a message that fails once is lost |
//! | `queue-delay-exceeds-retention` | a message is lost before it is ever received |
//! | `retries-outlast-retention` | a message that keeps failing is lost before it reaches the dead-letter queue |
//! | `dead-letter-queue-retention-too-short` | a message is lost in the dead-letter queue, in the worst case at once |
//! | `durable-execution-exceeds-poller-limit` | no attempt is ever finished |
//! | `max-receive-count-too-low`, `max-receive-count-low-for-poller` | a good message is dead-lettered |
//! | `queue-retention-too-short`, `fifo-dead-letter-queue-retention-short` | a message is lost before it is received or seen |
//! | `in-flight-limit-at-risk` | no message is received while twenty failures per second are in flight |
//! | `consumer-recovery-slow`, `visibility-timeout-too-long`, `max-receive-count-too-high`, `fifo-group-blocked-too-long` | a message waits for longer than the rule's threshold |
//!
//! Each test builds a [`Grid`]: it declares one queue per combination of values, runs the [`Scenario`] of the rule with
//! the same values, and records whether the timeline shows harm. `Grid::holds` then checks the whole project once and
//! compares. Example: a visibility timeout of 30 s and a function timeout of 60 s give an overlap in the model, and
//! `visibility-timeout-below-function-timeout` must report that queue; with 60 s and 60 s neither may.

use crate::inputs::{check_files, repository};
use sqs_model::scenario::{Harm, Heartbeat, QueueSettings, RedriveTarget, Scenario};
use sqslint::Outcome;
use sqslint::diagnostic::Diagnostic;
use std::collections::BTreeSet;
use std::fmt::Write;

const S: u64 = 1_000;
/// Rules that claim that a message is lost or processed twice.
const CLAIMS: [&str; 15] = [
    "visibility-timeout-below-function-timeout",
    "visibility-timeout-below-window",
    "visibility-timeout-too-short",
    "consumer-visibility-timeout-too-short",
    "consumer-heartbeat-too-slow",
    "consumer-processing-exceeds-maximum",
    "batch-exceeds-function-timeout",
    "visibility-timeout-zero",
    "visibility-timeout-exceeds-retention",
    "queue-delay-exceeds-retention",
    "retries-outlast-retention",
    "dead-letter-queue-retention-too-short",
    "max-receive-count-too-low",
    "max-receive-count-low-for-poller",
    "durable-execution-exceeds-poller-limit",
];

/// Rules that claim that a message waits too long, or is inspected too late.
const THRESHOLDS: [&str; 7] = [
    "consumer-recovery-slow",
    "visibility-timeout-too-long",
    "max-receive-count-too-high",
    "fifo-group-blocked-too-long",
    "in-flight-limit-at-risk",
    "queue-retention-too-short",
    "fifo-dead-letter-queue-retention-short",
];

/// Project with many queues, and the model's result for each of them.
#[derive(Default)]
struct Grid {
    terraform: String,
    config: String,
    /// Names of queues, and whether the model shows harm, so that a rule must report.
    expected: Vec<(String, bool)>,
}

impl Grid {
    fn queue(&mut self, attributes: &[(&str, u64)], redrive: Option<(&str, u64)>) -> String {
        let name = format!("q{}", self.expected.len());
        let _ = writeln!(self.terraform, "resource \"aws_sqs_queue\" \"{name}\" {{");
        for (key, value) in attributes {
            let _ = writeln!(self.terraform, "  {key} = {value}");
        }
        if let Some((target, receives)) = redrive {
            let _ = writeln!(
                self.terraform,
                "  redrive_policy = jsonencode({{ deadLetterTargetArn = {target}.arn, maxReceiveCount = {receives} }})"
            );
        }
        self.terraform += "}\n";
        name
    }

    fn function(&mut self, name: &str, timeout: u64, window: u64, batch: u64) {
        let _ = write!(
            self.terraform,
            "resource \"aws_lambda_function\" \"{name}\" {{\n  function_name = \"{name}\"\n  timeout = {timeout}\n}}\n\
             resource \"aws_lambda_event_source_mapping\" \"{name}\" {{\n  event_source_arn = aws_sqs_queue.{name}.arn\n  \
             function_name = aws_lambda_function.{name}.arn\n  batch_size = {batch}\n  \
             maximum_batching_window_in_seconds = {window}\n}}\n"
        );
    }

    fn expects(&mut self, name: &str, scenario: &Scenario) {
        self.waits(name, scenario, |_| false);
    }

    /// Like `expects`, but waiting counts as harm only if it is `too_long`, in seconds.
    fn waits(&mut self, name: &str, scenario: &Scenario, too_long: impl Fn(u64) -> bool) {
        let is_harm = scenario.timeline().harm.is_some_and(|harm| match harm {
            Harm::Waits(wait) => too_long(wait / S),
            _ => true,
        });
        self.expected.push((name.to_owned(), is_harm));
    }

    /// Requires that one of `rules` reports a queue or its function exactly if the model shows harm.
    fn holds(&self, rules: &[&str]) -> Outcome {
        // Rules outside the default set are selected as well.
        let select = format!("select = [\"default\", \"pedantic\"]\n{}", self.config);
        let outcome = check_files([("main.tf", &*self.terraform), ("sqslint.toml", &*select)]);
        assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
        let fired: BTreeSet<&str> = (outcome.findings.iter())
            .filter(|found| rules.contains(&&*found.rule))
            .filter_map(|found| found.subject.address.rsplit('.').next())
            .collect();
        let harmed = self.expected.iter().filter(|(_, is_harm)| *is_harm);
        let harmed: BTreeSet<&str> = harmed.map(|(name, _)| name.as_str()).collect();
        let wrong: Vec<&&str> = fired.symmetric_difference(&harmed).collect();
        assert!(
            wrong.is_empty(),
            "{rules:?} and the model differ on {wrong:?}\n{}",
            self.terraform
        );
        assert!(
            !fired.is_empty() && fired.len() < self.expected.len(),
            "the grid has both"
        );
        for found in &outcome.findings {
            shows_its_harm(found);
        }
        outcome
    }
}

/// Requires a timeline that shows the harm, if the rule claims one.
fn shows_its_harm(found: &Diagnostic) {
    // Advice on medians is a rule of thumb, and settings that Lambda rejects never run.
    let is_advice = found.severity == sqslint::diagnostic::Severity::Info && !THRESHOLDS.contains(&&*found.rule);
    let is_refused = found.rule == "visibility-timeout-zero";
    let claims = CLAIMS.contains(&&*found.rule) || THRESHOLDS.contains(&&*found.rule);
    if claims && !is_advice && !is_refused {
        let harm = found.timeline().and_then(|timeline| timeline.harm);
        assert!(harm.is_some(), "{found:?}");
    }
}

#[test]
fn pages_of_timing_rules_link_to_the_calculator() {
    for rule in CLAIMS.iter().chain(&THRESHOLDS) {
        let page = std::fs::read_to_string(repository(&format!("rules/{rule}.md"))).unwrap();
        assert!(page.contains("](../docs/playground.md#the-calculator)"), "{rule}");
    }
}

#[test]
fn visibility_timeout_rules_agree_for_timeouts_and_windows() {
    let mut grid = Grid::default();
    for visibility in [
        0, 1, 10, 29, 30, 31, 59, 60, 61, 179, 180, 181, 185, 186, 359, 360, 361, 365, 900,
    ] {
        for timeout in [1, 10, 30, 60] {
            for window in [0, 5, 100] {
                let name = grid.queue(&[("visibility_timeout_seconds", visibility)], None);
                grid.function(&name, timeout, window, 10);
                let scenario = Scenario::Throttled {
                    visibility: visibility * S,
                    timeout: timeout * S,
                    window: window * S,
                    batches: 6,
                };
                grid.expects(&name, &scenario);
            }
        }
    }
    grid.holds(&[
        "visibility-timeout-zero",
        "visibility-timeout-below-function-timeout",
        "visibility-timeout-below-window",
        "visibility-timeout-too-short",
    ]);
}

#[test]
fn visibility_timeout_below_function_timeout_agrees() {
    let mut grid = Grid::default();
    for visibility in [1, 2, 29, 30, 31, 60, 299, 300, 301, 900] {
        for timeout in [1, 2, 30, 31, 300, 900] {
            let name = grid.queue(&[("visibility_timeout_seconds", visibility)], None);
            grid.function(&name, timeout, 0, 1);
            grid.expects(&name, &Scenario::overlap(visibility * S, timeout * S));
        }
    }
    grid.holds(&["visibility-timeout-below-function-timeout"]);
}

#[test]
fn retention_rules_agree_for_delays_and_receives() {
    let mut grid = Grid::default();
    grid.terraform += "resource \"aws_sqs_queue\" \"aside\" {\n  message_retention_seconds = 1209600\n}\n";
    for visibility in [1, 30, 59, 60, 61, 300] {
        for retention in [60, 61, 300, 301, 1500, 1501] {
            for (receives, delay) in [(1, 0), (2, 0), (5, 0), (5, 1), (5, 60)] {
                let attributes = [
                    ("visibility_timeout_seconds", visibility),
                    ("message_retention_seconds", retention),
                    ("delay_seconds", delay),
                ];
                let name = grid.queue(&attributes, Some(("aws_sqs_queue.aside", receives)));
                grid.function(&name, 1, 0, 1);
                let scenario = Scenario::Failing(QueueSettings {
                    visibility: visibility * S,
                    retention: retention * S,
                    delay: delay * S,
                    dead_letter: Some(RedriveTarget {
                        max_receives: u32::try_from(receives).unwrap(),
                        retention: 1_209_600 * S,
                    }),
                    fifo: false,
                });
                grid.expects(&name, &scenario);
            }
        }
    }
    grid.holds(&[
        "retries-outlast-retention",
        "visibility-timeout-exceeds-retention",
        "queue-delay-exceeds-retention",
    ]);
}

#[test]
fn dead_letter_queue_retention_agrees() {
    let mut grid = Grid::default();
    for source in [60, 3_600, 345_599, 345_600, 1_209_599] {
        for kept in [60, 3_600, 345_600, 345_601, 1_209_600] {
            let aside = grid.queue(&[("message_retention_seconds", kept)], None);
            let scenario = Scenario::Late {
                retention: source * S,
                dead_letter_retention: kept * S,
            };
            grid.expects(&aside, &scenario);
            let attributes = [("message_retention_seconds", source), ("visibility_timeout_seconds", 6)];
            let name = grid.queue(&attributes, Some((&format!("aws_sqs_queue.{aside}"), 5)));
            grid.expected.push((name.clone(), false));
            grid.function(&name, 1, 0, 1);
        }
    }
    grid.holds(&["dead-letter-queue-retention-too-short"]);
}

#[test]
fn declared_worker_rules_agree() {
    let mut grid = Grid::default();
    for visibility in [1, 20, 29, 30, 31, 60, 43_200] {
        for work in [1, 30, 31, 60, 43_200, 43_201] {
            let name = grid.queue(&[("visibility_timeout_seconds", visibility)], None);
            let _ = writeln!(
                grid.config,
                "[[consumer]]\nqueue = \"aws_sqs_queue.{name}\"\nprocessing = {{ max = \"{work}s\" }}\n"
            );
            grid.expects(&name, &Scenario::overlap(visibility * S, work * S));
        }
    }
    for visibility in [10, 19, 20, 21, 40, 60] {
        for every in [10, 20, 30] {
            for extend_to in [20, 21, 60] {
                let name = grid.queue(&[("visibility_timeout_seconds", visibility)], None);
                let _ = writeln!(
                    grid.config,
                    "[[consumer]]\nqueue = \"aws_sqs_queue.{name}\"\nprocessing = {{ max = \"600s\" }}\n\
                     heartbeat = {{ every = \"{every}s\", extend-to = \"{extend_to}s\" }}\n"
                );
                let beat = Scenario::Overlap {
                    visibility: visibility * S,
                    work: 600 * S,
                    retry: 600 * S,
                    window: 0,
                    heartbeat: Some(Heartbeat {
                        every: every * S,
                        extend_to: extend_to * S,
                        missed: 0,
                    }),
                };
                grid.expects(&name, &beat);
            }
        }
    }
    let outcome = check_files([("main.tf", &*grid.terraform), ("sqslint.toml", &*grid.config)]);
    let rules = [
        "consumer-visibility-timeout-too-short",
        "consumer-heartbeat-too-slow",
        "consumer-processing-exceeds-maximum",
    ];
    // Late renewals are a warning; that a single renewal may be missed is only advice.
    let warned: BTreeSet<&str> = (outcome.findings.iter())
        .filter(|found| rules.contains(&&*found.rule) && found.severity > sqslint::diagnostic::Severity::Info)
        .filter_map(|found| found.subject.address.rsplit('.').next())
        .collect();
    let harmed = grid.expected.iter().filter(|(_, is_harm)| *is_harm);
    let harmed: BTreeSet<&str> = harmed.map(|(name, _)| name.as_str()).collect();
    let wrong: Vec<&&str> = warned.symmetric_difference(&harmed).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{}\n{}", grid.terraform, grid.config);
    for found in &outcome.findings {
        shows_its_harm(found);
    }
}

#[test]
fn batch_processing_time_rules_agree() {
    let mut grid = Grid::default();
    for timeout in [10, 59, 60, 61, 300] {
        for work in [1, 6, 10, 30, 70] {
            for batch in [1, 2, 10] {
                let name = grid.queue(&[("visibility_timeout_seconds", 6 * timeout)], None);
                grid.function(&name, timeout, 0, batch);
                let _ = writeln!(
                    grid.config,
                    "[[consumer]]\nqueue = \"aws_sqs_queue.{name}\"\nfunction = \"{name}\"\nprocessing = {{ p99 = \"{work}s\" }}\n"
                );
                let scenario = Scenario::Batch {
                    visibility: 6 * timeout * S,
                    timeout: timeout * S,
                    size: u32::try_from(batch).unwrap(),
                    parallelism: 1,
                    work: work * S,
                };
                grid.expects(&name, &scenario);
                // Processing that takes exactly as long as the timeout succeeds in the model, but is too close for the
                // rule.
                if let Some((_, is_harm)) = grid.expected.last_mut() {
                    *is_harm |= work == timeout;
                }
            }
        }
    }
    grid.holds(&[
        "batch-exceeds-function-timeout",
        "latency-budget-exceeds-function-timeout",
    ]);
}

#[test]
fn max_receive_count_rules_agree_for_good_messages() {
    let mut grid = Grid::default();
    grid.terraform += "resource \"aws_sqs_queue\" \"aside\" {\n  message_retention_seconds = 1209600\n}\n";
    for receives in 1..7 {
        let name = grid.queue(
            &[("visibility_timeout_seconds", 30)],
            Some(("aws_sqs_queue.aside", receives)),
        );
        grid.function(&name, 5, 0, 1);
        // The error needs one failure, the advice four throttled receives.
        let tried = u32::try_from(receives).unwrap();
        let scenario = Scenario::Unlucky {
            visibility: 30 * S,
            receives: tried,
            is_throttled: tried > 1,
        };
        assert_eq!(scenario.timeline().harm, Some(Harm::GivenUp));
        grid.expected.push((name, receives < 5));
    }
    let outcome = grid.holds(&["max-receive-count-too-low", "max-receive-count-low-for-poller"]);
    for found in &outcome.findings {
        if found.rule.starts_with("max-receive-count") {
            assert_eq!(found.timeline().and_then(|timeline| timeline.harm), Some(Harm::GivenUp));
        }
    }
}

#[test]
fn visibility_timeout_too_long_agrees() {
    let mut grid = Grid::default();
    for visibility in [30, 899, 900, 1_800, 1_801, 3_600, 3_601, 43_200] {
        for timeout in [1, 10, 30, 60, 720] {
            let name = grid.queue(&[("visibility_timeout_seconds", visibility)], None);
            grid.function(&name, timeout, 0, 1);
            let scenario = Scenario::TimedOut {
                visibility: visibility * S,
                timeout: timeout * S,
            };
            // The threshold is sixty function timeouts; the first of them is processing.
            grid.waits(&name, &scenario, |wait| visibility >= 900 && wait > 59 * timeout);
        }
    }
    grid.holds(&["visibility-timeout-too-long"]);
}

#[test]
fn in_flight_limit_agrees() {
    let mut grid = Grid::default();
    for visibility in [30, 5_400, 5_999, 6_000, 6_001, 12_000, 43_200] {
        let name = grid.queue(&[("visibility_timeout_seconds", visibility)], None);
        grid.function(&name, 1, 0, 1);
        let scenario = Scenario::Full {
            visibility: visibility * S,
            failures: 20,
        };
        grid.waits(&name, &scenario, |_| true);
    }
    grid.holds(&["in-flight-limit-at-risk"]);
}

#[test]
fn max_receive_count_too_high_agrees() {
    let mut grid = Grid::default();
    grid.terraform += "resource \"aws_sqs_queue\" \"aside\" {\n  message_retention_seconds = 1209600\n}\n";
    for visibility in [1, 35, 36, 60, 864, 865, 43_200] {
        for receives in [1, 2, 3, 20, 99, 100, 101, 1_000] {
            if receives * visibility >= 1_209_600 {
                // `retries-outlast-retention` reports this instead.
                continue;
            }
            let attributes = [
                ("visibility_timeout_seconds", visibility),
                ("message_retention_seconds", 1_209_600),
            ];
            let name = grid.queue(&attributes, Some(("aws_sqs_queue.aside", receives)));
            let scenario = Scenario::Failing(QueueSettings {
                visibility: visibility * S,
                retention: 1_209_600 * S,
                delay: 0,
                dead_letter: Some(RedriveTarget {
                    max_receives: u32::try_from(receives).unwrap(),
                    retention: 1_209_600 * S,
                }),
                fifo: false,
            });
            grid.waits(&name, &scenario, |wait| {
                wait >= 3_600 && (receives > 100 || wait > 86_400)
            });
        }
    }
    grid.holds(&["max-receive-count-too-high"]);
}

#[test]
fn blocked_fifo_groups_agree() {
    let mut grid = Grid::default();
    grid.terraform +=
        "resource \"aws_sqs_queue\" \"aside\" {\n  fifo_queue = true\n  message_retention_seconds = 1209600\n}\n";
    for visibility in [6, 90, 180, 300, 301, 900] {
        for receives in [1, 3, 5, 6, 10] {
            for timeout in [1, 50, 150] {
                let attributes = [("visibility_timeout_seconds", visibility)];
                let name = grid.queue(&attributes, Some(("aws_sqs_queue.aside", receives)));
                let header = format!("resource \"aws_sqs_queue\" \"{name}\" {{\n");
                let fifo = format!("{header}  fifo_queue = true\n");
                grid.terraform = grid.terraform.replace(&header, &fifo);
                grid.function(&name, timeout, 0, 1);
                let scenario = Scenario::Failing(QueueSettings {
                    visibility: visibility * S,
                    retention: 345_600 * S,
                    delay: 0,
                    dead_letter: Some(RedriveTarget {
                        max_receives: u32::try_from(receives).unwrap(),
                        retention: 1_209_600 * S,
                    }),
                    fifo: true,
                });
                let is_as_advised = visibility <= 6 * timeout && receives <= 5;
                grid.waits(&name, &scenario, |wait| wait > 900 && !is_as_advised);
            }
        }
    }
    grid.holds(&["fifo-group-blocked-too-long"]);
}

#[test]
fn recovery_after_a_crash_agrees() {
    let mut grid = Grid::default();
    for visibility in [30, 899, 900, 901, 3_600, 43_200] {
        for work in [2, 30, 90, 360, 1_800, 4_320] {
            let name = grid.queue(&[("visibility_timeout_seconds", visibility)], None);
            let _ = writeln!(
                grid.config,
                "[[consumer]]\nqueue = \"aws_sqs_queue.{name}\"\nprocessing = {{ p99 = \"{work}s\" }}\n"
            );
            let scenario = Scenario::Crash {
                visibility: visibility * S,
                after: work * S / 2,
                heartbeat: None,
            };
            // The threshold is ten times the processing time, half of which is over at the crash.
            grid.waits(&name, &scenario, |wait| visibility >= 900 && 2 * wait > 19 * work);
        }
    }
    grid.holds(&["consumer-recovery-slow"]);
}

#[test]
fn queue_retention_during_an_outage_agrees() {
    let mut grid = Grid::default();
    grid.terraform += "resource \"aws_sqs_queue\" \"aside\" {\n  message_retention_seconds = 1209600\n}\n";
    for retention in [60, 3_600, 86_399, 86_400, 86_401, 1_209_600] {
        let name = grid.queue(&[("message_retention_seconds", retention)], None);
        grid.function(&name, 1, 0, 1);
        let scenario = Scenario::Outage {
            retention: retention * S,
            length: 86_400 * S,
        };
        grid.expects(&name, &scenario);
    }
    grid.holds(&["queue-retention-too-short"]);
}

#[test]
fn fifo_dead_letter_queue_retention_agrees() {
    let mut grid = Grid::default();
    for kept in [60, 86_400, 345_599, 345_600, 345_601, 1_209_600] {
        let name = grid.queue(&[("message_retention_seconds", kept)], None);
        let _ = write!(
            grid.terraform,
            "resource \"aws_sqs_queue\" \"source_{name}\" {{\n  fifo_queue = true\n  \
             redrive_policy = jsonencode({{ deadLetterTargetArn = aws_sqs_queue.{name}.arn, maxReceiveCount = 5 }})\n}}\n"
        );
        let scenario = Scenario::ExpiresInDeadLetterQueue {
            retention: kept * S,
            inspected_at: 345_600 * S,
        };
        grid.expects(&name, &scenario);
    }
    grid.terraform = grid
        .terraform
        .replace("  message_retention", "  fifo_queue = true\n  message_retention");
    grid.holds(&["fifo-dead-letter-queue-retention-short"]);
}

#[test]
fn durable_execution_limit_agrees() {
    let mut grid = Grid::default();
    for length in [60, 1_799, 1_800, 1_801, 3_600] {
        let name = grid.queue(&[("visibility_timeout_seconds", 5_400)], None);
        grid.function(&name, 60, 0, 1);
        let own = format!("  function_name = \"{name}\"\n");
        let durable = format!("{own}  durable_config {{\n    execution_timeout = {length}\n  }}\n");
        grid.terraform = grid.terraform.replace(&own, &durable);
        let scenario = Scenario::Batch {
            visibility: 5_400 * S,
            timeout: 1_800 * S,
            size: 1,
            parallelism: 1,
            work: length * S,
        };
        grid.expects(&name, &scenario);
    }
    grid.holds(&["durable-execution-exceeds-poller-limit"]);
}
