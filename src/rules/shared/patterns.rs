//! Parses the patterns of filters: JSON objects that map keys to the values that a message must have.

use super::operands::Known;
use crate::graph::Attribute;
use serde_json::{Map, Value};

/// Fault of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternFault {
    /// Text that is not JSON.
    NotJson,
    /// JSON that is not an object.
    NotAnObject,
}

/// Parses a pattern; returns `None` if it contains a placeholder.
pub(crate) fn parse(text: &str) -> Option<Result<Map<String, Value>, PatternFault>> {
    if text.contains("${") || text.contains("{{") {
        return None;
    }
    Some(match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(PatternFault::NotAnObject),
        Err(_) => Err(PatternFault::NotJson),
    })
}

/// Returns the objects of all patterns, if all patterns are known and valid.
pub(crate) fn all(filters: &Known<'_, Vec<Attribute<String>>>) -> Option<Vec<Map<String, Value>>> {
    let patterns = filters.value.iter().map(|pattern| parse(pattern.known()?)?.ok());
    patterns.collect()
}
