//! Partial knowledge of unresolved values: the bounds of a number, the pieces of a string.
//!
//! ```hcl
//! variable "timeout" {
//!   type = number
//!   validation { condition = var.timeout >= 60 && var.timeout <= 900 }
//! }
//! resource "aws_lambda_function" "worker" { timeout = var.timeout }
//! resource "aws_sqs_queue" "orders" { name = "${var.stage}-orders.fifo" }
//! ```
//!
//! The value of `timeout` is unresolved, yet it is at least 60 and at most 900: a visibility timeout of 30 s is below
//! it, one of 900 s is not, and one of 300 s cannot be compared. The name is unresolved too, but a [`Pattern`] of two
//! pieces, of which the first is unknown: it ends in `.fifo` whatever the stage is, and has at least 12 characters.

use std::fmt;
use std::sync::Arc;

/// A range of numbers, including both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds {
    /// Minimum, if any.
    pub least: Option<i64>,
    /// Maximum, if any.
    pub most: Option<i64>,
}

impl From<i64> for Bounds {
    fn from(number: i64) -> Self {
        Bounds {
            least: Some(number),
            most: Some(number),
        }
    }
}

impl Bounds {
    /// All numbers.
    pub const ANY: Bounds = Bounds {
        least: None,
        most: None,
    };

    /// Creates the range from `number` up.
    pub const fn at_least(number: i64) -> Self {
        Bounds {
            least: Some(number),
            most: None,
        }
    }

    /// Creates the range up to `number`.
    pub const fn at_most(number: i64) -> Self {
        Bounds {
            least: None,
            most: Some(number),
        }
    }

    /// Returns the intersection.
    #[must_use]
    pub fn and(self, other: Bounds) -> Bounds {
        Bounds {
            least: self.least.max(other.least),
            most: zip_with(self.most, other.most, i64::min).or(self.most).or(other.most),
        }
    }

    /// Returns the smallest range that contains both.
    #[must_use]
    pub fn or(self, other: Bounds) -> Bounds {
        Bounds {
            least: zip_with(self.least, other.least, i64::min),
            most: zip_with(self.most, other.most, i64::max),
        }
    }

    /// Returns the range of the sums of a number from each.
    #[must_use]
    pub fn plus(self, other: Bounds) -> Bounds {
        Bounds {
            least: self.least.zip(other.least).and_then(|(a, b)| a.checked_add(b)),
            most: self.most.zip(other.most).and_then(|(a, b)| a.checked_add(b)),
        }
    }

    /// Returns the range of the negated numbers.
    #[must_use]
    pub fn negated(self) -> Bounds {
        Bounds {
            least: self.most.and_then(i64::checked_neg),
            most: self.least.and_then(i64::checked_neg),
        }
    }

    /// Returns the range of the products of a number from each. It is only computed if one of them is a single number.
    #[must_use]
    pub fn times(self, other: Bounds) -> Bounds {
        let (count, numbers) = match (self.single(), other.single()) {
            (Some(count), _) => (count, other),
            (_, Some(count)) => (count, self),
            (None, None) => return Bounds::ANY,
        };
        if count < 0 {
            return numbers.negated().times(count.saturating_neg().into());
        }
        if count == 0 {
            return 0.into();
        }
        let product = |number: Option<i64>| number?.checked_mul(count);
        Bounds {
            least: product(numbers.least),
            most: product(numbers.most),
        }
    }

    /// Returns the range of the greater of a number from each.
    #[must_use]
    pub fn max(self, other: Bounds) -> Bounds {
        Bounds {
            least: self.least.max(other.least),
            most: zip_with(self.most, other.most, i64::max),
        }
    }

    /// Returns the range of the lesser of a number from each.
    #[must_use]
    pub fn min(self, other: Bounds) -> Bounds {
        self.negated().max(other.negated()).negated()
    }

    /// Returns `true` unless it contains all numbers.
    pub fn is_bounded(self) -> bool {
        self.least.is_some() || self.most.is_some()
    }

    fn single(self) -> Option<i64> {
        self.least.filter(|_| self.least == self.most)
    }
}

fn zip_with(one: Option<i64>, other: Option<i64>, choose: fn(i64, i64) -> i64) -> Option<i64> {
    one.zip(other).map(|(one, other)| choose(one, other))
}

/// Placeholder for an unknown piece.
pub const UNKNOWN_PIECE: &str = "…";

/// A string of which some pieces are known; `None` is an unknown piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Arc<[Option<Arc<str>>]>);

impl FromIterator<Option<Arc<str>>> for Pattern {
    fn from_iter<I: IntoIterator<Item = Option<Arc<str>>>>(pieces: I) -> Self {
        let is_something = |piece: &Option<Arc<str>>| piece.as_deref() != Some("");
        Pattern(pieces.into_iter().filter(is_something).collect())
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Self {
        [Some(text.into())].into_iter().collect()
    }
}

impl Pattern {
    /// Returns `true` if all pieces are known.
    pub fn is_known(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    /// Returns whether it ends with `suffix`, or `None` if that depends on unknown pieces.
    pub fn ends_with(&self, suffix: &str) -> Option<bool> {
        // The last known pieces, which may be several.
        let mut tail = String::new();
        for piece in self.0.iter().rev() {
            let Some(text) = piece else {
                // Undecided only if the unknown piece can complete the suffix.
                let is_open = !tail.ends_with(suffix) && suffix.ends_with(&tail);
                return (!is_open).then(|| tail.ends_with(suffix));
            };
            tail.insert_str(0, text);
        }
        Some(tail.ends_with(suffix))
    }

    /// Returns whether it starts with `prefix`, or `None` if that depends on unknown pieces.
    pub fn starts_with(&self, prefix: &str) -> Option<bool> {
        // The first known pieces, which may be several.
        let mut head = String::new();
        for piece in self.0.iter() {
            let Some(text) = piece else {
                let is_open = !head.starts_with(prefix) && prefix.starts_with(&head);
                return (!is_open).then(|| head.starts_with(prefix));
            };
            head.push_str(text);
        }
        Some(head.starts_with(prefix))
    }

    /// Returns `true` if a known piece contains `part`.
    pub fn contains(&self, part: &str) -> bool {
        self.0.iter().flatten().any(|text| text.contains(part))
    }

    /// Returns the known piece at the start.
    pub fn head(&self) -> &str {
        self.0.first().and_then(Option::as_deref).unwrap_or_default()
    }

    /// Returns the known piece at the end.
    pub fn tail(&self) -> &str {
        self.0.last().and_then(Option::as_deref).unwrap_or_default()
    }

    /// Returns `true` if some string may match both, judged by their ends.
    pub fn may_match(&self, other: &Pattern) -> bool {
        let fits = |text: &str, pattern: &Pattern| text.starts_with(pattern.head()) && text.ends_with(pattern.tail());
        match (self.is_known(), other.is_known()) {
            (true, true) => self.to_string() == other.to_string(),
            (true, false) => fits(&self.to_string(), other),
            (false, true) => fits(&other.to_string(), self),
            (false, false) => {
                let (head, tail) = (other.head(), other.tail());
                (self.head().starts_with(head) || head.starts_with(self.head()))
                    && (self.tail().ends_with(tail) || tail.ends_with(self.tail()))
            }
        }
    }

    /// Returns the number of letters at its ends, a measure of how specific it is.
    pub fn specificity(&self) -> usize {
        let ends = self.head().chars().chain(self.tail().chars());
        ends.filter(|letter| letter.is_alphanumeric()).count()
    }

    /// Returns the minimum number of characters.
    pub fn min_length(&self) -> usize {
        self.0.iter().flatten().map(|text| text.chars().count()).sum()
    }
}

/// Formats unknown pieces as an ellipsis: `…-orders.fifo`.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|piece| f.write_str(piece.as_deref().unwrap_or(UNKNOWN_PIECE)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(least: i64, most: i64) -> Bounds {
        Bounds::at_least(least).and(Bounds::at_most(most))
    }

    /// Parses a pattern in which `…` is an unknown piece.
    fn pattern(text: &str) -> Pattern {
        let mut pieces: Vec<Option<Arc<str>>> = Vec::new();
        for (at, part) in text.split('…').enumerate() {
            if at > 0 {
                pieces.push(None);
            }
            pieces.push(Some(part.into()));
        }
        pieces.into_iter().collect()
    }

    #[test]
    fn bounds_are_propagated_through_arithmetic() {
        let (limits, open) = (between(60, 900), Bounds::at_least(1));
        assert_eq!(limits.times(6.into()).plus(open), Bounds::at_least(361));
        assert_eq!(Bounds::from(-1).times(limits), between(-900, -60));
        assert_eq!(open.times(0.into()), 0.into());
        assert_eq!(open.times(limits), Bounds::ANY);
        assert_eq!(open.max(30.into()), Bounds::at_least(30));
        assert_eq!(limits.max(Bounds::ANY), Bounds::at_least(60));
        assert_eq!(limits.min(Bounds::ANY), Bounds::at_most(900));
        assert_eq!(limits.min(100.into()), between(60, 100));
        assert_eq!(limits.or(1_000.into()), between(60, 1_000));
        assert_eq!(limits.or(open), Bounds::at_least(1));
        assert_eq!(limits.and(open), limits);
        assert_eq!(Bounds::at_least(i64::MAX).plus(Bounds::at_least(1)), Bounds::ANY);
        assert_eq!(Bounds::at_least(i64::MAX).times(2.into()), Bounds::ANY);
    }

    #[test]
    fn patterns_with_different_known_ends_do_not_match() {
        for (one, other, expected) in [
            ("…-orders-dlq", "…-orders-dlq", true),
            ("…-orders-dlq", "…-refunds-dlq", false),
            ("…-orders-dlq", "prod-orders-dlq", true),
            ("…-orders-dlq", "prod-orders", false),
            ("orders-…", "…-dlq", true),
            ("…", "orders", true),
            ("orders", "orders", true),
            ("orders", "refunds", false),
        ] {
            assert_eq!(pattern(one).may_match(&pattern(other)), expected, "{one} {other}");
            assert_eq!(pattern(other).may_match(&pattern(one)), expected, "{other} {one}");
        }
        assert_eq!(pattern("…-orders").specificity(), 6);
    }

    #[test]
    fn known_ends_decide_prefixes_and_suffixes() {
        for (text, ends) in [
            ("…-orders.fifo", Some(true)),
            (".fifo", Some(true)),
            ("orders", Some(false)),
            ("…-orders", Some(false)),
            ("orders-…", None),
            ("…fo", None),
            ("…", None),
            ("fo", Some(false)),
            ("", Some(false)),
        ] {
            assert_eq!(pattern(text).ends_with(".fifo"), ends, "{text}");
        }
        for (text, starts) in [
            ("prod-…", Some(true)),
            ("prod-", Some(true)),
            ("dev-…", Some(false)),
            ("pr…", None),
            ("…prod-", None),
            ("pr", Some(false)),
        ] {
            assert_eq!(pattern(text).starts_with("prod-"), starts, "{text}");
        }
        assert!(pattern("…-orders-…").contains("orders"));
        assert_eq!(pattern("…orders….fifo").min_length(), 11);
        assert_eq!(pattern("…orders….fifo").to_string(), "…orders….fifo");
    }
}
