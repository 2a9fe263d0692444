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

    /// Returns the origins, nearest first, at most eight.
    pub fn list(&self) -> Vec<Origin> {
        let nodes = || std::iter::successors(self.0.as_deref(), |(_, rest)| rest.0.as_deref()).take(8);
        // Of exact size, because nearly every list has one element and the graph keeps it.
        let mut all = Vec::with_capacity(nodes().count());
        all.extend(nodes().map(|(origin, _)| origin.clone()));
        all
    }

    /// Returns `true` if there is no origin.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
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
