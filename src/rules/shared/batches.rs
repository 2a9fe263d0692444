//! What the rules on batches compare: a mapping's batch size or window, and the type of the queue it reads.
//!
//! It knows the graph and how rules note what is unresolved; it decides nothing.

use crate::diagnostic::Diagnostic;
use crate::graph::{Condition, EventSourceMapping, FIFO_SUFFIX, Graph};
use crate::rules::{Findings, Read};
use crate::source::Span;
use std::collections::BTreeSet;

/// The queue that a mapping reads, in worlds where its type is known.
#[derive(Debug)]
pub(crate) struct BatchSource {
    /// The worlds.
    pub(crate) world: Condition,
    /// Whether it is a FIFO queue.
    pub(crate) fifo: bool,
    /// How to call it in a sentence.
    pub(crate) shown: String,
    /// What tells the type: the queue's setting, or the ARN in the mapping.
    span: Span,
    /// What links the mapping to it.
    link: Span,
}

impl BatchSource {
    /// `FIFO` or `standard`.
    pub(crate) fn kind(&self) -> &'static str {
        if self.fifo { "FIFO" } else { "standard" }
    }

    /// Adds the label that tells the type.
    pub(crate) fn show(&self, diagnostic: Diagnostic) -> Diagnostic {
        let kind = self.kind();
        diagnostic.label(self.span, format!("{} is a {kind} queue", self.shown))
    }
}

impl Read for BatchSource {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.extend([self.span, self.link]);
    }
}

impl Findings<'_> {
    /// The queues that `mapping` reads in the worlds of `world`, as far as their type is known. A queue
    /// outside the project tells its type by its name: that of a FIFO queue ends in `.fifo`, no other does.
    pub(crate) fn batch_sources(
        &mut self,
        graph: &Graph,
        mapping: &EventSourceMapping,
        world: &Condition,
    ) -> Vec<BatchSource> {
        let mut all = Vec::new();
        for link in self.known(world, &mapping.resource, &mapping.queue) {
            if let Some(queue) = graph.queue(mapping.resource.unit, link.value) {
                let world = link.world.and(&queue.resource.when);
                for fifo in self.known(&world, &queue.resource, &queue.fifo) {
                    all.push(BatchSource {
                        world: fifo.world.clone(),
                        fifo: *fifo.value,
                        shown: queue.resource.shown(),
                        span: fifo.span(),
                        link: link.span(),
                    });
                }
            } else if let Some(name) = link.value.external_queue_name() {
                all.push(BatchSource {
                    world: link.world.clone(),
                    fifo: name.ends_with(FIFO_SUFFIX),
                    shown: format!("`{name}`"),
                    span: link.span(),
                    link: link.span(),
                });
            }
        }
        all
    }
}
