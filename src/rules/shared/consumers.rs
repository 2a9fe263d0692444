//! Who reads a queue, and how long that may take: mappings and pipes that run, and the functions behind them; workers,
//! of which nobody knows it.

use super::compare::Term;
use super::few::Few;
use super::finding::{Show, Spot};
use super::findings::Findings;
use super::operands::{Operand, Provenance, Side};
use super::trace::Read;
use crate::diagnostic::Severity;
use crate::graph::limits::{self, Quota, Unit};
use crate::graph::workers::Reading;
use crate::graph::{Case, Condition, EventSourceMapping, Function, Graph, Link, Queue, Resource, Seconds};
use crate::rules::Cause;
use crate::source::Span;
use std::collections::BTreeSet;

/// A mapping that reads a queue, where it is known whether it is enabled.
#[derive(Debug, Clone)]
pub(crate) struct Poll<'g> {
    /// The mapping.
    pub(crate) mapping: &'g EventSourceMapping,
    /// The condition under which it is enabled, or is not.
    pub(crate) when: Condition,
    /// Whether it is.
    pub(crate) enabled: bool,
    /// What says so.
    enabled_at: Span,
    /// What links it to the queue.
    link: &'g Case<Link>,
}

impl Poll<'_> {
    /// `severity` of a mapping that polls, advice for one that does not yet.
    pub(crate) fn severity(&self, severity: Severity) -> Severity {
        if self.enabled { severity } else { Severity::Info }
    }

    /// The batching window where `when` holds, for advice: it need not be known.
    pub(crate) fn window(&self, when: &Condition) -> Term<'static> {
        let Quota { least, most, .. } = &limits::WINDOW;
        match self.mapping.window.known_in(when).as_slice() {
            [(_, _, window)] => Seconds(window.0.clamp(*least, *most)).into(),
            _ => Term::seconds_to(*least, *most),
        }
    }
}

impl Read for Poll<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.extend([self.mapping.resource.header, self.enabled_at]);
        self.link.places(all);
    }
}

impl Show for Poll<'_> {
    fn label(&self) -> (Spot<'_>, String) {
        let mapping = &self.mapping.resource;
        if self.enabled {
            (mapping.header.into(), format!("{} reads the queue", mapping.shown()))
        } else {
            let message = format!("{} is disabled, so nothing polls yet", mapping.shown());
            (self.enabled_at.into(), message)
        }
    }
}

/// A mapping that polls a queue, a pipe that runs on it, or a worker that reads it.
#[derive(Debug, Clone)]
pub(crate) struct Consumer<'g> {
    /// The condition under which it does.
    pub(crate) when: Condition,
    kind: ConsumerKind<'g>,
}

#[derive(Debug, Clone)]
enum ConsumerKind<'g> {
    /// With what links it to the queue.
    Mapping(&'g Resource, &'g Case<Link>),
    Pipe(&'g Resource),
    Worker(&'g Reading),
    /// A worker that a team declares, and where it does.
    Declared(Span),
}

impl Consumer<'_> {
    /// Whether it is a pipe.
    pub(crate) fn is_pipe(&self) -> bool {
        matches!(self.kind, ConsumerKind::Pipe(_))
    }

    fn span(&self) -> Span {
        match self.kind {
            ConsumerKind::Mapping(resource, _) | ConsumerKind::Pipe(resource) => resource.header,
            ConsumerKind::Worker(reading) => reading.span,
            ConsumerKind::Declared(span) => span,
        }
    }
}

impl Read for Consumer<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.span());
        if let ConsumerKind::Mapping(_, link) = self.kind {
            link.places(all);
        }
    }
}

impl Show for Consumer<'_> {
    fn label(&self) -> (Spot<'_>, String) {
        let message = match &self.kind {
            ConsumerKind::Mapping(resource, _) | ConsumerKind::Pipe(resource) => {
                format!("{} reads the queue", resource.shown())
            }
            ConsumerKind::Worker(reading) => reading.said.clone(),
            ConsumerKind::Declared(_) => "a declared worker reads the queue".to_owned(),
        };
        (self.span().into(), message)
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
    link: Provenance<'g>,
}

impl Read for RunTime<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        self.limit.places(all);
        self.link.places(all);
    }
}

impl Show for RunTime<'_> {
    fn label(&self) -> (Spot<'_>, String) {
        let (function, limit) = (self.function.resource.shown(), self.limit.shown());
        let says = if self.durable {
            format!("an execution of the durable function {function} may take {limit}")
        } else {
            format!("{function} may run for {limit}")
        };
        (
            (&self.limit).into(),
            self.limit.or_default(default_timeout_of(&self.limit), says),
        )
    }
}

/// Whose default a timeout of a function is where nobody sets it: a framework may have one of its own.
pub(crate) fn default_timeout_of(limit: &Operand<'_>) -> &'static str {
    if Seconds(limit.value) == limits::FUNCTION_TIMEOUT_DEFAULT {
        "Lambda"
    } else {
        "the framework"
    }
}

impl Findings<'_> {
    /// Notes the mappings and pipes whose source is unresolved: any queue may be read by them.
    pub(crate) fn note_unresolved_sources(&mut self, graph: &Graph) {
        for mapping in graph.mappings() {
            self.known(&mapping.resource.when, mapping, &mapping.queue);
        }
        for pipe in &graph.deliveries().pipes {
            self.known(&pipe.resource.when, &pipe.resource, &pipe.source);
        }
    }

    /// The mappings that read `queue`, where it is known whether they are enabled.
    pub(crate) fn polls<'g>(&mut self, graph: &'g Graph, when: &Condition, queue: &'g Queue) -> Vec<Poll<'g>> {
        let mut all = Vec::new();
        for consumption in graph.consumptions(queue) {
            let (mapping, link) = (consumption.mapping, consumption.link);
            for enabled in self.known(&when.and(&consumption.when), mapping, &mapping.enabled) {
                all.push(Poll {
                    mapping,
                    enabled: *enabled.value,
                    enabled_at: enabled.span,
                    when: enabled.when,
                    link,
                });
            }
        }
        all
    }

    /// The mappings that poll `queue` and the pipes that run on it, where that is known.
    pub(crate) fn consumers<'g>(&mut self, graph: &'g Graph, when: &Condition, queue: &'g Queue) -> Vec<Consumer<'g>> {
        let polls = self.polls(graph, when, queue).into_iter().filter(|poll| poll.enabled);
        let mapping = |poll: Poll<'g>| Consumer {
            kind: ConsumerKind::Mapping(&poll.mapping.resource, poll.link),
            when: poll.when,
        };
        let mut all: Vec<Consumer<'g>> = polls.map(mapping).collect();
        for (reads, pipe) in graph.pipes_from(queue) {
            let running = self.known(&when.and(&reads), &pipe.resource, &pipe.running);
            let running = running.into_iter().filter(|running| *running.value);
            all.extend(running.map(|running| Consumer {
                kind: ConsumerKind::Pipe(&pipe.resource),
                when: running.when,
            }));
        }
        all
    }

    /// The same and the workers that read `queue`, found and declared: for rules that need not know how long a consumer
    /// takes.
    pub(crate) fn readers<'g>(&mut self, graph: &'g Graph, when: &Condition, queue: &'g Queue) -> Vec<Consumer<'g>> {
        let mut all = self.consumers(graph, when, queue);
        all.extend(self.workers(graph, when, queue));
        all
    }

    /// The workers that read `queue`, found and declared.
    pub(crate) fn workers<'g>(
        &self,
        graph: &'g Graph,
        when: &Condition,
        queue: &'g Queue,
    ) -> impl Iterator<Item = Consumer<'g>> {
        let found = graph.readings(queue).iter().map(|reading| Consumer {
            when: when.and(&reading.when),
            kind: ConsumerKind::Worker(reading),
        });
        let found: Vec<Consumer<'g>> = found.filter(|worker| worker.when.is_possible()).collect();
        let declared = graph.declared_workers(queue).map(|declared| Consumer {
            when: when.clone(),
            kind: ConsumerKind::Declared(declared.span.unwrap_or(queue.resource.header)),
        });
        found.into_iter().chain(declared.collect::<Vec<_>>())
    }

    /// How long the functions may take that `poll` invokes.
    pub(crate) fn run_times<'g>(&mut self, graph: &'g Graph, poll: &Poll<'g>) -> Vec<RunTime<'g>> {
        self.run_times_of_all(graph, poll, false)
    }

    /// The same, and the least that unresolved timeouts may be ([`Findings::bounded_numbers`]).
    pub(crate) fn least_run_times<'g>(&mut self, graph: &'g Graph, poll: &Poll<'g>) -> Vec<RunTime<'g>> {
        self.run_times_of_all(graph, poll, true)
    }

    fn run_times_of_all<'g>(&mut self, graph: &'g Graph, poll: &Poll<'g>, bounded: bool) -> Vec<RunTime<'g>> {
        let mut all = Vec::new();
        for link in self.known(&poll.when, poll.mapping, &poll.mapping.function) {
            if let Some((function, when)) = graph.invoked(poll.mapping, link.value, &link.when) {
                let run_time = |(limit, durable)| RunTime {
                    function,
                    limit,
                    durable,
                    link: *link,
                };
                all.extend(self.run_times_of(function, &when, bounded).into_iter().map(run_time));
            }
        }
        all
    }

    /// How long the function may take that `link`, written in `resource`, names; unresolved timeouts count as the least
    /// that they may be. Nothing where it is no function of the project.
    pub(crate) fn least_run_times_behind<'g>(
        &mut self,
        graph: &'g Graph,
        resource: &Resource,
        link: &Link,
        at: Provenance<'g>,
        when: &Condition,
    ) -> Vec<RunTime<'g>> {
        let Some(function) = graph.function(resource.unit, link) else {
            return Vec::new();
        };
        let when = when.and(&function.resource.when);
        let all = self.run_times_of(function, &when, true).into_iter();
        let run_time = |(limit, durable)| RunTime {
            function,
            limit,
            durable,
            link: at,
        };
        all.map(run_time).collect()
    }

    /// The limits of `function`, each with whether it is that of a durable execution.
    fn run_times_of<'g>(
        &mut self,
        function: &'g Function,
        when: &Condition,
        bounded: bool,
    ) -> Vec<(Operand<'g>, bool)> {
        let mut all = Vec::new();
        for durable in self.known(when, function, &function.durable_execution_timeout) {
            if let Some(execution) = durable.number(Unit::Seconds) {
                // Lambda waits for the whole execution, and ends it where it would end an invocation.
                for (when, quota) in self.timeout_quotas(function, &execution) {
                    let mut limit = execution.under(when);
                    limit.value = limit.value.min(quota.most);
                    all.push((limit, quota, true));
                }
                continue;
            }
            for timeout in self.timeouts(&durable.when, function, bounded) {
                for (when, quota) in self.timeout_quotas(function, &timeout) {
                    all.push((timeout.under(when), quota, false));
                }
            }
        }
        all.retain(|(limit, quota, _)| {
            let is_accepted = quota.accepts(limit.value);
            if !is_accepted {
                self.leave(
                    &limit.when,
                    function,
                    &[limit],
                    Cause::OutOfRange(&limits::FUNCTION_TIMEOUT),
                );
            }
            is_accepted
        });
        all.into_iter().map(|(limit, _, durable)| (limit, durable)).collect()
    }

    /// The timeouts of `function`, in or out of range; of unresolved ones the least, where they are `bounded`.
    fn timeouts<'g>(&mut self, when: &Condition, function: &'g Function, bounded: bool) -> Few<Operand<'g>> {
        if !bounded {
            return self.any_numbers(when, function, &function.timeout, Unit::Seconds);
        }
        let quota = match function.managed_instances.known() {
            Some(false) => &limits::FUNCTION_TIMEOUT,
            _ => &limits::FUNCTION_TIMEOUT_MANAGED_INSTANCES,
        };
        self.any_bounded_numbers(when, function, &function.timeout, quota, Side::Least)
    }

    /// The timeouts that Lambda accepts for `function`. That it may run on Managed Instances is asked only where
    /// `timeout` depends on it.
    pub(crate) fn timeout_quotas(
        &mut self,
        function: &Function,
        timeout: &Operand<'_>,
    ) -> Vec<(Condition, &'static Quota)> {
        if timeout.value <= limits::FUNCTION_TIMEOUT.most {
            return vec![(timeout.when.clone(), &limits::FUNCTION_TIMEOUT)];
        }
        let managed = self.known(&timeout.when, function, &function.managed_instances);
        let quota = |is_managed: bool| {
            if is_managed {
                &limits::FUNCTION_TIMEOUT_MANAGED_INSTANCES
            } else {
                &limits::FUNCTION_TIMEOUT
            }
        };
        (managed.into_iter())
            .map(|managed| (managed.when, quota(*managed.value)))
            .collect()
    }
}
