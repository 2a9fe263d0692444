//! Maps offsets in the parsed text to offsets in the file. They differ by the byte order mark and by the indentation
//! that repairs insert.

use source::{FileId, Span};
use std::ops::Range;

/// Maximum number of continuation lines whose indentation is repaired.
pub(super) const MAX_REPAIRS: usize = 64;
/// Inserted indentation, wider than that of any template.
pub(super) const REPAIR: &str = "                                                                                ";

/// Replacement for a dash that the parser does not accept as a scalar. It has the same length, so that offsets do not
/// change.
pub(super) const STANDS_FOR_DASH: &str = "_";
/// Maximum number of bytes that are parsed again because of such dashes.
const MAX_REPARSED: usize = 1 << 24;

/// The differences between the parsed text and the file.
pub(super) struct Origin {
    pub(super) file: FileId,
    /// Length of the byte order mark.
    pub(super) base: usize,
    /// Offsets in the parsed text at which [`REPAIR`] was inserted, ascending.
    pub(super) inserted: Vec<usize>,
    /// Offsets in the parsed text at which [`STANDS_FOR_DASH`] replaces a dash, ascending.
    pub(super) dashes: Vec<usize>,
}

impl Origin {
    /// Returns `true` if the line at `at` may be repaired. Repairs only move forward, so that a line whose repair did
    /// not help is not repaired again.
    pub(super) fn may_repair(&self, at: usize) -> bool {
        self.inserted.len() < MAX_REPAIRS && self.inserted.last().is_none_or(|&last| at > last + REPAIR.len())
    }

    /// Returns `true` if another dash in a text of `length` bytes may be replaced. Each replacement costs another run
    /// of the parser.
    pub(super) fn may_replace(&self, length: usize) -> bool {
        self.dashes.len() < MAX_REPAIRS || self.dashes.len() * length < MAX_REPARSED
    }

    /// Returns `true` if the dash at `at` was replaced.
    pub(super) fn is_dash(&self, at: usize) -> bool {
        self.dashes.binary_search(&at).is_ok()
    }

    pub(super) fn offset(&self, at: usize) -> usize {
        let before = self.inserted.partition_point(|&place| place < at);
        let within = before
            .checked_sub(1)
            .and_then(|last| self.inserted.get(last))
            .map_or(0, |&last| (last + REPAIR.len()).saturating_sub(at));
        self.base + (at + within).saturating_sub(before * REPAIR.len())
    }

    pub(super) fn span(&self, range: &Range<usize>) -> Span {
        Span::new(self.file, self.offset(range.start)..self.offset(range.end))
    }
}
