//! Inlines definitions of state machines in separate files, which the CLIs upload when they package a template: the
//! content of a local file replaces its name, before anything else is evaluated.
//!
//! The name stays if the file does not exist, is outside the project, or becomes JSON or YAML only after substitutions.

use super::local;
use crate::limits;
use source::Sources;
use source::reading::read;
use std::borrow::Cow;
use std::path::Path;
use trees::parsed;
use trees::{Entry, Node, Value};

/// Types of state machines, with the property that names the file.
const MACHINES: [(&str, &str); 2] = [
    ("AWS::Serverless::StateMachine", "DefinitionUri"),
    ("AWS::StepFunctions::StateMachine", "DefinitionS3Location"),
];

/// Returns `root`, the document at `path`, with its definitions inlined.
pub(crate) fn placed<'d>(root: Cow<'d, Node>, path: &Path, sources: &Sources) -> Cow<'d, Node> {
    let resources = root.get("Resources").and_then(Node::entries).unwrap_or_default();
    let machines = resources.iter().enumerate().filter_map(|(at, resource)| {
        let location = location(&resource.value)?;
        Some((at, definition(&location.value, path, sources)?))
    });
    let found: Vec<(usize, Node)> = machines.take(limits::MAX_DEFINITION_FILES).collect();
    if found.is_empty() {
        return root;
    }
    let mut root = root.into_owned();
    for (at, definition) in found {
        let resource = section(&mut root, "Resources").and_then(|resources| entries(resources)?.get_mut(at));
        let key = resource
            .as_ref()
            .and_then(|resource| Some(location(&resource.value)?.key.clone()));
        let properties = resource.and_then(|resource| entries(section(&mut resource.value, "Properties")?));
        let property = properties
            .into_iter()
            .flatten()
            .find(|entry| Some(&entry.key) == key.as_ref());
        if let Some(property) = property {
            property.key = "Definition".into();
            property.value = definition;
        }
    }
    Cow::Owned(root)
}

/// Returns the property of a state machine that names the file of its definition.
fn location(resource: &Node) -> Option<&Entry> {
    let kind = resource.get("Type")?.as_str()?;
    let (_, key) = MACHINES.iter().find(|(machine, _)| *machine == kind)?;
    resource.get("Properties")?.entry(key)
}

/// Returns the content of the file at `location`.
fn definition(location: &Node, from: &Path, sources: &Sources) -> Option<Node> {
    let path = local::file(location.as_str()?, from, sources).ok()?;
    let file = read(&path, sources).ok()?;
    let source = sources.file(file);
    if source.text().len() > limits::MAX_DEFINITION_SIZE {
        return None;
    }
    let parsed = parsed::tree(file, &source);
    let is_whole = parsed.errors.is_empty() && parsed.limits.is_empty();
    let definition = parsed.documents.first().filter(|_| is_whole)?;
    definition.entries().is_some().then(|| definition.clone())
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
