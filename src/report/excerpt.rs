//! Extracts the lines around a finding's labels, limited to what a terminal can show.
//!
//! The drawing library processes whole files, prints whole lines, and draws a single source. Here, the few relevant
//! lines of one or several files become one small text, with the labels mapped to it. So a minified template of one
//! line, an escape sequence or a label at the end of a file are drawn like any other.

use super::printable;
use super::printable::{ends_mark, is_deceptive};
use crate::diagnostic::Label;
use source::{Position, SourceFile, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use unicode_width::UnicodeWidthChar;

/// Maximum number of labels drawn.
const MAX_LABELS: usize = 12;
/// Limits of an excerpt.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExcerptLimits {
    /// `true` to include a line before and after each label.
    pub(super) around: bool,
    /// Maximum number of lines of a label; longer ones mark only their first line.
    pub(super) most_lines: usize,
    /// Maximum number of columns of a line.
    pub(super) room: usize,
}
/// Minimum number of characters for each of several labels in one long line.
const MIN_ROOM: usize = 24;
/// Columns of a tab.
pub(super) const TAB_WIDTH: usize = 4;

/// Consecutive lines of one file.
#[derive(Debug)]
pub(super) struct Group {
    /// Path of the file for display.
    pub(super) name: String,
    /// The file itself.
    pub(super) file: Arc<SourceFile>,
    /// Number of the first line, counted from 0.
    pub(super) first_line: usize,
    /// Byte range in the excerpt.
    pub(super) range: Range<usize>,
}

/// Label, mapped to the excerpt.
#[derive(Debug)]
pub(super) struct Mark {
    /// Byte range in the excerpt; never empty.
    pub(super) range: Range<usize>,
    /// Start of the label in its file.
    pub(super) position: Position,
    /// Text of the label.
    pub(super) message: String,
}

/// Lines around labels.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    /// Text of all groups.
    pub(super) text: String,
    /// Groups in the order of the text.
    pub(super) groups: Vec<Group>,
    /// Labels, primary first.
    pub(super) marks: Vec<Mark>,
    /// Number of labels that were left out.
    pub(super) left_out: usize,
}

/// Range of a label in its file, on character boundaries.
struct LabelRange {
    /// Index of the file among those of the excerpt.
    file: usize,
    range: Range<usize>,
    lines: Range<usize>,
    message: String,
    primary: bool,
}

/// Range of a file that the excerpt contains.
struct CopiedRange {
    file: usize,
    from: Range<usize>,
    to: usize,
}

impl Excerpt {
    /// Extracts the lines that contain `labels`.
    pub(super) fn new(sources: &Sources, labels: &[Label], extent: ExcerptLimits, ellipsis: &str) -> Excerpt {
        let (files, spots) = spots(sources, labels, extent.most_lines);
        let mut excerpt = Excerpt {
            left_out: labels.len().saturating_sub(MAX_LABELS),
            ..Excerpt::default()
        };
        let mut pieces = Vec::new();
        for (at, file) in files.iter().enumerate() {
            let here: Vec<&LabelRange> = spots.iter().filter(|spot| spot.file == at).collect();
            let mut groups = groups(file, &here, extent.around);
            // The line to edit comes first, regardless of its position in the file.
            let edited = here.iter().find(|spot| spot.primary).map(|spot| spot.lines.start);
            groups.sort_by_key(|lines| !edited.is_some_and(|line| lines.contains(&line)));
            for lines in groups {
                let start = excerpt.text.len();
                for line in lines.clone() {
                    let writer = LineWriter {
                        file,
                        here: &here,
                        room: extent.room,
                        ellipsis,
                    };
                    for (from, to) in writer.write(line, &mut excerpt.text) {
                        pieces.push(CopiedRange { file: at, from, to });
                    }
                }
                excerpt.groups.push(Group {
                    name: printable(file.shown()),
                    file: file.clone(),
                    first_line: lines.start,
                    range: start..excerpt.text.len(),
                });
            }
        }
        excerpt.marks = spots
            .into_iter()
            .filter_map(|spot| {
                let position = files.get(spot.file)?.position(spot.range.start);
                Some(Mark {
                    range: moved(&pieces, &spot)?,
                    position,
                    message: spot.message,
                })
            })
            .collect();
        excerpt
    }
}

/// Maps `spot` to its byte range in the excerpt, without a part that was cut off at its end.
fn moved(pieces: &[CopiedRange], spot: &LabelRange) -> Option<Range<usize>> {
    let inside = |piece: &&CopiedRange| {
        piece.file == spot.file && piece.from.start < spot.range.end && spot.range.start < piece.from.end
    };
    let first = pieces.iter().find(inside)?;
    let last = pieces.iter().rev().find(inside)?;
    let start = first.to + spot.range.start.saturating_sub(first.from.start);
    let end = last.to + (spot.range.end.min(last.from.end) - last.from.start);
    (start < end).then_some(start..end)
}

/// Returns the files in the order of their first label, and the labels as ranges in them.
fn spots(sources: &Sources, labels: &[Label], most_lines: usize) -> (Vec<Arc<SourceFile>>, Vec<LabelRange>) {
    let mut ids = Vec::new();
    let mut files: Vec<Arc<SourceFile>> = Vec::new();
    let mut spots: Vec<LabelRange> = Vec::new();
    for label in labels.iter().take(MAX_LABELS) {
        let at = ids.iter().position(|id| *id == label.span.file).unwrap_or_else(|| {
            ids.push(label.span.file);
            files.push(sources.file(label.span.file));
            ids.len() - 1
        });
        let Some(file) = files.get(at) else { continue };
        let (range, lines) = clamp_to_text(file, label.span.range(), most_lines);
        let message = printable(&label.message);
        match spots.iter_mut().find(|spot| spot.file == at && spot.range == range) {
            // Two labels of one range would be drawn side by side, far from it.
            Some(same) => same.message = format!("{}; {message}", same.message),
            None => spots.push(LabelRange {
                file: at,
                range,
                lines,
                message,
                primary: label.primary,
            }),
        }
    }
    (files, spots)
}

/// Limits `range` to the text, on character boundaries and without trailing whitespace. The result covers at least one
/// byte, past the end of the line if nothing else is left. Also returns the lines that it covers.
fn clamp_to_text(file: &SourceFile, range: Range<usize>, most_lines: usize) -> (Range<usize>, Range<usize>) {
    let text = file.text();
    let start = text.floor_char_boundary(range.start.min(text.len()));
    let end = text.ceil_char_boundary(range.end.clamp(start, text.len()));
    let marked = text.get(start..end).unwrap_or("");
    let mut end = start + marked.trim_end_matches(['\n', '\r', ' ', '\t']).len();
    let first = file.line_index(start);
    if file.line_index(end.saturating_sub(1).max(start)) - first >= most_lines {
        end = content(file, first).end.max(start);
    }
    if end == start {
        let line_end = content(file, first).end;
        let next = text.get(start..line_end).and_then(|rest| rest.chars().next());
        end += next.map_or(1, char::len_utf8);
    }
    let last = file.line_index((end - 1).min(text.len()).max(start)).max(first);
    (start..end, first..last + 1)
}

/// Returns the byte range of line `index` without its line break.
fn content(file: &SourceFile, index: usize) -> Range<usize> {
    let line = file.line_range(index);
    let text = file.text().get(line.clone()).unwrap_or("");
    line.start..line.start + text.trim_end_matches(['\n', '\r']).len()
}

/// Returns the lines to show: those of the spots and, if `around`, one more on each side, with gaps of one line closed.
fn groups(file: &SourceFile, spots: &[&LabelRange], around: bool) -> Vec<Range<usize>> {
    let mut wanted: BTreeSet<usize> = BTreeSet::new();
    for spot in spots {
        wanted.extend(spot.lines.clone());
        if file.is_guarded() || !around {
            continue;
        }
        let around = [spot.lines.start.checked_sub(1), Some(spot.lines.end)];
        let exists = |line: &usize| *line < file.line_count() && !file.line_range(*line).is_empty();
        wanted.extend(around.into_iter().flatten().filter(exists));
    }
    let mut groups: Vec<Range<usize>> = Vec::new();
    for line in wanted {
        match groups.last_mut() {
            Some(group) if line <= group.end + usize::from(around) => group.end = line + 1,
            _ => groups.push(line..line + 1),
        }
    }
    groups
}

/// Writer of the lines of a file into an excerpt.
struct LineWriter<'a> {
    file: &'a SourceFile,
    here: &'a [&'a LabelRange],
    room: usize,
    ellipsis: &'a str,
}

impl LineWriter<'_> {
    /// Appends `line`, shortened if it is too long, and returns the ranges of the file with their new positions.
    fn write(&self, line: usize, text: &mut String) -> Vec<(Range<usize>, usize)> {
        let content = content(self.file, line);
        let mut written = Vec::new();
        let mut at = content.start;
        for stretch in self.stretches(line, &content) {
            if at < stretch.start {
                text.push_str(self.ellipsis);
            }
            at = stretch.end;
            written.push((stretch.clone(), text.len()));
            let kept = self.file.text().get(stretch).unwrap_or("");
            text.extend(shown(kept));
        }
        if at < content.end {
            text.push_str(self.ellipsis);
        }
        if self
            .here
            .iter()
            .any(|spot| spot.range.start <= content.end && content.end < spot.range.end)
        {
            // A label at the end of the line gets a space to mark.
            written.push((content.end..content.end + 1, text.len()));
            text.push(' ');
        }
        text.push('\n');
        written
    }

    /// Returns the parts of the line to keep: all of it or, if it is too long, windows around the labels.
    fn stretches(&self, line: usize, content: &Range<usize>) -> Vec<Range<usize>> {
        let text = self.file.text();
        let whole = text.get(content.clone()).unwrap_or("");
        // Counting the characters of a huge line for each of its findings would take quadratic time.
        let guarded = self.file.is_guarded();
        if !guarded && whole.len() <= 4 * self.room && width(whole) <= self.room {
            return vec![content.clone()];
        }
        let mut starts: BTreeMap<usize, usize> = BTreeMap::new();
        for spot in self.here.iter().filter(|spot| spot.lines.contains(&line)) {
            let start = spot.range.start.clamp(content.start, content.end);
            let end = spot.range.end.clamp(start, content.end);
            let known = starts.entry(start).or_insert(end);
            *known = end.max(*known);
        }
        if starts.is_empty() {
            starts.insert(content.start, content.start);
        }
        let room = (self.room / starts.len()).max(MIN_ROOM).saturating_sub(4);
        let mut kept: Vec<Range<usize>> = Vec::new();
        for (start, end) in starts {
            if guarded {
                // The text around the label may contain a secret.
                let (length, _) = fitting(text.get(start..end).unwrap_or("").chars(), room);
                match kept.last_mut() {
                    Some(last) if start <= last.end => last.end = (start + length).max(last.end),
                    _ => kept.push(start..start + length),
                }
                continue;
            }
            let (_, marked) = fitting(text.get(start..end).unwrap_or("").chars(), room);
            let before = text.get(content.start..start).unwrap_or("");
            let (kept_before, columns) = fitting(before.chars().rev(), (room - marked) / 3);
            let from = start - kept_before;
            let behind = text.get(start..content.end).unwrap_or("");
            let to = start + fitting(behind.chars(), room - columns).0;
            match kept.last_mut() {
                Some(last) if from <= last.end => last.end = to.max(last.end),
                _ => kept.push(from..to),
            }
        }
        kept
    }
}

/// Returns the number of columns of `text` as drawn.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Returns the number of columns of `character` as drawn.
fn columns(character: char) -> usize {
    match character {
        '\t' => TAB_WIDTH,
        // Replaced characters remain visible.
        _ if is_deceptive(character) => harmless(character).count(),
        _ => character.width().unwrap_or(1),
    }
}

/// Returns the number of bytes of `characters` that fit into `room` columns, and the number of columns that they use.
fn fitting(characters: impl Iterator<Item = char>, room: usize) -> (usize, usize) {
    let (mut bytes, mut taken) = (0, 0);
    for character in characters {
        let next = taken + columns(character);
        if next > room {
            break;
        }
        bytes += character.len_utf8();
        taken = next;
    }
    (bytes, taken)
}

/// Replaces control sequences in `text` by visible characters of the same length.
fn shown(text: &str) -> impl Iterator<Item = char> {
    let mut before = ' ';
    text.char_indices().flat_map(move |(at, character)| {
        let is_mark = ends_mark(before, text.get(at..).unwrap_or(""));
        before = character;
        harmless(if is_mark { '?' } else { character })
    })
}

/// Returns `character` or, if it would control the terminal, visible characters of the same length in bytes.
fn harmless(character: char) -> impl Iterator<Item = char> {
    let (shown, count) = match character.len_utf8() {
        _ if character == '\t' || !is_deceptive(character) => (character, 1),
        3 => ('\u{fffd}', 1),
        length => ('?', length),
    };
    std::iter::repeat_n(shown, count)
}
