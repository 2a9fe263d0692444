//! Reads what the command of a container states about the worker that it starts: the time after which the worker stops the
//! work on a message, and the queues that it polls.
//!
//! Only commands are read whose words are all known, and in which one worker is started.

use super::declared::Duration;
use conditions::Condition;
use source::Span;

/// The command of a container.
#[derive(Debug, Clone)]
pub struct ContainerCommand {
    /// Condition under which it is run.
    pub when: Condition,
    /// Span of the last part that is written.
    pub span: Span,
    /// Entry point and command.
    pub words: Vec<String>,
}

/// Programs that start a worker, with the options that state a time.
struct Program {
    kind: WorkerKind,
    /// End of the name of the program.
    name: &'static str,
    /// Subcommands that start a worker.
    starts: &'static [&'static str],
    /// Option for the time in seconds.
    time: &'static str,
    /// Options for the queues, separated by commas.
    queues: &'static [&'static str],
}

/// Kinds of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkerKind {
    /// Deletes a message after the work. `retry_after` of its configuration does not apply to SQS:
    /// <https://laravel.com/docs/queues#job-expiration>.
    Laravel,
    /// Deletes a message before the work, unless its code says otherwise.
    /// <https://docs.celeryq.dev/en/stable/userguide/workers.html#time-limits>
    Celery,
}

/// Shoryuken is not among them: its `--timeout` is that of a shutdown.
/// <https://github.com/ruby-shoryuken/shoryuken/wiki/Signals>
const PROGRAMS: [Program; 2] = [
    Program {
        kind: WorkerKind::Laravel,
        name: "artisan",
        starts: &["queue:work", "queue:listen"],
        time: "--timeout",
        queues: &["--queue"],
    },
    Program {
        kind: WorkerKind::Celery,
        name: "celery",
        starts: &["worker"],
        time: "--time-limit",
        queues: &["--queues", "-Q"],
    },
];

const QUOTES: [char; 2] = ['"', '\''];
/// Characters that a shell replaces, or that end a command.
const OF_SHELLS: [char; 11] = ['$', '`', ';', '&', '|', '*', '<', '>', '(', ')', '#'];

/// The worker that a command starts.
#[derive(Debug, Clone)]
pub(super) struct StartedWorker {
    pub(super) kind: WorkerKind,
    /// Span for labels.
    pub(super) span: Span,
    /// Time after which the worker stops the work on a message.
    pub(super) limit: Option<Duration>,
    /// Names of the queues that it polls; empty if none is stated.
    pub(super) queues: Vec<String>,
    /// First argument that is not an option: the connection of Laravel.
    pub(super) argument: Option<String>,
}

impl ContainerCommand {
    /// Returns the worker that it starts.
    pub(super) fn worker(&self) -> Option<StartedWorker> {
        let text = self.words.join(" ");
        let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches(QUOTES)).collect();
        let mut workers = PROGRAMS.iter().filter_map(|program| program.started(&words, self.span));
        workers.next().filter(|_| workers.next().is_none())
    }
}

impl Program {
    /// Returns the worker that `words` start, if they are one simple command.
    fn started(&self, words: &[&str], span: Span) -> Option<StartedWorker> {
        let is_program = |word: &str| word.rsplit('/').next() == Some(self.name);
        let program = words.iter().position(|word| is_program(word))?;
        let start = words.iter().skip(program).position(|word| self.starts.contains(word))? + program;
        let mut worker = StartedWorker {
            kind: self.kind,
            span,
            limit: None,
            queues: Vec::new(),
            argument: None,
        };
        let mut rest = words[program + 1..].iter().enumerate();
        while let Some((at, word)) = rest.next() {
            let (option, value) = word
                .split_once('=')
                .map_or((*word, None), |(option, value)| (option, Some(value)));
            let is_time = option == self.time;
            if is_time || self.queues.contains(&option) {
                let value = value
                    .or_else(|| rest.next().map(|(_, value)| *value))?
                    .trim_matches(QUOTES);
                if value.contains(OF_SHELLS) {
                    return None;
                }
                if is_time {
                    let milliseconds = value.parse::<i64>().ok()?.checked_mul(1000)?;
                    let span = Some(span);
                    // Without a limit, the option is 0.
                    worker.limit = (milliseconds > 0).then_some(Duration { milliseconds, span });
                } else {
                    worker.queues = value.split(',').map(str::to_owned).collect();
                }
            } else if word.contains(OF_SHELLS) || is_program(word) {
                return None;
            } else if program + 1 + at > start && !word.starts_with('-') {
                let before = words[program + at];
                let is_number = word.parse::<f64>().is_ok();
                match before.starts_with('-') && !before.contains('=') {
                    // The value of an option such as `--sleep`.
                    true if is_number => {}
                    // The value of an option, or the word after a flag such as `-v`.
                    true => return None,
                    false => worker.argument = worker.argument.or_else(|| Some((*word).to_owned())),
                }
            }
        }
        Some(worker)
    }
}

impl StartedWorker {
    /// Returns `true` if both state the same.
    pub(super) fn agrees(&self, other: &StartedWorker) -> bool {
        let time = |worker: &StartedWorker| worker.limit.map(|limit| limit.milliseconds);
        self.kind == other.kind && time(self) == time(other)
    }
}
