//! Formulas of conditions: the trivial ones, a diagram, or "unknown" if the diagram grew too large.

use super::diagram::{Diagram, TooComplex};
use std::sync::Arc;

/// A condition without names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Formula {
    Always,
    Never,
    Sometimes(Arc<Diagram>),
    /// The diagram grew too large. The condition may never hold, or always.
    Unknown,
}

impl From<Result<Diagram, TooComplex>> for Formula {
    fn from(diagram: Result<Diagram, TooComplex>) -> Self {
        match diagram {
            Ok(diagram) if diagram.is_always() => Formula::Always,
            Ok(diagram) if diagram.is_never() => Formula::Never,
            Ok(diagram) => Formula::Sometimes(Arc::new(diagram)),
            Err(TooComplex) => Formula::Unknown,
        }
    }
}

impl Formula {
    pub(super) fn and(&self, other: &Formula) -> Formula {
        match (self, other) {
            (Formula::Never, _) | (_, Formula::Never) => Formula::Never,
            (Formula::Always, one) | (one, Formula::Always) => one.clone(),
            (Formula::Unknown, _) | (_, Formula::Unknown) => Formula::Unknown,
            (Formula::Sometimes(a), Formula::Sometimes(b)) if a == b => self.clone(),
            (Formula::Sometimes(a), Formula::Sometimes(b)) => a.and(b).into(),
        }
    }

    pub(super) fn or(&self, other: &Formula) -> Formula {
        match (self, other) {
            (Formula::Always, _) | (_, Formula::Always) => Formula::Always,
            (Formula::Never, one) | (one, Formula::Never) => one.clone(),
            (Formula::Unknown, _) | (_, Formula::Unknown) => Formula::Unknown,
            (Formula::Sometimes(a), Formula::Sometimes(b)) if a == b => self.clone(),
            (Formula::Sometimes(a), Formula::Sometimes(b)) => a.or(b).into(),
        }
    }

    pub(super) fn without(&self, other: &Formula) -> Formula {
        match (self, other) {
            (Formula::Never, _) | (_, Formula::Always) => Formula::Never,
            (one, Formula::Never) => one.clone(),
            (Formula::Unknown, _) | (_, Formula::Unknown) => Formula::Unknown,
            (Formula::Always, Formula::Sometimes(b)) => Diagram::always().without(b).into(),
            (Formula::Sometimes(a), Formula::Sometimes(b)) => a.without(b).into(),
        }
    }

    pub(super) fn implies(&self, other: &Formula) -> bool {
        match (self, other) {
            (Formula::Never, _) | (_, Formula::Always) => true,
            (Formula::Unknown, _) | (_, Formula::Unknown | Formula::Never) => false,
            (Formula::Always, Formula::Sometimes(_)) => false,
            (Formula::Sometimes(a), Formula::Sometimes(b)) => a.implies(b).unwrap_or(false),
        }
    }

    /// Returns `true` if both can hold at once, or if that is unknown.
    pub(super) fn meets(&self, other: &Formula) -> bool {
        match (self, other) {
            (Formula::Never, _) | (_, Formula::Never) => false,
            (Formula::Sometimes(a), Formula::Sometimes(b)) => a.meets(b).unwrap_or(true),
            _ => true,
        }
    }
}
