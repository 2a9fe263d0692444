//! Finds consumers that compete for the messages of one queue. Consumers are distinguished by what processes the
//! messages and by their filters.
//!
//! Example: mappings of the functions `a`, `b` and `b` poll one queue. The pairs are (`a`, first `b`) and (`a`, second
//! `b`): each consumer is paired with the first earlier one that competes with it, and two mappings of one function do
//! not compete.

use super::compare::fact;
use super::finding::Finding;
use super::findings::Findings;
use crate::graph::{Attribute, Code, CodeSource, Condition, Function, Link, Queue, Resource, UnitId};
use source::Span;

/// Consumer of a queue that may compete with another one.
#[derive(Debug)]
pub(crate) struct CompetingConsumer<'g> {
    /// Mapping, pipe, or worker.
    pub(crate) resource: &'g Resource,
    /// Condition under which it consumes the queue.
    pub(crate) when: Condition,
    /// Span of its filters, if it has any.
    pub(crate) filters: Option<Span>,
    /// Function, pipe, or role of the worker that processes the messages.
    worker: Processor,
}

/// Function, pipe, or role of a worker that processes messages.
#[derive(Debug, Clone)]
enum Processor {
    Declared {
        unit: UnitId,
        address: String,
        /// Code of a function, if it is an image: two deployments of one image do the same.
        code: Option<Code>,
        /// `true` if its name is unknown.
        is_open: bool,
    },
    Named(String),
}

impl Processor {
    /// Returns `true` if the two are known to be different.
    fn is_other_than(&self, other: &Processor) -> bool {
        match (self, other) {
            (
                Processor::Declared {
                    unit, address, code, ..
                },
                Processor::Declared {
                    unit: other_unit,
                    address: other_address,
                    code: other_code,
                    ..
                },
            ) => {
                let is_same_image = code.as_ref().zip(other_code.as_ref()).is_some_and(may_be_same_image);
                (unit, address) != (other_unit, other_address) && !is_same_image
            }
            (Processor::Named(name), Processor::Named(other)) => name != other,
            (Processor::Declared { is_open, .. }, Processor::Named(_))
            | (Processor::Named(_), Processor::Declared { is_open, .. }) => !is_open,
        }
    }
}

/// Two consumers that compete for the messages of one queue.
#[derive(Debug)]
pub(crate) struct CompetingPair<'a, 'g> {
    pub(crate) first: &'a CompetingConsumer<'g>,
    pub(crate) second: &'a CompetingConsumer<'g>,
    /// Condition under which both consume the queue.
    pub(crate) when: Condition,
}

/// Returns the pairs of `rivals` that compete: those with different workers for which `concerns` returns `true`.
///
/// Each rival is paired with the first earlier one that competes with it. Under conditions that exclude the first one,
/// it is paired with the next, and so on. Further pairs would only repeat the same rivals.
pub(crate) fn pairs<'a, 'g>(
    rivals: &'a [CompetingConsumer<'g>],
    concerns: impl Fn(&CompetingConsumer<'g>, &CompetingConsumer<'g>) -> bool,
) -> Vec<CompetingPair<'a, 'g>> {
    let mut all = Vec::new();
    for (at, second) in rivals.iter().enumerate() {
        let others = rivals[..at]
            .iter()
            .filter(|first| concerns(first, second) && first.worker.is_other_than(&second.worker));
        let mut alone = second.when.clone();
        for first in others {
            let when = first.when.and(&alone);
            if when.is_possible() {
                all.push(CompetingPair { first, second, when });
                alone = alone.and(&first.when.not());
            }
            if !alone.is_possible() {
                break;
            }
        }
    }
    all
}

impl<'g> Findings<'g> {
    /// Reports the competing consumers of each queue, as found by [`pairs`], with the diagnostic from `competing`.
    pub(crate) fn judge_competing_consumers(
        &mut self,
        concerns: impl Fn(&CompetingConsumer<'_>, &CompetingConsumer<'_>) -> bool,
        competing: impl Fn(&Queue, &CompetingPair<'_, '_>) -> Finding,
    ) {
        for queue in self.graph.consumed().filter(|queue| queue.resource.is_single()) {
            let rivals = self.competing_consumers(queue);
            if let [only] = rivals.as_slice() {
                let alone = fact(true, || format!("only {} reads it", only.resource));
                self.satisfied(&only.when, queue, alone.depending_on(&only.resource.header));
            }
            for pair in pairs(&rivals, &concerns) {
                self.report(&pair.when, queue, competing(queue, &pair));
            }
        }
    }

    /// Returns the known consumers of `queue`. Omits resources that may not exist, as they may replace one another, and
    /// workers whose role may also send to the queue. Workers with one role are one consumer: only one of them may be the
    /// reader.
    pub(crate) fn competing_consumers(&mut self, queue: &Queue) -> Vec<CompetingConsumer<'g>> {
        let mut all = Vec::new();
        for poll in self.polls(&queue.resource.when, queue) {
            let resource = &poll.mapping.resource;
            if !poll.enabled || resource.uncertain.is_some() {
                continue;
            }
            for function in self.known(&poll.when, poll.mapping, &poll.mapping.function) {
                let Some(worker) = worker(self.graph.function(resource.unit, function.value), function.value) else {
                    continue;
                };
                for (when, filters) in self.filters(&function.when, resource, &poll.mapping.filters) {
                    all.push(CompetingConsumer {
                        resource,
                        when,
                        filters,
                        worker: worker.clone(),
                    });
                }
            }
        }
        for (reads, pipe) in self.graph.pipes_from(queue) {
            let resource = &pipe.resource;
            if resource.uncertain.is_some() {
                continue;
            }
            for running in self.known(&reads, resource, &pipe.running) {
                if *running.value {
                    for (when, filters) in self.filters(&running.when, resource, &pipe.filters) {
                        all.push(CompetingConsumer {
                            resource,
                            when,
                            filters,
                            worker: Processor::Declared {
                                unit: resource.unit,
                                address: resource.address.to_string(),
                                code: None,
                                is_open: false,
                            },
                        });
                    }
                }
            }
        }
        for worker in self.graph.worker_consumptions(queue) {
            if let Some((unit, role)) = &worker.receiver
                && worker.resource.uncertain.is_none()
            {
                all.push(CompetingConsumer {
                    resource: &worker.resource,
                    when: worker.when.clone(),
                    filters: None,
                    worker: Processor::Declared {
                        unit: *unit,
                        address: role.to_string(),
                        code: None,
                        is_open: false,
                    },
                });
            }
        }
        all
    }

    /// Returns the spans of filters, `None` without filters.
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

fn worker(declared: Option<&Function>, link: &Link) -> Option<Processor> {
    let Some(function) = declared else {
        return link
            .external_function_name()
            .map(|name| Processor::Named(name.to_owned()));
    };
    Some(Processor::Declared {
        unit: function.resource.unit,
        address: function.resource.address.to_string(),
        code: Some(function.code.clone()).filter(is_image).map(|code| Code {
            names: Vec::new(),
            ..code
        }),
        is_open: function.name.unresolved_reason().is_some(),
    })
}

/// Returns `true` if the code is an image, whose entry point no function overrides.
fn is_image(code: &Code) -> bool {
    code.handler.is_none() && matches!(&code.source, Some(CodeSource::Package(_)))
}

/// Returns `true` if the names of two images are equal, or if one is unresolved.
fn may_be_same_image((one, other): (&Code, &Code)) -> bool {
    let is_unresolved = |code: &Code| matches!(&code.source, Some(CodeSource::Package(name)) if name.is_empty());
    one == other || is_unresolved(one) || is_unresolved(other)
}
