//! The linked graph, with the queries that more than one rule needs.

use super::arn::{FIFO_SUFFIX, account, is_queue_name, physical_name, region};
use super::declared::DeclaredConsumer;
use super::delivery::{Pipe, Topic};
use super::deployed::Deployed;
use super::nodes::{self, Nodes};
use super::reach::hash_of;
use super::workers::{Parameter, Worker, WorkerConsumptions};
use super::{
    Access, Alarm, AlarmSubscriber, Attribute, Case, Cause, Code, Condition, DeadLetterUse, Deliveries,
    EventSourceMapping, Form, Function, Handler, Invocation, Link, Queue, Reason, Resource, State, Target, Unit,
    UnitGraph, UnitId, UnknownProperty, Unread,
};
use rustc_hash::{FxHashMap, FxHashSet};
use source::Span;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// All units of a project, linked.
#[derive(Debug, Default)]
pub struct Graph {
    units: Vec<Unit>,
    queues: Nodes<Queue>,
    functions: Nodes<Function>,
    mappings: Nodes<EventSourceMapping>,
    alarms: Vec<Alarm>,
    nonexistent_alarms: Vec<Alarm>,
    alarm_subscribers: Vec<AlarmSubscriber>,
    deliveries: Deliveries,
    workers: Vec<Worker>,
    parameters: Vec<Parameter>,
    access: Access,
    dead_letter_uses: Vec<(UnitId, DeadLetterUse)>,
    invocations: Vec<(UnitId, Invocation)>,
    links_passed_to_missing_code: Vec<(UnitId, Link)>,
    types_of_non_queues: FxHashMap<(UnitId, Target), Arc<str>>,
    uninstantiated_calls: Vec<(UnitId, Link, Span)>,
    unknown_properties: Vec<UnknownProperty>,
    queue_index: Index,
    function_index: Index,
    topic_index: Index,
    /// Mappings that may poll a queue, by queue.
    polling_mappings: FxHashMap<usize, Vec<usize>>,
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
    /// Queues that are passed to a module or nested stack whose files are not available.
    queues_passed_to_missing_code: FxHashSet<usize>,
    /// Deployed resources, and the number of units before those of the snapshot.
    pub(super) deployed: Option<(Arc<Deployed>, u32)>,
    /// Declared consumers by queue.
    pub(super) declared: FxHashMap<usize, Vec<Arc<DeclaredConsumer>>>,
    /// Statements of the code of workers by queue.
    pub(super) stated: FxHashMap<usize, Arc<DeclaredConsumer>>,
    /// Queues with workers near code that may state times of any queue.
    pub(super) near_open_programs: FxHashSet<usize>,
    /// Queues and the workers that consume them, computed at the first request.
    pub(super) worker_consumptions: OnceLock<WorkerConsumptions>,
}

/// Index of a list of nodes, by address and by physical name.
#[derive(Debug, Default)]
struct Index {
    /// Nodes by unit and address.
    by_address: Vec<FxHashMap<Arc<str>, usize>>,
    /// Units by [`Unit::key`].
    units: FxHashMap<Arc<str>, UnitId>,
    by_name: FxHashMap<String, Vec<NamedNode>>,
    /// Recorder of the names that are looked up, each with the unit that contains the link.
    lookups: Option<Mutex<FxHashSet<(UnitId, u64)>>>,
}

/// A node with a physical name.
#[derive(Debug)]
struct NamedNode {
    unit: UnitId,
    at: usize,
    region: Option<Arc<str>>,
    account: Option<Arc<str>>,
}

impl Index {
    fn build<'a>(units: &[Unit], nodes: impl Iterator<Item = (&'a Resource, &'a Attribute<Option<String>>)>) -> Index {
        let mut index = Index {
            by_address: vec![FxHashMap::default(); units.len()],
            ..Index::default()
        };
        for (at, unit) in units.iter().enumerate() {
            let id = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
            index.units.entry(unit.key().into()).or_insert(id);
        }
        for (at, (resource, name)) in nodes.enumerate() {
            if let Some(nodes) = index.by_address.get_mut(resource.unit.0 as usize) {
                nodes.insert(resource.address.clone(), at);
            }
            for name in name.cases.iter().filter_map(|case| case.value()?.as_ref()) {
                // Two nodes rarely have the same name.
                let bearers = index.by_name.entry(name.clone());
                bearers.or_insert_with(|| Vec::with_capacity(1)).push(NamedNode {
                    unit: resource.unit,
                    at,
                    region: resource.region.clone(),
                    account: resource.account.clone(),
                });
            }
        }
        index
    }

    fn at(&self, unit: UnitId, address: &str) -> Option<usize> {
        self.by_address.get(unit.0 as usize)?.get(address).copied()
    }

    /// Returns the node that `link`, written in `unit`, points to: by address, or by physical name if exactly one node
    /// of the unit, or else exactly one of the project, has that name.
    fn find(&self, unit: UnitId, link: &Link) -> Option<usize> {
        match &link.target {
            Target::Resource(address) => self.at(unit, address),
            Target::OtherUnit { unit: other, address } => {
                self.record(unit, "unit", other);
                let other = *self.units.get(other)?;
                self.at(other, address)
            }
            Target::Dangling(_) => None,
            Target::External(written) => {
                let named = self.nodes_named(unit, written, link.form);
                let mut here = named.iter().filter(|node| node.unit == unit);
                match (here.next(), here.next(), named.as_slice()) {
                    (Some(node), None, _) | (None, _, [node]) => Some(node.at),
                    _ => None,
                }
            }
        }
    }

    /// Returns the nodes that `attribute`, written in `unit`, points to under any condition.
    fn all(&self, unit: UnitId, attribute: &Attribute<Link>) -> impl Iterator<Item = usize> {
        let links = attribute.cases.iter().filter_map(|case| case.value());
        links.filter_map(move |link| self.find(unit, link))
    }

    /// Records that a link in `unit` refers to a name.
    fn record(&self, unit: UnitId, kind: &str, name: &str) {
        if let Some(lookups) = &self.lookups {
            let mut lookups = lookups.lock().unwrap_or_else(PoisonError::into_inner);
            lookups.insert((unit, hash_of(kind, name)));
        }
    }

    /// Returns all nodes with the physical name in `written`, which is written in `unit`, except those known to be in
    /// another Region or account.
    fn nodes_named(&self, unit: UnitId, written: &str, form: Form) -> Vec<&NamedNode> {
        let (region, account) = (region(written, form), account(written, form));
        let name = physical_name(written, form);
        if let Some(name) = name {
            self.record(unit, "name", name);
        }
        let named = name.and_then(|name| self.by_name.get(name));
        let elsewhere = move |node: &NamedNode| {
            let regions = region.zip(node.region.as_deref());
            let accounts = account.zip(node.account.as_deref());
            regions.into_iter().chain(accounts).any(|(one, other)| one != other)
        };
        named.into_iter().flatten().filter(|node| !elsewhere(node)).collect()
    }

    /// Returns all nodes that `link` may point to: several if nodes of `unit` share a physical name.
    fn candidates(&self, unit: UnitId, link: &Link) -> Vec<usize> {
        let Target::External(written) = &link.target else {
            return self.find(unit, link).into_iter().collect();
        };
        let named = self.nodes_named(unit, written, link.form).into_iter();
        let here: Vec<usize> = named.filter(|node| node.unit == unit).map(|node| node.at).collect();
        if here.is_empty() {
            self.find(unit, link).into_iter().collect()
        } else {
            here
        }
    }
}

/// Appends the nodes of `unit`, sorted by address.
pub(super) fn append_sorted<T>(
    all: &mut Vec<T>,
    mut nodes: Vec<T>,
    unit: UnitId,
    resource: fn(&mut T) -> &mut Resource,
) {
    nodes::sort(&mut nodes, unit, resource);
    all.append(&mut nodes);
}

/// Adds the pair (`from`, `to`) once.
fn add_edge(map: &mut FxHashMap<usize, Vec<usize>>, from: usize, to: usize) {
    let noted = map.entry(from).or_default();
    // All pairs with the same `to` are added in succession.
    if noted.last() != Some(&to) {
        noted.push(to);
    }
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
    /// Links units; the order of `parts` is the order of units.
    pub fn assemble(parts: Vec<UnitGraph>) -> Graph {
        Graph::assembled(parts, false)
    }

    /// Like [`assemble`](Self::assemble), but records all names that are looked up, for
    /// [`Connections`](super::Connections).
    pub(crate) fn assemble_recording_lookups(parts: Vec<UnitGraph>) -> Graph {
        Graph::assembled(parts, true)
    }

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

    fn assembled(parts: Vec<UnitGraph>, notes: bool) -> Graph {
        let mut graph = Graph::default();
        for (at, part) in parts.into_iter().enumerate() {
            let unit = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
            graph.units.push(part.unit);
            graph.queues.take(part.queues, unit, |node| &mut node.resource);
            graph.functions.take(part.functions, unit, |node| &mut node.resource);
            graph.mappings.take(part.mappings, unit, |node| &mut node.resource);
            append_sorted(&mut graph.alarms, part.alarms, unit, |node| &mut node.resource);
            append_sorted(&mut graph.nonexistent_alarms, part.nonexistent_alarms, unit, |node| {
                &mut node.resource
            });
            append_sorted(&mut graph.alarm_subscribers, part.alarm_subscribers, unit, |node| {
                &mut node.resource
            });
            graph.deliveries.append(part.deliveries, unit);
            append_sorted(&mut graph.workers, part.workers, unit, |node| &mut node.resource);
            append_sorted(&mut graph.parameters, part.parameters, unit, |node| &mut node.resource);
            graph.access.append(part.access, unit);
            graph
                .dead_letter_uses
                .extend(part.dead_letter_uses.into_iter().map(|node| (unit, node)));
            graph
                .invocations
                .extend(part.invocations.into_iter().map(|node| (unit, node)));
            graph
                .links_passed_to_missing_code
                .extend(part.passed_to_missing_code.into_iter().map(|link| (unit, link)));
            let not_queues = part.not_queues.into_iter();
            graph
                .types_of_non_queues
                .extend(not_queues.map(|(target, kind)| ((unit, target), kind)));
            append_sorted(&mut graph.unknown_properties, part.unknown_properties, unit, |node| {
                &mut node.resource
            });
            let left_out = part.uninstantiated_calls.into_iter();
            graph
                .uninstantiated_calls
                .extend(left_out.map(|(link, span)| (unit, link, span)));
        }
        graph.access.trim();
        graph.index(notes);
        graph
    }

    fn index(&mut self, notes: bool) {
        self.queue_index = Index::build(&self.units, self.queues.iter().map(|node| (&node.resource, &node.name)));
        self.function_index = Index::build(
            &self.units,
            self.functions.iter().map(|node| (&node.resource, &node.name)),
        );
        let topics = self.deliveries.topics.iter();
        self.topic_index = Index::build(&self.units, topics.map(|node| (&node.resource, &node.name)));
        if notes {
            for index in [&mut self.queue_index, &mut self.function_index, &mut self.topic_index] {
                index.lookups = Some(Mutex::default());
            }
        }
        for (at, mapping) in self.mappings.iter().enumerate() {
            let queues = self.queue_index.all(mapping.resource.unit, &mapping.queue);
            queues.for_each(|queue| add_edge(&mut self.polling_mappings, queue, at));
            let functions = self.function_index.all(mapping.resource.unit, &mapping.function);
            functions.for_each(|function| add_edge(&mut self.invoking, function, at));
        }
        for (at, pipe) in self.deliveries.pipes.iter().enumerate() {
            let queues = self.queue_index.all(pipe.resource.unit, &pipe.source);
            queues.for_each(|queue| add_edge(&mut self.pipes, queue, at));
        }
        let Deliveries {
            pipes,
            subscriptions,
            targets,
            ..
        } = &self.deliveries;
        let pipes = pipes.iter().map(|one| (one.resource.unit, &one.target));
        let subscriptions = subscriptions.iter().map(|one| (one.resource.unit, &one.endpoint));
        let targets = targets.iter().map(|one| (one.resource.unit, &one.target));
        let sent = pipes.chain(subscriptions).chain(targets);
        self.sent_to = sent
            .flat_map(|(unit, target)| self.queue_index.all(unit, target))
            .collect();
        for (at, queue) in self.queues.iter().enumerate() {
            for (_, link) in queue.redrive_targets(&Condition::always()) {
                if let Some(target) = self.queue_index.find(queue.resource.unit, link) {
                    add_edge(&mut self.sources, target, at);
                }
            }
        }
        for (at, (unit, used)) in self.dead_letter_uses.iter().enumerate() {
            let queues = self.queue_index.all(*unit, &used.target);
            queues.for_each(|queue| add_edge(&mut self.uses, queue, at));
        }
        for (at, (unit, invocation)) in self.invocations.iter().enumerate() {
            let functions = self.function_index.all(*unit, &invocation.function);
            functions.for_each(|function| add_edge(&mut self.invoked, function, at));
            if invocation.function.unresolved_reason().is_some() {
                self.invoking_any.entry(*unit).or_default().push(at);
            }
        }
        let links = self.links_passed_to_missing_code.iter();
        self.queues_passed_to_missing_code = links
            .filter_map(|(unit, link)| self.queue_index.find(*unit, link))
            .collect();
        self.open_placeholders();
    }

    /// Makes sources, targets and failure destinations unresolved if they are neither an ARN, a URL nor the name of a
    /// declared resource, but text such as `"not-used"` or a placeholder of another tool. Equal placeholders may refer
    /// to different queues.
    fn open_placeholders(&mut self) {
        let indexes = [&self.queue_index, &self.function_index, &self.topic_index];
        let doubt = |link: &Link| {
            let name = physical_name(link.written(), link.form);
            let is_declared = || {
                indexes
                    .iter()
                    .any(|index| name.is_some_and(|name| index.by_name.contains_key(name)))
            };
            let is_placeholder = link.is_placeholder() && !is_declared();
            is_placeholder.then(|| Cause::Invalid.because(format!("`{}` is not an ARN", link.written())))
        };
        let optional = |link: &Option<Link>| doubt(link.as_ref()?);
        for queue in self.queues.iter_mut() {
            let cases = queue.redrive.cases.iter_mut();
            for policy in cases.filter_map(|case| case.value_mut()?.as_mut()) {
                let doubt = |link: &Link| doubt(link).filter(|_| !is_queue_name(link.written()));
                // A bare queue name is kept, because a rule reports it.
                policy.target.doubt(doubt);
            }
        }
        for mapping in self.mappings.iter_mut() {
            mapping.queue.doubt(doubt);
            mapping.failure_destination.doubt(optional);
        }
        for function in self.functions.iter_mut() {
            let settings = function.failure_targets.iter_mut().chain(&mut function.success_targets);
            settings.for_each(|setting| setting.target.doubt(doubt));
        }
        for pipe in &mut self.deliveries.pipes {
            pipe.source.doubt(doubt);
            pipe.target.doubt(doubt);
        }
        for target in &mut self.deliveries.targets {
            target.target.doubt(doubt);
            target.dead_letter.doubt(optional);
        }
        self.dead_letter_uses
            .iter_mut()
            .for_each(|(_, used)| used.target.doubt(doubt));
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

    /// Returns all queues, by unit and address.
    pub fn queues(&self) -> &Nodes<Queue> {
        &self.queues
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

    /// Returns the resources other than mappings that send to queues or consume them; each list by unit and address.
    pub fn deliveries(&self) -> &Deliveries {
        &self.deliveries
    }

    /// Returns the resources that run programs, which may consume queues.
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// Returns the sources of values for environment variables.
    pub(super) fn parameters(&self) -> &[Parameter] {
        &self.parameters
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

    fn queue_index_of(&self, queue: &Queue) -> Option<usize> {
        self.queue_index_at(queue.resource.unit, &queue.resource.address)
    }

    /// Returns the index of the queue at `address` in `unit`.
    pub(super) fn queue_index_at(&self, unit: UnitId, address: &str) -> Option<usize> {
        self.queue_index.at(unit, address)
    }

    /// Returns the mappings that poll `queue`, enabled or not, each with its condition.
    pub fn consumptions<'g>(&'g self, queue: &'g Queue) -> Vec<Consumption<'g>> {
        let readers = self.queue_index_of(queue).and_then(|at| self.polling_mappings.get(&at));
        let mut all = Vec::new();
        for mapping in readers.into_iter().flatten().map(|&at| &self.mappings[at]) {
            let both = queue.resource.when.and(&mapping.resource.when);
            for case in &mapping.queue.cases {
                let links_it = case
                    .value()
                    .and_then(|link| self.queue(mapping.resource.unit, link))
                    .is_some_and(|found| std::ptr::eq(found, queue));
                let assumed = both.and(&case.when);
                if links_it && assumed.is_possible() {
                    all.push(Consumption {
                        mapping,
                        when: assumed,
                        link: case,
                    });
                }
            }
        }
        all
    }

    /// Returns the pipes that may poll `queue`.
    pub(super) fn pipes_naming<'g>(&'g self, queue: &Queue) -> impl Iterator<Item = &'g Pipe> {
        let pipes = self.queue_index_of(queue).and_then(|at| self.pipes.get(&at));
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
        let resource = &function.resource;
        let at = self.function_index.at(resource.unit, &resource.address);
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
        let sources = self.queue_index_of(queue).and_then(|at| self.sources.get(&at));
        sources.into_iter().flatten().map(|&at| &self.queues[at]).collect()
    }

    /// Returns all uses of dead-letter queues by resources other than queues, with the units that contain them.
    pub(super) fn dead_letter_uses(&self) -> &[(UnitId, DeadLetterUse)] {
        &self.dead_letter_uses
    }

    /// Returns the uses of `queue` as a dead-letter queue by resources other than queues.
    pub fn dead_letter_uses_of<'g>(&'g self, queue: &'g Queue) -> Vec<&'g DeadLetterUse> {
        let uses = self.queue_index_of(queue).and_then(|at| self.uses.get(&at));
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
        let at = self.queue_index_of(queue);
        !self.dead_letter_uses_of(queue).is_empty() || at.is_some_and(|at| self.sent_to.contains(&at))
    }

    /// Returns the sources other than queues that may invoke `function`.
    pub fn invocations_of<'g>(&'g self, function: &'g Function) -> Vec<&'g Invocation> {
        let at = self
            .function_index
            .at(function.resource.unit, &function.resource.address);
        let named = at.and_then(|at| self.invoked.get(&at));
        // An unresolved function of the same unit may be this one.
        let any = self.invoking_any.get(&function.resource.unit);
        let mut places: Vec<usize> = named.into_iter().chain(any).flatten().copied().collect();
        places.sort_unstable();
        places.dedup();
        let found = places.into_iter().filter_map(|at| self.invocations.get(at));
        found.map(|(_, invocation)| invocation).collect()
    }

    /// Sets the facts about the source of each function that a mapping may invoke, as `read` determines them.
    pub(crate) fn learn_handlers(&mut self, mut read: impl FnMut(&Code) -> Result<Arc<Handler>, Unread>) {
        for (at, function) in self.functions.iter_mut().enumerate() {
            if self.invoking.contains_key(&at) {
                function.handler = read(&function.code);
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
        self.queue_index_of(queue)
            .is_some_and(|at| self.queues_passed_to_missing_code.contains(&at))
    }

    /// Returns the reason why an unknown alarm may watch `queue`, if it is passed to a module or nested stack whose
    /// files are not available.
    pub fn reason_of_missing_code(&self, queue: &Queue) -> Option<Reason> {
        self.is_passed_to_missing_code(queue)
            .then(|| Cause::MissingModule.because("it is passed to code that is not read and may watch it"))
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

    /// Returns the targets of its redrive policy under `assumed`, each with its condition.
    pub fn redrive_targets<'g>(&'g self, assumed: &Condition) -> Vec<(Condition, &'g Link)> {
        let mut all = Vec::new();
        for (assumed, _, policy) in self.redrive.known_in(assumed) {
            for (assumed, _, link) in policy.iter().flat_map(|policy| policy.target.known_in(&assumed)) {
                all.push((assumed, link));
            }
        }
        all
    }
}
