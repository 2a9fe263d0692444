//! The type of the queue that a link names: FIFO or standard.

use super::finding::{Show, Spot};
use super::findings::Findings;
use super::operands::Known;
use super::trace::Read;
use crate::graph::{Condition, EventSourceMapping, FIFO_SUFFIX, Graph, Link, Queue, UnitId};
use crate::source::Span;
use std::collections::BTreeSet;

/// A queue whose type is known.
#[derive(Debug)]
pub(crate) struct TypedQueue<'g> {
    /// The queue; `None` for one outside the project.
    pub(crate) queue: Option<&'g Queue>,
    /// The condition under which it is that one and of that type.
    pub(crate) when: Condition,
    /// Whether it is a FIFO queue.
    pub(crate) fifo: bool,
    /// How to call it in a sentence.
    pub(crate) shown: String,
    /// The queue's setting, or the link's ARN, that tells the type.
    pub(crate) span: Span,
    link: Span,
}

impl TypedQueue<'_> {
    /// In words: "`orders` is a FIFO queue".
    pub(crate) fn words(&self) -> String {
        format!("{} is {}", self.shown, kind(self.fifo))
    }
}

/// The type in words.
pub(crate) fn kind(fifo: bool) -> &'static str {
    if fifo { "a FIFO queue" } else { "a standard queue" }
}

impl Show for TypedQueue<'_> {
    fn label(&self) -> (Spot<'_>, String) {
        (self.span.into(), self.words())
    }
}

impl Read for TypedQueue<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.extend([self.span, self.link]);
    }
}

/// A queue that a mapping reads, whatever its type.
#[derive(Debug)]
pub(crate) struct QueueRead {
    /// The condition under which it does.
    pub(crate) when: Condition,
    /// How to call it in a sentence.
    pub(crate) shown: String,
}

impl Findings<'_> {
    /// The queues that `mapping` is known to read.
    pub(crate) fn queues_read(
        &mut self,
        graph: &Graph,
        mapping: &EventSourceMapping,
        when: &Condition,
    ) -> Vec<QueueRead> {
        let links = self.known(when, mapping, &mapping.queue).into_iter();
        let read = links.filter_map(|link| {
            let shown = match graph.queue(mapping.resource.unit, link.value) {
                Some(queue) => queue.resource.shown(),
                None => format!("`{}`", link.value.external_queue_name()?),
            };
            Some(QueueRead { when: link.when, shown })
        });
        read.collect()
    }

    /// The queues that `link`, written in `unit`, names, as far as their type is known. A queue outside the project
    /// tells its type by its name: that of a FIFO queue ends in `.fifo`, no other does.
    pub(crate) fn typed_queues<'g>(
        &mut self,
        graph: &'g Graph,
        unit: UnitId,
        link: &Known<'_, Link>,
        when: &Condition,
    ) -> Vec<TypedQueue<'g>> {
        if let Some(queue) = graph.queue(unit, link.value) {
            let all = self.known(&when.and(&queue.resource.when), queue, &queue.fifo);
            let typed = all.into_iter().map(|fifo| TypedQueue {
                queue: Some(queue),
                fifo: *fifo.value,
                shown: queue.resource.shown(),
                span: fifo.span,
                link: link.span,
                when: fifo.when,
            });
            return typed.collect();
        }
        let typed = link.value.external_queue_name().map(|name| TypedQueue {
            queue: None,
            when: when.clone(),
            fifo: name.ends_with(FIFO_SUFFIX),
            shown: format!("`{name}`"),
            span: link.span,
            link: link.span,
        });
        typed.into_iter().collect()
    }

    /// The queues that `mapping` reads, as far as their type is known.
    pub(crate) fn sources<'g>(
        &mut self,
        graph: &'g Graph,
        mapping: &EventSourceMapping,
        when: &Condition,
    ) -> Vec<TypedQueue<'g>> {
        let mut all = Vec::new();
        for link in self.known(when, mapping, &mapping.queue) {
            all.extend(self.typed_queues(graph, mapping.resource.unit, &link, &link.when));
        }
        all
    }
}
