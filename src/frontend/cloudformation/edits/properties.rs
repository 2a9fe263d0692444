//! Adds and removes properties of resources and settings of events.

use super::Page;
use crate::diagnostic::{Edit, Place, REPORT_FAILURES};
use crate::frontend::cloudformation::resources;
use crate::frontend::edits::piece::NewValue;
use crate::frontend::edits::tree::{Step, written};
use crate::frontend::lower::NodeKind;
use cloudformation::serverless;
use source::Span;
use trees::{Entry, Node};

/// Properties that identify the queue, after which numbers are added.
const NAMES: [&str; 4] = ["QueueName", "FifoQueue", "Queue", "EventSourceArn"];

impl Page<'_> {
    /// Adds a number for an absent property.
    pub(super) fn number(&self, place: &Place, value: i64) -> Option<Vec<Edit>> {
        if place.written.is_some() {
            return None;
        }
        let path = self.path(place.header)?;
        let owner = owner(&path, place.header)?;
        let value = NewValue::Number(value);
        let edit = match owner.value.get("Type").and_then(Node::as_str) {
            Some(kind) => {
                let names = node_kind(kind)?.numbers();
                names.contains(&&*place.name).then_some(())?;
                let near = self.last_of(owner, &names);
                self.insert_property_after(owner, near, &place.name, value)
            }
            None if is_queue_event(&path) => self.setting(owner, &place.name, &value),
            None => None,
        }?;
        Some(vec![edit])
    }

    /// Adds the list of response types to a mapping or an event that has none.
    pub(super) fn report(&self, place: &Place) -> Option<Vec<Edit>> {
        if place.written.is_some() {
            return None;
        }
        let path = self.path(place.header)?;
        let owner = owner(&path, place.header)?;
        let kind = NewValue::text(REPORT_FAILURES);
        let edit = match owner.value.get("Type").and_then(Node::as_str) {
            Some(of) if node_kind(of)?.response_types() == Some(&*place.name) => {
                self.property_last(owner, &place.name, NewValue::Short(vec![kind]))
            }
            // A service takes a single value.
            None if is_queue_event(&path) && place.name == serverless::RESPONSE_TYPE => {
                owner.value.get("arn")?;
                let last = written(&owner.value).last().map(|entry| &*entry.key);
                self.editor.insert(&owner.value, last, serverless::RESPONSE_TYPE, &kind)
            }
            _ => None,
        }?;
        Some(vec![edit])
    }

    /// Makes the resource that contains `header` depend on the resource `id`.
    pub(super) fn depend(&self, header: Span, id: &str) -> Option<Vec<Edit>> {
        let path = self.path(header)?;
        let at = path.iter().position(|step| step.key() == Some("Resources"))?;
        let Step::Entry(_, resource) = *path.get(at + 1)? else {
            return None;
        };
        let edit = match resource.value.get("DependsOn") {
            None => self
                .editor
                .insert(&resource.value, Some("Type"), "DependsOn", &NewValue::text(id))?,
            Some(known) if !self.editor.is_json => match known.items() {
                None => Edit::new(known.span, format!("[{}, {id}]", known.as_str()?)),
                Some(items) => {
                    let is_flow = self.editor.text.get(known.span.range())?.starts_with('[');
                    let last = items.last().filter(|_| is_flow)?.span;
                    Edit::insertion(last, last.end as usize, format!(", {id}"))
                }
            },
            Some(_) => return None,
        };
        Some(vec![edit])
    }

    /// Returns the last one-line property of `owner` that is in `names` or identifies the queue.
    fn last_of<'n>(&self, owner: &'n Entry, names: &[&str]) -> Option<&'n str> {
        let is_near = |entry: &&Entry| names.contains(&&*entry.key) || NAMES.contains(&&*entry.key);
        let near = written(owner.value.get("Properties")?).filter(is_near);
        let near = near.filter(|entry| self.editor.is_one_line(entry));
        near.last().map(|entry| &*entry.key)
    }

    /// Adds a property to the resource at `owner`, after the others.
    pub(super) fn property_last(&self, owner: &Entry, name: &str, value: NewValue) -> Option<Edit> {
        let last = owner
            .value
            .get("Properties")
            .and_then(|properties| written(properties).last());
        self.insert_property_after(owner, last.map(|last| &*last.key), name, value)
    }

    /// Adds a property to the resource or event at `owner`.
    fn insert_property_after(&self, owner: &Entry, after: Option<&str>, name: &str, value: NewValue) -> Option<Edit> {
        if is_transformed(&owner.value) {
            return None;
        }
        let Some(properties) = owner.value.entry("Properties") else {
            let all = NewValue::Mapping(vec![(name.to_owned(), value)]);
            return self.editor.insert(&owner.value, Some("Type"), "Properties", &all);
        };
        // Properties from an anchor or another file may be shared with other resources.
        let is_own = owner.value.span.contains(properties.span()) && self.path(properties.key_span).is_some();
        if !is_own || is_transformed(&properties.value) {
            return None;
        }
        self.editor.insert(&properties.value, after, name, &value)
    }

    /// Adds a setting to an `sqs` event of a Serverless function.
    fn setting(&self, event: &Entry, name: &str, value: &NewValue) -> Option<Edit> {
        let settings = [serverless::BATCH_SIZE, serverless::WINDOW];
        let key = settings.into_iter().find(|key| *key == name)?;
        event.value.get("arn")?;
        let near = written(&event.value).filter(|entry| settings.contains(&&*entry.key));
        let near = near.last().map_or("arn", |entry| &*entry.key);
        self.editor.insert(&event.value, Some(near), key, value)
    }

    /// Removes the property at `span`.
    pub(super) fn removal(&self, span: Span) -> Option<Vec<Edit>> {
        let path = self.path(span)?;
        self.editor.remove_along(&path).map(|edit| vec![edit])
    }
}

/// Returns the kind of node that a type of resource or SAM event becomes.
fn node_kind(kind: &str) -> Option<NodeKind> {
    resources::kind(if kind == "SQS" {
        "AWS::Lambda::EventSourceMapping"
    } else {
        kind
    })
}

/// Returns the entry at the end of `path`, if its key is at `header`.
pub(super) fn owner<'n>(path: &[Step<'n>], header: Span) -> Option<&'n Entry> {
    match path.last()? {
        Step::Entry(_, entry) if entry.key_span == header => Some(entry),
        _ => None,
    }
}

/// Returns `true` if a macro or a loop may change the entries of the mapping.
fn is_transformed(node: &Node) -> bool {
    let entries = node.entries().unwrap_or_default();
    entries
        .iter()
        .any(|entry| entry.key.starts_with("Fn::") || &*entry.key == "Ref")
}

/// Returns `true` if `path` ends at an `sqs` event of a Serverless function.
fn is_queue_event(path: &[Step<'_>]) -> bool {
    let keys: Vec<Option<&str>> = path.iter().rev().take(3).map(|step| step.key()).collect();
    matches!(keys.as_slice(), [Some("sqs"), None, Some("events")])
}
