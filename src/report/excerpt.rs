//! The lines around a finding's labels, cut down to what a terminal can show.
//!
//! The drawing library walks whole files, prints whole lines, and draws from one source: here the few lines
//! that matter, of one file or several, become one small text of their own, with the labels moved into it.
//! So a minified template of one line, an escape sequence or a label at the end of a file draw like any other.

use super::printable;
use super::printable::{ends_mark, is_deceptive};
use crate::diagnostic::Label;
use crate::source::{Position, SourceFile, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use unicode_width::UnicodeWidthChar;

/// Labels beyond this many are not drawn.
const MOST_LABELS: usize = 12;
/// How much of a file is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Lines before and after each label.
    pub(super) around: bool,
    /// A label over more lines than this marks its first line only.
    pub(super) most_lines: usize,
    /// Columns of a line.
    pub(super) room: usize,
}
/// The least room for each of several labels in one long line, in characters.
const LEAST_ROOM: usize = 24;
/// The columns of a tab.
pub(super) const TAB_WIDTH: usize = 4;

/// Consecutive lines of one file.
#[derive(Debug)]
pub(super) struct Group {
    /// The file, as people read it.
    pub(super) name: String,
    /// The file itself.
    pub(super) file: Arc<SourceFile>,
    /// The number of the first line, from 0.
    pub(super) first_line: usize,
    /// Their place in the excerpt.
    pub(super) range: Range<usize>,
}

/// A label, moved into the excerpt.
#[derive(Debug)]
pub(super) struct Mark {
    /// Its place in the excerpt; never empty.
    pub(super) range: Range<usize>,
    /// Its start in its file.
    pub(super) position: Position,
    /// The text of the label.
    pub(super) message: String,
    /// True if it is the line the user would edit.
    pub(super) primary: bool,
}

/// The lines around labels.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    /// All groups, one after the other.
    pub(super) text: String,
    /// In the order of the text.
    pub(super) groups: Vec<Group>,
    /// The labels, primary first.
    pub(super) marks: Vec<Mark>,
    /// The number of labels that were left out.
    pub(super) left_out: usize,
}

/// A label's place in its file, on character boundaries.
struct Spot {
    /// Its file, by its place among those of the excerpt.
    file: usize,
    range: Range<usize>,
    lines: Range<usize>,
    message: String,
    primary: bool,
}

/// A stretch of a file that the excerpt holds.
struct Piece {
    file: usize,
    from: Range<usize>,
    to: usize,
}

impl Excerpt {
    /// The lines that `labels` lie on.
    pub(super) fn new(sources: &Sources, labels: &[Label], extent: Extent, ellipsis: &str) -> Excerpt {
        let (files, spots) = spots(sources, labels, extent.most_lines);
        let mut excerpt = Excerpt {
            left_out: labels.len().saturating_sub(MOST_LABELS),
            ..Excerpt::default()
        };
        let mut pieces = Vec::new();
        for (at, file) in files.iter().enumerate() {
            let here: Vec<&Spot> = spots.iter().filter(|spot| spot.file == at).collect();
            let mut groups = groups(file, &here, extent.around);
            // The line to edit comes first, wherever it lies in its file.
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
                        pieces.push(Piece { file: at, from, to });
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
                    primary: spot.primary,
                })
            })
            .collect();
        excerpt
    }
}

/// The place of `spot` in the excerpt, without the part that was cut from its end.
fn moved(pieces: &[Piece], spot: &Spot) -> Option<Range<usize>> {
    let inside = |piece: &&Piece| {
        piece.file == spot.file && piece.from.start < spot.range.end && spot.range.start < piece.from.end
    };
    let first = pieces.iter().find(inside)?;
    let last = pieces.iter().rev().find(inside)?;
    let start = first.to + spot.range.start.saturating_sub(first.from.start);
    let end = last.to + (spot.range.end.min(last.from.end) - last.from.start);
    (start < end).then_some(start..end)
}

/// The files in the order of their first label, and the labels as places in them.
fn spots(sources: &Sources, labels: &[Label], most_lines: usize) -> (Vec<Arc<SourceFile>>, Vec<Spot>) {
    let mut ids = Vec::new();
    let mut files: Vec<Arc<SourceFile>> = Vec::new();
    let mut spots: Vec<Spot> = Vec::new();
    for label in labels.iter().take(MOST_LABELS) {
        let at = ids.iter().position(|id| *id == label.span.file).unwrap_or_else(|| {
            ids.push(label.span.file);
            files.push(sources.file(label.span.file));
            ids.len() - 1
        });
        let Some(file) = files.get(at) else { continue };
        let (range, lines) = settle(file, label.span.range(), most_lines);
        let message = printable(&label.message);
        match spots.iter_mut().find(|spot| spot.file == at && spot.range == range) {
            // Two labels in one place would be drawn side by side, far from it.
            Some(same) => same.message = format!("{}; {message}", same.message),
            None => spots.push(Spot {
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

/// `range` within the text, on character boundaries, without the line break at its end, covering at least one
/// byte (past the end of the line, where nothing is left to cover); and the lines it lies on.
fn settle(file: &SourceFile, range: Range<usize>, most_lines: usize) -> (Range<usize>, Range<usize>) {
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

/// The bytes of line `index` without its line break.
fn content(file: &SourceFile, index: usize) -> Range<usize> {
    let line = file.line_range(index);
    let text = file.text().get(line.clone()).unwrap_or("");
    line.start..line.start + text.trim_end_matches(['\n', '\r']).len()
}

/// The lines to show: those of the spots, and with what stands `around` them one more each, gaps of one line closed.
fn groups(file: &SourceFile, spots: &[&Spot], around: bool) -> Vec<Range<usize>> {
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

/// Writes lines of one file into an excerpt.
struct LineWriter<'a> {
    file: &'a SourceFile,
    here: &'a [&'a Spot],
    room: usize,
    ellipsis: &'a str,
}

impl LineWriter<'_> {
    /// Appends `line`, cut where it is too long, and says which stretches of the file went where.
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
            // A label on the end of the line gets a blank to stand on.
            written.push((content.end..content.end + 1, text.len()));
            text.push(' ');
        }
        text.push('\n');
        written
    }

    /// The parts of the line that are kept: all of it, or windows around the labels if it is too long.
    fn stretches(&self, line: usize, content: &Range<usize>) -> Vec<Range<usize>> {
        let text = self.file.text();
        let whole = text.get(content.clone()).unwrap_or("");
        // Counting characters of a huge line for each of its findings would be quadratic.
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
        let room = (self.room / starts.len()).max(LEAST_ROOM).saturating_sub(4);
        let mut kept: Vec<Range<usize>> = Vec::new();
        for (start, end) in starts {
            if guarded {
                // What stands around the label may be a secret.
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

/// The columns that `text` takes as it is drawn.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The columns that a terminal gives to `character` as it is drawn here.
fn columns(character: char) -> usize {
    match character {
        '\t' => TAB_WIDTH,
        // What is replaced stays visible.
        _ if is_deceptive(character) => harmless(character).count(),
        _ => character.width().unwrap_or(1),
    }
}

/// The number of bytes of `characters` that fit into `room` columns, and the columns that they take.
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

/// `text` with something visible of the same length in place of what would be obeyed.
fn shown(text: &str) -> impl Iterator<Item = char> {
    let mut before = ' ';
    text.char_indices().flat_map(move |(at, character)| {
        let is_mark = ends_mark(before, text.get(at..).unwrap_or(""));
        before = character;
        harmless(if is_mark { '?' } else { character })
    })
}

/// `character`, or, where a terminal would obey it, something visible of the same length in bytes.
fn harmless(character: char) -> impl Iterator<Item = char> {
    let (shown, count) = match character.len_utf8() {
        _ if character == '\t' || !is_deceptive(character) => (character, 1),
        3 => ('\u{fffd}', 1),
        length => ('?', length),
    };
    std::iter::repeat_n(shown, count)
}
