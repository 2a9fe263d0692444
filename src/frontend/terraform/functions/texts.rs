//! Functions of texts and numbers.

use super::super::value::{Kind, MAX_TEXT, Value, joined};
use super::Answer;
use std::sync::Arc;

/// What [`apply`] knows.
pub(super) const NAMES: &[&str] = &[
    "abs",
    "ceil",
    "chomp",
    "endswith",
    "floor",
    "format",
    "formatlist",
    "join",
    "jsondecode",
    "lower",
    "max",
    "min",
    "parseint",
    "pow",
    "replace",
    "signum",
    "split",
    "startswith",
    "strcontains",
    "strrev",
    "substr",
    "title",
    "tobool",
    "tonumber",
    "tostring",
    "trim",
    "trimprefix",
    "trimspace",
    "trimsuffix",
    "upper",
];

#[allow(clippy::too_many_lines, reason = "a table")]
pub(super) fn apply(name: &str, values: &[Value]) -> Answer {
    let text = |at: usize| values.get(at).and_then(Value::to_text);
    let number = |at: usize| values.get(at).and_then(Value::to_number);
    let answer = match (name, values.len()) {
        ("max" | "min", 1..) => {
            let mut best = number(0)?;
            for value in values {
                let other = value.to_number()?;
                best = if name == "max" {
                    best.max(other)
                } else {
                    best.min(other)
                };
            }
            Value::number(best)
        }
        ("ceil", 1) => Value::number(number(0)?.ceil()),
        ("floor", 1) => Value::number(number(0)?.floor()),
        ("abs", 1) => Value::number(number(0)?.abs()),
        ("signum", 1) => Value::number(number(0).map(|n| if n == 0.0 { 0.0 } else { n.signum() })?),
        ("pow", 2) => Value::number(number(0)?.powf(number(1)?)),
        ("parseint", 2) => {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the range is checked"
            )]
            let base = number(1).filter(|base| (2.0..=36.0).contains(base))? as u32;
            #[allow(clippy::cast_precision_loss, reason = "as precise as any number here")]
            Value::number(i64::from_str_radix(&text(0)?, base).ok()? as f64)
        }
        ("lower", 1) => Value::text(text(0)?.to_lowercase()),
        ("upper", 1) => Value::text(text(0)?.to_uppercase()),
        ("title", 1) => Value::text(title(&text(0)?)),
        ("trimspace", 1) => Value::text(text(0)?.trim()),
        ("chomp", 1) => Value::text(text(0)?.trim_end_matches(['\r', '\n'])),
        ("strrev", 1) => Value::text(text(0)?.chars().rev().collect::<String>()),
        ("trim", 2) => {
            let set: Vec<char> = text(1)?.chars().collect();
            Value::text(text(0)?.trim_matches(set.as_slice()))
        }
        ("trimprefix", 2) => {
            let (text, prefix) = (text(0)?, text(1)?);
            Value::text(text.strip_prefix(&*prefix).unwrap_or(&text))
        }
        ("trimsuffix", 2) => {
            let (text, suffix) = (text(0)?, text(1)?);
            Value::text(text.strip_suffix(&*suffix).unwrap_or(&text))
        }
        ("startswith", 2) => Value::bool(text(0)?.starts_with(&*text(1)?)),
        ("endswith", 2) => Value::bool(text(0)?.ends_with(&*text(1)?)),
        ("strcontains", 2) => Value::bool(text(0)?.contains(&*text(1)?)),
        ("substr", 3) => substr(&text(0)?, number(1)?, number(2)?)?,
        ("split", 2) => {
            let (separator, text) = (text(0)?, text(1)?);
            if separator.is_empty() {
                Value::list(text.chars().map(|c| Value::text(c.to_string())).collect())
            } else {
                Value::list(text.split(&*separator).map(Value::text).collect())
            }
        }
        ("replace", 3) => replace(&text(0)?, &text(1)?, &text(2)?)?,
        ("format", 1..) => format(&text(0)?, values.get(1..)?)?,
        ("tostring", 1) => match &values[0].kind {
            Kind::Null => Value::null(),
            _ => Value::text(text(0)?),
        },
        ("tonumber", 1) => match &values[0].kind {
            Kind::Null => Value::null(),
            _ => Value::number(number(0)?),
        },
        ("tobool", 1) => match &values[0].kind {
            Kind::Null => Value::null(),
            _ => Value::bool(values[0].to_bool()?),
        },
        _ => return None,
    };
    Some(answer)
}

fn title(text: &str) -> String {
    let mut start = true;
    text.chars()
        .flat_map(|c| {
            let upper = start && c.is_alphabetic();
            start = !(c.is_alphanumeric() || c == '_' || c == '\'');
            if upper {
                c.to_uppercase().collect::<Vec<_>>()
            } else {
                vec![c]
            }
        })
        .collect()
}

fn substr(text: &str, offset: f64, length: f64) -> Answer {
    let chars: Vec<char> = text.chars().collect();
    #[allow(clippy::cast_precision_loss, reason = "texts are short")]
    let total = chars.len() as f64;
    let start = if offset < 0.0 { total + offset } else { offset };
    if start < 0.0 || start > total {
        return None;
    }
    let end = if length < 0.0 {
        total
    } else {
        (start + length).min(total)
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "both lie in the text"
    )]
    let range = start as usize..end as usize;
    Some(Value::text(chars.get(range)?.iter().collect::<String>()))
}

/// Plain texts, and those patterns between slashes that are one set of characters or a plain text.
fn replace(text: &str, from: &str, to: &str) -> Answer {
    let replaced = match from.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        Some(pattern) => return replace_pattern(text, pattern, to),
        None if from.is_empty() => return None,
        None => text.replace(from, to),
    };
    (replaced.len() <= MAX_TEXT).then(|| Value::text(replaced))
}

fn replace_pattern(text: &str, pattern: &str, to: &str) -> Answer {
    let unsupported = || Some(Value::unknown("a pattern of `replace` is not understood yet"));
    let plain = |text: &str| {
        text.chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | ':' | '/' | ',' | '.'))
    };
    if to.contains('$') {
        return unsupported();
    }
    if let Some(set) = pattern.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let simple = plain(set)
            && !set
                .get(1..set.len().saturating_sub(1))
                .is_some_and(|middle| middle.contains('-'));
        if !simple {
            return unsupported();
        }
        let set: Vec<char> = set.chars().collect();
        return Some(Value::text(text.replace(set.as_slice(), to)));
    }
    if !pattern.is_empty() && plain(pattern) && !pattern.contains('.') {
        return Some(Value::text(text.replace(pattern, to)));
    }
    unsupported()
}

/// The verbs that names are made with: `%s`, `%d`, `%v`, `%q`, `%%`, and a width filled with zeros.
fn format(pattern: &str, arguments: &[Value]) -> Answer {
    let mut parts: Vec<Value> = Vec::new();
    let mut rest = pattern;
    let mut next = arguments.iter();
    while let Some((before, after)) = rest.split_once('%') {
        parts.push(Value::text(before));
        let end = after.find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | '#')))?;
        let flags = after.get(..end)?;
        let verb = after.get(end..)?.chars().next()?;
        rest = after.get(end + verb.len_utf8()..)?;
        if verb == '%' {
            parts.push(Value::text("%"));
            continue;
        }
        let argument = next.next()?;
        let shown: Value = match (verb, argument.to_text()) {
            ('s' | 'v' | 'd', Some(text)) => Value::text(text),
            ('q', Some(text)) => Value::text(serde_json::Value::from(&*text).to_string()),
            ('s' | 'v', None) if matches!(argument.kind, Kind::Reference(..) | Kind::Template(_)) => argument.clone(),
            _ => return Some(Value::unknown("a verb of `format` is not understood yet")),
        };
        parts.push(match (flags, shown.to_text()) {
            ("", _) => shown,
            (flags, Some(text)) => Value::text(padded(flags, &text)?),
            _ => return None,
        });
    }
    parts.push(Value::text(rest));
    Some(joined(parts))
}

fn padded(flags: &str, text: &Arc<str>) -> Option<String> {
    let width: usize = flags
        .trim_start_matches('0')
        .parse()
        .ok()
        .filter(|width| *width <= 1000)?;
    let fill = if flags.starts_with('0') { '0' } else { ' ' };
    let missing = width.saturating_sub(text.chars().count());
    Some(std::iter::repeat_n(fill, missing).collect::<String>() + text)
}
