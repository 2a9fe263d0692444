//! Where a value came from, step by step.

use crate::graph::Origin;
use crate::source::Span;
use std::sync::Arc;

/// A chain of origins, nearest first.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Trail(Option<Arc<(Origin, Trail)>>);

impl Trail {
    /// With a nearer origin in front.
    pub(in super::super) fn before(self, span: Span, what: impl Into<Arc<str>>) -> Trail {
        Trail(Some(Arc::new((Origin::new(span, what), self))))
    }

    /// With a computation of what `self` leads to in front.
    pub(in super::super) fn computed(self, span: Span, what: impl Into<Arc<str>>) -> Trail {
        let origin = Origin {
            computes: true,
            ..Origin::new(span, what)
        };
        Trail(Some(Arc::new((origin, self))))
    }

    /// The origins, nearest first; at most eight.
    pub(in super::super) fn list(&self) -> Vec<Origin> {
        let mut all = Vec::new();
        let mut rest = self;
        while let Some(node) = &rest.0 {
            if all.len() == 8 {
                break;
            }
            all.push(node.0.clone());
            rest = &node.1;
        }
        all
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The same with its nearest place narrowed to `span`, where that lies within.
    pub(in super::super) fn narrowed(&self, span: Option<Span>) -> Trail {
        match (&self.0, span) {
            (Some(node), Some(span))
                if node.0.span.file == span.file && node.0.span.start <= span.start && span.end <= node.0.span.end =>
            {
                let origin = Origin { span, ..node.0.clone() };
                Trail(Some(Arc::new((origin, node.1.clone()))))
            }
            _ => self.clone(),
        }
    }
}
