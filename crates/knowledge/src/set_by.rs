//! Parties that set a number: the module or template that contains it, or its caller.

use source::Span;
use std::sync::Arc;

/// Party that sets a number.
#[derive(Debug, Clone)]
pub enum SetBy {
    /// The module or template itself, by a literal or by leaving out the attribute. No caller can change it.
    Itself,
    /// The caller, through this input. No caller is known, so it has its default, if any.
    Input(Arc<Input>),
}

/// A variable of a module or an attribute of one, or a parameter of a template.
#[derive(Debug)]
pub struct Input {
    /// Name of the variable or parameter.
    pub name: Arc<str>,
    /// Name for a sentence: `` `var.timeout` ``, `` `var.lambda.timeout` ``, ``parameter `Timeout` ``.
    pub shown: String,
    /// Common prefix of the addresses of the module's resources, including those of modules that it calls.
    pub within: String,
    /// Span of the default, or of the declaration without one.
    pub span: Span,
    /// `true` if it has no default.
    pub is_required: bool,
    /// Maximum that it accepts, if it declares one.
    pub most: Option<i64>,
    /// Construct that would declare a maximum: "a `validation`".
    pub limit: &'static str,
}
