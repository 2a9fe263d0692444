//! Collects the boxes and arrows of a graph.

use super::super::duration;
use super::{Edge, Marks, Node, Shape};
use crate::diagnostic::Severity;
use crate::graph::{Attribute, EventSourceMapping, Function, Graph, Link, Queue, Resource, State, Target, UnitId};
use conditions::Condition;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of values of an attribute to list; with more, the attribute "varies".
const MOST_VALUES: usize = 2;

/// Returns the boxes, and the arrows between them, sorted. Here, [`Node::unit`] is an index in the graph's units.
pub(super) fn everything(graph: &Graph, marks: &Marks<'_>) -> (Vec<Node>, Vec<Edge>) {
    let mut collector = Collector {
        graph,
        marks,
        places: FxHashMap::default(),
        nodes: Vec::new(),
        edges: BTreeMap::new(),
        drawn: BTreeSet::new(),
    };
    collector.fill();
    (collector.nodes, collector.edges.into_iter().map(marked).collect())
}

struct Collector<'g> {
    graph: &'g Graph,
    marks: &'g Marks<'g>,
    /// Boxes by unit and address. The last part of the key is `true` for resources that the unit only refers to.
    places: FxHashMap<(UnitId, String, bool), usize>,
    nodes: Vec<Node>,
    /// Edges without marks, each with its most severe finding.
    edges: BTreeMap<Edge, Option<Severity>>,
    /// Names of units, and addresses, of the resources that are drawn.
    drawn: BTreeSet<(&'g str, &'g str)>,
}

impl<'g> Collector<'g> {
    fn fill(&mut self) {
        let graph = self.graph;
        for queue in graph.queues() {
            self.node(Shape::Queue, &queue.resource, queue_details(graph, queue));
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
        self.other_errors();
    }

    fn redrive(&mut self, queue: &'g Queue) {
        let assumed = &queue.resource.when;
        let from = self.node(Shape::Queue, &queue.resource, Vec::new());
        for policy in values(&queue.redrive, assumed).into_iter().flatten() {
            let count = shown(&policy.max_receive_count, assumed, ToString::to_string);
            for link in values(&policy.target, assumed) {
                let to = self.queue_end(queue.resource.unit, link);
                let plural = if count == "1" { "" } else { "s" };
                self.edge(None, (from, to), vec![format!("after {count} receive{plural}")], true);
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
                    self.edge(Some(&mapping.resource), (from, to), labels.clone(), false);
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
                self.edge(None, (from, to), Vec::new(), false);
            }
        }
    }

    /// Adds subscriptions of queues, and the dead-letter queues of subscriptions.
    fn subscriptions(&mut self) {
        let graph = self.graph;
        for entry in &graph.deliveries().subscriptions {
            let assumed = &entry.resource.when;
            let endpoints = values(&entry.endpoint, assumed);
            let redrive = values(&entry.redrive, assumed);
            let failed = redrive.into_iter().flatten();
            let failed: Vec<_> = failed.flat_map(|policy| values(&policy.target, assumed)).collect();
            for topic in values(&entry.topic, assumed) {
                self.sends(&entry.resource, topic, "topic", &endpoints, &failed);
            }
        }
    }

    /// Adds targets of rules and schedules, and notifications of buckets.
    fn targets(&mut self) {
        let graph = self.graph;
        for entry in &graph.deliveries().targets {
            let detail = entry.sender.name();
            let assumed = &entry.resource.when;
            let targets = values(&entry.target, assumed);
            let dead_letter = values(&entry.dead_letter, assumed);
            let failed: Vec<_> = dead_letter.into_iter().flatten().collect();
            for source in values(&entry.source, assumed) {
                self.sends(&entry.resource, source, detail, &targets, &failed);
            }
        }
    }

    /// Adds the arrows from a sender to queues of the graph, as `resource` declares them: its targets, and its
    /// dead-letter queues. Other targets are not drawn.
    fn sends(&mut self, resource: &'g Resource, sender: &Link, kind: &str, targets: &[&Link], failed: &[&Link]) {
        let (graph, unit) = (self.graph, resource.unit);
        let targets = targets.iter().map(|link| (link, false));
        for (link, is_failed) in targets.chain(failed.iter().map(|link| (link, true))) {
            let Some(queue) = graph.queue(unit, link) else {
                continue;
            };
            let from = self.outside(unit, Shape::Sender, sender, kind);
            let to = self.node(Shape::Queue, &queue.resource, Vec::new());
            let labels = is_failed.then(|| "if not delivered".to_owned());
            self.edge(Some(resource), (from, to), labels.into_iter().collect(), is_failed);
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
                self.edge(None, (from, to), Vec::new(), false);
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
                    self.edge(None, (from, to), vec!["failed events".to_owned()], true);
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
    fn node(&mut self, shape: Shape, resource: &'g Resource, mut details: Vec<String>) -> usize {
        let key = (resource.unit, resource.address.to_string(), false);
        if let Some(&at) = self.places.get(&key) {
            return at;
        }
        let title = resource.construct.as_deref().unwrap_or(&resource.address);
        let worst = self.mark(resource);
        details.extend(worst.map(words));
        self.nodes.push(Node {
            unit: resource.unit.0 as usize,
            shape,
            title: title.to_owned(),
            details,
            worst: worst.map(|(severity, ..)| severity),
        });
        let at = self.nodes.len() - 1;
        self.places.insert(key, at);
        at
    }

    /// Returns the most severe finding of `resource`, which is being drawn.
    fn mark(&mut self, resource: &'g Resource) -> Option<Mark<'g>> {
        let unit = &self.graph.unit(resource.unit).name;
        self.drawn.insert((unit, &resource.address));
        self.marks.worst(unit, &resource.address)
    }

    /// Adds an arrow from the first box to the second, with the most severe finding of the resource that declares it.
    fn edge(&mut self, by: Option<&'g Resource>, (from, to): (usize, usize), labels: Vec<String>, failed: bool) {
        let worst = by.and_then(|resource| self.mark(resource));
        let worst = worst.map(|(severity, ..)| severity);
        let edge = Edge {
            from,
            to,
            labels,
            failed,
            worst: None,
        };
        let known = self.edges.entry(edge).or_default();
        *known = worst.max(*known);
    }

    /// Adds a box for each resource that is not drawn, but has an error.
    fn other_errors(&mut self) {
        let mut units: FxHashMap<&str, usize> = FxHashMap::default();
        for (at, unit) in self.graph.units().iter().enumerate() {
            units.entry(&unit.name).or_insert(at);
        }
        for (name, address) in self.marks.resources() {
            let Some(worst) = self.marks.worst(name, address) else {
                continue;
            };
            let (Severity::Error, Some(&unit)) = (worst.0, units.get(name)) else {
                continue;
            };
            if !self.drawn.contains(&(name, address)) {
                self.nodes.push(Node {
                    unit,
                    shape: Shape::Sender,
                    title: address.to_owned(),
                    details: vec![words(worst)],
                    worst: Some(worst.0),
                });
            }
        }
    }
}

/// Severity and rule of the most severe finding of a resource, and the number of its other rules.
type Mark<'g> = (Severity, &'g str, usize);

fn words((severity, rule, others): Mark<'_>) -> String {
    let more = if others > 0 {
        format!(" and {others} more")
    } else {
        String::new()
    };
    format!("{severity}: {rule}{more}")
}

/// Returns an arrow with its most severe finding, which its label names unless it is only information.
fn marked((mut edge, worst): (Edge, Option<Severity>)) -> Edge {
    edge.worst = worst.filter(|severity| *severity > Severity::Info);
    let label = edge.worst.map(|severity| severity.to_string());
    edge.labels.splice(0..0, label);
    edge
}

/// Returns the details of a queue: the retention of a dead-letter queue, and the visibility timeout of a queue with
/// consumers.
fn queue_details(graph: &Graph, queue: &Queue) -> Vec<String> {
    let (assumed, is_dead_letter) = (&queue.resource.when, graph.is_dead_letter_queue(queue));
    let mut details = Vec::new();
    if is_dead_letter {
        let kept = shown(&queue.retention, assumed, duration);
        details.extend(["dead-letter queue".to_owned(), format!("retention {kept}")]);
    }
    if !is_dead_letter || graph.is_read(queue) {
        let timeout = shown(&queue.visibility_timeout, assumed, duration);
        details.push(format!("visibility timeout {timeout}"));
    }
    details
}

fn function_details(function: &Function) -> Vec<String> {
    let assumed = &function.resource.when;
    let mut details = vec![format!("timeout {}", shown(&function.timeout, assumed, duration))];
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
