//! Adds resources: a dead-letter queue with a redrive policy, and an alarm on it.

use super::Page;
use super::properties::owner;
use crate::diagnostic::{Edit, MissingDeadLetterQueue};
use crate::frontend::cloudformation::resources;
use crate::frontend::edits::piece::NewValue;
use crate::frontend::edits::tree::{Step, written};
use crate::frontend::edits::{alarm, contain_name};
use crate::frontend::lower::NodeKind;
use crate::frontend::lower::queue::QueueNames;
use source::Span;
use trees::{Entry, Node};

/// Attributes that the dead-letter queue copies from its source queue; an alarm needs no retention policies.
const ATTRIBUTES: [&str; 3] = ["Condition", "DeletionPolicy", "UpdateReplacePolicy"];

const QUEUE: &str = "AWS::SQS::Queue";

/// Words in names of topics.
const TOPICS: [&str; 5] = ["topic", "sns", "alert", "alarm", "notif"];

/// Entries of a new mapping.
type Entries = Vec<(String, NewValue)>;

/// A queue and the section that contains it.
struct Declared<'n> {
    resources: &'n Node,
    queue: &'n Entry,
}

/// Returns the names of a queue's properties.
fn queue_names() -> Option<&'static QueueNames> {
    resources::kind(QUEUE).and_then(NodeKind::of_queue)
}

impl Page<'_> {
    /// Adds a redrive policy, and its dead-letter queue if that does not exist.
    pub(super) fn dead_letter_queue(&self, wanted: &MissingDeadLetterQueue) -> Option<Vec<Edit>> {
        let Declared { resources, queue } = self.queue(wanted.header)?;
        if let Some(to) = &wanted.to {
            let other = self.queue(to.header)?;
            let condition = |queue: &Entry| queue.value.get("Condition").and_then(Node::as_str).map(str::to_owned);
            let is_beside = std::ptr::eq(resources, other.resources) && condition(queue) == condition(other.queue);
            let redrive = is_beside.then(|| self.redrive_policy(queue, &other.queue.key, wanted))??;
            return Some(vec![redrive]);
        }
        let names = queue_names()?;
        let id = self.dead_letter_id(resources, &queue.key)?;
        let redrive = self.redrive_policy(queue, &id, wanted)?;
        let mut properties = Vec::new();
        let source = queue.value.get("Properties");
        let own = |key: &str| source.and_then(|source| source.entry(key));
        if let Some(name) = own(names.attributes.name).filter(|name| self.is_written_in(source, name)) {
            let name = self.dead_letter_name(resources, name, wanted.fifo);
            properties.extend(name.map(|name| (names.attributes.name.to_owned(), NewValue::Copied(name))));
        }
        if wanted.fifo {
            properties.push((names.attributes.fifo.to_owned(), NewValue::Flag(true)));
        }
        properties.push((
            names.attributes.retention.to_owned(),
            NewValue::Number(wanted.retention),
        ));
        for key in names.encryption().iter().chain(names.tags) {
            let text = |entry: &Entry| self.editor.text.get(entry.value.span.range()).unwrap_or_default();
            if let Some(entry) = own(key).filter(|entry| !contain_name(text(entry))) {
                properties.push(self.copied(source, entry)?);
            }
        }
        let mut attributes = vec![("Type".to_owned(), NewValue::text(QUEUE))];
        attributes.extend(self.attributes(queue, &ATTRIBUTES)?);
        attributes.push(("Properties".to_owned(), NewValue::Mapping(properties)));
        let added = self.editor.append(resources, queue, &[(id, attributes)])?;
        // If the policy is at the end of the resource, both edits insert at the same offset.
        if added.span == redrive.span {
            let text = redrive.text + &added.text;
            return Some(vec![Edit { text, ..added }]);
        }
        Some(vec![redrive, added])
    }

    /// Returns the edit that redrives `queue` to the dead-letter queue `id`.
    fn redrive_policy(&self, queue: &Entry, id: &str, wanted: &MissingDeadLetterQueue) -> Option<Edit> {
        let policy = NewValue::mapping([
            ("deadLetterTargetArn", self.attribute(id, "Arn")),
            ("maxReceiveCount", NewValue::Number(wanted.max_receive_count)),
        ]);
        self.property_last(queue, queue_names()?.redrive, policy)
    }

    /// Adds an alarm on the queue at `header`, if it can copy the actions of another alarm: an alarm without actions is
    /// useless.
    pub(super) fn alarm(&self, header: Span) -> Option<Vec<Edit>> {
        let declared = self.queue(header)?;
        let actions = self.actions(declared.resources)?;
        let alarm = self.alarm_on(&declared, actions)?;
        let added = self.editor.append(declared.resources, declared.queue, &[alarm])?;
        Some(vec![added])
    }

    /// Adds the dimension of the queue at `queue` to the alarm at `header`.
    pub(super) fn dimension(&self, header: Span, queue: Span) -> Option<Vec<Edit>> {
        let path = self.path(header)?;
        let dimensions = self.dimensions(&self.queue(queue)?.queue.key);
        let edit = self.property_last(owner(&path, header)?, "Dimensions", dimensions)?;
        Some(vec![edit])
    }

    fn dimensions(&self, id: &str) -> NewValue {
        let name = NewValue::text(alarm::DIMENSION);
        NewValue::List(vec![NewValue::mapping([
            ("Name", name),
            ("Value", self.attribute(id, "QueueName")),
        ])])
    }

    /// Returns the queue at `header`, if it is declared in a section of resources.
    fn queue(&self, header: Span) -> Option<Declared<'_>> {
        let path = self.path(header)?;
        let queue = owner(&path, header)?;
        if queue.value.get("Type").and_then(Node::as_str) != Some(QUEUE) {
            return None;
        }
        let (Step::Entry(resources, _), above) = path.split_last().map(|(last, above)| (*last, above))? else {
            return None;
        };
        let is_section = match above.last() {
            Some(step) => step.key() == Some("Resources"),
            // A file that contains only resources.
            None => resources
                .entries()?
                .iter()
                .all(|entry| entry.value.get("Type").is_some()),
        };
        is_section.then_some(Declared { resources, queue })
    }

    fn is_written_in(&self, mapping: Option<&Node>, entry: &Entry) -> bool {
        mapping.is_some_and(|mapping| mapping.span.contains(entry.span()))
    }

    /// Copies `entry` from `mapping`; returns `None` if it is written elsewhere, or would not be valid in block style.
    fn copied(&self, mapping: Option<&Node>, entry: &Entry) -> Option<(String, NewValue)> {
        let text = self
            .editor
            .text
            .get(entry.key_span.end as usize..entry.value.span.end as usize)?;
        let in_braces = mapping.is_some_and(|mapping| self.editor.begins(mapping.span.start as usize, "{"));
        let keeps_columns = self.editor.is_json || !in_braces || !text.contains('\n');
        // A copied anchor would replace the original.
        let is_plain = self.is_written_in(mapping, entry) && keeps_columns && !text.contains('&');
        is_plain.then(|| (entry.key.to_string(), NewValue::Copied(text.to_owned())))
    }

    fn attributes(&self, queue: &Entry, keys: &[&str]) -> Option<Entries> {
        let found = keys.iter().filter_map(|key| queue.value.entry(key));
        found.map(|entry| self.copied(Some(&queue.value), entry)).collect()
    }

    /// Returns `!GetAtt id.name`, in the form that the file uses.
    fn attribute(&self, id: &str, name: &str) -> NewValue {
        let has = |form: &str| self.editor.text.contains(form);
        let uses_tags = || has("!GetAtt") || (!has("Fn::GetAtt") && (has("!Ref") || has("!Sub") || !has("Ref:")));
        if !self.editor.is_json && uses_tags() {
            return NewValue::Verbatim(format!("!GetAtt {id}.{name}"));
        }
        let parts = vec![NewValue::text(id), NewValue::text(name)];
        let others = self.editor.text.split("Fn::GetAtt").nth(1).unwrap_or("");
        let line = others.lines().next().unwrap_or("").trim_end();
        let has_lines = line.ends_with(['[', ':']);
        let parts = if has_lines {
            NewValue::List(parts)
        } else {
            NewValue::Short(parts)
        };
        NewValue::mapping([("Fn::GetAtt", parts)])
    }

    /// Returns an alarm on visible messages in a queue, with the condition of that queue.
    fn alarm_on(&self, declared: &Declared<'_>, actions: NewValue) -> Option<(String, Entries)> {
        let id = &*declared.queue.key;
        let properties = declared.queue.value.get("Properties");
        let name = properties.and_then(|properties| properties.get("QueueName")?.as_str());
        let names = resources::kind(super::ALARM).and_then(NodeKind::of_alarm)?;
        let entry = |(name, value): (&str, alarm::Value)| (name.to_owned(), value.into());
        let mut properties = vec![(
            "AlarmDescription".to_owned(),
            NewValue::text(alarm::description(name.unwrap_or(id))),
        )];
        properties.extend(alarm::metric(names).map(entry));
        properties.push(("Dimensions".to_owned(), self.dimensions(id)));
        properties.extend(alarm::evaluation(names).map(entry));
        properties.push((names.actions.to_owned(), actions));
        let mut attributes = vec![("Type".to_owned(), NewValue::text(super::ALARM))];
        attributes.extend(self.attributes(declared.queue, &["Condition"])?);
        attributes.push(("Properties".to_owned(), NewValue::Mapping(properties)));
        Some((self.alarm_id(declared.resources, id)?, attributes))
    }

    /// Returns the actions of the first unconditional alarm on queues of the file, if they can be copied. Other alarms
    /// may notify people who are not concerned with queues.
    fn actions(&self, resources: &Node) -> Option<NewValue> {
        let mut alarms = written(resources).filter(|entry| {
            let kind = entry.value.get("Type").and_then(Node::as_str);
            let text = self.editor.text.get(entry.value.span.range()).unwrap_or_default();
            kind == Some(super::ALARM) && entry.value.get("Condition").is_none() && text.contains("AWS/SQS")
        });
        let actions = alarms.find_map(|alarm| alarm.value.get("Properties")?.get("AlarmActions"))?;
        let Some(items) = actions.items() else {
            return self.conditional(actions);
        };
        let items: Option<Vec<NewValue>> = items.iter().map(|item| self.action(resources, item)).collect();
        items.filter(|items| !items.is_empty()).map(NewValue::List)
    }

    /// Copies a list of actions that a condition of the template chooses, if it is on one line and looks like topics.
    fn conditional(&self, actions: &Node) -> Option<NewValue> {
        let text = self.editor.text.get(actions.span.range())?;
        let lowered = text.to_ascii_lowercase();
        let is_topic = TOPICS.iter().any(|word| lowered.contains(word)) && !lowered.contains("scal");
        let is_plain = actions.get("Fn::If").is_some() && is_topic && !text.contains(['\n', '*', '&']);
        is_plain.then(|| NewValue::Verbatim(text.to_owned()))
    }

    /// Copies an action that notifies, if it is on one line: a topic of the template, or a reference or ARN that looks
    /// like a topic. Other actions scale something.
    fn action(&self, resources: &Node, item: &Node) -> Option<NewValue> {
        let text = self.editor.text.get(item.span.range())?;
        let reference = match item.entries() {
            None => item.as_str()?,
            Some([function]) if matches!(&*function.key, "Ref" | "Fn::ImportValue" | "Fn::Sub") => {
                function.value.as_str().unwrap_or(text)
            }
            Some(_) => return None,
        };
        let is_topic = if let Some(resource) = resources.get(reference) {
            let kind = resource.get("Type").and_then(Node::as_str);
            kind == Some("AWS::SNS::Topic") && resource.get("Condition").is_none()
        } else {
            let lowered = text.to_ascii_lowercase();
            TOPICS.iter().any(|word| lowered.contains(word))
        };
        let is_plain = is_topic && !text.contains(['\n', '*', '&']);
        is_plain.then(|| NewValue::Verbatim(text.to_owned()))
    }
}
