//! Digests the graph for drawings: boxes, and arrows in the direction of messages. Sibling modules render them.
//!
//! The digest shows one or two values of an attribute; a value that depends on more conditions "varies".

mod collect;

use super::Marks;
use crate::diagnostic::Severity;
use crate::graph::Graph;

/// Kind of element that a box represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// A queue.
    Queue,
    /// A function.
    Function,
    /// A sender: a topic, a rule, a pipe; or a worker; or any other resource with an error.
    Sender,
    /// A resource that the unit refers to, but does not declare.
    External,
}

/// Selection of elements to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Queues with their senders and consumers.
    Queues,
    /// Also functions that are not connected to any queue.
    All,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Index in [`Topology::units`] of the unit that declares the element or refers to it.
    pub unit: usize,
    /// Kind of the element.
    pub shape: Shape,
    /// Address, or the reference as written.
    pub title: String,
    /// Most important values, one line each.
    pub details: Vec<String>,
    /// Severity of its most severe finding.
    pub worst: Option<Severity>,
}

/// An arrow between two boxes, given as indices in [`Topology::nodes`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// Box that messages come from.
    pub from: usize,
    /// Box that messages go to.
    pub to: usize,
    /// Labels, most important first: `after 3 receives`, `batches of 10`.
    pub labels: Vec<String>,
    /// `true` if only failed messages go this way.
    pub failed: bool,
    /// Severity of the most severe finding on the mapping, subscription, target or pipe that it represents.
    pub worst: Option<Severity>,
}

/// A single drawing: a unit, or several that are connected by arrows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// Units, in the order of the graph.
    pub units: Vec<String>,
    /// Boxes, in the order of the graph.
    pub nodes: Vec<Node>,
    /// Arrows, sorted and without duplicates.
    pub edges: Vec<Edge>,
}

/// Splits `graph` into drawings that are not connected, and marks resources with findings.
pub fn topologies(graph: &Graph, marks: &Marks<'_>, extent: Extent) -> Vec<Topology> {
    let (mut nodes, mut edges) = collect::everything(graph, marks);
    if extent == Extent::Queues {
        drop_unlinked(&mut nodes, &mut edges);
    }
    let heads = joined(graph.units().len(), &nodes, &edges);
    let mut has_nodes = vec![false; heads.len()];
    for node in &nodes {
        has_nodes[node.unit] = true;
    }
    let mut drawings: Vec<Topology> = Vec::new();
    // Drawing of each unit and index in it, and the same for each node.
    let mut of_unit = vec![(0, 0); heads.len()];
    let mut of_head: Vec<Option<usize>> = vec![None; heads.len()];
    for (unit, &head) in heads.iter().enumerate() {
        if !has_nodes[unit] {
            continue;
        }
        let drawing = *of_head[head].get_or_insert_with(|| {
            drawings.push(Topology::default());
            drawings.len() - 1
        });
        of_unit[unit] = (drawing, drawings[drawing].units.len());
        drawings[drawing].units.push(graph.units()[unit].name.clone());
    }
    let mut places = Vec::with_capacity(nodes.len());
    for mut node in nodes {
        let (drawing, unit) = of_unit[node.unit];
        node.unit = unit;
        places.push((drawing, drawings[drawing].nodes.len()));
        drawings[drawing].nodes.push(node);
    }
    for edge in edges {
        let ((drawing, from), (_, to)) = (places[edge.from], places[edge.to]);
        drawings[drawing].edges.push(Edge { from, to, ..edge });
    }
    drawings
}

/// Removes boxes that are neither queues nor connected nor have an error.
fn drop_unlinked(nodes: &mut Vec<Node>, edges: &mut [Edge]) {
    let is_own = |node: &Node| node.shape == Shape::Queue || node.worst == Some(Severity::Error);
    let mut is_kept: Vec<bool> = nodes.iter().map(is_own).collect();
    for edge in &*edges {
        is_kept[edge.from] = true;
        is_kept[edge.to] = true;
    }
    let mut next = 0;
    let places: Vec<usize> = is_kept
        .iter()
        .map(|&kept| {
            next += usize::from(kept);
            next.saturating_sub(1)
        })
        .collect();
    let mut kept = is_kept.into_iter();
    nodes.retain(|_| kept.next().unwrap_or(false));
    for edge in edges {
        (edge.from, edge.to) = (places[edge.from], places[edge.to]);
    }
}

/// Returns, for each unit, the first unit that it is directly or indirectly connected to.
fn joined(units: usize, nodes: &[Node], edges: &[Edge]) -> Vec<usize> {
    fn head(heads: &[usize], mut at: usize) -> usize {
        while heads[at] != at {
            at = heads[at];
        }
        at
    }
    let mut heads: Vec<usize> = (0..units).collect();
    for edge in edges {
        let (one, other) = (head(&heads, nodes[edge.from].unit), head(&heads, nodes[edge.to].unit));
        heads[one.max(other)] = one.min(other);
    }
    (0..units).map(|at| head(&heads, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{drawing, json, svg};
    use super::*;
    use crate::diagnostic::{Diagnostic, Subject};
    use crate::testing::written;

    #[test]
    fn unit_is_drawn() {
        let (graph, _) = json::tests::sample();
        let orders = &graph.queues()[1].resource;
        let subject = Subject {
            unit: ".".to_owned(),
            address: orders.address.to_string(),
            attribute: "",
        };
        let found = [Diagnostic::new("r", Severity::Info, subject, "h", orders.header, "")];
        let units = topologies(&graph, &Marks::new(&found), Extent::Queues);
        insta::assert_snapshot!(written(|out| drawing::write_mermaid(&units, out)));
        insta::assert_snapshot!(written(|out| drawing::write_dot(&units, out)));
        insta::assert_snapshot!(written(|out| svg::write(&units, out)));
    }

    /// Returns two boxes in a cycle, one of which also refers to itself, with names that try to break out of their
    /// quotes.
    fn hostile() -> Topology {
        let name =
            "\"]]>\\\"\u{1b}[2J</text><script>alert(1)</script>\r\nend;%%{init}%% `x` #quot; 日本\u{202e}\u{fffe}";
        let node = |shape| Node {
            unit: 0,
            shape,
            title: name.to_owned(),
            details: vec![name.to_owned()],
            worst: Some(Severity::Error),
        };
        let edge = |from, to| Edge {
            from,
            to,
            labels: vec![name.to_owned()],
            failed: from > to,
            worst: (from > to).then_some(Severity::Error),
        };
        Topology {
            units: vec![name.to_owned()],
            nodes: vec![node(Shape::Queue), node(Shape::External)],
            edges: vec![edge(0, 1), edge(1, 0), edge(1, 1)],
        }
    }

    #[test]
    fn names_cannot_break_out_of_their_boxes() {
        let units = [hostile()];
        let picture = written(|out| svg::write(&units, out));
        let document = roxmltree::Document::parse(&picture).expect("well-formed");
        assert!(!document.descendants().any(|node| node.has_tag_name("script")));
        let chart = written(|out| drawing::write_mermaid(&units, out));
        assert!(
            !chart.contains("<script") && !chart.contains("%%") && !chart.contains('`'),
            "{chart}"
        );
        // Lines: one for the head, four for the styles, three for the unit, and one per box and per arrow.
        assert_eq!(chart.lines().count(), 8 + 2 + 3, "{chart}");
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
}
