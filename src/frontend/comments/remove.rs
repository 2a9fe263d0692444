//! How a suppression is taken out of a file, so that nothing else changes.

use crate::diagnostic::Edit;
use crate::source::{Sources, Span};

/// The edit that takes out the suppression at `at`, or of the names in it only `name`.
pub(in crate::frontend) fn removal(_at: Span, _name: Option<&str>, _sources: &Sources) -> Option<Edit> {
    None
}
