//! Tags of resources.

use super::{Attribute, Condition, Reason};

/// Tags of a resource. Tags added to a stack at deployment are not in the files.
#[derive(Debug, Clone, Default)]
pub struct Tags {
    /// Known tags. If a key occurs twice, the first one takes precedence.
    pub entries: Vec<Tag>,
    /// Reason why there may be unknown ones.
    pub opaque: Option<Reason>,
}

/// A tag.
#[derive(Debug, Clone)]
pub struct Tag {
    /// Value. Its name is the key.
    pub value: Attribute<String>,
    /// Condition under which it is set.
    pub when: Condition,
}

impl Tag {
    /// Returns the key.
    pub fn key(&self) -> &str {
        &self.value.name
    }
}
