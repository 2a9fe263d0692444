//! What checks compute with: numbers of the graph that are known and inside their own range, with all it takes
//! to point at them. A number outside its range has a rule of its own, and no other rule computes with it.
//!
//! It decides nothing: rules compare and speak.

use crate::diagnostic::{Change, Diagnostic, Place};
use crate::graph::limits;
use crate::graph::{
    Attribute, Case, Condition, EventSourceMapping, Function, Graph, Link, Origin, PolicyFault, Queue, RedrivePolicy,
    Resource, Seconds,
};
use crate::rules::{
    Findings, Known, Read, Rule, function_timeout_out_of_range, max_receive_count_out_of_range,
    queue_attribute_out_of_range, redrive_policy_malformed,
};
use crate::source::Span;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// A whole number, with or without a unit.
pub(crate) trait Number: Copy {
    /// Without it.
    fn number(self) -> i64;
}

impl Number for i64 {
    fn number(self) -> i64 {
        self
    }
}

impl Number for Seconds {
    fn number(self) -> i64 {
        self.0
    }
}

/// A number that a check computes with.
#[derive(Debug, Clone)]
pub(crate) struct Operand<'g> {
    /// The number, inside its own range.
    pub(crate) value: i64,
    /// The worlds in which it is that.
    pub(crate) world: Condition,
    /// Where to point.
    pub(crate) span: Span,
    /// As the user spells the attribute.
    pub(crate) name: &'g str,
    /// Whether nothing is written and the default applies.
    pub(crate) is_default: bool,
    provenance: String,
    origins: &'g [Origin],
}

impl<'g> Operand<'g> {
    /// `value` as it was found in `known`.
    pub(crate) fn new<T>(known: &Known<'g, T>, value: i64) -> Self {
        Operand {
            value,
            world: known.world.clone(),
            span: known.span(),
            name: known.name,
            is_default: known.case.is_default(),
            provenance: known.provenance(),
            origins: &known.case.origins,
        }
    }

    /// `30 s (the default)`, `345600 s (4 days, the default)`.
    pub(crate) fn seconds(&self) -> String {
        let seconds = Seconds(self.value);
        match (seconds.in_words(), self.provenance.strip_prefix(" (")) {
            (Some(words), Some(provenance)) => format!("{seconds} ({words}, {provenance}"),
            (Some(words), None) => format!("{seconds} ({words})"),
            (None, _) => format!("{seconds}{}", self.provenance),
        }
    }

    /// `3 (the default of `var.receives`)`.
    pub(crate) fn count(&self) -> String {
        format!("{}{}", self.value, self.provenance)
    }

    /// `said` of a number that is written somewhere; that `service`'s default applies of one that is not.
    pub(crate) fn or_default(&self, said: String, service: &str) -> String {
        if self.is_default {
            format!(
                "`{}` is not set: {service}'s default of {} applies",
                self.name,
                Seconds(self.value).spoken()
            )
        } else {
            said
        }
    }

    /// `diagnostic` with the place where the number is written, when that is another than [`Operand::span`].
    pub(crate) fn trace(&self, diagnostic: Diagnostic) -> Diagnostic {
        trace(self.origins.last(), self.span, diagnostic)
    }

    /// Where the number stands in the files, or would.
    pub(crate) fn place(&self, resource: &Resource) -> Place {
        Place {
            header: resource.header,
            name: self.name.to_owned(),
            written: (!self.is_default).then_some(self.span),
            origins: self.origins.iter().map(|origin| origin.span).collect(),
            value: (!self.is_default).then_some(self.value),
        }
    }

    /// The change that writes `value` in place of this number.
    pub(crate) fn write(&self, resource: &Resource, value: i64) -> Change {
        Change::Number {
            place: self.place(resource),
            value,
        }
    }

    /// `diagnostic` with `message` as a further label at this number.
    pub(crate) fn show(&self, diagnostic: Diagnostic, message: String) -> Diagnostic {
        self.trace(diagnostic.label(self.span, message))
    }
}

impl Read for Operand<'_> {
    fn places(&self, all: &mut BTreeSet<Span>) {
        all.insert(self.span);
        all.extend(self.origins.iter().map(|origin| origin.span));
    }
}

/// `diagnostic` with a label at `origin`, when that is another place than `span`.
pub(crate) fn trace(origin: Option<&Origin>, span: Span, diagnostic: Diagnostic) -> Diagnostic {
    match origin.filter(|origin| origin.span != span) {
        Some(origin) => diagnostic.label(origin.span, origin.shown()),
        None => diagnostic,
    }
}

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
    /// The numbers of `attribute` inside `range`, in the worlds of `world`; unresolved ones are noted, and those
    /// outside are for `other` to judge, where there is such a rule.
    pub(crate) fn numbers<'a, T: Number>(
        &mut self,
        world: &Condition,
        resource: &Resource,
        attribute: &'a Attribute<T>,
        range: &RangeInclusive<i64>,
        other: Option<&'static Rule>,
    ) -> Vec<Operand<'a>> {
        let known = self.known(world, resource, attribute);
        let operands = known.iter().map(|known| Operand::new(known, known.value.number()));
        let (inside, outside): (Vec<_>, Vec<_>) = operands.partition(|operand| range.contains(&operand.value));
        if let Some(other) = other {
            for operand in outside {
                self.yields(&operand.world, resource, &[&operand], other);
            }
        }
        inside
    }

    /// Visibility timeouts of `queue`.
    pub(crate) fn visibility<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let (range, other) = (&limits::VISIBILITY_TIMEOUT, Some(&queue_attribute_out_of_range::RULE));
        self.numbers(world, &queue.resource, &queue.visibility_timeout, range, other)
    }

    /// Retention periods of `queue`.
    pub(crate) fn retention<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let (range, other) = (&limits::RETENTION, Some(&queue_attribute_out_of_range::RULE));
        self.numbers(world, &queue.resource, &queue.retention, range, other)
    }

    /// Delivery delays of `queue`.
    pub(crate) fn delay<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let (range, other) = (&limits::DELAY, Some(&queue_attribute_out_of_range::RULE));
        self.numbers(world, &queue.resource, &queue.delay, range, other)
    }

    /// Batching windows of `mapping`.
    pub(crate) fn window<'a>(&mut self, world: &Condition, mapping: &'a EventSourceMapping) -> Vec<Operand<'a>> {
        self.numbers(world, &mapping.resource, &mapping.window, &limits::WINDOW, None)
    }

    /// Redrive policies of `queue`, `None` where it has none.
    pub(crate) fn redrives<'a>(
        &mut self,
        world: &Condition,
        queue: &'a Queue,
    ) -> Vec<Known<'a, Option<RedrivePolicy>>> {
        self.known(world, &queue.resource, &queue.redrive)
    }

    /// Receive counts of the redrive policies of `queue`, whatever their range. Nothing where the policy holds no
    /// whole number: that is a fault, and faults have rules of their own.
    pub(crate) fn any_receive_counts<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let mut all = Vec::new();
        for known in self.redrives(world, queue) {
            let Some(policy) = known.value else { continue };
            if let Some(fault) = policy.faults.iter().find(|fault| hides_count(&fault.kind)) {
                let other = match fault.kind {
                    PolicyFault::CountNotInteger(_) => &max_receive_count_out_of_range::RULE,
                    _ => &redrive_policy_malformed::RULE,
                };
                self.yields(&known.world, &queue.resource, &[&known, &fault.span], other);
                continue;
            }
            let counts = self.known(&known.world, &queue.resource, &policy.max_receive_count);
            all.extend(counts.iter().map(|count| Operand::new(count, *count.value)));
        }
        all
    }

    /// Receive counts of the redrive policies of `queue`, inside their range.
    pub(crate) fn receive_counts<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Operand<'a>> {
        let all = self.any_receive_counts(world, queue);
        let is_inside = |count: &Operand<'_>| limits::MAX_RECEIVE_COUNT.contains(&count.value);
        let (inside, outside): (Vec<_>, Vec<_>) = all.into_iter().partition(is_inside);
        for count in outside {
            let other = &max_receive_count_out_of_range::RULE;
            self.yields(&count.world, &queue.resource, &[&count], other);
        }
        inside
    }

    /// Targets of the redrive policies of `queue`. Nothing where a policy names none: that is a fault.
    pub(crate) fn redrive_targets<'a>(&mut self, world: &Condition, queue: &'a Queue) -> Vec<Known<'a, Link>> {
        let mut all = Vec::new();
        for known in self.redrives(world, queue) {
            let Some(policy) = known.value else { continue };
            if let Some(fault) = policy.faults.iter().find(|fault| hides_target(&fault.kind)) {
                let other = &redrive_policy_malformed::RULE;
                self.yields(&known.world, &queue.resource, &[&known, &fault.span], other);
                continue;
            }
            all.extend(self.known(&known.world, &queue.resource, &policy.target));
        }
        all
    }

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

fn hides_count(fault: &PolicyFault) -> bool {
    match fault {
        PolicyFault::NotAnObject | PolicyFault::CountMissing | PolicyFault::CountNotInteger(_) => true,
        PolicyFault::UnknownKey(_) | PolicyFault::TargetMissing | PolicyFault::CountQuoted(_) => false,
    }
}

fn hides_target(fault: &PolicyFault) -> bool {
    matches!(fault, PolicyFault::NotAnObject | PolicyFault::TargetMissing)
}
