//! Who reads a queue through an event source mapping: the questions of every rule that compares a queue with
//! its consumers. What is unresolved stays for the caller to note.

use super::{Condition, Consumption, EventSourceMapping, Function, Graph, Link, Queue};

impl Graph {
    /// Every queue that some mapping names as its source, with these mappings, enabled or not.
    pub fn polled(&self) -> impl Iterator<Item = (&Queue, Vec<Consumption<'_>>)> {
        let all = self.queues().iter().map(|queue| (queue, self.consumptions(queue)));
        all.filter(|(_, consumptions)| !consumptions.is_empty())
    }

    /// The function that `link`, written in `mapping`, invokes, where it is declared in the project and exists
    /// in a world of `world`.
    pub fn invoked<'g>(
        &'g self,
        mapping: &EventSourceMapping,
        link: &Link,
        world: &Condition,
    ) -> Option<(&'g Function, Condition)> {
        let function = self.function(mapping.resource.unit, link)?;
        let world = world.and(&function.resource.when);
        world.is_possible().then_some((function, world))
    }
}
