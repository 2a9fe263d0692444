//! Inlines definitions of state machines and APIs in separate files, which the CLIs upload when they package a template:
//! the content of a local file replaces its name, before anything else is evaluated.
//!
//! The name stays if the file does not exist, is outside the project, or becomes JSON or YAML only after substitutions,
//! or if the file contains intrinsic functions, which are not evaluated in uploaded files.
//!
//! In the definition of a state machine, a value of `DefinitionSubstitutions` replaces each `${Name}` in a text:
//!
//! ```text
//! QueueUrl: ${Queue}            becomes   QueueUrl: !Ref Orders
//! Comment: from ${Queue}        becomes   Comment: {Fn::Join: ["", ["from ", !Ref Orders]]}
//! ```

use super::local;
use crate::limits;
use source::reading::read;
use source::{Sources, Span};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use trees::parsed;
use trees::{Entry, Node, Value};

/// Types of resources, with the property that names the file and the one that contains a definition.
const DEFINED: [(&str, &str, &str); 6] = [
    ("AWS::Serverless::StateMachine", "DefinitionUri", "Definition"),
    ("AWS::StepFunctions::StateMachine", "DefinitionS3Location", "Definition"),
    ("AWS::Serverless::Api", "DefinitionUri", "DefinitionBody"),
    ("AWS::Serverless::HttpApi", "DefinitionUri", "DefinitionBody"),
    ("AWS::ApiGateway::RestApi", "BodyS3Location", "Body"),
    ("AWS::ApiGatewayV2::Api", "BodyS3Location", "Body"),
];

/// Property of a state machine with the values that replace placeholders in its definition.
const SUBSTITUTIONS: &str = "DefinitionSubstitutions";
/// Properties with the definition of a state machine.
const SUBSTITUTED: [&str; 2] = ["Definition", "DefinitionString"];

/// Returns `root`, the document at `path`, with its definitions inlined and their placeholders replaced.
pub(crate) fn placed<'d>(root: Cow<'d, Node>, path: &Path, sources: &Sources) -> Cow<'d, Node> {
    substituted(inlined(root, path, sources))
}

/// Returns `root` with the placeholders of its definitions replaced.
pub(crate) fn substituted(root: Cow<'_, Node>) -> Cow<'_, Node> {
    let resources = root.get("Resources").and_then(Node::entries).unwrap_or_default();
    let values = |resource: &Node| Some(resource.get("Properties")?.get(SUBSTITUTIONS)?.entries()?.to_vec());
    let found = resources.iter().enumerate();
    let found: Vec<(usize, Vec<Entry>)> = found.filter_map(|(at, one)| Some((at, values(&one.value)?))).collect();
    if found.is_empty() {
        return root;
    }
    let mut root = root.into_owned();
    for (at, values) in found {
        let resource = section(&mut root, "Resources").and_then(|resources| entries(resources)?.get_mut(at));
        let properties = resource.and_then(|resource| entries(section(&mut resource.value, "Properties")?));
        let mut left = limits::MAX_SUBSTITUTIONS;
        for property in properties.into_iter().flatten() {
            if SUBSTITUTED.contains(&&*property.key) {
                substitute(&mut property.value, &values, &mut left);
            }
        }
    }
    Cow::Owned(root)
}

/// Replaces the placeholders of `values` in the texts of `node`, `left` of them at most.
fn substitute(node: &mut Node, values: &[Entry], left: &mut usize) {
    match &mut node.value {
        Value::Mapping(entries) => {
            // Text of `Fn::Sub` has placeholders of its own.
            let entries = entries.iter_mut().filter(|entry| &*entry.key != "Fn::Sub");
            entries.for_each(|entry| substitute(&mut entry.value, values, left));
        }
        Value::Sequence(items) => items.iter_mut().for_each(|item| substitute(item, values, left)),
        Value::String(text) if text.contains("${") => {
            let pieces = pieces(text, node.span, values, left);
            match <[Node; 1]>::try_from(pieces) {
                Ok([only]) => *node = only,
                Err(pieces) => {
                    let new = |value| Node::new(node.span, value);
                    let parts = vec![new(Value::String("".into())), new(Value::Sequence(pieces))];
                    let entry = Entry::new("Fn::Join", node.span, new(Value::Sequence(parts)));
                    node.value = Value::Mapping(vec![entry]);
                }
            }
        }
        _ => {}
    }
}

/// Splits `text` into the pieces between placeholders and the values of those.
fn pieces(text: &Arc<str>, span: Span, values: &[Entry], left: &mut usize) -> Vec<Node> {
    let literal = |text: &str| Node::new(span, Value::String(text.into()));
    let mut pieces = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some(at) = text[from..].find("${").map(|at| from + at) {
        from = at + 2;
        let Some(end) = text[from..].find('}').map(|end| from + end) else {
            break;
        };
        let value = values.iter().find(|entry| *entry.key == text[from..end]);
        let Some(value) = value.filter(|value| *left > 0 && is_small(&value.value)) else {
            continue;
        };
        *left -= 1;
        if start < at {
            pieces.push(literal(&text[start..at]));
        }
        pieces.push(value.value.clone());
        (start, from) = (end + 1, end + 1);
    }
    if start < text.len() {
        pieces.push(literal(&text[start..]));
    }
    pieces
}

/// Returns `true` if `node` can be copied many times.
fn is_small(node: &Node) -> bool {
    fn count(node: &Node, left: usize) -> Option<usize> {
        let inner = node.entries().into_iter().flatten().map(|entry| &entry.value);
        let mut inner = inner.chain(node.items().into_iter().flatten());
        inner.try_fold(left.checked_sub(1)?, |left, node| count(node, left))
    }
    count(node, 32).is_some()
}

/// Returns `root`, the document at `path`, with its definitions inlined.
fn inlined<'d>(root: Cow<'d, Node>, path: &Path, sources: &Sources) -> Cow<'d, Node> {
    let resources = root.get("Resources").and_then(Node::entries).unwrap_or_default();
    let defined = resources.iter().enumerate().filter_map(|(at, resource)| {
        let (location, _) = location(&resource.value)?;
        Some((at, definition(&location.value, path, sources)?))
    });
    let found: Vec<(usize, Node)> = defined.take(limits::MAX_DEFINITION_FILES).collect();
    if found.is_empty() {
        return root;
    }
    let mut root = root.into_owned();
    for (at, definition) in found {
        let resource = section(&mut root, "Resources").and_then(|resources| entries(resources)?.get_mut(at));
        let keys = resource.as_ref().and_then(|resource| {
            let (entry, inlined) = location(&resource.value)?;
            Some((entry.key.clone(), inlined))
        });
        let properties = resource.and_then(|resource| entries(section(&mut resource.value, "Properties")?));
        let Some(((key, inlined), properties)) = keys.zip(properties) else {
            continue;
        };
        if let Some(property) = properties.iter_mut().find(|entry| entry.key == key) {
            property.key = inlined.into();
            property.value = definition;
        }
    }
    Cow::Owned(root)
}

/// Returns the property of a resource that names the file of its definition, and the property for its content.
fn location(resource: &Node) -> Option<(&Entry, &'static str)> {
    let kind = resource.get("Type")?.as_str()?;
    let (_, key, inlined) = DEFINED.iter().find(|(defined, ..)| *defined == kind)?;
    Some((resource.get("Properties")?.entry(key)?, inlined))
}

/// Returns the content of the file at `location`.
fn definition(location: &Node, from: &Path, sources: &Sources) -> Option<Node> {
    let path = local::file(location.as_str()?, from, sources).ok()?;
    let file = read(&path, sources).ok()?;
    let source = sources.file(file);
    let text = source.text();
    if text.len() > limits::MAX_DEFINITION_SIZE {
        return None;
    }
    let parsed = parsed::tree(file, &source);
    let is_whole = parsed.errors.is_empty() && parsed.limits.is_empty();
    let definition = parsed.documents.first().filter(|_| is_whole)?;
    (definition.entries().is_some() && !has_intrinsics(definition)).then(|| definition.clone())
}

/// Returns `true` if a part of `node` is an intrinsic function, in its long form or as a tag.
fn has_intrinsics(node: &Node) -> bool {
    let is_intrinsic = |entry: &Entry| &*entry.key == "Ref" || entry.key.starts_with("Fn::");
    let entries = node.entries().unwrap_or_default();
    entries
        .iter()
        .any(|entry| is_intrinsic(entry) || has_intrinsics(&entry.value))
        || node.items().unwrap_or_default().iter().any(has_intrinsics)
}

fn section<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let entry = entries(node)?.iter_mut().find(|entry| &*entry.key == key);
    entry.map(|entry| &mut entry.value)
}

fn entries(node: &mut Node) -> Option<&mut Vec<Entry>> {
    match &mut node.value {
        Value::Mapping(entries) => Some(entries),
        _ => None,
    }
}
