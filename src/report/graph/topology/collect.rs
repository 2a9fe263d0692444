//! Collects the boxes and arrows of a graph.

use super::{Edge, Marks, Node, Shape};
use crate::graph::delivery::Sender;
use crate::graph::{Attribute, EventSourceMapping, Function, Graph, Link, Queue, Resource, State, Target, UnitId};
use conditions::Condition;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Maximum number of values of an attribute to list; with more, the attribute "varies".
const MOST_VALUES: usize = 2;

/// Returns the boxes, and the arrows between them, sorted. Here, [`Node::unit`] is an index in the graph's units.
pub(super) fn everything(graph: &Graph, marks: &Marks<'_>) -> (Vec<Node>, Vec<Edge>) {
    let mut collector = Collector {
        graph,
        marks,
        places: FxHashMap::default(),
        nodes: Vec::new(),
        edges: BTreeSet::new(),
    };
    collector.fill();
    (collector.nodes, collector.edges.into_iter().collect())
}

struct Collector<'g> {
    graph: &'g Graph,
    marks: &'g Marks<'g>,
    /// Boxes by unit and address. The last part of the key is `true` for resources that the unit only refers to.
    places: FxHashMap<(UnitId, String, bool), usize>,
    nodes: Vec<Node>,
    edges: BTreeSet<Edge>,
}

impl<'g> Collector<'g> {
    fn fill(&mut self) {
        let graph = self.graph;
        let dead_letter = self.dead_letter_queues();
        for queue in graph.queues() {
            let key = (queue.resource.unit, &*queue.resource.address);
            let details = queue_details(graph, queue, dead_letter.contains(&key));
            self.node(Shape::Queue, &queue.resource, details);
        }
        for function in graph.functions() {
            self.node(Shape::Function, &function.resource, function_details(function));
        }
        for queue in graph.queues() {
            self.redrive(queue);
        }
        self.mappings();
        self.workers();
        self.subscriptions();
        self.targets();
        self.pipes();
        self.failures();
    }

    /// Returns the queues that redrive policies refer to.
    fn dead_letter_queues(&self) -> FxHashSet<(UnitId, &'g str)> {
        let graph = self.graph;
        let mut found = FxHashSet::default();
        for queue in graph.queues() {
            for policy in values(&queue.redrive, &queue.resource.when).into_iter().flatten() {
                let targets = values(&policy.target, &queue.resource.when);
                let targets = targets
                    .into_iter()
                    .filter_map(|link| graph.queue(queue.resource.unit, link));
                found.extend(targets.map(|target| (target.resource.unit, &*target.resource.address)));
            }
        }
        found
    }

    fn redrive(&mut self, queue: &Queue) {
        let assumed = &queue.resource.when;
        let from = self.node(Shape::Queue, &queue.resource, Vec::new());
        for policy in values(&queue.redrive, assumed).into_iter().flatten() {
            let count = shown(&policy.max_receive_count, assumed, ToString::to_string);
            for link in values(&policy.target, assumed) {
                let to = self.queue_end(queue.resource.unit, link);
                let plural = if count == "1" { "" } else { "s" };
                self.edge(from, to, vec![format!("after {count} receive{plural}")], true);
            }
        }
    }

    fn mappings(&mut self) {
        let graph = self.graph;
        for mapping in graph.mappings() {
            let (unit, assumed) = (mapping.resource.unit, &mapping.resource.when);
            let labels = mapping_labels(mapping);
            for queue in values(&mapping.queue, assumed) {
                for function in values(&mapping.function, assumed) {
                    let from = self.queue_end(unit, queue);
                    let to = match graph.function(unit, function) {
                        Some(found) => self.node(Shape::Function, &found.resource, Vec::new()),
                        None => self.outside(unit, Shape::External, function, ""),
                    };
                    self.edge(from, to, labels.clone(), false);
                }
            }
        }
    }

    /// Adds workers that poll queues.
    fn workers(&mut self) {
        let graph = self.graph;
        for queue in graph.queues() {
            for reading in graph.worker_consumptions(queue) {
                let from = self.node(Shape::Queue, &queue.resource, Vec::new());
                let to = self.node(Shape::Sender, &reading.resource, vec!["worker".to_owned()]);
                self.edge(from, to, Vec::new(), false);
            }
        }
    }

    /// Adds subscriptions of queues, and the dead-letter queues of subscriptions.
    fn subscriptions(&mut self) {
        let graph = self.graph;
        for entry in &graph.deliveries().subscriptions {
            let (unit, assumed) = (entry.resource.unit, &entry.resource.when);
            let endpoints = values(&entry.endpoint, assumed);
            let redrive = values(&entry.redrive, assumed);
            let failed = redrive.into_iter().flatten();
            let failed: Vec<_> = failed.flat_map(|policy| values(&policy.target, assumed)).collect();
            for topic in values(&entry.topic, assumed) {
                self.sends(unit, topic, "topic", &endpoints, &failed);
            }
        }
    }

    /// Adds targets of rules and schedules, and notifications of buckets.
    fn targets(&mut self) {
        let graph = self.graph;
        for entry in &graph.deliveries().targets {
            let detail = match entry.sender {
                Sender::Rule => "rule",
                Sender::Schedule => "schedule",
                Sender::Bucket => "bucket",
                Sender::Api => "api",
            };
            let (unit, assumed) = (entry.resource.unit, &entry.resource.when);
            let targets = values(&entry.target, assumed);
            let dead_letter = values(&entry.dead_letter, assumed);
            let failed: Vec<_> = dead_letter.into_iter().flatten().collect();
            for source in values(&entry.source, assumed) {
                self.sends(unit, source, detail, &targets, &failed);
            }
        }
    }

    /// Adds the arrows from a sender to queues of the graph: its targets, and its dead-letter queues. Other targets are
    /// not drawn.
    fn sends(&mut self, unit: UnitId, sender: &Link, kind: &str, targets: &[&Link], failed: &[&Link]) {
        let graph = self.graph;
        let targets = targets.iter().map(|link| (link, false));
        for (link, is_failed) in targets.chain(failed.iter().map(|link| (link, true))) {
            let Some(queue) = graph.queue(unit, link) else {
                continue;
            };
            let from = self.outside(unit, Shape::Sender, sender, kind);
            let to = self.node(Shape::Queue, &queue.resource, Vec::new());
            let labels = is_failed.then(|| "if not delivered".to_owned());
            self.edge(from, to, labels.into_iter().collect(), is_failed);
        }
    }

    fn pipes(&mut self) {
        let graph = self.graph;
        for pipe in &graph.deliveries().pipes {
            let (unit, assumed) = (pipe.resource.unit, &pipe.resource.when);
            let sources = values(&pipe.source, assumed).into_iter().map(|link| (link, true));
            let targets = values(&pipe.target, assumed).into_iter().map(|link| (link, false));
            for (link, is_source) in sources.chain(targets) {
                let Some(queue) = graph.queue(unit, link) else {
                    continue;
                };
                let queue = self.node(Shape::Queue, &queue.resource, Vec::new());
                let pipe = self.node(Shape::Sender, &pipe.resource, vec!["pipe".to_owned()]);
                let (from, to) = if is_source { (queue, pipe) } else { (pipe, queue) };
                self.edge(from, to, Vec::new(), false);
            }
        }
    }

    /// Adds the queues that receive failed asynchronous invocations of a function.
    fn failures(&mut self) {
        let graph = self.graph;
        for function in graph.functions() {
            let unit = function.resource.unit;
            for target in &function.failure_targets {
                for link in values(&target.target, &target.when) {
                    let Some(queue) = graph.queue(unit, link) else {
                        continue;
                    };
                    let from = self.node(Shape::Function, &function.resource, Vec::new());
                    let to = self.node(Shape::Queue, &queue.resource, Vec::new());
                    self.edge(from, to, vec!["failed events".to_owned()], true);
                }
            }
        }
    }

    fn queue_end(&mut self, unit: UnitId, link: &Link) -> usize {
        match self.graph.queue(unit, link) {
            Some(found) => self.node(Shape::Queue, &found.resource, Vec::new()),
            None => self.outside(unit, Shape::External, link, ""),
        }
    }

    /// Returns the box of the resource that `link`, written in `unit`, refers to.
    fn outside(&mut self, unit: UnitId, shape: Shape, link: &Link, detail: &str) -> usize {
        let (Target::Resource(title)
        | Target::OtherUnit { address: title, .. }
        | Target::External(title)
        | Target::Dangling(title)) = &link.target;
        let nodes = &mut self.nodes;
        *self.places.entry((unit, title.to_string(), true)).or_insert_with(|| {
            nodes.push(Node {
                unit: unit.0 as usize,
                shape,
                title: title.to_string(),
                details: if detail.is_empty() {
                    Vec::new()
                } else {
                    vec![detail.to_owned()]
                },
                worst: None,
            });
            nodes.len() - 1
        })
    }

    /// Returns the box of `resource`. The first call determines its details.
    fn node(&mut self, shape: Shape, resource: &Resource, details: Vec<String>) -> usize {
        let key = (resource.unit, resource.address.to_string(), false);
        if let Some(&at) = self.places.get(&key) {
            return at;
        }
        self.nodes.push(Node {
            unit: resource.unit.0 as usize,
            shape,
            title: resource.construct.as_deref().unwrap_or(&resource.address).to_owned(),
            details,
            worst: self
                .marks
                .worst(&self.graph.unit(resource.unit).name, &resource.address),
        });
        let at = self.nodes.len() - 1;
        self.places.insert(key, at);
        at
    }

    fn edge(&mut self, from: usize, to: usize, labels: Vec<String>, failed: bool) {
        self.edges.insert(Edge {
            from,
            to,
            labels,
            failed,
        });
    }
}

/// Returns the details of a queue: the retention of a dead-letter queue, and the visibility timeout of a queue with
/// consumers.
fn queue_details(graph: &Graph, queue: &Queue, is_dead_letter: bool) -> Vec<String> {
    let assumed = &queue.resource.when;
    let mut details = Vec::new();
    if is_dead_letter {
        let kept = shown(&queue.retention, assumed, |kept| {
            kept.in_words().unwrap_or_else(|| kept.to_string())
        });
        details.extend(["dead-letter queue".to_owned(), format!("retention {kept}")]);
    }
    if !is_dead_letter || graph.is_read(queue) {
        let timeout = shown(&queue.visibility_timeout, assumed, ToString::to_string);
        details.push(format!("visibility timeout {timeout}"));
    }
    details
}

fn function_details(function: &Function) -> Vec<String> {
    let assumed = &function.resource.when;
    let mut details = vec![format!(
        "timeout {}",
        shown(&function.timeout, assumed, ToString::to_string)
    )];
    if let [Some(count)] = values(&function.reserved_concurrency, assumed)[..] {
        details.push(format!("reserved concurrency {count}"));
    }
    details
}

fn mapping_labels(mapping: &EventSourceMapping) -> Vec<String> {
    let assumed = &mapping.resource.when;
    let mut labels = vec![format!(
        "batches of {}",
        shown(&mapping.batch_size, assumed, ToString::to_string)
    )];
    if let [window] = values(&mapping.window, assumed)[..]
        && window.0 > 0
    {
        labels.push(format!("window {window}"));
    }
    if let [Some(count)] = values(&mapping.maximum_concurrency, assumed)[..] {
        labels.push(format!("at most {count} at once"));
    }
    if values(&mapping.enabled, assumed) == [&false] {
        labels.push("disabled".to_owned());
    }
    labels
}

/// Returns the values of `attribute` while its resource exists.
fn values<'g, T>(attribute: &'g Attribute<T>, assumed: &Condition) -> Vec<&'g T> {
    let cases = attribute.cases.iter();
    let cases = cases.filter(|case| assumed.is_possible_with(&case.when));
    cases
        .filter_map(|case| match &case.state {
            State::Set(value) | State::Default(value) => Some(value),
            State::Unresolved(_) => None,
        })
        .collect()
}

/// Formats the value or the few possible values; otherwise "unknown" or "varies".
fn shown<T>(attribute: &Attribute<T>, assumed: &Condition, show: impl Fn(&T) -> String) -> String {
    let cases = attribute.cases.iter();
    let mut open = cases.filter(|case| assumed.is_possible_with(&case.when));
    let is_open = open.any(|case| matches!(case.state, State::Unresolved(_)));
    let known: BTreeSet<String> = values(attribute, assumed).into_iter().map(show).collect();
    match known.len() {
        0 => "unknown".to_owned(),
        1..=MOST_VALUES if !is_open => known.into_iter().collect::<Vec<_>>().join(" or "),
        _ => "varies".to_owned(),
    }
}
