//! Dead-letter queues and the alarms on them: whole resources, in the style of those beside them.
//!
//! What is copied from a queue or an alarm is copied as it is written, so it is not evaluated; what could mean
//! something else in another place is not copied, or nothing is declared at all.

use super::super::syntax::{self, Block, Body, Expression, Kind, Step};
use super::arguments::add;
use super::declaration::Declaration;
use super::document::{Document, Found, is_overridden, module_of};
use super::naming::{self, Name};
use super::references;
use crate::diagnostic::{Edit, Undelivered};
use crate::source::{FileId, SourceFile, Sources, Span};
use std::sync::Arc;

const QUEUE: &str = "aws_sqs_queue";
const ALARM: &str = "aws_cloudwatch_metric_alarm";

/// What says in which account and region a resource is, and how often.
const PLACEMENT: [&str; 4] = ["count", "for_each", "provider", "region"];
/// What of a queue its dead-letter queue has too.
const SHARED: [&str; 3] = [
    "sqs_managed_sse_enabled",
    "kms_master_key_id",
    "kms_data_key_reuse_period_seconds",
];
/// Functions that give a text, and never null.
const TEXTS: [&str; 6] = ["format", "join", "lower", "replace", "upper", "substr"];

/// The edits that declare a dead-letter queue for a queue, with an alarm on it, and lead to it.
pub(super) fn queue(queue: &Undelivered, sources: &Sources) -> Option<Vec<Edit>> {
    let document = Document::read(queue.header.file, sources)?;
    let found = queue_at(&document, queue.header, sources)?;
    let module = Module::read(&document, sources);
    let source = Source::new(&document, &found);
    let label = naming::label(source.label()?, module.label_ending().as_deref());
    if module.declares(QUEUE, &label) || module.redrives(source.label()?) {
        return None;
    }
    let declared = source.dead_letter_queue(queue, &label, &module)?;
    let target = source.reference(&label, "arn");
    let step = document.step();
    let policy = format!(
        "jsonencode({{\n{step}deadLetterTargetArn = {target}\n{step}maxReceiveCount     = {}\n}})",
        queue.max_receive_count
    );
    let redrive = add(&document, &found, "redrive_policy", &policy)?;
    let alarm = source.alarm(&label, &module)?;
    let behind = behind(&document, &found, &[declared, alarm])?;
    Some(vec![redrive, behind])
}

/// The edit that declares an alarm on the dead-letter queue with this header.
pub(super) fn alarm(header: Span, sources: &Sources) -> Option<Edit> {
    let document = Document::read(header.file, sources)?;
    let found = queue_at(&document, header, sources)?;
    let module = Module::read(&document, sources);
    let source = Source::new(&document, &found);
    let alarm = source.alarm(source.label()?, &module)?;
    behind(&document, &found, &[alarm])
}

fn queue_at<'d>(document: &'d Document, header: Span, sources: &Sources) -> Option<Found<'d>> {
    let found = document.resource(header)?;
    let is_queue = found.block.labels.first().is_some_and(|kind| &**kind == QUEUE);
    (is_queue && !is_overridden(document, found.block, sources)).then_some(found)
}

/// The edit that writes `blocks` behind a block.
fn behind(document: &Document, found: &Found<'_>, blocks: &[String]) -> Option<Edit> {
    let at = document.after(found.block)?;
    let line_break = document.line_break();
    let mut text = String::new();
    if document.text().get(..at).is_some_and(|before| !before.ends_with('\n')) {
        text.push_str(line_break);
    }
    for block in blocks {
        text.push_str(line_break);
        text.push_str(block);
    }
    let next = document.slice(document.line(at));
    if at < document.text().len() && !next.trim().is_empty() {
        text.push_str(line_break);
    }
    Some(Edit::insertion(found.block.header, at, text))
}

/// The queue that something is declared for.
struct Source<'d> {
    document: &'d Document,
    block: &'d Block,
}

impl<'d> Source<'d> {
    fn new(document: &'d Document, found: &Found<'d>) -> Self {
        Source {
            document,
            block: found.block,
        }
    }

    fn label(&self) -> Option<&'d str> {
        self.block.labels.get(1).map(|label| &**label)
    }

    fn has(&self, name: &str) -> bool {
        self.block
            .body
            .attributes
            .iter()
            .any(|attribute| &*attribute.name == name)
    }

    /// An argument as it is written.
    fn value(&self, name: &str) -> Option<(&'d Expression, &'d str)> {
        let attribute = self
            .block
            .body
            .attributes
            .iter()
            .find(|attribute| &*attribute.name == name)?;
        Some((&attribute.value, self.document.value(attribute)?))
    }

    /// Arguments as they are written, those that are there. `None` where one cannot stand elsewhere.
    fn copied<'n>(&self, names: &[&'n str]) -> Option<Vec<(&'n str, String)>> {
        let mut copied = Vec::new();
        for name in names.iter().filter(|name| self.has(name)) {
            let (_, text) = self.value(name)?;
            if text.contains("<<") {
                return None;
            }
            copied.push((*name, text.to_owned()));
        }
        Some(copied)
    }

    /// What refers to `attribute` of a queue that is there as often as this one.
    fn reference(&self, label: &str, attribute: &str) -> String {
        let index = if self.has("count") {
            "[count.index]"
        } else if self.has("for_each") {
            "[each.key]"
        } else {
            ""
        };
        format!("{QUEUE}.{label}{index}.{attribute}")
    }

    /// The declaration of its dead-letter queue.
    fn dead_letter_queue(&self, queue: &Undelivered, label: &str, module: &Module<'_>) -> Option<String> {
        let mut own: Vec<(&str, String)> = self.name(queue.fifo, module)?.into_iter().collect();
        match self.value("fifo_queue") {
            // What decides here decides there.
            Some((value, text)) if !matches!(value.kind, Kind::Bool(_) | Kind::Null) => {
                own.push(("fifo_queue", text.to_owned()));
            }
            _ if queue.fifo => own.push(("fifo_queue", "true".to_owned())),
            _ => {}
        }
        own.push(("message_retention_seconds", queue.retention.to_string()));
        own.extend(self.copied(&SHARED)?);
        let (lines, blocks): (Vec<_>, Vec<_>) = self
            .copied(&["tags"])?
            .into_iter()
            .partition(|(_, value)| !value.contains('\n'));
        own.extend(lines);
        let declaration = Declaration {
            kind: QUEUE,
            label,
            groups: vec![self.copied(&PLACEMENT)?, own, blocks],
        };
        Some(declaration.written(self.document))
    }

    /// The argument that names its dead-letter queue; nothing where the provider is to choose.
    fn name(&self, fifo: bool, module: &Module<'_>) -> Option<Option<(&'static str, String)>> {
        let ending = module.name_ending();
        let ending = ending.as_deref();
        let (argument, is_prefix) = if self.has("name") {
            ("name", false)
        } else if self.has("name_prefix") {
            ("name_prefix", true)
        } else {
            return Some(None);
        };
        let (value, text) = self.value(argument)?;
        let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let content = match &value.kind {
            Kind::Null => return Some(None),
            _ if text.contains('\n') => return None,
            Kind::Text(_) | Kind::Template(_) => quoted?.to_owned(),
            // Alone in a template, or bare.
            Kind::Traversal(root, steps) if !module.may_be_null(root, steps) => {
                quoted.map_or_else(|| format!("${{{text}}}"), str::to_owned)
            }
            Kind::Call { name, .. } if TEXTS.contains(&&**name) => {
                quoted.map_or_else(|| format!("${{{text}}}"), str::to_owned)
            }
            _ => return None,
        };
        let is_literal = matches!(value.kind, Kind::Text(_));
        let name = if is_prefix {
            naming::prefix(&content, ending, is_literal)
        } else {
            naming::name(&content, ending, is_literal, fifo)?
        };
        match name {
            Name::Content(content) if module.names(&content) => None,
            Name::Content(content) => Some(Some((argument, format!("\"{content}\"")))),
            Name::TooLong => Some(None),
        }
    }

    /// The declaration of an alarm on the queue `label`, which is there as often as this one.
    fn alarm(&self, label: &str, module: &Module<'_>) -> Option<String> {
        let placement = self.copied(&PLACEMENT)?;
        let name = self.reference(label, "name");
        let plain = [
            ("alarm_name", format!("\"${{{name}}}-messages\"")),
            (
                "alarm_description",
                "\"Messages that could not be processed lie in the dead-letter queue\"".to_owned(),
            ),
            ("namespace", "\"AWS/SQS\"".to_owned()),
            ("metric_name", "\"ApproximateNumberOfMessagesVisible\"".to_owned()),
            ("statistic", "\"Maximum\"".to_owned()),
            ("period", "60".to_owned()),
            ("evaluation_periods", "1".to_owned()),
            ("comparison_operator", "\"GreaterThanOrEqualToThreshold\"".to_owned()),
            ("threshold", "1".to_owned()),
            ("treat_missing_data", "\"notBreaching\"".to_owned()),
        ];
        let mut own = Vec::from(plain);
        own.extend(module.actions(&placement));
        let step = self.document.step();
        let line_break = self.document.line_break();
        let dimensions = format!("{{{line_break}{step}{step}QueueName = {name}{line_break}{step}}}");
        let declaration = Declaration {
            kind: ALARM,
            label: &module.free_alarm(&naming::joined(label, "messages"))?,
            groups: vec![placement, own, vec![("dimensions", dimensions)]],
        };
        Some(declaration.written(self.document))
    }
}

/// The files of a module, the one that is edited first.
struct Module<'s> {
    files: Vec<(Arc<SourceFile>, Body)>,
    sources: &'s Sources,
}

impl<'s> Module<'s> {
    fn read(document: &Document, sources: &'s Sources) -> Self {
        let mut files = module_of(document.id, sources);
        files.sort_by_key(|(id, file)| (*id != document.id, file.path().to_owned()));
        let parse = |id: FileId, file: &SourceFile| {
            let is_json = file.name().ends_with(".json");
            let parse = if is_json { syntax::parse_json } else { syntax::parse };
            parse(id, file.text()).0
        };
        let files = files.into_iter().map(|(id, file)| {
            let body = parse(id, &file);
            (file, body)
        });
        Module {
            files: files.collect(),
            sources,
        }
    }

    /// The resources of a type.
    fn resources<'m>(&'m self, kind: &'m str) -> impl Iterator<Item = &'m Block> {
        let blocks = self.files.iter().flat_map(|(_, body)| &body.blocks);
        let of_kind = move |block: &&Arc<Block>| {
            &*block.kind == "resource" && block.labels.first().is_some_and(|label| &**label == kind)
        };
        blocks.filter(of_kind).map(|block| &**block)
    }

    fn declares(&self, kind: &str, label: &str) -> bool {
        self.resources(kind)
            .any(|block| block.labels.get(1).is_some_and(|of| &**of == label))
    }

    /// `label`, or with a number where there is one such.
    fn free_alarm(&self, label: &str) -> Option<String> {
        let numbered = (2..10).map(|number| naming::joined(label, &number.to_string()));
        let mut labels = std::iter::once(label.to_owned()).chain(numbered);
        labels.find(|label| !self.declares(ALARM, label))
    }

    /// Whether the queue `label` may have a redrive policy in a resource of its own.
    fn redrives(&self, label: &str) -> bool {
        let needle = format!("{QUEUE}.{label}");
        let is_of = |block: &Block| {
            let text = self.sources.text(block.span);
            references::uses(&text, &needle) > 0 || !text.contains("aws_sqs_queue.")
        };
        self.resources("aws_sqs_queue_redrive_policy").any(is_of)
    }

    /// Whether a file holds this text in quotes.
    fn names(&self, content: &str) -> bool {
        let quoted = format!("\"{content}\"");
        self.files.iter().any(|(file, _)| file.text().contains(&quoted))
    }

    /// How the labels of the dead-letter queues end.
    fn label_ending(&self) -> Option<String> {
        let mut labels = self.resources(QUEUE).filter_map(|block| block.labels.get(1));
        labels.find_map(|label| naming::ending(label)).map(str::to_owned)
    }

    /// How the names of the dead-letter queues end.
    fn name_ending(&self) -> Option<String> {
        let names = self.resources(QUEUE).filter_map(|block| {
            let name = block
                .body
                .attributes
                .iter()
                .find(|attribute| &*attribute.name == "name")?;
            let text = self.sources.text(name.value.span);
            Some(text.trim().strip_prefix('"')?.strip_suffix('"')?.to_owned())
        });
        names
            .into_iter()
            .find_map(|name| naming::ending(&name).map(str::to_owned))
    }

    /// Whether a reference may be to nothing: to a variable whose default is no text.
    fn may_be_null(&self, root: &Expression, steps: &[Step]) -> bool {
        let (Kind::Variable(root), Some(Step::Attribute(name))) = (&root.kind, steps.first()) else {
            return true;
        };
        let mut blocks = self.files.iter().flat_map(|(_, body)| &body.blocks);
        &**root == "var"
            && blocks.any(|block| {
                let is_it = &*block.kind == "variable" && block.labels.first() == Some(name);
                let default = block
                    .body
                    .attributes
                    .iter()
                    .find(|attribute| &*attribute.name == "default");
                is_it && default.is_some_and(|default| !matches!(default.value.kind, Kind::Text(_)))
            })
    }

    /// Whom an alarm of the module tells, if that can be written elsewhere; rather one on queues.
    fn actions(&self, placement: &[(&str, String)]) -> Vec<(&'static str, String)> {
        let is_on_queues = |block: &&Block| self.sources.text(block.span).contains("AWS/SQS");
        let alarms = || self.resources(ALARM);
        let mut alarms = alarms().filter(is_on_queues).chain(alarms());
        let actions = alarms.find_map(|block| {
            let argument = |name: &str| block.body.attributes.iter().find(|attribute| &*attribute.name == name);
            let is_elsewhere = ["provider", "region"].into_iter().any(|name| {
                let here = placement.iter().find(|(of, _)| *of == name);
                let there = argument(name).map(|attribute| self.sources.text(attribute.value.span));
                here.map(|(_, value)| value.as_str()) != there.as_deref()
            });
            let action = |name: &'static str| Some((name, self.references(&argument(name)?.value)?));
            let alarm = action("alarm_actions").filter(|_| !is_elsewhere)?;
            Some(std::iter::once(alarm).chain(action("ok_actions")).collect())
        });
        actions.unwrap_or_default()
    }

    /// A list of references that mean the same everywhere in the module, as it is written.
    fn references(&self, value: &Expression) -> Option<String> {
        match &value.kind {
            Kind::Tuple(items) if !items.is_empty() => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.reference(item)).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            _ => self.reference(value),
        }
    }

    fn reference(&self, value: &Expression) -> Option<String> {
        let Kind::Traversal(root, steps) = &value.kind else {
            return None;
        };
        let is_plain = steps.iter().all(|step| match step {
            Step::Attribute(_) => true,
            Step::Index(index) => matches!(index.kind, Kind::Number(_) | Kind::Text(_)),
            Step::Splat | Step::AttributeSplat => false,
        });
        let is_everywhere = matches!(&root.kind, Kind::Variable(root) if !matches!(&**root, "each" | "count" | "self"));
        let text = self.sources.text(value.span);
        let is_written = text.starts_with(|c: char| c.is_alphabetic()) && !text.contains(['\n', '"', '$']);
        (is_plain && is_everywhere && is_written).then_some(text)
    }
}
