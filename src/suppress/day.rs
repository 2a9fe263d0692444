//! Calendar days, for the expiry of suppressions, and the current day in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// Day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: i64,
    month: i64,
    of_month: i64,
}

const SECONDS: i64 = 86_400;

impl Day {
    /// Parses the format `2027-03-31`, and no other.
    pub fn parse(text: &str) -> Option<Day> {
        let digits = |part: &str, width: usize| {
            let fits = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
            fits.then(|| part.parse().ok()).flatten()
        };
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let day = Day {
            year: digits(year, 4)?,
            month: digits(month, 2)?,
            of_month: digits(day, 2)?,
        };
        let exists = (1..=12).contains(&day.month) && (1..=day.days_of_month()).contains(&day.of_month);
        (parts.next().is_none() && exists).then_some(day)
    }

    /// Returns the day of a number of seconds since 1970.
    pub fn of_epoch(seconds: i64) -> Day {
        // Howard Hinnant's `civil_from_days`: years start in March, so that the leap day is the last day of a year.
        let days = seconds.div_euclid(SECONDS) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let shifted = (5 * of_year + 2) / 153;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        Day {
            year: year + era * 400 + i64::from(month <= 2),
            month,
            of_month: of_year - (153 * shifted + 2) / 5 + 1,
        }
    }

    /// Returns the current day, from `SOURCE_DATE_EPOCH` if it is set, and from the system's clock otherwise.
    pub fn today() -> Day {
        let pinned = std::env::var("SOURCE_DATE_EPOCH").ok();
        let pinned = pinned
            .and_then(|seconds| seconds.trim().parse::<u32>().ok())
            .map(i64::from);
        let seconds = pinned.unwrap_or_else(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH);
            since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0))
        });
        Day::of_epoch(seconds)
    }

    /// Returns the number of days since `other`, which is negative if this day is earlier.
    pub fn days_since(self, other: Day) -> i64 {
        self.of_calendar() - other.of_calendar()
    }

    /// Returns the days since 0000-03-01, with Howard Hinnant's `days_from_civil`.
    fn of_calendar(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let shifted = (self.month + 9) % 12;
        let of_year = (153 * shifted + 2) / 5 + self.of_month - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year
    }

    fn days_of_month(self) -> i64 {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.of_month)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_existing_days_are_parsed() {
        for text in ["2027-03-31", "2028-02-29", "2000-02-29", "9999-12-31"] {
            assert_eq!(Day::parse(text).map(|day| day.to_string()).as_deref(), Some(text));
        }
        for text in [
            "",
            "2027",
            "2027-3-31",
            "2027-02-29",
            "2100-02-29",
            "2027-13-01",
            "2027-00-01",
            "2027-01-00",
            "27-01-01",
            "2027-01-01-",
            "+027-01-01",
            "2027-04-31",
            "2027/01/01",
            "2027-01-01T00:00:00Z",
            "tomorrow",
        ] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_counted_over_months_and_leap_days() {
        let cases = [
            ("2026-03-14", "2026-03-14", 0),
            ("2026-03-15", "2026-03-14", 1),
            ("2026-03-14", "2026-03-15", -1),
            ("2028-03-01", "2028-02-28", 2),
            ("2100-03-01", "2100-02-28", 1),
            ("2026-09-10", "2026-03-14", 180),
            ("2400-01-01", "2000-01-01", 146_097),
        ];
        for (later, earlier, days) in cases {
            let read = |text| Day::parse(text).expect("a day");
            assert_eq!(read(later).days_since(read(earlier)), days, "{later} {earlier}");
        }
    }

    #[test]
    fn seconds_are_converted_to_days() {
        let cases = [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_806_451_199, "2027-03-30"),
            (1_806_451_200, "2027-03-31"),
            (4_107_542_399, "2100-02-28"),
            (4_107_542_400, "2100-03-01"),
        ];
        for (seconds, day) in cases {
            assert_eq!(Day::of_epoch(seconds).to_string(), day, "{seconds}");
        }
    }
}
