//! Patterns of filters: JSON objects whose keys lead to what a message has to hold.

use super::operands::Known;
use crate::graph::Attribute;
use serde_json::{Map, Value};

/// What is wrong with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not JSON.
    NotJson,
    /// It is JSON, and not an object.
    NotAnObject,
}

/// The object that a pattern is; `None` where a placeholder stands in it that something else fills in.
pub(crate) fn parse(text: &str) -> Option<Result<Map<String, Value>, Fault>> {
    if text.contains("${") || text.contains("{{") {
        return None;
    }
    Some(match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Fault::NotAnObject),
        Err(_) => Err(Fault::NotJson),
    })
}

/// The objects of all patterns, where each of them is known to be one.
pub(crate) fn all(filters: &Known<'_, Vec<Attribute<String>>>) -> Option<Vec<Map<String, Value>>> {
    let patterns = filters.value.iter().map(|pattern| parse(pattern.known()?)?.ok());
    patterns.collect()
}
