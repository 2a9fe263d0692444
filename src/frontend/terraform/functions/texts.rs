//! Functions of texts. Characters are counted as people see them, so some scripts are not counted at all.

use super::super::types::{self, Type};
use super::super::value::{MAX_TEXT, Value, joined};
use super::{Answer, plain_items};

/// What [`apply`] knows.
pub(super) const NAMES: &[&str] = &[
    "chomp",
    "endswith",
    "indent",
    "join",
    "lower",
    "split",
    "startswith",
    "strcontains",
    "strrev",
    "substr",
    "title",
    "trim",
    "trimprefix",
    "trimspace",
    "trimsuffix",
    "upper",
];

/// Pieces that a text is split into.
pub(super) const MAX_PIECES: usize = 100_000;

pub(super) fn apply(name: &str, values: &[Value]) -> Answer {
    if name == "join" {
        return join(values);
    }
    let texts: Vec<_> = values.iter().map(Value::to_text).collect::<Option<_>>()?;
    let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
    let answer = match (name, texts.as_slice()) {
        ("lower", [text]) => Value::text(each(text, |c| c.to_lowercase().collect())),
        ("upper", [text]) => Value::text(each(text, |c| c.to_uppercase().collect())),
        ("title", [text]) => Value::text(title(text)),
        ("trimspace", [text]) => Value::text(text.trim()),
        ("chomp", [text]) => Value::text(text.trim_end_matches(['\r', '\n'])),
        ("strrev", [text]) => match characters(text) {
            Ok(all) => Value::text(all.into_iter().rev().collect::<String>()),
            Err(refused) => refused,
        },
        ("trim", [text, set]) => Value::text(text.trim_matches(|c| set.contains(c))),
        ("trimprefix", [text, prefix]) => Value::text(text.strip_prefix(prefix).unwrap_or(text)),
        ("trimsuffix", [text, suffix]) => Value::text(text.strip_suffix(suffix).unwrap_or(text)),
        ("startswith", [text, prefix]) => Value::bool(text.starts_with(prefix)),
        ("endswith", [text, suffix]) => Value::bool(text.ends_with(suffix)),
        ("strcontains", [text, part]) => Value::bool(text.contains(part)),
        ("split", [separator, text]) if text.matches(separator).take(MAX_PIECES + 1).count() > MAX_PIECES => {
            Value::unknown("`split` gives more than 100000 strings")
        }
        ("split", ["", text]) => Value::texts(text.chars().map(|c| c.to_string())),
        ("split", [separator, text]) => Value::texts(text.split(separator)),
        ("substr", [text, ..]) if values.len() == 3 => {
            let (offset, length) = (values[1].to_whole()?, values[2].to_whole()?);
            match characters(text) {
                Ok(all) => substr(&all, offset, length),
                Err(refused) => refused,
            }
        }
        ("indent", [_, text]) => {
            let width = usize::try_from(values[0].to_whole()?).ok()?;
            let lines = text.matches('\n').count();
            if lines == 0 {
                return Some(Value::text(*text));
            }
            if lines.saturating_mul(width) > MAX_TEXT {
                return Some(Value::unknown("it is a string of more than a megabyte"));
            }
            Value::text(text.replace('\n', &format!("\n{}", " ".repeat(width))))
        }
        _ => return None,
    };
    Some(answer)
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

fn title(text: &str) -> String {
    let mut start = true;
    text.chars()
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
        .collect()
}

/// The characters of `text` as people see them, where that needs no table.
pub(super) fn characters(text: &str) -> Result<Vec<&str>, Value> {
    let mut all: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let alone =
            matches!(u32::from(c), 0..0x300 | 0x2010..=0x2027 | 0x20a0..=0x20bf | 0x3041..=0x3096 | 0x30a1..=0x9fff);
        if !alone || c == '\u{ad}' {
            return Err(Value::unknown("its characters cannot be counted"));
        }
        let length = if rest.starts_with("\r\n") { 2 } else { c.len_utf8() };
        let (first, after) = rest.split_at(length);
        all.push(first);
        rest = after;
    }
    Ok(all)
}

fn substr(all: &[&str], offset: i64, length: i64) -> Value {
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
    Value::text(all.get(range).unwrap_or(&[]).concat())
}

/// Texts that are not known stay as parts; one alone stays the link it is.
fn join(values: &[Value]) -> Answer {
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
