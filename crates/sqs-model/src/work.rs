//! Durations and results of the work on messages.

use super::random::{Random, Share};

/// Largest shares of a normal distribution above a point, in millionths, each with that point in thousandths of the
/// standard deviation.
const NORMAL: [(u32, u32); 23] = [
    (500_000, 0),
    (400_000, 253),
    (300_000, 524),
    (200_000, 842),
    (150_000, 1_036),
    (100_000, 1_282),
    (70_000, 1_476),
    (50_000, 1_645),
    (30_000, 1_881),
    (20_000, 2_054),
    (10_000, 2_326),
    (5_000, 2_576),
    (2_000, 2_878),
    (1_000, 3_090),
    (500, 3_291),
    (200, 3_540),
    (100, 3_719),
    (50, 3_891),
    (20, 4_107),
    (10, 4_265),
    (5, 4_417),
    (2, 4_611),
    (0, 4_753),
];
/// End of [`NORMAL`], at which the longest duration is.
const END: f64 = 4_753.0;

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

    /// Creates a log-normal distribution with this median, of which the share `tail` is above `slow`. The tail is
    /// stretched so that its longest duration is `most`. If that is `slow`, there is no tail.
    pub fn spread(median: u64, slow: u64, most: u64, tail: Share) -> Self {
        let median = median.max(1);
        let (slow, all) = (slow.max(median), Share::ALL.0);
        let most = most.max(slow);
        let tail = if most == slow { 0 } else { tail.0.min(all / 2 - 1) };
        let bend = deviation(tail);
        // Durations below the median mirror those above it. A share of almost a half says little about them.
        let lower = NORMAL.iter().map(|(above, at)| {
            let at = f64::from(*at) / bend.max(250.0);
            (Share(*above), scaled(median, [slow, median], at).max(1))
        });
        let upper = NORMAL.iter().filter(|(above, _)| *above > tail);
        let upper = upper.map(|(above, at)| {
            (
                Share(all - above),
                scaled(median, [median, slow], f64::from(*at) / bend),
            )
        });
        let slowest = NORMAL.iter().filter(|(above, _)| *above < tail);
        let slowest = slowest.map(|(above, at)| {
            let part = (f64::from(*at) - bend) / (END - bend);
            (Share(all - above), scaled(slow, [slow, most], part))
        });
        let mut points: Vec<_> = lower.rev().chain(upper).collect();
        points.push((Share(all - tail), slow));
        points.extend(slowest);
        points.push((Share::ALL, most));
        points.dedup();
        Work { points }
    }

    /// Draws a duration, never 0.
    pub fn draw(&self, random: &mut Random) -> u64 {
        let at = random.below(Share::ALL.0.into());
        let end = self.points.partition_point(|(share, _)| u64::from(share.0) <= at);
        let pair = self.points.get(end.saturating_sub(1)).zip(self.points.get(end));
        let Some((&(low, from), &(high, to))) = pair else {
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

/// Returns the point of a normal distribution with the share `tail` above it, in thousandths of the standard deviation.
fn deviation(tail: u32) -> f64 {
    let next = NORMAL.partition_point(|(above, _)| *above > tail);
    let (Some(low), Some(high)) = (NORMAL.get(next.saturating_sub(1)), NORMAL.get(next)) else {
        return END;
    };
    let width = f64::from((low.0 - high.0).max(1));
    f64::from(low.1) + f64::from(low.0 - tail) / width * f64::from(high.1 - low.1)
}

/// Returns `time` × (`to` ÷ `from`)^`exponent`. Square roots and products are exact to the last bit on every machine,
/// other than `powf`.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are far below 2^53 ms, and the result is at least 0"
)]
fn scaled(time: u64, [from, to]: [u64; 2], exponent: f64) -> u64 {
    let base = to as f64 / from as f64;
    let whole = exponent.max(0.0) as u32;
    let (mut factor, mut root, mut rest) = (1.0, base, exponent - f64::from(whole));
    for _ in 0..whole {
        factor *= base;
    }
    for _ in 0..30 {
        (root, rest) = (root.sqrt(), rest * 2.0);
        if rest >= 1.0 {
            factor *= root;
            rest -= 1.0;
        }
    }
    (time as f64 * factor).round() as u64
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
