//! Properties that their resources do not have, and events that name no queue.

use super::Resource;
use source::Span;
use std::sync::Arc;

/// A property that its resource does not have.
#[derive(Debug, Clone)]
pub struct UnknownProperty {
    /// The resource that sets it.
    pub resource: Resource,
    /// Name as written.
    pub name: Arc<str>,
    /// Span of the name.
    pub span: Span,
    /// Property that was probably meant.
    pub meant: Option<&'static str>,
    /// Default of that property, if it is a number.
    pub default: Option<String>,
    /// `true` if the tool that creates the resource ignores the property; otherwise the deployment fails.
    pub is_ignored: bool,
}

/// An event that should connect a function to a queue and names none.
#[derive(Debug, Clone)]
pub struct EventWithoutQueue {
    /// The function.
    pub resource: Resource,
    /// Span of the event's type.
    pub span: Span,
    /// `true` if the tool that creates the mapping skips the event; otherwise the deployment fails.
    pub is_skipped: bool,
    /// Keys that belong into the event and are next to it, with their spans.
    pub misplaced: Vec<(Arc<str>, Span)>,
}
