//! Units as drawings want them: boxes, and arrows along the way of a message. Renderings lie beside it.
//!
//! It is a digest: a value or two are shown, what depends on more conditions "varies".

mod collect;

use super::Marks;
use crate::diagnostic::Severity;
use crate::graph::Graph;

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

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Queues, and what messages come from and go to.
    Queues,
    /// Functions that have nothing to do with a queue as well.
    All,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The place in [`Topology::units`] of the unit that declares it, or refers to it.
    pub unit: usize,
    /// The kind of thing that it stands for.
    pub shape: Shape,
    /// The address, or what is written in its place.
    pub title: String,
    /// The values that matter most, a line each.
    pub details: Vec<String>,
    /// The worst that was found about it.
    pub worst: Option<Severity>,
}

/// An arrow between boxes, by their places in [`Topology::nodes`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The box that messages come from.
    pub from: usize,
    /// The box that they go to.
    pub to: usize,
    /// What is said of it, the most important first: `after 3 receives`, `batches of 10`.
    pub labels: Vec<String>,
    /// True if only messages that failed go this way.
    pub failed: bool,
}

/// What is drawn as one: a unit, or several where an arrow leads from one to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// The units, in the order of the graph.
    pub units: Vec<String>,
    /// In the order of the graph.
    pub nodes: Vec<Node>,
    /// Sorted, each once.
    pub edges: Vec<Edge>,
}

/// What `graph` holds, in as many drawings as do not touch each other, with what has findings marked.
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
    // For each unit the drawing that it is in, and its place there; the same for each node.
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

/// Leaves out what is no queue and has no arrow.
fn drop_unlinked(nodes: &mut Vec<Node>, edges: &mut [Edge]) {
    let mut is_kept: Vec<bool> = nodes.iter().map(|node| node.shape == Shape::Queue).collect();
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

/// For each unit the first one that it is joined with by arrows, over however many others.
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
    fn a_unit_is_drawn() {
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

    /// Two boxes in a circle, one of them also its own follower, with names that try to get out of theirs.
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
        };
        Topology {
            units: vec![name.to_owned()],
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
        // A line each for the head, the three styles, the unit's three, boxes and arrows.
        assert_eq!(chart.lines().count(), 7 + 2 + 3, "{chart}");
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
