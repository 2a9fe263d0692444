//! Builds trees whose nodes all have the span of one location in the author's text.

use super::MADE;
use source::Span;
use std::sync::Arc;
use trees::{Entry, Node, Value};

/// Span of all nodes built with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct At(pub(super) Span);

impl At {
    pub(super) fn text(self, text: impl Into<Arc<str>>) -> Node {
        self.node(Value::String(text.into()))
    }

    pub(super) fn flag(self, value: bool) -> Node {
        self.node(Value::Bool(value))
    }

    pub(super) fn list(self, items: Vec<Node>) -> Node {
        self.node(Value::Sequence(items))
    }

    pub(super) fn object(self, entries: Vec<Entry>) -> Node {
        self.node(Value::Mapping(entries))
    }

    pub(super) fn entry(self, key: impl Into<Arc<str>>, value: Node) -> Entry {
        Entry::new(key, self.0, value)
    }

    /// Builds an object with a single entry, such as an intrinsic function.
    pub(super) fn function(self, name: &str, argument: Node) -> Node {
        self.object(vec![self.entry(name, argument)])
    }

    pub(super) fn reference(self, id: &str) -> Node {
        self.function("Ref", self.text(id))
    }

    pub(super) fn attribute(self, id: &str, attribute: &str) -> Node {
        self.function("Fn::GetAtt", self.list(vec![self.text(id), self.text(attribute)]))
    }

    /// Builds a policy document with one statement.
    pub(super) fn document(self, statement: Vec<Entry>) -> Node {
        self.object(vec![self.entry("Statement", self.list(vec![self.object(statement)]))])
    }

    /// Builds a statement that allows `actions` on `resource`.
    pub(super) fn allow(self, actions: &[&str], resource: Node) -> Vec<Entry> {
        let actions = actions.iter().map(|action| self.text(*action)).collect();
        vec![
            self.entry("Effect", self.text("Allow")),
            self.entry("Action", self.list(actions)),
            self.entry("Resource", resource),
        ]
    }

    /// Builds a policy of a role.
    pub(super) fn policy(self, name: String, document: Node) -> Node {
        self.object(vec![
            self.entry("PolicyName", self.text(name)),
            self.entry("PolicyDocument", document),
        ])
    }

    /// Builds a resource that is generated for `purpose`.
    pub(super) fn resource(
        self,
        id: impl Into<Arc<str>>,
        kind: &str,
        condition: Option<&Node>,
        properties: Vec<Entry>,
        purpose: Node,
    ) -> Entry {
        let mut attributes = vec![
            self.entry("Type", self.text(kind)),
            self.entry("Properties", self.object(properties)),
            self.entry(MADE, purpose),
        ];
        attributes.extend(condition.map(|condition| self.entry("Condition", condition.clone())));
        self.entry(id, self.object(attributes))
    }

    fn node(self, value: Value) -> Node {
        Node { span: self.0, value }
    }
}

/// A function or state machine for which resources are generated.
pub(super) struct Owner {
    pub(super) id: Arc<str>,
    pub(super) at: At,
    pub(super) condition: Option<Node>,
    /// `true` if it does not share `Globals` with others, because it ignores a part of them.
    pub(super) is_detached: bool,
}

impl Owner {
    pub(super) fn of(entry: &Entry) -> Self {
        Owner {
            id: entry.key.clone(),
            at: At(entry.key_span),
            condition: entry.value.get("Condition").cloned(),
            is_detached: entry.value.get("IgnoreGlobals").is_some(),
        }
    }
}

/// Returns an entry with another key and the same span.
pub(super) fn renamed(entry: &Entry, key: &str) -> Entry {
    Entry {
        key: key.into(),
        ..entry.clone()
    }
}

/// Returns the value of `key` in an object, adding an empty object if it is missing, or `None` if `node` is not an
/// object.
pub(super) fn child<'n>(node: &'n mut Node, key: &str, at: At) -> Option<&'n mut Node> {
    let Value::Mapping(entries) = &mut node.value else {
        return None;
    };
    let place = entries.iter().position(|entry| &*entry.key == key).unwrap_or_else(|| {
        entries.push(at.entry(key, at.object(Vec::new())));
        entries.len() - 1
    });
    entries.get_mut(place).map(|entry| &mut entry.value)
}

/// Adds an attribute to a resource.
pub(super) fn add(resource: &mut Entry, attribute: &Entry) {
    if let Value::Mapping(attributes) = &mut resource.value.value {
        attributes.push(attribute.clone());
    }
}

/// Returns the properties of a resource or an event.
pub(super) fn properties(entry: &Entry) -> &[Entry] {
    let properties = entry.value.get("Properties").and_then(Node::entries);
    properties.unwrap_or_default()
}

/// Returns a resource with its properties replaced.
pub(super) fn with_properties(entry: &Entry, properties: Vec<Entry>) -> Entry {
    let mut entry = entry.clone();
    let at = At(entry.key_span);
    if let Some(node) = child(&mut entry.value, "Properties", at) {
        node.value = Value::Mapping(properties);
    }
    entry
}

/// Returns a text that is equal for trees with equal content, whatever their spans and the order of their keys.
pub(super) fn outline(node: &Node) -> String {
    match &node.value {
        Value::Sequence(items) => items.iter().map(|item| format!("[{}]", outline(item))).collect(),
        Value::Mapping(entries) => {
            let mut keys: Vec<String> = entries
                .iter()
                .map(|entry| format!("{{{}: {}}}", entry.key, outline(&entry.value)))
                .collect();
            keys.sort();
            keys.concat()
        }
        other => format!("{other:?}"),
    }
}
