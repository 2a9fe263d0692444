//! Comments behind code on consecutive lines, which `terraform fmt` begins in one column: when an edit makes the code
//! before one of them longer or shorter, they move along, if they were aligned before.

use super::document::Document;
use crate::diagnostic::Edit;
use crate::source::{Sources, Span};
use std::ops::Range;

/// `edits`, and for each within a line those that keep the comments there aligned.
pub(in crate::frontend) fn aligned(edits: Vec<Edit>, sources: &Sources) -> Vec<Edit> {
    let mut all = edits.clone();
    for edit in &edits {
        let is_within_a_line = !edit.text.contains('\n') && !sources.text(edit.span).contains('\n');
        if let Some(document) = Document::read(edit.span.file, sources).filter(|_| is_within_a_line) {
            all.extend(moved(&document, edit));
        }
    }
    all
}

/// A line with code and a comment behind it.
struct Remark {
    /// Where the code ends and the comment begins.
    gap: Range<usize>,
    /// How wide the code is, indentation included.
    width: usize,
}

/// What moves the comments around `edit`.
fn moved(document: &Document, edit: &Edit) -> Vec<Edit> {
    let Some(own) = remark(document, edit.span.start as usize) else {
        return Vec::new();
    };
    let mut chain = vec![own];
    while let Some(above) = before(document, chain.first().map_or(0, |first| first.gap.start)) {
        chain.insert(0, above);
    }
    while let Some(below) = after(document, chain.last().map_or(0, |last| last.gap.start)) {
        chain.push(below);
    }
    let widest = chain.iter().map(|remark| remark.width).max().unwrap_or(0);
    if chain.iter().any(|remark| remark.gap.len() != widest + 1 - remark.width) {
        return Vec::new();
    }
    let (gone, come) = (
        document.slice(edit.span.range()).chars().count(),
        edit.text.chars().count(),
    );
    let mut found = Vec::new();
    for remark in &mut chain {
        if document.line(remark.gap.start).contains(&(edit.span.start as usize)) {
            remark.width = (remark.width + come).saturating_sub(gone);
        }
    }
    let widest = chain.iter().map(|remark| remark.width).max().unwrap_or(0);
    for remark in chain {
        let wanted = widest + 1 - remark.width;
        if remark.gap.len() != wanted {
            found.push(Edit {
                span: Span::new(document.id, remark.gap),
                text: " ".repeat(wanted),
            });
        }
    }
    found
}

fn before(document: &Document, at: usize) -> Option<Remark> {
    let start = document.line(at).start;
    remark(document, start.checked_sub(1)?)
}

fn after(document: &Document, at: usize) -> Option<Remark> {
    let end = document.line(at).end;
    (end < document.text().len()).then(|| remark(document, end))?
}

/// The comment at the end of the line that holds `at`, behind something else.
fn remark(document: &Document, at: usize) -> Option<Remark> {
    let line = document.line(at);
    let comment = document.comments(line.clone()).last()?;
    if !document.slice(comment.end.min(line.end)..line.end).trim().is_empty() {
        return None;
    }
    let code = document.slice(line.start..comment.start).trim_end_matches([' ', '\t']);
    (!code.is_empty()).then(|| Remark {
        gap: line.start + code.len()..comment.start,
        width: code.chars().count(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::aligned;
    use crate::diagnostic::Edit;
    use crate::source::{Sources, Span};
    use std::path::Path;

    /// `text` with `from` replaced by `to`, and what moves with it.
    fn edited(text: &str, from: &str, to: &str) -> String {
        let sources = Sources::default();
        let file = sources.add(Path::new("main.tf"), text);
        let start = text.find(from).unwrap();
        let edit = Edit {
            span: Span::new(file, start..start + from.len()),
            text: to.to_owned(),
        };
        let mut edits = aligned(vec![edit], &sources);
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
        edits.into_iter().fold(text.to_owned(), |mut text, edit| {
            text.replace_range(edit.span.range(), &edit.text);
            text
        })
    }

    #[test]
    fn a_longer_number_moves_every_comment_of_its_lines() {
        let before = "locals {\n  a = 30 # one\n  b = 4  # two\n  c = 5\n  d = 6 # apart\n}\n";
        let after = "locals {\n  a = 1800 # one\n  b = 4    # two\n  c = 5\n  d = 6 # apart\n}\n";
        assert_eq!(edited(before, "30", "1800"), after);
    }

    #[test]
    fn where_there_is_room_only_its_own_comment_moves() {
        let before = "locals {\n  a = 30   # one\n  b = 4000 # two\n}\n";
        let after = "locals {\n  a = 180  # one\n  b = 4000 # two\n}\n";
        assert_eq!(edited(before, "30", "180"), after);
    }

    #[test]
    fn what_was_not_aligned_stays() {
        let before = "locals {\n  a = 30     # one\n  b = 4 # two\n}\n";
        let after = "locals {\n  a = 1800     # one\n  b = 4 # two\n}\n";
        assert_eq!(edited(before, "30", "1800"), after);
    }
}
