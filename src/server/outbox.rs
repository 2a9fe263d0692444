//! What leaves for the editor, in a queue of its own: an editor that does not read keeps nobody waiting but itself, once
//! it has asked thousands of things and read no answer. Of what an editor would only overwrite, the diagnostics of a file
//! and how far a load is, the last word is kept.

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::{ProgressParams, ProgressParamsValue, PublishDiagnosticsParams, WorkDoneProgress};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a server that ends waits for an editor to take what there is to say.
const PATIENCE: Duration = Duration::from_secs(2);

/// More messages do not wait for an editor: it is not listened to until it reads some.
const MOST: usize = 10_000;

/// What leaves for the editor.
#[derive(Debug, Clone, Default)]
pub(super) struct Outbox(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    leaving: Mutex<Leaving>,
    rung: Condvar,
}

#[derive(Debug, Default)]
struct Leaving {
    messages: VecDeque<Message>,
    /// By address.
    diagnostics: BTreeMap<String, PublishDiagnosticsParams>,
    progress: Option<ProgressParams>,
    /// Whether it is asked to ask for all diagnostics again.
    refreshes: bool,
    requests: i32,
    is_closed: bool,
    is_gone: bool,
}

impl Leaving {
    fn request(&mut self, method: &str, params: impl serde::Serialize) -> Message {
        self.requests += 1;
        let id = RequestId::from(format!("sqslint-{}", self.requests));
        Request::new(id, method.to_owned(), params).into()
    }
}

impl Outbox {
    /// Hands everything over by `send`, on a thread of its own, until this is closed or nobody takes it.
    pub(super) fn deliver(&self, send: impl Fn(Message) -> bool + Send + 'static) {
        let outbox = self.clone();
        std::thread::spawn(move || {
            while let Some(message) = outbox.next() {
                if !send(message) {
                    break;
                }
            }
            drop(send);
            outbox.lock().is_gone = true;
            outbox.0.rung.notify_all();
        });
    }

    fn lock(&self) -> MutexGuard<'_, Leaving> {
        self.0.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next message, once there is one.
    fn next(&self) -> Option<Message> {
        let mut leaving = self.lock();
        loop {
            if let Some(message) = leaving.messages.pop_front() {
                if leaving.messages.len() + 1 == MOST {
                    self.0.rung.notify_all();
                }
                return Some(message);
            }
            if let Some((_, found)) = leaving.diagnostics.pop_first() {
                return Some(notification("textDocument/publishDiagnostics", found));
            }
            if let Some(progress) = leaving.progress.take() {
                return Some(notification("$/progress", progress));
            }
            if std::mem::take(&mut leaving.refreshes) {
                let nothing = serde_json::Value::Null;
                return Some(leaving.request("workspace/diagnostic/refresh", nothing));
            }
            if leaving.is_closed {
                return None;
            }
            leaving = self.0.rung.wait(leaving).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn put(&self, change: impl FnOnce(&mut Leaving)) {
        change(&mut self.lock());
        self.0.rung.notify_all();
    }

    /// Answers a request.
    pub(super) fn answer(&self, id: RequestId, result: impl serde::Serialize) {
        let response = Response::new_ok(id, result);
        self.put(|leaving| leaving.messages.push_back(response.into()));
    }

    /// Refuses a request.
    pub(super) fn refuse(&self, id: RequestId, code: ErrorCode, message: &str) {
        let response = Response::new_err(id, code as i32, message.to_owned());
        self.put(|leaving| leaving.messages.push_back(response.into()));
    }

    /// Asks the editor something whose answer does not matter.
    pub(super) fn ask(&self, method: &str, params: impl serde::Serialize) {
        self.put(|leaving| {
            let request = leaving.request(method, params);
            leaving.messages.push_back(request);
        });
    }

    /// Asks the editor to ask for all diagnostics again, once for all that is new until it reads so.
    pub(super) fn refresh(&self) {
        self.put(|leaving| leaving.refreshes = true);
    }

    /// Waits until an editor that asks has read some of the answers.
    pub(super) fn wait_for_room(&self) {
        let is_full = |leaving: &mut Leaving| leaving.messages.len() >= MOST && !leaving.is_gone;
        drop(self.0.rung.wait_while(self.lock(), is_full));
    }

    /// Tells the editor something.
    pub(super) fn tell(&self, method: &str, params: impl serde::Serialize) {
        self.put(|leaving| leaving.messages.push_back(notification(method, params)));
    }

    /// Tells of all diagnostics of a file.
    pub(super) fn publish(&self, params: PublishDiagnosticsParams) {
        self.put(|leaving| {
            leaving.diagnostics.insert(params.uri.as_str().to_owned(), params);
        });
    }

    /// Tells how far something is.
    pub(super) fn progress(&self, params: ProgressParams) {
        let ProgressParamsValue::WorkDone(step) = &params.value;
        let is_report = matches!(step, WorkDoneProgress::Report(_));
        self.put(|leaving| {
            if is_report {
                leaving.progress = Some(params);
            } else {
                leaving.progress = None;
                leaving.messages.push_back(notification("$/progress", params));
            }
        });
    }

    /// Lets what there is leave, and ends.
    pub(super) fn close(&self) {
        self.put(|leaving| leaving.is_closed = true);
        let leaving = self.lock();
        let waits = self
            .0
            .rung
            .wait_timeout_while(leaving, PATIENCE, |leaving| !leaving.is_gone);
        drop(waits);
    }
}

fn notification(method: &str, params: impl serde::Serialize) -> Message {
    Notification::new(method.to_owned(), params).into()
}
