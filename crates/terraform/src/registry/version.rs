//! Version constraints: determines which range of versions contains the one that Terraform would choose, the newest
//! allowed.
//!
//! This module knows no particular modules.

use std::cmp::{max, min};

/// Major, minor and patch.
type Version = [u64; 3];

/// The lowest version; [`MOST`] is above all versions.
const LEAST: Version = [0; 3];
const MOST: Version = [u64::MAX; 3];

/// The versions from `from` up to, but not including, `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    from: Version,
    to: Version,
}

impl Range {
    /// All versions.
    pub(crate) const ANY: Range = Range { from: LEAST, to: MOST };

    /// Parses a single version, `4.2.0` or `v4.2.0`.
    pub(crate) fn exactly(text: &str) -> Option<Range> {
        let (version, _) = version(text)?;
        Some(Range {
            from: version,
            to: after(version, 2),
        })
    }

    /// Parses a constraint; `None` if it is malformed, allows nothing or includes pre-releases. `!=` is parsed but
    /// ignored, because excluding a single version does not change the range.
    pub(super) fn read(constraint: &str) -> Option<Range> {
        let mut range = Range::ANY;
        for part in constraint.split(',') {
            let part = part.trim();
            let at = part.find(|c: char| !"=!<>~ ".contains(c))?;
            let (operator, text) = part.split_at_checked(at)?;
            let (version, given) = version(text)?;
            let (from, to) = match operator.trim() {
                "" | "=" => (version, after(version, 2)),
                "!=" => (LEAST, MOST),
                ">=" => (version, MOST),
                ">" => (after(version, 2), MOST),
                "<" => (LEAST, version),
                "<=" => (LEAST, after(version, 2)),
                // The last part that is written may increase; if there is only one, without limit.
                "~>" => (version, given.checked_sub(2).map_or(MOST, |at| after(version, at))),
                _ => return None,
            };
            range.from = max(range.from, from);
            range.to = min(range.to, to);
        }
        (range.from < range.to).then_some(range)
    }

    /// Returns `true` if every version in it is lower than `version`.
    pub(crate) fn is_before(self, version: Version) -> bool {
        self.to <= version
    }

    /// Returns the sort key of ranges that do not overlap.
    pub(crate) fn order(self) -> impl Ord {
        self.from
    }

    /// Returns `true` if `next` begins at the end of `self` or later.
    #[cfg(test)]
    pub(crate) fn ends_before(self, next: Range) -> bool {
        self.to <= next.from
    }

    /// Returns the index of the range in `ranges` (sorted, the newest last) that contains the newest version that
    /// `self` allows; `None` if that version is outside of them. Versions after all ranges count only if the constraint
    /// names a bound above them, because its author knows newer versions.
    pub(crate) fn newest_of(self, ranges: &[Range]) -> Option<usize> {
        let end = ranges.last()?.to;
        let to = if self.to == MOST { end } else { self.to };
        ranges
            .iter()
            .position(|range| range.from < to && to <= range.to && self.from < to)
    }
}

/// Parses a version, which may begin with `v`, and returns the number of parts that are written.
fn version(text: &str) -> Option<(Version, usize)> {
    let mut version = LEAST;
    let mut given = 0;
    let text = text.trim();
    for part in text.strip_prefix('v').unwrap_or(text).split('.') {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *version.get_mut(given)? = part.parse().ok().filter(|_| digits)?;
        given += 1;
    }
    Some((version, given))
}

/// Returns the first version that follows all versions with the same parts as `version` up to part `at`.
fn after(version: Version, at: usize) -> Version {
    let mut next = LEAST;
    for (part, (to, from)) in next.iter_mut().zip(version).enumerate() {
        *to = match part.cmp(&at) {
            std::cmp::Ordering::Less => from,
            std::cmp::Ordering::Equal => from.saturating_add(1),
            std::cmp::Ordering::Greater => 0,
        };
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the index of the chosen range among `>= 1.0.0, < 2.0.0`, `>= 2.0.0, < 4.0.0` and `>= 4.0.1, < 6.0.0`.
    fn chosen(constraint: &str) -> Result<Option<usize>, ()> {
        let ranges = [">= 1.0.0, < 2.0.0", ">= 2.0.0, < 4.0.0", ">= 4.0.1, < 6.0.0"];
        let ranges = ranges.map(|range| Range::read(range).unwrap_or(Range::ANY));
        Range::read(constraint).map(|range| range.newest_of(&ranges)).ok_or(())
    }

    #[test]
    fn the_newest_allowed_range_is_chosen() {
        let table = [
            ("4.2.0", Some(2)),
            ("= 4.2", Some(2)),
            ("v4.2.0", Some(2)),
            ("~> v3.0", Some(1)),
            ("~> 4.0", Some(2)),
            ("~> 3.0", Some(1)),
            ("~> 3.5.1", Some(1)),
            // Only the last written part may increase: `~> 3` allows 5.2.
            ("~> 3", Some(2)),
            (">= 1.0", Some(2)),
            ("> 1.0, < 4.0", Some(1)),
            (">= 1.0.0, <= 4.0.1", Some(2)),
            ("< 2.0.0", Some(0)),
            (">=2,<3", Some(1)),
            // The newest allowed version is between two ranges.
            ("4.0.0", None),
            ("<= 4.0.0", None),
            ("~> 4.0.0", Some(2)),
            ("!= 5.0.0", Some(2)),
            // At the boundary, and one past it.
            ("5.99.99", Some(2)),
            ("6.0.0", None),
            ("0.9.9", None),
            ("1.0.0", Some(0)),
            ("~> 0.1", None),
            ("~> 6.0", None),
            // The author of the constraint knows newer versions than the ranges.
            (">= 4.0, < 7.0", None),
            ("> 6.0", None),
        ];
        for (constraint, expected) in table {
            assert_eq!(chosen(constraint), Ok(expected), "{constraint}");
        }
    }

    #[test]
    fn malformed_constraints_are_rejected() {
        for constraint in [
            "",
            "latest",
            "vv4",
            "v",
            "~4.0",
            ">> 1",
            "4.x",
            "4.0.0-beta1",
            "1.2.3.4",
            ">= 4, < 3",
            "4 5",
            "~>",
            ",",
            "99999999999999999999",
        ] {
            assert_eq!(chosen(constraint), Err(()), "{constraint}");
        }
    }
}
