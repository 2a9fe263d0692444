//! Resources to be declared for a queue, independent of syntax: its dead-letter queue, or an alarm on it.
//!
//! Arguments of a queue or an alarm are copied as source text without evaluation. An argument that could mean something
//! else in another place is not copied, or nothing is declared at all.

use super::module::Module;
use super::naming::{self, Name};
use crate::diagnostic::MissingDeadLetterQueue;
use crate::frontend::edits::{alarm, contain_name};
use crate::frontend::lower::NodeKind;
use crate::frontend::lower::queue::QueueNames;
use crate::frontend::terraform::lower;
use terraform::syntax::{Block, Expression, ExpressionKind};

pub(super) const QUEUE: &str = "aws_sqs_queue";
pub(super) const ALARM: &str = "aws_cloudwatch_metric_alarm";

/// Arguments that determine the account, the Region and the number of instances of a resource.
pub(super) const PLACEMENT: [&str; 4] = ["count", "for_each", "provider", "region"];
/// Functions that return a string and never null.
const TEXTS: [&str; 6] = ["format", "join", "lower", "replace", "upper", "substr"];

/// A value to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ArgumentValue {
    Number(i64),
    Flag(bool),
    /// The content between quotes: a template.
    Text(String),
    Reference(String),
    /// A list of references.
    List(Vec<String>),
    /// An object with one entry, which is a reference.
    Object(&'static str, String),
    /// Source text copied from elsewhere in the file.
    Copied(String),
}

impl ArgumentValue {
    /// Returns the source text of a copied value; an empty string for other values.
    pub(super) fn text(&self) -> &str {
        match self {
            ArgumentValue::Copied(text) => text,
            _ => "",
        }
    }
}

impl From<alarm::Value> for ArgumentValue {
    fn from(value: alarm::Value) -> Self {
        match value {
            alarm::Value::Text(text) => ArgumentValue::Text(text.to_owned()),
            alarm::Value::Number(number) => ArgumentValue::Number(number),
        }
    }
}

/// Returns the names of a queue's arguments.
pub(super) fn queue_names() -> Option<&'static QueueNames> {
    lower::kind(QUEUE).and_then(NodeKind::of_queue)
}

pub(super) type Arguments = Vec<(&'static str, ArgumentValue)>;

/// A resource to be declared.
#[derive(Debug)]
pub(super) struct NewResource {
    pub(super) kind: &'static str,
    pub(super) label: String,
    /// Groups of arguments, separated by blank lines.
    pub(super) groups: Vec<Arguments>,
}

/// The queue for which a resource is declared.
pub(super) struct EditedQueue<'d> {
    pub(super) block: &'d Block,
    /// Returns the source text of its arguments, by name.
    pub(super) raw: &'d dyn Fn(&str) -> Option<String>,
    pub(super) is_json: bool,
}

/// A dead-letter queue and the reference to it.
pub(super) struct DeadLetterQueue {
    pub(super) target: String,
    /// The resource to be declared, unless it exists.
    pub(super) queue: Option<NewResource>,
}

impl EditedQueue<'_> {
    fn label(&self) -> Option<&str> {
        self.block.labels.get(1).map(|label| &**label)
    }

    /// Returns the dead-letter queue to add; `None` if one exists or may exist, or if it cannot be named.
    pub(super) fn dead_letter_queue(
        &self,
        queue: &MissingDeadLetterQueue,
        module: &Module<'_>,
    ) -> Option<DeadLetterQueue> {
        if self.has(queue_names()?.redrive) || module.redrives(self.label()?) {
            return None;
        }
        if let Some(to) = &queue.to {
            let label = module.placed_like(self.block, &PLACEMENT, to.header)?;
            return Some(DeadLetterQueue {
                target: self.reference(label, "arn"),
                queue: None,
            });
        }
        let label = naming::label(self.label()?, module.label_ending().as_deref());
        if module.declares(QUEUE, &label) {
            return None;
        }
        Some(DeadLetterQueue {
            target: self.reference(&label, "arn"),
            queue: Some(self.queue(queue, label, module)?),
        })
    }

    /// Returns an alarm on this queue if another alarm has actions to copy. An alarm without actions notifies no one.
    pub(super) fn alarm(&self, module: &Module<'_>) -> Option<NewResource> {
        let placement = self.copied(&PLACEMENT)?;
        let actions = module.actions(&placement)?;
        self.alarm_on(self.label()?, placement, actions, module)
    }

    fn has(&self, name: &str) -> bool {
        self.block.body.attribute(name).is_some()
    }

    /// Returns an argument with its source text.
    fn value(&self, name: &str) -> Option<(&Expression, String)> {
        Some((&self.block.body.attribute(name)?.value, (self.raw)(name)?))
    }

    /// Returns copies of those of the named arguments that are present. `None` if one cannot be copied.
    fn copied(&self, names: &[&'static str]) -> Option<Arguments> {
        let copied = names.iter().filter(|name| self.has(name)).map(|name| {
            let (_, text) = self.value(name)?;
            (!text.contains("<<")).then_some((*name, ArgumentValue::Copied(text)))
        });
        copied.collect()
    }

    /// Returns a reference to `attribute` of a queue with the same `count` or `for_each` as this one.
    pub(super) fn reference(&self, label: &str, attribute: &str) -> String {
        let index = if self.has("count") {
            "[count.index]"
        } else if self.has("for_each") {
            "[each.key]"
        } else {
            ""
        };
        format!("{QUEUE}.{label}{index}.{attribute}")
    }

    fn queue(&self, queue: &MissingDeadLetterQueue, label: String, module: &Module<'_>) -> Option<NewResource> {
        let names = queue_names()?;
        let mut own = self.name(queue.fifo, module)?;
        match self.value(names.attributes.fifo) {
            // The same expression decides whether the dead-letter queue is FIFO.
            Some((value, text)) if !matches!(value.kind, ExpressionKind::Bool(_) | ExpressionKind::Null) => {
                own.push((names.attributes.fifo, ArgumentValue::Copied(text)));
            }
            _ if queue.fifo => own.push((names.attributes.fifo, ArgumentValue::Flag(true))),
            _ => {}
        }
        own.push((names.attributes.retention, ArgumentValue::Number(queue.retention)));
        own.extend(self.copied(&names.encryption())?);
        let tags = self
            .copied(&["tags"])?
            .into_iter()
            .filter(|(_, tags)| !contain_name(tags.text()));
        let (blocks, lines): (Arguments, Arguments) = tags.partition(|(_, value)| value.text().contains('\n'));
        own.extend(lines);
        Some(NewResource {
            kind: QUEUE,
            label,
            groups: vec![self.copied(&PLACEMENT)?, own, blocks],
        })
    }

    /// Returns the argument that sets the name of the dead-letter queue; nothing if the provider is to choose one.
    fn name(&self, fifo: bool, module: &Module<'_>) -> Option<Arguments> {
        let ending = module.name_ending();
        let ending = ending.as_deref();
        let argument = ["name", "name_prefix"].into_iter().find(|name| self.has(name));
        let Some(argument) = argument else {
            return Some(Vec::new());
        };
        let (value, text) = self.value(argument)?;
        if matches!(value.kind, ExpressionKind::Null) {
            return Some(Vec::new());
        }
        let mut content = self.content(value, &text, module)?;
        let inner = content.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let is_whole = matches!(value.kind, ExpressionKind::Traversal(..) | ExpressionKind::Call { .. });
        // The name of a FIFO queue ends with `.fifo`, whatever expression sets it.
        if let Some(inner) = inner.filter(|_| fifo && is_whole && argument == "name") {
            content = format!("${{trimsuffix({}, \".fifo\")}}.fifo", inner.trim());
        }
        let is_literal = matches!(value.kind, ExpressionKind::Text(_));
        let name = if argument == "name" {
            naming::name(&content, ending, is_literal, fifo)?
        } else {
            naming::prefix(&content, ending, is_literal)
        };
        match name {
            Name::Content(content) if module.names(&content) => None,
            Name::Content(content) => Some(vec![(argument, ArgumentValue::Text(content))]),
            Name::TooLong => Some(Vec::new()),
        }
    }

    /// Returns the content between quotes that is equivalent to a value; `None` if the value may not be a string.
    fn content(&self, value: &Expression, text: &str, module: &Module<'_>) -> Option<String> {
        let is_text = match &value.kind {
            ExpressionKind::Text(_) | ExpressionKind::Template(_) => true,
            ExpressionKind::Traversal(root, steps) => !module.may_be_null(root, steps),
            ExpressionKind::Call { name, .. } => TEXTS.contains(&&**name),
            _ => false,
        };
        if !is_text || text.contains('\n') {
            return None;
        }
        if self.is_json {
            return serde_json::from_str(text).ok();
        }
        let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match (quoted, &value.kind) {
            (Some(content), _) => Some(content.to_owned()),
            (None, ExpressionKind::Text(_) | ExpressionKind::Template(_)) => None,
            (None, _) => Some(format!("${{{text}}}")),
        }
    }

    /// Returns an alarm for each instance of this queue.
    fn alarm_on(
        &self,
        label: &str,
        placement: Arguments,
        actions: Arguments,
        module: &Module<'_>,
    ) -> Option<NewResource> {
        let names = lower::kind(ALARM).and_then(NodeKind::of_alarm)?;
        let name = self.reference(label, "name");
        let description = ArgumentValue::Text(alarm::description(&format!("${{{name}}}")));
        let mut own = vec![
            (names.name, ArgumentValue::Text(format!("${{{name}}}-messages"))),
            ("alarm_description", description),
        ];
        let settings = alarm::metric(names).into_iter().chain(alarm::evaluation(names));
        own.extend(settings.map(|(name, value)| (name, value.into())));
        own.extend(actions);
        Some(NewResource {
            kind: ALARM,
            label: module.unused_alarm_label(&naming::joined(label, "messages"))?,
            groups: vec![
                placement,
                own,
                vec![("dimensions", ArgumentValue::Object(alarm::DIMENSION, name))],
            ],
        })
    }
}
