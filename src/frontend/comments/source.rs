//! Suppressions in the source of functions, by its lines alone: a comment at the end of a line is about that line, one
//! that stands alone about the next line that is not blank.

use super::{Written, in_comment};
use crate::source::{FileId, Span};
use std::ops::Range;

/// The word that a comment speaks to sqslint with.
const MARKER: &str = "sqslint:";

/// Every suppression in `text`, in comments that begin with `mark`.
pub(super) fn suppressions(file: FileId, text: &str, mark: &str) -> Vec<Written> {
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

/// Where in a line a comment begins that speaks to sqslint.
fn comment(line: &str, mark: &str) -> Option<usize> {
    let said = line.find(MARKER)?;
    let before = line.get(..said)?.trim_end();
    before.ends_with(mark).then(|| before.len() - mark.len())
}

/// The comment that `at` lies in.
pub(super) fn comment_around(text: &str, at: Span, mark: &str) -> Option<Range<usize>> {
    let before = text.get(..at.start as usize)?;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text.get(start..)?.lines().next()?;
    let begins = start + comment(line, mark)?;
    Some(begins..start + line.trim_end().len())
}
