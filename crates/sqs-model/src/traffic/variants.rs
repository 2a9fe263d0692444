//! Runs the same traffic under other configurations and judges each.

use super::{Figure, Outcome, Traffic};
use crate::clock::{self, DAY, HOUR, MINUTE, SECOND};
use crate::queue::{MAX_IN_FLIGHT_TIME, RedriveTarget};
use crate::scenario::timeline::shown_times;

/// AWS's own example of a heartbeat: two minutes, every minute.
/// <https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html>
const EXAMPLE: (u64, u64) = (MINUTE, 2 * MINUTE);
/// Recovery time above which a verdict mentions it.
const SLOW_RECOVERY: u64 = HOUR;

/// A configuration and its name.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Name in machine formats.
    pub id: &'static str,
    /// Name in words.
    pub name: String,
    /// Traffic with the same messages under this configuration.
    pub traffic: Traffic,
}

/// Returns `traffic` itself and its variants.
pub fn variants(traffic: &Traffic) -> Vec<Variant> {
    let mut all = vec![Variant {
        id: "as-it-is",
        name: "as it is".to_owned(),
        traffic: traffic.clone(),
    }];
    let mut add = |id, name: &str, change: &dyn Fn(&mut Traffic)| {
        let mut traffic = traffic.clone();
        change(&mut traffic);
        let name = format!("{name}: {}", described(&traffic));
        all.push(Variant { id, name, traffic });
    };
    add("aws-defaults", "a queue on AWS's defaults", &|one| {
        one.queue.visibility = 30 * SECOND;
        one.queue.retention = 4 * DAY;
        one.queue.dead_letter = None;
        one.consumer.heartbeat = None;
    });
    add("heartbeat", "with a heartbeat", &|one| {
        let (every, extend_to) = EXAMPLE;
        one.queue.visibility = extend_to;
        one.consumer = one.consumer.clone().renewing(every, extend_to);
    });
    if !traffic.queue.fifo {
        add("fifo", "as a FIFO queue", &|one| {
            one.queue.fifo = true;
            one.consumer.batch = one.consumer.batch.min(10);
            one.consumer.window = 0;
        });
    }
    let six = |one: &mut Traffic| {
        let longest = one.consumer.timeout.unwrap_or_else(|| one.work.max());
        let six = 6 * longest + one.consumer.window;
        one.queue.visibility = (six.div_ceil(SECOND) * SECOND).min(MAX_IN_FLIGHT_TIME);
        one.consumer.heartbeat = None;
    };
    add("six-times", "six times the timeout", &|one| {
        six(one);
        one.queue.dead_letter = None;
    });
    add("six-times-dead-letter", "six times, and a dead-letter queue", &|one| {
        six(one);
        one.queue.retention = one.queue.retention.max(4 * DAY);
        one.queue.dead_letter = Some(RedriveTarget {
            max_receives: 5,
            retention: 14 * DAY,
        });
    });
    let first = described(traffic);
    if let Some(at_hand) = all.first_mut() {
        at_hand.name = format!("as it is: {first}");
    }
    all
}

/// Describes a configuration: `30 s, renewed every 20 s, no dead-letter queue`.
fn described(traffic: &Traffic) -> String {
    let queue = &traffic.queue;
    let mut parts = vec![format!("{} s", queue.visibility / SECOND)];
    if let Some(heartbeat) = traffic.consumer.heartbeat {
        parts.push(format!("renewed every {}", clock::span(heartbeat.every)));
    }
    if queue.fifo {
        parts.push("FIFO".to_owned());
    }
    parts.push(match queue.dead_letter {
        Some(dead) if dead.max_receives == 1 => "dead-letter queue after 1 receive".to_owned(),
        Some(dead) => format!("dead-letter queue after {} receives", dead.max_receives),
        None => "no dead-letter queue".to_owned(),
    });
    parts.join(", ")
}

impl Outcome {
    /// Returns `true` if no message is lost or processed twice under `traffic`, and a sentence with the verdict.
    pub fn verdict(&self, traffic: &Traffic) -> (bool, String) {
        let messages = traffic.messages;
        if self.is_aborted {
            return (
                false,
                "never gets through: messages are received again and again".to_owned(),
            );
        }
        let mut wrong = Vec::new();
        if self.lost.is_any() {
            wrong.push(format!("loses {} a week", messages_of(self.lost, messages)));
        }
        if self.twice.is_any() {
            let repeats = u32::try_from(self.most_done.saturating_sub(1)).unwrap_or(u32::MAX);
            let most = shown_times(self.most_done.max(2));
            // All are processed as often as the most frequent one, or only some of them.
            let times = if repeats <= 1 || self.repeats.mean >= f64::from(repeats) * self.twice.mean {
                most
            } else {
                format!("twice, some of them {most}")
            };
            wrong.push(format!(
                "processes {} a week {times}",
                messages_of(self.twice, messages)
            ));
        }
        if self.dead_lettered_done.is_any() {
            let done = messages_of(self.dead_lettered_done, messages);
            wrong.push(format!("dead-letters {done} a week that were processed"));
        }
        let is_right = wrong.is_empty();
        if is_right {
            wrong.push(if traffic.queue.fifo {
                "loses nothing, and processes nothing twice".to_owned()
            } else {
                "loses nothing, and processes nothing twice but SQS's own rare duplicates".to_owned()
            });
        }
        if let Some(recovery) = self.recovery.filter(|recovery| *recovery > SLOW_RECOVERY) {
            let but = if is_right { "but " } else { "" };
            wrong.push(format!("{but}after a crash a message waits {}", clock::span(recovery)));
        }
        (is_right, wrong.join(", "))
    }
}

/// Formats a count of messages: `every message`, `1 message`, `3.5 messages`.
fn messages_of(figure: Figure, messages: u64) -> String {
    if figure.least == messages {
        return "every message".to_owned();
    }
    let mean = shown(figure.mean);
    match mean.as_str() {
        "1" => "1 message".to_owned(),
        _ => format!("{mean} messages"),
    }
}

/// Formats a mean: whole from ten on, with one decimal below.
pub fn shown(mean: f64) -> String {
    let text = if mean >= 10.0 || mean.fract() == 0.0 {
        format!("{mean:.0}")
    } else {
        format!("{mean:.1}")
    };
    match text.as_str() {
        "0.0" => "less than 0.1".to_owned(),
        _ => text.strip_suffix(".0").unwrap_or(&text).to_owned(),
    }
}
