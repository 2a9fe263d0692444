//! Properties of resources and settings of events that are put in or taken out.

use super::Page;
use crate::diagnostic::{Edit, Place, REPORT_FAILURES};
use crate::frontend::edits::piece::Piece;
use crate::frontend::edits::tree::{Step, written};
use crate::frontend::tree::{Entry, Node};
use crate::source::Span;

/// By type, also of SAM's events: the properties that may be put in.
const NUMBERS: [(&str, &[&str]); 5] = [
    (
        "AWS::SQS::Queue",
        &[
            "VisibilityTimeout",
            "MessageRetentionPeriod",
            "DelaySeconds",
            "ReceiveMessageWaitTimeSeconds",
            "MaximumMessageSize",
            "KmsDataKeyReusePeriodSeconds",
        ],
    ),
    (
        "AWS::Lambda::EventSourceMapping",
        &["BatchSize", "MaximumBatchingWindowInSeconds"],
    ),
    ("SQS", &["BatchSize", "MaximumBatchingWindowInSeconds"]),
    ("AWS::Lambda::Function", &["Timeout"]),
    ("AWS::Serverless::Function", &["Timeout"]),
];

/// Settings of an `sqs` event that may be put in.
const SETTINGS: [&str; 2] = ["batchSize", "maximumBatchingWindow"];

/// What asks for the messages of a batch that failed, in CloudFormation and SAM.
const RESPONSE_TYPES: &str = "FunctionResponseTypes";

/// The same in the Serverless Framework, which takes one.
const RESPONSE_TYPE: &str = "functionResponseType";

/// Properties that name a queue: numbers follow them.
const NAMES: [&str; 4] = ["QueueName", "FifoQueue", "Queue", "EventSourceArn"];

impl Page<'_> {
    /// A number for a property that is not written.
    pub(super) fn number(&self, place: &Place, value: i64) -> Option<Vec<Edit>> {
        if place.written.is_some() {
            return None;
        }
        let path = self.path(place.header)?;
        let owner = owner(&path, place.header)?;
        let value = Piece::Number(value);
        let edit = match owner.value.get("Type").and_then(Node::as_str) {
            Some(kind) => {
                let (_, names) = NUMBERS.iter().find(|(of, _)| *of == kind)?;
                names.contains(&&*place.name).then_some(())?;
                let near = self.last_of(owner, names);
                self.property_behind(owner, near, &place.name, value)
            }
            None if is_queue_event(&path) => self.setting(owner, &place.name, &value),
            None => None,
        }?;
        Some(vec![edit])
    }

    /// The list of response types for a mapping or an event that has none.
    pub(super) fn report(&self, place: &Place) -> Option<Vec<Edit>> {
        if place.written.is_some() {
            return None;
        }
        let path = self.path(place.header)?;
        let owner = owner(&path, place.header)?;
        let kind = Piece::text(REPORT_FAILURES);
        let edit = match owner.value.get("Type").and_then(Node::as_str) {
            Some("AWS::Lambda::EventSourceMapping" | "SQS") if place.name == RESPONSE_TYPES => {
                self.property_last(owner, RESPONSE_TYPES, Piece::Short(vec![kind]))
            }
            None if is_queue_event(&path) && place.name == RESPONSE_TYPE => {
                owner.value.get("arn")?;
                let last = written(&owner.value).last().map(|entry| &*entry.key);
                self.editor.insert(&owner.value, last, RESPONSE_TYPE, &kind)
            }
            _ => None,
        }?;
        Some(vec![edit])
    }

    /// The last property of the resource at `owner` that is one of `names`, or names the queue, on one line.
    fn last_of<'n>(&self, owner: &'n Entry, names: &[&str]) -> Option<&'n str> {
        let is_near = |entry: &&Entry| names.contains(&&*entry.key) || NAMES.contains(&&*entry.key);
        let near = written(owner.value.get("Properties")?).filter(is_near);
        let near = near.filter(|entry| self.editor.is_one_line(entry));
        near.last().map(|entry| &*entry.key)
    }

    /// Puts a property into the resource at `owner`, behind the others.
    pub(super) fn property_last(&self, owner: &Entry, name: &str, value: Piece) -> Option<Edit> {
        let last = owner
            .value
            .get("Properties")
            .and_then(|properties| written(properties).last());
        self.property_behind(owner, last.map(|last| &*last.key), name, value)
    }

    /// Puts a property into the resource, or the event, at `owner`.
    fn property_behind(&self, owner: &Entry, after: Option<&str>, name: &str, value: Piece) -> Option<Edit> {
        if is_transformed(&owner.value) {
            return None;
        }
        let Some(properties) = owner.value.entry("Properties") else {
            let all = Piece::Mapping(vec![(name.to_owned(), value)]);
            return self.editor.insert(&owner.value, Some("Type"), "Properties", &all);
        };
        // Where they come from elsewhere, others have them too.
        let is_own = owner.value.span.contains(properties.span()) && self.path(properties.key_span).is_some();
        if !is_own || is_transformed(&properties.value) {
            return None;
        }
        self.editor.insert(&properties.value, after, name, &value)
    }

    /// Puts a setting into an `sqs` event of a Serverless function.
    fn setting(&self, event: &Entry, name: &str, value: &Piece) -> Option<Edit> {
        let key = SETTINGS.into_iter().find(|key| *key == name)?;
        event.value.get("arn")?;
        let near = written(&event.value).filter(|entry| SETTINGS.contains(&&*entry.key));
        let near = near.last().map_or("arn", |entry| &*entry.key);
        self.editor.insert(&event.value, Some(near), key, value)
    }

    /// Takes the property out that is written at `span`.
    pub(super) fn removal(&self, span: Span) -> Option<Vec<Edit>> {
        let path = self.path(span)?;
        self.editor.remove_along(&path).map(|edit| vec![edit])
    }
}

/// The entry whose key is `header`, at the end of `path`.
pub(super) fn owner<'n>(path: &[Step<'n>], header: Span) -> Option<&'n Entry> {
    match path.last()? {
        Step::Entry(_, entry) if entry.key_span == header => Some(entry),
        _ => None,
    }
}

/// Whether a macro or a loop has a say in what the mapping holds.
fn is_transformed(node: &Node) -> bool {
    let entries = node.entries().unwrap_or_default();
    entries
        .iter()
        .any(|entry| entry.key.starts_with("Fn::") || &*entry.key == "Ref")
}

/// Whether `path` leads to an `sqs` event of a Serverless function.
fn is_queue_event(path: &[Step<'_>]) -> bool {
    let keys: Vec<Option<&str>> = path.iter().rev().take(3).map(|step| step.key()).collect();
    matches!(keys.as_slice(), [Some("sqs"), None, Some("events")])
}
