//! Collects the settings of Celery, which may be in several files of one application.
//!
//! Only the time limit is used, and only if messages are acknowledged after the work (`task_acks_late`): otherwise a
//! message is deleted before the work begins. Celery's `visibility_timeout` applies to queues that Celery creates, not to
//! those of a template.

use super::calls::Calls;
use super::constants::{Constant, Constants};
use super::{Found, FoundRenewal, PolledQueue, Time, milliseconds, queue_of};
use crate::read::syntax::{Expression, Operator, Term};
use std::path::{Path, PathBuf};

/// Arguments of a task that override the settings.
const OF_TASKS: [&str; 2] = ["time_limit", "acks_late"];

/// Settings of the applications of a repository.
#[derive(Default)]
pub(crate) struct Settings {
    is_ambiguous: bool,
    /// `true` if the file that is being read has a setting.
    is_here: bool,
    file: Option<PathBuf>,
    limit: Option<Time>,
    acknowledges_late: Option<bool>,
    queues: Vec<(PolledQueue, std::ops::Range<usize>)>,
    /// Longest delay of a task in the file that is being read.
    countdown_here: Option<Time>,
    /// Longest delay of a task, and its file.
    countdown: Option<(PathBuf, Time)>,
}

/// Settings that are known.
pub(super) struct Application {
    /// File with the settings.
    pub(super) path: PathBuf,
    pub(super) programs: Vec<Found>,
    /// Longest delay of a task, and its file, if there is one queue.
    pub(super) countdown: Option<(PathBuf, Time)>,
}

impl Settings {
    /// Adds the settings of a file.
    pub(crate) fn add(&mut self, calls: &Calls<'_>, text: &str) {
        if !super::contains(text, &super::CELERY) {
            return;
        }
        let constants = &calls.constants;
        for (name, value) in &calls.settings {
            self.set(constants, name, value);
        }
        for call in &calls.all {
            let Term::Call { callee, named, .. } = &call.expression.kind else {
                continue;
            };
            let configures = matches!(callee.last_name(), Some("Celery" | "update"));
            let delays = matches!(
                callee.last_name(),
                Some("apply_async" | "retry" | "shared_task" | "task")
            );
            for (key, value) in named {
                match key.as_deref() {
                    Some("countdown" | "default_retry_delay") if delays => {
                        let time = constants.number(value).and_then(|number| milliseconds(number, 1000.0));
                        self.delay(time, value);
                    }
                    Some("eta") if delays => self.delay(distance(constants, value), value),
                    Some(key) if OF_TASKS.contains(&key) => self.is_ambiguous = true,
                    Some(key) if configures => self.set(constants, key, value),
                    _ => {}
                }
            }
        }
    }

    /// Adds a delay, in which a worker already holds the task.
    fn delay(&mut self, time: Option<i64>, value: &Expression) {
        let longest = self.countdown_here.as_ref().map_or(0, |(longest, _)| *longest);
        if let Some(time) = time.filter(|time| *time > longest) {
            self.countdown_here = Some((time, value.at.clone()));
        }
    }

    /// Sets the setting `name`: `task_time_limit`, or Django's `CELERY_TASK_TIME_LIMIT`.
    fn set(&mut self, constants: &Constants<'_>, name: &str, value: &Expression) {
        // `Celery(broker_transport_options=broker_transport_options)` passes on a constant that was added already.
        if value.name().is_some_and(|passed| &**passed == name) {
            return;
        }
        let name = name.strip_prefix("CELERY_").unwrap_or(name).to_ascii_lowercase();
        match &*name {
            "task_time_limit" => {
                let limit = constants.number(value).and_then(|number| milliseconds(number, 1000.0));
                self.is_ambiguous |= limit.is_none() || self.limit.is_some();
                self.limit = limit.map(|limit| (limit, value.at.clone()));
            }
            "task_acks_late" => {
                let late = match constants.resolve(value) {
                    Constant::Bool(late) => Some(late),
                    _ => None,
                };
                self.is_ambiguous |= late.is_none() || self.acknowledges_late.is_some();
                self.acknowledges_late = late;
            }
            "task_annotations" => self.is_ambiguous = true,
            "broker_transport_options" => {
                self.is_ambiguous |= !self.queues.is_empty();
                self.queues = predefined(constants, value).unwrap_or_default();
            }
            _ => return,
        }
        self.is_here = true;
    }

    /// Records that the file at `path` is read. Settings in several files may be those of several applications.
    pub(crate) fn end_file(&mut self, path: &Path) {
        if let Some(here) = self.countdown_here.take()
            && self.countdown.as_ref().is_none_or(|(_, known)| known.0 < here.0)
        {
            self.countdown = Some((path.to_owned(), here));
        }
        if std::mem::take(&mut self.is_here) {
            self.is_ambiguous |= self.file.is_some();
            self.file = Some(path.to_owned());
        }
    }

    /// Records a file that could not be read.
    pub(crate) fn give_up(&mut self) {
        self.is_ambiguous = true;
    }

    /// Returns the settings, if they are known.
    pub(super) fn finish(self) -> Option<Application> {
        let path = self.file.filter(|_| !self.is_ambiguous)?;
        let is_late = self.acknowledges_late == Some(true);
        let programs = self.queues.into_iter().map(|(queue, at)| Found {
            longest: self.limit.clone().filter(|_| is_late),
            // A message that is deleted before the work has no time to exceed.
            renewal: if is_late {
                FoundRenewal::Never
            } else {
                FoundRenewal::Unknown
            },
            is_celery: true,
            ..Found::new(queue, at)
        });
        let programs: Vec<Found> = programs.collect();
        let countdown = self.countdown.filter(|_| programs.len() == 1);
        Some(Application {
            path,
            programs,
            countdown,
        })
    }
}

/// Units of `timedelta`, in milliseconds.
const UNITS: [(&str, f64); 6] = [
    ("milliseconds", 1.0),
    ("seconds", 1000.0),
    ("minutes", 60_000.0),
    ("hours", 3_600_000.0),
    ("days", 86_400_000.0),
    ("weeks", 604_800_000.0),
];

/// Returns the distance of `eta` from now: `datetime.now(utc) + timedelta(hours=2)`.
fn distance(constants: &Constants<'_>, eta: &Expression) -> Option<i64> {
    let eta = match &eta.kind {
        Term::Name(name) => constants.value(name)?,
        _ => eta,
    };
    let Term::Binary(Operator::Add, parts) = &eta.kind else {
        return None;
    };
    let (now, distance) = (&parts[0], &parts[1]);
    let is_now = |of: &Expression| matches!(of.last_name(), Some("now" | "utcnow"));
    let Term::Call { callee, .. } = &now.kind else {
        return None;
    };
    let Term::Call {
        callee: of,
        arguments,
        named,
        ..
    } = &distance.kind
    else {
        return None;
    };
    if !is_now(callee) || of.last_name() != Some("timedelta") || !arguments.is_empty() {
        return None;
    }
    let parts = named.iter().map(|(key, value)| {
        let (_, unit) = UNITS.iter().find(|(unit, _)| key.as_deref() == Some(unit))?;
        Some(constants.number(value)? * unit)
    });
    // A distance of more than a day counts as a day, which is beyond any visibility timeout.
    milliseconds(parts.sum::<Option<f64>>()?.min(86_400_000.0), 1.0)
}

/// Returns the queues of `predefined_queues`, each with its location.
fn predefined(constants: &Constants<'_>, options: &Expression) -> Option<Vec<(PolledQueue, std::ops::Range<usize>)>> {
    let object = |value| match constants.resolve(value) {
        Constant::Compound(Expression {
            kind: Term::Object(entries),
            ..
        }) => Some(entries),
        _ => None,
    };
    let queues = super::constants::entry(object(options)?, "predefined_queues").ok()??;
    let urls = object(queues)?.iter().filter_map(|(_, queue)| {
        let url = super::constants::entry(object(queue)?, "url").ok()??;
        Some((queue_of(constants.resolve(url))?, url.at.clone()))
    });
    Some(urls.collect())
}
