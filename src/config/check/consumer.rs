//! Checks declared consumers: a team's statements about the processing of a queue's messages.

use super::{Checks, FileChecker};
use crate::config::consumer::{ConfigText, Consumer, Heartbeat, Located, NamePattern};
use crate::config::{ConfigError, Duration, file};
use toml::Spanned;

/// Maximum visibility timeout of SQS, in milliseconds.
const LONGEST_VISIBILITY: u64 = 12 * 3_600_000;

impl FileChecker<'_> {
    /// Resolves the declared consumers, which share the text of the file.
    pub(super) fn consumers(&self, written: &[file::Consumer]) -> Checks<Vec<Consumer>> {
        let file = self.text_of(!written.is_empty());
        written.iter().map(|one| self.consumer(one, file.clone())).collect()
    }

    fn consumer(&self, written: &file::Consumer, file: Option<ConfigText>) -> Checks<Consumer> {
        let queue = self.names(&written.queue, "a consumer needs a queue")?;
        let function = written.function.as_ref();
        let function = function.map(|name| self.names(name, "name the function, or leave `function` out"));
        let [p50, p99, max] = self.processing(written.processing.as_ref())?;
        let parallelism = written.parallelism.as_ref();
        if let Some(zero) = parallelism.filter(|count| *count.get_ref() == 0) {
            return Err(self.error(zero.span(), "`parallelism` must be at least 1"));
        }
        let heartbeat = written.heartbeat.as_ref();
        if let (Some(_), Some(heartbeat)) = (&written.function, heartbeat) {
            let message = "Lambda does not renew visibility timeouts: a heartbeat is for a worker, and `function` makes this consumer a function";
            return Err(self.error(heartbeat.every.span(), message));
        }
        Ok(Consumer {
            file,
            queue,
            function: function.transpose()?,
            p50,
            p99,
            max,
            heartbeat: heartbeat.map(|heartbeat| self.heartbeat(heartbeat)).transpose()?,
            parallelism: parallelism.map(|count| *count.get_ref()),
            measured: written.measured.as_ref().map(|day| self.day(day)).transpose()?,
        })
    }

    pub(super) fn names(&self, written: &Spanned<String>, missing: &str) -> Checks<Located<NamePattern>> {
        if written.get_ref().trim().is_empty() {
            return Err(self.error(written.span(), missing));
        }
        let refuse = |error: globset::Error| self.invalid_glob(written, &error);
        Ok(Located {
            value: NamePattern::parse(written.get_ref()).map_err(refuse)?,
            range: written.span(),
        })
    }

    /// Parses `p50`, `p99` and `max`, which must not decrease.
    fn processing(&self, written: Option<&Spanned<file::Processing>>) -> Checks<[Option<Located<Duration>>; 3]> {
        let Some(written) = written else {
            return Ok([None, None, None]);
        };
        let file::Processing { p50, p99, max } = written.get_ref();
        let read = |text: &Option<Spanned<String>>| text.as_ref().map(|text| self.duration(text)).transpose();
        let times = [("p50", read(p50)?), ("p99", read(p99)?), ("max", read(max)?)];
        let known: Vec<(&str, &Located<Duration>)> = times
            .iter()
            .filter_map(|(key, time)| Some((*key, time.as_ref()?)))
            .collect();
        if known.is_empty() {
            let message = "`processing` needs at least one of `p50`, `p99` and `max`";
            return Err(self.error(written.span(), message));
        }
        for pair in known.windows(2) {
            if let [(less, low), (more, high)] = pair
                && low.value > high.value
            {
                let message = format!("`{less}` is {}, more than the `{more}` of {}", low.value, high.value);
                return Err(self.error(low.range.clone(), message));
            }
        }
        Ok(times.map(|(_, time)| time))
    }

    fn heartbeat(&self, written: &file::Heartbeat) -> Checks<Heartbeat> {
        let (every, extend_to) = (self.duration(&written.every)?, self.duration(&written.extend_to)?);
        if extend_to.value.milliseconds() > LONGEST_VISIBILITY {
            let message = "SQS takes a visibility timeout of at most 12 hours (43200 s)";
            return Err(self.error(extend_to.range, message));
        }
        Ok(Heartbeat { every, extend_to })
    }

    /// Parses a duration, which must be positive.
    pub(super) fn duration(&self, text: &Spanned<String>) -> Checks<Located<Duration>> {
        let refuse = |message: &str| -> ConfigError { self.error(text.span(), message) };
        let value = Duration::parse(text.get_ref())
            .ok_or_else(|| refuse("not a duration; write a number with its unit, as in `12s` or `1.5m`"))?;
        if value.milliseconds() == 0 {
            return Err(refuse("a duration of 0; leave out what is not known"));
        }
        Ok(Located {
            value,
            range: text.span(),
        })
    }

    /// Parses a TOML date, or a string that contains one.
    fn day(&self, value: &Spanned<toml::Value>) -> Checks<Located<String>> {
        let date = match value.get_ref() {
            toml::Value::Datetime(found) => found.date,
            toml::Value::String(text) => text.parse().ok().and_then(|found: toml::value::Datetime| found.date),
            _ => None,
        };
        let date = date.ok_or_else(|| self.error(value.span(), "not a date; write it as `2026-03-14`"))?;
        Ok(Located {
            value: date.to_string(),
            range: value.span(),
        })
    }
}
