//! Resolves plain scalars by YAML 1.1, as `PyYAML` does: `yes` is a boolean, `012` is ten, `1:30` is ninety. Dates stay
//! strings, because CloudFormation reads `2012-10-17` as a string.

use crate::Value;
use std::sync::Arc;

/// Returns the value of a plain scalar without a tag.
pub(super) fn resolve(text: &str) -> Value {
    null(text)
        .or_else(|| boolean(text))
        .or_else(|| number(text))
        .unwrap_or_else(|| Value::String(Arc::from(text)))
}

/// Returns the value of a scalar with the standard tag `kind`, or a string if the text does not fit the tag.
pub(super) fn convert(text: &str, kind: &str) -> Value {
    let value = match kind {
        "null" => null(text),
        "bool" => boolean(text),
        "int" => integer(text),
        "float" => number(text).map(|value| match value {
            #[allow(clippy::cast_precision_loss)] // `!!float` requires it
            Value::Integer(whole) => Value::Float(whole as f64),
            other => other,
        }),
        _ => None,
    };
    value.unwrap_or_else(|| Value::String(Arc::from(text)))
}

fn null(text: &str) -> Option<Value> {
    matches!(text, "" | "~" | "null" | "Null" | "NULL").then_some(Value::Null)
}

fn boolean(text: &str) -> Option<Value> {
    match text {
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(Value::Bool(true)),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Some(Value::Bool(false)),
        _ => None,
    }
}

fn number(text: &str) -> Option<Value> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    integer(text).or_else(|| float(text))
}

/// Splits off the sign; `true` is negative.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn integer(text: &str) -> Option<Value> {
    let (negative, body) = signed(text);
    let (radix, digits) = match body.as_bytes() {
        [b'0', b'b', ..] => (2, body.get(2..)?),
        [b'0', b'x', ..] => (16, body.get(2..)?),
        [b'0', _, ..] => (8, body.get(1..)?),
        _ => (10, body),
    };
    if radix == 10 && !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if radix == 10 && digits.contains(':') {
        return sexagesimal(digits, negative);
    }
    if !digits.chars().all(|c| c == '_' || c.is_digit(radix)) {
        return None;
    }
    let digits: String = digits.chars().filter(|&c| c != '_').collect();
    if digits.is_empty() {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    match i64::from_str_radix(&format!("{sign}{digits}"), radix) {
        Ok(whole) => Some(Value::Integer(whole)),
        // Too large for an `i64`; its magnitude is still useful.
        Err(_) => (radix == 10).then(|| digits.parse().ok().map(|size: f64| sign_of(size, negative)))?,
    }
}

fn sign_of(size: f64, negative: bool) -> Value {
    Value::Float(if negative { -size } else { size })
}

/// Parses a number in base sixty: `1:30` is 90. Every part except the first is below sixty.
fn sexagesimal(digits: &str, negative: bool) -> Option<Value> {
    let mut places = digits.split(':');
    let first = places.next()?;
    if !first.starts_with(|c: char| ('1'..='9').contains(&c)) || !first.bytes().all(|b| b == b'_' || b.is_ascii_digit())
    {
        return None;
    }
    let mut total: i64 = first.replace('_', "").parse().ok()?;
    for place in places {
        let fits = matches!(place.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
        if !fits {
            return None;
        }
        total = total.checked_mul(60)?.checked_add(place.parse().ok()?)?;
    }
    Some(Value::Integer(if negative { -total } else { total }))
}

fn float(text: &str) -> Option<Value> {
    let (negative, body) = signed(text);
    if matches!(body, ".inf" | ".Inf" | ".INF") {
        return Some(sign_of(f64::INFINITY, negative));
    }
    if matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Some(Value::Float(f64::NAN));
    }
    let (whole, rest) = body.split_once('.')?;
    let (fraction, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (rest.get(..at)?, rest.get(at + 1..)),
        None => (rest, None),
    };
    if whole.contains(':') {
        return None; // base sixty with a fraction: no property takes one, so it stays text
    }
    let digits = |part: &str| part.bytes().all(|b| b == b'_' || b.is_ascii_digit());
    let starts = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let mantissa = digits(whole) && digits(fraction) && (starts(whole) || (whole.is_empty() && starts(fraction)));
    let power = exponent.is_none_or(|power| {
        power
            .strip_prefix(['+', '-'])
            .is_some_and(|power| !power.is_empty() && power.bytes().all(|b| b.is_ascii_digit()))
    });
    // PyYAML accepts no sign before a leading point.
    let sign = !whole.is_empty() || body.len() == text.len();
    if !(mantissa && power && sign) {
        return None;
    }
    let size: f64 = body.replace('_', "").parse().ok()?;
    Some(sign_of(size, negative))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::approx_constant)]
    fn plain_scalars_resolve_as_in_yaml_1_1() {
        use Value::{Bool, Float, Integer, Null};
        let cases = [
            ("", Null),
            ("~", Null),
            ("null", Null),
            ("yes", Bool(true)),
            ("Off", Bool(false)),
            ("TRUE", Bool(true)),
            ("0", Integer(0)),
            ("-12", Integer(-12)),
            ("012", Integer(10)),
            ("0x1F", Integer(31)),
            ("0b101", Integer(5)),
            ("1_000", Integer(1000)),
            ("1:30", Integer(90)),
            ("1:00:00", Integer(3600)),
            ("-9223372036854775808", Integer(i64::MIN)),
            ("99999999999999999999", Float(1e20)),
            ("1.5", Float(1.5)),
            ("1.", Float(1.0)),
            (".5", Float(0.5)),
            ("1.0e+3", Float(1000.0)),
            ("-1.5", Float(-1.5)),
            ("-.inf", Float(f64::NEG_INFINITY)),
        ];
        for (text, expected) in cases {
            assert_eq!(resolve(text), expected, "{text}");
        }
        let strings = [
            "y",
            "n",
            "yEs",
            "0o12",
            "089",
            "1e3",
            "1.0e3",
            "2012-10-17",
            "1:90",
            "0x",
            "0b",
            "-",
            "+",
            ".",
            "1.2.3",
            "nULL",
            "-.5",
            "123456789012a",
            "_1",
            "1:2:",
            "-0b",
            "--1",
            "0b+1",
        ];
        for text in strings {
            assert_eq!(resolve(text), Value::String(Arc::from(text)), "{text}");
        }
    }
}
