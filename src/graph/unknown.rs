//! Properties that their resources do not have.

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
    /// Effect of the property.
    pub fault: PropertyFault,
}

/// Effects of an unknown property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyFault {
    /// The deployment fails.
    Rejected,
    /// The tool that creates the resource ignores it.
    Ignored,
    /// The tool ignores the object that the property belongs into, because the property is next to it.
    Misplaced,
    /// The tool ignores the property, which is known, because it has no value.
    Empty,
    /// The deployment fails because the property, which is known, lacks a required key.
    Incomplete,
}
