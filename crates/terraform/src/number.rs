//! Terraform's numbers, bit for bit, because names, keys and comparisons depend on how they are printed.
//!
//! ```text
//! a = 0.1 + 0.2      # 0.3
//! b = 7 / 2 * 2      # 7
//! c = pow(2, 60)     # 1152921504606847000
//! ```
//!
//! A number is a mantissa times a power of two, with a precision in bits: 512 for literals, 64 for counts
//! (`count.index`, `length`), 53 for results of mathematical functions. `0.1` is the nearest 512-bit number, so the
//! error of its sum with `0.2` is far below the last digit that is printed; 64-bit floating point would print
//! 0.30000000000000004. `pow` computes with 53 bits, and prints as few digits as it does in Terraform. Results are
//! rounded to nearest, ties to even, in the greater precision of both operands.
//!
//! This module knows nothing of values. Numbers of more than `limits::MAX_EXPONENT` bits are rejected.

mod text;

use crate::limits;
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;

/// Precision of literals.
const WRITTEN: u64 = 512;
/// Precision of counts.
const COUNTED: u64 = 64;
/// Precision of results of mathematical functions.
const COMPUTED: u64 = 53;

/// A number and its precision in bits.
#[derive(Debug, Clone)]
pub struct Number {
    repr: Repr,
    precision: u64,
}

/// The canonical form of a number: whatever fits `Small` is `Small`, and the mantissa of `Large` is odd.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Repr {
    Small(i64),
    NegativeZero,
    Large { mantissa: BigInt, exponent: i64 },
    Infinite { negative: bool },
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Number {
            repr: Repr::Small(value),
            precision: COUNTED,
        }
    }
}

impl Number {
    /// Returns the result of a mathematical function; `None` for NaN.
    pub fn computed(value: f64) -> Option<Number> {
        if value.is_nan() {
            return None;
        }
        if value.is_infinite() {
            return Some(Number::infinite(value < 0.0));
        }
        let bits = value.to_bits();
        let field = i64::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = if field == 0 {
            (fraction, -1074)
        } else {
            (fraction | (1 << 52), field - 1075)
        };
        let sign = if value < 0.0 { Sign::Minus } else { Sign::Plus };
        let mantissa = BigInt::from_biguint(sign, mantissa.into());
        Number::rounded(mantissa, exponent, COMPUTED, false)
    }

    /// Returns an integer of any size; `None` if it is too large.
    pub fn whole(value: BigInt) -> Option<Number> {
        let precision = value.bits().max(COUNTED);
        Number::rounded(value, 0, precision, false)
    }

    /// Parses decimal digits as Terraform does.
    pub fn parse(text: &str) -> Option<Number> {
        let (negative, unsigned) = match text.strip_prefix(['-', '+']) {
            Some(rest) => (text.starts_with('-'), rest),
            None => (false, text),
        };
        let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, whole_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let scale = i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.checked_sub(scale)?;
        if digits.len() > 4096 || exponent.abs() > limits::MAX_EXPONENT / 4 {
            return None;
        }
        let all: BigInt = format!("{whole}{fraction}").parse().ok()?;
        let signed = if negative { -all } else { all };
        if signed.sign() == Sign::NoSign {
            let repr = if negative { Repr::NegativeZero } else { Repr::Small(0) };
            return Some(Number {
                repr,
                precision: WRITTEN,
            });
        }
        let power = BigInt::from(10).pow(u32::try_from(exponent.unsigned_abs()).ok()?);
        if exponent >= 0 {
            Number::rounded(signed * power, 0, WRITTEN, false)
        } else {
            Number::quotient(&signed, &power, 0, WRITTEN)
        }
    }

    fn infinite(negative: bool) -> Number {
        Number {
            repr: Repr::Infinite { negative },
            precision: WRITTEN,
        }
    }

    /// Returns `mantissa` · 2^`exponent` rounded to `precision` bits. `sticky` is set if a lower bit was already cut
    /// off.
    fn rounded(mut mantissa: BigInt, mut exponent: i64, precision: u64, sticky: bool) -> Option<Number> {
        let bits = mantissa.bits();
        if bits > precision {
            let cut = bits - precision;
            let negative = mantissa.sign() == Sign::Minus;
            let magnitude = mantissa.magnitude();
            // The part that is cut off exceeds half of the last kept bit if its first bit and any later bit are set.
            // Exactly half rounds to the even neighbour.
            let half = magnitude.bit(cut - 1);
            let below = sticky || magnitude.trailing_zeros().is_some_and(|zeros| zeros < cut - 1);
            let mut kept = magnitude >> cut;
            if half && (below || kept.bit(0)) {
                kept += 1u32;
            }
            mantissa = BigInt::from_biguint(if negative { Sign::Minus } else { Sign::Plus }, kept);
            exponent += i64::try_from(cut).ok()?;
        }
        // An odd mantissa gives each number exactly one form, so that it can be compared and hashed by its fields.
        let zeros = mantissa.trailing_zeros().unwrap_or(0);
        mantissa >>= zeros;
        exponent += i64::try_from(zeros).ok()?;
        if mantissa.sign() == Sign::NoSign {
            return Some(Number {
                repr: Repr::Small(0),
                precision,
            });
        }
        if exponent.abs() > limits::MAX_EXPONENT {
            return None;
        }
        let small = (0..64)
            .contains(&exponent)
            .then(|| i64::try_from(&mantissa << exponent).ok())
            .flatten();
        Some(Number {
            repr: small.map_or(Repr::Large { mantissa, exponent }, Repr::Small),
            precision,
        })
    }

    /// Returns `a` / `b` · 2^`exponent`.
    fn quotient(a: &BigInt, b: &BigInt, exponent: i64, precision: u64) -> Option<Number> {
        // Two bits more than the precision, and whether there is a remainder, determine the rounding.
        let shift = (precision + 2 + b.bits()).saturating_sub(a.bits());
        let shifted = a << shift;
        let (whole, rest) = (&shifted / b, &shifted % b);
        let exponent = exponent - i64::try_from(shift).ok()?;
        Number::rounded(whole, exponent, precision, rest.sign() != Sign::NoSign)
    }

    fn parts(&self) -> Option<(BigInt, i64)> {
        match &self.repr {
            Repr::Small(value) => Some((BigInt::from(*value), 0)),
            Repr::NegativeZero => Some((BigInt::ZERO, 0)),
            Repr::Large { mantissa, exponent } => Some((mantissa.clone(), *exponent)),
            Repr::Infinite { .. } => None,
        }
    }

    /// Returns both mantissas scaled to the smaller of the exponents.
    fn aligned(&self, other: &Number) -> Option<(BigInt, BigInt, i64)> {
        let ((a, x), (b, y)) = (self.parts()?, other.parts()?);
        let exponent = x.min(y);
        Some((a << (x - exponent), b << (y - exponent), exponent))
    }

    /// Returns `true` if it is 0.
    pub fn is_zero(&self) -> bool {
        matches!(self.repr, Repr::Small(0) | Repr::NegativeZero)
    }

    /// Returns `true` if it is an infinity.
    pub fn is_infinite(&self) -> bool {
        matches!(self.repr, Repr::Infinite { .. })
    }

    /// Returns `true` if it is less than 0.
    pub fn is_negative(&self) -> bool {
        match &self.repr {
            Repr::Small(value) => *value < 0,
            Repr::NegativeZero => true,
            Repr::Large { mantissa, .. } => mantissa.sign() == Sign::Minus,
            Repr::Infinite { negative } => *negative,
        }
    }

    /// Returns `true` if it has no fraction.
    pub fn is_whole(&self) -> bool {
        match &self.repr {
            Repr::Small(_) | Repr::NegativeZero => true,
            Repr::Large { exponent, .. } => *exponent >= 0,
            Repr::Infinite { .. } => false,
        }
    }

    /// Returns the integer if it fits an `i64`.
    pub fn to_i64(&self) -> Option<i64> {
        match &self.repr {
            Repr::Small(value) => Some(*value),
            Repr::NegativeZero => Some(0),
            _ => None,
        }
    }

    /// Returns the integer, of any size.
    pub fn to_whole(&self) -> Option<BigInt> {
        let (mantissa, exponent) = self.parts()?;
        (exponent >= 0).then(|| mantissa << exponent)
    }

    /// Returns the nearest `f64`.
    pub fn to_f64(&self) -> f64 {
        match &self.repr {
            #[allow(clippy::cast_precision_loss, reason = "the nearest number is wanted")]
            Repr::Small(value) => *value as f64,
            Repr::NegativeZero => -0.0,
            Repr::Infinite { negative: true } => f64::NEG_INFINITY,
            Repr::Infinite { negative: false } => f64::INFINITY,
            Repr::Large { .. } => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// Returns the negated number.
    pub(crate) fn neg(&self) -> Number {
        let repr = match &self.repr {
            Repr::Small(0) => Repr::NegativeZero,
            Repr::NegativeZero => Repr::Small(0),
            Repr::Small(i64::MIN) => Repr::Large {
                mantissa: BigInt::from(1),
                exponent: 63,
            },
            Repr::Small(value) => Repr::Small(-value),
            Repr::Large { mantissa, exponent } if *exponent == 63 && *mantissa == BigInt::from(1) => {
                Repr::Small(i64::MIN)
            }
            Repr::Large { mantissa, exponent } => Repr::Large {
                mantissa: -mantissa,
                exponent: *exponent,
            },
            Repr::Infinite { negative } => Repr::Infinite { negative: !negative },
        };
        Number {
            repr,
            precision: self.precision,
        }
    }

    /// Returns the absolute value.
    pub(crate) fn abs(&self) -> Number {
        if self.is_negative() { self.neg() } else { self.clone() }
    }

    /// Returns the sum; `None` if it is not a number or too large.
    pub fn add(&self, other: &Number) -> Option<Number> {
        let precision = self.precision.max(other.precision);
        match (&self.repr, &other.repr) {
            (Repr::Infinite { negative: a }, Repr::Infinite { negative: b }) => (a == b).then(|| self.clone()),
            (Repr::Infinite { .. }, _) => Some(self.clone()),
            (_, Repr::Infinite { .. }) => Some(other.clone()),
            (Repr::NegativeZero, Repr::NegativeZero) => Some(self.clone()),
            (Repr::Small(a), Repr::Small(b)) if a.checked_add(*b).is_some() => Some(Number {
                repr: Repr::Small(a + b),
                precision,
            }),
            _ => {
                let (a, b, exponent) = self.aligned(other)?;
                Number::rounded(a + b, exponent, precision, false)
            }
        }
    }

    /// Returns the difference; `None` if it cannot be computed exactly.
    pub fn sub(&self, other: &Number) -> Option<Number> {
        self.add(&other.neg())
    }

    /// Returns the product, as exact as 512 bits allow.
    pub fn mul(&self, other: &Number) -> Option<Number> {
        let negative = self.is_negative() != other.is_negative();
        if self.is_infinite() || other.is_infinite() {
            return (!self.is_zero() && !other.is_zero()).then(|| Number::infinite(negative));
        }
        let precision = self.precision.max(other.precision);
        if self.is_zero() || other.is_zero() {
            let repr = if negative { Repr::NegativeZero } else { Repr::Small(0) };
            return Some(Number { repr, precision });
        }
        let ((a, x), (b, y)) = (self.parts()?, other.parts()?);
        let mut product = Number::rounded(a * b, x + y, WRITTEN, false)?;
        // Terraform multiplies with 512 bits, and raises the precision to what the product needs.
        let least = match &product.repr {
            Repr::Large { mantissa, .. } => mantissa.bits(),
            _ => 0,
        };
        product.precision = precision.max(least);
        Some(product)
    }

    /// Returns the quotient; `None` for zero by zero.
    pub fn div(&self, other: &Number) -> Option<Number> {
        let negative = self.is_negative() != other.is_negative();
        let precision = self.precision.max(other.precision);
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) => return None,
            (true, false) => return Some(Number::infinite(negative)),
            (false, true) => {
                return Some(Number {
                    repr: Repr::Small(0),
                    precision,
                });
            }
            (false, false) => {}
        }
        if other.is_zero() {
            return (!self.is_zero()).then(|| Number::infinite(negative));
        }
        if self.is_zero() {
            let repr = if negative { Repr::NegativeZero } else { Repr::Small(0) };
            return Some(Number { repr, precision });
        }
        let ((a, x), (b, y)) = (self.parts()?, other.parts()?);
        Number::quotient(&a, &b, x - y, precision)
    }

    /// Returns the remainder of a division that rounds toward zero; the number itself if the divisor is zero.
    pub fn rem(&self, other: &Number) -> Option<Number> {
        if self.is_infinite() || other.is_infinite() {
            return self.mul(other);
        }
        if other.is_zero() {
            return Some(self.clone());
        }
        let times = self.div(other)?.truncated()?;
        self.sub(&other.mul(&times)?)
    }

    /// Returns the number without its fraction.
    pub fn truncated(&self) -> Option<Number> {
        if self.is_whole() || self.is_infinite() {
            return Some(self.clone());
        }
        let (mantissa, exponent) = self.parts()?;
        let divisor = BigInt::from(1) << exponent.unsigned_abs();
        Number::rounded(mantissa / divisor, 0, self.precision, false)
    }

    /// Returns the nearest integer below, or above if `up` is set.
    pub fn to_nearest(&self, up: bool) -> Option<Number> {
        let whole = self.truncated()?;
        if self.is_whole() || self.is_infinite() || self.is_negative() == up {
            return Some(whole);
        }
        let one = Number::from(1);
        let mut next = if up { whole.add(&one)? } else { whole.sub(&one)? };
        next.precision = self.precision;
        Some(next)
    }
}

fn whole_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.repr, &other.repr) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            (Repr::Infinite { .. }, _) | (_, Repr::Infinite { .. }) => self.to_f64().total_cmp(&other.to_f64()),
            _ => self.aligned(other).map_or(Ordering::Equal, |(a, b, _)| a.cmp(&b)),
        }
    }
}
