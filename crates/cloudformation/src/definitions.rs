//! Inlines definitions of state machines and APIs in separate files, which the CLIs upload when they package a template:
//! the content of a local file replaces its name, before anything else is evaluated.
//!
//! The name stays if the file does not exist, is outside the project, or becomes JSON or YAML only after substitutions,
//! or if the file contains intrinsic functions, which are not evaluated in uploaded files.

use super::local;
use crate::limits;
use source::Sources;
use source::reading::read;
use std::borrow::Cow;
use std::path::Path;
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

/// Returns `root`, the document at `path`, with its definitions inlined.
pub(crate) fn placed<'d>(root: Cow<'d, Node>, path: &Path, sources: &Sources) -> Cow<'d, Node> {
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
