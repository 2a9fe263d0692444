//! Locates entries on their lines, and the text around them.

use super::Editor;
use crate::diagnostic::Edit;
use crate::frontend::edits::piece::Style;
use source::Span;
use trees::Entry;

impl<'t> Editor<'t> {
    pub(in crate::frontend) fn begins(&self, at: usize, with: &str) -> bool {
        self.text.get(at..).is_some_and(|rest| rest.starts_with(with))
    }

    /// Returns the style of the block or flow mapping that begins with `first`.
    pub(super) fn style_at(&self, first: &Entry) -> Style {
        Style {
            quotes_keys: self.is_json || self.is_quoted(first),
            ..self.style.clone()
        }
    }

    pub(super) fn is_quoted(&self, entry: &Entry) -> bool {
        let key = self.text.get(entry.key_span.range()).unwrap_or("");
        key.starts_with(['"', '\''])
    }

    /// Returns the text between the key of `entry` and its value, if it is a colon and spaces.
    pub(super) fn colon(&self, entry: &Entry) -> String {
        let between = entry.key_span.end as usize..entry.value.span.start as usize;
        let gap = self.text.get(between).unwrap_or(": ");
        let is_plain = gap.trim_matches(' ') == ":";
        if is_plain { gap } else { ": " }.to_owned()
    }

    /// Returns `true` if the entry is on one line, followed by nothing except a comment or a comma.
    pub(in crate::frontend) fn is_one_line(&self, entry: &Entry) -> bool {
        let span = entry.span();
        let whole = self.text.get(span.range()).unwrap_or("\n");
        let rest = self.rest_of_line(span.end as usize);
        let rest = if self.is_json { "" } else { rest };
        !whole.contains('\n') && is_blank_or_comment(rest)
    }

    /// Returns `true` if the last line of the entry contains nothing after it except a comment, and the entry is not a
    /// block scalar.
    pub(super) fn ends_line(&self, entry: &Entry) -> bool {
        let value = self.text.get(entry.value.span.range()).unwrap_or("");
        let is_block_text = value.starts_with(['|', '>']);
        !is_block_text && is_blank_or_comment(self.rest_of_line(entry.value.span.end as usize))
    }

    /// Returns the beginning of the line after `entry` and the comments that are indented like its content.
    pub(super) fn end_with_comments(&self, entry: &Entry) -> usize {
        let column = entry.key_span.start as usize - self.line_start(entry.key_span.start as usize);
        let end = self.after_line(entry.value.span.end as usize);
        let mut following = end;
        let mut at = end;
        for line in self.text.get(end..).unwrap_or("").split_inclusive('\n') {
            let content = line.trim_start();
            let is_inner = content.starts_with('#') && line.len() - content.len() > column;
            if !is_inner && !content.is_empty() {
                break;
            }
            at += line.len();
            if is_inner {
                following = at;
            }
        }
        following
    }

    /// Inserts `lines` at the beginning of a line, or after the end of the text.
    pub(super) fn lines_at(&self, within: Span, at: usize, lines: &str, end: &str) -> Edit {
        let has_break = self
            .text
            .get(..at)
            .is_none_or(|before| before.is_empty() || before.ends_with('\n'));
        let text = if has_break {
            format!("{lines}{end}")
        } else {
            format!("{end}{lines}")
        };
        Edit::insertion(within, at, text)
    }

    /// Returns the beginning of the line after that of `at`.
    pub(super) fn after_line(&self, at: usize) -> usize {
        let end = at + self.rest_of_line(at).len();
        end + self.line_break(end)
    }

    pub(super) fn line_start(&self, at: usize) -> usize {
        let start = self
            .text
            .get(..at)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |at| at + 1);
        let mark = '\u{feff}';
        if start == 0 && self.text.starts_with(mark) {
            mark.len_utf8()
        } else {
            start
        }
    }

    /// Returns the text before `at` on its line.
    pub(super) fn before(&self, at: usize) -> Option<&'t str> {
        self.text.get(self.line_start(at)..at)
    }

    /// Returns the spaces before `at`, if nothing else precedes it on its line.
    pub(super) fn indentation(&self, at: u32) -> Option<&'t str> {
        let before = self.before(at as usize)?;
        let is_space = |c: char| c == ' ' || (self.is_json && c == '\t');
        before.chars().all(is_space).then_some(before)
    }

    /// Returns as many spaces as the column of `at`, which may follow only spaces and the dashes of lists.
    pub(super) fn column(&self, at: u32) -> Option<String> {
        let before = self.before(at as usize)?;
        before
            .chars()
            .all(|c| matches!(c, ' ' | '-'))
            .then(|| " ".repeat(before.len()))
    }

    /// Returns the rest of the line of `at`, without its line ending.
    pub(super) fn rest_of_line(&self, at: usize) -> &'t str {
        let rest = self.text.get(at..).unwrap_or("");
        rest.lines().next().unwrap_or("")
    }

    pub(super) fn line_break(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or("");
        if rest.starts_with("\r\n") {
            2
        } else {
            usize::from(rest.starts_with('\n'))
        }
    }
}

pub(super) fn is_blank_or_comment(rest: &str) -> bool {
    let text = rest.trim_start();
    text.is_empty() || (text.starts_with('#') && text.len() < rest.len())
}
