//! Functions of strings. Characters are grapheme clusters, as users see them.

use super::{FunctionResult, plain_items};
use crate::limits;
use crate::types::{self, Type};
use crate::value::{Value, joined};
use icu_segmenter::{GraphemeClusterSegmenter, GraphemeClusterSegmenterBorrowed};

/// Evaluates a function of one string.
pub(crate) fn of_text(value: &Value, change: impl Fn(&str) -> Value) -> FunctionResult {
    Some(change(&value.to_text()?))
}

/// Evaluates a function of two strings.
pub(crate) fn of_texts(one: &Value, other: &Value, change: impl Fn(&str, &str) -> Value) -> FunctionResult {
    Some(change(&one.to_text()?, &other.to_text()?))
}

/// Evaluates `lower`.
pub(crate) fn lower(text: &str) -> Value {
    Value::text(each(text, |c| c.to_lowercase().collect()))
}

/// Evaluates `upper`.
pub(crate) fn upper(text: &str) -> Value {
    Value::text(each(text, |c| c.to_uppercase().collect()))
}

/// Evaluates `chomp`.
pub(crate) fn chomp(text: &str) -> Value {
    Value::text(text.trim_end_matches(['\r', '\n']))
}

/// Evaluates `strrev`.
pub(crate) fn reverse(text: &str) -> Value {
    Value::text(characters(text).into_iter().rev().collect::<String>())
}

/// Evaluates `trim`.
pub(crate) fn trim(text: &str, set: &str) -> Value {
    Value::text(text.trim_matches(|c| set.contains(c)))
}

/// Evaluates `trimprefix`.
pub(crate) fn without_prefix(text: &str, prefix: &str) -> Value {
    Value::text(text.strip_prefix(prefix).unwrap_or(text))
}

/// Evaluates `trimsuffix`.
pub(crate) fn without_suffix(text: &str, suffix: &str) -> Value {
    Value::text(text.strip_suffix(suffix).unwrap_or(text))
}

/// Evaluates `split`.
pub(crate) fn split(separator: &str, text: &str) -> Value {
    if text.matches(separator).take(limits::MAX_SPLIT_PIECES + 1).count() > limits::MAX_SPLIT_PIECES {
        return Value::beyond("`split` gives more than 100000 strings");
    }
    match separator {
        "" => Value::texts(text.chars().map(|c| c.to_string())),
        _ => Value::texts(text.split(separator)),
    }
}

/// Evaluates `indent`.
pub(crate) fn indent(width: &Value, text: &Value) -> FunctionResult {
    let width = usize::try_from(width.to_whole()?).ok()?;
    let text = text.to_text()?;
    let lines = text.matches('\n').count();
    if lines.saturating_mul(width) > limits::MAX_TEXT {
        return Some(Value::beyond("it is a string of more than a megabyte"));
    }
    Some(Value::text(text.replace('\n', &format!("\n{}", " ".repeat(width)))))
}

/// Converts each character as Go does: a character that would become several is unchanged, except for the dotted
/// capital I.
fn each(text: &str, change: impl Fn(char) -> Vec<char>) -> String {
    text.chars()
        .map(|c| match change(c).as_slice() {
            [one] => *one,
            ['i', _] => 'i',
            _ => c,
        })
        .collect()
}

/// Evaluates `title`.
pub(crate) fn title(text: &str) -> Value {
    let mut start = true;
    let titled = text
        .chars()
        .map(|c| {
            let upper: Vec<char> = if start { c.to_uppercase().collect() } else { Vec::new() };
            start = if c.is_ascii() {
                !(c.is_ascii_alphanumeric() || c == '_')
            } else {
                c.is_whitespace()
            };
            match upper.as_slice() {
                [one] => *one,
                _ => c,
            }
        })
        .collect::<String>();
    Value::text(titled)
}

/// Returns the characters of `text` as users see them.
pub(crate) fn characters(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let breaks: Vec<usize> = GRAPHEMES.segment_str(text).collect();
    for pair in breaks.windows(2) {
        if let &[start, end] = pair {
            split_syllable(text.get(start..end).unwrap_or(""), &mut all);
        }
    }
    all
}

const GRAPHEMES: GraphemeClusterSegmenterBorrowed<'static> = GraphemeClusterSegmenter::new();

/// Splits `character` into the parts that Terraform counts separately because of its older Unicode tables: the
/// consonants of one syllable in the scripts of India and neighbouring countries.
fn split_syllable<'t>(character: &'t str, all: &mut Vec<&'t str>) {
    let is_syllabic = |c: char| matches!(c, '\u{900}'..='\u{10ff}' | '\u{1780}'..='\u{1bff}');
    let mut start = 0;
    let mut letters = character.char_indices().peekable();
    while let Some((_, before)) = letters.next() {
        if let Some(&(at, next)) = letters.peek()
            && is_syllabic(next)
            && are_separate('a', next)
            && are_separate(before, 'a')
        {
            all.push(character.get(start..at).unwrap_or(""));
            start = at;
        }
    }
    all.push(character.get(start..).unwrap_or(""));
}

/// Returns `true` if two adjacent letters are two characters.
fn are_separate(one: char, other: char) -> bool {
    GRAPHEMES.segment_str(&String::from_iter([one, other])).count() > 2
}

/// Evaluates `substr`.
pub(crate) fn substr(text: &Value, offset: &Value, length: &Value) -> FunctionResult {
    let text = text.to_text()?;
    let (offset, length) = (offset.to_whole()?, length.to_whole()?);
    let all = characters(&text);
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    // In Terraform, a length of 0 with a negative offset means the rest of the string.
    let length = if offset < 0 && length == 0 { -1 } else { length };
    let start = if offset < 0 {
        offset.saturating_add(total).max(0)
    } else {
        offset
    };
    let end = if length < 0 {
        total
    } else {
        start.saturating_add(length).min(total)
    };
    let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
    Some(Value::text(all.get(range).unwrap_or(&[]).concat()))
}

/// Evaluates `join`. Unknown strings become parts of the result. A single string stays the link that it is.
pub(crate) fn join(values: &[Value]) -> FunctionResult {
    let (separator, lists) = values.split_first()?;
    let separator = separator.to_text()?;
    let mut parts = Vec::new();
    for list in lists {
        let list = types::convert(list, &Type::List(std::sync::Arc::new(Type::Text)));
        for item in plain_items(&list)?.iter() {
            if item.is_null() {
                return None;
            }
            if !parts.is_empty() {
                parts.push(Value::text(separator.clone()));
            }
            parts.push(item.clone());
        }
    }
    if lists.is_empty() {
        return None;
    }
    Some(if parts.len() == 1 {
        parts.remove(0)
    } else {
        joined(parts)
    })
}
