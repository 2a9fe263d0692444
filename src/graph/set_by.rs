//! Who sets a number: the module or template that it is written in, or whoever uses that.

use crate::source::Span;
use std::sync::Arc;

/// Who sets a number.
#[derive(Debug, Clone)]
pub enum SetBy {
    /// The module or template itself: a number is written in it, or nothing and the default applies. Nobody outside
    /// changes it.
    Itself,
    /// Whoever uses the module or template that has this input. Nobody here does, so it has its default.
    Input(Arc<Input>),
}

/// A variable of a module, or a parameter of a template, on its default.
#[derive(Debug)]
pub struct Input {
    /// In a sentence: `` `var.timeout` ``, ``parameter `Timeout` ``.
    pub shown: String,
    /// What the addresses of the resources begin with that the module makes, and those it calls.
    pub within: String,
    /// The default.
    pub span: Span,
    /// The greatest number that it takes, where it says so.
    pub most: Option<i64>,
    /// What would say so: "a `validation`".
    pub limit: &'static str,
}
