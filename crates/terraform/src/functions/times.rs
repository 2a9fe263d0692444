//! Functions of literal times. The current time is unknown.

use super::FunctionResult;
use crate::value::Value;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
];
const DAY: i64 = 86_400;

/// A time as defined by RFC 3339.
struct Time {
    /// Seconds since 1970 in UTC, without leap seconds.
    seconds: i64,
    nanoseconds: i64,
    /// Offset of its time zone, in seconds.
    offset: i64,
}

/// Evaluates `formatdate`.
pub(crate) fn format_date(pattern: &Value, time: &Value) -> FunctionResult {
    format(&pattern.to_text()?, &Time::parse(&time.to_text()?)?)
}

/// Evaluates `timeadd`.
pub(crate) fn add(time: &Value, more: &Value) -> FunctionResult {
    let mut time = Time::parse(&time.to_text()?)?;
    let sum = time.nanoseconds.checked_add(duration(&more.to_text()?)?)?;
    time.seconds = time.seconds.checked_add(sum.div_euclid(1_000_000_000))?;
    time.nanoseconds = 0;
    Some(Value::text(time.shown()))
}

/// Evaluates `timecmp`.
pub(crate) fn compare(one: &Value, other: &Value) -> FunctionResult {
    let (a, b) = (Time::parse(&one.to_text()?)?, Time::parse(&other.to_text()?)?);
    let order = (a.seconds, a.nanoseconds).cmp(&(b.seconds, b.nanoseconds));
    Some(Value::number(order as i64))
}

fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// Returns the number of days between 1970 and a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns the date from the number of days since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days - era * 146_097;
    let years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * years + years / 4 - years / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (years + era * 400 + i64::from(month <= 2), month, day)
}

impl Time {
    fn parse(text: &str) -> Option<Time> {
        let part = |range: std::ops::Range<usize>| text.get(range).and_then(digits);
        let is = |at: usize, wanted: &str| text.get(at..at + wanted.len()) == Some(wanted);
        if !(is(4, "-") && is(7, "-") && is(10, "T") && is(13, ":") && is(16, ":")) {
            return None;
        }
        let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
        let (hour, minute, second) = (part(11..13)?, part(14..16)?, part(17..19)?);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let longest = match month {
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        if day < 1 || day > longest || hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let mut rest = text.get(19..)?;
        let mut nanoseconds = 0;
        if let Some(fraction) = rest.strip_prefix('.') {
            let end = fraction.find(|c: char| !c.is_ascii_digit())?;
            let shown: String = fraction
                .get(..end)?
                .chars()
                .chain(std::iter::repeat('0'))
                .take(9)
                .collect();
            nanoseconds = digits(&shown).filter(|_| end > 0)?;
            rest = fraction.get(end..)?;
        }
        let offset = if rest == "Z" {
            0
        } else {
            let sign = match rest.get(..1)? {
                "+" => 1,
                "-" => -1,
                _ => return None,
            };
            let (hours, minutes) = rest.get(1..)?.split_once(':')?;
            let fits = hours.len() == 2 && minutes.len() == 2;
            let (hours, minutes) = (digits(hours)?, digits(minutes)?);
            if !fits || hours > 23 || minutes > 59 {
                return None;
            }
            sign * (hours * 3600 + minutes * 60)
        };
        Some(Time {
            seconds: days(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset,
            nanoseconds,
            offset,
        })
    }

    fn local(&self) -> i64 {
        self.seconds + self.offset
    }

    /// Formats its time zone: `+01:00` or `Z`.
    fn zone(&self, colon: &str, utc: &str) -> String {
        if self.offset == 0 && !utc.is_empty() {
            return utc.to_owned();
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        format!("{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60)
    }

    fn shown(&self) -> String {
        let (year, month, day) = date(self.local().div_euclid(DAY));
        let of_day = self.local().rem_euclid(DAY);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        let zone = self.zone(":", "Z");
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
    }
}

/// Parses a duration as Go writes it, `1h30m`, and returns it in nanoseconds.
fn duration(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total: i64 = 0;
    while !rest.is_empty() || total == 0 && rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (amount, after) = rest.split_at(end);
        let unit_end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let unit: i64 = match unit {
            "h" => 3_600_000_000_000,
            "m" => 60_000_000_000,
            "s" => 1_000_000_000,
            "ms" => 1_000_000,
            "us" | "µs" | "μs" => 1000,
            "ns" => 1,
            _ => return None,
        };
        let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let whole = if whole.is_empty() { 0 } else { digits(whole)? };
        total = total.checked_add(whole.checked_mul(unit)?)?;
        let mut place = unit;
        for digit in fraction.bytes() {
            if !digit.is_ascii_digit() {
                return None;
            }
            place /= 10;
            total = total.checked_add(i64::from(digit - b'0') * place)?;
        }
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    total.checked_mul(sign)
}

fn format(pattern: &str, time: &Time) -> FunctionResult {
    let (year, month, day) = date(time.local().div_euclid(DAY));
    let of_day = time.local().rem_euclid(DAY);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let name = |names: &[&'static str], at: i64| usize::try_from(at).ok().and_then(|at| names.get(at).copied());
    let weekday = name(&DAYS, time.local().div_euclid(DAY).rem_euclid(7))?;
    let month_name = name(&MONTHS, month - 1)?;
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let mut shown = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let (text, after) = quoted(rest)?;
            shown.push_str(&text);
            rest = after;
            continue;
        }
        if !first.is_ascii_alphabetic() {
            shown.push(first);
            rest = rest.get(first.len_utf8()..)?;
            continue;
        }
        let end = rest.find(|c| c != first).unwrap_or(rest.len());
        let (verb, after) = rest.split_at(end);
        rest = after;
        shown.push_str(&match verb {
            "YYYY" => format!("{year:04}"),
            "YY" => format!("{:02}", year % 100),
            "MMMM" => month_name.to_owned(),
            "MMM" => month_name.get(..3)?.to_owned(),
            "MM" => format!("{month:02}"),
            "M" => month.to_string(),
            "DD" => format!("{day:02}"),
            "D" => day.to_string(),
            "EEEE" => weekday.to_owned(),
            "EEE" => weekday.get(..3)?.to_owned(),
            "hh" => format!("{hour:02}"),
            "h" => hour.to_string(),
            "HH" => format!("{twelve:02}"),
            "H" => twelve.to_string(),
            "AA" => if hour < 12 { "AM" } else { "PM" }.to_owned(),
            "aa" => if hour < 12 { "am" } else { "pm" }.to_owned(),
            "mm" => format!("{minute:02}"),
            "m" => minute.to_string(),
            "ss" => format!("{second:02}"),
            "s" => second.to_string(),
            "ZZZZZ" => time.zone(":", ""),
            "ZZZZ" => time.zone("", ""),
            "ZZZ" => time.zone("", "UTC"),
            "Z" => time.zone(":", "Z"),
            _ => return None,
        });
    }
    Some(Value::text(shown))
}

/// Parses a quoted part, in which a doubled quote represents one quote; also returns the text that follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut shown = String::new();
    let mut rest = text.get(1..)?;
    loop {
        let (before, after) = rest.split_once('\'')?;
        shown.push_str(before);
        match after.strip_prefix('\'') {
            Some(more) => {
                shown.push('\'');
                rest = more;
            }
            None => return Some((shown, after)),
        }
    }
}
