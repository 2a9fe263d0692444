//! The type of the queue that a mapping reads, which decides what batches it may ask for.

use super::finding::{Show, Spot};
use super::findings::Findings;
use super::operands::Operand;
use super::trace::Read;
use crate::graph::limits::Unit;
use crate::graph::{Condition, EventSourceMapping, FIFO_SUFFIX, Graph};
use crate::source::Span;
use std::collections::BTreeSet;

/// The queue that a mapping reads, where its type is known.
#[derive(Debug)]
pub(crate) struct BatchSource {
    /// The condition under which it is that one and of that type.
    pub(crate) when: Condition,
    /// Whether it is a FIFO queue.
    pub(crate) fifo: bool,
    /// How to call it in a sentence.
    pub(crate) shown: String,
    /// The queue's setting, or the ARN in the mapping, that tells the type.
    span: Span,
    /// What links the mapping to it.
    link: Span,
}

impl BatchSource {
    /// In words: "`orders` is a FIFO queue".
    pub(crate) fn kind(&self) -> String {
        let kind = if self.fifo { "FIFO" } else { "standard" };
        format!("{} is a {kind} queue", self.shown)
    }
}

impl Show for BatchSource {
    fn label(&self) -> (Spot<'_>, String) {
        (self.span.into(), self.kind())
    }
}

impl Read for BatchSource {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.extend([self.span, self.link]);
    }
}

impl Findings<'_> {
    /// Batch sizes of `mapping`, whatever its queue allows.
    pub(crate) fn batch_sizes<'a>(&mut self, when: &Condition, mapping: &'a EventSourceMapping) -> Vec<Operand<'a>> {
        self.any_numbers(when, mapping, &mapping.batch_size, Unit::Messages)
    }

    /// The queues that `mapping` reads under the condition `when`, as far as their type is known. A queue outside the
    /// project tells its type by its name: that of a FIFO queue ends in `.fifo`, no other does.
    pub(crate) fn batch_sources(
        &mut self,
        graph: &Graph,
        mapping: &EventSourceMapping,
        when: &Condition,
    ) -> Vec<BatchSource> {
        let mut all = Vec::new();
        for link in self.known(when, mapping, &mapping.queue) {
            if let Some(queue) = graph.queue(mapping.resource.unit, link.value) {
                for fifo in self.known(&link.when.and(&queue.resource.when), queue, &queue.fifo) {
                    all.push(BatchSource {
                        fifo: *fifo.value,
                        shown: queue.resource.shown(),
                        span: fifo.span,
                        link: link.span,
                        when: fifo.when,
                    });
                }
            } else if let Some(name) = link.value.external_queue_name() {
                all.push(BatchSource {
                    fifo: name.ends_with(FIFO_SUFFIX),
                    shown: format!("`{name}`"),
                    span: link.span,
                    link: link.span,
                    when: link.when,
                });
            }
        }
        all
    }
}
