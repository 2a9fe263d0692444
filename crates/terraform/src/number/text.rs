//! Formats numbers: the fewest digits that identify a number in its precision, as Go prints them.

use super::{Number, Repr};
use crate::limits;
use num_bigint::{BigInt, BigUint};
use std::fmt;

/// Decimal digits `d` with a decimal point in front of the digit with index `point`: 0.d · 10^point.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    /// Returns `mantissa` · 2^`exponent` exactly.
    fn exact(mantissa: &BigUint, exponent: i64) -> Decimal {
        let power = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
        let (whole, scale) = if exponent >= 0 {
            (mantissa << power, 0)
        } else {
            (mantissa * BigUint::from(5u32).pow(power), i64::from(power))
        };
        let mut digits = whole.to_string().into_bytes();
        let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let kept = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |at| at + 1);
        digits.truncate(kept);
        Decimal {
            point: if digits.is_empty() { 0 } else { length - scale },
            digits,
        }
    }

    fn digit(&self, at: usize) -> u8 {
        self.digits.get(at).copied().unwrap_or(b'0')
    }

    fn cut(&mut self, count: usize, up: bool) {
        self.digits.truncate(count);
        if up {
            while self.digits.last() == Some(&b'9') {
                self.digits.pop();
            }
            if let Some(last) = self.digits.last_mut() {
                *last += 1;
            } else {
                self.digits.push(b'1');
                self.point += 1;
            }
        }
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
    }

    /// Rounds to the nearest number of `count` digits, ties to even.
    fn round(&mut self, count: usize) {
        if count >= self.digits.len() {
            return;
        }
        let tie = self.digit(count) == b'5' && count + 1 == self.digits.len();
        let up = if tie {
            count > 0 && self.digit(count - 1) % 2 == 1
        } else {
            self.digit(count) >= b'5'
        };
        self.cut(count, up);
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    /// Returns the fewest digits that fall between the neighbours of `mantissa` · 2^`exponent` in `precision` bits.
    fn shortest(mantissa: &BigUint, exponent: i64, precision: u64) -> Decimal {
        let missing = (precision + 1).saturating_sub(mantissa.bits());
        let scaled = mantissa << missing;
        let exponent = exponent - i64::try_from(missing).unwrap_or(0);
        let mut decimal = Decimal::exact(&scaled, exponent);
        let lower = Decimal::exact(&(&scaled - 1u32), exponent);
        let upper = Decimal::exact(&(&scaled + 1u32), exponent);
        let inclusive = !scaled.bit(1);
        for at in 0..decimal.digits.len() {
            let (digit, below, above) = (decimal.digit(at), lower.digit(at), upper.digit(at));
            let down = below != digit || (inclusive && at + 1 == lower.digits.len());
            let up = digit != above && (inclusive || digit + 1 < above || at + 1 < upper.digits.len());
            match (down, up) {
                (true, true) => decimal.round(at + 1),
                (true, false) => decimal.cut(at + 1, false),
                (false, true) => decimal.cut(at + 1, true),
                (false, false) => continue,
            }
            break;
        }
        decimal
    }

    /// Formats without an exponent, with `after` digits after the decimal point, or all of them for `None`.
    fn plain(&self, after: Option<usize>) -> String {
        let mut text = String::new();
        for at in 0..self.point.max(0) {
            text.push(char::from(self.digit(usize::try_from(at).unwrap_or(usize::MAX))));
        }
        if text.is_empty() {
            text.push('0');
        }
        let all = i64::try_from(self.digits.len()).unwrap_or(i64::MAX) - self.point;
        let after = after.unwrap_or_else(|| usize::try_from(all.max(0)).unwrap_or(0));
        if after > 0 {
            text.push('.');
        }
        for at in 0..after {
            let place = self.point + i64::try_from(at).unwrap_or(i64::MAX);
            text.push(usize::try_from(place).map_or('0', |place| char::from(self.digit(place))));
        }
        text
    }

    /// Formats as `d.ddde+dd`, with `after` digits after the decimal point, or all of them for `None`.
    fn scientific(&self, after: Option<usize>, letter: char) -> String {
        let after = after.unwrap_or_else(|| self.digits.len().saturating_sub(1));
        let mut text = String::from(char::from(self.digit(0)));
        if after > 0 {
            text.push('.');
        }
        text.extend((1..=after).map(|at| char::from(self.digit(at))));
        let exponent = if self.digits.is_empty() { 0 } else { self.point - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        text.push_str(&format!("{letter}{sign}{:02}", exponent.abs()));
        text
    }
}

impl Number {
    fn decimal(&self) -> Option<Decimal> {
        let (mantissa, exponent) = self.parts()?;
        Some(Decimal::exact(mantissa.magnitude(), exponent))
    }

    fn shortest(&self) -> Option<Decimal> {
        let (mantissa, exponent) = self.parts()?;
        if self.is_zero() {
            return Some(Decimal::exact(mantissa.magnitude(), exponent));
        }
        let zeros = mantissa.trailing_zeros().unwrap_or(0);
        let exponent = exponent.saturating_add(i64::try_from(zeros).unwrap_or(0));
        let digits = Decimal::shortest(&(mantissa.magnitude() >> zeros), exponent, self.precision);
        Some(digits)
    }

    fn signed(&self, text: String) -> String {
        if self.is_negative() { format!("-{text}") } else { text }
    }

    /// Formats like `%v`, or like `%g` if `digits` is set; `letter` introduces the exponent.
    pub(crate) fn general(&self, digits: Option<usize>, letter: char) -> String {
        let Some(mut decimal) = (if digits.is_none() {
            self.shortest()
        } else {
            self.decimal()
        }) else {
            return self.to_string();
        };
        let limit = match digits {
            None => 6,
            Some(digits) => {
                let digits = digits.clamp(1, limits::MAX_FORMATTED_DIGITS);
                decimal.round(digits);
                let point = usize::try_from(decimal.point).unwrap_or(0);
                if digits > decimal.digits.len() && decimal.digits.len() >= point {
                    decimal.digits.len()
                } else {
                    digits
                }
            }
        };
        let exponent = decimal.point - 1;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let text = if !decimal.digits.is_empty() && (exponent < -4 || exponent >= limit) {
            decimal.scientific(None, letter)
        } else {
            decimal.plain(None)
        };
        self.signed(text)
    }

    /// Formats like `%f`.
    pub(crate) fn fixed(&self, after: usize) -> Option<String> {
        let mut decimal = self.decimal()?;
        let after = after.min(limits::MAX_FORMATTED_DIGITS);
        let count = decimal.point + i64::try_from(after).unwrap_or(0);
        match usize::try_from(count) {
            Ok(count) => decimal.round(count),
            Err(_) => decimal.cut(0, false),
        }
        Some(self.signed(decimal.plain(Some(after))))
    }

    /// Formats like `%e`.
    pub(crate) fn exponential(&self, after: usize, letter: char) -> Option<String> {
        let mut decimal = self.decimal()?;
        let after = after.min(limits::MAX_FORMATTED_DIGITS);
        decimal.round(after + 1);
        Some(self.signed(decimal.scientific(Some(after), letter)))
    }
}

impl fmt::Display for Number {
    /// Formats the number as Terraform's conversion to a string does.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.repr {
            Repr::Small(value) if BigInt::from(*value).bits() <= self.precision => write!(formatter, "{value}"),
            Repr::NegativeZero => formatter.write_str("-0"),
            Repr::Infinite { negative } => formatter.write_str(if *negative { "-Inf" } else { "+Inf" }),
            _ => {
                let text = self.shortest().map_or_else(String::new, |decimal| decimal.plain(None));
                formatter.write_str(&self.signed(text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_the_digits_that_terraform_prints() {
        let n = |text: &str| Number::parse(text).unwrap_or(Number::from(0));
        let both = |a: &str, b: &str| (n(a), n(b));
        let sum = |(a, b): (Number, Number)| a.add(&b).map(|c| c.to_string()).unwrap_or_default();
        let product = |(a, b): (Number, Number)| a.mul(&b).map(|c| c.to_string()).unwrap_or_default();
        assert_eq!(sum(both("0.1", "0.2")), "0.3");
        assert_eq!(sum(both("12345678901234567890123", "1")), "12345678901234567890124");
        assert!(product(both("1.1", "1.1")).starts_with("1.21000000000000000000000"));
        assert_eq!(n("1.50").to_string(), "1.5");
        assert_eq!(n("1e3").to_string(), "1000");
        assert_eq!(n("-0").to_string(), "-0");
        let third = Number::from(1).div(&Number::from(3));
        assert_eq!(
            third.map(|third| third.to_string()).as_deref(),
            Some("0.33333333333333333334")
        );
        let power = Number::computed(1_152_921_504_606_846_976.0);
        assert_eq!(
            power.map(|power| power.to_string()).as_deref(),
            Some("1152921504606847000")
        );
        assert_eq!(n("3.0000000000000001").to_string(), "3.0000000000000001");
        assert_eq!(n("1000000").general(None, 'e'), "1e+06");
        assert_eq!(n("12345.678").general(Some(3), 'e'), "1.23e+04");
        assert_eq!(n("3.14159").fixed(3).as_deref(), Some("3.142"));
        assert_eq!(n("12345.678").exponential(6, 'e').as_deref(), Some("1.234568e+04"));
        assert_eq!(n("0.7").rem(&n("0.2")).map(|r| r.to_f64()), Some(0.1));
        assert_eq!(
            n("-1.1").to_nearest(false).map(|r| r.to_string()).as_deref(),
            Some("-2")
        );
        assert_eq!(n("-1.1").to_nearest(true).map(|r| r.to_string()).as_deref(), Some("-1"));
    }
}
