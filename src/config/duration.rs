//! Parses durations in their usual notation: `280s`, `1.5m`, `250ms`.

use std::fmt;

/// Duration in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(u64);

/// Units and their milliseconds; `ms` comes first because it ends with `s`.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// Upper bound in milliseconds, far above the maximum retention period.
const LONGEST: f64 = 1e12;

impl Duration {
    /// Parses a number with its unit.
    pub fn parse(text: &str) -> Option<Duration> {
        let text = text.trim();
        let (number, milliseconds) = UNITS
            .iter()
            .find_map(|(unit, milliseconds)| Some((text.strip_suffix(unit)?, *milliseconds)))?;
        let number: f64 = number.trim_end().parse().ok()?;
        #[allow(clippy::cast_precision_loss, reason = "a day in milliseconds is exact")]
        let total = number * milliseconds as f64;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range is checked"
        )]
        (0.0..LONGEST)
            .contains(&total)
            .then_some(Duration(total.round() as u64))
    }

    /// Returns the duration in milliseconds.
    pub fn milliseconds(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1_000) {
            write!(f, "{} s", self.0 / 1_000)
        } else {
            write!(f, "{} ms", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_number_and_a_unit() {
        let read = |text| Duration::parse(text).map(Duration::milliseconds);
        assert_eq!(read("280s"), Some(280_000));
        assert_eq!(read("250ms"), Some(250));
        assert_eq!(read("1.5 m"), Some(90_000));
        assert_eq!(read("12h"), Some(43_200_000));
        for wrong in ["280", "s", "-1s", "1e300s", "NaNs", "infs", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
