//! Reads receives of messages in languages that are not parsed: the listeners of Spring Cloud AWS, and the requests of
//! AWS's SDKs for Java, Kotlin and Go.
//!
//! ```text
//! @SqsListener(value = "orders", messageVisibilitySeconds = "30")
//! &sqs.ReceiveMessageInput{QueueUrl: aws.String(os.Getenv("QUEUE_URL")), VisibilityTimeout: 30}
//! ReceiveMessageRequest.builder().queueUrl(url).visibilityTimeout(30).build()
//! ```
//!
//! A value is a literal, an environment variable, or a name that the file assigns once. A file with another value of one
//! of these settings states nothing.

use super::constants::is_variable;
use super::{Found, FoundRenewal, PolledQueue, Time, milliseconds};
use crate::limits;
use crate::read::scan::words;
use crate::read::syntax::TextRange;

/// Functions that read an environment variable.
const GETTERS: [&str; 2] = ["Getenv", "getenv"];
/// Settings of the queue, and of the visibility timeout.
const QUEUES: [&str; 6] = [
    "QueueUrl",
    "queueNames",
    "queueUrl",
    "setQueueUrl",
    "value",
    "withQueueUrl",
];
const TIMEOUTS: [&str; 5] = [
    "VisibilityTimeout",
    "messageVisibilitySeconds",
    "setVisibilityTimeout",
    "visibilityTimeout",
    "withVisibilityTimeout",
];

/// Returns the programs in `text`.
pub(super) fn programs(text: &str) -> Vec<Found> {
    let source = Words {
        text,
        all: words(text, true),
    };
    let mut found = Vec::new();
    for at in 0..source.all.len() {
        let is_listener = match source.all[at] {
            "SqsListener" if source.get(at + 1) == "(" => true,
            "ReceiveMessageInput" if source.get(at + 1) == "{" => false,
            "ReceiveMessageRequest" if matches!(source.get(at + 1), "(" | ".") => false,
            _ => continue,
        };
        match source.program(at, is_listener) {
            Ok(Some(program)) => found.push(program),
            Ok(None) => {}
            Err(()) => return Vec::new(),
        }
    }
    found
}

/// A value of a setting.
enum Setting<'s> {
    Text(&'s str),
    Variable(&'s str),
    Number(f64),
}

struct Words<'s> {
    text: &'s str,
    all: Vec<&'s str>,
}

impl<'s> Words<'s> {
    fn get(&self, at: usize) -> &'s str {
        self.all.get(at).copied().unwrap_or_default()
    }

    fn range(&self, at: usize) -> TextRange {
        let start = self.get(at).as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + self.get(at).len()
    }

    /// Returns the end of the statement, or of the brackets, that begin at `from`.
    fn end(&self, from: usize) -> usize {
        let mut depth = 0;
        let rest = self.all[from..].iter().take(limits::MAX_SIGNATURE_LENGTH);
        let end = rest.clone().position(|word| {
            depth += match *word {
                "(" | "{" => 1,
                ")" | "}" => -1,
                _ => 0,
            };
            *word == ";" || depth < 0 || depth == 0 && *word == "}"
        });
        from + end.unwrap_or(rest.len())
    }

    /// Returns the program that receives at the word `at`: `None` if its queue is unknown, and an error if another value is.
    fn program(&self, at: usize, is_listener: bool) -> Result<Option<Found>, ()> {
        let end = if is_listener {
            at + self.all[at..].iter().position(|word| *word == ")").ok_or(())?
        } else {
            self.end(at + 1)
        };
        let setting = |names: &[&str]| {
            let mut found = (at + 1..end)
                .filter(|at| names.contains(&self.get(*at)) && matches!(self.get(*at + 1), "(" | "=" | ":"));
            found.next().filter(|_| found.next().is_none())
        };
        let bare = (is_listener && self.get(at + 2).starts_with('"')).then_some(at);
        let queue = setting(&QUEUES)
            .or(bare)
            .and_then(|at| match self.value(at + 2, true)? {
                Setting::Variable(name) => Some(PolledQueue::Variable(name.into())),
                Setting::Text(text) => match text.strip_prefix("${").and_then(|name| name.strip_suffix('}')) {
                    Some(name) => is_variable(name).then(|| PolledQueue::Variable(name.into())),
                    None => text
                        .rsplit(['/', ':'])
                        .next()
                        .map(|name| PolledQueue::Named(name.into())),
                },
                Setting::Number(_) => None,
            });
        let visibility: Option<Time> = match (at + 1..end).find(|at| TIMEOUTS.contains(&self.get(*at))) {
            None => None,
            Some(at) => {
                let seconds = match self.value(at + 2, true) {
                    Some(Setting::Number(number)) => Some(number),
                    Some(Setting::Text(text)) => text.parse().ok(),
                    _ => None,
                };
                let time = seconds.and_then(|seconds| milliseconds(seconds, 1000.0)).ok_or(())?;
                Some((time, self.range(at)))
            }
        };
        let Some(queue) = queue else {
            return if visibility.is_some() { Err(()) } else { Ok(None) };
        };
        Ok(Some(Found {
            visibility,
            renewal: FoundRenewal::Never,
            ..Found::new(queue, self.range(at))
        }))
    }

    /// Returns the value that begins at the word `at`, within the calls that wrap it: `aws.String(os.Getenv("QUEUE_URL"))`.
    fn value(&self, at: usize, may_be_named: bool) -> Option<Setting<'s>> {
        let value = self.all.get(at..)?;
        let is_end = |word: &&str| matches!(*word, "," | ")" | ";" | "}");
        let value = &value[..value.iter().position(is_end)?];
        let last = value.last()?;
        if let Some(text) = last.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            let reads = value.iter().any(|word| GETTERS.contains(word));
            let is_plain = value.iter().all(|word| !matches!(*word, "+" | "."));
            let is_wrapped = value.starts_with(&["aws", ".", "String"]);
            return if reads {
                Some(Setting::Variable(text))
            } else {
                (is_plain || is_wrapped).then_some(Setting::Text(text))
            };
        }
        if let Ok(number) = last.parse() {
            let is_alone = value.len() == 1 || value.first() == Some(&"aws");
            return is_alone.then_some(Setting::Number(number));
        }
        let is_name = value.len() == 1 || value.starts_with(&["aws", ".", "String"]) && value.len() == 5;
        if !may_be_named || !is_name {
            return None;
        }
        // `url := os.Getenv("QUEUE_URL")`, `String url = System.getenv("QUEUE_URL");`
        let mut assigned = (0..self.all.len()).filter_map(|at| {
            let signs = [self.get(at + 1), self.get(at + 2)];
            match (self.all[at] == *last, signs) {
                (true, [":", "="]) => Some(at + 3),
                (true, ["=", next]) if next != "=" => Some(at + 2),
                _ => None,
            }
        });
        let only = assigned.next().filter(|_| assigned.next().is_none())?;
        self.value(only, false)
    }
}
