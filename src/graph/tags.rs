//! Tags of resources, as far as they are known.

use super::{Attribute, Condition, Reason};
use std::sync::Arc;

/// The tags of a resource. Those that a stack is given when it is deployed are in no file.
#[derive(Debug, Clone, Default)]
pub struct Tags {
    /// Those that are known, the first of each key before those that it hides.
    pub entries: Vec<Tag>,
    /// Why there may be more.
    pub opaque: Option<Reason>,
}

/// A tag.
#[derive(Debug, Clone)]
pub struct Tag {
    /// Its key.
    pub key: Arc<str>,
    /// Its value.
    pub value: Attribute<String>,
    /// Where it is set.
    pub when: Condition,
}
