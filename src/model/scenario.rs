//! The shortest run that shows a fault of timing, for the numbers of a finding.
//!
//! A scenario is plain numbers, in milliseconds. [`Scenario::timeline`] lets the model run with them and tells what
//! happened; it names a harm only where the run has shown it.

pub(super) mod runs;
mod told;

pub use super::consumer::Heartbeat;
pub use super::queue::DeadLetter;
use super::queue::QueueSettings;
pub use told::{Told, line};

/// What to show, with its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scenario {
    /// The work on a message goes on when its visibility timeout ends.
    Overlap {
        /// The visibility timeout.
        visibility: u64,
        /// How long the work takes.
        work: u64,
        /// How long the attempts after the first take.
        retry: u64,
        /// How long the message waits for its batch before.
        window: u64,
        /// How the visibility timeout is renewed.
        heartbeat: Option<Heartbeat>,
    },
    /// Several batches wait for a function with one free place.
    Throttled {
        /// The visibility timeout.
        visibility: u64,
        /// How long the function works on each.
        timeout: u64,
        /// How long each waits to be complete.
        window: u64,
        /// How many may have to wait in turn, at most: what the visibility timeout should cover.
        batches: u32,
    },
    /// The function is stopped in the middle of a batch.
    Batch {
        /// The visibility timeout.
        visibility: u64,
        /// How long the function may run.
        timeout: u64,
        /// Messages of the batch.
        size: u32,
        /// Messages that it works on at one time.
        parallelism: u32,
        /// How long one takes.
        work: u64,
    },
    /// A worker crashes in the middle of its work.
    Crash {
        /// The visibility timeout.
        visibility: u64,
        /// When, after the receive.
        after: u64,
        /// How the visibility timeout is renewed.
        heartbeat: Option<Heartbeat>,
    },
    /// A function works for as long as it may, and is stopped.
    TimedOut {
        /// The visibility timeout.
        visibility: u64,
        /// How long the function may run.
        timeout: u64,
    },
    /// So many messages fail that as many are in flight as may be.
    Full {
        /// The visibility timeout.
        visibility: u64,
        /// How many messages fail in a second.
        failures: u32,
    },
    /// Every attempt at a message fails at once.
    Failing {
        /// The visibility timeout.
        visibility: u64,
        /// How long the queue keeps a message.
        retention: u64,
        /// How long a message is delayed.
        delay: u64,
        /// The redrive policy.
        dead_letter: Option<DeadLetter>,
        /// Whether a group waits for the message.
        fifo: bool,
    },
    /// The first attempts at a good message fail, as many as the redrive policy allows.
    Unlucky {
        /// The visibility timeout.
        visibility: u64,
        /// The `maxReceiveCount`.
        receives: u32,
        /// Whether it is throttling that uses the receives up.
        is_throttled: bool,
    },
    /// Nobody reads the queue for so long that the message is as old as it may become, and then it fails.
    Late {
        /// How long the queue keeps a message.
        retention: u64,
        /// How long the dead-letter queue does.
        dead_letter_retention: u64,
    },
    /// A message moves to a FIFO dead-letter queue, at which people look after some time.
    Aside {
        /// How long the dead-letter queue keeps messages.
        retention: u64,
        /// When somebody looks.
        looked_at: u64,
    },
    /// Nobody reads the queue for some time.
    Outage {
        /// How long the queue keeps a message.
        retention: u64,
        /// For how long nobody reads it.
        length: u64,
    },
}

/// What a run has shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// A second consumer has a message while the first still works on it.
    WorkedOnTwice,
    /// The receive count rises without an attempt.
    ReceiveUsedUp,
    /// Work that was done is done again.
    DoneAgain,
    /// The function never gets to the end of what it is given.
    NeverDone,
    /// A message is gone, and nobody has done its work or can look at it.
    Lost,
    /// A message that could have been handled is in the dead-letter queue.
    GivenUp,
    /// Something waits, for so many milliseconds.
    Waits(u64),
}

impl Harm {
    /// As machine formats spell it.
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

/// A run, told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// What happened, in order.
    pub events: Vec<Told>,
    /// What it shows; `None` where nothing is wrong.
    pub harm: Option<Harm>,
    /// The same in words, with its numbers.
    pub summary: Option<String>,
}

impl Timeline {
    /// The moments with what happened at each; the summary stands behind the last.
    pub fn steps(&self) -> Vec<(String, String)> {
        told::steps(self)
    }
}

impl Scenario {
    /// Work of `work` milliseconds under a visibility timeout of `visibility`, each time.
    pub fn overlap(visibility: u64, work: u64) -> Scenario {
        Scenario::Overlap {
            visibility,
            work,
            retry: work,
            window: 0,
            heartbeat: None,
        }
    }

    /// Lets the model run, and tells what happened.
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
            Scenario::Failing {
                visibility,
                retention,
                delay,
                dead_letter,
                fifo,
            } => runs::failing(QueueSettings {
                visibility,
                retention,
                delay,
                fifo,
                dead_letter,
            }),
            Scenario::Unlucky {
                visibility,
                receives,
                is_throttled,
            } => runs::unlucky(visibility, receives, is_throttled),
            Scenario::Late {
                retention,
                dead_letter_retention,
            } => runs::late(retention, dead_letter_retention),
            Scenario::Aside { retention, looked_at } => runs::aside(retention, looked_at),
            Scenario::Outage { retention, length } => runs::outage(retention, length),
        }
    }
}
