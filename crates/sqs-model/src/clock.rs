//! Times and durations of a run in milliseconds, and their formats for people.

/// Milliseconds in a second.
pub const SECOND: u64 = 1_000;
/// Milliseconds in a minute.
pub const MINUTE: u64 = 60 * SECOND;
/// Milliseconds in an hour.
pub const HOUR: u64 = 60 * MINUTE;
/// Milliseconds in a day.
pub const DAY: u64 = 24 * HOUR;
/// Milliseconds in a week.
pub const WEEK: u64 = 7 * DAY;

/// Converts seconds to milliseconds; negative numbers become 0.
pub fn seconds(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0).saturating_mul(SECOND)
}

/// Formats a time like a stopwatch: `0:30`, `4:40`, `12:00:00`, `4 days`, `4 days 0:00:30`.
pub fn moment(at: u64) -> String {
    let (days, rest) = (at / DAY, at % DAY);
    let (hours, minutes, seconds) = (rest / HOUR, rest / MINUTE % 60, rest / SECOND % 60);
    let part = match rest % SECOND {
        0 => String::new(),
        part => format!(".{part:03}"),
    };
    let watch = if hours > 0 || days > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}{part}")
    } else {
        format!("{minutes}:{seconds:02}{part}")
    };
    let word = if days == 1 { "day" } else { "days" };
    match (days, rest) {
        (0, _) => watch,
        (_, 0) => format!("{days} {word}"),
        _ => format!("{days} {word} {watch}"),
    }
}

/// Formats a duration in words: `250 ms`, `30 s`, `30 min`, `11.5 h`, `4 days`.
pub fn span(length: u64) -> String {
    let in_units = |unit: u64, name: &str| {
        let tenths = (u128::from(length) * 10 + u128::from(unit / 2)) / u128::from(unit);
        match tenths % 10 {
            0 => format!("{} {name}", tenths / 10),
            tenth => format!("{}.{tenth} {name}", tenths / 10),
        }
    };
    match length {
        ..SECOND => format!("{length} ms"),
        SECOND..MINUTE => in_units(SECOND, "s"),
        // A duration that is not a whole number of minutes is shown in seconds as long as that is easy to read.
        MINUTE..600_000 if !length.is_multiple_of(MINUTE) => in_units(SECOND, "s"),
        MINUTE..HOUR => in_units(MINUTE, "min"),
        HOUR..7_200_000 if !length.is_multiple_of(HOUR / 2) => in_units(MINUTE, "min"),
        HOUR..DAY => in_units(HOUR, "h"),
        DAY => "1 day".to_owned(),
        _ => in_units(DAY, "days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_are_formatted() {
        for (time, at, long) in [
            (0, "0:00", "0 ms"),
            (250, "0:00.250", "250 ms"),
            (30 * SECOND, "0:30", "30 s"),
            (90 * SECOND, "1:30", "90 s"),
            (280 * SECOND, "4:40", "280 s"),
            (30 * MINUTE, "30:00", "30 min"),
            (75 * MINUTE, "1:15:00", "75 min"),
            (90 * MINUTE, "1:30:00", "1.5 h"),
            (11 * HOUR + 30 * MINUTE, "11:30:00", "11.5 h"),
            (DAY, "1 day", "1 day"),
            (4 * DAY + SECOND, "4 days 0:00:01", "4 days"),
        ] {
            assert_eq!((&*moment(time), &*span(time)), (at, long));
        }
        // Files may contain any number.
        assert_eq!(span(u64::MAX), "213503982334.6 days");
    }
}
