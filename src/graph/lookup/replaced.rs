//! Queues that a change replaces, found by comparing the graph with that of an earlier commit.

use super::Graph;
use crate::graph::{Attribute, Queue, Replacement};
use rustc_hash::FxHashMap;
use source::Span;
use std::sync::Arc;

/// Attributes of the queues of an earlier commit whose change replaces a queue, by unit and address.
#[derive(Debug, Default)]
pub(crate) struct EarlierQueues(FxHashMap<(String, Arc<str>), Identity>);

/// Name and type of a queue, if they are known.
#[derive(Debug)]
struct Identity {
    #[expect(clippy::option_option, reason = "a name may be unknown, or known to be absent")]
    name: Option<Option<String>>,
    fifo: Option<bool>,
}

impl Identity {
    fn of(queue: &Queue) -> Self {
        Identity {
            name: queue.name.known().cloned(),
            fifo: queue.fifo.known().copied(),
        }
    }
}

impl EarlierQueues {
    pub(crate) fn of(graph: &Graph) -> Self {
        let queues = graph.queues().iter().filter(|queue| queue.resource.is_single());
        let all = queues.map(|queue| {
            let key = (
                graph.unit(queue.resource.unit).name.clone(),
                queue.resource.address.clone(),
            );
            (key, Identity::of(queue))
        });
        EarlierQueues(all.collect())
    }
}

impl Graph {
    /// Sets the replacement of each queue whose name or type differs from that of the same queue in `earlier`. An
    /// unresolved value is not compared.
    pub(crate) fn find_replaced(&mut self, earlier: &EarlierQueues) {
        let units: Vec<String> = self.units.iter().map(|unit| unit.name.clone()).collect();
        for queue in self.queues.iter_mut().filter(|queue| queue.resource.is_single()) {
            let unit = units[queue.resource.unit.0 as usize].clone();
            let Some(before) = earlier.0.get(&(unit, queue.resource.address.clone())) else {
                continue;
            };
            let now = Identity::of(queue);
            let name = |name: Option<String>| name.map_or("a generated name".to_owned(), |name| format!("`{name}`"));
            let renamed = before.name.clone().zip(now.name).filter(|(was, is)| was != is);
            let header = queue.resource.header;
            let renamed = renamed.map(|(was, is)| replacement(&queue.name, header, [name(was), name(is)]));
            let kind = |fifo| if fifo { "FIFO" } else { "standard" }.to_owned();
            let retyped = before.fifo.zip(now.fifo).filter(|(was, is)| was != is);
            let retyped = retyped.map(|(was, is)| replacement(&queue.fifo, header, [kind(was), kind(is)]));
            queue.replaced = retyped.or(renamed);
        }
    }
}

fn replacement<T>(attribute: &Attribute<T>, header: Span, change: [String; 2]) -> Replacement {
    Replacement {
        attribute: (*attribute.name).into(),
        change: Some(change),
        span: attribute.cases.iter().next().map_or(header, |case| case.span),
    }
}
