//! Checks the comments around a number that is to change. Comments belong to their author: if one states the number or
//! the reason for it, it would be wrong after the change, or is a reason to keep the number. In YAML all other comments
//! keep their column.

use crate::diagnostic::Edit;
use source::Span;
use std::ops::Range;

/// Units of time in seconds, by the beginnings of their names.
const UNITS: [(&str, i64); 4] = [("day", 86_400), ("hour", 3600), ("min", 60), ("sec", 1)];

/// Numbers in words.
const NUMBERS: [&str; 16] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "half", "once", "twice", "thrice",
    "double", "triple",
];

/// Words in reasons for a number.
const REASONS: [&str; 11] = [
    "because",
    "buffer",
    "so that",
    "on purpose",
    "intentional",
    "deliberate",
    "agreed",
    "do not",
    "don't",
    "must",
    "never",
];

/// Words in comments that repeat the documentation's rule for visibility timeouts: `Must be >= 6x the Lambda timeout`.
const LEAST: [&str; 8] = [">=", "≥", "at least", "6x", "6 x", "x6", "times", "longer than"];
/// Words in comments about an upper bound.
const MOST: [&str; 6] = ["<", "at most", "less", "below", "under", "max"];

/// Returns `true` if a comment after `number`, or in the lines above it, states the number or the reason for it.
pub(super) fn is_explained(text: &str, number: Span) -> bool {
    let Range { start, end } = number.range();
    let (Some(before), Some(after)) = (text.get(..start), text.get(end..)) else {
        return false;
    };
    let following = trailing_comment(after).and_then(|range| after.get(range)).unwrap_or("");
    let value = text.get(start..end).and_then(|digits| digits.parse().ok());
    let mut above = before.lines().rev().skip(usize::from(!before.ends_with('\n')));
    is_about_a_number(following)
        || std::iter::from_fn(|| above.next().map(str::trim).filter(|line| is_comment(line)))
            .any(|line| gives_reason(line) || value.is_some_and(|value| states_value(line, value)))
}

/// Returns the edit that keeps the column of a comment after `number`, which becomes `new`.
pub(super) fn edits(text: &str, number: Span, new: i64) -> Option<Edit> {
    let end = number.range().end;
    let after = text.get(end..)?;
    let at = trailing_comment(after)?.start;
    let spaces = after
        .get(..at)
        .map_or(0, |before| before.len() - before.trim_end_matches(' ').len());
    let growth = new.to_string().len().saturating_sub(number.range().len());
    // Linters require two spaces before a comment.
    let spare = growth.min(spaces.saturating_sub(2));
    (spare > 0).then(|| Edit::new(Span::new(number.file, end + at - spare..end + at), String::new()))
}

/// Returns the range of a comment on the first line of `after`, the text after a number.
fn trailing_comment(after: &str) -> Option<Range<usize>> {
    let line = after.lines().next().unwrap_or("");
    let comment = line.trim_start_matches(['"', '\'', '\\', ',', ';', '}', ')', ' ', '\t']);
    let at = line.len() - comment.len();
    let is_apart = line.get(..at)?.ends_with([' ', '\t']);
    (is_apart && is_comment(comment)).then_some(at..line.len())
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("//") || line.starts_with("/*")
}

/// Returns `true` if a comment only repeats the SQS documentation on visibility timeouts: it is not a reason for one
/// number, and stays true for a longer timeout.
fn is_of_the_documentation(comment: &str) -> bool {
    let comment = comment.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| comment.contains(word));
    let factor = ["6x", "x6", "6", "six", "times"];
    let mut words = comment.split(|c: char| !c.is_alphanumeric());
    let names_another = words.any(|word| {
        let is_number = word.contains(|c: char| c.is_ascii_digit()) || NUMBERS.contains(&word);
        is_number && !factor.contains(&word)
    });
    let other_reasons = REASONS.iter().filter(|reason| **reason != "must");
    comment.contains("timeout")
        && says(&LEAST)
        && !says(&MOST)
        && !names_another
        && !other_reasons.into_iter().any(|reason| comment.contains(reason))
}

/// Returns `true` if a comment after a number is about the number.
fn is_about_a_number(comment: &str) -> bool {
    if is_of_the_documentation(comment) {
        return false;
    }
    let mut words = comment.split(|c: char| !c.is_alphanumeric());
    comment.contains(|c: char| c.is_ascii_digit())
        || gives_reason(comment)
        || words.any(|word| NUMBERS.iter().any(|number| word.eq_ignore_ascii_case(number)))
}

fn gives_reason(comment: &str) -> bool {
    if is_of_the_documentation(comment) {
        return false;
    }
    let comment = comment.to_ascii_lowercase();
    REASONS.iter().any(|reason| comment.contains(reason))
}

/// Returns `true` if a comment states `value`, in seconds or a larger unit.
fn states_value(comment: &str, value: i64) -> bool {
    let mut rest = comment;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest.get(start..).unwrap_or("");
        let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let (digits, following) = digits.split_at(length);
        let word = following.trim_start_matches([' ', '-']).to_ascii_lowercase();
        let unit = UNITS.iter().find(|(unit, _)| word.starts_with(unit));
        let seconds = unit.map_or(1, |(_, seconds)| *seconds);
        let stated: Option<i64> = digits.parse().ok();
        if stated.is_some_and(|stated| stated == value || stated.checked_mul(seconds) == Some(value)) {
            return true;
        }
        rest = following;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_explained;
    use source::{Sources, Span};
    use std::path::Path;

    /// Returns `true` if a comment of `text` is about its first number.
    fn is_marked(text: &str) -> bool {
        let sources = Sources::default();
        let file = sources.add(Path::new("main.tf"), text);
        let start = text.find("= ").map_or(0, |at| at + 2);
        let length = text[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        is_explained(text, Span::new(file, start..start + length))
    }

    #[test]
    fn comments_with_the_number_or_its_reason_are_found() {
        for comment in [
            "x = 3600 # 1 hour\n",
            "x = 3 # kept to 3 times\n",
            "x = 3 // three times, as agreed\n",
            "x = 30, # because the worker is slow\n",
            "# 1 hour\nx = 3600\n",
            "# an hour (3600 s)\nx = 3600\n",
            "# a\n# do not change: orders would be shipped twice\nx = 3600\n",
            "x = 180 # 6 x the timeout of 30 s\n",
            "# at least the timeout, because messages must not come twice\nx = 180\n",
            "x = 30 # must be less than the timeout\n",
        ] {
            assert!(is_marked(comment), "{comment}");
        }
        for comment in [
            "x = 3600\n",
            "x = 3600 # seconds\n",
            "x = 3600 # how long a message is hidden\n",
            "# Orders of 2 shops wait here.\nx = 3600\n",
            "# 1 hour\n\nx = 3600\n",
            "x = 180 # Must be >= 6x Lambda timeout\n",
            "# Should be at least six times the function timeout.\nx = 180\n",
            "x = 180 # must be longer than the timeout of the consumer\n",
            "y = 2 # 1 hour\n",
        ] {
            let is_other = comment.starts_with('y');
            assert_eq!(is_marked(comment), is_other, "{comment}");
        }
    }
}
