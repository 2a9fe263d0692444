//! Random numbers from a seed, equal on every machine: integers only.

use std::fmt;

/// A pseudorandom number generator: `SplitMix64`, by Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators" (2014). It passes the usual tests, which suffices for a simulation.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates the generator with the seed `seed`.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Returns the next number of 64 bits.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product of 128 bits is nearly uniform: its bias is below one in 2^64 ÷ bound.
        let product = u128::from(self.number()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or(0)
    }

    /// Returns `true` with the probability `share`. A probability of 0 takes no number from the generator.
    pub fn happens(&mut self, share: Share) -> bool {
        share.0 > 0 && self.below(Share::ALL.0.into()) < u64::from(share.0)
    }
}

/// A fraction in millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(pub u32);

impl Share {
    /// 0 %.
    pub const NONE: Share = Share(0);
    /// 100 %.
    pub const ALL: Share = Share(1_000_000);

    /// Parses a percentage: `0.015`, `1%`.
    pub fn percent(text: &str) -> Option<Share> {
        let number = text.trim().trim_end_matches('%').trim_end();
        let percent: f64 = number.parse().ok()?;
        if !(0.0..=100.0).contains(&percent) {
            return None;
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked"
        )]
        Some(Share((percent * 10_000.0).round() as u32))
    }

    /// Returns this fraction of `count`.
    pub fn of(self, count: u64) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
        let count = count as f64;
        count * f64::from(self.0) / f64::from(Share::ALL.0)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000, self.0 % 10_000);
        let rest = format!("{rest:04}");
        match rest.trim_end_matches('0') {
            "" => write!(f, "{whole} %"),
            rest => write!(f, "{whole}.{rest} %"),
        }
    }
}
