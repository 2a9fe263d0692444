//! Queues messages to the editor. An editor that does not read blocks nothing but its own requests, once thousands of
//! answers are waiting. Of messages that replace each other (the diagnostics of a file, the progress of a load), only
//! the last one is kept.

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{ProgressParams, ProgressParamsValue, PublishDiagnosticsParams, WorkDoneProgress};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum time that an ending server waits for the editor to read the remaining messages.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum number of waiting messages. Beyond it, the server reads no further requests until the editor reads some.
const MOST: usize = 10_000;

/// Queue of messages to the editor.
#[derive(Debug, Clone, Default)]
pub(super) struct Outbox(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<OutgoingMessages>,
    condition: Condvar,
}

#[derive(Debug, Default)]
struct OutgoingMessages {
    messages: VecDeque<Message>,
    /// Waiting diagnostics by URI.
    diagnostics: BTreeMap<String, Arc<PublishDiagnosticsParams>>,
    progress: Option<ProgressParams>,
    /// `true` if the editor is to be asked to pull all diagnostics again.
    refreshes: bool,
    requests: i32,
    is_closed: bool,
    is_disconnected: bool,
}

impl OutgoingMessages {
    fn request(&mut self, method: &str, params: impl serde::Serialize) -> Message {
        self.requests += 1;
        let id = RequestId::from(format!("sqslint-{}", self.requests));
        Request::new(id, method.to_owned(), params).into()
    }
}

impl Outbox {
    /// Passes all messages to `send` on a separate thread, until the outbox is closed or `send` returns `false`.
    pub(super) fn deliver(&self, send: impl Fn(Message) -> bool + Send + 'static) {
        let outbox = self.clone();
        std::thread::spawn(move || {
            while let Some(message) = outbox.next() {
                if !send(message) {
                    break;
                }
            }
            drop(send);
            outbox.lock().is_disconnected = true;
            outbox.0.condition.notify_all();
        });
    }

    fn lock(&self) -> MutexGuard<'_, OutgoingMessages> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next message.
    fn next(&self) -> Option<Message> {
        let mut queue = self.lock();
        loop {
            if let Some(message) = queue.messages.pop_front() {
                if queue.messages.len() + 1 == MOST {
                    self.0.condition.notify_all();
                }
                return Some(message);
            }
            if let Some((_, found)) = queue.diagnostics.pop_first() {
                return Some(notification("textDocument/publishDiagnostics", &*found));
            }
            if let Some(progress) = queue.progress.take() {
                return Some(notification("$/progress", progress));
            }
            if std::mem::take(&mut queue.refreshes) {
                let nothing = serde_json::Value::Null;
                return Some(queue.request("workspace/diagnostic/refresh", nothing));
            }
            if queue.is_closed {
                return None;
            }
            queue = self.0.condition.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn put(&self, change: impl FnOnce(&mut OutgoingMessages)) {
        change(&mut self.lock());
        self.0.condition.notify_all();
    }

    /// Answers a request.
    pub(super) fn answer(&self, id: RequestId, result: impl serde::Serialize) {
        let response = Response::new_ok(id, result);
        self.put(|queue| queue.messages.push_back(response.into()));
    }

    /// Refuses a request.
    pub(super) fn refuse(&self, id: RequestId, code: ErrorCode, message: &str) {
        let response = Response::new_err(id, code as i32, message.to_owned());
        self.put(|queue| queue.messages.push_back(response.into()));
    }

    /// Sends a request whose response does not matter.
    pub(super) fn ask(&self, method: &str, params: impl serde::Serialize) {
        self.put(|queue| {
            let request = queue.request(method, params);
            queue.messages.push_back(request);
        });
    }

    /// Asks the editor to pull all diagnostics again, with one request for all changes until the editor reads it.
    pub(super) fn refresh(&self) {
        self.put(|queue| queue.refreshes = true);
    }

    /// Waits until the editor has read some of the messages, if too many are waiting.
    pub(super) fn wait_for_room(&self) {
        let is_full = |queue: &mut OutgoingMessages| queue.messages.len() >= MOST && !queue.is_disconnected;
        drop(self.0.condition.wait_while(self.lock(), is_full));
    }

    /// Sends a notification.
    pub(super) fn tell(&self, method: &str, params: impl serde::Serialize) {
        self.put(|queue| queue.messages.push_back(notification(method, params)));
    }

    /// Sends all diagnostics of a file.
    pub(super) fn publish(&self, params: Arc<PublishDiagnosticsParams>) {
        self.put(|queue| {
            queue.diagnostics.insert(params.uri.as_str().to_owned(), params);
        });
    }

    /// Sends the progress of a load.
    pub(super) fn progress(&self, params: ProgressParams) {
        let ProgressParamsValue::WorkDone(step) = &params.value;
        let is_report = matches!(step, WorkDoneProgress::Report(_));
        self.put(|queue| {
            if is_report {
                queue.progress = Some(params);
            } else {
                queue.progress = None;
                queue.messages.push_back(notification("$/progress", params));
            }
        });
    }

    /// Closes the outbox, and waits until the remaining messages are sent.
    pub(super) fn close(&self) {
        self.put(|queue| queue.is_closed = true);
        let queue = self.lock();
        let waits = self
            .0
            .condition
            .wait_timeout_while(queue, PATIENCE, |queue| !queue.is_disconnected);
        drop(waits);
    }
}

fn notification(method: &str, params: impl serde::Serialize) -> Message {
    Notification::new(method.to_owned(), params).into()
}
