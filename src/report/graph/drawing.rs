//! A [`Topology`] as text that other tools draw: Mermaid and Graphviz. Names may hold anything.

use super::topology::{Shape, Topology};
use crate::report::printable;
use std::io::{self, Write};

const CHART: &str = "flowchart LR\n";
const CHART_STYLE: &str = "  classDef finding stroke:#c00,stroke-width:3px\n";

/// Writes a Mermaid flowchart of several units.
pub fn write_mermaid(units: &[Topology], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(CHART.as_bytes())?;
    for (at, unit) in units.iter().enumerate() {
        out.write_all(subchart(at, unit).as_bytes())?;
    }
    out.write_all(CHART_STYLE.as_bytes())
}

/// A Mermaid flowchart of one unit.
pub fn mermaid(unit: &Topology) -> String {
    [CHART, &subchart(0, unit), CHART_STYLE].concat()
}

fn subchart(at: usize, unit: &Topology) -> String {
    let prefix = format!("u{at}");
    let mut text = format!("  subgraph {prefix}[\"{}\"]\n", in_mermaid(&unit.unit));
    for (place, node) in unit.nodes.iter().enumerate() {
        let (open, close) = match node.shape {
            Shape::Queue => ("[[", "]]"),
            Shape::Function => ("(", ")"),
            Shape::Sender => ("{{", "}}"),
            Shape::Outside => ("[", "]"),
        };
        let detail = if node.detail.is_empty() {
            String::new()
        } else {
            format!("<br/>{}", in_mermaid(&node.detail))
        };
        let class = if node.marked { ":::finding" } else { "" };
        text.push_str(&format!(
            "    {prefix}n{place}{open}\"{}{detail}\"{close}{class}\n",
            in_mermaid(&node.title)
        ));
    }
    for edge in &unit.edges {
        let arrow = if edge.failed { "-.->" } else { "-->" };
        let label = if edge.label.is_empty() {
            String::new()
        } else {
            format!("|\"{}\"|", in_mermaid(&edge.label))
        };
        text.push_str(&format!(
            "    {prefix}n{} {arrow}{label} {prefix}n{}\n",
            edge.from, edge.to
        ));
    }
    text + "  end\n"
}

/// Mermaid's entities are numbered and begin with `#`: everything that could end a text or begin a tag is one.
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

/// Writes a Graphviz digraph of several units.
pub fn write_dot(units: &[Topology], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"digraph sqslint {\n  rankdir=LR;\n  node [shape=box];\n")?;
    for (at, unit) in units.iter().enumerate() {
        out.write_all(cluster(at, unit).as_bytes())?;
    }
    out.write_all(b"}\n")
}

fn cluster(at: usize, unit: &Topology) -> String {
    let mut text = format!("  subgraph cluster_{at} {{\n    label=\"{}\";\n", in_dot(&unit.unit));
    for (place, node) in unit.nodes.iter().enumerate() {
        let shape = match node.shape {
            Shape::Queue => "cds",
            Shape::Function => "box, style=rounded",
            Shape::Sender => "hexagon",
            Shape::Outside => "box, style=dashed",
        };
        let detail = if node.detail.is_empty() {
            String::new()
        } else {
            format!("\\n{}", in_dot(&node.detail))
        };
        let color = if node.marked { ", color=red, penwidth=2" } else { "" };
        text.push_str(&format!(
            "    u{at}n{place} [label=\"{}{detail}\", shape={shape}{color}];\n",
            in_dot(&node.title)
        ));
    }
    for edge in &unit.edges {
        let style = if edge.failed { ", style=dashed" } else { "" };
        text.push_str(&format!(
            "    u{at}n{} -> u{at}n{} [label=\"{}\"{style}];\n",
            edge.from,
            edge.to,
            in_dot(&edge.label)
        ));
    }
    text + "  }\n"
}

/// Text within quotes; a backslash begins an escape there.
fn in_dot(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in printable(text).chars() {
        match character {
            '"' | '\\' => {
                safe.push('\\');
                safe.push(character);
            }
            // Graphviz reads entities.
            '&' => safe.push_str("&amp;"),
            _ => safe.push(character),
        }
    }
    safe
}
