//! Removes a suppression from a file, or one of several names in it, and changes nothing else. A comment that is alone
//! on its line is removed with the line. Other text of the comment stays.

use super::{Syntax, code};
use crate::diagnostic::Edit;
use crate::frontend::edits::tree::{Editor, Step};
use crate::frontend::terraform::Trace;
use crate::suppress::MARKER;
use source::{Sources, Span};
use std::ops::Range;
use trees::parsed::{self, Repeating};
use trees::{Node, Parsed, Value};

/// Returns the edit that removes the suppression at `at`, or only `name` if it has several names.
pub(in crate::frontend) fn removal(at: Span, name: Option<&str>, sources: &Sources) -> Option<Edit> {
    let file = sources.file(at.file);
    let text = file.text();
    match Syntax::of(file.name())? {
        Syntax::Hcl => {
            let trace = Trace::of(&file);
            let mut ranges = trace.comments.iter().map(|comment| comment.range.clone());
            let comment = ranges.find(|range| range.start <= at.start as usize && at.end as usize <= range.end)?;
            from_comment(text, comment, at, name)
        }
        Syntax::Source(mark) => from_comment(text, code::comment_around(text, at, mark)?, at, name),
        Syntax::TerraformJson => from_entry(text, &Repeating::of(at.file, &file), at, name),
        Syntax::Tree => {
            let parsed = parsed::tree(at.file, &file);
            match parsed.comments.iter().find(|comment| comment.contains(at)) {
                Some(comment) => from_comment(text, comment.range(), at, name),
                None => from_metadata(text, &parsed, at, name),
            }
        }
    }
}

/// Removes a suppression from a comment.
fn from_comment(text: &str, comment: Range<usize>, at: Span, name: Option<&str>) -> Option<Edit> {
    let stated = text.get(at.range())?;
    let range = match name.and_then(|name| one_of_several(stated, name)) {
        Some(within) => at.start as usize + within.start..at.start as usize + within.end,
        None => whole(text, comment, at)?,
    };
    Some(removed(at, range))
}

fn removed(within: Span, range: Range<usize>) -> Edit {
    Edit::new(Span::new(within.file, range), String::new())
}

/// Returns the range in `stated` of `name` and the separator to its neighbour, or `None` if it is the only name.
fn one_of_several(stated: &str, name: &str) -> Option<Range<usize>> {
    let open = stated.find('[')? + 1;
    let close = open + stated.get(open..)?.find(']')?;
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut at = open;
    for part in stated.get(open..close)?.split(|c: char| c == ',' || c.is_whitespace()) {
        let end = at + part.len();
        if !part.is_empty() {
            words.push(at..end);
        }
        // A separator is a comma or a space, which may have several bytes.
        at = end + stated.get(end..)?.chars().next().map_or(0, char::len_utf8);
    }
    let text = |range: &Range<usize>| stated.get(range.clone()).unwrap_or("");
    let is_name = |range: &Range<usize>| !text(range).starts_with("until=");
    let is_other = |range: &&Range<usize>| is_name(range) && text(range) != name;
    words.iter().find(is_other)?;
    let at = words.iter().position(|word| text(word) == name)?;
    let word = words.get(at)?;
    match words.get(at + 1).filter(|next| is_name(next)) {
        Some(next) => Some(word.start..next.start),
        None => Some(
            at.checked_sub(1)
                .and_then(|at| words.get(at))
                .map_or(word.start, |before| before.end)..word.end,
        ),
    }
}

/// Returns the range to delete if the whole suppression at `at` in `comment` is removed.
fn whole(text: &str, comment: Range<usize>, at: Span) -> Option<Range<usize>> {
    let start = at.start as usize;
    let line_start = text.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
    let body_start = comment.start.max(line_start);
    let marker = body_start + text.get(body_start..start)?.rfind(MARKER)?;
    let comment_end = comment.start + text.get(comment.clone())?.trim_end().len();
    let is_sign = |c: char| matches!(c, '#' | '/' | '*') || c.is_whitespace();
    let before = text.get(comment.start..marker)?;
    let after = text.get(at.end as usize..comment_end.max(at.end as usize))?;
    if before.chars().all(is_sign) && after.trim().trim_end_matches("*/").trim().is_empty() {
        return Some(comment_range(text, comment.start..comment_end));
    }
    let line = text.get(body_start..marker)?;
    if line.chars().all(is_sign) && body_start > comment.start && !after.trim_start_matches(' ').starts_with("*/") {
        // One line of a longer comment.
        let end = at.end as usize + rest_of_line(text, at.end as usize);
        return Some(line_start..end);
    }
    // Another remark precedes it, separated by a sign. On the first and the last line the comment's own signs stay.
    let opens =
        line.trim_start().starts_with("/*") && line.trim_start().trim_start_matches(['/', '*']).trim().is_empty();
    let kept = if opens {
        line
    } else {
        line.trim_end().trim_end_matches(['#', '/', '*'])
    };
    let kept = body_start + kept.trim_end().len();
    let closes = text
        .get(at.end as usize..)
        .is_some_and(|rest| rest.trim_start().starts_with("*/"));
    let end = if closes {
        at.end as usize
    } else {
        at.end as usize + trailing_spaces(text, at.end as usize)
    };
    Some(kept..end)
}

/// Returns the range of a comment: with its line if it is alone there, else with the spaces before it.
fn comment_range(text: &str, comment: Range<usize>) -> Range<usize> {
    let line_start = text
        .get(..comment.start)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |at| at + 1);
    let before = text.get(line_start..comment.start).unwrap_or("");
    let mark = before.len() - before.trim_start_matches('\u{feff}').len();
    let before = before.trim_start_matches('\u{feff}');
    let rest = text.get(comment.end..).unwrap_or("");
    let line = rest.split_inclusive('\n').next().unwrap_or("");
    match (before.trim().is_empty(), line.trim().is_empty()) {
        (true, true) => line_start + mark..comment.end + line.len(),
        (true, false) => comment.start..comment.end + trailing_spaces(text, comment.end),
        _ => line_start + mark + before.trim_end().len()..comment.end,
    }
}

fn rest_of_line(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    rest.split_inclusive('\n').next().unwrap_or("").len()
}

fn trailing_spaces(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    rest.len() - rest.trim_start_matches([' ', '\t']).len()
}

/// Removes a suppression from the text of an entry with the key `//`.
fn from_entry(text: &str, parsed: &Parsed, at: Span, name: Option<&str>) -> Option<Edit> {
    let root = parsed.documents.first()?;
    let editor = Editor::new(text, root, true);
    let written = text.get(at.range())?;
    let content = written.strip_prefix('"')?.strip_suffix('"')?;
    // Decoded text has other offsets than the file.
    let marker = Some(content.find(MARKER)?).filter(|_| !content.contains('\\'))?;
    let stated = content.get(marker + MARKER.len()..)?;
    let start = at.start as usize + 1;
    if let Some(within) = name.and_then(|name| one_of_several(stated, name)) {
        let stated = start + marker + MARKER.len();
        return Some(removed(at, stated + within.start..stated + within.end));
    }
    let kept = content
        .get(..marker)?
        .trim_end()
        .trim_end_matches(['#', '/', '*'])
        .trim_end();
    if !kept.is_empty() {
        return Some(removed(at, start + kept.len()..start + content.len()));
    }
    let path = editor.path(root, at)?;
    without(&editor, &path)
}

/// Removes the last element of `path`; the last item of a list is removed together with the list.
fn without(editor: &Editor<'_>, path: &[Step<'_>]) -> Option<Edit> {
    let (last, above) = path.split_last()?;
    match *last {
        Step::Entry(mapping, entry) => editor.remove(mapping, entry),
        Step::Item(item) => {
            let around = above.last()?.node();
            if around.items()?.len() == 1 {
                return without(editor, above);
            }
            editor.remove_item(around, item.span)
        }
    }
}

/// Removes a suppression from the list `sqslint.ignore` of a `Metadata`.
fn from_metadata(text: &str, parsed: &Parsed, at: Span, name: Option<&str>) -> Option<Edit> {
    if !parsed.errors.is_empty() || !parsed.duplicates.is_empty() {
        return None;
    }
    let root = parsed.documents.iter().find(|root| root.span.contains(at))?;
    let editor = Editor::new(text, root, parsed::is_json(text) && parsed.comments.is_empty());
    let path = editor.path(root, at)?;
    let is_ours = path.iter().any(|step| step.key() == Some("sqslint"));
    let written = path.last().filter(|_| is_ours)?.node();
    if let Some(edit) = name.and_then(|name| rule_of_several(&editor, written, name)) {
        return Some(edit);
    }
    let (last, above) = path.split_last()?;
    match *last {
        // Collections that would become empty are removed too.
        Step::Entry(..) => editor.remove_along(&path),
        Step::Item(item) => {
            let around = above.last()?.node();
            if around.items()?.len() == 1 {
                return editor.remove_along(above);
            }
            editor.remove_item(around, item.span)
        }
    }
}

/// Removes `name` from an entry that lists several rules.
fn rule_of_several(editor: &Editor<'_>, written: &Node, name: &str) -> Option<Edit> {
    let list = written.get("rule").or_else(|| written.get("rules"))?;
    let items = list.items()?;
    let is_named = |item: &&Node| matches!(&item.value, Value::String(text) if text.trim() == name);
    items.iter().find(|item| !is_named(item))?;
    editor.remove_item(list, items.iter().find(is_named)?.span)
}
