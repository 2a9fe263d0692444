//! What waits for the worker: texts that changed, each file once however often it did, and questions in their order.

use super::documents::{Document, Documents};
use lsp_server::{Request, RequestId};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long nobody may have typed before what was typed is judged.
const PAUSE: Duration = Duration::from_millis(120);
/// How long somebody may type before what was typed is judged all the same.
const LONGEST: Duration = Duration::from_millis(900);

/// More questions do not wait: nobody reads as many answers.
const MOST: usize = 4_000;

/// What waits for the worker.
#[derive(Debug, Clone, Default)]
pub(super) struct Inbox(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    rung: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    documents: Documents,
    changes: Changes,
    /// When the first and the last of them came, and whether they are to be judged at once.
    since: Option<(Instant, Instant)>,
    is_urgent: bool,
    questions: VecDeque<Request>,
    is_closed: bool,
    /// Tells the worker that what it does is overtaken.
    overtaken: Arc<AtomicBool>,
}

/// What changed since the worker last asked.
#[derive(Debug, Default, Clone)]
pub(super) struct Changes {
    /// Files, each with whether it may have come or gone.
    pub(super) files: BTreeMap<PathBuf, bool>,
    /// The folders that are open now, where they are others.
    pub(super) folders: Option<Vec<PathBuf>>,
    /// Whether any file may have changed without a word.
    pub(super) look_again: bool,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_none() && !self.look_again
    }

    /// Notes that a file changed, or may have come or gone.
    pub(super) fn note(&mut self, path: PathBuf, exists_anew: bool) {
        *self.files.entry(path).or_default() |= exists_anew;
    }
}

/// Something to do.
pub(super) struct Work {
    /// Every text that is open.
    pub(super) documents: BTreeMap<PathBuf, Document>,
    pub(super) changes: Changes,
    pub(super) question: Option<Request>,
    /// Set once other texts have come.
    pub(super) overtaken: Arc<AtomicBool>,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes texts or folders; what `change` notes is judged after a pause, or at once where it says so.
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
        self.0.rung.notify_all();
    }

    /// Adds a question; gives it back where too many wait already.
    pub(super) fn ask(&self, request: Request) -> Option<Request> {
        let mut waiting = self.lock();
        if waiting.questions.len() >= MOST {
            return Some(request);
        }
        waiting.questions.push_back(request);
        drop(waiting);
        self.0.rung.notify_all();
        None
    }

    /// Takes back a question that nobody has begun to answer.
    pub(super) fn cancel(&self, id: &RequestId) -> bool {
        let mut waiting = self.lock();
        let before = waiting.questions.len();
        waiting.questions.retain(|request| request.id != *id);
        waiting.questions.len() < before
    }

    /// Puts back a question that cannot be answered yet.
    pub(super) fn put_back(&self, question: Request) {
        self.lock().questions.push_front(question);
    }

    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.is_closed = true;
        waiting.overtaken.store(true, Ordering::Relaxed);
        drop(waiting);
        self.0.rung.notify_all();
    }

    /// The next thing to do, once there is one; `None` at the end.
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
                None => self.0.rung.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    let woken = self.0.rung.wait_timeout(waiting, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Waiting {
    /// How long it is until changes are to be judged.
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
