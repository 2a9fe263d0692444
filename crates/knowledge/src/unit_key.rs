//! The identity of a unit.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Identity of a unit: the root that is deployed, and the nested stacks from there to the unit.
///
/// `parent.yaml#Orders.Failures` is the template of the nested stack `Failures`, in the template of the nested stack
/// `Orders` of `parent.yaml`. A root's name may itself contain `#`.
#[derive(Debug, Clone, Eq)]
pub struct UnitKey {
    text: Arc<str>,
    /// Length of the root's name.
    root: usize,
}

impl UnitKey {
    /// Creates the key of a unit that no other calls.
    pub fn new(root: impl Into<Arc<str>>) -> Self {
        let text = root.into();
        UnitKey { root: text.len(), text }
    }

    /// Returns the key of the unit that the resource `id` of this one calls.
    #[must_use]
    pub fn of_call(&self, id: &str) -> Self {
        let between = if self.calls().is_some() { '.' } else { '#' };
        UnitKey {
            text: format!("{self}{between}{id}").into(),
            root: self.root,
        }
    }

    /// Returns the name of the outermost unit.
    pub fn root(&self) -> &str {
        &self.text[..self.root]
    }

    /// Returns the ids of the calls from the root to this unit, joined by dots; `None` for a root.
    pub fn calls(&self) -> Option<&str> {
        self.text.get(self.root + 1..)
    }

    /// Returns the whole key as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the whole key as shared text.
    pub fn text(&self) -> Arc<str> {
        self.text.clone()
    }
}

impl PartialEq for UnitKey {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Hash for UnitKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Display for UnitKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_appended_to_the_root() {
        let root = UnitKey::new("a#b/parent.yaml");
        let nested = root.of_call("Orders").of_call("Failures");
        assert_eq!((root.root(), root.calls()), ("a#b/parent.yaml", None));
        assert_eq!(
            (nested.root(), nested.calls()),
            ("a#b/parent.yaml", Some("Orders.Failures"))
        );
        assert_eq!(nested.as_str(), "a#b/parent.yaml#Orders.Failures");
    }
}
