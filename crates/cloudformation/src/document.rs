//! Readings of single nodes of a document that no evaluation is needed for: functions, loops, scalars, macros.

use trees::{Entry, Node, Value};

/// Beginning of the key of a loop.
pub(crate) const PREFIX: &str = "Fn::ForEach::";
/// Key under which a resource keeps the collections and items of its loops.
pub(crate) const MARK: &str = "Fn::ForEach";

/// Returns the name and the argument of an intrinsic function.
pub fn intrinsic(node: &Node) -> Option<(&str, &Node)> {
    let [entry] = node.entries()? else { return None };
    let is_function = &*entry.key == "Ref" || (entry.key.starts_with("Fn::") && !entry.key.starts_with(PREFIX));
    is_function.then_some((&*entry.key, &entry.value))
}

/// Returns `true` if a macro replaces `node`. An include only adds to it.
pub(crate) fn is_transformed(node: &Node) -> bool {
    let transform = functions(node).find(|entry| &*entry.key == "Fn::Transform");
    let name = transform.and_then(|transform| transform.value.get("Name"));
    name.is_some_and(|name| name.as_str() != Some("AWS::Include"))
}

/// Returns the entries of `node` that are named like functions; almost no mapping has one next to other keys.
pub(crate) fn functions(node: &Node) -> impl Iterator<Item = &Entry> {
    let entries = node.entries().unwrap_or_default().iter();
    entries.filter(|entry| entry.key.starts_with("Fn::"))
}

/// Returns `true` if a build step merges fragments into `document`: it has `Globals` and no resource, or its resources
/// are written in a way that CloudFormation does not know (`Resources: !YAMLInclude queues.yaml`).
pub(crate) fn is_frame(document: &Node) -> bool {
    let Some(resources) = document.get("Resources") else {
        return document.get("Globals").is_some();
    };
    match (&resources.value, intrinsic(resources)) {
        (Value::String(_) | Value::Sequence(_), _) => true,
        (_, Some((name, _))) => name != "Fn::Transform",
        _ => false,
    }
}

/// Returns the record of the loops that produced `resource`.
pub(crate) fn marks(resource: &Node) -> &[Node] {
    resource.get(MARK).and_then(Node::items).unwrap_or_default()
}

/// Renders a scalar as CloudFormation does.
pub fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Value::Bool(value) => Some(value.to_string()),
        Value::Integer(value) => Some(value.to_string()),
        Value::Float(value) => Some(value.to_string()),
        Value::String(text) => Some(text.to_string()),
        Value::Null | Value::Sequence(_) | Value::Mapping(_) => None,
    }
}
