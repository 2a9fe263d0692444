//! A [`Topology`] as text that other tools draw: Mermaid and Graphviz. Names may hold anything.

use super::topology::{Shape, Topology};

/// A Mermaid flowchart of several units.
pub fn mermaid(units: &[Topology]) -> String {
    let mut text = "flowchart LR\n".to_owned();
    for (at, unit) in units.iter().enumerate() {
        let prefix = format!("u{at}");
        text.push_str(&format!("  subgraph {prefix}[\"{}\"]\n", in_mermaid(&unit.unit)));
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
        text.push_str("  end\n");
    }
    text.push_str("  classDef finding stroke:#c00,stroke-width:3px\n");
    text
}

/// Mermaid's entities are numbered and begin with `#`: everything that could end a text or begin a tag is one.
fn in_mermaid(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            ' ' | '.' | '-' | '_' | '/' | ':' | ',' => safe.push(character),
            _ if character.is_alphanumeric() => safe.push(character),
            _ if is_unseen(character) => safe.push(' '),
            _ => safe.push_str(&format!("#{};", u32::from(character))),
        }
    }
    safe
}

/// A Graphviz digraph of several units.
pub fn dot(units: &[Topology]) -> String {
    let mut text = "digraph sqslint {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    for (at, unit) in units.iter().enumerate() {
        text.push_str(&format!(
            "  subgraph cluster_{at} {{\n    label=\"{}\";\n",
            in_dot(&unit.unit)
        ));
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
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text
}

/// Text within quotes; a backslash begins an escape there.
fn in_dot(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                safe.push('\\');
                safe.push(character);
            }
            // Graphviz reads entities.
            '&' => safe.push_str("&amp;"),
            _ if is_unseen(character) => safe.push(' '),
            _ => safe.push(character),
        }
    }
    safe
}

/// What a terminal would obey, what reorders text, and what XML cannot hold.
pub(super) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}'
        )
}
