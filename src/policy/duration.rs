//! Parses durations in expressions: `14d`, `90s`, `1h30m`.

/// Units and their milliseconds; `ms` comes before `m`, which it starts with.
const UNITS: [(&str, i64); 5] = [
    ("ms", 1),
    ("s", 1_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

/// Largest absolute value of a duration: 10,000 years, as in CEL.
const MAX: i64 = 315_576_000_000_000;

/// Returns `milliseconds` if a duration can represent it.
pub(super) fn within_range(milliseconds: i64) -> Option<i64> {
    (-MAX..=MAX).contains(&milliseconds).then_some(milliseconds)
}

/// Parses `text` as milliseconds. Days are an extension of CEL.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, following) = rest.split_at(length);
        let (unit, milliseconds) = UNITS.iter().find(|(unit, _)| following.starts_with(unit))?;
        total = total.checked_add(counted(number, *milliseconds)?)?;
        rest = following.get(unit.len()..)?;
    }
    within_range(if is_negative { -total } else { total })
}

/// Multiplies `number` by `milliseconds`, if the result is a whole number.
fn counted(number: &str, milliseconds: i64) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.len() > 9 {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let scale = 10_i64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part: i64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let part = part.checked_mul(milliseconds)?;
    (part % scale == 0)
        .then(|| whole.checked_mul(milliseconds)?.checked_add(part / scale))
        .flatten()
}

/// Formats a duration as CEL does when converting it to a string: `90s`, `1.5s`.
pub(super) fn shown(milliseconds: i64) -> String {
    let (seconds, rest) = (milliseconds / 1_000, (milliseconds % 1_000).abs());
    if rest == 0 {
        return format!("{seconds}s");
    }
    let sign = if milliseconds < 0 && seconds == 0 { "-" } else { "" };
    let fraction = format!("{rest:03}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_combine_numbers_with_units() {
        for (text, milliseconds) in [
            ("14d", Some(1_209_600_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5s", Some(1_500)),
            ("250ms", Some(250)),
            ("-3s", Some(-3_000)),
            ("0", Some(0)),
            ("14", None),
            ("d", None),
            ("", None),
            ("-", None),
            ("1.s5", None),
            ("0.0001s", None),
            ("99999999999999999999d", None),
            ("-315576000000s", Some(-315_576_000_000_000)),
            ("315576000000s", Some(315_576_000_000_000)),
            ("315576000001s", None),
            ("-315576000000.001s", None),
            ("9223372036854775807s", None),
            (".s", None),
            ("1e3s", None),
            ("1é", None),
        ] {
            assert_eq!(parse(text), milliseconds, "{text}");
        }
        assert_eq!(shown(5_400_000), "5400s");
        assert_eq!(shown(-500), "-0.5s");
    }
}
