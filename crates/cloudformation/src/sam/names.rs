//! Replaces the names with which authors refer to generated resources of a function: `Orders.Alias`,
//! `Orders.DestinationQueue`.

use crate::limits;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use trees::{Node, Value};

/// Replaces `names` by ids in `Ref`, `Fn::GetAtt` and `Fn::Sub` below `node`.
pub(super) fn replace(node: &mut Node, names: &FxHashMap<String, Arc<str>>, depth: usize) {
    if depth > limits::MAX_NAME_SEARCH_DEPTH {
        return;
    }
    match &mut node.value {
        Value::Sequence(items) => {
            for item in items {
                replace(item, names, depth + 1);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                match &*entry.key {
                    "Ref" | "Fn::GetAtt" => in_reference(&mut entry.value, names),
                    "Fn::Sub" => in_text(&mut entry.value, names),
                    _ => {}
                }
                replace(&mut entry.value, names, depth + 1);
            }
        }
        _ => {}
    }
}

/// Replaces a name in `F.Alias`, `F.Alias.Name`, `[F.Alias, Name]`.
fn in_reference(node: &mut Node, names: &FxHashMap<String, Arc<str>>) {
    match &mut node.value {
        Value::String(text) => {
            if let Some(replaced) = replaced(text, names) {
                *text = replaced.into();
            }
        }
        Value::Sequence(items) => {
            if let Some(first) = items.first_mut() {
                in_reference(first, names);
            }
        }
        _ => {}
    }
}

/// Replaces names in the text of `Fn::Sub`, which may be followed by a map.
fn in_text(node: &mut Node, names: &FxHashMap<String, Arc<str>>) {
    let text = match &mut node.value {
        Value::String(text) => text,
        Value::Sequence(items) => match items.first_mut().map(|item| &mut item.value) {
            Some(Value::String(text)) => text,
            _ => return,
        },
        _ => return,
    };
    if !text.contains("${") {
        return;
    }
    let mut pieces = text.split("${");
    let mut all = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let name = piece.split('}').next().unwrap_or_default();
        let rest = piece.get(name.len()..).unwrap_or_default();
        all.push_str("${");
        all.push_str(replaced(name.trim(), names).as_deref().unwrap_or(name));
        all.push_str(rest);
    }
    *text = all.into();
}

fn replaced(name: &str, names: &FxHashMap<String, Arc<str>>) -> Option<String> {
    let mut parts = name.splitn(3, '.');
    let key = format!("{}.{}", parts.next()?, parts.next()?);
    let id = names.get(&key)?;
    Some(
        parts
            .next()
            .map_or_else(|| id.to_string(), |rest| format!("{id}.{rest}")),
    )
}
