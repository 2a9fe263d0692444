//! The shortest run that shows a timing fault, with the numbers of a finding.
//!
//! A scenario consists of plain numbers, in milliseconds. [`Scenario::timeline`] simulates it and describes the events.
//! It names a harm only if the run shows it.

pub(super) mod runs;
pub(super) mod timeline;

pub use super::consumer::Heartbeat;
pub use super::queue::{QueueSettings, RedriveTarget};
pub use timeline::{TimelineEvent, line};

/// A kind of run, with its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scenario {
    /// The work on a message takes longer than its visibility timeout.
    Overlap {
        /// Visibility timeout.
        visibility: u64,
        /// Duration of the first attempt.
        work: u64,
        /// Duration of later attempts.
        retry: u64,
        /// Batching window, in which the message waits before the work.
        window: u64,
        /// Heartbeat that renews the visibility timeout.
        heartbeat: Option<Heartbeat>,
    },
    /// Several batches wait for a function with a concurrency of 1.
    Throttled {
        /// Visibility timeout.
        visibility: u64,
        /// Duration of each invocation.
        timeout: u64,
        /// Batching window.
        window: u64,
        /// Maximum number of batches that wait in turn: the number that the visibility timeout should cover.
        batches: u32,
    },
    /// The function times out in the middle of a batch.
    Batch {
        /// Visibility timeout.
        visibility: u64,
        /// Timeout of the function.
        timeout: u64,
        /// Number of messages in the batch.
        size: u32,
        /// Number of messages processed concurrently.
        parallelism: u32,
        /// Duration of the work on one message.
        work: u64,
    },
    /// A worker crashes during its work.
    Crash {
        /// Visibility timeout.
        visibility: u64,
        /// Time from the receive to the crash.
        after: u64,
        /// Heartbeat that renews the visibility timeout.
        heartbeat: Option<Heartbeat>,
    },
    /// A function runs into its timeout.
    TimedOut {
        /// Visibility timeout.
        visibility: u64,
        /// Timeout of the function.
        timeout: u64,
    },
    /// Failed messages fill the quota of messages in flight.
    Full {
        /// Visibility timeout.
        visibility: u64,
        /// Failures per second.
        failures: u32,
    },
    /// Every attempt at a message fails at once. In a FIFO queue, its message group waits.
    Failing(QueueSettings),
    /// The first attempts at a valid message fail, as many as the redrive policy allows.
    Unlucky {
        /// Visibility timeout.
        visibility: u64,
        /// `maxReceiveCount`.
        receives: u32,
        /// `true` if the receives are used up by throttling, not by failures.
        is_throttled: bool,
    },
    /// No consumer polls the queue until the message is almost at its retention period, and then the attempt fails.
    Late {
        /// Retention period of the queue.
        retention: u64,
        /// Retention period of the dead-letter queue.
        dead_letter_retention: u64,
    },
    /// A message moves to a FIFO dead-letter queue, which is inspected some time later.
    ExpiresInDeadLetterQueue {
        /// Retention period of the dead-letter queue.
        retention: u64,
        /// Time from the move to the inspection.
        inspected_at: u64,
    },
    /// No consumer polls the queue for some time.
    Outage {
        /// Retention period of the queue.
        retention: u64,
        /// Duration of the outage.
        length: u64,
    },
}

/// Harm that a run shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// A second consumer receives a message while the first is still processing it.
    WorkedOnTwice,
    /// The receive count rises without an attempt.
    ReceiveUsedUp,
    /// Completed work is repeated.
    DoneAgain,
    /// The function never finishes its batch.
    NeverDone,
    /// A message was deleted before it was processed and before anyone could inspect it.
    Lost,
    /// A message that could have been processed is in the dead-letter queue.
    GivenUp,
    /// A message waits for this many milliseconds.
    Waits(u64),
}

impl Harm {
    /// Returns the name in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Harm::WorkedOnTwice => "worked-on-twice",
            Harm::ReceiveUsedUp => "receive-used-up",
            Harm::DoneAgain => "done-again",
            Harm::NeverDone => "never-done",
            Harm::Lost => "lost",
            Harm::GivenUp => "given-up",
            Harm::Waits(_) => "waits",
        }
    }
}

/// The described events of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// Events in order.
    pub events: Vec<TimelineEvent>,
    /// Harm that they show, if any.
    pub harm: Option<Harm>,
    /// The harm in words, with its numbers.
    pub summary: Option<String>,
}

impl Timeline {
    /// Returns each time with the description of its events; the last one includes the summary.
    pub fn steps(&self) -> Vec<(String, String)> {
        timeline::steps(self)
    }
}

impl Scenario {
    /// Creates a scenario in which every attempt takes `work` milliseconds under a visibility timeout of `visibility`.
    pub fn overlap(visibility: u64, work: u64) -> Scenario {
        Scenario::Overlap {
            visibility,
            work,
            retry: work,
            window: 0,
            heartbeat: None,
        }
    }

    /// Simulates the scenario and describes what happens.
    pub fn timeline(&self) -> Timeline {
        match *self {
            Scenario::Overlap {
                visibility,
                work,
                retry,
                window,
                heartbeat,
            } => runs::overlap(visibility, [work, retry], window, heartbeat),
            Scenario::Throttled {
                visibility,
                timeout,
                window,
                batches,
            } => runs::throttled(visibility, timeout, window, batches),
            Scenario::Batch {
                visibility,
                timeout,
                size,
                parallelism,
                work,
            } => runs::batch(visibility, timeout, size, parallelism, work),
            Scenario::Crash {
                visibility,
                after,
                heartbeat,
            } => runs::crash(visibility, after, heartbeat),
            Scenario::TimedOut { visibility, timeout } => runs::timed_out(visibility, timeout),
            Scenario::Full { visibility, failures } => runs::full(visibility, failures),
            Scenario::Failing(queue) => runs::failing(queue),
            Scenario::Unlucky {
                visibility,
                receives,
                is_throttled,
            } => runs::unlucky(visibility, receives, is_throttled),
            Scenario::Late {
                retention,
                dead_letter_retention,
            } => runs::late(retention, dead_letter_retention),
            Scenario::ExpiresInDeadLetterQueue {
                retention,
                inspected_at,
            } => runs::expires_in_dead_letter_queue(retention, inspected_at),
            Scenario::Outage { retention, length } => runs::outage(retention, length),
        }
    }
}
