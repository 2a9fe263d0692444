//! Where values came from.

use crate::source::Span;
use std::ops::Deref;
use std::sync::Arc;

/// A step on the way from where a value is written to where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The place: a variable's default, a line of a tfvars file, a module argument, a local.
    pub span: Span,
    /// What it is, as a noun phrase: "the default of `var.visibility`".
    pub what: Arc<str>,
    /// Whether the value is computed there from another one, which the next step leads to.
    pub computes: bool,
}

impl Origin {
    /// A step that leads to the value itself.
    pub fn new(span: Span, what: impl Into<Arc<str>>) -> Self {
        Origin {
            span,
            what: what.into(),
            computes: false,
        }
    }

    /// What to say at the place of the last of `origins`.
    pub fn shown(origins: &[Origin]) -> Option<String> {
        let last = origins.last()?;
        let computed = origins.iter().find(|origin| origin.computes);
        Some(match computed.filter(|computed| *computed != last) {
            Some(computed) => format!("{} is computed from {}", computed.what, last.what),
            None => format!("the value comes from {}", last.what),
        })
    }
}

/// Where a value came from, nearest first: a list that takes next to no room where it is empty.
#[derive(Debug, Clone, Default)]
pub struct Origins(Option<Arc<Vec<Origin>>>);

impl Origins {
    /// No origins: the value is written where it stands.
    pub const fn none() -> Self {
        Origins(None)
    }
}

impl Deref for Origins {
    type Target = [Origin];

    fn deref(&self) -> &[Origin] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl From<Vec<Origin>> for Origins {
    fn from(origins: Vec<Origin>) -> Self {
        Origins((!origins.is_empty()).then(|| Arc::new(origins)))
    }
}
