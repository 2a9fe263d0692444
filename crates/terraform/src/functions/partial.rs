//! Functions of partly known strings, such as an ARN with an unknown Region or a queue name that AWS completes. The
//! unknown parts of the argument are preserved in the result.

use super::FunctionResult;
use crate::provider;
use crate::types::Type;
use crate::value::{Value, ValueKind, joined};

/// Evaluates `startswith` or `endswith` if the first or last part of the string is known.
pub(crate) fn has(
    text: &Value,
    wanted: &Value,
    side: fn(&[Value]) -> Option<&Value>,
    holds: fn(&str, &str) -> bool,
) -> FunctionResult {
    let ValueKind::Template(parts) = &text.kind else {
        return None;
    };
    let (known, wanted) = (side(parts)?.to_text()?, wanted.to_text()?);
    let decided = known.len() >= wanted.len() || !holds(&wanted, &known);
    decided.then(|| Value::bool(holds(&known, &wanted)))
}

/// Evaluates `trimprefix`.
pub(crate) fn without_prefix(text: &Value, prefix: &Value) -> FunctionResult {
    let wanted = prefix.to_text()?;
    let found = has(text, prefix, <[Value]>::first, |a, b| a.starts_with(b))?.to_bool()?;
    Some(if found {
        changed(text, 0, |known| known.get(wanted.len()..).unwrap_or(""))?
    } else {
        text.clone()
    })
}

/// Evaluates `trimsuffix`.
pub(crate) fn without_suffix(text: &Value, suffix: &Value) -> FunctionResult {
    let wanted = suffix.to_text()?;
    let found = has(text, suffix, <[Value]>::last, |a, b| a.ends_with(b))?.to_bool()?;
    let last = parts(text)?.len().checked_sub(1)?;
    Some(if found {
        changed(text, last, |known| {
            known.get(..known.len().saturating_sub(wanted.len())).unwrap_or("")
        })?
    } else {
        text.clone()
    })
}

/// Evaluates `chomp`.
pub(crate) fn without_line_end(text: &Value) -> FunctionResult {
    let last = match &text.kind {
        ValueKind::Reference(..) => 0,
        _ => parts(text)?.len().checked_sub(1)?,
    };
    trimmed(text, last, |known| known.trim_end_matches(['\r', '\n']))
}

/// Evaluates `trimspace`.
pub(crate) fn without_space(text: &Value) -> FunctionResult {
    let text = trimmed(text, 0, str::trim_start)?;
    let last = parts(&text).map_or(0, |parts| parts.len().saturating_sub(1));
    trimmed(&text, last, str::trim_end)
}

/// Evaluates `replace` of a known text by an unknown one.
pub(crate) fn replaced(text: &Value, from: &Value, to: &Value) -> FunctionResult {
    let is_open = matches!(to.kind, ValueKind::Reference(..) | ValueKind::Template(_));
    let (text, from) = (text.to_text()?, from.to_text()?);
    let is_pattern = from.len() > 1 && from.starts_with('/') && from.ends_with('/');
    if !is_open || is_pattern || from.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    for (at, piece) in text.split(&*from).enumerate() {
        if at > 0 {
            parts.push(to.clone());
        }
        parts.push(Value::text(piece));
    }
    Some(joined(parts))
}

/// Evaluates `split` with a separator that no ARN, URL or name contains.
pub(crate) fn pieces(separator: &Value, text: &Value) -> FunctionResult {
    if !matches!(text.kind, ValueKind::Reference(..) | ValueKind::Template(_)) {
        return None;
    }
    let separator = separator.to_text()?;
    if !separator.contains([',', ';', '|', ' ', '\n']) {
        return None;
    }
    let inner = match &text.kind {
        ValueKind::Template(parts) => parts.to_vec(),
        _ => vec![text.clone()],
    };
    let mut pieces: Vec<Vec<Value>> = vec![Vec::new()];
    for part in inner {
        let Some(known) = part.to_text() else {
            if !is_solid(&part) {
                return None;
            }
            pieces.last_mut()?.push(part);
            continue;
        };
        for (at, piece) in known.split(&*separator).enumerate() {
            if at > 0 {
                pieces.push(Vec::new());
            }
            pieces.last_mut()?.push(Value::text(piece));
        }
    }
    let texts = pieces.into_iter().map(joined).collect();
    Some(Value::list_of(texts, &Type::Text))
}

/// Quotes a string in which nothing needs to be escaped.
pub(crate) fn quoted(text: &Value) -> FunctionResult {
    let is_clean = |part: &Value| match part.to_text() {
        Some(known) => !known.contains(|c: char| c == '"' || c == '\\' || c.is_control()),
        None => is_solid(part),
    };
    let inner = match &text.kind {
        ValueKind::Template(parts) => parts.to_vec(),
        _ => vec![text.clone()],
    };
    if !inner.iter().all(is_clean) {
        return None;
    }
    let mut parts = vec![Value::text("\"")];
    parts.extend(inner);
    parts.push(Value::text("\""));
    Some(joined(parts))
}

fn parts(text: &Value) -> Option<&[Value]> {
    match &text.kind {
        ValueKind::Template(parts) => Some(parts),
        _ => None,
    }
}

/// Returns `true` for an ARN, a URL or a name, which contain no spaces and are never empty.
fn is_solid(part: &Value) -> bool {
    matches!(&part.kind, ValueKind::Reference(id, attribute) if provider::form(&id.kind, attribute).is_some())
}

/// Trims the part `at` of a string; `None` if the adjacent part may have to be trimmed as well.
fn trimmed(text: &Value, at: usize, trim: fn(&str) -> &str) -> FunctionResult {
    if is_solid(text) {
        return Some(text.clone());
    }
    let all = parts(text)?;
    let part = all.get(at)?;
    match part.to_text() {
        None => is_solid(part).then(|| text.clone()),
        Some(known) if trim(&known).is_empty() => {
            let next = if at == 0 {
                all.get(1)
            } else {
                all.get(at.checked_sub(1)?)
            };
            is_solid(next?).then(|| changed(text, at, trim))?
        }
        Some(_) => changed(text, at, trim),
    }
}

fn changed(text: &Value, at: usize, change: impl Fn(&str) -> &str) -> FunctionResult {
    let mut all = parts(text)?.to_vec();
    let known = all.get(at)?.to_text()?;
    *all.get_mut(at)? = Value::text(change(&known));
    Some(text.with(joined(all)))
}
