//! Version constraints, as far as they say which of some ranges of versions Terraform would choose from.
//!
//! It knows no module. Terraform takes the newest version that a constraint allows.

use std::cmp::{max, min};

/// Major, minor and patch.
type Version = [u64; 3];

/// Every version.
const LEAST: Version = [0; 3];
const MOST: Version = [u64::MAX; 3];

/// The versions from `from` up to, and not with, `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    from: Version,
    to: Version,
}

impl Range {
    /// Any version.
    pub(super) const ANY: Range = Range { from: LEAST, to: MOST };

    /// One version, `4.2.0` or `v4.2.0`.
    pub(super) fn exactly(text: &str) -> Option<Range> {
        let (version, _) = version(text.strip_prefix('v').unwrap_or(text))?;
        Some(Range {
            from: version,
            to: after(version, 2),
        })
    }

    /// Reads a constraint; `None` where it is none, allows nothing, or speaks of pre-releases.
    /// `!=` is read and left aside: one version less does not move a range.
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
                // The last part that is written may grow; a single one without bound.
                "~>" => (version, given.checked_sub(2).map_or(MOST, |at| after(version, at))),
                _ => return None,
            };
            range.from = max(range.from, from);
            range.to = min(range.to, to);
        }
        (range.from < range.to).then_some(range)
    }

    /// Whether every version in it is before `version`.
    pub(super) fn is_before(self, version: Version) -> bool {
        self.to <= version
    }

    /// Orders ranges that do not overlap.
    pub(super) fn order(self) -> impl Ord {
        self.from
    }

    /// Whether `next` begins where `self` ends, or later.
    #[cfg(test)]
    pub(super) fn ends_before(self, next: Range) -> bool {
        self.to <= next.from
    }

    /// Which of `ranges` (the newest last) holds the newest version that `self` allows; `None` where that lies
    /// outside of them. Versions that do not exist yet only count where the constraint names a bound above all
    /// ranges: its author knows of more than they do.
    pub(super) fn newest_of(self, ranges: &[Range]) -> Option<usize> {
        let end = ranges.last()?.to;
        let to = if self.to == MOST { end } else { self.to };
        ranges
            .iter()
            .position(|range| range.from < to && to <= range.to && self.from < to)
    }
}

/// A version, and how many of its parts are written.
fn version(text: &str) -> Option<(Version, usize)> {
    let mut version = LEAST;
    let mut given = 0;
    for part in text.trim().split('.') {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        *version.get_mut(given)? = part.parse().ok().filter(|_| digits)?;
        given += 1;
    }
    Some((version, given))
}

/// The version after all that agree with `version` up to part `at`.
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

    /// Which of `>= 1.0.0, < 2.0.0`, `>= 2.0.0, < 4.0.0` and `>= 4.0.1, < 6.0.0`.
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
            ("~> 4.0", Some(2)),
            ("~> 3.0", Some(1)),
            ("~> 3.5.1", Some(1)),
            // Only the last written part may grow: `~> 3` allows 5.2.
            ("~> 3", Some(2)),
            (">= 1.0", Some(2)),
            ("> 1.0, < 4.0", Some(1)),
            (">= 1.0.0, <= 4.0.1", Some(2)),
            ("< 2.0.0", Some(0)),
            (">=2,<3", Some(1)),
            // The newest allowed one lies between the ranges.
            ("4.0.0", None),
            ("<= 4.0.0", None),
            ("~> 4.0.0", Some(2)),
            ("!= 5.0.0", Some(2)),
            // The boundary, and one past it.
            ("5.99.99", Some(2)),
            ("6.0.0", None),
            ("0.9.9", None),
            ("1.0.0", Some(0)),
            ("~> 0.1", None),
            ("~> 6.0", None),
            // Its author knows of versions that the ranges do not know.
            (">= 4.0, < 7.0", None),
            ("> 6.0", None),
        ];
        for (constraint, expected) in table {
            assert_eq!(chosen(constraint), Ok(expected), "{constraint}");
        }
    }

    #[test]
    fn what_is_no_constraint_is_refused() {
        for constraint in [
            "",
            "latest",
            "v4",
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
