//! Alignment of the `=` of arguments on consecutive lines, as `terraform fmt` does it.
//!
//! Arguments that are aligned stay aligned when a line is removed. Others are left unchanged.

use super::document::{Argument, Document};
use crate::diagnostic::Edit;
use source::Span;
use std::ops::Range;

/// Returns the groups of arguments that `terraform fmt` aligns with each other.
pub(super) fn groups<'a, 'd>(arguments: &'a [Argument<'d>]) -> Vec<&'a [Argument<'d>]> {
    let together = |a: &Argument<'_>, b: &Argument<'_>| are_aligned(a, b) && a.lines.end == b.lines.start;
    let groups = arguments.chunk_by(together);
    groups
        .filter(|group| group.iter().all(|argument| argument.sign.is_some()))
        .collect()
}

fn are_aligned(a: &Argument<'_>, b: &Argument<'_>) -> bool {
    a.sign.is_some() && b.sign.is_some()
}

/// Returns `true` if the author does not align arguments.
pub(super) fn is_loose(arguments: &[Argument<'_>]) -> bool {
    groups(arguments).into_iter().any(|group| {
        let mut signs = group.iter().map(|argument| argument.sign);
        let first = signs.next();
        let is_aligned = signs.all(|sign| Some(sign) == first);
        !is_aligned && group.iter().all(|argument| argument.sign == Some(argument.width() + 1))
    })
}

/// Returns the edits that realign the remaining arguments when the argument `at` is removed, if all of them were
/// aligned.
pub(super) fn without(document: &Document, arguments: &[Argument<'_>], at: usize) -> Vec<Edit> {
    let Some(removed) = arguments.get(at) else {
        return Vec::new();
    };
    let is_near = |lines: Range<usize>| lines.start <= removed.lines.end && lines.end >= removed.lines.start;
    let before = groups(arguments)
        .into_iter()
        .filter(|group| is_near(lines(group.iter())));
    let was_aligned = |group: &[Argument<'_>]| signs(document, group.iter()).iter().all(Gap::is_right);
    if !before.into_iter().all(was_aligned) {
        return Vec::new();
    }
    let left = arguments.iter().enumerate().filter(|(other, _)| *other != at);
    let left: Vec<&Argument<'_>> = left.map(|(_, argument)| argument).collect();
    let goes_on = |a: &&Argument<'_>, b: &&Argument<'_>| {
        let is_gone_between = [a.lines.end, b.lines.start] == [removed.lines.start, removed.lines.end];
        are_aligned(a, b) && (a.lines.end == b.lines.start || is_gone_between)
    };
    let after = left
        .chunk_by(goes_on)
        .filter(|group| is_near(lines(group.iter().copied())));
    let gaps = after.flat_map(|group| signs(document, group.iter().copied()));
    gaps.filter_map(|gap| gap.edit(document)).collect()
}

fn lines<'a, 'd: 'a>(group: impl Iterator<Item = &'a Argument<'d>>) -> Range<usize> {
    let lines = group.map(|argument| argument.lines.clone());
    lines.reduce(|all, next| all.start..next.end).unwrap_or_default()
}

/// Spaces within a line.
struct Gap {
    range: Range<usize>,
    /// Number of spaces required for alignment.
    wanted: usize,
}

impl Gap {
    fn is_right(&self) -> bool {
        self.range.len() == self.wanted
    }

    fn edit(&self, document: &Document) -> Option<Edit> {
        (!self.is_right()).then(|| Edit::new(Span::new(document.id, self.range.clone()), " ".repeat(self.wanted)))
    }
}

/// Returns the spaces in front of each `=`.
fn signs<'a, 'd: 'a>(document: &Document, group: impl Iterator<Item = &'a Argument<'d>> + Clone) -> Vec<Gap> {
    let widest = group.clone().map(Argument::width).max().unwrap_or(0);
    let gaps = group.filter(|argument| argument.sign.is_some()).filter_map(|argument| {
        let start = argument.lines.start + argument.indent.len();
        let end = start + argument.attribute.name.len();
        let sign = end + document.slice(end..argument.lines.end).find('=')?;
        Some(Gap {
            range: end..sign,
            wanted: widest + 1 - argument.width(),
        })
    });
    gaps.collect()
}
