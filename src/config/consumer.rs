//! Declared consumers: a team's statements about the processing of a queue's messages, with their locations.

use super::Duration;
use globset::{Glob, GlobMatcher};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Consumer that no template links to its queue, or processing times of a linked one.
#[derive(Debug, Clone)]
pub struct Consumer {
    /// File with the declaration; `None` for the command line.
    pub file: Option<ConfigText>,
    /// Address, logical id or name of the queue, or a pattern of these.
    pub queue: Located<NamePattern>,
    /// Function, if the declaration concerns only one of the queue's consumers.
    pub function: Option<Located<NamePattern>>,
    /// Median processing time of a message.
    pub p50: Option<Located<Duration>>,
    /// 99th percentile of the processing time.
    pub p99: Option<Located<Duration>>,
    /// Maximum processing time.
    pub max: Option<Located<Duration>>,
    /// Renewal of the visibility timeout by a worker.
    pub heartbeat: Option<Heartbeat>,
    /// Number of messages of a batch that are processed at once.
    pub parallelism: Option<u32>,
    /// Date of the measurement, as `year-month-day`.
    pub measured: Option<Located<String>>,
}

/// Renewal of the visibility timeout while a worker processes a message.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    /// Interval between renewals.
    pub every: Located<Duration>,
    /// Visibility timeout that each renewal sets.
    pub extend_to: Located<Duration>,
}

/// Text of a configuration file, for locations in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigText {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents of the file.
    pub text: Arc<str>,
}

/// A value and its byte range in the file.
#[derive(Debug, Clone)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Byte range of the value.
    pub range: Range<usize>,
}

/// Characters of a pattern that do not stand for themselves.
const SPECIAL: [char; 4] = ['*', '?', '\\', '}'];

/// A name of resources, or a pattern of names.
#[derive(Debug, Clone)]
pub struct NamePattern {
    /// Name or pattern, as written.
    pub written: String,
    /// `None` for a name without wildcards.
    glob: Option<GlobMatcher>,
}

impl NamePattern {
    /// Parses a name or a pattern. In addresses, `[` is the bracket of an instance key and therefore literal.
    pub(super) fn parse(written: &str) -> Result<NamePattern, globset::Error> {
        let is_pattern = written.contains(SPECIAL);
        let glob = is_pattern
            .then(|| Glob::new(&super::address_glob(written)))
            .transpose()?;
        Ok(NamePattern {
            written: written.to_owned(),
            glob: glob.map(|glob| glob.compile_matcher()),
        })
    }

    /// Returns `true` if `name` matches.
    pub fn matches(&self, name: &str) -> bool {
        self.glob
            .as_ref()
            .map_or(self.written == name, |glob| glob.is_match(name))
    }

    /// Returns the text that every matching name begins with, and the text that it ends with.
    pub fn ends(&self) -> [&str; 2] {
        let written = self.written.as_str();
        if self.glob.is_none() {
            return [written; 2];
        }
        let start = written.split(SPECIAL).next().unwrap_or_default();
        let end = written.rsplit(SPECIAL).next().unwrap_or_default();
        [start, end]
    }
}

impl Consumer {
    /// Formats the declaration as a line of TOML.
    pub fn described(&self) -> String {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let mut parts = vec![format!("queue = {}", text(&self.queue.value.written))];
        if let Some(function) = &self.function {
            parts.push(format!("function = {}", text(&function.value.written)));
        }
        let times = [("p50", &self.p50), ("p99", &self.p99), ("max", &self.max)];
        let times = times
            .iter()
            .filter_map(|(key, time)| Some(written(key, time.as_ref()?)));
        let times: Vec<String> = times.collect();
        if !times.is_empty() {
            parts.push(format!("processing = {{ {} }}", times.join(", ")));
        }
        if let Some(Heartbeat { every, extend_to }) = &self.heartbeat {
            let (every, extend_to) = (written("every", every), written("extend-to", extend_to));
            parts.push(format!("heartbeat = {{ {every}, {extend_to} }}"));
        }
        parts.extend(self.parallelism.map(|count| format!("parallelism = {count}")));
        parts.extend(self.measured.as_ref().map(|day| format!("measured = {}", day.value)));
        format!("{{ {} }}", parts.join(", "))
    }
}

fn written(key: &str, time: &Located<Duration>) -> String {
    format!("{key} = \"{}\"", time.value.to_string().replace(' ', ""))
}
