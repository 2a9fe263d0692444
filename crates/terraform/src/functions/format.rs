//! `format` and `formatlist`.

use super::texts::characters;
use super::{FunctionResult, partial, plain_items};
use crate::eval::{Evaluator, TOO_MANY_STEPS};
use crate::json;
use crate::limits;
use crate::types::{self, Type};
use crate::value::{Value, ValueKind, joined};
use knowledge::Cause;
use num_bigint::BigInt;

/// Evaluates `format`.
pub(crate) fn one(values: &[Value]) -> FunctionResult {
    let (pattern, arguments) = values.split_first()?;
    format(&pattern.to_text()?, arguments)
}

/// Evaluates `format` with unknown arguments, which become unknown parts of the string.
pub(crate) fn partly(eval: &mut Evaluator, values: &[Value]) -> FunctionResult {
    let mut arguments = values.iter().skip(1);
    if !arguments.any(|value| value.as_unknown().is_some()) {
        return None;
    }
    let settled = values.iter().map(|value| json::settled(eval.plain(value.clone())));
    let settled: Vec<Value> = settled.collect();
    if settled.first()?.as_unknown().is_some() {
        return None;
    }
    one(&settled)
}

/// Evaluates `formatlist`.
pub(crate) fn each(eval: &mut Evaluator, values: &[Value]) -> FunctionResult {
    let pattern = values.first()?;
    // The pattern is a string or a list of strings.
    let text = types::convert(pattern, &Type::Text);
    let texts = types::convert(pattern, &Type::List(std::sync::Arc::new(Type::Text)));
    if text.is_refused() && texts.is_refused() {
        return None;
    }
    let mut count = None;
    for argument in values {
        if argument.items().is_some() {
            let length = plain_items(argument)?.len();
            if count.is_some_and(|count| count != length) {
                return None;
            }
            count = Some(length);
        }
    }
    let mut all = Vec::new();
    let length: usize = values.iter().filter_map(Value::to_text).map(|text| text.len()).sum();
    for at in 0..count.unwrap_or(1) {
        if !eval.spend(length / 64 + 1) {
            return Some(Value::beyond(TOO_MANY_STEPS));
        }
        let row: Vec<Value> = values
            .iter()
            .map(|argument| match argument.items() {
                Some(items) => items.get(at).map_or_else(Value::null, of_list),
                None => argument.clone(),
            })
            .collect();
        let (pattern, arguments) = row.split_first()?;
        all.push(format(&pattern.to_text()?, arguments)?);
    }
    Some(Value::list_of(all, &Type::Text))
}

/// Gives a null element of a list a type.
fn of_list(item: &Value) -> Value {
    if item.is_null() && item.declared.is_none() {
        return types::convert(item, &Type::Text);
    }
    item.clone()
}

/// A verb: `%…`.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "one per flag of a verb")]
struct Verb {
    plus: bool,
    space: bool,
    minus: bool,
    zero: bool,
    sharp: bool,
    width: Option<usize>,
    precision: Option<usize>,
    /// Index of its argument, from 1.
    argument: Option<usize>,
    letter: char,
}

/// Parses the verb after `%`; also returns the text that follows it.
fn verb(text: &str) -> Option<(Verb, &str)> {
    let mut verb = Verb::default();
    let mut rest = text;
    loop {
        let flag = rest.chars().next()?;
        match flag {
            '+' => verb.plus = true,
            ' ' => verb.space = true,
            '-' => verb.minus = true,
            '0' => verb.zero = true,
            '#' => verb.sharp = true,
            _ => break,
        }
        rest = rest.get(1..)?;
    }
    (verb.width, rest) = number(rest)?;
    if let Some(after) = rest.strip_prefix('.') {
        let (precision, after) = number(after)?;
        verb.precision = Some(precision.unwrap_or(0));
        rest = after;
    }
    if let Some(after) = rest.strip_prefix('[') {
        let (place, after) = number(after)?;
        verb.argument = Some(place.filter(|place| *place > 0)?);
        rest = after.strip_prefix(']')?;
    }
    verb.letter = rest.chars().next()?;
    let after = rest.get(verb.letter.len_utf8()..)?;
    Some((verb, after))
}

fn number(text: &str) -> Option<(Option<usize>, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.is_empty() {
        return Some((None, rest));
    }
    let number = digits
        .parse()
        .ok()
        .filter(|number| *number <= limits::MAX_FORMAT_WIDTH)?;
    Some((Some(number), rest))
}

fn format(pattern: &str, arguments: &[Value]) -> FunctionResult {
    let mut parts: Vec<Value> = Vec::new();
    let mut rest = pattern;
    let (mut next, mut most) = (0, 0);
    while let Some((before, after)) = rest.split_once('%') {
        parts.push(Value::text(before));
        if let Some(after) = after.strip_prefix('%') {
            parts.push(Value::text("%"));
            rest = after;
            continue;
        }
        let (verb, after) = verb(after)?;
        rest = after;
        let at = verb.argument.map_or(next, |place| place - 1);
        next = at + 1;
        most = most.max(next);
        parts.push(shown(&verb, arguments.get(at)?)?);
    }
    if most < arguments.len() {
        return None;
    }
    parts.push(Value::text(rest));
    Some(joined(parts))
}

fn shown(verb: &Verb, argument: &Value) -> FunctionResult {
    if argument.is_null() {
        return match (verb.letter, &argument.declared) {
            (_, None) => Some(Value::unknown(
                Cause::Unsupported.because("`format` does not know how to show null"),
            )),
            ('v', Some(_)) => Some(cut(verb, "null")),
            (_, Some(_)) => None,
        };
    }
    let is_simple = verb.width.is_none() && verb.precision.is_none() && !verb.sharp;
    if argument.as_unknown().is_some() {
        let unknown = || Value::unknown(Cause::Derived.because("an argument of `format` is not known"));
        let is_text = matches!(verb.letter, 's' | 'v') && is_simple;
        return Some(if is_text { argument.clone() } else { unknown() });
    }
    let filled = argument.to_text().is_none() && !argument.is_plain();
    if filled && matches!(verb.letter, 's' | 'v') && is_simple {
        let is_text = types::of(argument) == Type::Text;
        return is_text.then(|| argument.clone()).or_else(|| {
            Some(Value::unknown(
                Cause::Derived.because("an argument of `format` is not known"),
            ))
        });
    }
    if filled && verb.letter == 'q' && is_simple {
        let unknown = || Value::unknown(Cause::Derived.because("an argument of `format` is not known"));
        return Some(partial::quoted(argument).unwrap_or_else(unknown));
    }
    if filled {
        return Some(Value::unknown(
            Cause::Derived.because("an argument of `format` is not known"),
        ));
    }
    let text = match verb.letter {
        'v' if !verb.sharp => match &argument.kind {
            ValueKind::Number(number) => number.general(None, 'e'),
            ValueKind::Text(text) => text.to_string(),
            ValueKind::Bool(value) => value.to_string(),
            _ => json::encode(argument).to_text()?.to_string(),
        },
        'v' => json::encode(argument).to_text()?.to_string(),
        's' | 'q' => argument.to_text()?.to_string(),
        't' => argument.to_bool()?.to_string(),
        'd' | 'b' | 'o' | 'x' | 'X' => {
            return Some(whole(verb, &argument.to_exact()?.to_whole()?));
        }
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' => return fraction(verb, argument),
        _ => return None,
    };
    Some(cut(verb, &text))
}

/// Truncates a string to the precision, quotes it, and pads it to the width.
fn cut(verb: &Verb, text: &str) -> Value {
    let mut shown = match verb.precision {
        Some(precision @ 1..) if matches!(verb.letter, 's' | 'q') => {
            characters(text).into_iter().take(precision).collect()
        }
        _ => text.to_owned(),
    };
    if verb.letter == 'q' {
        shown = json::quoted(&shown);
    }
    if let Some(width) = verb.width {
        let missing = width.saturating_sub(characters(&shown).len());
        let padding = if verb.zero && !verb.minus { "0" } else { " " }.repeat(missing);
        shown = if verb.minus { shown + &padding } else { padding + &shown };
    }
    Value::text(shown)
}

/// Formats a number with its sign, padded with zeros between the two if requested.
fn signed(verb: &Verb, negative: bool, digits: &str) -> Value {
    let sign = match () {
        () if negative => "-",
        () if verb.plus => "+",
        () if verb.space => " ",
        () => "",
    };
    let missing = verb.width.unwrap_or(0).saturating_sub(sign.len() + digits.len());
    Value::text(if verb.minus {
        format!("{sign}{digits}{}", " ".repeat(missing))
    } else if verb.zero {
        format!("{sign}{}{digits}", "0".repeat(missing))
    } else {
        format!("{}{sign}{digits}", " ".repeat(missing))
    })
}

fn whole(verb: &Verb, number: &BigInt) -> Value {
    let magnitude = number.magnitude();
    let digits = match verb.letter {
        'b' => magnitude.to_str_radix(2),
        'o' => magnitude.to_str_radix(8),
        'x' => magnitude.to_str_radix(16),
        'X' => magnitude.to_str_radix(16).to_uppercase(),
        _ => magnitude.to_string(),
    };
    if verb.sharp || verb.precision.is_some() {
        return Value::unknown(Cause::Unsupported.because("a verb of `format` is not supported"));
    }
    signed(verb, number.sign() == num_bigint::Sign::Minus, &digits)
}

fn fraction(verb: &Verb, argument: &Value) -> FunctionResult {
    let number = argument.to_exact()?;
    if number.is_infinite() || verb.sharp {
        return Some(Value::unknown(
            Cause::Unsupported.because("a verb of `format` is not supported"),
        ));
    }
    let magnitude = number.abs();
    let letter = if verb.letter.is_ascii_uppercase() { 'E' } else { 'e' };
    let digits = match verb.letter {
        'f' | 'F' => magnitude.fixed(verb.precision.unwrap_or(6))?,
        'e' | 'E' => magnitude.exponential(verb.precision.unwrap_or(6), letter)?,
        _ => magnitude.general(verb.precision, letter),
    };
    Some(signed(verb, number.is_negative(), &digits))
}
