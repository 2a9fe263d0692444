//! How long the work on a message takes, and how it ends.

use super::random::{Random, Share};

/// The times that work takes: points of a distribution, between which times are spread evenly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Shares of messages, each with the time in milliseconds that they do not exceed; both rising, the last is all.
    points: Vec<(Share, u64)>,
}

impl Work {
    /// Every message takes as long.
    pub fn fixed(time: u64) -> Self {
        Work::between(time, time)
    }

    /// Spread evenly from `least` to `most`.
    pub fn between(least: u64, most: u64) -> Self {
        let least = least.max(1);
        Work {
            points: vec![(Share::NONE, least), (Share::ALL, most.max(least))],
        }
    }

    /// Half of the messages take from half of `median` to `median`; the other half up to `slow`; but the last `tail` of
    /// them up to `most`.
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

    /// One of the times, never 0.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let at = random.below(Share::ALL.0.into());
        let pairs = self.points.windows(2);
        let found = pairs.filter_map(|pair| match pair {
            [low, high] if at < u64::from(high.0.0) => Some((*low, *high)),
            _ => None,
        });
        let Some(((low, from), (high, to))) = found.into_iter().next() else {
            return self.most();
        };
        let (low, high) = (u64::from(low.0), u64::from(high.0));
        // Within a step of a millionth times are spread, too.
        let width = (high - low).max(1);
        from + (at.saturating_sub(low) * (to - from) + random.below(to - from + 1)) / width
    }

    /// The share of messages that take longer than `time`, in millionths and their parts.
    pub fn above(&self, time: u64) -> f64 {
        let mut above = 0.0;
        for pair in self.points.windows(2) {
            let [(low, from), (high, to)] = pair else { continue };
            let share = f64::from(high.0 - low.0);
            above += share * part_above(*from, *to, time);
        }
        above / f64::from(Share::ALL.0)
    }

    /// The share of messages that take `time` or longer.
    pub fn from(&self, time: u64) -> f64 {
        time.checked_sub(1).map_or(1.0, |before| self.above(before))
    }

    /// The shortest time.
    pub fn least(&self) -> u64 {
        self.points.first().map_or(1, |(_, time)| *time)
    }

    /// The longest time.
    pub fn most(&self) -> u64 {
        self.points.last().map_or(1, |(_, time)| *time)
    }

    /// The median.
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
        self.most()
    }
}

/// How much of the span from `from` to `to` lies above `time`.
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

/// One attempt at a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// It is done after so many milliseconds.
    Works(u64),
    /// It fails after so many.
    Fails(u64),
    /// Who works on it crashes after so many, and says nothing.
    Crashes(u64),
}

impl Act {
    /// How long it goes on; never 0, so that time passes.
    pub(super) fn time(self) -> u64 {
        match self {
            Act::Works(time) | Act::Fails(time) | Act::Crashes(time) => time.max(1),
        }
    }
}

/// What becomes of attempts.
#[derive(Debug, Clone)]
pub enum Labour {
    /// Chance decides.
    Drawn {
        /// How long they take.
        work: Work,
        /// The attempts that fail.
        failing: Share,
        /// The attempts in the middle of which the consumer crashes.
        crashing: Share,
        /// The messages at which every attempt fails.
        poison: Share,
    },
    /// The first receive of a message goes as the first says, and so on; all later ones as the last.
    Scripted(Vec<Act>),
}
