//! Formats a short fix as removed and added lines.

use super::drawing::Renderer;
use crate::diagnostic::{Diagnostic, Edit, Label};
use crate::report::{Report, printable};
use source::SourceFile;

/// Maximum number of lines; the title of the fix replaces longer changes.
const MOST: usize = 4;

/// Returns the lines that the fix of `found` removes and adds; `None` without a fix, or if there are too many lines.
pub(super) fn lines(found: &Diagnostic, report: &Report<'_>, look: &Renderer, drawn: &[Label]) -> Option<String> {
    let fix = found.fix.as_deref()?;
    let [edit] = fix.edits.as_slice() else { return None };
    let file = report.sources.file(edit.span.file);
    if file.is_guarded() {
        return None;
    }
    let (gone, new) = of(edit, &file)?;
    if gone.len() + new.len() > MOST || new.is_empty() {
        return None;
    }
    let lines = gone
        .iter()
        .map(|line| ('-', line))
        .chain(new.iter().map(|line| ('+', line)));
    let lines: Vec<(char, String)> = lines.map(|(sign, line)| (sign, printable(line))).collect();
    let is_drawn = drawn.iter().any(|label| label.span.file == edit.span.file);
    let place = if is_drawn {
        String::new()
    } else {
        let at = file.position(edit.span.start as usize);
        format!("{}:{}, ", printable(file.shown()), at.line)
    };
    Some(look.change(&lines, &format!("{place}{}", fix.safety.flags())))
}

/// Returns the lines of `file` that an edit removes and adds, without their common indentation.
pub(in crate::report) fn of<'t>(edit: &Edit, file: &'t SourceFile) -> Option<(Vec<String>, Vec<String>)> {
    let text = file.text();
    let range = edit.span.range();
    let start = file.line_range(file.line_index(range.start)).start;
    let end = file.line_range(file.line_index(range.end)).end;
    let old: &'t str = text.get(start..end)?;
    let new = format!(
        "{}{}{}",
        text.get(start..range.start)?,
        edit.text,
        text.get(range.end..end)?
    );
    let mut old: Vec<String> = old.lines().map(str::to_owned).collect();
    let mut new: Vec<String> = new.lines().map(str::to_owned).collect();
    let same = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    old.drain(..same);
    new.drain(..same);
    while old.last().is_some_and(|last| new.last() == Some(last)) {
        old.pop();
        new.pop();
    }
    let is_blank = |line: &String| line.trim().is_empty();
    for lines in [&mut old, &mut new] {
        lines.retain(|line| !is_blank(line));
    }
    let indented = old.iter().chain(&new).filter(|line| !is_blank(line));
    let indent = indented
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    for line in old.iter_mut().chain(&mut new) {
        let rest = line.get(indent..).unwrap_or_default().trim_end().to_owned();
        *line = rest;
    }
    Some((old, new))
}
