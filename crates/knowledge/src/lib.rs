#![doc = include_str!("../README.md")]

mod link;
mod origins;
mod partial;
mod published;
mod reason;
mod set_by;
mod unit_key;

pub use link::{Form, Target};
pub use origins::{Origin, Origins};
pub use partial::{Bounds, Pattern, UNKNOWN_PIECE};
pub use published::{Published, Store};
pub use reason::{Cause, Reason};
pub use set_by::{Input, SetBy};
pub use unit_key::UnitKey;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Knowledge of an unresolved value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Knowledge {
    /// A number within bounds.
    Number(Bounds),
    /// A string with some known pieces.
    Text(Pattern),
    /// A value that another unit may publish.
    Published(Arc<Published>),
}

/// Reason why a value is unresolved, and what is known about it. It dereferences to its reason. It is a single pointer,
/// because it determines the size of every attribute, and most attributes are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved(Arc<UnresolvedData>);

#[derive(Debug, PartialEq, Eq)]
struct UnresolvedData {
    reason: Reason,
    knowledge: Option<Knowledge>,
}

impl From<Reason> for Unresolved {
    fn from(reason: Reason) -> Self {
        Unresolved(Arc::new(UnresolvedData {
            reason,
            knowledge: None,
        }))
    }
}

impl Unresolved {
    /// Creates an unresolved value with partial knowledge.
    pub fn with_knowledge(reason: Reason, knowledge: Knowledge) -> Self {
        Unresolved(Arc::new(UnresolvedData {
            reason,
            knowledge: Some(knowledge),
        }))
    }

    /// Returns the reason why it is unresolved.
    pub fn reason(&self) -> &Reason {
        &self.0.reason
    }

    /// Returns the range of numbers that it may be.
    pub fn bounds(&self) -> Bounds {
        match &self.0.knowledge {
            Some(Knowledge::Number(bounds)) => *bounds,
            _ => Bounds::ANY,
        }
    }

    /// Returns the name under which another unit may publish it.
    pub fn published(&self) -> Option<&Arc<Published>> {
        match &self.0.knowledge {
            Some(Knowledge::Published(published)) => Some(published),
            _ => None,
        }
    }

    /// Returns the known pieces of the string, if any.
    pub fn pattern(&self) -> Option<&Pattern> {
        match &self.0.knowledge {
            Some(Knowledge::Text(pattern)) => Some(pattern),
            _ => None,
        }
    }
}

impl Deref for Unresolved {
    type Target = Reason;

    fn deref(&self) -> &Reason {
        self.reason()
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason().fmt(f)
    }
}
