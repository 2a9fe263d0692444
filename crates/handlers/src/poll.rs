//! Finds programs that poll queues, and what they state about the messages: for how long a receive hides them, when they
//! renew that, and how long one may take. Libraries carry these numbers: `sqs-consumer`, Celery, and the calls of AWS's
//! SDKs.
//!
//! Nothing is executed. A number that is not a constant of the file is unknown, and a program of which one setting is
//! unknown states nothing.

mod calls;
mod celery;
pub(crate) mod constants;
mod losses;
mod text;
mod waits;

use crate::facts::{PolledQueue, StatedTime};
use crate::find::search::Search;
use crate::limits;
use crate::read::language::{Language, language_of};
use crate::read::syntax::{Expression, Module, Statement, StatementKind, Term, TextRange};
use crate::read::{python, script};
use calls::{Calls, Receive};
use constants::{Constant, Constants};
use losses::FoundLoss;
pub use losses::LossKind;
use memchr::memmem;
use source::{Sources, Span};
use std::path::Path;

/// Words of which a file that receives messages contains one.
const RECEIVES: [&str; 5] = [
    "sqs-consumer",
    "receive_message",
    "eceiveMessage",
    "SqsListener",
    "Shoryuken",
];
/// Libraries that renew visibility timeouts on their own.
const RENEWING: [&str; 4] = ["AWS.Messaging", "JustSaying", "MassTransit", "NServiceBus"];
/// Words of which a file with settings of Celery contains one. Its visibility timeout is that of queues that it creates.
const CELERY: [&str; 3] = ["celery", "CELERY", "apply_async"];
/// Words of which a file that renews a visibility timeout contains one.
const RENEWALS: [&str; 5] = [
    "change_message_visibility",
    "hangeMessageVisibility",
    "change_visibility",
    "QueueMessageVisibility",
    "listener.Visibility",
];

/// Words of which a file that deletes messages contains one.
const DELETIONS: [&str; 3] = ["delete_message", "eleteMessage", ".delete()"];

/// Words of which a file that sets the visibility timeout of received messages contains one.
const TIMEOUTS: [&str; 4] = [
    "isibilityTimeout",
    "isibility_timeout",
    "VISIBILITY_TIMEOUT",
    "essageVisibility",
];

/// The programs of a repository that poll queues.
#[derive(Debug, Default)]
pub struct Programs {
    /// Programs with a known queue, in the order of their paths.
    pub known: Vec<PollingProgram>,
    /// `true` if a file may renew a visibility timeout.
    pub is_renewed: bool,
    /// Files that receive messages or set their visibility timeouts, each with `true` if it may state times of any queue.
    pub files: Vec<(Span, bool)>,
    /// `true` if there are too many files to read.
    pub are_unread: bool,
}

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
    /// Longest time that a single call of the work may wait.
    pub wait: Option<StatedTime>,
    /// Renewal of the visibility timeout.
    pub renewal: Renewal,
    /// `true` if it works between a receive and the deletion of a message, and receives once.
    pub works_before_deletion: bool,
    /// `true` for Celery, whose command may set another limit.
    pub is_celery: bool,
    /// Messages that it deletes although the work on them may fail.
    pub losses: Vec<Loss>,
    /// Number of messages that it receives together and works on one after the other, and its span.
    pub together: Option<(i64, Span)>,
    /// Longest delay after which a received task of Celery runs.
    pub countdown: Option<StatedTime>,
}

/// Deletion of a message whose work may fail.
#[derive(Debug, Clone, Copy)]
pub struct Loss {
    /// Reason.
    pub kind: LossKind,
    /// Span of the deletion; of the code that hides the failure if a library deletes the message.
    pub at: Span,
    /// Span of the work, or of the code that hides its failure.
    pub other: Span,
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
    /// The code sets visibility timeouts at unknown times, or to unknown values.
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
        let all = |of: &PollingProgram| [of.visibility, of.longest, of.wait].map(time);
        (all(self), renewal(self.renewal)) == (all(other), renewal(other.renewal))
    }
}

/// A program in a file, with byte ranges.
struct Found {
    queue: PolledQueue,
    at: TextRange,
    visibility: Option<Time>,
    longest: Option<Time>,
    wait: Option<Time>,
    renewal: FoundRenewal,
    works_before_deletion: bool,
    is_celery: bool,
    losses: Vec<FoundLoss>,
    together: Option<(i64, TextRange)>,
}

impl Found {
    fn new(queue: PolledQueue, at: TextRange) -> Self {
        Found {
            queue,
            at,
            visibility: None,
            longest: None,
            wait: None,
            renewal: FoundRenewal::Unknown,
            works_before_deletion: false,
            is_celery: false,
            losses: Vec::new(),
            together: None,
        }
    }
}

/// Returns where a function that gets a message of `sqs-consumer`, or a list of them, hides a failure from that library.
pub(crate) type FindHidden = for<'m> fn(&'m Module, &'m Expression, bool) -> Option<TextRange>;

/// Judge of the functions of `sqs-consumer`, of which it executes a limited number.
struct Judge {
    find_hidden: FindHidden,
    left: usize,
}

/// Milliseconds, with the byte range that states them.
pub(crate) type Time = (i64, TextRange);

enum FoundRenewal {
    Never,
    Heartbeat(Time, Time),
    Unknown,
}

/// Returns the programs in the repository of `search`.
pub(crate) fn programs(search: &Search<'_>, sources: &Sources, find_hidden: FindHidden) -> Programs {
    let Some(paths) = search.sources(limits::MAX_PROGRAM_FILES) else {
        return Programs {
            is_renewed: true,
            are_unread: true,
            ..Programs::default()
        };
    };
    let mut files = Vec::new();
    let mut is_renewed = false;
    for path in paths {
        let Some(text) = marked(path, sources) else { continue };
        is_renewed |= contains(&text, &RENEWALS);
        files.push((path, text));
    }
    let mut all = Vec::new();
    let mut receiving = Vec::new();
    let mut by_celery = Vec::new();
    let mut celery = celery::Settings::default();
    let mut judge = Judge {
        find_hidden,
        left: limits::MAX_CONSUMERS,
    };
    for (path, text) in &files {
        let read = match language_of(path) {
            Some(Language::Python) => python::read(text).ok(),
            Some(Language::Script) => script::read(text).ok(),
            _ => None,
        };
        let found = if let Some(module) = read {
            found(&module, text, &mut celery, &mut judge)
        } else {
            // The settings, or a part of them, may be in this file.
            if contains(text, &CELERY) {
                celery.give_up();
            }
            text::programs(text)
        };
        let start = || Span::new(sources.add(path, text), 0..0);
        if contains(text, &RECEIVES) || contains(text, &RENEWALS) || contains(text, &RENEWING) {
            // Options may come from elsewhere.
            let is_spread =
                contains(text, &["sqs-consumer"]) && contains(text, &["...", "Object.assign", "updateOption"]);
            let sets = is_spread
                || [&TIMEOUTS[..], &RENEWALS, &RENEWING]
                    .iter()
                    .any(|words| contains(text, words));
            receiving.push((start(), found.is_empty() && sets));
        } else if contains(text, &CELERY) {
            by_celery.push(start());
        }
        all.extend(
            found
                .into_iter()
                .map(|found| placed(found, is_renewed, &|at| line(path, text, at, sources))),
        );
        celery.end_file(path);
    }
    let of_celery = celery.finish();
    // By default, Celery deletes a message before the work, which may then take any time.
    receiving.extend(by_celery.into_iter().map(|start| (start, of_celery.is_none())));
    if let Some(application) = of_celery {
        let text = |path: &Path| files.iter().find(|(known, _)| **known == path);
        let countdown = application.countdown.and_then(|(path, (milliseconds, at))| {
            let (path, text) = text(&path)?;
            let span = line(path, text, &at, sources);
            Some(StatedTime { milliseconds, span })
        });
        if let Some((path, text)) = text(&application.path) {
            all.extend(application.programs.into_iter().map(|found| PollingProgram {
                countdown,
                ..placed(found, is_renewed, &|at| line(path, text, at, sources))
            }));
        }
    }
    Programs {
        known: all,
        is_renewed,
        files: receiving,
        are_unread: false,
    }
}

/// Returns `true` if `text` may receive and delete messages.
pub(crate) fn may_poll(text: &str) -> bool {
    contains(text, &RECEIVES) && contains(text, &DELETIONS)
}

/// Returns the names that `module` binds.
pub(crate) fn constants(module: &Module) -> Constants<'_> {
    Calls::of(module).constants
}

/// Returns the calls in `module` whose results are dropped, or in variables that only logs read.
pub(crate) fn unused_results(module: &Module) -> Vec<&Expression> {
    Calls::of(module).unused_results()
}

/// Returns the programs in `module` that poll queues with an SDK.
pub(crate) fn programs_of(module: &Module, line: &dyn Fn(&TextRange) -> Span) -> Vec<PollingProgram> {
    let found = of_receives(&Calls::of(module), module).into_iter();
    found.map(|found| placed(found, false, line)).collect()
}

/// Returns the longest time that a single call of the functions `names` may wait.
pub(crate) fn longest_wait(module: &Module, names: &[&str]) -> Option<Time> {
    let calls = Calls::of(module);
    waits::longest(module, &calls, |call| {
        call.function.is_some_and(|name| names.contains(&name))
    })
}

/// Returns the text of the file at `path` if it contains one of the words.
fn marked(path: &Path, sources: &Sources) -> Option<String> {
    let bytes = sources.files().read(path, limits::MAX_SOURCE_SIZE).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    [&RECEIVES[..], &CELERY, &RENEWALS, &RENEWING]
        .iter()
        .any(|words| contains(&text, words))
        .then_some(text)
}

fn contains(text: &str, words: &[&str]) -> bool {
    words
        .iter()
        .any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

/// Returns the span of the first line of `at`.
fn line(path: &Path, text: &str, at: &TextRange, sources: &Sources) -> Span {
    let written = text.get(at.clone()).unwrap_or_default();
    let line = written.lines().next().unwrap_or_default().trim_end();
    Span::new(sources.add(path, text), at.start..at.start + line.len())
}

fn placed(found: Found, is_renewed: bool, line: &dyn Fn(&TextRange) -> Span) -> PollingProgram {
    let time = |(milliseconds, at): Time| StatedTime {
        milliseconds,
        span: line(&at),
    };
    PollingProgram {
        queue: found.queue,
        span: line(&found.at),
        visibility: found.visibility.map(time),
        longest: found.longest.map(time),
        wait: found.wait.map(time),
        renewal: match found.renewal {
            FoundRenewal::Heartbeat(every, extend_to) => Renewal::Heartbeat {
                every: time(every),
                extend_to: time(extend_to),
            },
            // The call may be in another file.
            FoundRenewal::Never if !is_renewed => Renewal::Never,
            FoundRenewal::Never | FoundRenewal::Unknown => Renewal::Unknown,
        },
        works_before_deletion: found.works_before_deletion,
        is_celery: found.is_celery,
        losses: (found.losses.iter())
            .map(|loss| Loss {
                kind: loss.kind,
                at: line(&loss.at),
                other: line(&loss.other),
            })
            .collect(),
        together: found.together.map(|(count, at)| (count, line(&at))),
        countdown: None,
    }
}

/// Returns the programs of one file, and adds its settings to `celery`.
fn found(module: &Module, text: &str, celery: &mut celery::Settings, judge: &mut Judge) -> Vec<Found> {
    let calls = Calls::of(module);
    celery.add(&calls, text);
    let mut all = Vec::new();
    if text.contains("sqs-consumer") {
        all.extend(
            calls
                .all
                .iter()
                .filter_map(|call| of_sqs_consumer(module, &calls, call.expression, judge)),
        );
    }
    all.extend(of_receives(&calls, module));
    all
}

/// Returns the program that `Consumer.create({ … })` of `sqs-consumer` starts.
fn of_sqs_consumer<'m>(
    module: &'m Module,
    calls: &Calls<'m>,
    call: &'m Expression,
    judge: &mut Judge,
) -> Option<Found> {
    let constants = &calls.constants;
    let options = calls::options_of(constants, call, |callee, is_new| {
        let is_consumer = |name: Option<&str>| name == Some("Consumer");
        if is_new {
            is_consumer(callee.last_name())
        } else {
            callee.last_name() == Some("create") && is_consumer(callee.first_name())
        }
    })?;
    let queue = options.queue("queueUrl")?;
    // Options that change after the program was created state nothing.
    let times = ["handleMessageTimeout", "heartbeatInterval", "visibilityTimeout"];
    if module.says(&["assign", "updateOption"]) || times.iter().any(|option| constants.is_assigned(option)) {
        return None;
    }
    let visibility = options.time("visibilityTimeout", 1000.0);
    let every = options.time("heartbeatInterval", 1000.0);
    let longest = options.time("handleMessageTimeout", 1.0).ok()?;
    let renewal = match (every, &visibility) {
        (Ok(Some(every)), Ok(Some(visibility))) => FoundRenewal::Heartbeat(every, visibility.clone()),
        (Ok(None), Ok(_)) => FoundRenewal::Never,
        // The library rejects an interval without a timeout.
        _ => FoundRenewal::Unknown,
    };
    let visibility = visibility.ok().flatten();
    let option = |key| options.any(key).ok().flatten();
    // A batch handler that returns messages has only these deleted.
    let of_all = option("handleMessageBatch").filter(|one| !returns_value(one));
    let handler = option("handleMessage").or(of_all);
    let wait = handler.and_then(|handler| waits::of_handler(module, calls, handler));
    let hidden = handler.filter(|_| judge.left > 0).and_then(|handler| {
        judge.left -= 1;
        (judge.find_hidden)(module, handler, of_all.is_some())
    });
    let losses = hidden.map(|at| FoundLoss {
        kind: LossKind::Swallowed,
        other: at.clone(),
        at,
    });
    Some(Found {
        visibility,
        // The library stops waiting for the work before its calls do.
        wait: wait.filter(|_| longest.is_none()),
        longest,
        renewal,
        losses: losses.into_iter().collect(),
        ..Found::new(queue, call.at.clone())
    })
}

/// Returns `true` unless `handler` is a function in which no statement returns a value.
fn returns_value(handler: &Expression) -> bool {
    fn returns(body: &[Statement]) -> bool {
        let own = |one: &Statement| matches!(one.kind, StatementKind::Return(Some(_)));
        body.iter().any(|one| own(one) || one.bodies().into_iter().any(returns))
    }
    match &handler.kind {
        Term::Function(function) => returns(&function.body),
        _ => true,
    }
}

/// Returns the programs that receive messages with an SDK: one per queue of the file.
fn of_receives<'m>(calls: &Calls<'m>, module: &'m Module) -> Vec<Found> {
    let is_script = module.is_script;
    let mut all: Vec<Found> = Vec::new();
    let mut is_set_to_unknown = false;
    let receives = calls
        .all
        .iter()
        .filter_map(|call| calls::receive(&calls.constants, call.expression));
    for receive in receives {
        let Ok(Receive {
            queue,
            at,
            visibility,
            most,
        }) = receive
        else {
            // The file receives from a queue, or in a way, that is not known.
            return Vec::new();
        };
        is_set_to_unknown |= visibility.is_err();
        let visibility = visibility.ok().flatten();
        let known = all.iter_mut().find(|found| found.queue == queue);
        match known {
            Some(known) => {
                let time = |time: &Option<Time>| time.as_ref().map(|(time, _)| *time);
                if time(&known.visibility) != time(&visibility) {
                    return Vec::new();
                }
            }
            None => all.push(Found {
                visibility,
                together: most,
                ..Found::new(queue, at)
            }),
        }
    }
    let is_only = all.len() == 1;
    let is_sequence = is_only && losses::works_in_sequence(calls, &module.body, is_script);
    for found in &mut all {
        found.together = found.together.take().filter(|(count, _)| is_sequence && *count > 1);
        if is_only {
            found.losses = losses::losses(calls, module);
            found.wait = waits::after_receive(module, calls);
        }
        found.works_before_deletion = is_only && calls.works_before_deletion(is_script);
        found.renewal = match calls.heartbeat(is_script) {
            _ if is_set_to_unknown => FoundRenewal::Unknown,
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
