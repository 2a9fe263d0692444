//! Draws a finding on a terminal, in two lines per location.
//!
//! Only the theme is miette's: its handlers draw a box with a header, a footer and context around each location, which
//! are six lines for what fits into two.

use super::Style;
use crate::diagnostic::{Diagnostic, Severity};
use crate::report::excerpt::{self, Excerpt, Mark};
use crate::report::wrapped::words;
use miette::{GraphicalTheme, ThemeCharacters, ThemeStyles};
use owo_colors::XtermColors;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Indentation of everything but headlines.
const INDENT: usize = 2;
/// Minimum room next to an underline; with less, the message is placed below it.
const MIN_BESIDE: usize = 28;
/// Minimum length to which an underline is shortened to make room for its message.
const MIN_UNDERLINE: usize = 3;
/// Maximum length of a name that has already been written out; longer ones are shortened.
const MAX_NAME: usize = 32;
/// Colour of the names of notes.
const NOTE: u8 = 31;
/// Colours of removed and added lines.
const REMOVED: u8 = 160;
const ADDED: u8 = 28;

/// Drawing style.
pub(super) struct Renderer {
    style: Style,
    theme: GraphicalTheme,
}

impl Renderer {
    pub(super) fn new(style: Style) -> Renderer {
        Renderer {
            style,
            theme: theme(style),
        }
    }

    /// Draws the headline and the locations.
    pub(super) fn draw(&self, text: &mut String, drawing: &Drawing<'_>) {
        self.headline(text, drawing);
        let excerpt = &drawing.excerpt;
        // The excerpt starts with the line to edit and its file.
        let mut marks: Vec<&Mark> = excerpt.marks.iter().collect();
        marks.sort_by_key(|mark| mark.range.start);
        let places: Vec<PlacedLabel<'_>> = (marks.iter())
            .filter_map(|mark| PlacedLabel::of(mark, excerpt))
            .collect();
        let last = places.iter().map(|place| place.line).max().unwrap_or(1);
        let gutter = last.to_string().len();
        let mut file = None;
        let mut line = None;
        for (at, place) in places.iter().enumerate() {
            if file != Some(place.file) {
                let path = self.colored(NOTE, place.file);
                let _ = writeln!(text, "{:INDENT$}{path}:{}:{}", "", place.line, place.column);
                (file, line) = (Some(place.file), None);
            }
            if line != Some(place.line) {
                let number = format!("{:>gutter$}", place.line);
                let shown = place.text.replace('\t', &" ".repeat(excerpt::TAB_WIDTH));
                let _ = writeln!(
                    text,
                    "{:INDENT$}{} {} {}",
                    "",
                    self.dimmed(&number),
                    self.bar(),
                    shown.trim_end()
                );
                line = Some(place.line);
            }
            self.label(text, place, gutter, at);
        }
    }

    fn headline(&self, text: &mut String, drawing: &Drawing<'_>) {
        let severity = drawing.found.severity;
        let code = format!("{severity}[{}]", drawing.rule);
        let color = match severity {
            Severity::Error => self.theme.styles.error,
            Severity::Warning => self.theme.styles.warning,
            Severity::Info => self.theme.styles.advice,
        };
        let _ = write!(text, "{}:", self.styled(color, &code));
        let mut column = visible(&code) + 1;
        for word in words(drawing.headline) {
            let width = word.width() + 1;
            if column + width > self.style.width && column > INDENT {
                let _ = write!(text, "\n{:1$}", "", INDENT - 1);
                column = INDENT - 1;
            }
            // Words are styled individually, so that the indentation between them is not bold.
            let word = if self.style.color {
                format!("\u{1b}[1m{word}\u{1b}[0m")
            } else {
                word
            };
            let _ = write!(text, " {word}");
            column += width;
        }
        text.push('\n');
    }

    /// Draws the underline of a location with its message, on one line if that fits.
    fn label(&self, text: &mut String, place: &PlacedLabel<'_>, gutter: usize, index: usize) {
        let colors = &self.theme.styles.highlights;
        let color = colors.get(index % colors.len().max(1)).copied().unwrap_or_default();
        let room = self.style.width.saturating_sub(INDENT + gutter + 3);
        let before = INDENT + gutter + 1;
        let said = place.message.width();
        let beside = room.saturating_sub(place.start + 1);
        let underline = if place.length + said <= beside {
            place.length
        } else {
            beside
                .saturating_sub(said)
                .clamp(MIN_UNDERLINE, place.length.max(MIN_UNDERLINE))
                .min(place.length)
        };
        let mark = self.theme.characters.underline.to_string().repeat(underline.max(1));
        let start = place.start;
        let column = start + underline + 1;
        let fits = said <= room.saturating_sub(column);
        let (column, first) = if fits || room.saturating_sub(column) >= MIN_BESIDE {
            (column, true)
        } else {
            (start.min(room / 3), false)
        };
        let lines = wrapped(place.message, room.saturating_sub(column).max(MIN_BESIDE / 2));
        let mut lines = lines.lines();
        let beside = if first { lines.next().unwrap_or("") } else { "" };
        let mark = self.styled(color, format!("{mark} {beside}").trim_end());
        let _ = writeln!(text, "{:before$}{} {:start$}{mark}", "", self.bar(), "");
        for line in lines {
            let _ = writeln!(
                text,
                "{:before$}{} {:column$}{}",
                "",
                self.bar(),
                "",
                self.styled(color, line)
            );
        }
    }

    /// Writes `  name: text`, with continuation lines indented.
    pub(super) fn note(&self, text: &mut String, name: &str, note: &str) {
        let _ = write!(text, "{:INDENT$}{}", "", self.colored(NOTE, &format!("{name}:")));
        let hanging = INDENT + 6;
        let mut column = INDENT + visible(name) + 1;
        for word in note.split(' ') {
            let width = word.width() + 1;
            if column + width > self.style.width && column > hanging {
                let _ = write!(text, "\n{:1$}", "", hanging - 1);
                column = hanging - 1;
            }
            let _ = write!(text, " {word}");
            column += width;
        }
        text.push('\n');
    }

    /// Formats the lines of a fix, with the flags that apply it after the last line.
    pub(super) fn change(&self, lines: &[(char, String)], how: &str) -> String {
        const NAME: &str = "fix: ";
        let ellipsis = if self.style.unicode { "…" } else { "..." };
        let room = self.style.width.saturating_sub(INDENT + NAME.len() + 2);
        let mut text = String::new();
        let mut last = 0;
        let same = common_start(lines);
        for (at, (sign, line)) in lines.iter().enumerate() {
            let line = cut_around(line, same, room, ellipsis);
            last = line.width();
            let name = if at == 0 { NAME } else { "     " };
            let color = if *sign == '-' { REMOVED } else { ADDED };
            let line = self.colored(color, format!("{sign} {line}").trim_end());
            let gap = if at == 0 { "" } else { "\n" };
            let _ = write!(text, "{gap}{:INDENT$}{}{line}", "", self.colored(NOTE, name));
        }
        let how = format!("({how})");
        if last + 2 + how.width() > room {
            let _ = write!(text, "\n{:1$}", "", INDENT + NAME.len() + 2);
        } else {
            text.push_str("  ");
        }
        text + &how + "\n"
    }

    fn bar(&self) -> char {
        self.theme.characters.vbar
    }

    fn dimmed(&self, text: &str) -> String {
        self.styled(self.theme.styles.linum, text)
    }

    fn colored(&self, color: u8, text: &str) -> String {
        self.styled(owo_colors::Style::new().color(XtermColors::from(color)), text)
    }

    fn styled(&self, style: owo_colors::Style, text: &str) -> String {
        if self.style.color && !text.is_empty() {
            format!("{}", style.style(text))
        } else {
            text.to_owned()
        }
    }
}

/// Label on its line.
struct PlacedLabel<'l> {
    file: &'l str,
    /// Line, counted from 1.
    line: usize,
    /// Column, counted from 1, in characters of the file.
    column: usize,
    /// Text of the line.
    text: &'l str,
    /// Number of columns before the label, and of the label itself.
    start: usize,
    length: usize,
    message: &'l str,
}

impl<'l> PlacedLabel<'l> {
    fn of(mark: &'l Mark, excerpt: &'l Excerpt) -> Option<PlacedLabel<'l>> {
        let at = mark.range.start;
        let group = excerpt.groups.iter().find(|group| group.range.contains(&at))?;
        let before = excerpt.text.get(..at)?;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let marked = excerpt.text.get(mark.range.clone()).unwrap_or("");
        let marked = marked.split('\n').next().unwrap_or("");
        Some(PlacedLabel {
            file: &group.name,
            line: mark.position.line as usize,
            column: mark.position.column as usize,
            text: excerpt.text.get(start..)?.split('\n').next()?,
            start: excerpt::width(before.get(start..)?),
            length: excerpt::width(marked).max(1),
            message: &mark.message,
        })
    }
}

/// Finding with the lines that it is drawn on.
pub(super) struct Drawing<'a> {
    pub(super) excerpt: Excerpt,
    pub(super) found: &'a Diagnostic,
    /// Its headline, printable.
    pub(super) headline: &'a str,
    /// Rule id, optionally as a link.
    pub(super) rule: String,
}

/// Breaks `text` into lines of at most `room` columns, between words. The indentation of the text is repeated on each
/// line.
pub fn wrapped(text: &str, room: usize) -> String {
    let rest = text.trim_start_matches(' ');
    let indent = text.len() - rest.len();
    let blanks = " ".repeat(indent);
    let mut lines = String::with_capacity(text.len());
    lines.push_str(&blanks);
    let mut column = indent;
    for word in words(rest) {
        if column > indent && column + 1 + word.width() > room {
            lines.push('\n');
            lines.push_str(&blanks);
            column = indent;
        } else if column > indent {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(&word);
        column += word.width();
    }
    lines
}

/// Returns the number of columns of a text, not counting the escape sequences of links.
fn visible(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    // A link consists of two escape sequences around its text: `ESC ]8;;ADDRESS ESC \\ text ESC ]8;; ESC \\`.
    let shown = parts.filter_map(|part| part.strip_prefix('\\'));
    first + shown.map(UnicodeWidthStr::width).sum::<usize>()
}

/// Cuts `text` off at `room` columns.
fn cut(text: &str, room: usize, ellipsis: &str) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    head(text, room.saturating_sub(ellipsis.width())).to_owned() + ellipsis
}

/// Returns the length in bytes of the common start of the two lines of a change; 0 unless there are exactly two lines.
fn common_start(lines: &[(char, String)]) -> usize {
    let [(_, one), (_, other)] = lines else { return 0 };
    let mut both = one.char_indices().zip(other.chars());
    let differs = both.find(|((_, one), other)| one != other);
    differs.map_or(one.len().min(other.len()), |((at, _), _)| at)
}

/// Shortens `text` to `room` columns. The start of `text` is cut off if the part after the first `same` bytes would not
/// be visible otherwise.
fn cut_around(text: &str, same: usize, room: usize, ellipsis: &str) -> String {
    let before = text.get(..same).unwrap_or("");
    if text.width() <= room || before.width() < room / 2 {
        return cut(text, room, ellipsis);
    }
    // Two thirds of the room are for the difference and what follows it, and less if that is shorter.
    let behind = text.get(same..).unwrap_or("").width().min(room * 2 / 3);
    let shown = room.saturating_sub(behind + ellipsis.width());
    let mut starts = before.char_indices().map(|(at, _)| at);
    let start = starts.find(|&at| before.get(at..).is_some_and(|rest| rest.width() <= shown));
    let rest = text.get(start.unwrap_or(same)..).unwrap_or("");
    ellipsis.to_owned() + &cut(rest, room.saturating_sub(ellipsis.width()), ellipsis)
}

/// Returns the longest prefix of `text` that fits into `room`.
fn head(text: &str, room: usize) -> &str {
    let ends = text.char_indices().map(|(at, character)| at + character.len_utf8());
    let fitting = ends.take_while(|end| text.get(..*end).is_some_and(|head| head.width() <= room));
    text.get(..fitting.last().unwrap_or(0)).unwrap_or("")
}

/// Shortens long names in the middle of a label's message if `written` contains them in full: in the headline, or on
/// the marked line, which contains the last part of an address.
pub(super) fn shortened(message: &str, written: &str, ellipsis: &str) -> String {
    let is_written = |name: &str| {
        let own = name.rsplit('.').next().unwrap_or(name);
        written.contains(name) || written.contains(own)
    };
    let parts = message.split('`').enumerate().map(|(at, part)| {
        let is_name = at % 2 == 1 && part.width() > MAX_NAME && !part.contains(' ') && !part.starts_with('…');
        if !is_name || !is_written(part) {
            return part.to_owned();
        }
        let start = head(part, MAX_NAME / 3);
        let tail = part.char_indices().map(|(at, _)| part.get(at..).unwrap_or(""));
        let room = MAX_NAME - start.width() - ellipsis.width();
        let mut tail = tail.skip_while(|tail| tail.width() > room);
        format!("{start}{ellipsis}{}", tail.next().unwrap_or(""))
    });
    parts.collect::<Vec<_>>().join("`")
}

fn theme(style: Style) -> GraphicalTheme {
    let mut characters = if style.unicode {
        ThemeCharacters::unicode()
    } else {
        ThemeCharacters::ascii()
    };
    if style.unicode {
        // Some terminals draw miette's symbols for warnings and advice twice as wide.
        "×".clone_into(&mut characters.error);
        "!".clone_into(&mut characters.warning);
        "i".clone_into(&mut characters.advice);
    }
    GraphicalTheme {
        characters,
        styles: if style.color { colors() } else { ThemeStyles::none() },
    }
}

/// Returns colours of the fixed palette with a contrast of at least 4:1 on both black and white. The first sixteen
/// colours depend on the terminal, and their yellow is unreadable on white.
fn colors() -> ThemeStyles {
    let of = |number: u8| owo_colors::Style::new().color(XtermColors::from(number));
    ThemeStyles {
        error: of(196).bold(),
        warning: of(130).bold(),
        advice: of(NOTE).bold(),
        help: of(NOTE),
        // Not underlined, because file names are full of underscores.
        link: of(NOTE).bold(),
        linum: owo_colors::Style::new().dimmed(),
        highlights: vec![of(163).bold(), of(63).bold(), of(28).bold()],
    }
}

/// Replaces symbols in sqslint's own sentences for terminals that only display ASCII. Text from the files is kept.
pub(super) fn in_ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '×' => plain.push('x'),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            '→' => plain.push_str("->"),
            '…' => plain.push_str("..."),
            '–' | '−' => plain.push('-'),
            '·' => plain.push('|'),
            _ => plain.push(character),
        }
    }
    plain
}
