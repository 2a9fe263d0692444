//! The report for people: miette's drawing of the places, with the arithmetic and the advice below.
//!
//! The only module that knows miette. It is given an `Excerpt`, never a file.

use super::excerpt::{self, Excerpt, TAB_WIDTH};
use super::place::Paths;
use super::{Report, links, printable, prose, suppressed};
use crate::diagnostic::{Diagnostic, Severity};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan,
    SpanContents, ThemeCharacters, ThemeStyles,
};
use owo_colors::XtermColors;
use std::fmt::{self, Write};
use std::io;
use unicode_width::UnicodeWidthStr;

/// Below this a snippet shows nothing useful.
const LEAST_WIDTH: usize = 40;
/// Above this prose is hard to read.
const MOST_WIDTH: usize = 160;
/// The columns of a snippet that line numbers and gutter take.
const GUTTER: usize = 10;

/// The colour of what stands below a drawing.
const NOTE_COLOR: u8 = 31;

/// The look of the report.
// Each is about one thing that a terminal may not show.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns.
    pub width: usize,
    /// True to colour.
    pub color: bool,
    /// True if the terminal shows more than ASCII.
    pub unicode: bool,
    /// True to draw the places; prose alone otherwise.
    pub graphics: bool,
    /// True to make paths links to their files.
    pub links: bool,
}

/// The findings, drawn one below the other.
pub fn write(report: &Report<'_>, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
    let style = Style {
        width: style.width.clamp(LEAST_WIDTH, MOST_WIDTH),
        ..style
    };
    let mut put = |text: &str| {
        if style.unicode {
            out.write_all(text.as_bytes())
        } else {
            out.write_all(in_ascii(text).as_bytes())
        }
    };
    for found in report.findings {
        let mut text = String::new();
        if style.graphics {
            draw(&mut text, report, found, style);
        } else {
            prose::write_linked(&mut text, report, found, Paths::Shown, style.links);
        }
        put(&text)?;
        put("\n")?;
    }
    for line in suppressed::lines(report) {
        put(&line)?;
        put("\n")?;
    }
    Ok(())
}

fn draw(text: &mut String, report: &Report<'_>, found: &Diagnostic, style: Style) {
    let ellipsis = if style.unicode { "…" } else { "..." };
    let mut excerpt = Excerpt::new(report.sources, found.labels(), style.width - GUTTER, ellipsis);
    wrap_labels(&mut excerpt, style.width);
    for group in &mut excerpt.groups {
        group.name = links::to_file(&group.name, &group.file, style.links);
    }
    let rule = links::to_page(found.rule, report.page(found.rule).filter(|_| style.links));
    let drawing = Drawing {
        excerpt,
        found,
        rule,
        bold: style.color,
    };
    let handler = GraphicalReportHandler::new_themed(theme(style))
        .with_links(false)
        .with_width(style.width)
        .with_break_words(false)
        .without_syntax_highlighting()
        .tab_width(TAB_WIDTH);
    let start = text.len();
    if handler.render_report(text, &drawing).is_err() {
        // What cannot be drawn is still said.
        text.truncate(start);
        prose::write(text, report, found, Paths::Shown);
        return;
    }
    for (name, note) in prose::notes(found, drawing.excerpt.left_out) {
        write_note(text, name, &note, style);
    }
}

/// Breaks what the labels say into lines that end before `width`, wherever the label hangs.
fn wrap_labels(excerpt: &mut Excerpt, width: usize) {
    /// With less room than this, a line that is too long reads better than many short ones.
    const LEAST: usize = 12;
    let last = excerpt
        .groups
        .iter()
        .map(|group| group.first_line + group.line_count)
        .max();
    let gutter = last.unwrap_or(1).to_string().len() + " │ ╰── ".width() + 1;
    let Excerpt { text, marks, .. } = excerpt;
    for mark in marks {
        let line_start = text
            .get(..mark.range.start)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |at| at + 1);
        let before = excerpt::width(text.get(line_start..mark.range.start).unwrap_or(""));
        let marked = text.get(mark.range.clone()).unwrap_or("").trim_end();
        // Over several lines, it hangs from the last of them at the left edge.
        let column = if marked.contains('\n') {
            2
        } else {
            before + excerpt::width(marked) / 2
        };
        let longest = mark.message.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
        let fitting = width.saturating_sub(gutter + longest);
        let column = if fitting < column && column > 2 {
            // Marked less, it hangs further left, where its longest word fits.
            mark.range.end = mark.range.start + head(marked, 2 * fitting.saturating_sub(before) + 1).len();
            fitting.max(before)
        } else {
            column
        };
        mark.message = wrapped(&mark.message, width.saturating_sub(gutter + column).max(LEAST));
    }
}

/// The beginning of `text`, not wider than `room`, but never nothing of something.
fn head(text: &str, room: usize) -> &str {
    let ends = text.char_indices().map(|(at, character)| at + character.len_utf8());
    let fitting = ends
        .enumerate()
        .take_while(|(index, end)| *index == 0 || excerpt::width(text.get(..*end).unwrap_or("")) <= room);
    let end = fitting.last().map_or(0, |(_, end)| end);
    text.get(..end).unwrap_or(text)
}

/// `text` with line breaks, no line wider than `room` that has a blank in it.
pub fn wrapped(text: &str, room: usize) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut column = 0;
    for word in text.split(' ') {
        if column > 0 && column + 1 + word.width() > room {
            lines.push('\n');
            column = 0;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += word.width();
    }
    lines
}

/// `  name: text`, with the text indented under itself where it needs several lines.
fn write_note(text: &mut String, name: &str, note: &str, style: Style) {
    if style.color {
        let _ = write!(text, "  \u{1b}[38;5;{NOTE_COLOR}m{name}:\u{1b}[0m");
    } else {
        let _ = write!(text, "  {name}:");
    }
    let mut column = name.len() + 3;
    for word in note.split(' ') {
        let width = word.width() + 1;
        if column + width > style.width && column > prose::INDENT {
            let _ = write!(text, "\n{:1$}", "", prose::INDENT - 1);
            column = prose::INDENT - 1;
        }
        let _ = write!(text, " {word}");
        column += width;
    }
    text.push('\n');
}

fn theme(style: Style) -> GraphicalTheme {
    let mut characters = if style.unicode {
        ThemeCharacters::unicode()
    } else {
        ThemeCharacters::ascii()
    };
    if style.unicode {
        // miette's signs for warnings and advice are drawn twice as wide by some terminals.
        "×".clone_into(&mut characters.error);
        "!".clone_into(&mut characters.warning);
        "i".clone_into(&mut characters.advice);
    }
    GraphicalTheme {
        characters,
        styles: if style.color { colors() } else { ThemeStyles::none() },
    }
}

/// Colours of the fixed palette that read on black as on white, with a contrast of 4:1 or more on each: the first
/// sixteen are what a terminal makes of them, and its yellow on white nobody can read.
fn colors() -> ThemeStyles {
    let of = |number: u8| owo_colors::Style::new().color(XtermColors::from(number));
    ThemeStyles {
        error: of(196).bold(),
        warning: of(130).bold(),
        advice: of(NOTE_COLOR).bold(),
        help: of(NOTE_COLOR),
        // Not underlined: names of files are full of underscores.
        link: of(NOTE_COLOR).bold(),
        linum: owo_colors::Style::new().dimmed(),
        highlights: vec![of(163).bold(), of(63).bold(), of(28).bold()],
    }
}

/// Signs of our own sentences, for terminals that show ASCII only. What the files hold stays as it is.
fn in_ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '×' => plain.push('x'),
            '≥' => plain.push_str(">="),
            '≤' => plain.push_str("<="),
            '→' => plain.push_str("->"),
            '…' => plain.push_str("..."),
            '–' | '−' => plain.push('-'),
            _ => plain.push(character),
        }
    }
    plain
}

/// One finding as miette wants to see it.
#[derive(Debug)]
struct Drawing<'a> {
    excerpt: Excerpt,
    found: &'a Diagnostic,
    /// Its rule, perhaps as a link.
    rule: String,
    /// True if the headline stands out.
    bold: bool,
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headline = printable(&self.found.headline);
        if !self.bold {
            return f.write_str(&headline);
        }
        // Each word by itself: the headline is broken into lines, and what stands before each is not bold.
        for (at, word) in headline.split(' ').enumerate() {
            let gap = if at == 0 { "" } else { " " };
            write!(f, "{gap}\u{1b}[1m{word}\u{1b}[0m")?;
        }
        Ok(())
    }
}

impl std::error::Error for Drawing<'_> {}

impl miette::Diagnostic for Drawing<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!("{}[{}]", self.found.severity, self.rule)))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.found.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        })
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.excerpt.marks.iter().map(|mark| {
            let message = Some(mark.message.clone()).filter(|message| !message.is_empty());
            let span = (mark.range.start, mark.range.len());
            if mark.primary {
                LabeledSpan::new_primary_with_span(message, span)
            } else {
                LabeledSpan::new_with_span(message, span)
            }
        })))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }
}

impl SourceCode for Excerpt {
    /// The whole group that `span` lies in, or, without context, `span` with the place it has in its file:
    /// from that the header `[file:line:column]` is drawn. A span over two groups is refused, so that two
    /// groups are never drawn as one.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_before: usize,
        context_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let holds = |group: &&super::excerpt::Group| group.range.start <= start && end <= group.range.end;
        let group = self.groups.iter().find(holds).ok_or(MietteError::OutOfBounds)?;
        let exact = context_before == 0 && context_after == 0;
        let range = if exact { start..end } else { group.range.clone() };
        let data = self.text.get(range.clone()).ok_or(MietteError::OutOfBounds)?;
        let mark = self.marks.iter().find(|mark| exact && mark.range.start == start);
        let (line, column) = mark.map_or((group.first_line, 0), |mark| {
            (mark.position.line as usize - 1, mark.position.column as usize - 1)
        });
        let span = SourceSpan::new(range.start.into(), range.len());
        Ok(Box::new(MietteSpanContents::new_named(
            group.name.clone(),
            data.as_bytes(),
            span,
            line,
            column,
            group.line_count,
        )))
    }
}
