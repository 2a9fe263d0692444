//! The comment behind a number that changes: where it says the number again, in words, it says the new one afterwards,
//! and in YAML it keeps its column. What else it says is its author's.

use crate::diagnostic::Edit;
use crate::source::Span;
use std::ops::Range;

/// Units of time, the largest first.
const UNITS: [(&str, i64); 4] = [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)];

/// What is counted besides seconds.
const COUNTED: [&str; 6] = ["attempt", "receive", "retr", "failure", "tries", "times"];

/// The edits of what stands behind `number`, which becomes `new`, on its line of `text`.
pub(super) fn edits(text: &str, number: Span, new: i64, keeps_column: bool) -> Vec<Edit> {
    let end = number.end as usize;
    let line = text.get(end..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let code = line.trim_start_matches(['"', '\'', ',', ' ', '\t']);
    let at = line.len() - code.len();
    let is_apart = line.get(..at).is_some_and(|before| before.ends_with([' ', '\t']));
    if !is_apart || !(code.starts_with('#') || code.starts_with("//")) {
        return Vec::new();
    }
    let Some(old) = text.get(number.range()) else {
        return Vec::new();
    };
    let spaces = line
        .get(..at)
        .map_or(0, |before| before.len() - before.trim_end_matches(' ').len());
    let growth = new.to_string().len().saturating_sub(old.len());
    let edit = |range: Range<usize>, text: String| Edit {
        span: Span::new(number.file, end + range.start..end + range.end),
        text,
    };
    let mut edits = Vec::new();
    // Linters ask for two spaces before a comment.
    let spare = growth.min(spaces.saturating_sub(2));
    if keeps_column && spare > 0 {
        edits.push(edit(at - spare..at, String::new()));
    }
    let again = old.parse().ok().and_then(|old| again(code, old, new));
    edits.extend(again.map(|(range, text)| edit(at + range.start..at + range.end, text)));
    edits
}

/// Where a comment says `old`, as its only number, and what it says for `new`.
fn again(comment: &str, old: i64, new: i64) -> Option<(Range<usize>, String)> {
    let start = comment.find(|c: char| c.is_ascii_digit())?;
    let length = comment.get(start..)?.find(|c: char| !c.is_ascii_digit())?;
    let behind = comment.get(start + length..)?;
    let is_word = comment.get(..start)?.ends_with([' ', '#', '/', '(', '\t']) && behind.starts_with([' ', '\u{a0}']);
    if !is_word || behind.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let count: i64 = comment.get(start..start + length)?.parse().ok()?;
    let words = behind.trim_start();
    let gap = behind.len() - words.len();
    let word = words.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    let unit = UNITS
        .into_iter()
        .find(|(unit, _)| word == *unit || word.strip_suffix('s') == Some(unit));
    if let Some((_, seconds)) = unit {
        if count.checked_mul(seconds) != Some(old) || new <= 0 {
            return None;
        }
        let (unit, seconds) = UNITS.into_iter().find(|(_, seconds)| new % seconds == 0)?;
        let count = new / seconds;
        let plural = if count == 1 { "" } else { "s" };
        return Some((
            start..start + length + gap + word.len(),
            format!("{count} {unit}{plural}"),
        ));
    }
    let mut next = words.split_whitespace().take(2);
    let is_counted = next.any(|word| COUNTED.iter().any(|counted| word.starts_with(counted)));
    (count == old && is_counted && old > 1 && new > 1).then(|| (start..start + length, new.to_string()))
}

#[cfg(test)]
mod tests {
    use super::again;

    #[test]
    fn what_says_the_number_says_the_new_one() {
        let said = |comment: &str, old, new| {
            let mut comment = comment.to_owned();
            if let Some((range, text)) = again(&comment, old, new) {
                comment.replace_range(range, &text);
            }
            comment
        };
        assert_eq!(said("# 1 hour", 3600, 345_600), "# 4 days");
        assert_eq!(said("// 15 minutes, as agreed", 900, 5400), "// 90 minutes, as agreed");
        assert_eq!(said("# 30 seconds", 30, 60), "# 1 minute");
        assert_eq!(
            said("# to the DLQ after 3 failed attempts", 3, 5),
            "# to the DLQ after 5 failed attempts"
        );
        for other in [
            "# 6 times the function's timeout",
            "# 2 hours",
            "# 1 hour (3600 s)",
            "# see JIRA-3600 seconds",
            "# ticket 3600",
            "# an hour",
            "#",
            "# 3600",
        ] {
            assert_eq!(said(other, 3600, 345_600), other);
        }
    }
}
