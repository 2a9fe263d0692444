//! Converts between JSON text and Terraform values, keeping references intact.

use super::number::Number;
use super::provider;
use super::value::{Value, ValueKind, joined};
use knowledge::Cause;
use knowledge::Form;
use std::sync::Arc;
use trees::json::{ends_in_string, is_faulty};
use trees::{Node, Value as Tree};

/// Delimiters of the placeholder for a reference while the text around it is parsed. They are private-use characters,
/// which do not occur in policies.
const OPEN: char = '\u{f0001}';
const CLOSE: char = '\u{f0002}';

/// Parses a string, a template, or the result of `jsonencode` as JSON.
pub fn decode(value: &Value) -> Result<Value, &'static str> {
    let decoded = match &value.kind {
        ValueKind::Encoded(inner) | ValueKind::Rendered(inner) => {
            let mut inner = (**inner).clone();
            inner.span = inner.span.or(value.span);
            inner
        }
        ValueKind::Text(text) => parse(text, &[])?,
        ValueKind::Template(parts) => {
            let mut text = String::new();
            let mut held: Vec<Value> = Vec::new();
            for part in parts.iter() {
                if let ValueKind::Text(literal) = &part.kind {
                    text.push_str(literal);
                    continue;
                }
                let inside = ends_in_string(&text);
                if !inside && is_link(part) {
                    return Err("an ARN or a URL stands in it without quotes");
                }
                let quote = if inside { "" } else { "\"" };
                text.push_str(&format!("{quote}{OPEN}{}{CLOSE}{quote}", held.len()));
                held.push(match &part.kind {
                    // In `"key": ${jsonencode(value)}` the entry is `value` itself.
                    ValueKind::Encoded(inner) if !inside => (**inner).clone(),
                    _ => part.clone(),
                });
            }
            parse(&text, &held)?
        }
        _ => return Err("it is not a string"),
    };
    Ok(decoded.from(std::slice::from_ref(value)))
}

/// Parses a string or a template as YAML.
pub fn decode_yaml(value: &Value) -> Option<Value> {
    let (mut text, mut held) = (String::new(), Vec::new());
    let parts = match &value.kind {
        ValueKind::Template(parts) => &parts[..],
        _ => std::slice::from_ref(value),
    };
    for part in parts {
        if let ValueKind::Text(literal) = &part.kind {
            text.push_str(literal);
        } else {
            text.push_str(&format!("{OPEN}{}{CLOSE}", held.len()));
            held.push(part.clone());
        }
    }
    let parsed = trees::yaml::parse(&text, value.span?.file);
    let document = parsed.documents.first()?;
    let is_whole = parsed.errors.is_empty() && parsed.limits.is_empty();
    is_whole.then(|| of_tree(document, &held).from(std::slice::from_ref(value)))
}

/// Converts a tree, of which only the strings are known.
fn of_tree(node: &Node, held: &[Value]) -> Value {
    match &node.value {
        Tree::String(text) => restore(text, held),
        Tree::Sequence(items) => Value::list(items.iter().map(|item| of_tree(item, held)).collect()),
        Tree::Mapping(entries) => {
            let pairs = entries
                .iter()
                .map(|entry| (entry.key.clone(), of_tree(&entry.value, held)));
            Value::map(pairs.collect())
        }
        _ => Value::unknown(Cause::Unsupported.because("only strings of the YAML are read")),
    }
}

/// Returns `true` if a string that cannot be parsed as JSON stays malformed whatever its unknown parts are: the fault
/// precedes the first part that may be arbitrary JSON.
pub fn is_malformed(value: &Value) -> bool {
    let ValueKind::Template(parts) = &value.kind else {
        return true;
    };
    let mut text = String::new();
    for part in parts.iter() {
        if let ValueKind::Text(literal) = &part.kind {
            text.push_str(literal);
        } else if ends_in_string(&text) {
            text.push('?');
        } else if is_link(part) {
            return true; // It is outside of quotes.
        } else {
            return is_faulty(&text);
        }
    }
    true
}

/// Returns `true` if a part is an ARN or a URL, neither of which is JSON.
fn is_link(part: &Value) -> bool {
    let form = match &part.kind {
        ValueKind::Reference(id, attribute) => provider::form(&id.kind, attribute),
        _ => None,
    };
    matches!(form, Some(Form::Arn | Form::Url))
}

fn parse(text: &str, held: &[Value]) -> Result<Value, &'static str> {
    if !numbers_are_short(text) {
        return Ok(Value::unknown(Cause::Unsupported.because(TOO_FINE)));
    }
    let json: serde_json::Value = serde_json::from_str(text).map_err(|_| "it is not JSON")?;
    Ok(convert(json, held))
}

const TOO_FINE: &str = "a number of the JSON has too many digits";

/// Returns `true` if no number outside of strings has more digits than `serde_json` preserves.
fn numbers_are_short(text: &str) -> bool {
    let (mut inside, mut escaped, mut digits) = (false, false, 0);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'0'..=b'9' | b'.' if !inside => digits += 1,
            _ => digits = 0,
        }
        if digits > 16 {
            return false;
        }
    }
    true
}

/// Returns `true` if the value contains no infinite number. JSON cannot represent those.
pub fn is_finite(value: &Value) -> bool {
    match &value.kind {
        ValueKind::Number(number) => !number.is_infinite(),
        ValueKind::List(items) | ValueKind::Set(items) => items.iter().all(is_finite),
        ValueKind::Map(entries) => entries.iter().all(|(_, value)| is_finite(value)),
        _ => true,
    }
}

/// Renders encoded JSON, or a template that contains it, as a plain string if nothing in it is unknown.
pub fn settled(value: Value) -> Value {
    match &value.kind {
        ValueKind::Encoded(inner) if inner.is_plain() => value.with(encode(inner)),
        ValueKind::Template(parts) if parts.iter().all(|part| part.to_text().is_some() || part.is_plain()) => {
            let parts = parts.iter().map(|part| settled(part.clone())).collect();
            value.with(joined(parts))
        }
        _ => value,
    }
}

fn convert(json: serde_json::Value, held: &[Value]) -> Value {
    match json {
        serde_json::Value::Null => Value::null(),
        serde_json::Value::Bool(value) => Value::bool(value),
        serde_json::Value::Number(number) => match Number::parse(&number.to_string()) {
            Some(number) => Value::exact(number),
            None => Value::unknown(Cause::Unsupported.because(TOO_FINE)),
        },
        serde_json::Value::String(text) => restore(&text, held),
        serde_json::Value::Array(items) => Value::list(items.into_iter().map(|item| convert(item, held)).collect()),
        serde_json::Value::Object(entries) => Value::map(
            entries
                .into_iter()
                .map(|(key, value)| (Arc::from(key.as_str()), convert(value, held)))
                .collect(),
        ),
    }
}

/// Replaces the placeholders in `text` by the values they represent.
fn restore(text: &str, held: &[Value]) -> Value {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let Some((number, after)) = after.split_once(CLOSE) else {
            break;
        };
        if !before.is_empty() {
            parts.push(Value::text(before));
        }
        if let Some(value) = number.parse::<usize>().ok().and_then(|at| held.get(at)) {
            parts.push(value.clone());
        }
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Value::text(rest));
    }
    match parts.len() {
        1 => parts.remove(0),
        _ => joined(parts),
    }
}

/// Returns the JSON text of a value; a template if it contains references.
pub fn encode(value: &Value) -> Value {
    let mut parts = Vec::new();
    let mut text = String::new();
    write(value, &mut text, &mut parts);
    parts.push(Value::text(text));
    joined(parts)
}

fn write(value: &Value, text: &mut String, parts: &mut Vec<Value>) {
    match &value.kind {
        ValueKind::Null => text.push_str("null"),
        ValueKind::Bool(value) => text.push_str(&value.to_string()),
        ValueKind::Number(number) => text.push_str(&number.to_string()),
        ValueKind::Text(inner) => text.push_str(&quoted(inner)),
        ValueKind::Encoded(inner) => match encode(inner).to_text() {
            Some(inner) => text.push_str(&quoted(&inner)),
            None => hold(value, text, parts),
        },
        ValueKind::List(items) | ValueKind::Set(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(item, text, parts);
            }
            text.push(']');
        }
        ValueKind::Map(entries) => {
            text.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push_str(&quoted(key));
                text.push(':');
                write(value, text, parts);
            }
            text.push('}');
        }
        _ => hold(value, text, parts),
    }
}

fn hold(value: &Value, text: &mut String, parts: &mut Vec<Value>) {
    text.push('"');
    parts.push(Value::text(std::mem::take(text)));
    parts.push(value.clone());
    text.push('"');
}

/// Quotes a string with the escapes that Terraform uses.
pub(crate) fn quoted(text: &str) -> String {
    let plain = serde_json::Value::from(text).to_string();
    plain
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
