//! Durations and results of the work on messages.

use super::random::{Random, Share};

/// Distribution of durations, given by points; between two points it is uniform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Cumulative fractions of messages, each with a duration in milliseconds that they do not exceed. Both ascend, and
    /// the last fraction is 100 %.
    points: Vec<(Share, u64)>,
}

impl Work {
    /// Creates a distribution with a single duration.
    pub fn fixed(time: u64) -> Self {
        Work::between(time, time)
    }

    /// Creates a uniform distribution from `least` to `most`.
    pub fn between(least: u64, most: u64) -> Self {
        let least = least.max(1);
        Work {
            points: vec![(Share::NONE, least), (Share::ALL, most.max(least))],
        }
    }

    /// Creates a distribution with one half from `median / 2` to `median`, the other half up to `slow`, except for the
    /// slowest `tail`, with up to `most`.
    pub fn spread(median: u64, slow: u64, most: u64, tail: Share) -> Self {
        let median = median.max(1);
        let slow = slow.max(median);
        let tail = tail.0.min(Share::ALL.0 / 2);
        Work {
            points: vec![
                (Share::NONE, (median / 2).max(1)),
                (Share(Share::ALL.0 / 2), median),
                (Share(Share::ALL.0 - tail), slow),
                (Share::ALL, most.max(slow)),
            ],
        }
    }

    /// Draws a duration, never 0.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let at = random.below(Share::ALL.0.into());
        let pairs = self.points.windows(2);
        let found = pairs.filter_map(|pair| match pair {
            [low, high] if at < u64::from(high.0.0) => Some((*low, *high)),
            _ => None,
        });
        let Some(((low, from), (high, to))) = found.into_iter().next() else {
            return self.max();
        };
        let (low, high) = (u64::from(low.0), u64::from(high.0));
        // Durations within one millionth of the distribution are spread as well.
        let width = (high - low).max(1);
        from + (at.saturating_sub(low) * (to - from) + random.below(to - from + 1)) / width
    }

    /// Returns the fraction of messages that take longer than `time`.
    pub fn share_above(&self, time: u64) -> f64 {
        let mut above = 0.0;
        for pair in self.points.windows(2) {
            let [(low, from), (high, to)] = pair else { continue };
            let share = f64::from(high.0 - low.0);
            above += share * part_above(*from, *to, time);
        }
        above / f64::from(Share::ALL.0)
    }

    /// Returns the fraction of messages that take `time` or longer.
    pub fn share_from(&self, time: u64) -> f64 {
        time.checked_sub(1).map_or(1.0, |before| self.share_above(before))
    }

    /// Returns the minimum duration.
    pub fn min(&self) -> u64 {
        self.points.first().map_or(1, |(_, time)| *time)
    }

    /// Returns the maximum duration.
    pub fn max(&self) -> u64 {
        self.points.last().map_or(1, |(_, time)| *time)
    }

    /// Returns the median.
    pub fn median(&self) -> u64 {
        let half = Share::ALL.0 / 2;
        for pair in self.points.windows(2) {
            if let [(low, from), (high, to)] = pair
                && high.0 >= half
            {
                let width = u64::from(high.0 - low.0).max(1);
                return from + (to - from) * u64::from(half - low.0) / width;
            }
        }
        self.max()
    }
}

/// Returns the fraction of the interval from `from` to `to` that is above `time`.
fn part_above(from: u64, to: u64, time: u64) -> f64 {
    if time < from {
        return 1.0;
    }
    if time >= to {
        return 0.0;
    }
    #[allow(clippy::cast_precision_loss, reason = "times are far below 2^53 ms")]
    let part = (to - time) as f64 / (to - from) as f64;
    part
}

/// Result of an attempt at a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The attempt succeeds after this many milliseconds.
    Works(u64),
    /// The attempt fails after this many milliseconds.
    Fails(u64),
    /// The consumer crashes after this many milliseconds, without a response.
    Crashes(u64),
}

impl AttemptOutcome {
    /// Returns its duration; never 0, so that time advances.
    pub(super) fn time(self) -> u64 {
        match self {
            AttemptOutcome::Works(time) | AttemptOutcome::Fails(time) | AttemptOutcome::Crashes(time) => time.max(1),
        }
    }
}

/// Source of the results of attempts.
#[derive(Debug, Clone)]
pub enum Outcomes {
    /// Random results.
    Random {
        /// Durations.
        work: Work,
        /// Fraction of attempts that fail.
        failing: Share,
        /// Fraction of attempts in which the consumer crashes.
        crashing: Share,
        /// Fraction of messages for which every attempt fails.
        poison: Share,
    },
    /// Results by receive of a message; the last one also applies to all later receives.
    Scripted(Vec<AttemptOutcome>),
}
