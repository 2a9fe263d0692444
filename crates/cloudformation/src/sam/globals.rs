//! Merges sections of `Globals` into every resource of their type. Scalars and functions of the resource take
//! precedence, objects are merged key by key, lists are joined with those of `Globals` first.

use super::making::{At, with_properties};
use crate::document::scalar;
use trees::{Entry, Node, Value};

/// Returns a resource merged with the `Globals` of `root` for its type.
pub(super) fn merged(root: &Node, entry: &Entry) -> Entry {
    let section = super::kind(entry).strip_prefix("AWS::Serverless::");
    let globals = section.and_then(|section| root.get("Globals")?.get(section)?.entries());
    let Some(globals) = globals else {
        return entry.clone();
    };
    let is_ignored = |key: &str| match entry
        .value
        .get("IgnoreGlobals")
        .map(|node| (scalar(node), node.items()))
    {
        Some((Some(all), _)) => all == "*",
        Some((None, Some(keys))) => keys.iter().any(|ignored| ignored.as_str() == Some(key)),
        _ => false,
    };
    let globals: Vec<Entry> = globals
        .iter()
        .filter(|global| !is_ignored(&global.key))
        .cloned()
        .collect();
    let properties = entry.value.get("Properties");
    match properties.map(|node| &node.value) {
        Some(Value::Mapping(own)) if !is_function(own) => with_properties(entry, merge(&globals, own)),
        None | Some(Value::Null) => with_properties(&without_null(entry), globals),
        Some(_) => entry.clone(),
    }
}

/// Replaces an empty `Properties:` by an empty object.
fn without_null(entry: &Entry) -> Entry {
    let mut entry = entry.clone();
    let at = At(entry.key_span);
    if let Value::Mapping(attributes) = &mut entry.value.value {
        attributes.retain(|attribute| &*attribute.key != "Properties");
        attributes.push(at.entry("Properties", at.object(Vec::new())));
    }
    entry
}

fn merge(globals: &[Entry], own: &[Entry]) -> Vec<Entry> {
    let mut all: Vec<Entry> = globals.to_vec();
    for entry in own {
        match all.iter_mut().find(|global| global.key == entry.key) {
            Some(global) => *global = both(global, entry),
            None => all.push(entry.clone()),
        }
    }
    all
}

fn both(global: &Entry, own: &Entry) -> Entry {
    let value = match (&global.value.value, &own.value.value) {
        (Value::Mapping(globals), Value::Mapping(owns)) if !is_function(globals) && !is_function(owns) => {
            Value::Mapping(merge(globals, owns))
        }
        (Value::Sequence(globals), Value::Sequence(owns)) => {
            Value::Sequence(globals.iter().chain(owns).cloned().collect())
        }
        _ => return own.clone(),
    };
    Entry {
        value: Node::new(own.value.span, value),
        ..own.clone()
    }
}

/// Returns `true` if an object is an intrinsic function, which counts as a scalar.
fn is_function(entries: &[Entry]) -> bool {
    matches!(entries, [only] if matches!(&*only.key, "Ref" | "Condition") || only.key.starts_with("Fn::"))
}
