//! Weeks of messages, under the actual configuration and variants of it.

mod variants;

use super::clock::{DAY, WEEK};
use super::consumer::Consumer;
use super::queue::QueueSettings;
use super::random::{Random, Share};
use super::scenario::{Harm, Scenario, Timeline, runs};
use super::simulation::{Setup, Simulation};
use super::tally::Tally;
use super::work::{Outcomes, Work};
use rayon::prelude::*;
pub use variants::shown;
pub use variants::{Variant, variants};

/// Configuration of a week.
#[derive(Debug, Clone, PartialEq)]
pub struct Traffic {
    /// Settings of the queue.
    pub queue: QueueSettings,
    /// Consumer of the queue.
    pub consumer: Consumer,
    /// Duration of the work on a message.
    pub work: Work,
    /// Fraction of attempts that fail.
    pub failing: Share,
    /// Fraction of attempts in which the consumer crashes.
    pub crashing: Share,
    /// Fraction of messages for which every attempt fails.
    pub poison: Share,
    /// Messages per week.
    pub messages: u64,
    /// Number of message groups, for FIFO queues.
    pub groups: u32,
    /// Milliseconds of work before the crash in [`Traffic::crash`].
    pub crash_after: u64,
}

/// A count over several weeks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figure {
    /// Mean per week.
    pub mean: f64,
    /// Lowest count of a week.
    pub least: u64,
    /// Highest count of a week.
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

    /// Returns `true` if any week has a count above 0.
    pub fn is_any(&self) -> bool {
        self.most > 0
    }
}

/// Results of weeks of traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Messages processed more than once.
    pub twice: Figure,
    /// Completed attempts beyond the first, over all messages.
    pub repeats: Figure,
    /// Maximum number of completed attempts at a message that was processed more than once.
    pub most_done: u64,
    /// Messages moved to the dead-letter queue.
    pub dead_lettered: Figure,
    /// Messages moved to the dead-letter queue although they had been processed.
    pub dead_lettered_done: Figure,
    /// Messages deleted without having been processed.
    pub lost: Figure,
    /// Maximum number of messages in flight.
    pub in_flight: Figure,
    /// Time until a message is received again after its consumer crashed, in milliseconds; `None` if it never is.
    pub recovery: Option<u64>,
    /// Maximum time from sending a message to its first completed attempt, in milliseconds.
    pub longest_wait: u64,
    /// `true` if a week was aborted because it would not have ended. All counts are too low then.
    pub is_aborted: bool,
}

impl Traffic {
    /// Simulates `weeks` weeks with the seeds from `seed` on, and calls `passed` after each.
    pub fn weeks(&self, weeks: u32, seed: u64, passed: &(dyn Fn() + Sync)) -> Outcome {
        let week = |number: u64| {
            let tally = self.week(seed.wrapping_add(number));
            passed();
            tally
        };
        let mut tallies = vec![week(0)];
        // A configuration that is aborted in one week would be in the others, too.
        if tallies.iter().any(|tally| tally.is_aborted) {
            (1..weeks).for_each(|_| passed());
        } else {
            tallies.par_extend((1..u64::from(weeks)).into_par_iter().map(week));
        }
        let figure = |of: fn(&Tally) -> u64| Figure::of(&tallies.iter().map(of).collect::<Vec<_>>());
        Outcome {
            twice: figure(|tally| tally.twice),
            repeats: figure(|tally| tally.repeats),
            most_done: tallies.iter().map(|tally| tally.most_done).max().unwrap_or(0),
            dead_lettered: figure(|tally| tally.dead_lettered),
            dead_lettered_done: figure(|tally| tally.dead_lettered_done),
            lost: figure(|tally| tally.lost),
            in_flight: figure(|tally| tally.peak_in_flight as u64),
            recovery: self.recovery(),
            longest_wait: tallies.iter().map(|tally| tally.longest_wait).max().unwrap_or(0),
            is_aborted: tallies.iter().any(|tally| tally.is_aborted),
        }
    }

    /// Simulates one week.
    pub fn week(&self, seed: u64) -> Tally {
        Simulation::new(&self.setup(seed), seed, false).run()
    }

    fn setup(&self, seed: u64) -> Setup {
        // Send times have a generator of their own, so that every configuration gets the same messages at the same
        // times.
        let mut random = Random::new(seed ^ 0x005e_ed0f_a44e_ed5e);
        let mut sends: Vec<u64> = (0..self.messages).map(|_| random.below(WEEK)).collect();
        sends.sort_unstable();
        Setup {
            queue: self.queue,
            consumer: self.consumer.clone(),
            outcomes: Outcomes::Random {
                work: self.work.clone(),
                failing: self.failing,
                crashing: self.crashing,
                poison: self.poison,
            },
            sends,
            groups: self.groups,
            polls_from: 0,
            stands_for: 1,
        }
    }

    /// Returns the timeline of a slow message whose retries take the median.
    pub fn slow_message(&self) -> Timeline {
        let longest = self.longest_work();
        let retry = self.work.median().min(longest);
        runs::slowest(self.queue, self.consumer.clone(), [longest, retry])
    }

    /// Returns the scenario of a consumer that crashes.
    pub fn crash(&self) -> Scenario {
        Scenario::Crash {
            visibility: self.queue.visibility,
            after: self.crash_after,
            heartbeat: self.consumer.heartbeat,
        }
    }

    /// Returns the scenario of a message for which every attempt fails.
    pub fn poison_message(&self) -> Scenario {
        Scenario::Failing(self.queue)
    }

    /// Returns the maximum duration of an attempt.
    pub fn longest_work(&self) -> u64 {
        let most = self.work.max();
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
