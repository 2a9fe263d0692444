//! Converts a resource of a plan or state to a block of literal arguments, so that the same lowering serves modules,
//! plans and states.
//!
//! A value that is known only after apply becomes a link if the configuration in the plan refers to exactly one
//! resource, stays absent if the configuration does not set it, and is unknown otherwise. Sensitive values are not
//! read.

use super::arguments::{Argument, Arguments};
use super::places;
use super::references::{ExpressionContext, Resolver, Targets};
use crate::json::decode;
use crate::limits;
use crate::number::Number;
use crate::provider;
use crate::syntax::{Attribute, Block, Body, ExpressionKind};
use crate::value::{ResourceId, Trail, Value, ValueKind};
use knowledge::{Cause, Reason};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::sync::Arc;
use trees::{Entry, Node, Value as Json};

/// Attributes that AWS assigns. They identify the resource and are not settings.
const IDENTITY: [&str; 6] = [
    "arn",
    "id",
    "url",
    "invoke_arn",
    "qualified_arn",
    "qualified_invoke_arn",
];

/// Resources by their ARNs and URLs, each with the attribute that has this value.
pub(crate) type Identities = FxHashMap<Arc<str>, (Arc<ResourceId>, Arc<str>)>;

/// A resource to convert.
pub(crate) struct PlannedResource<'x> {
    pub(crate) id: &'x ResourceId,
    /// Span of its address.
    pub(crate) header: Span,
    /// Its block, if its module was found.
    pub(crate) source: Option<&'x Block>,
    /// Arguments in the configuration; `None` without a configuration.
    pub(crate) arguments: Option<&'x Arguments>,
}

/// Converts resources to blocks.
pub(crate) struct Translator<'a, 'p> {
    pub(crate) resolver: &'a mut Resolver<'p>,
    pub(crate) identities: &'a Identities,
    /// Addresses of resources with a known ARN.
    pub(crate) existing: &'a FxHashSet<Arc<str>>,
}

/// A level of a resource: the resource itself or a nested block.
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

/// An argument of a level.
struct Slot<'x> {
    name: &'x str,
    argument: Option<&'x Argument>,
    /// Its span in the plan.
    planned: Span,
    /// Its span in the module.
    source: Option<Span>,
}

impl<'p> Translator<'_, 'p> {
    /// Returns the block of `subject`.
    pub(crate) fn block(
        &mut self,
        subject: &PlannedResource<'_>,
        place: ExpressionContext<'p, '_>,
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
        Block::unlabelled("resource", body, header)
    }

    fn body(&mut self, subject: &PlannedResource<'_>, place: ExpressionContext<'p, '_>, level: Level<'_>) -> Body {
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
            if is_true(sensitive) || level.depth > limits::MAX_PLAN_DEPTH {
                let reason = if level.depth > limits::MAX_PLAN_DEPTH {
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
                let header = beside.map_or(item.span, |(_, block)| block.header);
                let inner = self.body(subject, place, inner);
                let block = Block::unlabelled(entry.key.clone(), inner, header);
                body.blocks.push(Arc::new(block));
            }
        }
        self.unknowns(subject, place, level, &mut body);
        body
    }

    /// Adds the arguments that are known only after apply and so are not among the values.
    fn unknowns(
        &mut self,
        subject: &PlannedResource<'_>,
        place: ExpressionContext<'p, '_>,
        level: Level<'_>,
        body: &mut Body,
    ) {
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
            // AWS chooses whatever the configuration does not set, so there is nothing to read.
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

    /// Returns the value of an argument that is known only after apply; `None` if it must be null.
    fn later(
        &mut self,
        subject: &PlannedResource<'_>,
        place: ExpressionContext<'p, '_>,
        slot: &Slot<'_>,
    ) -> Option<Value> {
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
            return match found.resources.as_slice() {
                // Any other reference would be a part of another policy or modify this one.
                [(id, Some(attribute))] if !found.opaque && provider::is_document(id, attribute) => {
                    Some(ValueKind::Reference(id.clone(), attribute.as_str().into()).into())
                }
                _ => unknown(""),
            };
        }
        if let Some(containers) = containers(slot.name, &found) {
            return Some(containers);
        }
        self.keep_unknown(&mut found);
        if found.is_constant() {
            // Terraform knew the value of the expression, so only null is left for AWS to fill in.
            return None;
        }
        let mut targets = linked(slot.name, &found);
        let policy = slot.name == "redrive_policy";
        // A local may be the receive count of a policy, but in a link it may be the target.
        if targets.len() != 1 || (found.opaque && !policy) {
            return match (targets.len(), found.opaque) {
                (_, true) => unknown(", through names that a plan does not hold"),
                (0, _) => unknown(""),
                _ => unknown(", and the plan does not tell which of several resources it names"),
            };
        }
        let (id, attribute) = targets.remove(0);
        let link = |of: &str| -> Value { ValueKind::Reference(id.clone(), of.into()).into() };
        Some(match slot.name {
            "redrive_policy" => encoded_policy(link("arn"), subject.id.kind.starts_with("aws_sqs_")),
            // This argument accepts only URLs.
            "queue_url" => link("url"),
            "dimensions" if &*id.kind == "aws_sqs_queue" => Value::map(vec![("QueueName".into(), link("name"))]),
            _ if &*id.kind == "aws_sqs_queue" && attribute.as_deref() == Some("name") => link("name"),
            // A plan does not show which attribute is used. An ARN is assumed, so that no rule objects to the form of
            // the link.
            _ => link("arn"),
        })
    }

    /// Returns the targets of an expression; `None` for nested blocks.
    fn found(&mut self, place: ExpressionContext<'p, '_>, argument: &Argument) -> Option<Targets> {
        let Argument::Expression { references, .. } = argument else {
            return None;
        };
        Some(self.resolver.resolve(references.iter().map(String::as_str), place))
    }

    /// Returns the links of a list with only unknown items if the configuration refers to as many resources. Their
    /// order does not matter.
    fn list_of_links(&mut self, place: ExpressionContext<'p, '_>, slot: &Slot<'_>, count: usize) -> Option<Value> {
        let found = self.found(place, slot.argument?)?;
        let targets = linked(slot.name, &found);
        let is_whole = count > 1 && !found.opaque && targets.len() == count && found.resources.len() == count;
        let link = |(id, _)| ValueKind::Reference(id, "arn".into()).into();
        is_whole.then(|| Value::list(targets.into_iter().map(link).collect()))
    }

    /// Removes the targets that exist already, because their values are known before apply.
    fn keep_unknown(&self, found: &mut Targets) {
        found.resources.retain(|(id, _)| !self.existing.contains(id.address()));
    }

    #[allow(clippy::too_many_arguments, reason = "three trees are walked in parallel")]
    fn value(
        &mut self,
        subject: &PlannedResource<'_>,
        place: ExpressionContext<'p, '_>,
        slot: &Slot<'_>,
        node: &Node,
        unknown: &serde_json::Value,
        sensitive: &serde_json::Value,
        depth: usize,
    ) -> Value {
        if is_true(sensitive) {
            return Value::unknown(Cause::Secret.because("it is sensitive")).at(node.span);
        }
        if is_true(unknown) || depth > limits::MAX_PLAN_DEPTH {
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
                        // `later` returned the whole map because it does not know the key, which is known here.
                        let value = value.get(key).cloned().unwrap_or(value);
                        all.push((key.as_str().into(), value));
                    }
                }
                Value::map(all)
            }
        };
        value.at(node.span)
    }

    /// Returns a string; a link if it is the ARN or URL of a resource; or a policy with its links resolved.
    fn text(&self, text: &Arc<str>) -> Value {
        if let Some((id, attribute)) = self.identities.get(text) {
            return ValueKind::Reference(id.clone(), attribute.clone()).into();
        }
        let literal = Value::text(text.clone());
        if text.starts_with('{') && text.contains("arn:") {
            let mut changed = false;
            if let Ok(decoded) = decode(&literal) {
                let decoded = self.linked_texts(decoded, &mut changed, 0);
                if changed {
                    return ValueKind::Encoded(Arc::new(decoded)).into();
                }
            }
        }
        literal
    }

    fn linked_texts(&self, value: Value, changed: &mut bool, depth: usize) -> Value {
        if depth > limits::MAX_PLAN_DEPTH {
            return value;
        }
        match &value.kind {
            ValueKind::Text(text) => match self.identities.get(text) {
                Some((id, attribute)) => {
                    *changed = true;
                    ValueKind::Reference(id.clone(), attribute.clone()).into()
                }
                None => value,
            },
            ValueKind::List(items) => {
                let items = items
                    .iter()
                    .map(|item| self.linked_texts(item.clone(), changed, depth + 1));
                Value::list(items.collect())
            }
            ValueKind::Map(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| (key.clone(), self.linked_texts(value.clone(), changed, depth + 1)));
                Value::map(entries.collect())
            }
            _ => value,
        }
    }
}

/// Returns a block with the strings among `values`: the names that a data source looks up.
pub(crate) fn literals(values: &Node) -> Block {
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
    let body = Body {
        attributes: texts.collect(),
        ..Body::default()
    };
    Block::unlabelled("data", body, values.span)
}

/// Returns `true` if an entry sets nothing: null, an empty string, tags that `tags_all` repeats, an attribute that only
/// AWS sets, or a default that the configuration does not set.
fn is_unset(subject: &PlannedResource<'_>, level: &Level<'_>, argument: Option<&Argument>, entry: &Entry) -> bool {
    let name = &*entry.key;
    match &entry.value.value {
        Json::Null => return true,
        Json::String(text) if text.is_empty() => return true,
        // An empty list and the absence of nested blocks look the same.
        Json::Sequence(items) if items.is_empty() => return !is_true(under(level.unknown, name)),
        _ => {}
    }
    if name == "tags" && level.depth == 0 && has_all_tags(level.entries) {
        return true;
    }
    if argument.is_some() || level.depth > 0 {
        return false;
    }
    let target = &*subject.id.kind == "aws_cloudwatch_event_target" && name == "arn" && level.arguments.is_none();
    if IDENTITY.contains(&name) && !target {
        return true;
    }
    // Without a configuration, a state contains the deployed values but not whether they were set explicitly.
    level.arguments.is_some() && is_default(&subject.id.kind, name, &entry.value.value)
}

/// Returns `true` if `entries` contain the tags of the resource together with those of its provider.
fn has_all_tags(entries: &[Entry]) -> bool {
    let mut all = entries.iter().filter(|entry| &*entry.key == "tags_all");
    all.any(|entry| !matches!(entry.value.value, Json::Null))
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

/// Returns the resources that an argument with this name may link to, each once.
fn linked(name: &str, found: &Targets) -> Vec<(Arc<ResourceId>, Option<String>)> {
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
    for (id, attribute) in &found.resources {
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

/// Returns a redrive policy with a known target only. With `counts`, it also has an unknown `maxReceiveCount`.
fn encoded_policy(target: Value, counts: bool) -> Value {
    let reason = Cause::KnownAfterApply
        .because("a plan does not hold `maxReceiveCount` beside the ARN of a queue that is not there yet");
    let count = counts.then(|| ("maxReceiveCount".into(), Value::unknown(reason)));
    let target = ("deadLetterTargetArn".into(), target);
    let policy = Value::map([target].into_iter().chain(count).collect());
    ValueKind::Encoded(Arc::new(policy)).into()
}

/// Returns container definitions in which only the referenced queues are known. The queues are assumed to be
/// environment variables of the containers.
fn containers(name: &str, found: &Targets) -> Option<Value> {
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
            ("value".into(), ValueKind::Reference(id, "arn".into()).into()),
        ])
    });
    let variables: Vec<Value> = variables.collect();
    if variables.is_empty() {
        return None;
    }
    let container = Value::map(vec![("environment".into(), Value::list(variables))]);
    Some(ValueKind::Encoded(Arc::new(Value::list(vec![container]))).into())
}

/// Returns `true` if an argument with this name is a policy.
fn is_document(name: &str) -> bool {
    matches!(name, "policy" | "assume_role_policy")
}

/// Returns `true` if blocks with this name keep their order.
fn is_list(subject: &PlannedResource<'_>, name: &str) -> bool {
    &*subject.id.kind == "aws_iam_policy_document" && name == "statement"
}

/// Returns a value as an argument: at its span in the module with the plan as origin, or at its span in the plan.
fn attribute(slot: &Slot<'_>, mut value: Value) -> Attribute {
    let span = slot.source.unwrap_or(slot.planned);
    if slot.source.is_some() {
        value.origins = Trail::default().before(slot.planned, "the plan");
    }
    Attribute::known(slot.name, ExpressionKind::Known(Box::new(value)), span)
}

/// Adds an argument, or nested blocks, with an unknown value and the reason.
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
            labels,
            ..Block::unlabelled(kind, body, span)
        })
    };
    let content = Body {
        attributes: vec![for_each],
        blocks: vec![empty("content", Vec::new(), Body::default())],
        ..Body::default()
    };
    body.blocks.push(empty("dynamic", vec![slot.name.into()], content));
}

/// Returns the items if they are nested blocks, which a plan represents as a list of objects.
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

/// Returns the part of a tree of marks under `key`. A mark applies to everything under it.
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
