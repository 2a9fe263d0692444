//! A parameter as its template declares it, with what it is given.

use super::Supplied;
use crate::frontend::cloudformation::sections::scalar;
use crate::frontend::tree::{Entry, Node};
use crate::graph::{Bounds, Cause, Reason};
use crate::source::Span;
use std::sync::Arc;

/// One parameter.
#[derive(Debug, Clone, Copy)]
pub(in crate::frontend::cloudformation) struct Parameter<'t> {
    entry: &'t Entry,
    supplied: Option<&'t Supplied>,
}

/// What a parameter has by being given it.
#[derive(Debug, Clone)]
pub(in crate::frontend::cloudformation) struct Argument {
    /// The value.
    pub(in crate::frontend::cloudformation) value: Arc<str>,
    /// Where it is written; the parameter's name where that is the command line.
    pub(in crate::frontend::cloudformation) span: Span,
    /// Who gives it.
    pub(in crate::frontend::cloudformation) by: Arc<str>,
}

impl<'t> Parameter<'t> {
    /// As declared, with what it is given.
    pub(in crate::frontend::cloudformation) fn new(entry: &'t Entry, supplied: Option<&'t Supplied>) -> Self {
        Parameter { entry, supplied }
    }

    fn kind(self) -> &'t str {
        self.entry.value.get("Type").and_then(Node::as_str).unwrap_or("String")
    }

    /// Whether the value is in the parameter store, and the default only its name.
    pub(in crate::frontend::cloudformation) fn is_from_store(self) -> bool {
        self.kind().starts_with("AWS::SSM::Parameter::Value")
    }

    /// Whether it may not be shown.
    pub(in crate::frontend::cloudformation) fn is_secret(self) -> bool {
        self.entry
            .value
            .get("NoEcho")
            .and_then(scalar)
            .is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    /// Whether it is a list.
    pub(in crate::frontend::cloudformation) fn is_list(self) -> bool {
        self.kind() == "CommaDelimitedList" || self.kind().starts_with("List<")
    }

    /// What it is given, or why that is not known; `None` where nothing is given.
    pub(in crate::frontend::cloudformation) fn argument(self) -> Option<Result<Argument, Reason>> {
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

    /// Whether it is given a value that counts.
    pub(in crate::frontend::cloudformation) fn is_settled(self) -> bool {
        !self.is_secret() && !self.is_from_store() && matches!(self.argument(), Some(Ok(_)))
    }

    /// Whether it may have values that the template does not name.
    pub(in crate::frontend::cloudformation) fn is_open(self) -> bool {
        self.allowed().is_none() && !self.is_settled()
    }

    /// `AllowedValues`, with their places.
    pub(in crate::frontend::cloudformation) fn allowed(self) -> Option<Vec<(String, Span)>> {
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

    /// Whether it may have any number within its bounds, and is given none here.
    pub(in crate::frontend::cloudformation) fn is_free(self) -> bool {
        let is_limited = ["AllowedValues", "AllowedPattern", "MaxLength"]
            .iter()
            .any(|limit| self.entry.value.get(limit).is_some());
        !(is_limited || self.is_secret() || self.is_from_store() || self.is_list() || self.supplied.is_some())
    }

    /// The numbers that it may be: `MinValue` and `MaxValue`.
    pub(in crate::frontend::cloudformation) fn bounds(self) -> Bounds {
        // The value of a parameter in the store is the name it has there.
        if self.is_from_store() || self.kind() != "Number" {
            return Bounds::ANY;
        }
        let bound = |key: &str| scalar(self.entry.value.get(key)?)?.parse().ok();
        Bounds {
            least: bound("MinValue"),
            most: bound("MaxValue"),
        }
    }

    /// `Default`, with its place.
    pub(in crate::frontend::cloudformation) fn default(self) -> Option<(String, Span)> {
        let entry = self.entry.value.entry("Default")?;
        Some((scalar(&entry.value)?, entry.span()))
    }
}
