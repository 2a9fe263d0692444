//! Performs the SAM transform on the tree of a template: merges `Globals`, and replaces events, policies, destinations
//! and connectors by the resources that the transform generates, with the ids that it gives them.
//!
//! A generated resource has the span of the event or function that causes it, and values keep their spans, so the rest
//! of the frontend reads plain CloudFormation and still points into the author's text. Functions and state machines
//! keep their SAM types. Only resources that matter to queues are generated; APIs, tables and layers are ignored. It
//! evaluates nothing except the few parameters that the transform itself resolves.
//! <https://github.com/aws/serverless-application-model>, version 1.110.0

mod connectors;
mod events;
mod functions;
mod globals;
mod invoke;
mod machines;
mod making;
mod names;
mod policies;

use super::document::{MARK, scalar};
use super::parameters::Values;
use making::{At, Owner};
use policies::Grants;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Attribute of generated resources, which no author can write by accident. Its value states the purpose.
pub(crate) const MADE: &str = "made by the transform for";

/// A queue for `SqsSubscription: true`.
const FOR_SUBSCRIPTION: &str = "SqsSubscription";
/// A queue for `Type: SQS`.
const FOR_DESTINATION: &str = "Destination";
/// A mapping of an event whose type names a source other than a queue.
const FOR_STREAM: &str = "Stream";

/// Purposes for which the SAM transform generates a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implicit {
    /// `SqsSubscription: true` in an event of a function.
    Subscription,
    /// `Type: SQS` without a queue, as a destination for failures or successes.
    Destination,
}

/// Returns the purpose of a generated queue, by its attribute `made`.
pub fn implicit(made: Option<&Node>) -> Option<Implicit> {
    match made?.as_str()? {
        FOR_SUBSCRIPTION => Some(Implicit::Subscription),
        FOR_DESTINATION => Some(Implicit::Destination),
        _ => None,
    }
}

/// Returns the span of an `Enabled: false` that the transform drops from the mapping with the attribute `made`.
pub fn ignored_disabling(made: Option<&Node>) -> Option<Span> {
    let made = made?;
    (made.value == Value::Bool(false)).then_some(made.span)
}

/// Returns `true` if the mapping with the attribute `made` is of an event whose type names a source other than a queue.
pub fn is_of_stream(made: Option<&Node>) -> bool {
    made.and_then(Node::as_str) == Some(FOR_STREAM)
}

/// State of a running transform.
struct Transform<'a> {
    root: &'a Node,
    values: &'a Values,
    /// Generated resources since the list was last drained.
    made: Vec<Entry>,
    /// Generated conditions.
    conditions: Vec<Entry>,
    /// Notifications of functions with their bucket, in the order of the events.
    notifications: Vec<(Arc<str>, Node)>,
    /// Ids of generated resources by their alias, such as `Orders.Alias`.
    names: FxHashMap<String, Arc<str>>,
    /// The span of `Globals`.
    globals: Option<Span>,
    /// Destinations generated for `Globals`, by their span there.
    shared: FxHashMap<Span, Node>,
}

/// Returns the transformed template, or `None` if `root` does not use SAM.
pub fn transform(root: &Node, values: &Values) -> Option<Node> {
    if !is_for_sam(root) {
        return None;
    }
    let mut transform = Transform {
        root,
        values,
        made: Vec::new(),
        conditions: Vec::new(),
        notifications: Vec::new(),
        names: FxHashMap::default(),
        globals: root.entry("Globals").map(Entry::span),
        shared: FxHashMap::default(),
    };
    let resources = transform.resources();
    let mut sections: Vec<Entry> = root.entries()?.to_vec();
    if let Some(section) = sections.iter_mut().find(|section| &*section.key == "Resources") {
        section.value.value = Value::Mapping(resources);
    }
    transform.add_conditions(&mut sections);
    let mut root = Node::new(root.span, Value::Mapping(sections));
    if !transform.names.is_empty() {
        names::replace(&mut root, &transform.names, 0);
    }
    Some(root)
}

fn is_for_sam(root: &Node) -> bool {
    let transforms = root.get("Transform");
    let mut transforms = transforms
        .into_iter()
        .flat_map(|node| node.items().unwrap_or(std::slice::from_ref(node)));
    let resources = root.get("Resources").and_then(Node::entries).unwrap_or_default();
    transforms.any(|name| name.as_str().is_some_and(|name| name.starts_with("AWS::Serverless")))
        || resources
            .iter()
            .any(|entry| kind(entry).starts_with("AWS::Serverless::"))
}

/// Returns the type of a resource.
fn kind(entry: &Entry) -> &str {
    entry.value.get("Type").and_then(Node::as_str).unwrap_or_default()
}

impl<'a> Transform<'a> {
    fn resources(&mut self) -> Vec<Entry> {
        let root: &'a Node = self.root;
        let written = root.get("Resources").and_then(Node::entries).unwrap_or_default();
        let merged: Vec<Entry> = written.iter().map(|entry| globals::merged(root, entry)).collect();
        let mut taken: FxHashSet<Arc<str>> = written.iter().map(|entry| entry.key.clone()).collect();
        let mut all: Vec<Entry> = Vec::with_capacity(merged.len());
        let mut places: FxHashMap<Arc<str>, usize> = FxHashMap::default();
        let mut take = |all: &mut Vec<Entry>, made: &mut Vec<Entry>| {
            for entry in made.drain(..) {
                // If several resources are generated under one id, the last one wins.
                if let Some(known) = places.get(&entry.key).and_then(|&at| all.get_mut(at)) {
                    *known = entry;
                } else if taken.insert(entry.key.clone()) {
                    places.insert(entry.key.clone(), all.len());
                    all.push(entry);
                }
            }
        };
        for entry in &merged {
            match kind(entry) {
                "AWS::Serverless::Function" => all.push(self.function(entry)),
                "AWS::Serverless::StateMachine" => all.push(self.state_machine(entry)),
                "AWS::Serverless::Connector" => {}
                "AWS::Serverless::CapacityProvider" => {
                    self.operator_role(entry);
                    all.push(entry.clone());
                }
                _ => all.push(entry.clone()),
            }
            if let Some(mark) = entry.value.entry(MARK) {
                self.made.iter_mut().for_each(|made| making::add(made, mark));
            }
            take(&mut all, &mut self.made);
        }
        self.connectors(&merged, &all);
        take(&mut all, &mut self.made);
        for entry in &mut all {
            self.notify(entry);
        }
        all
    }

    /// Generates the role of a capacity provider that does not set one.
    fn operator_role(&mut self, entry: &Entry) {
        let properties = entry.value.get("Properties");
        if properties.is_none_or(|properties| properties.get("OperatorRole").is_none()) {
            let owner = Owner::of(entry);
            let mut grants = Grants::default();
            grants.service_role("AWSLambdaManagedEC2ResourceOperator", owner.at);
            let id = format!("{}OperatorRole", owner.id);
            self.make(
                owner.at,
                &id,
                "AWS::IAM::Role",
                &owner,
                grants.role_properties(owner.at),
            );
        }
    }

    /// Adds to a bucket the functions whose events name it.
    fn notify(&mut self, entry: &mut Entry) {
        if kind(entry) != "AWS::S3::Bucket" {
            return;
        }
        let functions = self.notifications.iter().filter(|(bucket, _)| *bucket == entry.key);
        let functions: Vec<Node> = functions.map(|(_, function)| function.clone()).collect();
        if functions.is_empty() {
            return;
        }
        let at = At(entry.key_span);
        let properties = making::child(&mut entry.value, "Properties", at);
        let notifications = properties.map(|node| making::child(node, "NotificationConfiguration", at));
        let Some(Some(notifications)) = notifications else {
            return;
        };
        let Value::Mapping(entries) = &mut notifications.value else {
            return;
        };
        if entries.iter().all(|entry| &*entry.key != "LambdaConfigurations") {
            entries.push(at.entry("LambdaConfigurations", at.list(Vec::new())));
        }
        for entry in entries.iter_mut().filter(|entry| &*entry.key == "LambdaConfigurations") {
            let Value::Sequence(items) = &mut entry.value.value else {
                return;
            };
            let mut known: FxHashSet<String> = items.iter().map(making::outline).collect();
            items.extend(functions.iter().filter(|f| known.insert(making::outline(f))).cloned());
        }
    }

    fn add_conditions(&mut self, sections: &mut Vec<Entry>) {
        if self.conditions.is_empty() {
            return;
        }
        let mut made = std::mem::take(&mut self.conditions);
        if let Some(section) = sections.iter_mut().find(|section| &*section.key == "Conditions") {
            if let Value::Mapping(entries) = &mut section.value.value {
                entries.append(&mut made);
            }
        } else {
            let at = At(self.root.span);
            sections.push(at.entry("Conditions", at.object(made)));
        }
    }

    /// Returns a literal text, or the value of the parameter that it refers to, as the transform resolves it.
    fn literal(&self, node: &Node) -> Option<String> {
        let name = match node.entries() {
            Some([entry]) if &*entry.key == "Ref" => entry.value.as_str()?,
            _ => return scalar(node),
        };
        match self.values.parameters.get(name) {
            Some(supplied) => supplied.value.as_ref().ok().map(ToString::to_string),
            None => scalar(self.root.get("Parameters")?.get(name)?.get("Default")?),
        }
    }

    /// Returns the name of a generated condition that is the negation of `condition`.
    fn negated(&mut self, condition: &str, at: At) -> String {
        let name = format!("not {condition}");
        let formula = at.function("Fn::Not", at.list(vec![at.function("Condition", at.text(condition))]));
        self.add_condition(&name, formula, at);
        name
    }

    /// Returns the name of a condition that holds if both that of `owner` and `condition` hold.
    fn both(&mut self, owner: &Owner, condition: &str, at: At) -> String {
        let Some(other) = owner.condition.as_ref().and_then(Node::as_str) else {
            return condition.to_owned();
        };
        let name = format!("{other} and {condition}");
        let operands = [other, condition].map(|name| at.function("Condition", at.text(name)));
        self.add_condition(&name, at.function("Fn::And", at.list(operands.to_vec())), at);
        name
    }

    fn add_condition(&mut self, name: &str, formula: Node, at: At) {
        if self.conditions.iter().all(|known| &*known.key != name) {
            self.conditions.push(at.entry(name, formula));
        }
    }
}

/// Returns the branches of `Fn::If`, with the name of its condition.
fn branches(node: &Node) -> Option<(&str, &Node, &Node)> {
    let [entry] = node.entries()? else { return None };
    match entry.value.items()? {
        [condition, yes, no] if &*entry.key == "Fn::If" => Some((condition.as_str()?, yes, no)),
        _ => None,
    }
}

/// Returns `true` if a value is `!Ref AWS::NoValue`.
fn is_no_value(node: &Node) -> bool {
    matches!(node.entries(), Some([entry]) if &*entry.key == "Ref" && entry.value.as_str() == Some("AWS::NoValue"))
}

/// Returns the resource that `Ref` or `Fn::GetAtt` names.
fn referred(node: &Node) -> Option<&str> {
    let [entry] = node.entries()? else { return None };
    match (&*entry.key, entry.value.items()) {
        ("Ref", _) => entry.value.as_str(),
        ("Fn::GetAtt", Some([id, ..])) => id.as_str(),
        ("Fn::GetAtt", _) => entry.value.as_str()?.split('.').next(),
        _ => None,
    }
}
