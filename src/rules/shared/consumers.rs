//! Who reads a queue, and how long that may take: mappings and pipes that run, and the functions behind them.
//!
//! It knows the graph and how rules note what is unresolved; it decides nothing.

use super::operands::Operand;
use crate::diagnostic::Diagnostic;
use crate::graph::{Case, Condition, EventSourceMapping, Function, Graph, Link, Queue, Resource, limits};
use crate::rules::{Findings, Read, function_timeout_out_of_range};
use crate::source::Span;
use std::collections::BTreeSet;

/// A mapping that reads a queue, in worlds in which it is known whether it is enabled.
#[derive(Debug, Clone)]
pub(crate) struct Poll<'g> {
    /// The mapping.
    pub(crate) mapping: &'g EventSourceMapping,
    /// The worlds.
    pub(crate) world: Condition,
    /// Whether it polls there.
    pub(crate) enabled: bool,
    /// What says so.
    pub(crate) enabled_at: Span,
    /// What links it to the queue.
    link: &'g Case<Link>,
}

impl Read for Poll<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.extend([self.mapping.resource.header, self.enabled_at]);
        self.link.places(all);
    }
}

impl Poll<'_> {
    /// Adds the label that shows what leads from the queue to the function.
    pub(crate) fn show(&self, diagnostic: Diagnostic) -> Diagnostic {
        let mapping = &self.mapping.resource;
        if self.enabled {
            diagnostic.label(mapping.header, format!("{} reads the queue", mapping.shown()))
        } else {
            let message = format!("{} is disabled, so nothing polls yet", mapping.shown());
            diagnostic.label(self.enabled_at, message)
        }
    }
}

/// A mapping that polls a queue, or a pipe that runs on it.
#[derive(Debug, Clone)]
pub(crate) struct Consumer<'g> {
    /// The mapping or pipe.
    pub(crate) resource: &'g Resource,
    /// The worlds in which it does.
    pub(crate) world: Condition,
    /// Whether it is a pipe.
    pub(crate) is_pipe: bool,
    /// What links a mapping to the queue.
    link: Option<&'g Case<Link>>,
}

impl Read for Consumer<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.resource.header);
        self.link.into_iter().for_each(|link| link.places(all));
    }
}

impl Consumer<'_> {
    /// Adds a label that shows it.
    pub(crate) fn show(&self, diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.label(
            self.resource.header,
            format!("{} reads the queue", self.resource.shown()),
        )
    }
}

/// How long one invocation of a function may take.
#[derive(Debug, Clone)]
pub(crate) struct RunTime<'g> {
    /// The function.
    pub(crate) function: &'g Function,
    /// Its timeout; for a durable function that of the execution, capped where Lambda ends it.
    pub(crate) limit: Operand<'g>,
    /// Whether it is durable.
    pub(crate) durable: bool,
    /// What links the mapping to the function.
    link: &'g Case<Link>,
}

impl Read for RunTime<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        self.limit.places(all);
        self.link.places(all);
    }
}

impl RunTime<'_> {
    /// What the limit says, as a label.
    pub(crate) fn label(&self) -> String {
        let function = self.function.resource.shown();
        let said = if self.durable {
            format!(
                "an execution of durable function {function} may take {}",
                self.limit.seconds()
            )
        } else {
            format!("{function} may run for {}", self.limit.seconds())
        };
        self.limit.or_default(said, "Lambda")
    }
}

impl Findings<'_> {
    /// Notes the mappings whose source is not settled by the files: some queue may be read by them.
    pub(crate) fn note_open_sources(&mut self, graph: &Graph) {
        for mapping in graph.mappings() {
            self.known(&mapping.resource.when, &mapping.resource, &mapping.queue);
        }
        for pipe in &graph.deliveries().pipes {
            self.known(&pipe.resource.when, &pipe.resource, &pipe.source);
        }
    }

    /// The mappings that read `queue`, where it is known whether they are enabled.
    pub(crate) fn polls<'g>(&mut self, graph: &'g Graph, world: &Condition, queue: &'g Queue) -> Vec<Poll<'g>> {
        let mut all = Vec::new();
        for consumption in graph.consumptions(queue) {
            let (mapping, link) = (consumption.mapping, consumption.link);
            let world = world.and(&consumption.world);
            for enabled in self.known(&world, &mapping.resource, &mapping.enabled) {
                all.push(Poll {
                    mapping,
                    enabled: *enabled.value,
                    enabled_at: enabled.span(),
                    world: enabled.world,
                    link,
                });
            }
        }
        all
    }

    /// The mappings that poll `queue` and the pipes that run on it, where that is known.
    pub(crate) fn consumers<'g>(&mut self, graph: &'g Graph, world: &Condition, queue: &'g Queue) -> Vec<Consumer<'g>> {
        let polls = self.polls(graph, world, queue).into_iter().filter(|poll| poll.enabled);
        let mut all: Vec<Consumer<'g>> = polls
            .map(|poll| Consumer {
                resource: &poll.mapping.resource,
                world: poll.world,
                is_pipe: false,
                link: Some(poll.link),
            })
            .collect();
        for (where_read, pipe) in graph.pipes_from(queue) {
            let running = self.known(&world.and(&where_read), &pipe.resource, &pipe.running);
            let running = running.into_iter().filter(|running| *running.value);
            all.extend(running.map(|running| Consumer {
                resource: &pipe.resource,
                world: running.world,
                is_pipe: true,
                link: None,
            }));
        }
        all
    }

    /// How long the functions may take that `poll` invokes.
    pub(crate) fn run_times<'g>(&mut self, graph: &'g Graph, poll: &Poll<'g>) -> Vec<RunTime<'g>> {
        let mut all = Vec::new();
        for link in self.known(&poll.world, &poll.mapping.resource, &poll.mapping.function) {
            if let Some((function, world)) = graph.invoked(poll.mapping, link.value, &link.world) {
                let run_time = |(limit, durable)| RunTime {
                    function,
                    limit,
                    durable,
                    link: link.case,
                };
                all.extend(self.run_times_of(function, &world).into_iter().map(run_time));
            }
        }
        all
    }

    /// The limits of `function`, each with whether it is one of a durable execution.
    fn run_times_of<'g>(&mut self, function: &'g Function, world: &Condition) -> Vec<(Operand<'g>, bool)> {
        let mut all = Vec::new();
        for durable in self.known(world, &function.resource, &function.durable_execution_timeout) {
            if let Some(execution) = *durable.value {
                // Lambda waits for the whole execution, and ends it where it would end an invocation.
                for (world, most) in self.most_run_time(function, &durable.world, execution.0) {
                    let mut limit = Operand::new(&durable, execution.0.min(most));
                    limit.world = world;
                    all.push((limit, true));
                }
                continue;
            }
            for timeout in self.known(&durable.world, &function.resource, &function.timeout) {
                for (world, most) in self.most_run_time(function, &timeout.world, timeout.value.0) {
                    let mut limit = Operand::new(&timeout, timeout.value.0);
                    limit.world = world;
                    if limit.value <= most {
                        all.push((limit, false));
                    } else {
                        self.leave_timeout(function, &limit);
                    }
                }
            }
        }
        let is_enough = |(limit, _): &(Operand<'_>, bool)| limit.value >= *limits::FUNCTION_TIMEOUT.start();
        let (enough, less): (Vec<_>, Vec<_>) = all.into_iter().partition(is_enough);
        for (limit, _) in &less {
            self.leave_timeout(function, limit);
        }
        enough
    }

    /// A timeout that Lambda does not accept has a rule of its own.
    fn leave_timeout(&mut self, function: &Function, limit: &Operand<'_>) {
        let other = &function_timeout_out_of_range::RULE;
        self.yields(&limit.world, &function.resource, &[limit], other);
    }

    /// The longest timeout that `function` may have, asked only where `seconds` depends on it.
    pub(crate) fn most_run_time(
        &mut self,
        function: &Function,
        world: &Condition,
        seconds: i64,
    ) -> Vec<(Condition, i64)> {
        let (usual, managed) = (
            *limits::FUNCTION_TIMEOUT.end(),
            *limits::FUNCTION_TIMEOUT_MANAGED_INSTANCES.end(),
        );
        if seconds <= usual {
            return vec![(world.clone(), usual)];
        }
        let known = self.known(world, &function.resource, &function.managed_instances);
        let most = |is_managed: bool| if is_managed { managed } else { usual };
        known
            .into_iter()
            .map(|known| (known.world, most(*known.value)))
            .collect()
    }
}
