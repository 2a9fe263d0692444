//! Functions of texts. Characters are counted as people see them.

use super::super::types::{self, Type};
use super::super::value::{MAX_TEXT, Value, joined};
use super::{Answer, plain_items};
use icu_segmenter::{GraphemeClusterSegmenter, GraphemeClusterSegmenterBorrowed};

/// Pieces that a text is split into.
pub(super) const MAX_PIECES: usize = 100_000;

/// A function of one text.
pub(super) fn of_text(value: &Value, change: impl Fn(&str) -> Value) -> Answer {
    Some(change(&value.to_text()?))
}

/// A function of two texts.
pub(super) fn of_texts(one: &Value, other: &Value, change: impl Fn(&str, &str) -> Value) -> Answer {
    Some(change(&one.to_text()?, &other.to_text()?))
}

/// `lower`.
pub(super) fn lower(text: &str) -> Value {
    Value::text(each(text, |c| c.to_lowercase().collect()))
}

/// `upper`.
pub(super) fn upper(text: &str) -> Value {
    Value::text(each(text, |c| c.to_uppercase().collect()))
}

/// `chomp`.
pub(super) fn chomp(text: &str) -> Value {
    Value::text(text.trim_end_matches(['\r', '\n']))
}

/// `strrev`.
pub(super) fn reverse(text: &str) -> Value {
    Value::text(characters(text).into_iter().rev().collect::<String>())
}

/// `trim`.
pub(super) fn trim(text: &str, set: &str) -> Value {
    Value::text(text.trim_matches(|c| set.contains(c)))
}

/// `trimprefix`.
pub(super) fn without_prefix(text: &str, prefix: &str) -> Value {
    Value::text(text.strip_prefix(prefix).unwrap_or(text))
}

/// `trimsuffix`.
pub(super) fn without_suffix(text: &str, suffix: &str) -> Value {
    Value::text(text.strip_suffix(suffix).unwrap_or(text))
}

/// `split`.
pub(super) fn split(separator: &str, text: &str) -> Value {
    if text.matches(separator).take(MAX_PIECES + 1).count() > MAX_PIECES {
        return Value::beyond("`split` gives more than 100000 strings");
    }
    match separator {
        "" => Value::texts(text.chars().map(|c| c.to_string())),
        _ => Value::texts(text.split(separator)),
    }
}

/// `indent`.
pub(super) fn indent(width: &Value, text: &Value) -> Answer {
    let width = usize::try_from(width.to_whole()?).ok()?;
    let text = text.to_text()?;
    let lines = text.matches('\n').count();
    if lines.saturating_mul(width) > MAX_TEXT {
        return Some(Value::beyond("it is a string of more than a megabyte"));
    }
    Some(Value::text(text.replace('\n', &format!("\n{}", " ".repeat(width)))))
}

/// As Go does it: a character that would become several stays, but for the dotted capital I.
fn each(text: &str, change: impl Fn(char) -> Vec<char>) -> String {
    text.chars()
        .map(|c| match change(c).as_slice() {
            [one] => *one,
            ['i', _] => 'i',
            _ => c,
        })
        .collect()
}

/// `title`.
pub(super) fn title(text: &str) -> Value {
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

/// The characters of `text` as people see them.
pub(super) fn characters(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let breaks: Vec<usize> = GRAPHEMES.segment_str(text).collect();
    for pair in breaks.windows(2) {
        if let &[start, end] = pair {
            apart(text.get(start..end).unwrap_or(""), &mut all);
        }
    }
    all
}

const GRAPHEMES: GraphemeClusterSegmenterBorrowed<'static> = GraphemeClusterSegmenter::new();

/// The parts of `character` that Terraform, whose tables of Unicode are older, counts one by one: the consonants of one
/// syllable in the scripts of India and its neighbours.
fn apart<'t>(character: &'t str, all: &mut Vec<&'t str>) {
    let is_syllabic = |c: char| matches!(c, '\u{900}'..='\u{10ff}' | '\u{1780}'..='\u{1bff}');
    let mut start = 0;
    let mut letters = character.char_indices().peekable();
    while let Some((_, before)) = letters.next() {
        if let Some(&(at, next)) = letters.peek()
            && is_syllabic(next)
            && stand_apart('a', next)
            && stand_apart(before, 'a')
        {
            all.push(character.get(start..at).unwrap_or(""));
            start = at;
        }
    }
    all.push(character.get(start..).unwrap_or(""));
}

/// Whether two letters beside each other are two characters.
fn stand_apart(one: char, other: char) -> bool {
    GRAPHEMES.segment_str(&String::from_iter([one, other])).count() > 2
}

/// `substr`.
pub(super) fn substr(text: &Value, offset: &Value, length: &Value) -> Answer {
    let text = text.to_text()?;
    let (offset, length) = (offset.to_whole()?, length.to_whole()?);
    let all = characters(&text);
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    // Terraform has it so: from the end, nothing is all that is left.
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

/// `join`. Texts that are not known stay as parts; one alone stays the link it is.
pub(super) fn join(values: &[Value]) -> Answer {
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
