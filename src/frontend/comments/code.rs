//! Finds suppressions in the source of functions, line by line. A comment at the end of a line is about that line; one
//! that is alone on its line is about the next line that is not blank.

use super::{RawSuppression, in_comment};
use crate::suppress::MARKER;
use source::{FileId, Span};
use std::ops::Range;

/// Returns every suppression in `text`, in comments that begin with `mark`.
pub(super) fn suppressions(file: FileId, text: &str, mark: &str) -> Vec<RawSuppression> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        lines.push((start, line.trim_end()));
        start += line.len();
    }
    let mut found = Vec::new();
    for (at, (start, line)) in lines.iter().enumerate() {
        let Some(comment) = comment(line, mark) else {
            continue;
        };
        let leading = line.get(..comment).is_some_and(|before| before.trim().is_empty());
        let about = if leading {
            lines.iter().skip(at + 1).find(|(_, line)| !line.is_empty())
        } else {
            Some(&(*start, *line))
        };
        let cover = about.map(|(start, line)| Span::new(file, *start..start + line.len()));
        let span = Span::new(file, start + comment..start + line.len());
        found.extend(in_comment(text, span, cover, leading));
    }
    found
}

/// Returns the offset in a line at which a comment with a suppression begins.
fn comment(line: &str, mark: &str) -> Option<usize> {
    let stated = line.find(MARKER)?;
    let before = line.get(..stated)?.trim_end();
    before.ends_with(mark).then(|| before.len() - mark.len())
}

/// Returns the range of the comment around `at`.
pub(super) fn comment_around(text: &str, at: Span, mark: &str) -> Option<Range<usize>> {
    let before = text.get(..at.start as usize)?;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?;
    let begins = start + comment(line, mark)?;
    Some(begins..start + line.trim_end().len())
}
