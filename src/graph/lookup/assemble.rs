//! Joins the nodes of all units, and links them.

use super::Graph;
use super::index::Index;
use crate::graph::arn::{is_queue_name, physical_name};
use crate::graph::nodes::append_sorted;
use crate::graph::{Cause, Condition, Deliveries, Form, Link, Store, UnitGraph, UnitId, published};
use rustc_hash::FxHashMap;
use std::sync::Mutex;

/// Adds the pair (`from`, `to`) once.
fn add_edge(map: &mut FxHashMap<usize, Vec<usize>>, from: usize, to: usize) {
    let noted = map.entry(from).or_default();
    // All pairs with the same `to` are added in succession.
    if noted.last() != Some(&to) {
        noted.push(to);
    }
}

impl Graph {
    /// Links units; the order of `parts` is the order of units.
    pub fn assemble(parts: Vec<UnitGraph>) -> Graph {
        Graph::assembled(parts, false)
    }

    /// Like [`assemble`](Self::assemble), but records all names that are looked up, for
    /// [`Connections`](crate::graph::Connections).
    pub(crate) fn assemble_recording_lookups(parts: Vec<UnitGraph>) -> Graph {
        Graph::assembled(parts, true)
    }

    fn assembled(mut parts: Vec<UnitGraph>, notes: bool) -> Graph {
        published::connect(&mut parts);
        let mut graph = Graph::default();
        for (at, part) in parts.into_iter().enumerate() {
            let unit = UnitId(u32::try_from(at).unwrap_or(u32::MAX));
            graph.units.push(part.unit);
            graph.orders.push(part.order);
            graph.queues.take(part.queues, unit);
            graph.functions.take(part.functions, unit);
            append_sorted(&mut graph.aliases, part.aliases, unit);
            graph.mappings.take(part.mappings, unit);
            append_sorted(&mut graph.alarms, part.alarms, unit);
            append_sorted(&mut graph.nonexistent_alarms, part.nonexistent_alarms, unit);
            append_sorted(&mut graph.alarm_subscribers, part.alarm_subscribers, unit);
            graph.deliveries.append(part.deliveries, unit);
            append_sorted(&mut graph.workers, part.workers, unit);
            let parameters = part.publications.into_iter();
            let parameters = parameters.filter(|one| one.store == Store::Parameter).collect();
            append_sorted(&mut graph.parameters, parameters, unit);
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
            graph
                .mentions
                .extend(part.mentioned.into_iter().map(|link| (unit, link)));
            let not_queues = part.not_queues.into_iter();
            graph
                .types_of_non_queues
                .extend(not_queues.map(|(target, kind)| ((unit, target), kind)));
            append_sorted(&mut graph.unknown_properties, part.unknown_properties, unit);
            append_sorted(&mut graph.events_without_queue, part.events_without_queue, unit);
            let left_out = part.uninstantiated_calls.into_iter();
            graph
                .uninstantiated_calls
                .extend(left_out.map(|(link, span)| (unit, link, span)));
        }
        graph.access.trim();
        graph.external_spans = graph.find_external_spans();
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
            for (nth, case) in mapping.queue.cases.iter().enumerate() {
                let queue = case
                    .value()
                    .and_then(|link| self.queue_index.find(mapping.resource.unit, link));
                if let Some(queue) = queue {
                    self.polling_mappings.entry(queue).or_default().push((at, nth));
                }
            }
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
        for (unit, link) in &self.links_passed_to_missing_code {
            if let Some(queue) = self.queue_index.find(*unit, link) {
                *self.queues_passed_to_missing_code.entry(queue).or_default() |= link.form != Form::Url;
            }
        }
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
}
