//! How templates and services write what is to change: properties, resources, references.

use crate::diagnostic::{Change, Edit};
use crate::source::{Sources, Span};

/// The edits that make `change` in a template.
pub(in crate::frontend) fn edits(_change: &Change, _sources: &Sources) -> Option<Vec<Edit>> {
    None
}

/// Whether what is written at `span` is a reference and nothing else, and the only one to what it names.
pub(in crate::frontend) fn is_only_use(_span: Span, _sources: &Sources) -> bool {
    false
}
