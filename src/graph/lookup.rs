//! The linked graph, with the queries that more than one rule needs.

mod assemble;
mod index;
mod replaced;

pub(crate) use replaced::EarlierQueues;

use super::declared::DeclaredConsumer;
use super::delivery::{Pipe, Topic};
use super::deployed::Deployed;
use super::nodes::Nodes;
use super::order::Order;
use super::published::Publication;
use super::reach::hash_of;
use super::workers::{Worker, WorkerConsumptions};
use super::{
    Access, Alarm, AlarmSubscriber, Case, Cause, Code, Condition, DeadLetterUse, Deliveries, EventSourceMapping,
    EventWithoutQueue, Function, FunctionAlias, Handler, Invocation, Link, Queue, Reason, Resource, State, Target,
    Unit, UnitId, UnitKind, UnknownProperty, Unread,
};
use crate::graph::arn::FIFO_SUFFIX;
use handlers::PollingProgram;
use index::Index;
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock, PoisonError};

/// All units of a project, linked.
#[derive(Debug, Default)]
pub struct Graph {
    units: Vec<Unit>,
    /// References between the resources of each unit.
    pub(super) orders: Vec<Option<Order>>,
    queues: Nodes<Queue>,
    functions: Nodes<Function>,
    pub(super) aliases: Vec<FunctionAlias>,
    mappings: Nodes<EventSourceMapping>,
    alarms: Vec<Alarm>,
    nonexistent_alarms: Vec<Alarm>,
    alarm_subscribers: Vec<AlarmSubscriber>,
    deliveries: Deliveries,
    workers: Vec<Worker>,
    parameters: Vec<Publication>,
    access: Access,
    dead_letter_uses: Vec<(UnitId, DeadLetterUse)>,
    invocations: Vec<(UnitId, Invocation)>,
    links_passed_to_missing_code: Vec<(UnitId, Link)>,
    /// Other references to queues, with their units.
    mentions: Vec<(UnitId, Link)>,
    types_of_non_queues: FxHashMap<(UnitId, Target), Arc<str>>,
    uninstantiated_calls: Vec<(UnitId, Link, Span)>,
    unknown_properties: Vec<UnknownProperty>,
    events_without_queue: Vec<EventWithoutQueue>,
    queue_index: Index,
    function_index: Index,
    topic_index: Index,
    /// Mappings that may poll a queue, each with the index of the case of its source, by queue.
    polling_mappings: FxHashMap<usize, Vec<(usize, usize)>>,
    /// Mappings that may invoke a function, by function.
    invoking: FxHashMap<usize, Vec<usize>>,
    /// Pipes that may poll a queue, by queue.
    pipes: FxHashMap<usize, Vec<usize>>,
    /// Queues that topics, rules, schedules, buckets and pipes send to.
    sent_to: FxHashSet<usize>,
    /// Source queues by dead-letter queue.
    sources: FxHashMap<usize, Vec<usize>>,
    /// Uses by resources other than queues, by dead-letter queue.
    uses: FxHashMap<usize, Vec<usize>>,
    /// Other sources that may invoke a function, by function.
    invoked: FxHashMap<usize, Vec<usize>>,
    /// Other sources that invoke an unknown function, by unit.
    invoking_any: FxHashMap<UnitId, Vec<usize>>,
    /// Queues that are passed to a module or nested stack whose files are not available, with `true` if that is by name
    /// or ARN, from which an alarm can be declared.
    queues_passed_to_missing_code: FxHashMap<usize, bool>,
    /// Deployed resources, and the number of units before those of the snapshot.
    pub(super) deployed: Option<(Arc<Deployed>, u32)>,
    /// Spans of statements on queues that no file declares.
    external_spans: BTreeSet<Span>,
    /// Declared consumers by queue.
    pub(super) declared: FxHashMap<usize, Vec<Arc<DeclaredConsumer>>>,
    /// Programs that poll queues in the code of functions, by function.
    pub(super) polling: BTreeMap<usize, Vec<PollingProgram>>,
    /// Statements of the code of workers by queue.
    pub(super) stated: FxHashMap<usize, Arc<DeclaredConsumer>>,
    /// Programs of workers by queue.
    pub(super) programs: FxHashMap<usize, Vec<PollingProgram>>,
    /// Queues with workers near code that may state times of any queue.
    pub(super) near_open_programs: FxHashSet<usize>,
    /// Queues and the workers that consume them, computed at the first request.
    pub(super) worker_consumptions: OnceLock<WorkerConsumptions>,
}

/// A mapping that polls a queue, and the condition under which it does.
#[derive(Debug)]
pub struct Consumption<'g> {
    /// The mapping.
    pub mapping: &'g EventSourceMapping,
    /// Condition under which both exist and the queue is the source of the mapping.
    pub when: Condition,
    /// Case of the mapping's source that links the queue.
    pub link: &'g Case<Link>,
}

impl Graph {
    /// Passes the hashes of all physical names to `take`, each with the unit that declares it and `true`, and those of
    /// all names that were looked up, each with the unit that refers to it and `false`.
    pub(super) fn names_in_indexes(&self, take: &mut impl FnMut(UnitId, u64, bool)) {
        for index in [&self.queue_index, &self.function_index, &self.topic_index] {
            #[allow(clippy::iter_over_hash_type)] // the names are put into sets
            for (name, nodes) in &index.by_name {
                let hash = hash_of("name", name);
                for node in nodes {
                    take(node.unit, hash, true);
                }
            }
            let lookups = index
                .lookups
                .as_ref()
                .map(|lookups| lookups.lock().unwrap_or_else(PoisonError::into_inner));
            #[allow(clippy::iter_over_hash_type)] // as above
            for (unit, hash) in lookups.iter().flat_map(|names| names.iter()) {
                take(*unit, *hash, false);
            }
        }
    }

    /// Adds units without nodes.
    pub(super) fn add_units(&mut self, units: &[Unit]) {
        self.units.extend(units.iter().cloned());
    }

    /// Returns all units, ordered by name.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Returns the unit with the id `id`.
    ///
    /// # Panics
    /// If `id` belongs to another graph.
    pub fn unit(&self, id: UnitId) -> &Unit {
        &self.units[id.0 as usize]
    }

    /// Returns the names of two resources for one sentence, with their units if both have the same address.
    pub fn shown_apart(&self, one: &Resource, other: &Resource) -> [String; 2] {
        let is_same = one.unit != other.unit && one.address == other.address;
        [one, other].map(|resource| {
            if is_same {
                format!("{} in `{}`", resource.shown(), self.unit(resource.unit).name)
            } else {
                resource.shown()
            }
        })
    }

    /// Returns the queues, functions and event source mappings.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        let queues = self.queues.iter().map(|queue| &queue.resource);
        let functions = self.functions.iter().map(|function| &function.resource);
        let mappings = self.mappings.iter().map(|mapping| &mapping.resource);
        queues.chain(functions).chain(mappings)
    }

    /// Returns all queues, by unit and address.
    pub fn queues(&self) -> &Nodes<Queue> {
        &self.queues
    }

    /// Returns `true` if `span` is that of a statement on a queue that no file declares.
    pub fn is_external(&self, span: Span) -> bool {
        self.external_spans.contains(&span)
    }

    /// Returns all functions, by unit and address.
    pub fn functions(&self) -> &Nodes<Function> {
        &self.functions
    }

    /// Returns all event source mappings, by unit and address.
    pub fn mappings(&self) -> &Nodes<EventSourceMapping> {
        &self.mappings
    }

    /// Returns all alarms, by unit and address.
    pub fn alarms(&self) -> &[Alarm] {
        &self.alarms
    }

    /// Returns the alarms that are declared but do not exist, by unit and address.
    pub fn nonexistent_alarms(&self) -> &[Alarm] {
        &self.nonexistent_alarms
    }

    /// Returns the subscribers to alarms other than alarm actions, by unit and address.
    pub fn alarm_subscribers(&self) -> &[AlarmSubscriber] {
        &self.alarm_subscribers
    }

    /// Returns the references to queues in calls of modules without an instance.
    pub(super) fn uninstantiated_calls(&self) -> &[(UnitId, Link, Span)] {
        &self.uninstantiated_calls
    }

    /// Returns the properties that their resources do not have, by unit and address.
    pub fn unknown_properties(&self) -> &[UnknownProperty] {
        &self.unknown_properties
    }

    /// Returns the events of functions that name no queue, by unit and address of the function.
    pub fn events_without_queue(&self) -> &[EventWithoutQueue] {
        &self.events_without_queue
    }

    /// Returns the resources other than mappings that send to queues or consume them; each list by unit and address.
    pub fn deliveries(&self) -> &Deliveries {
        &self.deliveries
    }

    /// Returns the resources that run programs, which may consume queues.
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// Returns the parameters of Systems Manager in `unit`, from which environment variables take values.
    pub(super) fn parameters_of(&self, unit: UnitId) -> &[Publication] {
        let from = self.parameters.partition_point(|one| one.resource.unit < unit);
        let to = self.parameters.partition_point(|one| one.resource.unit <= unit);
        self.parameters.get(from..to).unwrap_or_default()
    }

    /// Returns policies, roles and keys; each list by unit and address.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the queue that `link`, written in `unit`, points to, if the project declares it.
    pub fn queue(&self, unit: UnitId, link: &Link) -> Option<&Queue> {
        self.queue_index.find(unit, link).map(|at| &self.queues[at])
    }

    /// Returns the queues that `link`, written in `unit`, may point to: several if queues of the unit share a name.
    pub fn queue_candidates(&self, unit: UnitId, link: &Link) -> impl Iterator<Item = &Queue> {
        let candidates = self.queue_index.candidates(unit, link).into_iter();
        candidates.map(|at| &self.queues[at])
    }

    /// Returns the aliases of functions, by unit and address.
    pub fn aliases(&self) -> &[FunctionAlias] {
        &self.aliases
    }

    /// Returns the function that `link`, written in `unit`, points to, if the project declares it.
    pub fn function(&self, unit: UnitId, link: &Link) -> Option<&Function> {
        self.function_index.find(unit, link).map(|at| &self.functions[at])
    }

    /// Returns the topic that `link`, written in `unit`, refers to by address.
    pub fn topic(&self, unit: UnitId, link: &Link) -> Option<&Topic> {
        let is_declared = matches!(link.target, Target::Resource(_) | Target::OtherUnit { .. });
        let at = self.topic_index.find(unit, link).filter(|_| is_declared)?;
        self.deliveries.topics.get(at)
    }

    /// Returns the topic, the rule or the bucket that `link`, written in `unit`, refers to by address.
    pub fn source(&self, unit: UnitId, link: &Link) -> Option<&Resource> {
        if let Some(topic) = self.topic(unit, link) {
            return Some(&topic.resource);
        }
        let key = self.address_key(unit, link)?;
        let sources = &self.deliveries.sources;
        let at = sources.binary_search_by(|source| (source.unit, &source.address).cmp(&(key.0, &key.1)));
        at.ok().and_then(|at| sources.get(at))
    }

    /// Returns the index of `queue`, which is one of [`queues`](Self::queues).
    pub(super) fn index_of(&self, queue: &Queue) -> Option<usize> {
        self.queues.index_of(queue.resource.unit, queue)
    }

    /// Returns the index of the queue at `address` in `unit`.
    pub(super) fn queue_index_at(&self, unit: UnitId, address: &str) -> Option<usize> {
        self.queue_index.at(unit, address)
    }

    /// Returns the mappings that poll `queue`, enabled or not, each with its condition.
    pub fn consumptions(&self, queue: &Queue) -> Vec<Consumption<'_>> {
        let readers = self.index_of(queue).and_then(|at| self.polling_mappings.get(&at));
        let consumptions = readers.into_iter().flatten().filter_map(|&(at, case)| {
            let mapping = &self.mappings[at];
            let link = mapping.queue.cases.get(case)?;
            let when = queue.resource.when.and(&mapping.resource.when).and(&link.when);
            when.is_possible().then_some(Consumption { mapping, when, link })
        });
        consumptions.collect()
    }

    /// Returns the pipes that may poll `queue`.
    pub(super) fn pipes_naming<'g>(&'g self, queue: &Queue) -> impl Iterator<Item = &'g Pipe> {
        let pipes = self.index_of(queue).and_then(|at| self.pipes.get(&at));
        pipes.into_iter().flatten().map(|&at| &self.deliveries.pipes[at])
    }

    /// Returns the functions that `mapping` may invoke under `assumed`, each with its condition.
    pub fn functions_of<'g>(
        &'g self,
        mapping: &'g EventSourceMapping,
        assumed: &Condition,
    ) -> Vec<(Condition, &'g Function)> {
        let links = mapping.function.known_in(assumed).into_iter();
        links
            .filter_map(|(assumed, _, link)| {
                let function = self.function(mapping.resource.unit, link)?;
                let assumed = assumed.and(&function.resource.when);
                assumed.is_possible().then_some((assumed, function))
            })
            .collect()
    }

    /// Returns the mappings that may invoke `function`, each with its condition.
    pub fn mappings_of<'g>(&'g self, function: &'g Function) -> Vec<(Condition, &'g EventSourceMapping)> {
        let at = self.functions.index_of(function.resource.unit, function);
        let mappings = at.and_then(|at| self.invoking.get(&at)).into_iter().flatten();
        let mut all = Vec::new();
        for mapping in mappings.map(|&at| &self.mappings[at]) {
            let invoked = self.functions_of(mapping, &mapping.resource.when).into_iter();
            let this = invoked.filter(|(_, found)| std::ptr::eq(*found, function));
            all.extend(this.map(|(assumed, _)| (assumed, mapping)));
        }
        all
    }

    /// Returns the type of the resource that `link`, written in `unit`, refers to, if it should be a queue and is not.
    pub fn type_if_not_queue(&self, unit: UnitId, link: &Link) -> Option<&str> {
        self.types_of_non_queues
            .get(&(unit, link.target.clone()))
            .map(|kind| &**kind)
    }

    /// Returns the source queues of `queue`.
    pub fn sources_of<'g>(&'g self, queue: &'g Queue) -> Vec<&'g Queue> {
        let sources = self.index_of(queue).and_then(|at| self.sources.get(&at));
        sources.into_iter().flatten().map(|&at| &self.queues[at]).collect()
    }

    /// Returns all uses of dead-letter queues by resources other than queues, with the units that contain them.
    pub(super) fn dead_letter_uses(&self) -> &[(UnitId, DeadLetterUse)] {
        &self.dead_letter_uses
    }

    /// Returns the uses of `queue` as a dead-letter queue by resources other than queues.
    pub fn dead_letter_uses_of<'g>(&'g self, queue: &'g Queue) -> Vec<&'g DeadLetterUse> {
        let uses = self.index_of(queue).and_then(|at| self.uses.get(&at));
        let uses = uses
            .into_iter()
            .flatten()
            .filter_map(|&at| self.dead_letter_uses.get(at));
        uses.map(|(_, used)| used).collect()
    }

    /// Returns `true` if any resource uses `queue` as a dead-letter queue: a queue, a function, a destination, a rule…
    pub fn is_dead_letter_queue(&self, queue: &Queue) -> bool {
        !self.sources_of(queue).is_empty() || !self.dead_letter_uses_of(queue).is_empty()
    }

    /// Returns `true` if a topic, rule, schedule, bucket or pipe sends to `queue`, or a resource other than a queue
    /// sends its failures there.
    pub fn is_sent_to(&self, queue: &Queue) -> bool {
        let at = self.index_of(queue);
        !self.dead_letter_uses_of(queue).is_empty() || at.is_some_and(|at| self.sent_to.contains(&at))
    }

    /// Returns the sources other than queues that may invoke `function` asynchronously.
    pub fn asynchronous_invocations_of<'g>(&'g self, function: &'g Function) -> Vec<&'g Invocation> {
        let mut all = self.invocations_of(function);
        all.retain(|invocation| !invocation.waits);
        all
    }

    /// Returns the sources other than queues that may invoke `function`.
    pub fn invocations_of<'g>(&'g self, function: &'g Function) -> Vec<&'g Invocation> {
        let at = self.functions.index_of(function.resource.unit, function);
        let named = at.and_then(|at| self.invoked.get(&at));
        // An unresolved function of the same unit may be this one.
        let any = self.invoking_any.get(&function.resource.unit);
        let mut places: Vec<usize> = named.into_iter().chain(any).flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        let found = places.into_iter().filter_map(|at| self.invocations.get(at));
        found.map(|(_, invocation)| invocation).collect()
    }

    /// Returns the source code of each function that a mapping may invoke.
    pub(crate) fn invoked_code(&self) -> impl Iterator<Item = &Code> {
        let invoked = self.functions.iter().enumerate();
        let invoked = invoked.filter(|(at, _)| self.invoking.contains_key(at));
        invoked.map(|(_, function)| &function.code)
    }

    /// Sets the facts about the source of each function that a mapping may invoke.
    pub(crate) fn learn_handlers(&mut self, facts: impl Fn(&Code) -> Option<Result<Arc<Handler>, Unread>>) {
        for (at, function) in self.functions.iter_mut().enumerate() {
            if self.invoking.contains_key(&at)
                && let Some(facts) = facts(&function.code)
            {
                function.handler = facts;
            }
        }
    }

    /// Returns the unit with the [key](Unit::key) `key`, to which `unit` refers.
    pub(super) fn unit_by_key(&self, unit: UnitId, key: &str) -> Option<UnitId> {
        self.queue_index.record(unit, "unit", key);
        self.queue_index.units.get(key).copied()
    }

    /// Returns the queues and roles that are passed to modules or nested stacks whose files are not available, with the
    /// units that pass them.
    pub(super) fn links_passed_to_missing_code(&self) -> &[(UnitId, Link)] {
        &self.links_passed_to_missing_code
    }

    /// Returns `true` if `queue` is passed to a module or nested stack whose files are not available.
    pub fn is_passed_to_missing_code(&self, queue: &Queue) -> bool {
        self.index_of(queue)
            .is_some_and(|at| self.queues_passed_to_missing_code.contains_key(&at))
    }

    /// Returns `true` if something refers to `queue` that may send to it in an unknown way.
    pub fn is_mentioned(&self, queue: &Queue) -> bool {
        let mut queues = self.mentions.iter().filter_map(|(unit, link)| self.queue(*unit, link));
        queues.any(|found| std::ptr::eq(found, queue))
    }

    /// Returns the reason why an unknown alarm may watch `queue`. An alarm cannot use its URL.
    pub fn reason_of_missing_alarm(&self, queue: &Queue) -> Option<Reason> {
        let is_named = self
            .index_of(queue)
            .and_then(|at| self.queues_passed_to_missing_code.get(&at));
        self.reason_of_missing_code(queue).filter(|_| is_named == Some(&true))
    }

    /// Returns the reason why an unknown alarm may watch `queue`, if it is passed to a module or nested stack whose
    /// files are not available.
    pub fn reason_of_missing_code(&self, queue: &Queue) -> Option<Reason> {
        let part = match self.unit(queue.resource.unit).kind {
            UnitKind::TerraformModule => "module",
            _ => "nested stack",
        };
        let reason = format!("passed to a {part} that was not read; its alarm may be there");
        self.is_passed_to_missing_code(queue)
            .then(|| Cause::MissingModule.because(reason))
    }
}

impl Queue {
    /// Returns `true` if its name under `when` contradicts the type `fifo`; either may be the mistake. SQS compares the
    /// suffix case-sensitively.
    pub fn contradicts_name(&self, fifo: bool, when: &Condition) -> bool {
        let mut names = self.name.cases.iter().filter(|case| when.is_possible_with(&case.when));
        names.any(|case| match &case.state {
            State::Set(name) | State::Default(name) => {
                name.as_ref().is_some_and(|name| name.ends_with(FIFO_SUFFIX) != fifo)
            }
            State::Unresolved(unresolved) => unresolved
                .pattern()
                .and_then(|name| name.ends_with(FIFO_SUFFIX))
                .is_some_and(|is_fifo| is_fifo != fifo),
        })
    }
}
