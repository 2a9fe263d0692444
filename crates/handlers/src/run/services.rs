//! Requests of a handler to SQS, Step Functions, Batch and ECS:
//!
//! ```python
//! sqs.send_message(QueueUrl=os.environ["QUEUE"], MessageBody=body)  # to a queue that a variable holds
//! sqs.receive_message(QueueUrl=os.environ["QUEUE"])                 # from one
//! flow.start_execution(stateMachineArn=FLOW, input=body)            # without a name: each delivery starts another
//! ```

use super::calls::Arguments;
use super::machine::{EventKind, Machine};
use super::scenario::Path;
use super::stores;
use super::values::{Object, Value};
use crate::facts::{Defect, PolledQueue};
use crate::limits;
use crate::poll;
use crate::read::syntax::{Expression, Module, TextRange};
use std::sync::Arc;

/// Operations of services that matter to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Send,
    Receive,
    /// Start of work that has a name, by the parameters that it needs.
    Start,
    /// Start of work without a token.
    Submit,
    /// A request of several entries to another service.
    Other,
}

/// Operations by the names of their calls and commands, without `_` and `Command` and in lower case, with the key of the
/// entries that failed in the result of a request that succeeds.
const OPERATIONS: [(&str, Operation, &str); 14] = [
    ("batchwrite", Operation::Other, "UnprocessedItems"),
    ("batchwriteitem", Operation::Other, "UnprocessedItems"),
    ("publishbatch", Operation::Other, "Failed"),
    ("putevents", Operation::Other, "FailedEntryCount"),
    ("putrecordbatch", Operation::Other, "FailedPutCount"),
    ("putrecords", Operation::Other, "FailedRecordCount"),
    ("receivemessage", Operation::Receive, ""),
    ("receivemessages", Operation::Receive, ""),
    ("runtask", Operation::Other, "failures"),
    ("sendmessage", Operation::Send, ""),
    ("sendmessagebatch", Operation::Send, "Failed"),
    ("sendmessages", Operation::Send, "Failed"),
    ("startexecution", Operation::Start, ""),
    ("submitjob", Operation::Submit, ""),
];

/// Words of code that recognises a message which was processed before.
const RECOGNISES: [&str; 5] = ["already_", "dedup", "duplicate", "idempot", "receivecount"];

/// A request to a service.
#[derive(Debug, Clone)]
pub(super) struct Request {
    operation: Operation,
    at: TextRange,
    queue: Option<PolledQueue>,
    /// Key of the entries that failed, if the request is about messages.
    failed: &'static str,
    /// `true` if the work that it starts has no name, and no earlier code asked a store about the message.
    is_repeated: bool,
}

impl<'m> Machine<'m> {
    /// Returns the queue that a call of the SDK looks up or creates an object for.
    pub(super) fn queue_object(&mut self, name: &str, arguments: &Arguments) -> Option<Value> {
        let (key, position) = match name {
            "Queue" => ("url", 0),
            "get_queue_by_name" | "get_queue_url" | "getQueueUrl" => ("QueueName", usize::MAX),
            _ => return None,
        };
        // In the work on a message, a look-up may fail.
        let is_outside = self.is_loading || self.current == 0;
        let queue = self.option(arguments, key).or_else(|| arguments.get(position).cloned());
        let queue = queue.filter(|queue| is_outside && queue_of(queue).is_some())?;
        let object = self.object(vec![(Some("QueueUrl".into()), queue)], 0..0);
        if let Value::Object(id) = object {
            self.set_open(id);
        }
        Some(object)
    }

    /// Returns a parameter of a request, by name or in an object.
    fn option(&self, arguments: &Arguments, key: &str) -> Option<Value> {
        match arguments.get(0) {
            Some(Value::Object(id)) if self.module.is_script => self.entry(*id, key),
            _ => arguments.named(key).cloned(),
        }
    }

    /// Returns `true` if a request is known to lack a parameter.
    fn lacks(&self, arguments: &Arguments, key: &str) -> bool {
        let is_known = match arguments.values.as_slice() {
            [Value::Object(id)] if self.module.is_script => match &self.heap[*id] {
                Object::Entries { entries, is_open, .. } => !is_open && entries.iter().all(|(key, _)| key.is_some()),
                _ => false,
            },
            [] => arguments.named.iter().all(|(key, _)| key.is_some()),
            _ => false,
        };
        is_known && !arguments.is_open && self.option(arguments, key).is_none()
    }

    /// Notes a request to a service.
    pub(super) fn note_request(&mut self, call: &'m Expression, name: &str, receiver: &Value, arguments: &Arguments) {
        let all: Vec<Value> = arguments.all().cloned().collect();
        let of_records = self.masks(&all) | self.current;
        let is_of_failing = of_records & self.failing != 0;
        let plain = name.replace('_', "").to_ascii_lowercase();
        let found = OPERATIONS
            .iter()
            .find(|(known, ..)| *known == plain.trim_end_matches("command"));
        let Some((_, operation, failed)) = found.filter(|_| !self.is_loading) else {
            return;
        };
        let requests = &self.run.requests;
        // Earlier code may have asked a store about the message.
        let is_start = matches!(operation, Operation::Start | Operation::Submit);
        if is_start && !is_of_failing
            || requests.len() >= limits::MAX_NOTED_TEXTS
            || requests.iter().any(|one| one.at == call.at)
        {
            return;
        }
        let queue = match (receiver, self.option(arguments, "QueueUrl")) {
            (_, Some(url)) => queue_of(&url),
            (Value::Object(queue), None) => self.entry(*queue, "QueueUrl").as_ref().and_then(queue_of),
            _ => None,
        };
        let starts = |parameter: &str| self.option(arguments, parameter).is_some();
        let is_asked = self.run.events.iter().any(|event| event.kind != EventKind::Work);
        let is_unnamed = match operation {
            Operation::Start => starts("stateMachineArn") && self.lacks(arguments, "name"),
            Operation::Submit => starts("jobQueue") && starts("jobDefinition"),
            _ => false,
        };
        self.run.requests.push(Request {
            operation: *operation,
            at: call.at.clone(),
            queue,
            failed: if of_records == 0 && self.run.progress.reached == 0 {
                ""
            } else {
                failed
            },
            is_repeated: is_unnamed && !is_asked,
        });
    }
}

fn queue_of(url: &Value) -> Option<PolledQueue> {
    match url {
        Value::Variable(name) => Some(PolledQueue::Variable(name.clone())),
        Value::Text(text) => {
            let name = text.rsplit(['/', ':']).next().unwrap_or(text);
            (!name.is_empty()).then(|| PolledQueue::Named(name.into()))
        }
        _ => None,
    }
}

/// Returns the queues that a handler sends to; `true` follows for those that it receives from and never reads its event.
pub(super) fn queues(paths: &[Path<'_>], is_complete: bool) -> Vec<(PolledQueue, TextRange, bool)> {
    let is_unread = is_complete
        && paths
            .iter()
            .all(|path| path.run.used == 0 && path.run.progress.reached == 0);
    let certain = paths.iter().filter(|path| !path.run.is_uncertain);
    let mut all = Vec::new();
    for request in certain.flat_map(|path| &path.run.requests) {
        let receives = request.operation == Operation::Receive;
        if let Some(queue) = &request.queue
            && (!receives || is_unread)
        {
            let found = (queue.clone(), request.at.clone(), receives);
            if !all.contains(&found) {
                all.push(found);
            }
        }
    }
    all
}

/// Returns the requests that start the work on a message again with each delivery.
pub(super) fn repeated(paths: &[Path<'_>], module: &Module) -> Vec<(Defect, TextRange)> {
    let recognises = |word: &Arc<str>| {
        let lower = word.to_ascii_lowercase();
        RECOGNISES.iter().any(|known| lower.contains(known))
    };
    if module.words.iter().any(recognises) {
        return Vec::new();
    }
    let certain = paths.iter().filter(|path| !path.run.is_uncertain);
    let mut all = Vec::new();
    for request in certain
        .flat_map(|path| &path.run.requests)
        .filter(|one| one.is_repeated)
    {
        let defect = match request.operation {
            Operation::Start => Defect::UnnamedExecution,
            _ => Defect::RepeatedJob,
        };
        if !all.iter().any(|(known, _)| *known == defect) {
            all.push((defect, request.at.clone()));
        }
    }
    all
}

/// Returns a request whose entries may fail while it succeeds, if the handler returns after it and nothing in the module
/// reads which ones:
///
/// ```python
/// sqs.send_message_batch(QueueUrl=url, Entries=entries)  # `Failed` of the result
/// ```
pub(super) fn ignored(paths: &[Path<'_>], module: &Module) -> Option<(Defect, TextRange)> {
    let certain = paths.iter().filter(|path| path.has_returned && !path.run.is_uncertain);
    let batches = certain
        .flat_map(|path| &path.run.requests)
        .filter(|one| !one.failed.is_empty());
    let mut batches = batches.filter(|one| !module.says(&[one.failed])).peekable();
    batches.peek()?;
    let unused = poll::unused_results(module);
    let is_unused = |request: &&Request| unused.iter().any(|call| stores::request(call).1.at == request.at);
    batches
        .find(is_unused)
        .map(|request| (Defect::IgnoredEntries, request.at.clone()))
}
