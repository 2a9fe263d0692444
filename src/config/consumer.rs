//! What a team says of the work on a queue's messages, with the places where it says so.

use super::Duration;
use globset::{Glob, GlobMatcher};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// A consumer that no template links to its queue, or what work costs that one does.
#[derive(Debug, Clone)]
pub struct Consumer {
    /// Where it is written; `None` for the command line.
    pub file: Option<ConfigText>,
    /// Address, logical id, name of the queue, or a pattern of these.
    pub queue: Placed<Names>,
    /// The function it narrows the queue's consumers to.
    pub function: Option<Placed<Names>>,
    /// Half of the messages take no longer.
    pub p50: Option<Placed<Duration>>,
    /// 99 of 100 messages take no longer.
    pub p99: Option<Placed<Duration>>,
    /// No message takes longer.
    pub max: Option<Placed<Duration>>,
    /// How often a worker renews the visibility timeout, and to what.
    pub heartbeat: Option<Heartbeat>,
    /// How many messages of a batch are worked on at once.
    pub parallelism: Option<u32>,
    /// When it was measured, as `year-month-day`.
    pub measured: Option<Placed<String>>,
}

/// How a worker keeps its message invisible.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    /// How often.
    pub every: Placed<Duration>,
    /// Until how long after the call.
    pub extend_to: Placed<Duration>,
}

/// A configuration file, for places in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigText {
    /// Its path.
    pub path: PathBuf,
    /// What it says.
    pub text: Arc<str>,
}

/// A value, and the bytes of the file that say it.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Its bytes.
    pub range: Range<usize>,
}

/// A name of resources, or a pattern of names.
#[derive(Debug, Clone)]
pub struct Names {
    /// As written.
    pub written: String,
    glob: GlobMatcher,
}

impl Names {
    /// In addresses `[` is the bracket of an instance's key, and stands for itself.
    pub(super) fn parse(written: &str) -> Result<Names, globset::Error> {
        let glob = Glob::new(&super::address_glob(written))?;
        Ok(Names {
            written: written.to_owned(),
            glob: glob.compile_matcher(),
        })
    }

    /// Whether `name` is one of them.
    pub fn hold(&self, name: &str) -> bool {
        self.glob.is_match(name)
    }
}

impl Consumer {
    /// What it says, in a line of TOML.
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

fn written(key: &str, time: &Placed<Duration>) -> String {
    format!("{key} = \"{}\"", time.value.to_string().replace(' ', ""))
}
