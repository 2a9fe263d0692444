//! Expands `Fn::ForEach` of the transform `AWS::LanguageExtensions` before anything is evaluated, because loops produce
//! the names of resources, conditions and outputs. It knows no resource type.
//!
//! A loop over an unresolved collection produces a single resource that may exist, with the placeholder in its name. A
//! resource that exists only in some cases of a collection carries [`MARK`] for [`Template::existence`].
//!
//! ```text
//! Fn::ForEach::Queues:                        OrdersQueue:
//!   - Name                                      Type: AWS::SQS::Queue
//!   - [Orders, Returns]               becomes   Properties: {QueueName: Orders}
//!   - "${Name}Queue":                         ReturnsQueue:
//!       Type: AWS::SQS::Queue                   Type: AWS::SQS::Queue
//!       Properties: {QueueName: !Ref Name}      Properties: {QueueName: Returns}
//! ```

use super::document::{MARK, PREFIX};
use super::parameters::Values;
use super::sections::{Declared, Dialect, LANGUAGE_EXTENSIONS, Sections, transforms};
use super::template::Template;
use crate::limits;
use conditions::Condition;
use knowledge::{Cause, Reason, UnitKey};
use source::Span;
use source::reading::{Problem, ProblemKind};
use std::borrow::Cow;
use std::sync::Arc;
use trees::{Entry, Node, Value, keep_last};

/// Returns `root` with its loops expanded.
pub(crate) fn written_out<'d>(root: Cow<'d, Node>, unit: &UnitKey, values: &Values) -> (Cow<'d, Node>, Vec<Problem>) {
    let mut problems = Vec::new();
    let Some(first) = first_loop(&root) else {
        return (root, problems);
    };
    let declared = transforms(&[&root]);
    let is_fragment = declared.is_empty() && root.get("AWSTemplateFormatVersion").is_none();
    let is_other = |name: &&str| !name.starts_with("AWS::Serverless-");
    if !is_fragment && !declared.iter().any(is_other) {
        let message = format!("`Fn::ForEach` needs `Transform: {LANGUAGE_EXTENSIONS}`");
        problems.push(Problem::invalid(first, message));
        return (root, problems);
    }
    let Node { span, value } = root.into_owned();
    let Value::Mapping(entries) = value else {
        return (Cow::Owned(Node { span, value }), problems);
    };
    let is_of_scope = |entry: &&Entry| {
        let of_scope = [
            "AWSTemplateFormatVersion",
            "Transform",
            "Parameters",
            "Mappings",
            "Conditions",
        ];
        of_scope.contains(&&*entry.key)
    };
    let scope = Node::new(
        span,
        Value::Mapping(entries.iter().filter(is_of_scope).cloned().collect()),
    );
    let mut writer = Writer {
        scope: &Sections::new(unit, Dialect::Template, &[&scope], values.clone()).into(),
        rounds: 0,
        copies: 0,
        problems,
    };
    let entries = entries.into_iter().map(|entry| {
        let level = match &*entry.key {
            "Resources" => Level::Resources,
            "Conditions" | "Outputs" => Level::Names,
            _ => return entry,
        };
        Entry {
            value: writer.section(entry.value, level),
            ..entry
        }
    });
    let value = Value::Mapping(entries.collect());
    (Cow::Owned(Node { span, value }), writer.problems)
}

/// Returns the span of the key of the first loop in `node`.
fn first_loop(node: &Node) -> Option<Span> {
    match &node.value {
        Value::Mapping(entries) => entries.iter().find_map(|entry| {
            let here = entry.key.starts_with(PREFIX).then_some(entry.key_span);
            here.or_else(|| first_loop(&entry.value))
        }),
        Value::Sequence(items) => items.iter().find_map(first_loop),
        _ => None,
    }
}

/// Meaning of the keys around a loop.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    /// Logical ids of resources.
    Resources,
    /// Names of conditions and outputs.
    Names,
    /// Properties.
    Properties,
}

struct Writer<'s, 't> {
    /// The sections that collections may refer to.
    scope: &'s Template<'t>,
    rounds: usize,
    copies: usize,
    problems: Vec<Problem>,
}

/// The three parts of a loop.
struct Loop<'n> {
    identifier: &'n str,
    collection: &'n Node,
    body: &'n [Entry],
}

/// The items of a collection.
enum Collection {
    /// Items that are the same in every case.
    Known(Vec<String>),
    /// The items of all cases.
    Varying(Vec<String>),
    Unknown,
}

impl Writer<'_, '_> {
    fn section(&mut self, node: Node, level: Level) -> Node {
        let value = match node.value {
            Value::Mapping(entries) => {
                let mut all = Vec::with_capacity(entries.len());
                for entry in entries {
                    self.entry(entry, level, &mut all);
                }
                // CloudFormation rejects a name that two iterations produce; one of the two is checked here.
                Value::Mapping(keep_last(all, &mut Vec::new()))
            }
            Value::Sequence(items) => {
                let items = items.into_iter().map(|item| self.section(item, Level::Properties));
                Value::Sequence(items.collect())
            }
            other => other,
        };
        Node { value, ..node }
    }

    fn entry(&mut self, entry: Entry, level: Level, all: &mut Vec<Entry>) {
        if !entry.key.starts_with(PREFIX) {
            all.push(Entry {
                value: self.section(entry.value, Level::Properties),
                ..entry
            });
            return;
        }
        let Some(the_loop) = Loop::read(&entry.value) else {
            let message = "`Fn::ForEach` takes an identifier, a collection and an object";
            self.problems.push(Problem::invalid(entry.key_span, message));
            all.push(entry);
            return;
        };
        let is_whole = match self.items(the_loop.collection) {
            Collection::Known(items) => self.rounds(&the_loop, &items, level, None, all),
            Collection::Varying(items) if level != Level::Properties => {
                self.rounds(&the_loop, &items, level, Some(the_loop.collection), all)
            }
            Collection::Unknown if level == Level::Resources => {
                for entry in the_loop.body {
                    let mut entry = with_placeholder(entry, the_loop.identifier);
                    mark(&mut entry.value, the_loop.collection, None);
                    self.entry(entry, level, all);
                }
                false
            }
            _ => false,
        };
        if !is_whole {
            // The loop stays, so that the template does not count as complete.
            all.push(entry);
        }
    }

    /// Expands the loop for each of `items`; returns `false` if a bound is exceeded.
    fn rounds(
        &mut self,
        the_loop: &Loop<'_>,
        items: &[String],
        level: Level,
        varying: Option<&Node>,
        all: &mut Vec<Entry>,
    ) -> bool {
        for item in items {
            self.rounds += 1;
            for entry in the_loop.body {
                let mut entry = self.replaced_entry(entry, the_loop.identifier, item);
                if self.rounds > limits::MAX_LOOP_ITERATIONS || self.copies > limits::MAX_LOOP_COPIES {
                    self.end(the_loop.collection.span);
                    return false;
                }
                if let Some(collection) = varying.filter(|_| level == Level::Resources) {
                    mark(&mut entry.value, collection, Some(item));
                }
                self.entry(entry, level, all);
            }
        }
        true
    }

    /// Reports, once, that a bound is exceeded.
    fn end(&mut self, span: Span) {
        if self.problems.iter().all(|problem| problem.kind != ProblemKind::Limit) {
            let message = format!(
                "loops take more than {} rounds or copy more than {} values",
                limits::MAX_LOOP_ITERATIONS,
                limits::MAX_LOOP_COPIES
            );
            self.problems.push(Problem::limit(span, message));
        }
    }

    fn items(&self, collection: &Node) -> Collection {
        let lists = self.scope.items(collection, collection.span, &Condition::always());
        let is_single = lists.len() == 1;
        let mut all: Vec<String> = Vec::new();
        let mut collected = rustc_hash::FxHashSet::default();
        for list in lists {
            let Ok(texts) = list.then.texts() else {
                return Collection::Unknown;
            };
            all.extend(texts.into_iter().filter(|text| collected.insert(text.clone())));
        }
        if is_single {
            Collection::Known(all)
        } else {
            Collection::Varying(all)
        }
    }

    fn replaced_entry(&mut self, entry: &Entry, identifier: &str, item: &str) -> Entry {
        Entry::new(
            replaced_text(&entry.key, identifier, item),
            entry.key_span,
            self.replaced(&entry.value, identifier, item),
        )
    }

    /// Copies `node`, replacing the identifier by `item`.
    fn replaced(&mut self, node: &Node, identifier: &str, item: &str) -> Node {
        self.copies += 1;
        let value = match &node.value {
            _ if self.copies > limits::MAX_LOOP_COPIES => Value::Null,
            _ if refers_to(node, identifier) => Value::String(item.into()),
            Value::String(text) => Value::String(replaced_text(text, identifier, item)),
            Value::Sequence(items) => {
                let items = items.iter().map(|inner| self.replaced(inner, identifier, item));
                Value::Sequence(items.collect())
            }
            Value::Mapping(entries) => {
                let entries = entries.iter().map(|entry| self.replaced_entry(entry, identifier, item));
                Value::Mapping(entries.collect())
            }
            other => other.clone(),
        };
        Node { span: node.span, value }
    }
}

impl<'n> Loop<'n> {
    fn read(node: &'n Node) -> Option<Self> {
        let [identifier, collection, body] = node.items()? else {
            return None;
        };
        Some(Loop {
            identifier: identifier.as_str()?,
            collection,
            body: body.entries()?,
        })
    }
}

/// Returns `true` if `node` is a `Ref` of the identifier.
fn refers_to(node: &Node, identifier: &str) -> bool {
    let is_reference = |entry: &Entry| &*entry.key == "Ref" && entry.value.as_str() == Some(identifier);
    matches!(node.entries(), Some([entry]) if is_reference(entry))
}

fn replaced_text(text: &Arc<str>, identifier: &str, item: &str) -> Arc<str> {
    if !text.contains('{') {
        return text.clone();
    }
    let letters: String = item.chars().filter(char::is_ascii_alphanumeric).collect();
    let text = text.replace(&format!("${{{identifier}}}"), item);
    text.replace(&format!("&{{{identifier}}}"), &letters).into()
}

/// Copies `entry`, replacing the identifier by its placeholder.
fn with_placeholder(entry: &Entry, identifier: &str) -> Entry {
    let placeholder = format!("${{{identifier}}}");
    Entry {
        key: entry.key.replace(&format!("&{{{identifier}}}"), &placeholder).into(),
        key_span: entry.key_span,
        value: match &*entry.key {
            // These contain names, not values.
            "Fn::GetAtt" | "Fn::Sub" | "Type" | "Condition" | "DependsOn" => entry.value.clone(),
            _ => opened_node(&entry.value, identifier, &placeholder),
        },
    }
}

fn opened_node(node: &Node, identifier: &str, placeholder: &str) -> Node {
    let open = |text: &str| {
        let text = Node::new(node.span, Value::String(text.into()));
        Value::Mapping(vec![Entry::new("Fn::Sub", node.span, text)])
    };
    let value = match &node.value {
        _ if refers_to(node, identifier) => open(placeholder),
        Value::String(text) => {
            let text = text.replace(&format!("&{{{identifier}}}"), placeholder);
            if text.contains(placeholder) {
                open(&text)
            } else {
                node.value.clone()
            }
        }
        Value::Sequence(items) => {
            let items = items.iter().map(|item| opened_node(item, identifier, placeholder));
            Value::Sequence(items.collect())
        }
        Value::Mapping(entries) => Value::Mapping(
            entries
                .iter()
                .map(|entry| with_placeholder(entry, identifier))
                .collect(),
        ),
        other => other.clone(),
    };
    Node { span: node.span, value }
}

/// Records in a resource, or in a loop over resources, that it exists for `item` of `collection`.
fn mark(node: &mut Node, collection: &Node, item: Option<&str>) {
    let span = collection.span;
    let item = item.map(|item| Node::new(span, Value::String(item.into())));
    let source = Node::new(
        span,
        Value::Sequence(std::iter::once(collection.clone()).chain(item).collect()),
    );
    match &mut node.value {
        // An inner loop is recorded in each of its resources.
        Value::Sequence(parts) => {
            if let Some(Value::Mapping(body)) = parts.get_mut(2).map(|body| &mut body.value) {
                for entry in body {
                    let notes = source.items().unwrap_or_default();
                    mark(&mut entry.value, collection, notes.get(1).and_then(Node::as_str));
                }
            }
        }
        Value::Mapping(entries) => match entries.iter_mut().find(|entry| &*entry.key == MARK) {
            Some(entry) => {
                if let Value::Sequence(notes) = &mut entry.value.value {
                    notes.push(source);
                }
            }
            None => entries.push(Entry::new(MARK, span, Node::new(span, Value::Sequence(vec![source])))),
        },
        _ => {}
    }
}

impl<'t> Template<'t> {
    /// Returns the condition under which a resource may exist, and the reason if its existence is uncertain even then.
    pub fn existence(&self, declared: &Declared<'t>) -> (Condition, Option<Reason>) {
        let condition = declared.condition.map(|name| self.condition(name));
        let mut when = condition.unwrap_or_default();
        let mut uncertain = None;
        for note in declared.loops {
            let Some([collection, item @ ..]) = note.items() else {
                continue;
            };
            let item = item.first().and_then(Node::as_str);
            let mut of_loop = Condition::never();
            for list in self.items(collection, collection.span, &Condition::always()) {
                match (list.texts(), item) {
                    (Ok(texts), Some(item)) if !texts.iter().any(|text| text == item) => continue,
                    (Err(reason), _) => uncertain = Some(reason),
                    (Ok(_), None) => uncertain = Some(Cause::Derived.because("the items of a loop are not known")),
                    (Ok(_), Some(_)) => {}
                }
                of_loop = of_loop.or(&list.when);
            }
            when = when.and(&of_loop);
        }
        (when, uncertain)
    }
}
