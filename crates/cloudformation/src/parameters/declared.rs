//! A declared parameter together with its argument.

use super::Supplied;
use crate::document::scalar;
use knowledge::{Bounds, Cause, Reason};
use source::Span;
use std::sync::Arc;
use trees::{Entry, Node};

/// A declared parameter.
#[derive(Debug, Clone, Copy)]
pub struct Parameter<'t> {
    entry: &'t Entry,
    supplied: Option<&'t Supplied>,
}

/// A resolved argument.
#[derive(Debug, Clone)]
pub struct Argument {
    /// The value.
    pub value: Arc<str>,
    /// The span of the value, or of the parameter's name if the value is from the command line.
    pub span: Span,
    /// Source of the value.
    pub by: Arc<str>,
}

impl<'t> Parameter<'t> {
    /// Creates a parameter from its declaration and its argument.
    pub fn new(entry: &'t Entry, supplied: Option<&'t Supplied>) -> Self {
        Parameter { entry, supplied }
    }

    fn kind(self) -> &'t str {
        self.entry.value.get("Type").and_then(Node::as_str).unwrap_or("String")
    }

    /// Returns `true` if the value is in the parameter store and the default is only its name there.
    pub fn is_from_store(self) -> bool {
        self.kind().starts_with("AWS::SSM::Parameter::Value")
    }

    /// Returns `true` if the value in the parameter store is a list.
    pub(crate) fn is_stored_list(self) -> bool {
        self.kind().contains("List<") || self.kind().contains("CommaDelimitedList")
    }

    /// Returns `true` if its value must not be shown.
    pub fn is_secret(self) -> bool {
        self.entry
            .value
            .get("NoEcho")
            .and_then(scalar)
            .is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    /// Returns `true` if it is a list.
    pub fn is_list(self) -> bool {
        self.kind() == "CommaDelimitedList" || self.kind().starts_with("List<")
    }

    /// Returns its argument, or the reason why that is unresolved; `None` if no input sets it.
    pub fn argument(self) -> Option<Result<Argument, Reason>> {
        let supplied = self.supplied?;
        let argument = supplied.value.clone().and_then(|value| {
            let allowed = self
                .allowed()
                .is_none_or(|all| all.iter().any(|(other, _)| **other == *value));
            let argument = Argument {
                value,
                span: supplied.span.unwrap_or(self.entry.key_span),
                by: supplied.by.clone(),
            };
            allowed.then_some(argument).ok_or_else(|| {
                Cause::Invalid.because(format!(
                    "{} gives a value that parameter `{}` does not allow",
                    supplied.by, self.entry.key
                ))
            })
        });
        Some(argument)
    }

    /// Returns `true` if a usable argument is known.
    pub fn has_argument(self) -> bool {
        !self.is_secret() && !self.is_from_store() && matches!(self.argument(), Some(Ok(_)))
    }

    /// Returns `true` if it may have values that the template does not list.
    pub fn is_unrestricted(self) -> bool {
        self.allowed().is_none() && !self.has_argument()
    }

    /// Returns `AllowedValues`, with their spans.
    pub fn allowed(self) -> Option<Vec<(String, Span)>> {
        if self.is_list() || self.is_from_store() {
            return None;
        }
        let items = self.entry.value.get("AllowedValues")?.items()?;
        let mut all: Vec<(String, Span)> = Vec::new();
        for item in items {
            let text = scalar(item)?;
            if !all.iter().any(|(known, _)| *known == text) {
                all.push((text, item.span));
            }
        }
        (!all.is_empty()).then_some(all)
    }

    /// Returns the span of its name.
    pub fn declaration(self) -> Span {
        self.entry.key_span
    }

    /// Returns `true` if any number within its bounds is allowed and no input sets it.
    pub fn is_free(self) -> bool {
        let is_limited = ["AllowedValues", "AllowedPattern", "MaxLength"]
            .iter()
            .any(|limit| self.entry.value.get(limit).is_some());
        !(is_limited || self.is_secret() || self.is_from_store() || self.is_list() || self.supplied.is_some())
    }

    /// Returns the range of its values: `MinValue` and `MaxValue`.
    pub fn bounds(self) -> Bounds {
        // The value of a store parameter is only its name in the store.
        if self.is_from_store() || self.kind() != "Number" {
            return Bounds::ANY;
        }
        let bound = |key: &str| scalar(self.entry.value.get(key)?)?.parse().ok();
        Bounds {
            least: bound("MinValue"),
            most: bound("MaxValue"),
        }
    }

    /// Returns `Default`, with its span.
    pub fn default(self) -> Option<(String, Span)> {
        let entry = self.entry.value.entry("Default")?;
        Some((scalar(&entry.value)?, entry.span()))
    }
}
