//! Origins of values.

use source::Span;
use std::ops::Deref;
use std::sync::Arc;

/// A step between the place where a value is written and the place where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Span of the step: a variable's default, a line of a tfvars file, a module argument, a local.
    pub span: Span,
    /// Noun phrase for the step: "the default of `var.visibility`".
    pub what: Arc<str>,
    /// `true` if the value is computed there from another one, to which the next step refers.
    pub computes: bool,
    /// `true` if this is the default of an input of the run, which a deployment may set to another value.
    pub is_input_default: bool,
    /// `true` if the value does not come from here: this input decides that it is used, through a condition, a key or a
    /// list.
    pub decides: bool,
}

impl Origin {
    /// Creates a step that passes the value unchanged.
    pub fn new(span: Span, what: impl Into<Arc<str>>) -> Self {
        Origin {
            span,
            what: what.into(),
            computes: false,
            is_input_default: false,
            decides: false,
        }
    }

    /// Returns the label for the span of the last of `origins`.
    pub fn shown(origins: &[Origin]) -> Option<String> {
        let last = origins.last()?;
        let computed = origins.iter().find(|origin| origin.computes);
        Some(match computed.filter(|computed| *computed != last) {
            Some(computed) => format!("{} is computed from {}", computed.what, last.what),
            None => format!("the value comes from {}", last.what),
        })
    }
}

/// Origins of a value, nearest first, followed by the input that decides that it is used. It dereferences to the former.
/// An empty list needs no allocation.
#[derive(Debug, Clone, Default)]
pub struct Origins(Option<Arc<Vec<Origin>>>);

impl Origins {
    /// The empty list.
    pub const NONE: &Origins = &Origins::none();

    /// Creates an empty list: the value is written where it is used.
    pub const fn none() -> Self {
        Origins(None)
    }

    /// Returns the input whose default decides that the value is used.
    pub fn deciding(&self) -> Option<&Origin> {
        self.0.as_ref()?.last().filter(|origin| origin.decides)
    }
}

impl Deref for Origins {
    type Target = [Origin];

    fn deref(&self) -> &[Origin] {
        let all = self.0.as_deref().map_or(&[][..], Vec::as_slice);
        all.strip_suffix(self.deciding().map_or(&[][..], std::slice::from_ref))
            .unwrap_or(all)
    }
}

impl From<Vec<Origin>> for Origins {
    fn from(mut origins: Vec<Origin>) -> Self {
        origins.sort_by_key(|origin| origin.decides);
        Origins((!origins.is_empty()).then(|| Arc::new(origins)))
    }
}
