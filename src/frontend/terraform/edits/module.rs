//! The module of a resource: its other resources, their names, and the actions of its alarms.
//!
//! Files are parsed but not evaluated. Parts with errors are ignored.

use super::document::module_of;
use super::naming;
use super::references::uses;
use super::wanted::{ALARM, ArgumentValue, Arguments, QUEUE};
use rustc_hash::{FxHashMap, FxHashSet};
use source::{FileId, SourceFile, Sources, Span};
use std::path::Path;
use std::sync::Arc;
use terraform::syntax::{Block, Code, Expression, ExpressionKind, Step};

/// Returns `true` if a file of the module with the file `of` contains `word`. This avoids parsing the files otherwise.
pub(super) fn mentions(of: FileId, sources: &Sources, word: &str) -> bool {
    let files = module_of(of, sources);
    files.iter().any(|(_, file)| file.text().contains(word))
}

/// Returns `true` if the module with the file `of` requires Terraform before 0.12.
pub(super) fn is_pinned_before_012(of: FileId, sources: &Sources) -> bool {
    let files = module_of(of, sources);
    let may_require = |file: &SourceFile| file.derived(|text| MayRequire(text.contains("required_version"))).0;
    if !files.iter().any(|(_, file)| may_require(file)) {
        return false;
    }
    let files = files.into_iter();
    let codes: Vec<Arc<Code>> = files.map(|(id, file)| Code::of(id, &file)).collect();
    terraform::module::is_pinned_before_012(codes.iter().flat_map(|code| &code.body.blocks))
}

/// `true` if a file may require a version of Terraform.
struct MayRequire(bool);

/// The files of a module, the one to be edited first.
pub(super) struct Module<'s> {
    files: Vec<(Arc<SourceFile>, Arc<Code>)>,
    sources: &'s Sources,
}

impl<'s> Module<'s> {
    /// Reads the module that contains the file `of`.
    pub(super) fn read(of: FileId, sources: &'s Sources) -> Self {
        let mut files = module_of(of, sources);
        files.sort_by_key(|(id, file)| (*id != of, file.path().to_owned()));
        let files = files.into_iter().map(|(id, file)| {
            let code = Code::of(id, &file);
            (file, code)
        });
        Module {
            files: files.collect(),
            sources,
        }
    }

    /// Returns the resources of a type.
    fn resources<'m>(&'m self, kind: &'m str) -> impl Iterator<Item = &'m Block> {
        // A search of all blocks for each of many edits would take long.
        let files = self.files.iter();
        let declaring = files.filter(|(file, code)| file.derived(|_| Declared::of(code)).0.contains_key(kind));
        let blocks = declaring.flat_map(|(_, code)| &code.body.blocks);
        blocks
            .filter(move |block| is_resource(block, kind))
            .map(|block| &**block)
    }

    /// Returns `true` if the module declares a resource with this type and label.
    pub(super) fn declares(&self, kind: &str, label: &str) -> bool {
        self.files.iter().any(|(file, code)| {
            let declared = file.derived(|_| Declared::of(code));
            declared.0.get(kind).is_some_and(|labels| labels.contains(label))
        })
    }

    /// Returns the label of the queue with this header if its `arguments` with these names equal those of `block`.
    pub(super) fn placed_like(&self, block: &Block, arguments: &[&str], header: Span) -> Option<&str> {
        let queue = self.resources(QUEUE).find(|queue| queue.header == header)?;
        let written = |block: &Block, name: &str| {
            let mut attributes = block.body.attributes.iter();
            let attribute = attributes.find(|attribute| &*attribute.name == name)?;
            Some(self.sources.text(attribute.value.span))
        };
        let is_same = arguments
            .iter()
            .all(|name| written(queue, name) == written(block, name));
        queue.labels.get(1).filter(|_| is_same).map(|label| &**label)
    }

    /// Returns `label`, with a number appended if an alarm with that label exists.
    pub(super) fn unused_alarm_label(&self, label: &str) -> Option<String> {
        let numbered = (2..10).map(|number| naming::joined(label, &number.to_string()));
        let mut labels = std::iter::once(label.to_owned()).chain(numbered);
        labels.find(|label| !self.declares(ALARM, label))
    }

    /// Returns `true` if a separate resource may set the redrive policy of the queue `label`.
    pub(super) fn redrives(&self, label: &str) -> bool {
        let needle = format!("{QUEUE}.{label}");
        let is_of = |block: &Block| {
            let text = self.sources.text(block.span);
            uses(&text, &needle) > 0 || !text.contains("aws_sqs_queue.")
        };
        self.resources("aws_sqs_queue_redrive_policy").any(is_of)
    }

    /// Returns `true` if a file contains this text in quotes.
    pub(super) fn names(&self, content: &str) -> bool {
        self.files.iter().any(|(file, _)| {
            if content.contains('"') {
                return file.text().contains(&format!("\"{content}\""));
            }
            let quoted = file.derived(|text| Quoted(text.split('"').map(str::to_owned).collect()));
            quoted.0.contains(content)
        })
    }

    /// Returns the ending of the labels of dead-letter queues.
    pub(super) fn label_ending(&self) -> Option<String> {
        self.endings().find_map(|endings| endings.label.clone())
    }

    /// Returns the ending of the names of dead-letter queues.
    pub(super) fn name_ending(&self) -> Option<String> {
        self.endings().find_map(|endings| endings.name.clone())
    }

    fn endings(&self) -> impl Iterator<Item = Arc<Endings>> {
        let files = self.files.iter();
        files.map(|(file, code)| file.derived(|text| Endings::of(code, text)))
    }

    /// Returns `true` if a reference may be null: one to a variable with a default that is not a string, or to anything
    /// but a variable.
    pub(super) fn may_be_null(&self, root: &Expression, steps: &[Step]) -> bool {
        let (ExpressionKind::Variable(root), Some(Step::Attribute(name))) = (&root.kind, steps.first()) else {
            return true;
        };
        let mut blocks = self.files.iter().flat_map(|(_, code)| &code.body.blocks);
        &**root == "var"
            && blocks.any(|block| {
                let is_it = &*block.kind == "variable" && block.labels.first() == Some(name);
                let default = block
                    .body
                    .attributes
                    .iter()
                    .find(|attribute| &*attribute.name == "default");
                is_it && default.is_some_and(|default| !matches!(default.value.kind, ExpressionKind::Text(_)))
            })
    }

    /// Returns the text of an expression that means the same everywhere in the module, for a file in the same syntax.
    fn expression(&self, value: &Expression) -> Option<String> {
        let is_json = |name: &str| Path::new(name).extension().is_some_and(|ending| ending == "json");
        let (text, file) = (self.sources.text(value.span), self.sources.file(value.span.file));
        let is_alike = self
            .files
            .first()
            .is_some_and(|(own, _)| is_json(own.name()) == is_json(file.name()));
        let is_local = ["each.", "count.", "self.", "\n"]
            .iter()
            .any(|word| text.contains(word));
        let notifies = text.contains('.') && !text.to_ascii_lowercase().contains("scal");
        (is_alike && !is_local && notifies).then_some(text)
    }

    /// Returns the actions of an alarm on queues that can be copied, if it has the same `placement`. Other alarms may
    /// notify people who are not concerned with queues.
    pub(super) fn actions(&self, placement: &Arguments) -> Option<Arguments> {
        let is_on_queues = |block: &&Block| self.sources.text(block.span).contains("AWS/SQS");
        let mut alarms = self.resources(ALARM).filter(is_on_queues);
        alarms.find_map(|block| {
            let argument = |name: &str| block.body.attributes.iter().find(|attribute| &*attribute.name == name);
            let is_elsewhere = ["provider", "region"].into_iter().any(|name| {
                let here = placement.iter().find(|(of, _)| *of == name).map(|(_, value)| value);
                let there = argument(name).map(|attribute| self.sources.text(attribute.value.span));
                here.map(ArgumentValue::text) != there.as_deref()
            });
            let action = |name: &'static str| {
                let value = &argument(name)?.value;
                let copied = || self.expression(value).map(ArgumentValue::Copied);
                Some((name, references(value).or_else(copied)?))
            };
            let alarm = action("alarm_actions").filter(|_| !is_elsewhere)?;
            Some(std::iter::once(alarm).chain(action("ok_actions")).collect())
        })
    }
}

fn is_resource(block: &Block, kind: &str) -> bool {
    &*block.kind == "resource" && block.labels.first().is_some_and(|label| &**label == kind)
}

/// The labels of the resources that a file declares, by type.
struct Declared(FxHashMap<Arc<str>, FxHashSet<Arc<str>>>);

impl Declared {
    fn of(code: &Code) -> Self {
        let mut labels: FxHashMap<Arc<str>, FxHashSet<Arc<str>>> = FxHashMap::default();
        for block in code.body.blocks.iter().filter(|block| &*block.kind == "resource") {
            if let [kind, label, ..] = &*block.labels {
                labels.entry(kind.clone()).or_default().insert(label.clone());
            }
        }
        Declared(labels)
    }
}

/// The endings in the label and the name of the first dead-letter queue of a file.
struct Endings {
    label: Option<String>,
    name: Option<String>,
}

impl Endings {
    fn of(code: &Code, text: &str) -> Self {
        let queues = || {
            let blocks = code.body.blocks.iter();
            blocks.filter(|block| is_resource(block, QUEUE))
        };
        let name = |block: &Arc<Block>| {
            let mut attributes = block.body.attributes.iter();
            let name = attributes.find(|attribute| &*attribute.name == "name")?;
            let written = text.get(name.value.span.range())?.trim();
            let name = written.strip_prefix('"')?.strip_suffix('"')?;
            naming::ending(name).map(str::to_owned)
        };
        let label = |block: &Arc<Block>| naming::ending(block.labels.get(1)?).map(str::to_owned);
        Endings {
            label: queues().find_map(label),
            name: queues().find_map(name),
        }
    }
}

/// The texts between consecutive quotes of a file.
struct Quoted(FxHashSet<String>);

/// Returns references that mean the same everywhere in a module.
fn references(value: &Expression) -> Option<ArgumentValue> {
    match &value.kind {
        ExpressionKind::Tuple(items) if !items.is_empty() => items
            .iter()
            .map(reference)
            .collect::<Option<_>>()
            .map(ArgumentValue::List),
        _ => reference(value).map(ArgumentValue::Reference),
    }
}

fn reference(value: &Expression) -> Option<String> {
    let (root, steps) = value.path()?;
    if matches!(root, "each" | "count" | "self") {
        return None;
    }
    let mut text = root.to_string();
    for step in steps {
        match step {
            Step::Attribute(name) => text = format!("{text}.{name}"),
            Step::Index(index) | Step::LegacyIndex(index) => match &index.kind {
                ExpressionKind::Number(Some(number)) => text = format!("{text}[{number}]"),
                ExpressionKind::Text(key) if !key.contains(['"', '\\', '$', '%', '\n', '\r']) => {
                    text = format!("{text}[\"{key}\"]");
                }
                _ => return None,
            },
            Step::Splat | Step::AttributeSplat => return None,
        }
    }
    Some(text)
}
