//! Who takes messages from a queue, told apart by what processes them, and which of them by filters.

use super::compare::fact;
use super::finding::Finding;
use super::findings::Findings;
use crate::graph::{Attribute, Condition, Function, Graph, Link, Queue, Resource, UnitId};
use crate::source::Span;

/// Something that takes messages from a queue.
#[derive(Debug)]
pub(crate) struct Rival<'g> {
    /// The mapping or pipe.
    pub(crate) resource: &'g Resource,
    /// The condition under which it does.
    pub(crate) when: Condition,
    /// Its filters, where it has any.
    pub(crate) filters: Option<Span>,
    /// What processes the messages.
    worker: Worker,
}

/// A function or a pipe.
#[derive(Debug, Clone)]
enum Worker {
    Declared {
        unit: UnitId,
        address: String,
        /// Whether it may be called anything.
        is_open: bool,
    },
    Named(String),
}

impl Worker {
    /// Whether it is known to be another one.
    fn is_other_than(&self, other: &Worker) -> bool {
        match (self, other) {
            (
                Worker::Declared { unit, address, .. },
                Worker::Declared {
                    unit: other_unit,
                    address: other_address,
                    ..
                },
            ) => (unit, address) != (other_unit, other_address),
            (Worker::Named(name), Worker::Named(other)) => name != other,
            (Worker::Declared { is_open, .. }, Worker::Named(_))
            | (Worker::Named(_), Worker::Declared { is_open, .. }) => !is_open,
        }
    }
}

/// Two that take messages from one queue at the same time.
#[derive(Debug)]
pub(crate) struct Pair<'a, 'g> {
    pub(crate) first: &'a Rival<'g>,
    pub(crate) second: &'a Rival<'g>,
    /// The condition under which both do.
    pub(crate) when: Condition,
}

/// Those of `rivals` that compete, two of another function each of which `concerns` holds: every one with the first
/// that it meets wherever it reads, as the rest of all the pairs would only say the same of the same rivals.
pub(crate) fn pairs<'a, 'g>(
    rivals: &'a [Rival<'g>],
    concerns: impl Fn(&Rival<'g>, &Rival<'g>) -> bool,
) -> Vec<Pair<'a, 'g>> {
    let mut all = Vec::new();
    for (at, second) in rivals.iter().enumerate() {
        let others = rivals[..at]
            .iter()
            .filter(|first| concerns(first, second) && first.worker.is_other_than(&second.worker));
        let mut alone = second.when.clone();
        for first in others {
            let when = first.when.and(&alone);
            if when.is_possible() {
                all.push(Pair { first, second, when });
                alone = alone.and(&first.when.not());
            }
            if !alone.is_possible() {
                break;
            }
        }
    }
    all
}

impl Findings<'_> {
    /// Reports, in the words of `competing`, readers of one queue that compete, as [`pairs`] finds them.
    pub(crate) fn judge_rivals(
        &mut self,
        graph: &Graph,
        concerns: impl Fn(&Rival<'_>, &Rival<'_>) -> bool,
        competing: impl Fn(&Queue, &Pair<'_, '_>) -> Finding,
    ) {
        for queue in graph.read() {
            let rivals = self.rivals(graph, queue);
            if let [only] = rivals.as_slice() {
                let alone = fact(true, || format!("only {} reads it", only.resource.shown()));
                self.satisfied(&only.when, queue, alone.given(&only.resource.header));
            }
            for pair in pairs(&rivals, &concerns) {
                self.report(&pair.when, queue, competing(queue, &pair));
            }
        }
    }

    /// What is known to take messages from `queue`. What may not exist may be there in place of another, and is left
    /// out.
    pub(crate) fn rivals<'g>(&mut self, graph: &'g Graph, queue: &'g Queue) -> Vec<Rival<'g>> {
        let mut all = Vec::new();
        for poll in self.polls(graph, &queue.resource.when, queue) {
            let resource = &poll.mapping.resource;
            if !poll.enabled || resource.uncertain.is_some() {
                continue;
            }
            for function in self.known(&poll.when, poll.mapping, &poll.mapping.function) {
                let Some(worker) = worker(graph.function(resource.unit, function.value), function.value) else {
                    continue;
                };
                for (when, filters) in self.filters(&function.when, resource, &poll.mapping.filters) {
                    all.push(Rival {
                        resource,
                        when,
                        filters,
                        worker: worker.clone(),
                    });
                }
            }
        }
        for (reads, pipe) in graph.pipes_from(queue) {
            let resource = &pipe.resource;
            if resource.uncertain.is_some() {
                continue;
            }
            for running in self.known(&reads, resource, &pipe.running) {
                if *running.value {
                    for (when, filters) in self.filters(&running.when, resource, &pipe.filters) {
                        all.push(Rival {
                            resource,
                            when,
                            filters,
                            worker: Worker::Declared {
                                unit: resource.unit,
                                address: resource.address.to_string(),
                                is_open: false,
                            },
                        });
                    }
                }
            }
        }
        all
    }

    /// The places of filters, `None` where there are none.
    fn filters(
        &mut self,
        when: &Condition,
        resource: &Resource,
        filters: &Attribute<Vec<Attribute<String>>>,
    ) -> Vec<(Condition, Option<Span>)> {
        let known = self.known(when, resource, filters).into_iter();
        known
            .map(|filters| {
                let span = (!filters.value.is_empty()).then_some(filters.span);
                (filters.when, span)
            })
            .collect()
    }
}

fn worker(declared: Option<&Function>, link: &Link) -> Option<Worker> {
    let Some(function) = declared else {
        return link.external_function_name().map(|name| Worker::Named(name.to_owned()));
    };
    Some(Worker::Declared {
        unit: function.resource.unit,
        address: function.resource.address.to_string(),
        is_open: function.name.unresolved_reason().is_some(),
    })
}
