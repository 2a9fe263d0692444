//! Finds programs that poll queues, and what they state about the messages: for how long a receive hides them, when they
//! renew that, and how long one may take. Libraries carry these numbers: `sqs-consumer`, Celery, and the calls of AWS's
//! SDKs.
//!
//! Nothing is executed. A number that is not a constant of the file is unknown, and a program of which one setting is
//! unknown states nothing.

mod calls;
mod celery;

use super::constants::{Constant, Constants};
use super::search::Search;
use super::syntax::{Expression, Module, TextRange};
use super::{python, script};
use crate::limits;
use crate::locate::{Language, language_of};
use calls::Calls;
use memchr::memmem;
use source::{Sources, Span};
use std::path::Path;
use std::sync::Arc;

/// Words of which a file with a program contains one.
const MARKS: [&str; 5] = ["sqs-consumer", "celery", "receive_message", "eceiveMessage", "CELERY"];
/// Words of which a file that renews a visibility timeout contains one.
const RENEWALS: [&str; 3] = [
    "change_message_visibility",
    "hangeMessageVisibility",
    "change_visibility",
];

/// A program that polls a queue.
#[derive(Debug, Clone)]
pub struct PollingProgram {
    /// Queue that it polls.
    pub queue: PolledQueue,
    /// Span of the code that starts to poll.
    pub span: Span,
    /// Visibility timeout that each receive sets, in place of the queue's.
    pub visibility: Option<StatedTime>,
    /// Time after which the program stops waiting for the work on a message.
    pub longest: Option<StatedTime>,
    /// Renewal of the visibility timeout.
    pub renewal: Renewal,
    /// `true` for Celery, whose command may set another limit.
    pub is_celery: bool,
}

/// Reference to a queue in a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PolledQueue {
    /// Environment variable.
    Variable(Arc<str>),
    /// Name, which is also the end of its URL.
    Named(Arc<str>),
}

/// A duration that a program states.
#[derive(Debug, Clone, Copy)]
pub struct StatedTime {
    /// Milliseconds.
    pub milliseconds: i64,
    /// Span of the value or of its setting.
    pub span: Span,
}

/// Renewal of the visibility timeout by a program.
#[derive(Debug, Clone, Copy)]
pub enum Renewal {
    /// No code of the repository renews one.
    Never,
    /// Periodic calls.
    Heartbeat {
        /// Interval between calls.
        every: StatedTime,
        /// Visibility timeout that each call sets.
        extend_to: StatedTime,
    },
    /// The code contains calls, at unknown times.
    Unknown,
}

impl PollingProgram {
    /// Returns `true` if both programs state the same.
    pub fn agrees(&self, other: &PollingProgram) -> bool {
        let time = |time: Option<StatedTime>| time.map(|time| time.milliseconds);
        let renewal = |renewal: Renewal| match renewal {
            Renewal::Never => (0, None, None),
            Renewal::Heartbeat { every, extend_to } => (1, time(Some(every)), time(Some(extend_to))),
            Renewal::Unknown => (2, None, None),
        };
        (time(self.visibility), time(self.longest), renewal(self.renewal))
            == (time(other.visibility), time(other.longest), renewal(other.renewal))
    }
}

/// A program in a file, with byte ranges.
struct Found {
    queue: PolledQueue,
    at: TextRange,
    visibility: Option<Time>,
    longest: Option<Time>,
    renewal: FoundRenewal,
    is_celery: bool,
}

/// Milliseconds, with the byte range that states them.
type Time = (i64, TextRange);

enum FoundRenewal {
    Never,
    Heartbeat(Time, Time),
    Unknown,
}

/// Returns the programs in the repository of `search`, in the order of their paths.
pub(super) fn programs(search: &Search<'_>, sources: &Sources) -> Vec<PollingProgram> {
    let paths = search.scripts(limits::MAX_PROGRAM_FILES);
    let mut files = Vec::new();
    let mut is_renewed = false;
    for path in paths {
        let Some(text) = marked(path, sources) else { continue };
        is_renewed |= contains(&text, &RENEWALS);
        if contains(&text, &MARKS) {
            files.push((path, text));
        }
    }
    let mut all = Vec::new();
    let mut celery = celery::Settings::default();
    for (path, text) in &files {
        let read = match language_of(path) {
            Some(Language::Python) => python::read(text),
            _ => script::read(text),
        };
        let Ok(module) = read else {
            // The program, or a part of it, may be in this file.
            celery.give_up();
            continue;
        };
        let found = found(&module, text, &mut celery);
        all.extend(
            found
                .into_iter()
                .map(|found| placed(found, path, text, is_renewed, sources)),
        );
        celery.end_file(path);
    }
    if let Some((path, found)) = celery.finish()
        && let Some((path, text)) = files.iter().find(|(known, _)| **known == path)
    {
        all.extend(
            found
                .into_iter()
                .map(|found| placed(found, path, text, is_renewed, sources)),
        );
    }
    all
}

/// Returns the text of the file at `path` if it contains one of the words.
fn marked(path: &Path, sources: &Sources) -> Option<String> {
    let bytes = sources.files().read(path, limits::MAX_SOURCE_SIZE).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    (contains(&text, &MARKS) || contains(&text, &RENEWALS)).then_some(text)
}

fn contains(text: &str, words: &[&str]) -> bool {
    words
        .iter()
        .any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

fn placed(found: Found, path: &Path, text: &str, is_renewed: bool, sources: &Sources) -> PollingProgram {
    let file = sources.add(path, text);
    let line = |at: &TextRange| {
        let written = text.get(at.clone()).unwrap_or_default();
        let line = written.lines().next().unwrap_or_default().trim_end();
        Span::new(file, at.start..at.start + line.len())
    };
    let time = |(milliseconds, at): Time| StatedTime {
        milliseconds,
        span: line(&at),
    };
    PollingProgram {
        queue: found.queue,
        span: line(&found.at),
        visibility: found.visibility.map(time),
        longest: found.longest.map(time),
        renewal: match found.renewal {
            FoundRenewal::Heartbeat(every, extend_to) => Renewal::Heartbeat {
                every: time(every),
                extend_to: time(extend_to),
            },
            // The call may be in another file.
            FoundRenewal::Never if !is_renewed => Renewal::Never,
            FoundRenewal::Never | FoundRenewal::Unknown => Renewal::Unknown,
        },
        is_celery: found.is_celery,
    }
}

/// Returns the programs of one file, and adds its settings to `celery`.
fn found(module: &Module, text: &str, celery: &mut celery::Settings) -> Vec<Found> {
    let calls = Calls::of(module);
    celery.add(&calls, text);
    let mut all = Vec::new();
    if text.contains("sqs-consumer") {
        all.extend(
            calls
                .all
                .iter()
                .filter_map(|call| of_sqs_consumer(&calls.constants, call.expression)),
        );
    }
    all.extend(of_receives(&calls, module.is_script));
    all
}

/// Returns the program that `Consumer.create({ … })` of `sqs-consumer` starts.
fn of_sqs_consumer(constants: &Constants<'_>, call: &Expression) -> Option<Found> {
    let options = calls::options_of(constants, call, |callee, is_new| {
        let is_consumer = |name: Option<&str>| name == Some("Consumer");
        if is_new {
            is_consumer(callee.last_name())
        } else {
            callee.last_name() == Some("create") && is_consumer(callee.first_name())
        }
    })?;
    let queue = options.queue("queueUrl")?;
    let visibility = options.time("visibilityTimeout", 1000.0).ok()?;
    let every = options.time("heartbeatInterval", 1000.0).ok()?;
    let longest = options.time("handleMessageTimeout", 1.0).ok()?;
    let renewal = match (every, &visibility) {
        (Some(every), Some(visibility)) => FoundRenewal::Heartbeat(every, visibility.clone()),
        // The library rejects an interval without a timeout.
        (Some(_), None) => FoundRenewal::Unknown,
        (None, _) => FoundRenewal::Never,
    };
    Some(Found {
        queue,
        at: call.at.clone(),
        visibility,
        longest,
        renewal,
        is_celery: false,
    })
}

/// Returns the programs that receive messages with an SDK: one per queue of the file.
fn of_receives(calls: &Calls<'_>, is_script: bool) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let receives = calls
        .all
        .iter()
        .filter_map(|call| calls::receive(&calls.constants, call.expression));
    for receive in receives {
        let Ok((queue, visibility)) = receive else {
            // The file receives from a queue, or in a way, that is not known.
            return Vec::new();
        };
        let known = all.iter_mut().find(|found| found.queue == queue);
        match known {
            Some(known) => {
                let same =
                    known.visibility.as_ref().map(|(time, _)| *time) == visibility.1.as_ref().map(|(time, _)| *time);
                if !same {
                    return Vec::new();
                }
            }
            None => all.push(Found {
                queue,
                at: visibility.0,
                visibility: visibility.1,
                longest: None,
                renewal: FoundRenewal::Unknown,
                is_celery: false,
            }),
        }
    }
    let is_only = all.len() == 1;
    for found in &mut all {
        found.renewal = match calls.heartbeat(is_script) {
            calls::FileRenewal::Never => FoundRenewal::Never,
            calls::FileRenewal::Heartbeat(every, extend_to) if is_only => FoundRenewal::Heartbeat(every, extend_to),
            _ => FoundRenewal::Unknown,
        };
    }
    all
}

/// Returns the milliseconds of a number of units.
fn milliseconds(number: f64, unit: f64) -> Option<i64> {
    let time = number * unit;
    // A day, in milliseconds: no visibility timeout is longer.
    #[expect(clippy::cast_possible_truncation, reason = "it is in range")]
    (1.0..=86_400_000.0).contains(&time).then_some(time.ceil() as i64)
}

fn queue_of(constant: Constant<'_>) -> Option<PolledQueue> {
    match constant {
        Constant::Variable(name) => Some(PolledQueue::Variable(name.into())),
        // The last part of a URL or an ARN is the queue's name.
        Constant::Text(text) => {
            let name = text.rsplit(['/', ':']).next().unwrap_or(text);
            (!name.is_empty()).then(|| PolledQueue::Named(name.into()))
        }
        _ => None,
    }
}
