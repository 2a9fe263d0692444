//! Realigns comments at the end of consecutive lines of code after edits, as `terraform fmt` does.
//!
//! Comments that were aligned are aligned again; any others stay unchanged. This module does not know which edits are
//! made, or why.

use crate::diagnostic::Edit;
use crate::frontend::comments::Syntax;
use source::{FileId, SourceFile, Sources, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use terraform::syntax::Trace;

/// Returns the additional edits that align comments after `edits`.
pub(in crate::frontend) fn realigned(edits: &[Edit], sources: &Sources) -> Vec<Edit> {
    let files: BTreeSet<FileId> = edits.iter().map(|edit| edit.span.file).collect();
    let of_file = files.into_iter().flat_map(|id| {
        let file = sources.file(id);
        if Syntax::of(file.name()) != Some(Syntax::Hcl) {
            return Vec::new();
        }
        let of_file = || edits.iter().filter(|edit| edit.span.file == id);
        let start = of_file().map(|edit| edit.span.start as usize).min().unwrap_or(0);
        let end = of_file().map(|edit| edit.span.end as usize).max().unwrap_or(0);
        let mut lines = Lines::of(&file, file.line_index(start)..=file.line_index(end));
        for edit in of_file() {
            lines.make(edit, &file);
        }
        lines.gaps(id)
    });
    of_file.collect()
}

/// The space between code and a comment.
#[derive(Debug, Clone)]
struct Gap {
    range: Range<usize>,
    /// Width of the code.
    width: usize,
}

/// A line, and the effect of the edits on it.
#[derive(Debug, Default)]
struct Line {
    gap: Option<Gap>,
    /// Number of characters by which its code grows.
    growth: isize,
    is_removed: bool,
    /// `true` if its comment is removed, or may be.
    is_lost: bool,
    /// `true` if a line is inserted before it.
    is_parted: bool,
}

impl Line {
    fn new_width(&self) -> usize {
        self.gap
            .as_ref()
            .map_or(0, |gap| gap.width.saturating_add_signed(self.growth))
    }
}

/// Gaps between code and a comment on the same line, by line.
struct Gaps(BTreeMap<usize, Gap>);

impl Gaps {
    fn of(file: &SourceFile) -> Arc<Gaps> {
        file.derived(|source| {
            let text = |range: Range<usize>| source.get(range).unwrap_or("");
            let trace = Trace::of(file);
            let gaps = trace
                .comments
                .iter()
                .map(|comment| &comment.range)
                .filter_map(|comment| {
                    let at = file.line_index(comment.start);
                    let start = file.line_range(at).start;
                    let code = text(start..comment.start).trim_end();
                    let comment_text = text(comment.clone());
                    // Other comments are not aligned.
                    let is_to_the_end = comment_text.starts_with(['#', '/']) && !comment_text.starts_with("/*");
                    let gap = Gap {
                        range: start + code.len()..comment.start,
                        width: code.chars().count(),
                    };
                    (is_to_the_end && !code.is_empty()).then_some((at, gap))
                });
            Gaps(gaps.collect())
        })
    }
}

/// The lines that the edits change, and adjacent lines with comments aligned to theirs.
struct Lines {
    first: usize,
    lines: Vec<Line>,
}

impl Lines {
    /// Returns the lines in `changed` with those adjacent to them.
    fn of(file: &SourceFile, changed: RangeInclusive<usize>) -> Self {
        let gaps = &Gaps::of(file).0;
        let (mut first, mut last) = (*changed.start(), *changed.end());
        while let Some(before) = first.checked_sub(1).filter(|before| gaps.contains_key(before)) {
            first = before;
        }
        while gaps.contains_key(&(last + 1)) {
            last += 1;
        }
        let lines = (first..=last).map(|at| Line {
            gap: gaps.get(&at).cloned(),
            ..Line::default()
        });
        Lines {
            first,
            lines: lines.collect(),
        }
    }

    fn get_mut(&mut self, range: Range<usize>) -> &mut [Line] {
        let inside = |at: usize| at.saturating_sub(self.first).min(self.lines.len());
        let range = inside(range.start)..inside(range.end);
        self.lines.get_mut(range).unwrap_or_default()
    }

    /// Records the effect of `edit`.
    fn make(&mut self, edit: &Edit, file: &SourceFile) {
        let range = edit.span.range();
        let (first, last) = (file.line_index(range.start), file.line_index(range.end));
        let is_at_start = |line: usize| file.line_range(line).start;
        let is_whole = is_at_start(first) == range.start && is_at_start(last) == range.end;
        let is_text_whole = edit.text.is_empty() || edit.text.ends_with('\n');
        if is_whole && is_text_whole {
            for line in self.get_mut(first..last) {
                line.is_removed = true;
            }
            if let Some(next) = self
                .get_mut(last..last + 1)
                .first_mut()
                .filter(|_| !edit.text.is_empty())
            {
                next.is_parted = true;
            }
            return;
        }
        let old = file.text().get(range.clone()).unwrap_or("");
        if first == last && !edit.text.contains('\n') {
            let Some(line) = self.get_mut(first..first + 1).first_mut() else {
                return;
            };
            let Some(gap) = &line.gap else { return };
            if range.end <= gap.range.start {
                let width = |text: &str| isize::try_from(text.chars().count()).unwrap_or(0);
                line.growth += width(&edit.text) - width(old);
            } else if range.start <= gap.range.end {
                line.is_lost = true;
            }
            return;
        }
        for line in self.get_mut(first..last + 1) {
            line.is_lost = true;
        }
    }

    /// Returns the edits of the gaps that have the wrong width.
    fn gaps(&self, file: FileId) -> Vec<Edit> {
        let before: Vec<&[Line]> = self.lines.chunk_by(|a, b| a.gap.is_some() && b.gap.is_some()).collect();
        let mut runs: Vec<Vec<&Line>> = vec![Vec::new()];
        // Starts of the gaps in runs of comments that were not aligned.
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
        for line in self.lines.iter().filter(|line| !line.is_removed) {
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
                (wanted != gap.range.len()).then(|| Edit::new(Span::new(file, gap.range.clone()), " ".repeat(wanted)))
            }));
        }
        edits
    }
}
