//! Where a place of the text that is parsed lies in the file: behind a byte order mark, and beside repaired lines.

use crate::source::{FileId, Span};
use std::ops::Range;

/// Continuation lines that are indented too little and repaired.
pub(super) const MAX_REPAIRS: usize = 64;
/// Wider than any template is indented.
pub(super) const REPAIR: &str = "                                                                                ";

/// Leads from the text that is parsed back to the file.
pub(super) struct Origin {
    pub(super) file: FileId,
    /// The byte order mark's length.
    pub(super) base: usize,
    /// Where [`REPAIR`] was inserted, ascending.
    pub(super) inserted: Vec<usize>,
}

impl Origin {
    /// Only forward: a place that was repaired in vain is not repaired again.
    pub(super) fn may_repair(&self, at: usize) -> bool {
        self.inserted.len() < MAX_REPAIRS && self.inserted.last().is_none_or(|&last| at > last + REPAIR.len())
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
