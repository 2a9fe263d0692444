//! Writes topologies in languages that other tools render: Mermaid and Graphviz. Names may contain any character.

use super::titles;
use super::topology::{Edge, Node, Shape, Topology};
use crate::diagnostic::Severity;
use crate::report::printable;
use std::io::{self, Write};

const CHART: &str = "flowchart LR\n";
const CHART_STYLE: &str = "  classDef error stroke:#d32f2f,stroke-width:3px\n  \
    classDef warning stroke:#e09000,stroke-width:3px\n  classDef info stroke:#1976d2,stroke-width:2px\n";
/// Maximum length of a line in a box; Mermaid breaks longer ones anywhere.
const ROOM: usize = 30;

/// Writes all topologies as one Mermaid flowchart.
pub fn write_mermaid(topologies: &[Topology], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(CHART.as_bytes())?;
    for (at, topology) in topologies.iter().enumerate() {
        out.write_all(subcharts(at, topology).as_bytes())?;
    }
    let edges = topologies.iter().flat_map(|topology| &topology.edges);
    out.write_all(link_styles(edges).as_bytes())?;
    out.write_all(CHART_STYLE.as_bytes())
}

/// Returns one topology as a Mermaid flowchart.
pub fn mermaid(topology: &Topology) -> String {
    [
        CHART,
        &subcharts(0, topology),
        &link_styles(topology.edges.iter()),
        CHART_STYLE,
    ]
    .concat()
}

/// Formats the colours of arrows with findings. Mermaid numbers the arrows of a chart.
fn link_styles<'t>(edges: impl Iterator<Item = &'t Edge>) -> String {
    let colors = edges.enumerate().filter_map(|(number, edge)| {
        let color = match edge.worst? {
            Severity::Error => "#d32f2f",
            Severity::Warning => "#e09000",
            Severity::Info => return None,
        };
        Some(format!("  linkStyle {number} stroke:{color},stroke-width:3px\n"))
    });
    colors.collect()
}

/// Writes a box around each unit. Each repeats the direction, because Mermaid would otherwise switch it.
fn subcharts(at: usize, topology: &Topology) -> String {
    let mut text = String::new();
    for (place, unit) in topology.units.iter().enumerate() {
        text.push_str(&format!(
            "  subgraph u{at}x{place}[\"{}\"]\n    direction LR\n",
            in_mermaid(unit)
        ));
        let nodes = topology.nodes.iter().enumerate();
        for (number, node) in nodes.filter(|(_, node)| node.unit == place) {
            text.push_str(&chart_node(&format!("u{at}n{number}"), node));
        }
        text.push_str("  end\n");
    }
    for edge in &topology.edges {
        let arrow = if edge.failed { "-.->" } else { "-->" };
        let label = if edge.labels.is_empty() {
            String::new()
        } else {
            format!("|\"{}\"|", in_lines(&edge.labels, "<br/>", in_mermaid))
        };
        text.push_str(&format!("  u{at}n{} {arrow}{label} u{at}n{}\n", edge.from, edge.to));
    }
    text
}

fn chart_node(name: &str, node: &Node) -> String {
    let (open, close) = match node.shape {
        Shape::Queue => ("[[", "]]"),
        Shape::Function => ("(", ")"),
        Shape::Sender => ("{{", "}}"),
        Shape::External => ("[", "]"),
    };
    let class = node.worst.map_or_else(String::new, |severity| format!(":::{severity}"));
    let said = in_lines(&lines(node), "<br/>", in_mermaid);
    format!("    {name}{open}\"{said}\"{close}{class}\n")
}

/// Returns the title and the details of a box.
fn lines(node: &Node) -> Vec<String> {
    let mut lines = titles::in_lines(&printable(&node.title), ROOM);
    lines.extend(node.details.iter().cloned());
    lines
}

fn in_lines(lines: &[String], end: &str, safe: impl Fn(&str) -> String) -> String {
    lines.iter().map(|line| safe(line)).collect::<Vec<_>>().join(end)
}

/// Escapes text for Mermaid, with a numbered entity for every character that could end a text or start a tag.
fn in_mermaid(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            ' ' | '.' | '-' | '_' | '/' | ':' | ',' => safe.push(character),
            _ if character.is_alphanumeric() => safe.push(character),
            _ => safe.push_str(&format!("#{};", u32::from(character))),
        }
    }
    safe
}

/// Writes all topologies as one Graphviz digraph.
pub fn write_dot(topologies: &[Topology], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"digraph sqslint {\n  rankdir=LR;\n  node [shape=box];\n")?;
    for (at, topology) in topologies.iter().enumerate() {
        out.write_all(clusters(at, topology).as_bytes())?;
    }
    out.write_all(b"}\n")
}

fn clusters(at: usize, topology: &Topology) -> String {
    let mut text = String::new();
    for (place, unit) in topology.units.iter().enumerate() {
        text.push_str(&format!(
            "  subgraph cluster_{at}_{place} {{\n    label=\"{}\";\n",
            in_dot(unit)
        ));
        let nodes = topology.nodes.iter().enumerate();
        for (number, node) in nodes.filter(|(_, node)| node.unit == place) {
            text.push_str(&digraph_node(&format!("u{at}n{number}"), node));
        }
        text.push_str("  }\n");
    }
    for edge in &topology.edges {
        let style = if edge.failed { ", style=dashed" } else { "" };
        text.push_str(&format!(
            "  u{at}n{} -> u{at}n{} [label=\"{}\"{style}{}];\n",
            edge.from,
            edge.to,
            in_lines(&edge.labels, "\\n", in_dot),
            dot_color(edge.worst)
        ));
    }
    text
}

fn digraph_node(name: &str, node: &Node) -> String {
    let shape = match node.shape {
        Shape::Queue => "cds",
        Shape::Function => "box, style=rounded",
        Shape::Sender => "hexagon",
        Shape::External => "box, style=dashed",
    };
    let color = dot_color(node.worst);
    let said = in_lines(&lines(node), "\\n", in_dot);
    format!("    {name} [label=\"{said}\", shape={shape}{color}];\n")
}

fn dot_color(worst: Option<Severity>) -> &'static str {
    match worst {
        Some(Severity::Error) => ", color=red, penwidth=2",
        Some(Severity::Warning) => ", color=orange, penwidth=2",
        Some(Severity::Info) => ", color=blue",
        None => "",
    }
}

/// Escapes text for a quoted string, in which a backslash starts an escape sequence.
fn in_dot(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '"' | '\\' => {
                safe.push('\\');
                safe.push(character);
            }
            // Graphviz interprets entities.
            '&' => safe.push_str("&amp;"),
            _ => safe.push(character),
        }
    }
    safe
}
