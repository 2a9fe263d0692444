//! `yamldecode`: interprets YAML scalars and keys as Terraform does, which differs from CloudFormation.
//!
//! A part that is not supported (a tag, a time) is unknown, and the rest is known.

use super::FunctionResult;
use crate::eval::{Evaluator, TOO_MANY_STEPS};
use crate::number::Number;
use crate::value::Value;
use knowledge::Cause;
use std::sync::Arc;
use trees::yaml;
use trees::{Entry, Node, Value as Tree};

pub(super) fn decode(eval: &mut Evaluator, text: &str) -> FunctionResult {
    let file = eval.place()?.file;
    if !eval.spend(text.len() / 16) {
        return Some(Value::beyond(TOO_MANY_STEPS));
    }
    let parsed = yaml::parse(text, file);
    if !parsed.limits.is_empty() {
        return Some(eval.reached("a YAML text is nested too deep or repeats itself too often"));
    }
    match parsed.documents.as_slice() {
        [one] if parsed.errors.is_empty() => Some(value(one, text)),
        _ => None,
    }
}

fn not_understood() -> Value {
    Value::unknown(Cause::Unsupported.because("a part of the YAML is not supported"))
}

fn value(node: &Node, text: &str) -> Value {
    let written = text.get(node.span.range()).unwrap_or("");
    match &node.value {
        Tree::Sequence(items) => Value::list(items.iter().map(|item| value(item, text)).collect()),
        Tree::Mapping(entries) => {
            let pair = |entry: &Entry| Some((key(entry, text)?, value(&entry.value, text)));
            let entries: Option<Vec<_>> = entries.iter().map(pair).collect();
            entries.map_or_else(not_understood, Value::map)
        }
        scalar if written.starts_with('*') => aliased(scalar, written, node.span.start as usize, text),
        Tree::String(content) if written.starts_with(['"', '\'', '|', '>']) || written.contains('\n') => {
            Value::text(content.clone())
        }
        Tree::String(content) if written.starts_with("!!str") => Value::text(content.clone()),
        _ if written.starts_with(['!', '&']) => not_understood(),
        _ => plain(written).unwrap_or_else(not_understood),
    }
}

/// Returns a key as a string after interpreting it: `on` is `true`, `012` is `12`.
fn key(entry: &Entry, text: &str) -> Option<Arc<str>> {
    let written = text.get(entry.key_span.range()).unwrap_or("");
    match written.chars().next() {
        // A tag that was merged into a key, or something that cannot be distinguished from one.
        Some('!' | '&' | '*') => None,
        Some('"' | '\'') => Some(entry.key.clone()),
        _ if *written != *entry.key => Some(entry.key.clone()),
        _ => plain(written)?.to_text(),
    }
}

/// Returns the scalar that an alias refers to. It is interpreted again at its anchor, and unknown if the two
/// interpretations differ.
fn aliased(scalar: &Tree, alias: &str, at: usize, text: &str) -> Value {
    let anchor = format!("&{} ", alias.trim_start_matches('*'));
    let before = text.get(..at).unwrap_or("");
    let line = before
        .rfind(&anchor)
        .and_then(|found| before.get(found + anchor.len()..)?.lines().next());
    let Some(line) = line.map(str::trim) else {
        return not_understood();
    };
    if let (Tree::String(content), true) = (scalar, line.starts_with(['"', '\'', '|', '>'])) {
        return Value::text(content.clone());
    }
    let line = line.split(" #").next().unwrap_or("");
    let written = line.split([',', ']', '}']).next().unwrap_or("").trim();
    let read = plain(written).unwrap_or_else(not_understood);
    let agreed = match scalar {
        Tree::Null => read.is_null(),
        Tree::Bool(known) => read.to_bool() == Some(*known),
        Tree::Integer(known) => read.to_whole() == Some(*known),
        Tree::Float(known) => read
            .to_exact()
            .is_some_and(|number| number.to_f64().total_cmp(known).is_eq()),
        Tree::String(known) => read.to_text().as_ref() == Some(known),
        Tree::Sequence(_) | Tree::Mapping(_) => false,
    };
    if agreed { read } else { not_understood() }
}

/// Interprets a plain scalar; `None` if it is not supported.
fn plain(written: &str) -> Option<Value> {
    match written {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::null()),
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y" => {
            return Some(Value::bool(true));
        }
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "n" | "N" => {
            return Some(Value::bool(false));
        }
        "<<" => return None,
        _ => {}
    }
    let unsigned = written.strip_prefix(['-', '+']).unwrap_or(written);
    match unsigned {
        ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN" => return None,
        _ => {}
    }
    if is_digits(unsigned) {
        let digits = unsigned.trim_start_matches('0');
        let digits = if digits.is_empty() { "0" } else { digits };
        let number = Number::parse(digits)?;
        return Some(Value::exact(if written.starts_with('-') {
            number.neg()
        } else {
            number
        }));
    }
    if let Some(digits) = written.strip_prefix("0o").filter(|digits| is_made_of(digits, 8)) {
        return i64::from_str_radix(digits, 8).ok().map(Value::number);
    }
    if let Some(digits) = written.strip_prefix("0x").filter(|digits| is_made_of(digits, 16)) {
        return i64::from_str_radix(digits, 16).ok().map(Value::number);
    }
    if is_decimal(unsigned) {
        return written.parse().ok().and_then(Number::computed).map(Value::exact);
    }
    let shape: String = written
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    match shape.as_str() {
        "0000-00-00" => Some(Value::text(format!("{written}T00:00:00Z"))),
        // It may be a time.
        other if other.starts_with("0000-0") => None,
        _ => Some(Value::text(written)),
    }
}

fn is_digits(text: &str) -> bool {
    is_made_of(text, 10)
}

fn is_made_of(text: &str, radix: u32) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_digit(radix))
}

/// Returns `true` for decimal numbers: `1.5`, `.5`, `5.`, `1e3`.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_mantissa =
        (is_digits(whole) && (fraction.is_empty() || is_digits(fraction))) || (whole.is_empty() && is_digits(fraction));
    is_mantissa && exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['-', '+']).unwrap_or(exponent)))
}
