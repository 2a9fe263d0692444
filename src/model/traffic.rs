//! A week of messages, several times over, and the same under other configurations.

mod variants;

use super::clock::{DAY, WEEK};
use super::consumer::Consumer;
use super::queue::QueueSettings;
use super::random::{Random, Share};
use super::scenario::{Harm, Scenario};
use super::simulation::{Setup, Simulation};
use super::tally::Tally;
use super::work::{Labour, Work};
use rayon::prelude::*;
pub(crate) use variants::shown;
pub use variants::{Variant, variants};

/// What a week is asked about.
#[derive(Debug, Clone)]
pub struct Traffic {
    /// The queue.
    pub queue: QueueSettings,
    /// Who reads it.
    pub consumer: Consumer,
    /// How long the work on a message takes.
    pub work: Work,
    /// The attempts that fail.
    pub failing: Share,
    /// The attempts in the middle of which the consumer crashes.
    pub crashing: Share,
    /// The messages at which every attempt fails.
    pub poison: Share,
    /// Messages in a week.
    pub messages: u64,
    /// Message groups that they belong to, on a FIFO queue.
    pub groups: u32,
    /// After how many milliseconds of work the consumer crashes of which the recovery is told.
    pub crash_after: u64,
}

/// A number over several weeks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// In the week that had the fewest.
    pub least: u64,
    /// In the week that had the most.
    pub most: u64,
}

impl Figure {
    fn of(values: &[u64]) -> Figure {
        let total: u64 = values.iter().sum();
        #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let mean = total as f64 / values.len().max(1) as f64;
        Figure {
            mean,
            least: values.iter().copied().min().unwrap_or(0),
            most: values.iter().copied().max().unwrap_or(0),
        }
    }

    /// Whether there was any in any week.
    pub fn is_any(&self) -> bool {
        self.most > 0
    }
}

/// What weeks of traffic come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Messages of which the work was done more than once.
    pub twice: Figure,
    /// Messages that moved to the dead-letter queue.
    pub dead_lettered: Figure,
    /// Of these, messages of which the work had been done.
    pub dead_lettered_done: Figure,
    /// Messages whose work was never done and that nobody can look at.
    pub lost: Figure,
    /// The most messages in flight.
    pub in_flight: Figure,
    /// How long a message waits whose consumer has died, in milliseconds; `None` where nobody takes it again.
    pub recovery: Option<u64>,
    /// The longest time from sending a message to its being done, in milliseconds.
    pub longest_wait: u64,
    /// Whether the weeks were broken off, since they would not have come to an end: then all counts are too low.
    pub is_broken_off: bool,
}

impl Traffic {
    /// Lets `weeks` weeks pass, with as many seeds from `seed` on; `passed` hears of each that is over.
    pub fn weeks(&self, weeks: u32, seed: u64, passed: &(dyn Fn() + Sync)) -> Outcome {
        let weeks = (0..u64::from(weeks.max(1))).into_par_iter();
        let tallies: Vec<Tally> = weeks
            .map(|week| {
                let tally = self.week(seed.wrapping_add(week));
                passed();
                tally
            })
            .collect();
        let figure = |of: fn(&Tally) -> u64| Figure::of(&tallies.iter().map(of).collect::<Vec<_>>());
        Outcome {
            twice: figure(|tally| tally.twice),
            dead_lettered: figure(|tally| tally.dead_lettered),
            dead_lettered_done: figure(|tally| tally.dead_lettered_done),
            lost: figure(|tally| tally.lost),
            in_flight: figure(|tally| tally.peak_in_flight as u64),
            recovery: self.recovery(),
            longest_wait: tallies.iter().map(|tally| tally.longest_wait).max().unwrap_or(0),
            is_broken_off: tallies.iter().any(|tally| tally.is_broken_off),
        }
    }

    /// One week.
    pub fn week(&self, seed: u64) -> Tally {
        Simulation::new(&self.setup(seed), seed, false).run()
    }

    fn setup(&self, seed: u64) -> Setup {
        // Moments of their own chance: another configuration gets the same messages at the same times.
        let mut random = Random::new(seed ^ 0x005e_ed0f_a44e_ed5e);
        let mut sends: Vec<u64> = (0..self.messages).map(|_| random.below(WEEK)).collect();
        sends.sort_unstable();
        Setup {
            queue: self.queue,
            consumer: self.consumer.clone(),
            labour: Labour::Drawn {
                work: self.work.clone(),
                failing: self.failing,
                crashing: self.crashing,
                poison: self.poison,
            },
            sends,
            groups: self.groups,
            reads_from: 0,
            stands_for: 1,
        }
    }

    /// The story of a slow message: what its first receive and the next one see.
    pub fn slow_message(&self) -> Scenario {
        Scenario::Overlap {
            visibility: self.queue.visibility,
            work: self.longest_work(),
            retry: self.work.median().min(self.longest_work()),
            window: self.consumer.window,
            heartbeat: self.consumer.heartbeat,
        }
    }

    /// The story of a message whose consumer crashes.
    pub fn crash(&self) -> Scenario {
        Scenario::Crash {
            visibility: self.queue.visibility,
            after: self.crash_after,
            heartbeat: self.consumer.heartbeat,
        }
    }

    /// The story of a message at which every attempt fails.
    pub fn poison_message(&self) -> Scenario {
        Scenario::Failing {
            visibility: self.queue.visibility,
            retention: self.queue.retention,
            delay: self.queue.delay,
            dead_letter: self.queue.dead_letter,
            fifo: self.queue.fifo,
        }
    }

    /// The longest that anybody works on a message.
    pub fn longest_work(&self) -> u64 {
        let most = self.work.most();
        self.consumer.timeout.map_or(most, |timeout| timeout.min(most))
    }

    fn recovery(&self) -> Option<u64> {
        if self.queue.visibility > self.queue.retention.min(14 * DAY) {
            return None;
        }
        match self.crash().timeline().harm {
            Some(Harm::Waits(wait)) => Some(wait),
            _ => Some(0),
        }
    }
}
