//! Queries about the consumers of a queue and how long they may take: mappings and pipes that run, the functions that
//! they invoke, and workers, whose run time is unknown.

use super::compare::Term;
use super::few::Few;
use super::finding::{LabelSpan, Labeled};
use super::findings::Findings;
use super::operands::{FavorableBound, Operand, Provenance};
use super::trace::ReadValue;
use crate::diagnostic::Severity;
use crate::graph::declared::DeclaredConsumer;
use crate::graph::limits::{self, Quota, Unit};
use crate::graph::workers::WorkerConsumption;
use crate::graph::{Case, Condition, EventSourceMapping, Function, Link, Queue, Resource, Seconds};
use crate::rules::Cause;
use source::Span;
use std::collections::BTreeSet;

/// Mapping that polls a queue, for conditions under which `enabled` is known.
#[derive(Debug, Clone)]
pub(crate) struct PollingMapping<'g> {
    /// Mapping that polls the queue.
    pub(crate) mapping: &'g EventSourceMapping,
    /// Condition under which `enabled` has this value.
    pub(crate) when: Condition,
    /// `true` if the mapping is enabled.
    pub(crate) enabled: bool,
    /// Span of the setting that enables or disables the mapping.
    enabled_at: Span,
    /// Link from the mapping to the queue.
    link: &'g Case<Link>,
}

impl PollingMapping<'_> {
    /// Returns `severity` if the mapping is enabled, and info if it does not poll yet.
    pub(crate) fn severity(&self, severity: Severity) -> Severity {
        if self.enabled { severity } else { Severity::Info }
    }

    /// Returns the batching window under `when`, for use in advice. An unresolved window becomes a range.
    pub(crate) fn window(&self, when: &Condition) -> Term<'static> {
        let Quota { least, most, .. } = &limits::WINDOW;
        match self.mapping.window.known_in(when).as_slice() {
            [(_, _, window)] => Seconds(window.0.clamp(*least, *most)).into(),
            _ => Term::seconds_to(*least, *most),
        }
    }
}

impl ReadValue for PollingMapping<'_> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        all.extend([self.mapping.resource.header, self.enabled_at]);
        self.link.spans(all);
    }
}

impl Labeled for PollingMapping<'_> {
    fn label(&self) -> (LabelSpan<'_>, String) {
        let mapping = &self.mapping.resource;
        if self.enabled {
            (mapping.header.into(), format!("{} reads the queue", mapping.shown()))
        } else {
            let message = format!("{} is disabled, so nothing polls yet", mapping.shown());
            (self.enabled_at.into(), message)
        }
    }
}

/// Consumer of a queue: an enabled mapping, a running pipe, or a worker.
#[derive(Debug, Clone)]
pub(crate) struct Consumer<'g> {
    /// Condition under which it consumes the queue.
    pub(crate) when: Condition,
    kind: ConsumerKind<'g>,
}

#[derive(Debug, Clone)]
enum ConsumerKind<'g> {
    /// Mapping, with its link to the queue.
    Mapping(&'g Resource, &'g Case<Link>),
    Pipe(&'g Resource),
    Worker(&'g WorkerConsumption),
    /// Worker declared in the configuration, with the span of the declaration.
    Declared(Span),
}

impl Consumer<'_> {
    fn declared(worker: &DeclaredConsumer, when: &Condition, queue: &Queue) -> Self {
        Consumer {
            when: when.clone(),
            kind: ConsumerKind::Declared(worker.span.unwrap_or(queue.resource.header)),
        }
    }

    /// Returns `true` if the consumer is a pipe.
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

impl ReadValue for Consumer<'_> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.span());
        if let ConsumerKind::Mapping(_, link) = self.kind {
            link.spans(all);
        }
    }
}

impl Labeled for Consumer<'_> {
    fn label(&self) -> (LabelSpan<'_>, String) {
        let message = match &self.kind {
            ConsumerKind::Mapping(resource, _) | ConsumerKind::Pipe(resource) => {
                format!("{resource} reads the queue")
            }
            ConsumerKind::Worker(reading) => reading.evidence.clone(),
            ConsumerKind::Declared(_) => "a declared worker reads the queue".to_owned(),
        };
        (self.span().into(), message)
    }
}

/// Maximum duration of one invocation of a function.
#[derive(Debug, Clone)]
pub(crate) struct RunTime<'g> {
    /// Function that is invoked.
    pub(crate) function: &'g Function,
    /// Function timeout, or the execution timeout of a durable function, capped at the duration after which Lambda ends
    /// it.
    pub(crate) limit: Operand<'g>,
    /// `true` if the function is durable.
    pub(crate) durable: bool,
    /// Link from the mapping to the function.
    link: Provenance<'g>,
}

impl ReadValue for RunTime<'_> {
    fn spans(&self, all: &mut BTreeSet<Span>) {
        self.limit.spans(all);
        self.link.spans(all);
    }
}

impl Labeled for RunTime<'_> {
    fn label(&self) -> (LabelSpan<'_>, String) {
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

/// Returns the service whose default applies if no timeout is set: a framework may have a default that differs from
/// Lambda's.
pub(crate) fn default_timeout_of(limit: &Operand<'_>) -> &'static str {
    if Seconds(limit.value) == limits::FUNCTION_TIMEOUT_DEFAULT {
        "Lambda"
    } else {
        "the framework"
    }
}

impl<'g> Findings<'g> {
    /// Notes the mappings and pipes whose source is unresolved, as they may poll any queue.
    pub(crate) fn note_unresolved_sources(&mut self) {
        for mapping in self.graph.mappings() {
            self.known(&mapping.resource.when, mapping, &mapping.queue);
        }
        for pipe in &self.graph.deliveries().pipes {
            self.known(&pipe.resource.when, &pipe.resource, &pipe.source);
        }
    }

    /// Returns the mappings that poll `queue`, for conditions under which it is known whether they are enabled.
    pub(crate) fn polls(&mut self, when: &Condition, queue: &Queue) -> Vec<PollingMapping<'g>> {
        let mut all = Vec::new();
        for consumption in self.graph.consumptions(queue) {
            let (mapping, link) = (consumption.mapping, consumption.link);
            for enabled in self.known(&when.and(&consumption.when), mapping, &mapping.enabled) {
                all.push(PollingMapping {
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

    /// Returns the enabled mappings and running pipes that consume `queue`.
    pub(crate) fn consumers(&mut self, when: &Condition, queue: &Queue) -> Vec<Consumer<'g>> {
        let polls = self.polls(when, queue).into_iter().filter(|poll| poll.enabled);
        let mapping = |poll: PollingMapping<'g>| Consumer {
            kind: ConsumerKind::Mapping(&poll.mapping.resource, poll.link),
            when: poll.when,
        };
        let mut all: Vec<Consumer<'g>> = polls.map(mapping).collect();
        for (reads, pipe) in self.graph.pipes_from(queue) {
            let running = self.known(&when.and(&reads), &pipe.resource, &pipe.running);
            let running = running.into_iter().filter(|running| *running.value);
            all.extend(running.map(|running| Consumer {
                kind: ConsumerKind::Pipe(&pipe.resource),
                when: running.when,
            }));
        }
        all
    }

    /// Returns the consumers of `queue` including workers, detected and declared: for rules that do not need a
    /// consumer's run time.
    pub(crate) fn consumers_and_workers(&mut self, when: &Condition, queue: &Queue) -> Vec<Consumer<'g>> {
        let mut all = self.consumers(when, queue);
        all.extend(self.workers(when, queue));
        all
    }

    /// Returns the consumers of `queue` that leave a failed message invisible for the whole visibility timeout: mappings,
    /// pipes, and declared workers without a heartbeat. Others may return a message at once.
    pub(crate) fn consumers_that_wait(&mut self, when: &Condition, queue: &Queue) -> Vec<Consumer<'g>> {
        let mut all = self.consumers(when, queue);
        let waiting = self
            .graph
            .declared_workers(queue)
            .filter(|worker| worker.heartbeat.is_none());
        all.extend(waiting.map(|worker| Consumer::declared(worker, when, queue)));
        all
    }

    /// Returns the workers that poll `queue`, detected and declared.
    pub(crate) fn workers(&self, when: &Condition, queue: &Queue) -> impl Iterator<Item = Consumer<'g>> {
        let found = self.graph.worker_consumptions(queue).iter().map(|reading| Consumer {
            when: when.and(&reading.when),
            kind: ConsumerKind::Worker(reading),
        });
        let found: Vec<Consumer<'g>> = found.filter(|worker| worker.when.is_possible()).collect();
        let declared = self.graph.declared_workers(queue);
        let declared = declared.map(|worker| Consumer::declared(worker, when, queue));
        found.into_iter().chain(declared.collect::<Vec<_>>())
    }

    /// Returns the run times of the functions that `poll` invokes.
    pub(crate) fn run_times(&mut self, poll: &PollingMapping<'g>) -> Vec<RunTime<'g>> {
        self.run_times_of_all(poll, false)
    }

    /// Like [`Findings::run_times`], with the lower bounds of unresolved timeouts ([`Findings::bounded_numbers`]).
    pub(crate) fn least_run_times(&mut self, poll: &PollingMapping<'g>) -> Vec<RunTime<'g>> {
        self.run_times_of_all(poll, true)
    }

    fn run_times_of_all(&mut self, poll: &PollingMapping<'g>, bounded: bool) -> Vec<RunTime<'g>> {
        let mut all = Vec::new();
        for link in self.known(&poll.when, poll.mapping, &poll.mapping.function) {
            if let Some((function, when)) = self.graph.invoked(poll.mapping, link.value, &link.when) {
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

    /// Returns the run times of the function that `link`, written in `resource`, refers to, with the lower bounds of
    /// unresolved timeouts. Returns an empty list if the project does not declare the function.
    pub(crate) fn least_run_times_of_link(
        &mut self,
        resource: &Resource,
        link: &Link,
        at: Provenance<'g>,
        when: &Condition,
    ) -> Vec<RunTime<'g>> {
        let Some(function) = self.graph.function(resource.unit, link) else {
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

    /// Returns the time limits of `function`, each with `true` if it applies to a durable execution.
    fn run_times_of<'a>(
        &mut self,
        function: &'a Function,
        when: &Condition,
        bounded: bool,
    ) -> Vec<(Operand<'a>, bool)> {
        let mut all = Vec::new();
        for durable in self.known(when, function, &function.durable_execution_timeout) {
            if let Some(execution) = durable.number(Unit::Seconds) {
                // Lambda waits for the whole execution, but ends it at the limit of an invocation.
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
                self.leave_to_rule_of(
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

    /// Returns the timeouts of `function`, including out-of-range ones. Unresolved timeouts contribute their lower
    /// bound if `bounded` is set.
    fn timeouts<'a>(&mut self, when: &Condition, function: &'a Function, bounded: bool) -> Few<Operand<'a>> {
        if !bounded {
            return self.any_numbers(when, function, &function.timeout, Unit::Seconds);
        }
        let quota = match function.managed_instances.known() {
            Some(false) => &limits::FUNCTION_TIMEOUT,
            _ => &limits::FUNCTION_TIMEOUT_MANAGED_INSTANCES,
        };
        self.any_bounded_numbers(when, function, &function.timeout, quota, FavorableBound::Least)
    }

    /// Returns the ranges of timeouts that Lambda accepts for `function`. Only a `timeout` above the standard limit
    /// depends on whether the function runs on Managed Instances, so that attribute is not read for others.
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
