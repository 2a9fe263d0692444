//! Functions of IP address ranges.

use super::FunctionResult;
use crate::types::Type;
use crate::value::Value;
use knowledge::Cause;
use num_bigint::BigInt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of IP addresses.
#[derive(Clone, Copy)]
struct Range {
    base: u128,
    prefix: u32,
    /// Length of an address: 32 or 128.
    bits: u32,
}

/// Evaluates `cidrhost`.
pub(crate) fn host(range: &Value, number: &Value) -> FunctionResult {
    let number = number.to_exact()?.to_whole()?;
    let range = Range::of(range)?;
    if range.is_mapped() {
        return Some(Value::unknown(
            Cause::Unsupported.because("hosts of a range of IPv4 addresses in IPv6 are not supported"),
        ));
    }
    range.host(&number).map(Value::text)
}

/// Evaluates `cidrnetmask`.
pub(crate) fn mask(range: &Value) -> FunctionResult {
    let range = Range::of(range)?;
    (range.bits == 32 || range.is_mapped()).then(|| Value::text(address(range.mask(), range.bits)))
}

/// Evaluates `cidrsubnet`.
pub(crate) fn subnet(range: &Value, more: &Value, number: &Value) -> FunctionResult {
    let number = number.to_exact()?.to_whole()?;
    let more = u32::try_from(more.to_whole()?).ok()?;
    Some(Value::text(Range::of(range)?.subnet(more, &number)?.shown()))
}

/// Evaluates `cidrsubnets`.
pub(crate) fn subnets(values: &[Value]) -> FunctionResult {
    let (range, rest) = values.split_first()?;
    let range = Range::of(range).filter(|range| !range.is_mapped())?;
    let mut all = Vec::new();
    let mut next = range.base;
    for more in rest {
        let more = u32::try_from(more.to_whole()?).ok();
        let more = more.filter(|more| (1..=32).contains(more))?;
        let prefix = range.prefix.checked_add(more).filter(|prefix| *prefix <= range.bits)?;
        let size = 1_u128.checked_shl(range.bits - prefix)?;
        // Rounds up to the next multiple of the size.
        let base = next.checked_add(size - 1)? / size * size;
        let last = range.base | !range.mask() & ones(range.bits);
        if base.checked_add(size - 1)? > last {
            return None;
        }
        next = base.checked_add(size)?;
        all.push(Range { base, prefix, ..range }.shown());
    }
    Some(Value::list_of(all.into_iter().map(Value::text).collect(), &Type::Text))
}

fn ones(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// Removes leading zeros from the numbers of an address: Terraform accepts `010` as ten.
fn without_zeros(address: &str) -> String {
    let number = |part: &str| {
        let (digits, end) = part.split_at(part.trim_end_matches(['.', ':']).len());
        let kept = digits.trim_start_matches('0');
        let kept = if kept.is_empty() && !digits.is_empty() {
            "0"
        } else {
            kept
        };
        format!("{kept}{end}")
    };
    address.split_inclusive(['.', ':']).map(number).collect()
}

fn address(value: u128, bits: u32) -> String {
    if bits == 32 {
        Ipv4Addr::from(u32::try_from(value & ones(32)).unwrap_or(0)).to_string()
    } else {
        Ipv6Addr::from(value).to_string()
    }
}

impl Range {
    fn of(value: &Value) -> Option<Range> {
        Range::parse(&value.to_text()?)
    }

    fn parse(text: &str) -> Option<Range> {
        let (address, prefix) = text.split_once('/')?;
        let plain = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix: u32 = prefix.parse().ok().filter(|_| plain)?;
        let (value, bits) = match without_zeros(address).parse().ok()? {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        let mut range = Range {
            base: value,
            prefix: Some(prefix).filter(|prefix| *prefix <= bits)?,
            bits,
        };
        range.base &= range.mask();
        Some(range)
    }

    fn mask(&self) -> u128 {
        ones(self.bits) & !ones(self.bits - self.prefix)
    }

    /// Returns `true` if the range contains IPv4 addresses mapped to IPv6, which some functions of Terraform treat as
    /// IPv4.
    fn is_mapped(&self) -> bool {
        self.bits == 128 && self.base >> 32 == 0xffff
    }

    fn shown(&self) -> String {
        if self.is_mapped() {
            return format!("{}/{}", address(self.base, 32), self.prefix.saturating_sub(96));
        }
        format!("{}/{}", address(self.base, self.bits), self.prefix)
    }

    /// Returns the address with index `number`, counted from the end if it is negative.
    fn host(&self, number: &BigInt) -> Option<String> {
        let size = BigInt::from(ones(self.bits - self.prefix)) + 1;
        let at = if number.sign() == num_bigint::Sign::Minus {
            &size + number
        } else {
            number.clone()
        };
        let at = u128::try_from(&at).ok().filter(|_| at < size)?;
        Some(address(self.base | at, self.bits))
    }

    fn subnet(&self, more: u32, number: &BigInt) -> Option<Range> {
        let prefix = self.prefix.checked_add(more).filter(|prefix| *prefix <= self.bits)?;
        let count = BigInt::from(ones(more)) + 1;
        let number = u128::try_from(number).ok().filter(|_| *number < count)?;
        let base = self.base | number.checked_shl(self.bits - prefix).unwrap_or(0);
        Some(Range { base, prefix, ..*self })
    }
}
