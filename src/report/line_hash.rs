//! Hashes of lines as GitHub's code scanning computes them (`primaryLocationLineHash`), so that an alert keeps its
//! identity when it is uploaded by other ways than the action, which would add them itself.
//!
//! A hash rolls over the hundred UTF-16 units from the start of a line on, blanks left out and line breaks made
//! one; equal hashes of a file are told apart by a count.

use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

const BLOCK: usize = 100;
const FACTOR: u64 = 37;
/// The unit that stands for the end of the text.
const END: u16 = 0xffff;

/// The hashes of the lines `wanted` (from 1) of `text`, by line.
pub(super) fn line_hashes(text: &str, wanted: &BTreeSet<u32>) -> BTreeMap<u32, String> {
    let mut roller = Roller::new(wanted);
    let mut after_return = false;
    for unit in text.encode_utf16().chain([END]) {
        let is_line_feed = unit == u16::from(b'\n');
        let skipped = unit == u16::from(b' ') || unit == u16::from(b'\t') || (after_return && is_line_feed);
        after_return = !skipped && unit == u16::from(b'\r');
        if !skipped {
            roller.take(if after_return { u16::from(b'\n') } else { unit });
        }
    }
    for _ in 0..BLOCK {
        roller.leave();
        roller.roll(0);
    }
    roller.found
}

struct Roller<'a> {
    wanted: &'a BTreeSet<u32>,
    /// The last units, each with the line it begins.
    window: [(u16, Option<u32>); BLOCK],
    at: usize,
    hash: u64,
    /// The weight of a unit that leaves the window.
    weight: u64,
    line: u32,
    at_line_start: bool,
    counts: FxHashMap<u64, u32>,
    found: BTreeMap<u32, String>,
}

impl<'a> Roller<'a> {
    fn new(wanted: &'a BTreeSet<u32>) -> Self {
        Roller {
            wanted,
            window: [(0, None); BLOCK],
            at: 0,
            hash: 0,
            weight: (0..BLOCK).fold(1, |weight: u64, _| weight.wrapping_mul(FACTOR)),
            line: 0,
            at_line_start: true,
            counts: FxHashMap::default(),
            found: BTreeMap::new(),
        }
    }

    fn take(&mut self, unit: u16) {
        self.leave();
        if self.at_line_start {
            self.at_line_start = false;
            self.line = self.line.saturating_add(1);
            let line = self.line;
            if let Some(slot) = self.window.get_mut(self.at) {
                slot.1 = Some(line);
            }
        }
        self.at_line_start = unit == u16::from(b'\n');
        self.roll(unit);
    }

    /// Says the hash of the line whose first unit is about to leave the window.
    fn leave(&mut self) {
        let Some(line) = self.window.get_mut(self.at).and_then(|slot| slot.1.take()) else {
            return;
        };
        let count = self.counts.entry(self.hash).or_insert(0);
        *count += 1;
        if self.wanted.contains(&line) {
            self.found.insert(line, format!("{:x}:{count}", self.hash));
        }
    }

    fn roll(&mut self, unit: u16) {
        if let Some(slot) = self.window.get_mut(self.at) {
            let gone = std::mem::replace(&mut slot.0, unit);
            self.hash = FACTOR
                .wrapping_mul(self.hash)
                .wrapping_add(u64::from(unit))
                .wrapping_sub(self.weight.wrapping_mul(u64::from(gone)));
        }
        self.at = (self.at + 1) % BLOCK;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with what github/codeql-action's `src/fingerprints.ts` gives for them, from its published cases.
    const CASES: &[(&str, &[&str])] = &[
        ("", &["c129715d7a2bc9a3:1"]),
        (
            " a\nb\n  \t\tc\n d",
            &[
                "271789c17abda88f:1",
                "54703d4cd895b18:1",
                "180aee12dab6264:1",
                "a23a3dc5e078b07b:1",
            ],
        ),
        (
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
            &[
                "8b7cf3e952e7aeb2:1",
                "b1ae1287ec4718d9:1",
                "bff680108adb0fcc:1",
                "c6805c5e1288b612:1",
                "b86d3392aea1be30:1",
                "e6ceba753e1a442:1",
            ],
        ),
        (" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", GREETINGS),
        (" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", GREETINGS),
        (
            " hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n",
            GREETINGS,
        ),
        (" hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n", GREETINGS),
        (
            "x = 2\nx = 1\nprint(x)\nx = 3\nprint(x)\nx = 4\nprint(x)\n",
            &[
                "e54938cc54b302f1:1",
                "bb609acbe9138d60:1",
                "1131fd5871777f34:1",
                "5c482a0f8b35ea28:1",
                "54517377da7028d2:1",
                "2c644846cb18d53e:1",
                "f1b89f20de0d133:1",
                "c129715d7a2bc9a3:1",
            ],
        ),
    ];

    const GREETINGS: &[&str] = &[
        "e9496ae3ebfced30:1",
        "fb7c023a8b9ccb3f:1",
        "ce8ba1a563dcdaca:1",
        "e20e36e16fcb0cc8:1",
        "b3edc88f2938467e:1",
        "c8e28b0b4002a3a0:1",
        "c129715d7a2bc9a3:1",
    ];

    const REPEATED: &[&str] = &[
        "a7f2ff13bc495cf2:1",
        "a7f2ff13bc495cf2:2",
        "a7f2ff13bc495cf2:3",
        "a7f2ff13bc495cf2:4",
        "a7f2ff13bc495cf2:5",
        "a7f2ff13bc495cf2:6",
        "a7f2ff1481e87703:1",
        "a9cf91f7bbf1862b:1",
        "55ec222b86bcae53:1",
        "cc97dc7b1d7d8f7b:1",
        "c129715d7a2bc9a3:1",
    ];

    fn all(text: &str) -> Vec<String> {
        line_hashes(text, &(0..99).collect()).into_values().collect()
    }

    #[test]
    fn the_hashes_are_those_of_code_scanning() {
        for (text, expected) in CASES {
            assert_eq!(all(text), *expected, "{text:?}");
        }
        assert_eq!(all(&"Lorem ipsum dolor sit amet.\n".repeat(10)), REPEATED);
    }

    #[test]
    fn what_is_not_wanted_counts_all_the_same() {
        let text = "Lorem ipsum dolor sit amet.\n".repeat(10);
        let third = line_hashes(&text, &BTreeSet::from([3]));
        assert_eq!(third.into_iter().collect::<Vec<_>>(), [(3, REPEATED[2].to_owned())]);
    }
}
