//! Functions of texts. Characters are counted as people see them, so some scripts are not counted at all.

use super::super::types::{self, Type};
use super::super::value::{MAX_TEXT, Value, joined};
use super::{Answer, plain_items};
use crate::graph::Cause;

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
    match characters(text) {
        Ok(all) => Value::text(all.into_iter().rev().collect::<String>()),
        Err(refused) => refused,
    }
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

/// As Go does it: a character that would become several stays.
fn each(text: &str, change: impl Fn(char) -> Vec<char>) -> String {
    text.chars()
        .map(|c| match change(c).as_slice() {
            [one] => *one,
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

/// The characters of `text` as people see them, where that needs no table.
pub(super) fn characters(text: &str) -> Result<Vec<&str>, Value> {
    let mut all: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let alone =
            matches!(u32::from(c), 0..0x300 | 0x2010..=0x2027 | 0x20a0..=0x20bf | 0x3041..=0x3096 | 0x30a1..=0x9fff);
        if !alone || c == '\u{ad}' {
            return Err(Value::unknown(
                Cause::Unsupported.because("its characters cannot be counted"),
            ));
        }
        let length = if rest.starts_with("\r\n") { 2 } else { c.len_utf8() };
        let (first, after) = rest.split_at(length);
        all.push(first);
        rest = after;
    }
    Ok(all)
}

/// `substr`.
pub(super) fn substr(text: &Value, offset: &Value, length: &Value) -> Answer {
    let text = text.to_text()?;
    let (offset, length) = (offset.to_whole()?, length.to_whole()?);
    let all = match characters(&text) {
        Ok(all) => all,
        Err(refused) => return Some(refused),
    };
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
