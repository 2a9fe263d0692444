//! How `terraform fmt` aligns arguments on consecutive lines: their `=`, and the comments behind them.
//!
//! What is aligned stays so where lines go; what is not is left as it is.

use super::document::{Argument, Document};
use crate::diagnostic::Edit;
use crate::source::Span;
use std::ops::Range;

/// The arguments that are aligned with each other; those that are aligned with nothing are left out.
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

/// Whether the author aligns nothing.
pub(super) fn is_loose(arguments: &[Argument<'_>]) -> bool {
    groups(arguments).into_iter().any(|group| {
        let mut signs = group.iter().map(|argument| argument.sign);
        let first = signs.next();
        let is_aligned = signs.all(|sign| Some(sign) == first);
        !is_aligned && group.iter().all(|argument| argument.sign == Some(argument.width() + 1))
    })
}

/// The edits that align what is left without the argument `at`, where all around it is aligned.
pub(super) fn without(document: &Document, arguments: &[Argument<'_>], at: usize) -> Vec<Edit> {
    let Some(removed) = arguments.get(at) else {
        return Vec::new();
    };
    let touches = |a: &Argument<'_>, b: &Argument<'_>| {
        are_aligned(a, b)
            && (a.lines.end == b.lines.start
                || [a.lines.end, b.lines.start] == [removed.lines.start, removed.lines.end])
    };
    let around = |group: &[Argument<'_>]| {
        group
            .first()
            .is_some_and(|first| first.lines.start <= removed.lines.end)
            && group.last().is_some_and(|last| last.lines.end >= removed.lines.start)
    };
    let before = groups(arguments).into_iter().filter(|group| around(group));
    let before: Vec<_> = before.map(|group| group.iter().collect::<Vec<_>>()).collect();
    let mut edits = Vec::new();
    let left: Vec<&Argument<'_>> = arguments
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .map(|(_, left)| left)
        .collect();
    for group in left.chunk_by(|a, b| touches(a, b)) {
        let lines = group
            .first()
            .zip(group.last())
            .map(|(first, last)| first.lines.start..last.lines.end);
        let is_near = lines.is_some_and(|lines| lines.start <= removed.lines.end && lines.end >= removed.lines.start);
        if is_near
            && before
                .iter()
                .all(|group| signs(document, group).iter().all(Gap::is_right))
        {
            edits.extend(signs(document, group).iter().filter_map(|gap| gap.edit(document)));
            if before
                .iter()
                .all(|group| comments(document, group).iter().all(Gap::is_right))
            {
                edits.extend(comments(document, group).iter().filter_map(|gap| gap.edit(document)));
            }
        }
    }
    edits
}

/// Spaces in a line.
struct Gap {
    range: Range<usize>,
    /// How many there ought to be.
    wanted: usize,
}

impl Gap {
    fn is_right(&self) -> bool {
        self.range.len() == self.wanted
    }

    fn edit(&self, document: &Document) -> Option<Edit> {
        (!self.is_right()).then(|| Edit {
            span: Span::new(document.id, self.range.clone()),
            text: " ".repeat(self.wanted),
        })
    }
}

/// The spaces before each `=`.
fn signs(document: &Document, group: &[&Argument<'_>]) -> Vec<Gap> {
    let widest = group.iter().map(|argument| argument.width()).max().unwrap_or(0);
    let gaps = group
        .iter()
        .filter(|argument| argument.sign.is_some())
        .filter_map(|argument| {
            let start = argument.lines.start + argument.indent.len();
            let name_end = start + argument.attribute.name.len();
            let sign = name_end + document.slice(name_end..argument.lines.end).find('=')?;
            Some(Gap {
                range: name_end..sign,
                wanted: widest + 1 - argument.width(),
            })
        });
    gaps.collect()
}

/// The spaces before each comment behind an argument, those on consecutive lines aligned.
fn comments(document: &Document, group: &[&Argument<'_>]) -> Vec<Gap> {
    let widest_name = group.iter().map(|argument| argument.width()).max().unwrap_or(0);
    // The end of the code, how wide it is when the names are aligned, and where the comment begins.
    let places = group.iter().map(|argument| {
        let start = argument.lines.start + argument.indent.len();
        let element = document.element(start)?;
        let comment = document.comment_behind(&element)?;
        let code = document.slice(start..comment.start).trim_end();
        let value = code.chars().skip_while(|c| *c != '=').count();
        Some((start + code.len(), widest_name + value, comment.start))
    });
    let places: Vec<Option<(usize, usize, usize)>> = places.collect();
    let mut gaps = Vec::new();
    for run in places.split(|place| place.is_none()) {
        let widest = run.iter().flatten().map(|(_, width, _)| *width).max().unwrap_or(0);
        gaps.extend(run.iter().flatten().map(|(end, width, comment)| Gap {
            range: *end..*comment,
            wanted: widest + 1 - width,
        }));
    }
    gaps
}
