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

/// Keys of an object in an array of a pattern: how the value of a message is compared.
/// <https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html>
const OPERATORS: [&str; 8] = [
    "anything-but",
    "cidr",
    "equals-ignore-case",
    "exists",
    "numeric",
    "prefix",
    "suffix",
    "wildcard",
];

/// Returns the first key with an array that contains an object without an operator, and the key in that object.
pub(crate) fn without_operator(pattern: &Map<String, Value>) -> Option<(&str, &str)> {
    pattern.iter().find_map(|(key, value)| match value {
        Value::Object(inner) => without_operator(inner),
        // Alternatives are patterns.
        Value::Array(all) if key == "$or" => all.iter().filter_map(Value::as_object).find_map(without_operator),
        Value::Array(all) => {
            let mut keys = all.iter().filter_map(Value::as_object).flat_map(Map::keys);
            let wrong = keys.find(|key| !OPERATORS.contains(&key.as_str()))?;
            Some((key.as_str(), wrong.as_str()))
        }
        _ => None,
    })
}
