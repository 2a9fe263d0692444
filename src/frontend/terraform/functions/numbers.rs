//! Functions of numbers.

use super::super::number::Number;
use super::super::value::Value;
use super::Answer;
use num_bigint::BigInt;

/// What [`apply`] knows.
pub(super) const NAMES: &[&str] = &[
    "abs", "ceil", "floor", "log", "max", "min", "parseint", "pow", "range", "signum",
];
/// Terraform's own limit of `range`.
const MAX_RANGE: usize = 1024;

pub(super) fn apply(name: &str, values: &[Value]) -> Answer {
    if name == "parseint" {
        return parse(values);
    }
    let numbers: Vec<Number> = values.iter().map(Value::to_exact).collect::<Option<_>>()?;
    match (name, numbers.as_slice()) {
        ("max", [first, rest @ ..]) => Some(Value::exact(
            rest.iter().fold(first, |best, next| best.max(next)).clone(),
        )),
        ("min", [first, rest @ ..]) => Some(Value::exact(
            rest.iter().fold(first, |best, next| best.min(next)).clone(),
        )),
        ("abs", [number]) => Some(Value::exact(number.abs())),
        ("ceil", [number]) => Some(Value::computed(number.to_nearest(true))),
        ("floor", [number]) => Some(Value::computed(number.to_nearest(false))),
        ("signum", [number]) => number.to_whole().map(|_| {
            Value::number(match () {
                () if number.is_zero() => 0,
                () if number.is_negative() => -1,
                () => 1,
            })
        }),
        ("pow", [base, exponent]) => Number::computed(base.to_f64().powf(exponent.to_f64())).map(Value::exact),
        ("log", [number, base]) => Number::computed(number.to_f64().ln() / base.to_f64().ln()).map(Value::exact),
        ("range", _) => range(&numbers),
        _ => None,
    }
}

fn parse(values: &[Value]) -> Answer {
    let [text, base] = values else {
        return None;
    };
    let (text, base) = (text.to_text()?, base.to_whole()?);
    if (37..=62).contains(&base) {
        return Some(Value::unknown("numbers in a base above 36 are not understood"));
    }
    let base = u32::try_from(base).ok().filter(|base| (2..=36).contains(base))?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let plain = !digits.is_empty() && digits.len() <= 4096 && digits.chars().all(|digit| digit.is_digit(base));
    let whole = plain.then(|| BigInt::parse_bytes(text.as_bytes(), base)).flatten()?;
    Some(Value::computed(Number::whole(whole)))
}

fn range(numbers: &[Number]) -> Answer {
    let (zero, one) = (Number::from(0), Number::from(1));
    let downward = |start: &Number, end: &Number| if end < start { one.neg() } else { one.clone() };
    let (start, end, step) = match numbers {
        [end] => (zero.clone(), end.clone(), downward(&zero, end)),
        [start, end] => (start.clone(), end.clone(), downward(start, end)),
        [start, end, step] => (start.clone(), end.clone(), step.clone()),
        _ => return None,
    };
    // A step of zero never arrives, a step away from the end is refused.
    if step.is_zero() || (step.is_negative() != (end < start) && start != end) {
        return None;
    }
    let mut all = Vec::new();
    let mut at = start;
    while if step.is_negative() { at > end } else { at < end } {
        if all.len() >= MAX_RANGE {
            return None;
        }
        all.push(Value::exact(at.clone()));
        at = at.add(&step)?;
    }
    Some(Value::list_of(all, &super::super::types::Type::Number))
}
