//! Writes the report for people: most severe findings first, each line drawn once, fixes shown as edits.
//!
//! ```text
//! error[visibility-timeout-below-function-timeout]: `aws_sqs_queue.orders` has a visibility timeout of 30 s, …
//!   queues.tf:3:3
//!   3 │   visibility_timeout_seconds = 30
//!     │   ─────────────────────────────── the message becomes visible again after 30 s
//!   calculation: 6 × 280 s + 0 s = 1680 s
//!   fix: - visibility_timeout_seconds = 30
//!        + visibility_timeout_seconds = 1680  (--fix --unsafe-fixes)
//! ```
//!
//! Only `drawing` knows miette, of which it uses the theme.

pub(super) mod change;
mod drawing;
mod names;
mod order;

use super::excerpt::{Excerpt, ExcerptLimits};
use super::region::Paths;
use super::{Report, links, printable, prose, suppressed};
use crate::diagnostic::{Diagnostic, Label, Severity};
pub use drawing::wrapped;
use drawing::{Drawing, Renderer};
use names::Names;
use order::Group;
use rustc_hash::{FxHashMap, FxHashSet};
use source::{FileId, Span};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;

/// Minimum width; narrower excerpts would show nothing useful.
const MIN_WIDTH: usize = 40;
/// Maximum width, beyond which prose is hard to read.
const MAX_WIDTH: usize = 160;
/// Columns that line numbers and gutter take in an excerpt.
const GUTTER: usize = 10;
/// Minimum number of findings for a table of counts; fewer can be counted at a glance.
const FEW: usize = 5;

/// Minimum number of labels with the same text that are drawn as one.
const MANY_EQUAL: usize = 3;

/// Style of the report.
// Each flag is for a separate capability of the terminal.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Width in columns.
    pub width: usize,
    /// `true` to use colours.
    pub color: bool,
    /// `true` if the terminal displays more than ASCII.
    pub unicode: bool,
    /// `true` to draw excerpts, `false` for prose only.
    pub graphics: bool,
    /// `true` to print paths as links to their files.
    pub links: bool,
    /// `true` to show infos, `false` to only count them.
    pub infos: bool,
}

/// Writes the findings, one below the other.
pub fn write(report: &Report<'_>, style: Style, out: &mut dyn io::Write) -> io::Result<()> {
    let style = Style {
        width: style.width.clamp(MIN_WIDTH, MAX_WIDTH),
        ..style
    };
    let mut put = |text: &str| {
        if style.unicode {
            out.write_all(text.as_bytes())
        } else {
            out.write_all(drawing::in_ascii(text).as_bytes())
        }
    };
    let is_shown = |found: &&Diagnostic| style.infos || found.severity > Severity::Info;
    let shown: Vec<&Diagnostic> = report.findings.iter().filter(is_shown).collect();
    let names = Names::of(&shown);
    let mut seen = DrawnLines::default();
    let groups = order::groups(&shown);
    for group in &groups {
        let mut text = String::new();
        if style.graphics {
            draw(&mut text, report, group, &mut seen, &names, style);
        } else {
            for found in group.all() {
                prose::write_linked(&mut text, report, found, Paths::FromWorkingDirectory, style.links);
            }
        }
        put(&text)?;
        put("\n")?;
    }
    for line in suppressed::lines(report) {
        put(&line)?;
        put("\n")?;
    }
    if shown.len() >= FEW {
        put(&order::table(&shown))?;
    }
    let hidden: Vec<&Diagnostic> = report.findings.iter().filter(|found| !is_shown(found)).collect();
    if let Some(last) = ending(groups.first().map(|group| group.first), &hidden) {
        put(&wrapped(&last, style.width))?;
        put("\n")?;
    }
    Ok(())
}

/// Returns hints on commands that show more.
fn ending(worst: Option<&Diagnostic>, hidden: &[&Diagnostic]) -> Option<String> {
    // Another value of an input may make them untrue.
    let labels = hidden.iter().flat_map(|found| found.labels());
    let defaults = labels.filter_map(|label| label.message.strip_prefix("with the default of "));
    let defaults: BTreeSet<&str> = defaults.collect();
    let defaults = match defaults.into_iter().take(MANY_EQUAL).collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => String::new(),
        some => format!(" (with the default of {some})"),
    };
    let counted = match hidden.len() {
        0 => None,
        1 => Some(format!("1 info is not shown{defaults}; `--verbose` shows it")),
        several => Some(format!(
            "{several} infos are not shown{defaults}; `--verbose` shows them"
        )),
    };
    let explained = worst.map(|found| format!("`sqslint explain {}` says why it matters", found.rule));
    let parts: Vec<String> = explained.into_iter().chain(counted).collect();
    (!parts.is_empty()).then(|| parts.join(". "))
}

/// Lines that have been drawn.
#[derive(Default)]
struct DrawnLines(BTreeSet<(FileId, usize)>);

impl DrawnLines {
    /// Returns the labels of a finding to draw, and those whose lines have been drawn; the latter are only referred to.
    fn part(&mut self, found: &Diagnostic, report: &Report<'_>) -> (Vec<Label>, Vec<Label>) {
        let line = |label: &Label| {
            let file = report.sources.file(label.span.file);
            (label.span.file, file.line_index(label.span.start as usize))
        };
        let edited = line(found.primary());
        let is_known = |label: &Label| line(label) != edited && self.0.contains(&line(label));
        let (known, new): (Vec<Label>, Vec<Label>) = folded(found.labels()).into_iter().partition(is_known);
        self.0.extend(new.iter().map(line));
        (new, known)
    }
}

/// Text of a label, or its place and the part of its text that is not in names.
type Key<'l> = (Option<Span>, Vec<&'l str>);

fn by_text(label: &Label) -> Key<'_> {
    (None, vec![&label.message])
}

fn by_place(label: &Label) -> Key<'_> {
    (Some(label.span), order::wording(&label.message))
}

/// Replaces several labels with one text, such as the entries of a mapping that have one value, by the first, and those
/// at one place whose texts differ in names only, such as the instances of a block.
fn folded(labels: &[Label]) -> Vec<Label> {
    let mut counts: FxHashMap<Key<'_>, usize> = FxHashMap::default();
    for label in labels {
        *counts.entry(by_text(label)).or_default() += 1;
        *counts.entry(by_place(label)).or_default() += 1;
    }
    let mut seen = FxHashSet::default();
    let mut all = Vec::new();
    for label in labels {
        let keys = [by_place(label), by_text(label)].map(|key| (counts.get(&key).copied().unwrap_or_default(), key));
        let [(count, key), (equal, text)] = keys;
        let (count, key) = if count > 1 { (count, key) } else { (equal, text) };
        let least = if key.0.is_some() { 2 } else { MANY_EQUAL };
        if count < least {
            all.push(label.clone());
        } else if seen.insert(key) {
            let message = format!("{} (and {} more)", label.message, count - 1);
            all.push(Label {
                message: message.into(),
                ..label.clone()
            });
        }
    }
    all
}

fn draw(
    text: &mut String,
    report: &Report<'_>,
    group: &Group<'_>,
    seen: &mut DrawnLines,
    names: &Names<'_>,
    style: Style,
) {
    let found = group.first;
    let (labels, known) = seen.part(found, report);
    let ellipsis = if style.unicode { "…" } else { "..." };
    let extent = ExcerptLimits {
        around: false,
        most_lines: 1,
        room: style.width - GUTTER,
    };
    let mut excerpt = Excerpt::new(report.sources, &labels, extent, ellipsis);
    for group in &mut excerpt.groups {
        group.name = links::to_file(&group.name, &group.file, style.links);
    }
    let headline = printable(&names.shorten(&found.headline));
    let written = format!("{headline}\n{}", excerpt.text);
    for mark in &mut excerpt.marks {
        mark.message = drawing::shortened(&names.shorten(&mark.message), &written, ellipsis);
    }
    let left_out = excerpt.left_out;
    let look = Renderer::new(style);
    let drawing = Drawing {
        excerpt,
        found,
        headline: &headline,
        rule: links::to_page(&found.rule, report.published.page(&found.rule).filter(|_| style.links)),
    };
    look.draw(text, &drawing);
    for label in known {
        let message = drawing::shortened(&printable(&names.shorten(&label.message)), &headline, ellipsis);
        look.note(text, &location(&label, report, style), &message);
    }
    for (name, note) in prose::notes(found, left_out) {
        look.note(text, name, &names.shorten(&note));
    }
    if let Some(line) = prose::timeline(found) {
        look.note(text, "timeline", &line);
    }
    match change::lines(found, report, &look, &labels) {
        Some(lines) => text.push_str(&lines),
        None => {
            // A fix makes the help redundant, except for its caveat.
            if let Some((name, note)) = prose::advice(found).last() {
                look.note(text, name, &note);
            }
        }
    }
    let remedy = found.remedy.as_deref().filter(|_| found.fix.is_some());
    if let Some(caveat) = remedy.and_then(|remedy| remedy.caveat) {
        look.note(text, "help", caveat);
    }
    let mut told_before = BTreeSet::new();
    for other in &group.others {
        seen.part(other, report);
        let place = location(other.primary(), report, style);
        let mut told = order::difference(found, other);
        if !other.calls.is_empty() {
            let _ = write!(told, " (for {})", prose::calls(other));
        }
        if let Some(root) = other.root().filter(|_| other.root() != found.root()) {
            let _ = write!(told, " (in `{}`)", printable(root));
        }
        match &other.when {
            when if *when == found.when => {}
            Some(when) => {
                let _ = write!(told, " (only if {})", printable(when));
            }
            None => told.push_str(" (always)"),
        }
        if told_before.insert((place.clone(), told.clone())) {
            look.note(text, &format!("also {place}"), &names.shorten(&told));
        }
    }
}

/// Formats `path:line:column`, optionally as a link.
fn location(label: &Label, report: &Report<'_>, style: Style) -> String {
    let file = report.sources.file(label.span.file);
    let at = file.position(label.span.start as usize);
    let mut place = links::to_file(&printable(file.shown()), &file, style.links);
    let _ = write!(place, ":{}:{}", at.line, at.column);
    place
}
