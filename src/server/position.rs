//! Converts byte offsets to editor positions and back: lines count from 0, and columns are in the units that editor and
//! server agreed on.

use lsp_types::{Position, PositionEncodingKind, Range};
use source::{SourceFile, Span};
use std::sync::Arc;

/// Units of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    /// Returns the cheapest of the units that the editor offers, or UTF-16 if it offers none.
    pub(super) fn among(offered: &[PositionEncodingKind]) -> Encoding {
        let has = |kind: &PositionEncodingKind| offered.contains(kind);
        if has(&PositionEncodingKind::UTF8) {
            Encoding::Utf8
        } else if has(&PositionEncodingKind::UTF32) && !has(&PositionEncodingKind::UTF16) {
            Encoding::Utf32
        } else {
            Encoding::Utf16
        }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, letter: char) -> usize {
        match self {
            Encoding::Utf8 => letter.len_utf8(),
            Encoding::Utf16 => letter.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// Offsets at which the lines of a text start. A line ends with `\n`, `\r\n` or `\r`, as the protocol defines.
#[derive(Debug)]
struct Starts(Vec<usize>);

impl Starts {
    fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let is_first_of_two = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            if !is_first_of_two {
                starts.push(at + 1);
            }
        }
        Starts(starts)
    }
}

/// Lines of a text.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Arc<Starts>,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Self {
        let starts = Arc::new(Starts::of(text));
        Lines { text, starts, encoding }
    }

    /// Returns the lines of a file, with cached offsets for repeated use.
    pub(super) fn of(file: &'t SourceFile, encoding: Encoding) -> Self {
        let (text, starts) = (file.text(), file.derived(Starts::of));
        Lines { text, starts, encoding }
    }

    /// Returns the line without its line break.
    fn line(&self, at: usize) -> &'t str {
        let start = self.starts.0.get(at).copied().unwrap_or(self.text.len());
        let end = self.starts.0.get(at + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or_default();
        line.trim_end_matches(['\n', '\r'])
    }

    /// Returns the byte offset of `position`. A column past the end of the line is that end.
    pub(super) fn offset(&self, position: Position) -> usize {
        let at = usize::try_from(position.line).unwrap_or(usize::MAX);
        let Some(&start) = self.starts.0.get(at) else {
            return self.text.len();
        };
        let wanted = usize::try_from(position.character).unwrap_or(usize::MAX);
        let line = self.line(at);
        let mut column = 0;
        for (within, letter) in line.char_indices() {
            column += self.encoding.width(letter);
            // A position within a character is the start of that character.
            if column > wanted {
                return start + within;
            }
        }
        start + line.len()
    }

    /// Returns the position of a byte offset.
    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self.starts.0.partition_point(|start| *start <= offset).max(1) - 1;
        let start = self.starts.0.get(line).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        let column: usize = before.chars().map(|letter| self.encoding.width(letter)).sum();
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            character: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }

    /// Returns the range of some bytes.
    pub(super) fn range(&self, bytes: std::ops::Range<usize>) -> Range {
        Range {
            start: self.position(bytes.start),
            end: self.position(bytes.end),
        }
    }
}

/// Returns the range of `span`, which must be in `file`.
pub(super) fn range_of(file: &SourceFile, span: Span, encoding: Encoding) -> Range {
    Lines::of(file, encoding).range(span.range())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_are_counted_in_the_agreed_units() {
        let text = "aöb\r\n𝄞x\ry\n";
        for (encoding, column) in [(Encoding::Utf8, 4), (Encoding::Utf16, 2), (Encoding::Utf32, 1)] {
            let lines = Lines::new(text, encoding);
            let x = text.find('x').unwrap_or(0);
            assert_eq!(lines.position(x), at(1, column), "{encoding:?}");
            assert_eq!(lines.offset(at(1, column)), x, "{encoding:?}");
            let y = text.find('y').unwrap_or(0);
            assert_eq!(lines.position(y), at(2, 0));
            assert_eq!(lines.position(text.len()), at(3, 0));
        }
    }

    #[test]
    fn invalid_positions_become_the_nearest_valid_ones() {
        let lines = Lines::new("ab\n𝄞", Encoding::Utf16);
        assert_eq!(lines.offset(at(0, 99)), 2);
        assert_eq!(lines.offset(at(9, 0)), 7);
        assert_eq!(lines.offset(at(1, 1)), 3, "in the middle of a letter");
        assert_eq!(lines.position(4), at(1, 0));
    }

    proptest! {
        #[test]
        fn offsets_are_converted_to_positions_and_back(text in "[a-cö𝄞\n\r]{0,40}", which in 0..3_usize) {
            let encoding = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32][which];
            let lines = Lines::new(&text, encoding);
            for (offset, letter) in text.char_indices() {
                let is_second = letter == '\n' && text[..offset].ends_with('\r');
                if !is_second {
                    prop_assert_eq!(lines.offset(lines.position(offset)), offset);
                }
            }
        }
    }
}
