//! Queues work for the worker: changed files, each once however often it changed, and requests in order.

use super::documents::{Document, Documents};
use lsp_server::{Request, RequestId};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Pause in typing after which changes are checked.
const PAUSE: Duration = Duration::from_millis(120);
/// Maximum delay of the check if the user types without a pause.
const LONGEST: Duration = Duration::from_millis(900);

/// Maximum number of waiting requests.
const MOST: usize = 4_000;

/// Queue of work for the worker.
#[derive(Debug, Clone, Default)]
pub(super) struct Inbox(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    condition: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    documents: Documents,
    changes: Changes,
    /// Times of the first and the last change, and whether to check them without delay.
    since: Option<(Instant, Instant)>,
    is_urgent: bool,
    questions: VecDeque<Request>,
    is_closed: bool,
    /// Flag that cancels the worker's current check.
    overtaken: Arc<AtomicBool>,
}

/// Changes since the worker last took work.
#[derive(Debug, Default, Clone)]
pub(super) struct Changes {
    /// Changed files; the value is `true` for files that may have been created or deleted.
    pub(super) files: BTreeMap<PathBuf, bool>,
    /// Open folders, if they changed.
    pub(super) folders: Option<Vec<PathBuf>>,
    /// `true` if files may have changed without notification.
    pub(super) is_unwatched: bool,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_none() && !self.is_unwatched
    }

    /// Records that a file changed or, with `was_created_or_deleted`, that it may have been created or deleted.
    pub(super) fn note(&mut self, path: PathBuf, was_created_or_deleted: bool) {
        *self.files.entry(path).or_default() |= was_created_or_deleted;
    }
}

/// Unit of work.
pub(super) struct Work {
    /// Open texts.
    pub(super) documents: BTreeMap<PathBuf, Document>,
    pub(super) changes: Changes,
    pub(super) question: Option<Request>,
    /// Flag that is set when further changes arrive.
    pub(super) overtaken: Arc<AtomicBool>,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies changes of texts or folders. The files that `change` records are checked after a pause, or without delay
    /// if it returns `true`.
    pub(super) fn change(&self, change: impl FnOnce(&mut Documents, &mut Changes) -> bool) {
        let mut waiting = self.lock();
        let Waiting { documents, changes, .. } = &mut *waiting;
        let is_urgent = change(documents, changes);
        waiting.is_urgent |= is_urgent;
        let now = Instant::now();
        let first = waiting.since.map_or(now, |(first, _)| first);
        waiting.since = Some((first, now));
        if !waiting.changes.is_empty() {
            waiting.overtaken.store(true, Ordering::Relaxed);
        }
        drop(waiting);
        self.0.condition.notify_all();
    }

    /// Adds a request, or returns it if too many are waiting.
    pub(super) fn ask(&self, request: Request) -> Option<Request> {
        let mut waiting = self.lock();
        if waiting.questions.len() >= MOST {
            return Some(request);
        }
        waiting.questions.push_back(request);
        drop(waiting);
        self.0.condition.notify_all();
        None
    }

    /// Removes a waiting request; returns `false` if it is not waiting.
    pub(super) fn cancel(&self, id: &RequestId) -> bool {
        let mut waiting = self.lock();
        let before = waiting.questions.len();
        waiting.questions.retain(|request| request.id != *id);
        waiting.questions.len() < before
    }

    /// Returns a request to the queue that cannot be answered yet.
    pub(super) fn put_back(&self, question: Request) {
        self.lock().questions.push_front(question);
    }

    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.is_closed = true;
        waiting.overtaken.store(true, Ordering::Relaxed);
        drop(waiting);
        self.0.condition.notify_all();
    }

    /// Waits for the next work; returns `None` after the end.
    pub(super) fn next(&self) -> Option<Work> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_closed {
                return None;
            }
            let left = waiting.left();
            if !waiting.questions.is_empty() || left == Some(Duration::ZERO) {
                return Some(waiting.take());
            }
            waiting = match left {
                None => self.0.condition.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let woken = self.0.condition.wait_timeout(waiting, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Waiting {
    /// Returns the time until changes are to be checked.
    fn left(&self) -> Option<Duration> {
        let (first, last) = self.since.filter(|_| !self.changes.is_empty())?;
        if self.is_urgent {
            return Some(Duration::ZERO);
        }
        let due = (last + PAUSE).min(first + LONGEST);
        Some(due.saturating_duration_since(Instant::now()))
    }

    fn take(&mut self) -> Work {
        self.since = None;
        self.is_urgent = false;
        self.overtaken = Arc::default();
        Work {
            overtaken: self.overtaken.clone(),
            documents: self.documents.open.clone(),
            changes: std::mem::take(&mut self.changes),
            question: self.questions.pop_front(),
        }
    }
}
