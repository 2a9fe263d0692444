//! Ids of rules.

use serde::{Serialize, Serializer};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// The id of a rule: a literal, or for a policy, which a team defines, a text that its findings share. It dereferences
/// to `str`, and compares and hashes like one.
#[derive(Clone)]
pub struct RuleId(Id);

#[derive(Clone)]
enum Id {
    Static(&'static str),
    Shared(Arc<str>),
}

impl RuleId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Id::Static(id) => id,
            Id::Shared(id) => id,
        }
    }
}

impl From<&'static str> for RuleId {
    fn from(id: &'static str) -> Self {
        RuleId(Id::Static(id))
    }
}

impl From<Arc<str>> for RuleId {
    fn from(id: Arc<str>) -> Self {
        RuleId(Id::Shared(id))
    }
}

impl Deref for RuleId {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for RuleId {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for RuleId {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RuleId {}

impl PartialEq<str> for RuleId {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for RuleId {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialOrd for RuleId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RuleId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for RuleId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for RuleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
