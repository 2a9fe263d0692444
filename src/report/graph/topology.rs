//! A unit as a drawing wants it: boxes, and arrows along the way of a message. Renderings lie beside it.
//!
//! It is a digest: what has one value is shown, what depends on conditions is "varies".

use super::Marks;
use crate::conditions::Condition;
use crate::graph::delivery::Sender;
use crate::graph::{Attribute, Graph, Link, Resource, State, Target, UnitId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The kind of thing that a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// A queue.
    Queue,
    /// A function.
    Function,
    /// A sender: a topic, a rule, a pipe; or a worker.
    Sender,
    /// Something that the unit refers to and does not declare.
    Outside,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The kind of thing that it stands for.
    pub shape: Shape,
    /// The address, or what is written in its place.
    pub title: String,
    /// The values that matter most.
    pub detail: String,
    /// True if there are findings about it.
    pub marked: bool,
}

/// An arrow between boxes, by their places in [`Topology::nodes`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The box that messages come from.
    pub from: usize,
    /// The box that they go to.
    pub to: usize,
    /// `after 3 receives`, `batches of 10`.
    pub label: String,
    /// True if only messages that failed go this way.
    pub failed: bool,
}

/// One unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// The unit.
    pub unit: String,
    /// In the order of the graph.
    pub nodes: Vec<Node>,
    /// Sorted, each once.
    pub edges: Vec<Edge>,
}

/// Each unit of `graph` that has queues, with what has findings marked.
pub fn topologies(graph: &Graph, marks: &Marks<'_>) -> Vec<Topology> {
    let ids = (0..graph.units().len()).map(|at| UnitId(u32::try_from(at).unwrap_or(u32::MAX)));
    let all = ids.map(|unit| {
        let mut builder = Builder {
            graph,
            unit,
            marks,
            places: FxHashMap::default(),
            nodes: Vec::new(),
            edges: BTreeSet::new(),
        };
        builder.fill();
        Topology {
            unit: graph.unit(unit).name.clone(),
            nodes: builder.nodes,
            edges: builder.edges.into_iter().collect(),
        }
    });
    all.filter(|topology| !topology.nodes.is_empty()).collect()
}

struct Builder<'g> {
    graph: &'g Graph,
    unit: UnitId,
    marks: &'g Marks<'g>,
    places: FxHashMap<(u32, String), usize>,
    nodes: Vec<Node>,
    edges: BTreeSet<Edge>,
}

impl Builder<'_> {
    fn fill(&mut self) {
        let (graph, unit) = (self.graph, self.unit);
        for queue in graph.queues().iter().filter(|queue| queue.resource.unit == unit) {
            let shown = one(&queue.visibility_timeout, &queue.resource.when, ToString::to_string);
            self.node(Shape::Queue, &queue.resource, format!("visibility timeout {shown}"));
        }
        for function in graph
            .functions()
            .iter()
            .filter(|function| function.resource.unit == unit)
        {
            let shown = one(&function.timeout, &function.resource.when, ToString::to_string);
            self.node(Shape::Function, &function.resource, format!("timeout {shown}"));
        }
        for queue in graph.queues().iter().filter(|queue| queue.resource.unit == unit) {
            let Some(from) = self.place(&queue.resource) else {
                continue;
            };
            for policy in values(&queue.redrive, &queue.resource.when).into_iter().flatten() {
                let count = one(&policy.max_receive_count, &queue.resource.when, ToString::to_string);
                for link in values(&policy.target, &queue.resource.when) {
                    let to = self.queue_end(link);
                    self.edge(from, to, format!("after {count} receives"), true);
                }
            }
        }
        self.mappings();
        self.workers();
        self.deliveries();
    }

    /// Programs that read queues.
    fn workers(&mut self) {
        let (graph, unit) = (self.graph, self.unit);
        for queue in graph.queues().iter().filter(|queue| queue.resource.unit == unit) {
            for reading in graph.readings(queue) {
                let from = self.node(Shape::Queue, &queue.resource, String::new());
                let to = self.node(Shape::Sender, &reading.resource, "worker".to_owned());
                self.edge(from, to, String::new(), false);
            }
        }
    }

    fn mappings(&mut self) {
        let (graph, unit) = (self.graph, self.unit);
        for mapping in graph.mappings().iter().filter(|mapping| mapping.resource.unit == unit) {
            let assumed = &mapping.resource.when;
            let label = format!("batches of {}", one(&mapping.batch_size, assumed, ToString::to_string));
            for queue in values(&mapping.queue, assumed) {
                for function in values(&mapping.function, assumed) {
                    let from = self.queue_end(queue);
                    let to = match graph.function(unit, function) {
                        Some(found) => self.node(Shape::Function, &found.resource, String::new()),
                        None => self.outside(function),
                    };
                    self.edge(from, to, label.clone(), false);
                }
            }
        }
    }

    /// Senders that reach a queue of the graph; what else they send to is not drawn.
    fn deliveries(&mut self) {
        let (graph, unit) = (self.graph, self.unit);
        let deliveries = graph.deliveries();
        for entry in deliveries.subscriptions.iter().filter(|e| e.resource.unit == unit) {
            for endpoint in values(&entry.endpoint, &entry.resource.when) {
                let Some(queue) = graph.queue(unit, endpoint) else {
                    continue;
                };
                for topic in values(&entry.topic, &entry.resource.when) {
                    let from = self.outside_as(Shape::Sender, topic, "topic");
                    let to = self.node(Shape::Queue, &queue.resource, String::new());
                    self.edge(from, to, String::new(), false);
                }
            }
        }
        for entry in deliveries.targets.iter().filter(|e| e.resource.unit == unit) {
            let detail = match entry.sender {
                Sender::Rule => "rule",
                Sender::Schedule => "schedule",
                Sender::Bucket => "bucket",
            };
            for target in values(&entry.target, &entry.resource.when) {
                let Some(queue) = graph.queue(unit, target) else {
                    continue;
                };
                for source in values(&entry.source, &entry.resource.when) {
                    let from = self.outside_as(Shape::Sender, source, detail);
                    let to = self.node(Shape::Queue, &queue.resource, String::new());
                    self.edge(from, to, String::new(), false);
                }
            }
        }
        for pipe in deliveries.pipes.iter().filter(|e| e.resource.unit == unit) {
            for source in values(&pipe.source, &pipe.resource.when) {
                let Some(queue) = graph.queue(unit, source) else {
                    continue;
                };
                let from = self.node(Shape::Queue, &queue.resource, String::new());
                let to = self.node(Shape::Sender, &pipe.resource, "pipe".to_owned());
                self.edge(from, to, String::new(), false);
            }
            for target in values(&pipe.target, &pipe.resource.when) {
                let Some(queue) = graph.queue(unit, target) else {
                    continue;
                };
                let from = self.node(Shape::Sender, &pipe.resource, "pipe".to_owned());
                let to = self.node(Shape::Queue, &queue.resource, String::new());
                self.edge(from, to, String::new(), false);
            }
        }
    }

    fn queue_end(&mut self, link: &Link) -> usize {
        match self.graph.queue(self.unit, link) {
            Some(found) => self.node(Shape::Queue, &found.resource, String::new()),
            None => self.outside(link),
        }
    }

    fn outside(&mut self, link: &Link) -> usize {
        self.outside_as(Shape::Outside, link, "")
    }

    fn outside_as(&mut self, shape: Shape, link: &Link, detail: &str) -> usize {
        let (Target::Resource(title)
        | Target::Elsewhere { address: title, .. }
        | Target::External(title)
        | Target::Dangling(title)) = &link.target;
        let nodes = &mut self.nodes;
        *self.places.entry((u32::MAX, title.to_string())).or_insert_with(|| {
            nodes.push(Node {
                shape,
                title: title.to_string(),
                detail: detail.to_owned(),
                marked: false,
            });
            nodes.len() - 1
        })
    }

    fn place(&self, resource: &Resource) -> Option<usize> {
        let key = (resource.unit.0, resource.address.to_string());
        self.places.get(&key).copied()
    }

    fn node(&mut self, shape: Shape, resource: &Resource, detail: String) -> usize {
        if let Some(at) = self.place(resource) {
            return at;
        }
        let unit = &self.graph.unit(resource.unit).name;
        self.nodes.push(Node {
            shape,
            title: if resource.unit == self.unit {
                resource.address.to_string()
            } else {
                format!("{} in {unit}", resource.address)
            },
            detail,
            marked: self.marks.has(unit, &resource.address),
        });
        let at = self.nodes.len() - 1;
        self.places.insert((resource.unit.0, resource.address.to_string()), at);
        at
    }

    fn edge(&mut self, from: usize, to: usize, label: String, failed: bool) {
        self.edges.insert(Edge {
            from,
            to,
            label,
            failed,
        });
    }
}

/// The values that `attribute` has where its resource exists, each once.
fn values<'g, T>(attribute: &'g Attribute<T>, assumed: &Condition) -> Vec<&'g T> {
    let cases = attribute
        .cases
        .iter()
        .filter(|case| assumed.is_possible_with(&case.when));
    cases
        .filter_map(|case| match &case.state {
            State::Set(value) | State::Default(value) => Some(value),
            State::Unresolved(_) => None,
        })
        .collect()
}

/// The one value, or that there is none, or more than one.
fn one<T>(attribute: &Attribute<T>, assumed: &Condition, show: impl Fn(&T) -> String) -> String {
    let cases = attribute
        .cases
        .iter()
        .filter(|case| assumed.is_possible_with(&case.when));
    let open = cases.filter(|case| matches!(case.state, State::Unresolved(_))).count();
    let shown: BTreeSet<String> = values(attribute, assumed).into_iter().map(show).collect();
    match (shown.len(), open) {
        (1, 0) => shown.into_iter().next().unwrap_or_default(),
        (0, _) => "unknown".to_owned(),
        _ => "varies".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{drawing, json, svg};
    use super::*;
    use crate::diagnostic::{Diagnostic, Severity, Subject};
    use crate::testing::written;

    #[test]
    fn a_unit_is_drawn() {
        let (graph, _) = json::tests::sample();
        let orders = &graph.queues()[1].resource;
        let subject = Subject {
            unit: ".".to_owned(),
            address: orders.address.to_string(),
            attribute: "",
        };
        let found = [Diagnostic::new("r", Severity::Info, subject, "h", orders.header, "")];
        let units = topologies(&graph, &Marks::new(&found));
        insta::assert_snapshot!(written(|out| drawing::write_mermaid(&units, out)));
        insta::assert_snapshot!(written(|out| drawing::write_dot(&units, out)));
        insta::assert_snapshot!(written(|out| svg::write(&units, out)));
    }

    /// Two boxes in a circle, one of them also its own follower, with names that try to get out of theirs.
    fn hostile() -> Topology {
        let name =
            "\"]]>\\\"\u{1b}[2J</text><script>alert(1)</script>\r\nend;%%{init}%% `x` #quot; 日本\u{202e}\u{fffe}";
        let node = |shape| Node {
            shape,
            title: name.to_owned(),
            detail: name.to_owned(),
            marked: true,
        };
        let edge = |from, to| Edge {
            from,
            to,
            label: name.to_owned(),
            failed: from > to,
        };
        Topology {
            unit: name.to_owned(),
            nodes: vec![node(Shape::Queue), node(Shape::Outside)],
            edges: vec![edge(0, 1), edge(1, 0), edge(1, 1)],
        }
    }

    #[test]
    fn names_stay_in_their_boxes() {
        let units = [hostile()];
        let picture = written(|out| svg::write(&units, out));
        let document = roxmltree::Document::parse(&picture).expect("well-formed");
        assert!(!document.descendants().any(|node| node.has_tag_name("script")));
        let chart = written(|out| drawing::write_mermaid(&units, out));
        assert!(
            !chart.contains("<script") && !chart.contains("%%") && !chart.contains('`'),
            "{chart}"
        );
        // A line each for the head, the style, the unit's two, boxes and arrows.
        assert_eq!(chart.lines().count(), 4 + 2 + 3, "{chart}");
        let digraph = written(|out| drawing::write_dot(&units, out));
        for text in [&picture, &chart, &digraph] {
            assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{text}");
        }
        for line in digraph.lines() {
            let quotes = line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
            assert_eq!(quotes % 2, 0, "{line}");
        }
        assert_eq!(digraph.lines().count(), 7 + 2 + 3, "{digraph}");
    }

    #[test]
    fn a_drawing_is_as_large_as_its_columns() {
        let mut chain = Topology::default();
        for at in 0..4 {
            chain.nodes.push(Node {
                shape: Shape::Queue,
                title: format!("q{at}"),
                detail: String::new(),
                marked: false,
            });
            chain.edges.push(Edge {
                from: at,
                to: at + 1,
                label: String::new(),
                failed: true,
            });
        }
        // The last arrow leads to a box that does not exist, and is no reason to fail.
        let picture = written(|out| svg::write(&[chain], out));
        assert!(picture.contains("width=\"1734\""), "{picture}");
    }
}
