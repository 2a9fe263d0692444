//! Who reads a queue, through an event source mapping or a pipe (`workers` knows the others): the questions of every rule that compares a queue with
//! its consumers. What is unresolved stays for the caller to note.

use super::delivery::Pipe;
use super::{Consumption, EventSourceMapping, Function, Graph, Link, Queue};
use crate::conditions::Condition;

impl Graph {
    /// Every queue that some mapping names as its source, with these mappings, enabled or not.
    pub fn polled(&self) -> impl Iterator<Item = (&Queue, Vec<Consumption<'_>>)> {
        let all = self.queues().iter().map(|queue| (queue, self.consumptions(queue)));
        all.filter(|(_, consumptions)| !consumptions.is_empty())
    }

    /// Every queue that some mapping or pipe names as its source.
    pub fn read(&self) -> impl Iterator<Item = &Queue> {
        self.queues().iter().filter(|queue| self.is_read(queue))
    }

    /// Whether some mapping or pipe names `queue` as its source.
    pub fn is_read(&self, queue: &Queue) -> bool {
        !self.consumptions(queue).is_empty() || !self.pipes_from(queue).is_empty()
    }

    /// The pipes that read `queue`, running or not, each under the conditions where it does.
    pub fn pipes_from<'g>(&'g self, queue: &'g Queue) -> Vec<(Condition, &'g Pipe)> {
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

    /// The function that `link`, written in `mapping`, invokes, where it is declared in the project and exists
    /// where `assumed` may hold.
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
