//! `sqslint graph`: what was understood, without judging it.

use super::check::nothing_to_check;
use super::{Exit, GraphArgs, GraphFormat, Streams};
use sqslint::Options;
use sqslint::diagnostic::Diagnostic;
use sqslint::graph::topology::{self, Topology};
use sqslint::graph::{Graph, drawing, json, svg, text};
use sqslint::report::{printable, printable_error};
use std::collections::BTreeSet;
use std::io;

pub(super) fn run(arguments: &GraphArgs, streams: &mut Streams<'_>) -> io::Result<Exit> {
    let options = Options {
        paths: arguments.paths.clone(),
        given: arguments.inputs.given(),
        config: arguments.config.source(),
        baseline: sqslint::history::Choice::Without,
        ..Options::default()
    };
    let format = arguments.format;
    let outcome = sqslint::check(&options);
    let nothing = outcome.graph.units().is_empty() && outcome.errors.is_empty() && !arguments.allow_empty;
    let text = match format {
        GraphFormat::Json => json::render(&outcome.graph, &outcome.sources),
        GraphFormat::Text => text::render(&outcome.graph, &outcome.sources),
        GraphFormat::Mermaid => drawing::mermaid(&topologies(&outcome.graph, &outcome.findings)),
        GraphFormat::Dot => drawing::dot(&topologies(&outcome.graph, &outcome.findings)),
        GraphFormat::Svg => svg::render(&topologies(&outcome.graph, &outcome.findings)),
    };
    if !nothing || format == GraphFormat::Json {
        streams.out.write_all(text.as_bytes())?;
        if !text.is_empty() && !text.ends_with('\n') {
            streams.out.write_all(b"\n")?;
        }
    }
    for error in &outcome.errors {
        writeln!(streams.err, "sqslint: {}", printable_error(error))?;
    }
    let unread = outcome.findings.iter().filter(|found| found.rule == "parse-error");
    for found in unread {
        writeln!(streams.err, "sqslint: {}", printable(&found.headline))?;
    }
    if nothing {
        let message = nothing_to_check(&options.paths, &outcome);
        writeln!(streams.err, "sqslint: {}", printable(&message))?;
    }
    Ok(if !outcome.errors.is_empty() {
        Exit::Failed
    } else if nothing {
        Exit::Nothing
    } else {
        Exit::Clean
    })
}

/// Each unit as boxes and arrows, with what has findings marked.
pub(super) fn topologies(graph: &Graph, findings: &[Diagnostic]) -> Vec<Topology> {
    let mut marked: BTreeSet<(&str, &str)> = BTreeSet::new();
    for found in findings {
        let unit = found.subject.unit.as_str();
        marked.insert((unit, &found.subject.address));
        marked.extend(found.calls.iter().map(|address| (unit, address.as_str())));
    }
    topology::topologies(graph, &|unit, address| marked.contains(&(unit, address)))
}
