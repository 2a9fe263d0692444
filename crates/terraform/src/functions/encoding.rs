//! Encodings: base64, URLs, CSV and YAML. JSON is in `json.rs`, because it preserves unknown parts.

use super::FunctionResult;
use crate::json;
use crate::limits;
use crate::types::Type;
use crate::value::{Value, ValueKind};
use knowledge::Cause;
use std::sync::Arc;
use trees::base64;

/// Evaluates `base64decode`.
pub(crate) fn from_base64(text: &Value) -> FunctionResult {
    Some(Value::text(String::from_utf8(base64::decoded(&text.to_text()?)?).ok()?))
}

/// Evaluates `textdecodebase64`.
pub(crate) fn from_base64_in(text: &Value, encoding: &Value) -> FunctionResult {
    decode_as(&base64::decoded(&text.to_text()?)?, &encoding.to_text()?)
}

/// Evaluates `yamlencode`.
pub(crate) fn to_yaml(value: &Value) -> Value {
    if !value.is_plain() {
        return Value::unknown(Cause::KnownAfterApply.because("an argument of `yamlencode` is known only after apply"));
    }
    let mut written = String::new();
    if write_yaml(value, 0, &mut written).is_none() {
        return Value::unknown(Cause::Unsupported.because("it cannot be written as YAML"));
    }
    // A document that is a single plain scalar has an end marker.
    if matches!(value.kind, ValueKind::Null | ValueKind::Bool(_) | ValueKind::Number(_)) {
        written.push_str("...\n");
    }
    Value::text(written)
}

/// Evaluates `textencodebase64`.
pub(crate) fn encode_as(text: &str, encoding: &str) -> Value {
    let bytes: Vec<u8> = match encoding.to_ascii_uppercase().as_str() {
        "UTF-8" => text.bytes().collect(),
        "UTF-16LE" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "UTF-16BE" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => return Value::unknown(Cause::Unsupported.because(format!("the encoding `{encoding}` is not supported"))),
    };
    Value::text(base64::encoded(&bytes))
}

fn decode_as(bytes: &[u8], encoding: &str) -> FunctionResult {
    let wide = |read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .filter_map(|pair| pair.try_into().ok().map(read))
            .collect();
        String::from_utf16(&units)
            .ok()
            .filter(|_| bytes.len().is_multiple_of(2))
    };
    let text = match encoding.to_ascii_uppercase().as_str() {
        "UTF-8" => String::from_utf8(bytes.to_vec()).ok(),
        "UTF-16LE" => wide(u16::from_le_bytes),
        "UTF-16BE" => wide(u16::from_be_bytes),
        _ => {
            return Some(Value::unknown(
                Cause::Unsupported.because(format!("the encoding `{encoding}` is not supported")),
            ));
        }
    };
    text.map(Value::text)
}

/// Evaluates `urlencode`.
pub(crate) fn urlencode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => encoded.push('+'),
            _ if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

pub(crate) fn csv(text: &str) -> FunctionResult {
    let mut rows = csv_rows(text)?.into_iter();
    let header = rows.next()?;
    let distinct: std::collections::BTreeSet<&String> = header.iter().collect();
    if distinct.len() < header.len() {
        return None;
    }
    let mut all = Vec::new();
    for row in rows {
        if row.len() != header.len() {
            return None;
        }
        let entries = header
            .iter()
            .zip(row)
            .map(|(name, cell)| (Arc::from(name.as_str()), Value::text(cell)));
        all.push(Value::map(entries.collect()));
    }
    let columns = header.iter().map(|name| (Arc::from(name.as_str()), Type::Text));
    Some(Value::list_of(all, &Type::Object(Arc::new(columns.collect()))))
}

fn csv_rows(text: &str) -> Option<Vec<Vec<String>>> {
    let text = text.replace("\r\n", "\n");
    let mut rows = Vec::new();
    let mut row: Vec<String> = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        if row.is_empty() && rest.starts_with('\n') {
            rest = rest.get(1..)?;
            continue;
        }
        let cell = if let Some(mut quoted) = rest.strip_prefix('"') {
            let mut cell = String::new();
            loop {
                let (before, after) = quoted.split_once('"')?;
                cell.push_str(before);
                let Some(more) = after.strip_prefix('"') else {
                    rest = after;
                    break cell;
                };
                cell.push('"');
                quoted = more;
            }
        } else {
            let (cell, after) = rest.split_at(rest.find([',', '\n']).unwrap_or(rest.len()));
            rest = after;
            if cell.contains('"') {
                return None;
            }
            cell.to_owned()
        };
        row.push(cell);
        match rest.chars().next() {
            Some(',') => {
                rest = rest.get(1..)?;
                if rest.is_empty() || rest.starts_with('\n') {
                    row.push(String::new());
                    rest = rest.strip_prefix('\n').unwrap_or(rest);
                    rows.push(std::mem::take(&mut row));
                }
            }
            Some('\n') => {
                rest = rest.get(1..)?;
                rows.push(std::mem::take(&mut row));
            }
            Some(_) => return None,
            None => rows.push(std::mem::take(&mut row)),
        }
    }
    Some(rows)
}

/// Writes YAML as Terraform does: with quoted keys and strings, and lists at the indentation of their key.
fn write_yaml(value: &Value, depth: usize, written: &mut String) -> Option<()> {
    if depth > limits::MAX_ENCODED_DEPTH || written.len() > limits::MAX_TEXT {
        return None;
    }
    let indent = "  ".repeat(depth);
    match &value.kind {
        ValueKind::Map(entries) if !entries.is_empty() => {
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    written.push_str(&indent);
                }
                written.push_str(&format!("{}:", json::quoted(key)));
                let (list, map) = (value.items(), value.entries());
                if list.is_some_and(|items| !items.is_empty()) {
                    written.push_str(&format!("\n{indent}"));
                    write_yaml(value, depth, written)?;
                } else if map.is_some_and(|entries| !entries.is_empty()) {
                    written.push_str(&format!("\n{indent}  "));
                    write_yaml(value, depth + 1, written)?;
                } else {
                    written.push(' ');
                    write_yaml(value, depth, written)?;
                }
            }
        }
        ValueKind::List(items) | ValueKind::Set(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    written.push_str(&indent);
                }
                written.push_str("- ");
                write_yaml(item, depth + 1, written)?;
            }
        }
        ValueKind::Map(_) => written.push_str("{}\n"),
        ValueKind::List(_) | ValueKind::Set(_) => written.push_str("[]\n"),
        ValueKind::Null => written.push_str("null\n"),
        ValueKind::Bool(_) | ValueKind::Number(_) => written.push_str(&format!("{}\n", value.to_text()?)),
        ValueKind::Text(text) if text.contains('\n') || !text.is_ascii() => return None,
        ValueKind::Text(text) => written.push_str(&format!("{}\n", serde_json::Value::from(&**text))),
        _ => return None,
    }
    Some(())
}
