//! Consumers that poll a queue through an event source mapping or a pipe (`workers` finds the others), for the rules
//! that compare a queue with its consumers. Callers handle unresolved links.

use super::delivery::Pipe;
use super::{Consumption, EventSourceMapping, Function, Graph, Link, Queue};
use conditions::Condition;

impl Graph {
    /// Returns the queues that are the source of a mapping, each with its mappings, enabled or not.
    pub fn polled(&self) -> impl Iterator<Item = (&Queue, Vec<Consumption<'_>>)> {
        let all = self.queues().iter().map(|queue| (queue, self.consumptions(queue)));
        all.filter(|(_, consumptions)| !consumptions.is_empty())
    }

    /// Returns the queues that are the source of a mapping or a pipe.
    pub fn read(&self) -> impl Iterator<Item = &Queue> {
        self.queues().iter().filter(|queue| self.is_read(queue))
    }

    /// Returns `true` if `queue` is the source of a mapping or a pipe.
    pub fn is_read(&self, queue: &Queue) -> bool {
        !self.consumptions(queue).is_empty() || !self.pipes_from(queue).is_empty()
    }

    /// Returns the pipes with the source `queue`, running or not, each with its condition.
    pub fn pipes_from(&self, queue: &Queue) -> Vec<(Condition, &Pipe)> {
        let mut all = Vec::new();
        for pipe in self.pipes_naming(queue) {
            let both = queue.resource.when.and(&pipe.resource.when);
            for (assumed, _, link) in pipe.source.known_in(&both) {
                let found = self.queue(pipe.resource.unit, link);
                if found.is_some_and(|found| std::ptr::eq(found, queue)) {
                    all.push((assumed, pipe));
                }
            }
        }
        all
    }

    /// Returns the function that `link`, written in `mapping`, invokes, if the project declares it and it can exist
    /// under `assumed`.
    pub fn invoked<'g>(
        &'g self,
        mapping: &EventSourceMapping,
        link: &Link,
        assumed: &Condition,
    ) -> Option<(&'g Function, Condition)> {
        let function = self.function(mapping.resource.unit, link)?;
        let assumed = assumed.and(&function.resource.when);
        assumed.is_possible().then_some((function, assumed))
    }
}
