//! Comments behind code on consecutive lines, which `terraform fmt` aligns: what edits of the code do to them.
//!
//! Where they were aligned they are again; where the author put them elsewhere they stay. Which edits are made, and
//! why, is not known here.

use super::super::super::comments::Syntax;
use super::super::syntax;
use crate::diagnostic::Edit;
use crate::source::{FileId, SourceFile, Sources, Span};
use std::collections::BTreeSet;
use std::ops::Range;

/// The further edits that align comments after `edits`.
pub(in crate::frontend) fn realigned(edits: &[Edit], sources: &Sources) -> Vec<Edit> {
    let files: BTreeSet<FileId> = edits.iter().map(|edit| edit.span.file).collect();
    let of_file = files.into_iter().flat_map(|id| {
        let file = sources.file(id);
        if Syntax::of(file.name()) != Some(Syntax::Hcl) {
            return Vec::new();
        }
        let mut lines = Lines::of(&file);
        for edit in edits.iter().filter(|edit| edit.span.file == id) {
            lines.make(edit, &file);
        }
        lines.gaps(id)
    });
    of_file.collect()
}

/// The space between code and comment.
#[derive(Debug, Clone)]
struct Gap {
    range: Range<usize>,
    /// How wide the code is.
    width: usize,
}

/// One line, and what becomes of it.
#[derive(Debug, Default)]
struct Line {
    gap: Option<Gap>,
    /// By how much its code grows.
    growth: isize,
    is_removed: bool,
    /// Whether its comment goes, or may.
    is_lost: bool,
    /// Whether something comes before it.
    is_parted: bool,
}

impl Line {
    fn new_width(&self) -> usize {
        self.gap
            .as_ref()
            .map_or(0, |gap| gap.width.saturating_add_signed(self.growth))
    }
}

struct Lines(Vec<Line>);

impl Lines {
    fn of(file: &SourceFile) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        lines.resize_with(file.line_count(), Line::default);
        let (comments, _) = syntax::traced(file.text());
        for comment in comments {
            let at = file.line_index(comment.range.start);
            let text = |range: Range<usize>| file.text().get(range).unwrap_or("");
            let code = text(file.line_range(at).start..comment.range.start).trim_end();
            // Others are not aligned.
            let is_to_the_end =
                text(comment.range.clone()).starts_with(['#', '/']) && !text(comment.range.clone()).starts_with("/*");
            if let Some(line) = lines.get_mut(at).filter(|_| is_to_the_end && !code.is_empty()) {
                line.gap = Some(Gap {
                    range: file.line_range(at).start + code.len()..comment.range.start,
                    width: code.chars().count(),
                });
            }
        }
        Lines(lines)
    }

    /// Notes what `edit` does.
    fn make(&mut self, edit: &Edit, file: &SourceFile) {
        let range = edit.span.range();
        let (first, last) = (file.line_index(range.start), file.line_index(range.end));
        let is_at_start = |line: usize| file.line_range(line).start;
        let is_whole = is_at_start(first) == range.start && is_at_start(last) == range.end;
        let is_text_whole = edit.text.is_empty() || edit.text.ends_with('\n');
        if is_whole && is_text_whole {
            for line in self.0.get_mut(first..last).unwrap_or_default() {
                line.is_removed = true;
            }
            if let Some(next) = self.0.get_mut(last).filter(|_| !edit.text.is_empty()) {
                next.is_parted = true;
            }
            return;
        }
        let old = file.text().get(range.clone()).unwrap_or("");
        if first == last && !edit.text.contains('\n') {
            let Some(line) = self.0.get_mut(first) else { return };
            let Some(gap) = &line.gap else { return };
            if range.end <= gap.range.start {
                let width = |text: &str| isize::try_from(text.chars().count()).unwrap_or(0);
                line.growth += width(&edit.text) - width(old);
            } else if range.start <= gap.range.end {
                line.is_lost = true;
            }
            return;
        }
        for line in self.0.get_mut(first..=last).unwrap_or_default() {
            line.is_lost = true;
        }
    }

    /// The edits of the gaps that are not as wide as they ought to be.
    fn gaps(&self, file: FileId) -> Vec<Edit> {
        let before: Vec<&[Line]> = self.0.chunk_by(|a, b| a.gap.is_some() && b.gap.is_some()).collect();
        let mut runs: Vec<Vec<&Line>> = vec![Vec::new()];
        // Whether each comment was aligned, by the beginning of its gap.
        let mut astray = BTreeSet::new();
        for run in before {
            let column = run
                .iter()
                .filter_map(|line| line.gap.as_ref())
                .map(|gap| gap.width + 1)
                .max();
            let is_aligned = |gap: &Gap| Some(gap.width + gap.range.len()) == column;
            if !run.iter().filter_map(|line| line.gap.as_ref()).all(is_aligned) {
                astray.extend(run.iter().filter_map(|line| Some(line.gap.as_ref()?.range.start)));
            }
        }
        for line in self.0.iter().filter(|line| !line.is_removed) {
            let goes_on = line.gap.is_some() && !line.is_lost;
            if !goes_on || line.is_parted {
                runs.push(Vec::new());
            }
            if let Some(run) = runs.last_mut().filter(|_| goes_on) {
                run.push(line);
            }
        }
        let mut edits = Vec::new();
        for run in runs {
            let gaps = || run.iter().filter_map(|line| Some((*line, line.gap.as_ref()?)));
            if gaps().any(|(_, gap)| astray.contains(&gap.range.start)) {
                continue;
            }
            let widest = run.iter().map(|line| line.new_width()).max().unwrap_or(0);
            edits.extend(gaps().filter_map(|(line, gap)| {
                let wanted = widest + 1 - line.new_width();
                (wanted != gap.range.len()).then(|| Edit {
                    span: Span::new(file, gap.range.clone()),
                    text: " ".repeat(wanted),
                })
            }));
        }
        edits
    }
}
