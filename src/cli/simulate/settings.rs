//! Collects the settings of a queue and its consumer from flags and files, and assumes values for the rest.

use super::TrafficArgs;
use clap::{Args, ValueEnum};
use sqs_model::clock::{self, DAY, HOUR, MINUTE, SECOND, WEEK};
use sqs_model::traffic::Traffic;
use sqs_model::{Consumer, Heartbeat, QueueSettings, RedriveTarget, Share, Work};
use sqslint::config::Duration;
use sqslint::graph::limits::{self, Quota, Unit};

/// Maximum number of messages per week; higher rates would not change the statistics that matter.
const MOST_MESSAGES: u64 = 20_000_000;
/// Default retention period of a dead-letter queue: the maximum of SQS.
const MOST_RETENTION: u64 = 14 * DAY;
/// Bounds of the interval between heartbeats. The minimum is shorter than any sensible interval, and limits the number
/// of heartbeats.
static HEARTBEAT: Quota = Quota {
    name: "heartbeat interval",
    unit: Unit::Seconds,
    least: 1,
    most: 43_200,
    source: "",
};
/// Number of workers, unless specified.
const WORKERS: u32 = 10;

/// Settings of a queue and its consumer: flags, which override those in the files. Times are in milliseconds.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Settings {
    /// The queue and its consumer.
    #[arg(skip)]
    pub(super) subject: Option<String>,
    /// The visibility timeout
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Queue")]
    pub(super) visibility: Option<u64>,
    /// Retention period of the queue
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Queue")]
    pub(super) retention: Option<u64>,
    /// Delay of new messages
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Queue")]
    pub(super) delay: Option<u64>,
    /// Number of receives after which a message moves to the dead-letter queue; 0 for no dead-letter queue
    #[arg(long, value_name = "COUNT", help_heading = "Queue")]
    pub(super) max_receives: Option<u32>,
    /// Retention period of the dead-letter queue
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Queue")]
    pub(super) dead_letter_retention: Option<u64>,
    /// Simulate a FIFO queue
    #[arg(long, help_heading = "Queue")]
    pub(super) fifo: bool,
    /// Number of message groups
    #[arg(long, value_name = "COUNT", default_value_t = 1_000, help_heading = "Queue")]
    pub(super) groups: u32,
    /// Timeout of the function that consumes the queue
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "workers", help_heading = "Consumer")]
    pub(super) timeout: Option<u64>,
    /// The function's largest batch
    #[arg(long, value_name = "COUNT", help_heading = "Consumer")]
    pub(super) batch: Option<u32>,
    /// Its batching window
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Consumer")]
    pub(super) window: Option<u64>,
    /// Its reserved concurrency
    #[arg(long, value_name = "COUNT", help_heading = "Consumer")]
    pub(super) concurrency: Option<u32>,
    /// The function reports which messages of a batch failed
    #[arg(long, help_heading = "Consumer")]
    pub(super) partial_responses: bool,
    /// Number of workers that consume the queue, each with one message at a time
    #[arg(long, value_name = "COUNT", help_heading = "Consumer")]
    pub(super) workers: Option<u32>,
    /// Interval at which the visibility timeout is renewed, and its new value, as in 20s/60s
    #[arg(long, value_name = "EVERY/EXTEND-TO", value_parser = heartbeat, help_heading = "Consumer")]
    pub(super) heartbeat: Option<(u64, u64)>,
    /// Point at which the consumer checks whether a message was already processed
    #[arg(long, value_enum, default_value_t = Recheck::Never, help_heading = "Consumer")]
    pub(super) recheck: Recheck,
    /// Processing time of half of the messages, at most
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Consumer")]
    pub(super) p50: Option<u64>,
    /// Processing time of all messages but the tail, at most
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Consumer")]
    pub(super) p99: Option<u64>,
    /// Maximum processing time of any message
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Consumer")]
    pub(super) max: Option<u64>,
    /// The share of messages that take longer than --p99
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "1%", help_heading = "Consumer")]
    pub(super) tail: Share,
    #[arg(skip)]
    pub(super) maximum_concurrency: Option<u32>,
    #[arg(skip)]
    pub(super) parallelism: Option<u32>,
    /// Descriptions of values that the files leave unresolved.
    #[arg(skip)]
    pub(super) unresolved: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Recheck {
    /// Never: every delivery is processed
    #[default]
    Never,
    /// Before the work begins
    First,
    /// At the end of the work, before its effect
    Last,
}

impl Settings {
    /// Returns the traffic to simulate, with a sentence that describes it, the values that were assumed, and whether
    /// processing times are among them.
    pub(super) fn traffic(self, flags: &TrafficArgs) -> Result<(String, Vec<String>, bool, Traffic), String> {
        let mut assumed = self.unresolved.clone();
        let messages = flags.rate;
        if messages > MOST_MESSAGES {
            return Err(format!(
                "{messages} messages a week exceed the maximum of {MOST_MESSAGES}"
            ));
        }
        if let Some(refusal) = self.refusal() {
            return Err(refusal);
        }
        let visibility = self.visibility.unwrap_or_else(|| {
            assumed.push("a visibility timeout of 30 s, SQS's default".to_owned());
            30 * SECOND
        });
        let queue = QueueSettings {
            visibility,
            retention: self.retention.unwrap_or(4 * DAY),
            delay: self.delay.unwrap_or(0),
            fifo: self.fifo,
            dead_letter: self
                .max_receives
                .filter(|receives| *receives > 0)
                .map(|max_receives| RedriveTarget {
                    max_receives,
                    retention: self.dead_letter_retention.unwrap_or(MOST_RETENTION),
                }),
        };
        let known = assumed.len();
        let work = self.work(&mut assumed)?;
        let times_are_assumed = assumed.len() > known;
        let consumer = self.consumer(&mut assumed);
        let crash_after = flags.crash_after.unwrap_or(work.median() / 2).max(1);
        let subject = self.subject.unwrap_or_else(|| {
            let reader = if consumer.timeout.is_some() {
                "a function"
            } else {
                "workers"
            };
            format!("A queue, read by {reader}")
        });
        let traffic = Traffic {
            queue,
            consumer,
            work,
            failing: flags.failing,
            crashing: flags.crashes,
            poison: flags.poison,
            messages,
            groups: self.groups,
            crash_after,
        };
        Ok((subject, assumed, times_are_assumed, traffic))
    }

    /// Returns an error message for the first setting that AWS rejects.
    fn refusal(&self) -> Option<String> {
        let times = [
            ("visibility timeout", self.visibility, &limits::VISIBILITY_TIMEOUT),
            ("retention period", self.retention, &limits::RETENTION),
            (
                "dead-letter queue's retention period",
                self.dead_letter_retention,
                &limits::RETENTION,
            ),
            ("delivery delay", self.delay, &limits::DELAY),
            // Functions on Lambda Managed Instances may run longer than others.
            (
                "function timeout",
                self.timeout,
                &limits::FUNCTION_TIMEOUT_MANAGED_INSTANCES,
            ),
            ("batching window", self.window, &limits::WINDOW),
            ("heartbeat interval", self.heartbeat.map(|(every, _)| every), &HEARTBEAT),
            (
                "heartbeat's visibility timeout",
                self.heartbeat.map(|(_, extend_to)| extend_to),
                &limits::VISIBILITY_TIMEOUT,
            ),
        ];
        let counts = [
            (
                "max receive count",
                self.max_receives.filter(|receives| *receives > 0),
                &limits::MAX_RECEIVE_COUNT,
            ),
            ("batch size", self.batch, &limits::BATCH_SIZE),
        ];
        let in_milliseconds = |bound: i64| u64::try_from(bound).unwrap_or(0) * SECOND;
        let is_accepted =
            |time: u64, quota: &Quota| (in_milliseconds(quota.least)..=in_milliseconds(quota.most)).contains(&time);
        let time = times.into_iter().find_map(|(name, time, quota)| {
            let time = time.filter(|time| !is_accepted(*time, quota))?;
            let [least, most] = [quota.least, quota.most].map(|bound| clock::span(in_milliseconds(bound)));
            Some(format!(
                "the {name} must be between {least} and {most}, not {}",
                clock::span(time)
            ))
        });
        let count = || {
            counts.into_iter().find_map(|(name, count, quota)| {
                let count = count.filter(|count| !quota.accepts(i64::from(*count)))?;
                Some(format!(
                    "the {name} must be between {} and {}, not {count}",
                    quota.least, quota.most
                ))
            })
        };
        time.or_else(count)
    }

    fn consumer(&self, assumed: &mut Vec<String>) -> Consumer {
        let mut consumer = match self.timeout {
            Some(timeout) => {
                let mut function = Consumer::function(timeout);
                function.batch = self.batch.unwrap_or(1).max(1);
                function.window = self.window.unwrap_or(0);
                function.partial_responses = self.partial_responses;
                if let Some(reserved) = self.concurrency {
                    function = function.reserved(reserved);
                }
                if let Some(maximum) = self.maximum_concurrency {
                    function.pollers = maximum;
                    function.concurrency = function.concurrency.min(maximum);
                }
                function
            }
            None => Consumer::workers(self.workers.unwrap_or_else(|| {
                assumed.push(format!("{WORKERS} workers"));
                WORKERS
            })),
        };
        consumer.parallelism = self.parallelism.unwrap_or(1).max(1);
        consumer.heartbeat = self.heartbeat.map(|(every, extend_to)| Heartbeat {
            every: every.max(1),
            extend_to,
            missed: 0,
        });
        consumer.rechecking(match self.recheck {
            Recheck::Never => sqs_model::Recheck::Never,
            Recheck::First => sqs_model::Recheck::First,
            Recheck::Last => sqs_model::Recheck::Last,
        })
    }

    /// Returns the distribution of processing times. Missing percentiles are derived from the others or from the
    /// timeout.
    fn work(&self, assumed: &mut Vec<String>) -> Result<Work, String> {
        let (median, slow, most) = match (self.p50, self.p99, self.max, self.timeout) {
            (None, None, None, Some(timeout)) => {
                let (median, slow) = (timeout / 10, timeout / 2);
                assumed.push(format!(
                    "half of the messages take {} or less, 99 % {} or less, the slowest the whole timeout; \
                     declare a [[consumer]], or give --p50, --p99 and --max",
                    clock::span(median),
                    clock::span(slow)
                ));
                (median, slow, timeout)
            }
            (None, None, None, None) => {
                return Err(
                    "how long does a message take? Give --p50, --p99 or --max, or declare a [[consumer]]".to_owned(),
                );
            }
            (p50, p99, max, _) => {
                let slow = p99.or(max).or(p50).unwrap_or(1);
                let median = p50.unwrap_or_else(|| {
                    let median = slow / 2;
                    assumed.push(format!(
                        "half of the messages take {} or less (--p50)",
                        clock::span(median)
                    ));
                    median
                });
                if max.is_none() {
                    assumed.push(format!("no message takes longer than {} (--max)", clock::span(slow)));
                }
                (median, slow, max.unwrap_or(slow))
            }
        };
        if median > slow || slow > most {
            return Err(format!(
                "the times have to rise: {}, {}, {}",
                clock::span(median),
                clock::span(slow),
                clock::span(most)
            ));
        }
        Ok(Work::spread(median, slow, most, self.tail))
    }
}

/// Parses a time, in milliseconds.
pub(super) fn duration(text: &str) -> Result<u64, String> {
    let seconds = text.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(SECOND));
    let time = seconds.or_else(|| Duration::parse(text).map(Duration::milliseconds));
    time.filter(|time| *time <= 365 * DAY)
        .ok_or_else(|| "expected a time, as in 30, 30s, 5m, 12h".to_owned())
}

/// Parses the two times of a heartbeat.
pub(super) fn heartbeat(text: &str) -> Result<(u64, u64), String> {
    let parts = text
        .split_once('/')
        .ok_or_else(|| "expected two times, as in 20s/60s".to_owned())?;
    Ok((duration(parts.0)?, duration(parts.1)?))
}

/// Parses a percentage.
pub(super) fn share(text: &str) -> Result<Share, String> {
    Share::percent(text).ok_or_else(|| "expected a percentage, as in 0.1%".to_owned())
}

/// Parses a rate, in messages per week.
pub(super) fn rate(text: &str) -> Result<u64, String> {
    let expected = || "expected a rate, as in 20000/week or 5/second".to_owned();
    let (count, unit) = text.split_once('/').ok_or_else(expected)?;
    let count: u64 = count.trim().parse().map_err(|_| expected())?;
    let span = match unit.trim() {
        "s" | "second" => SECOND,
        "m" | "minute" => MINUTE,
        "h" | "hour" => HOUR,
        "d" | "day" => DAY,
        "w" | "week" => WEEK,
        _ => return Err(expected()),
    };
    count.checked_mul(WEEK / span).ok_or_else(expected)
}
