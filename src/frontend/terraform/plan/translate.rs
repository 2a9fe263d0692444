//! Turns what a plan or state says of a resource into a block of literal arguments, so that one lowering serves
//! modules, plans and states.
//!
//! What is known only after apply becomes a link where the configuration in the plan names one resource, stays
//! absent where the configuration does not set it, and is not known otherwise. Sensitive values are not read.

use super::super::json::decode;
use super::super::number::Number;
use super::super::provider;
use super::super::syntax::{Attribute, Block, Body, Expression, Kind as Syntax};
use super::super::value::{Kind, ResourceId, Trail, Value};
use super::arguments::{Argument, Arguments};
use super::places;
use super::references::{Found, Place, Resolver};
use crate::frontend::tree::{Entry, Node, Value as Json};
use crate::graph::{Cause, Reason};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Blocks and maps are followed so deep.
const MAX_DEPTH: usize = 24;

/// Attributes that AWS gives: they name the resource itself and set nothing.
const IDENTITY: [&str; 6] = [
    "arn",
    "id",
    "url",
    "invoke_arn",
    "qualified_arn",
    "qualified_invoke_arn",
];

/// Resources by the ARNs and URLs they have, with the attribute that has it.
pub(super) type Identities = FxHashMap<Arc<str>, (Arc<ResourceId>, Arc<str>)>;

/// One resource to translate.
pub(super) struct Subject<'x> {
    pub(super) id: &'x ResourceId,
    /// Where its address stands.
    pub(super) header: Span,
    /// Where its block stands, if its module is here.
    pub(super) source: Option<&'x Block>,
    /// What the configuration sets; `None` without one.
    pub(super) arguments: Option<&'x Arguments>,
}

/// Turns resources into blocks.
pub(super) struct Translator<'a, 'p> {
    pub(super) resolver: &'a mut Resolver<'p>,
    pub(super) identities: &'a Identities,
    /// Addresses of resources whose ARN is known.
    pub(super) existing: &'a FxHashSet<Arc<str>>,
}

/// One level of a resource: the resource itself or a nested block.
#[derive(Clone, Copy)]
struct Level<'x> {
    entries: &'x [Entry],
    unknown: &'x serde_json::Value,
    sensitive: &'x serde_json::Value,
    arguments: Option<&'x Arguments>,
    source: Option<&'x Body>,
    header: Span,
    depth: usize,
}

/// One argument of a level.
struct Slot<'x> {
    name: &'x str,
    argument: Option<&'x Argument>,
    /// Where it stands in the plan.
    planned: Span,
    /// Where it stands in the module.
    source: Option<Span>,
}

impl<'p> Translator<'_, 'p> {
    /// The block of `subject`.
    pub(super) fn block(
        &mut self,
        subject: &Subject<'_>,
        place: Place<'p, '_>,
        values: &Node,
        unknown: &serde_json::Value,
        sensitive: &serde_json::Value,
    ) -> Block {
        let header = subject.source.map_or(subject.header, |block| block.header);
        let level = Level {
            entries: values.entries().unwrap_or_default(),
            unknown,
            sensitive,
            arguments: subject.arguments,
            source: subject.source.map(|block| &block.body),
            header: subject.header,
            depth: 0,
        };
        let body = self.body(subject, place, level);
        Block {
            kind: "resource".into(),
            labels: Vec::new(),
            body,
            header,
            span: header,
        }
    }

    fn body(&mut self, subject: &Subject<'_>, place: Place<'p, '_>, level: Level<'_>) -> Body {
        let mut body = Body::default();
        for entry in level.entries {
            let name = &*entry.key;
            let argument = level.arguments.and_then(|arguments| arguments.get(name));
            if is_unset(subject, &level, argument, entry) {
                continue;
            }
            let slot = Slot {
                name,
                argument,
                planned: entry.span(),
                source: source_of(level.source, name),
            };
            let (unknown, sensitive) = (under(level.unknown, name), under(level.sensitive, name));
            if is_true(sensitive) || level.depth > MAX_DEPTH {
                let reason = if level.depth > MAX_DEPTH {
                    Cause::Limit.because("it is nested more than 24 levels deep")
                } else {
                    Cause::Secret.because("it is sensitive")
                };
                unknown_argument(&mut body, &slot, reason);
                continue;
            }
            let Some(items) = blocks_of(&entry.value) else {
                let value = self.value(subject, place, &slot, &entry.value, unknown, sensitive, level.depth);
                body.attributes.push(attribute(&slot, value));
                continue;
            };
            let beside = level.source.and_then(|source| places::nested(source, name));
            for (at, item) in items.iter().enumerate() {
                let inner = Level {
                    entries: item.entries().unwrap_or_default(),
                    unknown: nth(unknown, at),
                    sensitive: nth(sensitive, at),
                    arguments: argument.and_then(|argument| argument.block(at, items.len(), is_list(subject, name))),
                    source: beside.map(|(body, _)| body),
                    header: level.header,
                    depth: level.depth + 1,
                };
                let span = beside.map_or(item.span, |(_, block)| block.header);
                body.blocks.push(Arc::new(Block {
                    kind: entry.key.clone(),
                    labels: Vec::new(),
                    body: self.body(subject, place, inner),
                    header: span,
                    span,
                }));
            }
        }
        self.unknowns(subject, place, level, &mut body);
        body
    }

    /// The arguments that are not among the values, being known only after apply.
    fn unknowns(&mut self, subject: &Subject<'_>, place: Place<'p, '_>, level: Level<'_>, body: &mut Body) {
        let Some(unknown) = level.unknown.as_object() else {
            return;
        };
        for (name, _) in unknown.iter().filter(|(_, value)| is_true(value)) {
            if level
                .entries
                .iter()
                .any(|entry| &*entry.key == name.as_str() && !matches!(entry.value.value, Json::Null))
            {
                continue;
            }
            let argument = level.arguments.and_then(|arguments| arguments.get(name.as_str()));
            // What the configuration does not set is AWS's to choose: nothing to read.
            if argument.is_none() && (level.arguments.is_some() || IDENTITY.contains(&name.as_str())) {
                continue;
            }
            let slot = Slot {
                name,
                argument,
                planned: level.header,
                source: source_of(level.source, name),
            };
            if let Some(value) = self.later(subject, place, &slot) {
                match value.as_unknown() {
                    Some(unknown) => unknown_argument(body, &slot, unknown.reason.clone()),
                    None => body.attributes.push(attribute(&slot, value)),
                }
            }
        }
    }

    /// What is known of an argument that is known only after apply; `None` where it proves to be null.
    fn later(&mut self, subject: &Subject<'_>, place: Place<'p, '_>, slot: &Slot<'_>) -> Option<Value> {
        let shown = format!("`{}.{}`", subject.id.address(), slot.name);
        let unknown = |why: &str| {
            Some(Value::unknown(
                Cause::KnownAfterApply.because(format!("{shown} is known only after apply{why}")),
            ))
        };
        let Some(argument) = slot.argument else {
            return unknown("");
        };
        if matches!(argument, Argument::Expression { empty: true, .. }) {
            return None;
        }
        let Some(mut found) = self.found(place, argument) else {
            return unknown("");
        };
        if is_document(slot.name) {
            return match found.targets.as_slice() {
                // Any other name beside it is part of another policy, or makes another of this one.
                [(id, Some(attribute))] if !found.opaque && provider::is_document(id, attribute) => {
                    Some(Kind::Reference(id.clone(), attribute.as_str().into()).into())
                }
                _ => unknown(""),
            };
        }
        if let Some(containers) = containers(slot.name, &found) {
            return Some(containers);
        }
        self.keep_unknown(&mut found);
        if found.is_constant() {
            // Terraform knew the expression; only null is then left for AWS to fill in.
            return None;
        }
        let mut targets = linked(slot.name, &found);
        let policy = slot.name == "redrive_policy";
        // A local may be the receive count of a policy; of a link it may be the other end.
        if targets.len() != 1 || (found.opaque && !policy) {
            return match (targets.len(), found.opaque) {
                (_, true) => unknown(", through names that a plan does not hold"),
                (0, _) => unknown(""),
                _ => unknown(", and the plan does not tell which of several resources it names"),
            };
        }
        let (id, attribute) = targets.remove(0);
        let link = |of: &str| -> Value { Kind::Reference(id.clone(), of.into()).into() };
        Some(match slot.name {
            "redrive_policy" => encoded_policy(link("arn"), subject.id.kind.starts_with("aws_sqs_")),
            // It takes nothing but URLs.
            "queue_url" => link("url"),
            "dimensions" if &*id.kind == "aws_sqs_queue" => Value::map(vec![("QueueName".into(), link("name"))]),
            _ if &*id.kind == "aws_sqs_queue" && attribute.as_deref() == Some("name") => link("name"),
            // How an attribute is used cannot be seen: the form is not held against anybody.
            _ => link("arn"),
        })
    }

    /// What an expression is made of; `None` where nested blocks are.
    fn found(&mut self, place: Place<'p, '_>, argument: &Argument) -> Option<Found> {
        let Argument::Expression { references, .. } = argument else {
            return None;
        };
        Some(self.resolver.resolve(references.iter().map(String::as_str), place))
    }

    /// The links of a list none of whose items is known, where the configuration names as many: which is which matters to
    /// nobody.
    fn list_of_links(&mut self, place: Place<'p, '_>, slot: &Slot<'_>, count: usize) -> Option<Value> {
        let found = self.found(place, slot.argument?)?;
        let targets = linked(slot.name, &found);
        let is_whole = count > 1 && !found.opaque && targets.len() == count && found.targets.len() == count;
        let link = |(id, _)| Kind::Reference(id, "arn".into()).into();
        is_whole.then(|| Value::list(targets.into_iter().map(link).collect()))
    }

    /// Leaves out the targets that are there already: they are not what is waited for.
    fn keep_unknown(&self, found: &mut Found) {
        found.targets.retain(|(id, _)| !self.existing.contains(id.address()));
    }

    #[allow(clippy::too_many_arguments, reason = "three trees are walked side by side")]
    fn value(
        &mut self,
        subject: &Subject<'_>,
        place: Place<'p, '_>,
        slot: &Slot<'_>,
        node: &Node,
        unknown: &serde_json::Value,
        sensitive: &serde_json::Value,
        depth: usize,
    ) -> Value {
        if is_true(sensitive) {
            return Value::unknown(Cause::Secret.because("it is sensitive")).at(node.span);
        }
        if is_true(unknown) || depth > MAX_DEPTH {
            return self
                .later(subject, place, slot)
                .unwrap_or_else(Value::null)
                .at(node.span);
        }
        let value = match &node.value {
            Json::Null => Value::null(),
            Json::Bool(value) => Value::bool(*value),
            Json::Integer(value) => Value::number(*value),
            Json::Float(value) => Value::computed(Number::parse(&value.to_string())),
            Json::String(text) => self.text(text),
            Json::Sequence(items) => {
                let is_unknown = items.iter().enumerate().all(|(at, _)| is_true(nth(unknown, at)));
                if is_unknown && let Some(links) = self.list_of_links(place, slot, items.len()) {
                    return links.at(node.span);
                }
                let items = items.iter().enumerate().map(|(at, item)| {
                    self.value(
                        subject,
                        place,
                        slot,
                        item,
                        nth(unknown, at),
                        nth(sensitive, at),
                        depth + 1,
                    )
                });
                Value::list(items.collect())
            }
            Json::Mapping(entries) => {
                let mut all = Vec::with_capacity(entries.len());
                for entry in entries {
                    let (unknown, sensitive) = (under(unknown, &entry.key), under(sensitive, &entry.key));
                    let value = self.value(subject, place, slot, &entry.value, unknown, sensitive, depth + 1);
                    all.push((entry.key.clone(), value));
                }
                for (key, _) in unknown
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(_, value)| is_true(value))
                {
                    if !entries.iter().any(|entry| *entry.key == **key) {
                        let value = self.later(subject, place, slot).unwrap_or_else(Value::null);
                        // The whole map was recovered for want of its keys: here its key is known.
                        let value = value.get(key).cloned().unwrap_or(value);
                        all.push((key.as_str().into(), value));
                    }
                }
                Value::map(all)
            }
        };
        value.at(node.span)
    }

    /// A text; a link where it is the ARN or URL of a resource; a policy whose links are found.
    fn text(&self, text: &Arc<str>) -> Value {
        if let Some((id, attribute)) = self.identities.get(text) {
            return Kind::Reference(id.clone(), attribute.clone()).into();
        }
        let literal = Value::text(text.clone());
        if text.starts_with('{') && text.contains("arn:") {
            let mut changed = false;
            if let Ok(decoded) = decode(&literal) {
                let decoded = self.linked_texts(decoded, &mut changed, 0);
                if changed {
                    return Kind::Encoded(Arc::new(decoded)).into();
                }
            }
        }
        literal
    }

    fn linked_texts(&self, value: Value, changed: &mut bool, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return value;
        }
        match &value.kind {
            Kind::Text(text) => match self.identities.get(text) {
                Some((id, attribute)) => {
                    *changed = true;
                    Kind::Reference(id.clone(), attribute.clone()).into()
                }
                None => value,
            },
            Kind::List(items) => {
                let items = items
                    .iter()
                    .map(|item| self.linked_texts(item.clone(), changed, depth + 1));
                Value::list(items.collect())
            }
            Kind::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| (key.clone(), self.linked_texts(value.clone(), changed, depth + 1)));
                Value::map(entries.collect())
            }
            _ => value,
        }
    }
}

/// A block of the texts among `values`: the names that a data source looks up.
pub(super) fn literals(values: &Node) -> Block {
    let texts = values.entries().into_iter().flatten().filter_map(|entry| {
        let text = entry.value.as_str().filter(|text| !text.is_empty())?;
        let slot = Slot {
            name: &entry.key,
            argument: None,
            planned: entry.span(),
            source: None,
        };
        Some(attribute(&slot, Value::text(text)))
    });
    Block {
        kind: "data".into(),
        labels: Vec::new(),
        body: Body {
            attributes: texts.collect(),
            ..Body::default()
        },
        header: values.span,
        span: values.span,
    }
}

/// Whether nothing is set here: null, an empty text, what only AWS sets, a default that the configuration leaves.
fn is_unset(subject: &Subject<'_>, level: &Level<'_>, argument: Option<&Argument>, entry: &Entry) -> bool {
    let name = &*entry.key;
    match &entry.value.value {
        Json::Null => return true,
        Json::String(text) if text.is_empty() => return true,
        // No list, and no nested block of this kind: nothing tells the one from the other.
        Json::Sequence(items) if items.is_empty() => return !is_true(under(level.unknown, name)),
        _ => {}
    }
    if argument.is_some() || level.depth > 0 {
        return false;
    }
    let target = &*subject.id.kind == "aws_cloudwatch_event_target" && name == "arn" && level.arguments.is_none();
    if IDENTITY.contains(&name) && !target {
        return true;
    }
    // Without a configuration a state says what is deployed, not who wanted it.
    level.arguments.is_some() && is_default(&subject.id.kind, name, &entry.value.value)
}

fn is_default(kind: &str, name: &str, value: &Json) -> bool {
    let default = match (kind, name) {
        ("aws_sqs_queue", "kms_data_key_reuse_period_seconds") => Some(Value::number(300)),
        ("aws_lambda_event_source_mapping", "batch_size") => Some(Value::number(10)),
        ("aws_lambda_event_source_mapping", "maximum_batching_window_in_seconds") => Some(Value::number(0)),
        ("aws_lambda_event_source_mapping", "enabled") => Some(Value::bool(true)),
        _ => provider::default(kind, name),
    };
    let value = match value {
        Json::Bool(value) => Value::bool(*value),
        Json::Integer(value) => Value::number(*value),
        _ => return false,
    };
    default.is_some_and(|default| default.equals(&value) == Some(true))
}

/// The resources that an argument of this name may link to, each once.
fn linked(name: &str, found: &Found) -> Vec<(Arc<ResourceId>, Option<String>)> {
    let queue = |kind: &str| kind == "aws_sqs_queue";
    let function = |kind: &str| matches!(kind, "aws_lambda_function" | "aws_lambda_alias");
    let source = |kind: &str| {
        let kinds = ["aws_kinesis_", "aws_dynamodb_", "aws_mq_", "aws_msk_", "aws_docdb_"];
        queue(kind) || kinds.iter().any(|start| kind.starts_with(start))
    };
    let names = |kind: &str| {
        matches!(name, "dimensions" | "queue_name" | "function_name")
            || matches!(kind, "aws_iam_role" | "aws_iam_instance_profile")
    };
    let mut all: Vec<(Arc<ResourceId>, Option<String>)> = Vec::new();
    for (id, attribute) in &found.targets {
        let attribute_links = match attribute.as_deref() {
            None | Some("arn" | "id" | "url" | "qualified_arn" | "invoke_arn" | "qualified_invoke_arn" | "key_id") => {
                true
            }
            Some("name" | "function_name") => names(&id.kind),
            Some(_) => false,
        };
        let kind_links = match name {
            "event_source_arn" => source(&id.kind),
            "function_name" => function(&id.kind),
            "queue_url" | "redrive_policy" | "dimensions" => queue(&id.kind),
            "role" | "roles" | "task_role_arn" => &*id.kind == "aws_iam_role",
            _ => true,
        };
        if attribute_links && kind_links && !all.iter().any(|(known, _)| known == id) {
            all.push((id.clone(), attribute.clone()));
        }
    }
    let ends = all
        .iter()
        .filter(|(id, _)| queue(&id.kind) || function(&id.kind))
        .count();
    if ends == 1 {
        all.retain(|(id, _)| queue(&id.kind) || function(&id.kind));
    }
    all
}

/// A redrive policy of which only the target is known. Those of queues hold a count as well.
fn encoded_policy(target: Value, counts: bool) -> Value {
    let reason = Cause::KnownAfterApply
        .because("a plan does not hold `maxReceiveCount` beside the ARN of a queue that is not there yet");
    let count = counts.then(|| ("maxReceiveCount".into(), Value::unknown(reason)));
    let target = ("deadLetterTargetArn".into(), target);
    let policy = Value::map([target].into_iter().chain(count).collect());
    Kind::Encoded(Arc::new(policy)).into()
}

/// Containers of which only the queues are known that their description names: they are taken to be what the programs are
/// given.
fn containers(name: &str, found: &Found) -> Option<Value> {
    if !matches!(name, "container_definitions" | "container_properties") {
        return None;
    }
    let queues = linked(name, found)
        .into_iter()
        .filter(|(id, _)| &*id.kind == "aws_sqs_queue");
    let variables = queues.map(|(id, _)| {
        let reason = Cause::KnownAfterApply.because("a plan does not hold the description of a container");
        Value::map(vec![
            ("name".into(), Value::unknown(reason)),
            ("value".into(), Kind::Reference(id, "arn".into()).into()),
        ])
    });
    let variables: Vec<Value> = variables.collect();
    if variables.is_empty() {
        return None;
    }
    let container = Value::map(vec![("environment".into(), Value::list(variables))]);
    Some(Kind::Encoded(Arc::new(Value::list(vec![container]))).into())
}

/// Whether an argument of this name is a policy.
fn is_document(name: &str) -> bool {
    matches!(name, "policy" | "assume_role_policy")
}

/// Whether the blocks of this name keep their order.
fn is_list(subject: &Subject<'_>, name: &str) -> bool {
    &*subject.id.kind == "aws_iam_policy_document" && name == "statement"
}

/// A value as an argument: at its line in the module with the plan as its origin, or at its place in the plan.
fn attribute(slot: &Slot<'_>, mut value: Value) -> Attribute {
    let span = slot.source.unwrap_or(slot.planned);
    if slot.source.is_some() {
        value.origins = Trail::default().before(slot.planned, "the plan");
    }
    Attribute {
        name: slot.name.into(),
        value: Arc::new(Expression {
            kind: Syntax::Known(Box::new(value)),
            span,
        }),
        span,
    }
}

/// An argument, or nested blocks, of which only the reason is known why they are not.
fn unknown_argument(body: &mut Body, slot: &Slot<'_>, reason: Reason) {
    let argument = attribute(slot, Value::unknown(reason.clone()));
    let span = argument.span;
    body.attributes.push(argument);
    if matches!(slot.argument, Some(Argument::Expression { .. })) {
        return;
    }
    let for_each = Attribute {
        name: "for_each".into(),
        ..attribute(slot, Value::unknown(reason))
    };
    let empty = |kind: &str, labels: Vec<Arc<str>>, body: Body| {
        Arc::new(Block {
            kind: kind.into(),
            labels,
            body,
            header: span,
            span,
        })
    };
    let content = Body {
        attributes: vec![for_each],
        blocks: vec![empty("content", Vec::new(), Body::default())],
        ..Body::default()
    };
    body.blocks.push(empty("dynamic", vec![slot.name.into()], content));
}

/// The items, where they are nested blocks: a plan writes those as a list of objects.
fn blocks_of(node: &Node) -> Option<&[Node]> {
    let items = node.items().filter(|items| !items.is_empty())?;
    items.iter().all(|item| item.entries().is_some()).then_some(items)
}

fn source_of(body: Option<&Body>, name: &str) -> Option<Span> {
    let body = body?;
    match body.attribute(name) {
        Some(attribute) => Some(attribute.span),
        None => places::nested(body, name).map(|(_, block)| block.header),
    }
}

fn is_true(value: &serde_json::Value) -> bool {
    value.as_bool() == Some(true)
}

/// The part of a tree of marks below `key`; a mark covers all that is below it.
fn under<'x>(tree: &'x serde_json::Value, key: &str) -> &'x serde_json::Value {
    if is_true(tree) {
        tree
    } else {
        tree.get(key).unwrap_or(&serde_json::Value::Null)
    }
}

fn nth(tree: &serde_json::Value, at: usize) -> &serde_json::Value {
    if is_true(tree) {
        tree
    } else {
        tree.get(at).unwrap_or(&serde_json::Value::Null)
    }
}
