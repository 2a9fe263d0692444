//! Functions of numbers.

use super::FunctionResult;
use crate::limits;
use crate::number::Number;
use crate::value::{Value, ValueKind};
use knowledge::Cause;
use num_bigint::BigInt;

/// Evaluates `max` and `min`: returns the number that `better` prefers.
pub(crate) fn best(values: &[Value], better: for<'n> fn(&'n Number, &'n Number) -> &'n Number) -> FunctionResult {
    let numbers: Vec<Number> = values.iter().map(Value::to_exact).collect::<Option<_>>()?;
    let (first, rest) = numbers.split_first()?;
    Some(Value::exact(
        rest.iter().fold(first, |best, next| better(best, next)).clone(),
    ))
}

/// Evaluates `abs`.
pub(crate) fn abs(value: &Value) -> FunctionResult {
    Some(Value::exact(value.to_exact()?.abs()))
}

/// Evaluates `ceil` if `up` is set, otherwise `floor`.
pub(crate) fn to_nearest(value: &Value, up: bool) -> FunctionResult {
    Some(Value::computed(value.to_exact()?.to_nearest(up)))
}

/// Evaluates `signum`.
pub(crate) fn signum(value: &Value) -> FunctionResult {
    let number = value.to_exact()?;
    number.to_whole()?;
    Some(Value::number(match () {
        () if number.is_zero() => 0,
        () if number.is_negative() => -1,
        () => 1,
    }))
}

/// Evaluates `log`.
pub(crate) fn log(value: &Value, base: &Value) -> FunctionResult {
    let ratio = logarithm(value.to_exact()?.to_f64()) / logarithm(base.to_exact()?.to_f64());
    Number::computed(ratio).map(Value::exact)
}

/// Evaluates `pow` if the result is exact in 53 bits, so that rounding cannot differ between libraries.
pub(crate) fn power(base: &Value, exponent: &Value) -> FunctionResult {
    let (base, exponent) = (base.to_exact()?, exponent.to_exact()?);
    // A negative number has no real root.
    if base.is_negative() && exponent.to_whole().is_none() {
        return None;
    }
    let exact = exact_power(&base, &exponent).map(Value::exact);
    Some(
        exact.unwrap_or_else(|| {
            Value::unknown(Cause::Unsupported.because("the last digits of a power are not computed"))
        }),
    )
}

fn exact_power(base: &Number, exponent: &Number) -> Option<Number> {
    let (exponent, base) = (exponent.to_i64()?, base.to_whole()?);
    let times = u32::try_from(exponent.unsigned_abs()).ok()?;
    if times > 1024 || base.bits().saturating_mul(u64::from(times)) > 1100 {
        return None;
    }
    let whole = base.pow(times);
    if whole.bits() - whole.trailing_zeros().unwrap_or(0) > 53 {
        return None;
    }
    let whole = Number::whole(whole)?;
    Number::computed(if exponent < 0 {
        1.0 / whole.to_f64()
    } else {
        whole.to_f64()
    })
}

/// Computes the natural logarithm with the same digits as Go (by FreeBSD's method), which the system's library may not
/// do.
#[allow(
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "constants of the method"
)]
fn logarithm(x: f64) -> f64 {
    const LN2_HIGH: f64 = 6.93147180369123816490e-01;
    const LN2_LOW: f64 = 1.90821492927058770002e-10;
    const L: [f64; 7] = [
        6.666666666666735130e-01,
        3.999999999940941908e-01,
        2.857142874366239149e-01,
        2.222219843214978396e-01,
        1.818357216161805012e-01,
        1.531383769920937332e-01,
        1.479819860511658591e-01,
    ];
    if x.is_nan() || x <= 0.0 || x.is_infinite() || !x.is_normal() {
        return x.ln();
    }
    let bits = x.to_bits();
    let mut exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0) - 1022;
    let mut fraction = f64::from_bits(bits & !(0x7ff << 52) | (1022 << 52));
    if fraction < std::f64::consts::SQRT_2 / 2.0 {
        fraction *= 2.0;
        exponent -= 1;
    }
    let (f, k) = (fraction - 1.0, f64::from(exponent));
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2 * (L[0] + s4 * (L[2] + s4 * (L[4] + s4 * L[6])));
    let even = s4 * (L[1] + s4 * (L[3] + s4 * L[5]));
    let half = 0.5 * f * f;
    k * LN2_HIGH - ((half - (s * (half + odd + even) + k * LN2_LOW)) - f)
}

/// Evaluates `parseint`.
pub(crate) fn parse(text: &Value, base: &Value) -> FunctionResult {
    let ValueKind::Text(text) = &text.kind else {
        return None;
    };
    let base = u32::try_from(base.to_whole()?).ok();
    let base = base.filter(|base| (2..=62).contains(base))?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || digits.len() > 4096 {
        return None;
    }
    let mut whole = BigInt::ZERO;
    for letter in digits.chars() {
        whole = whole * base + digit(letter, base)?;
    }
    if text.starts_with('-') {
        whole = -whole;
    }
    Some(Value::computed(Number::whole(whole)))
}

/// Returns the value of a digit. In bases above 36, upper-case letters follow the lower-case ones.
fn digit(letter: char, base: u32) -> Option<u32> {
    let value = letter.to_digit(36)?;
    let value = if base > 36 && letter.is_ascii_uppercase() {
        value + 26
    } else {
        value
    };
    (value < base).then_some(value)
}

/// Evaluates `range`.
pub(crate) fn range(values: &[Value]) -> FunctionResult {
    let numbers: Vec<Number> = values.iter().map(Value::to_exact).collect::<Option<_>>()?;
    let (zero, one) = (Number::from(0), Number::from(1));
    let downward = |start: &Number, end: &Number| if end < start { one.neg() } else { one.clone() };
    let (start, end, step) = match numbers.as_slice() {
        [end] => (zero.clone(), end.clone(), downward(&zero, end)),
        [start, end] => (start.clone(), end.clone(), downward(start, end)),
        [start, end, step] => (start.clone(), end.clone(), step.clone()),
        _ => return None,
    };
    // A step of zero never reaches the end. Terraform rejects a step away from it.
    if step.is_zero() || (step.is_negative() != (end < start) && start != end) {
        return None;
    }
    let mut all = Vec::new();
    let mut at = start;
    while if step.is_negative() { at > end } else { at < end } {
        if all.len() >= limits::MAX_RANGE {
            return None;
        }
        all.push(Value::exact(at.clone()));
        at = at.add(&step)?;
    }
    Some(Value::list_of(all, &super::super::types::Type::Number))
}
