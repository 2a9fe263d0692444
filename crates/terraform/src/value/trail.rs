//! The provenance of a value, step by step.

use knowledge::Origin;
use source::Span;
use std::sync::Arc;

/// A chain of origins, nearest first.
#[derive(Debug, Clone, Default)]
pub struct Trail(Option<Arc<(Origin, Trail)>>);

impl Trail {
    /// Prepends an origin.
    pub(crate) fn before(self, span: Span, what: impl Into<Arc<str>>) -> Trail {
        self.preceded(Origin::new(span, what))
    }

    /// Prepends the default of an input of the run.
    pub(crate) fn defaulted(self, span: Span, what: impl Into<Arc<str>>) -> Trail {
        let origin = Origin {
            is_input_default: true,
            ..Origin::new(span, what)
        };
        self.preceded(origin)
    }

    /// Prepends an origin that computes with the value that `self` traces.
    pub(crate) fn computed(self, span: Span, what: impl Into<Arc<str>>) -> Trail {
        let origin = Origin {
            computes: true,
            ..Origin::new(span, what)
        };
        self.preceded(origin)
    }

    /// Adds the default of an input that the value traced by `other` comes from or depends on, because `other` decides
    /// that this value is used. Adds nothing if this value itself depends on a default.
    pub(crate) fn decided_by(self, other: &Trail) -> Trail {
        let mut defaults = other.nodes().filter(|origin| origin.is_input_default);
        match defaults.next() {
            Some(default) if !self.has_default() => self.preceded(Origin {
                decides: true,
                ..default.clone()
            }),
            _ => self,
        }
    }

    /// Returns `other` if this trail has no origin, with the default that decides about this one.
    #[must_use]
    pub(crate) fn or(&self, other: &Trail) -> Trail {
        if self.is_empty() {
            other.clone().decided_by(self)
        } else {
            self.clone()
        }
    }

    /// Returns `true` if the value comes from the default of an input or depends on one.
    pub(crate) fn has_default(&self) -> bool {
        self.nodes().any(|origin| origin.is_input_default)
    }

    fn nodes(&self) -> impl Iterator<Item = &Origin> {
        std::iter::successors(self.0.as_deref(), |(_, rest)| rest.0.as_deref()).map(|(origin, _)| origin)
    }

    /// Returns the origins, nearest first, at most eight.
    pub fn list(&self) -> Vec<Origin> {
        // Of exact size, because nearly every list has one element and the graph keeps it.
        let mut all = Vec::with_capacity(self.nodes().take(8).count());
        all.extend(self.nodes().take(8).cloned());
        all
    }

    /// Returns `true` if there is no origin, except a default that decides that the value is used.
    pub fn is_empty(&self) -> bool {
        self.nodes().all(|origin| origin.decides)
    }

    /// Narrows the nearest origin that contains `span` to that span. In `cfg = each.value`, where `each.value` comes
    /// from `local.services`, the attribute `cfg.timeout` is written in the local and not in the argument.
    pub(crate) fn narrowed(&self, span: Option<Span>) -> Trail {
        span.and_then(|span| self.narrowed_to(span))
            .unwrap_or_else(|| self.clone())
    }

    fn narrowed_to(&self, span: Span) -> Option<Trail> {
        let mut passed = Vec::new();
        let mut rest = self;
        while let Some(node) = &rest.0 {
            let (origin, beyond) = &**node;
            if origin.span.contains(span) {
                let nearest = beyond.clone().preceded(Origin { span, ..origin.clone() });
                return Some(passed.into_iter().rev().fold(nearest, Trail::preceded));
            }
            passed.push(origin.clone());
            rest = beyond;
        }
        None
    }

    fn preceded(self, origin: Origin) -> Trail {
        Trail(Some(Arc::new((origin, self))))
    }
}
